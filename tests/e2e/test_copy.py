"""A server's data copied into PostgreSQL: the command is killed at its work, and a server continues from the copy."""

import time
from datetime import timedelta
from pathlib import Path

from tests.support.machine.processes import COMMAND, Launch, Process, Tunnihind
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tests.support.upstreams import FakeElering
from tunnihind.core.market import delivery_day


async def test_a_server_goes_on_from_a_copy_that_was_killed_and_made_again(
    launch: Launch,
    tunnihind: Tunnihind,
    environment: dict[str, str],
    postgresql_url: str,
    tmp_path: Path,
) -> None:
    today = delivery_day(time.time())
    long_ago = made_up_quotes(today - timedelta(days=60), today - timedelta(days=21))
    await tunnihind("import", "prices", str(write_prices(tmp_path / "prices.csv", long_ago)))
    async with FakeElering(made_up_quotes(today - timedelta(days=20), today + timedelta(days=1))) as elering:
        arguments = "--elering-url", elering.url, "--history-start", "2100"
        first = launch(*arguments)
        await first.until_ready()

        refused = await tunnihind("copy", "--to", postgresql_url)
        assert refused.status == 1
        assert "runs the pipeline on" in refused.errors
        prices = (await first.get("/api/v1/forecast")).json()["dayAhead"]
        about = (await first.get("/api/about")).body
        await first.terminate()

        doomed = Process([COMMAND, "copy", "--to", postgresql_url], environment, tmp_path / "copy.log")
        await doomed.freeze_when(lambda: "copying prices: " in doomed.log and "copying state" not in doomed.log)
        await doomed.kill()
        done = await tunnihind("copy", "--to", postgresql_url)
        assert done.status == 0, done.errors
        assert "each table has all rows on both sides" in done.output

        of_the_first = list(elering.requests)
        second = launch(*arguments, "--database-url", postgresql_url, port=int(first.url.rpartition(":")[2]))
        await second.until_ready()
        assert (await second.get("/api/about")).body == about
        served = (await second.get("/api/v1/forecast")).json()["dayAhead"]
        assert served
        assert all(hour in prices for hour in served)
        asked = elering.requests[len(of_the_first) :]
        caught_up_from = min(request["start"] for request in of_the_first)
        assert all(request["start"] > caught_up_from for request in asked), "only the newest days are looked at again"
        # Before the database goes.
        await second.terminate()
