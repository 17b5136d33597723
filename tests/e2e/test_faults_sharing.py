"""Several processes on one database, and a port that is taken."""

import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.machine.processes import Launch, Reply, Tunnihind, free_port
from tests.support.markets.sample_prices import hourly, made_up_quotes, write_prices
from tests.support.upstreams import FakeElering
from tunnihind.core.market import delivery_day, floor_hour


@pytest.fixture
async def elering() -> AsyncIterator[FakeElering]:
    today = delivery_day(time.time())
    async with FakeElering(made_up_quotes(today - timedelta(days=20), today + timedelta(days=1))) as upstream:
        yield upstream


async def test_a_second_server_serves_without_a_pipeline_and_takes_over_from_a_killed_one(
    launch: Launch, elering: FakeElering, tunnihind: Tunnihind
) -> None:
    arguments = "--elering-url", elering.url, "--history-start", "2100"
    first = launch(*arguments)
    await first.until_ready()
    asked = len(elering.requests)
    # The second server serves the same, and asks the source for nothing.
    second = launch(*arguments)
    await second.until_logged(f"process {first.pid} on ")
    assert "this server only serves" in second.log
    await second.until_ready()
    answers = [(await server.get("/api/v1/forecast")).json() for server in (first, second)]
    assert answers[0]["dayAhead"] == answers[1]["dayAhead"]
    assert answers[0]["forecast"] == answers[1]["forecast"]
    assert len(elering.requests) == asked, "one server asks for both"

    # The first is killed: the second takes over the pipeline.
    await first.kill()
    await second.until_logged("running the pipeline from now on")
    assert (await tunnihind("status", "--json")).json()["pipeline"]["pid"] == second.pid
    await second.until("/api/v1/forecast", lambda reply: reply.json()["lastRefresh"] > answers[0]["lastRefresh"])
    assert len(elering.requests) > asked
    assert await first.until_alone(), "the killed server's helpers end too"


async def test_commands_beside_a_running_server(launch: Launch, tunnihind: Tunnihind, tmp_path: Path) -> None:
    server, bystander = launch(), launch("--no-pipeline")
    for one in (server, bystander):
        await one.until("/api/v1/forecast", lambda reply: reply.status == 200)
    # What a command imports, both servers serve soon; a second import changes nothing.
    today = delivery_day(time.time())
    quotes = made_up_quotes(today - timedelta(days=20), today + timedelta(days=1))
    file = str(write_prices(tmp_path / "prices.csv", quotes))
    done = await tunnihind("import", "prices", file)
    count = sum(map(len, quotes.values()))
    assert f"{count} ({count} new, 0 corrections)" in done.output, done.errors

    def is_served(reply: Reply) -> bool:
        hour = floor_hour(reply.json()["now"])
        served = {item["ts"]: item["eurMwh"] for item in reply.json()["dayAhead"]}
        return served == {ts: pytest.approx(price, abs=0.0051) for ts, price in hourly(quotes).items() if ts >= hour}

    for one in (server, bystander):
        await one.until("/api/v1/forecast", is_served, say="what was imported")
    assert f"skipped: {count} already known" in (await tunnihind("import", "prices", file)).output
    exported = (await tunnihind("export", "prices")).output.splitlines()
    assert len(exported) == 1 + len(hourly(quotes))

    # A forecast that a command makes is served too.
    made = (await tunnihind("forecast", "--json")).json()
    served = await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] >= made["madeAt"])
    assert served.json()["forecast"]
    assert (await tunnihind("export", "forecast", "--format", "json")).json()["madeAt"] >= made["madeAt"]
    status = (await tunnihind("status")).output
    assert f"process {server.pid} on " in status
    assert "elering" in status


async def test_one_pass_of_the_pipeline_is_refused_while_a_server_does_that_work(
    launch: Launch, elering: FakeElering, tunnihind: Tunnihind
) -> None:
    arguments = "--elering-url", elering.url, "--history-start", "2100"
    alone = await tunnihind("ingest", *arguments)
    assert alone.status == 0, alone.errors
    asked = len(elering.requests)
    server = launch(*arguments)
    await server.until("/readyz", lambda _: len(elering.requests) > asked, say="a pipeline at work")
    refused = await tunnihind("ingest", *arguments)
    assert refused.status == 1
    assert "a running server already keeps this database up to date" in refused.errors


async def test_a_port_that_is_taken_is_named_with_the_option_to_choose_another(launch: Launch) -> None:
    port = free_port()
    first = launch("--no-pipeline", port=port)
    await first.until("/api/v1/forecast", lambda reply: reply.status == 200)
    second = launch("--no-pipeline", port=port)
    assert await second.ended() == 2
    assert f"port {port} is taken by another program: choose another port with --port" in second.log
    assert (await first.get("/api/v1/forecast")).status == 200
