"""Ends with and without warning: no data is lost or doubled, and no process is left behind."""

import asyncio
import socket
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.support.machine.processes import COMMAND, PATIENCE_S, UNREACHABLE_URL, Launch, Process, Tunnihind, until
from tests.support.markets.sample_prices import write_prices
from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import Quotes, flat_quotes
from tunnihind.core.market import HOUR_S, delivery_day

YEARS = 3
KEPT_ALIVE = b"GET /api/v1/forecast HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
async def elering() -> AsyncIterator[FakeElering]:
    today = delivery_day(time.time())
    quotes = flat_quotes(date(today.year - YEARS + 1, 1, 1), today + timedelta(days=1), HOUR_S)
    async with FakeElering(quotes, now=time.time) as upstream:
        yield upstream


def history_start(elering: FakeElering) -> str:
    return str(delivery_day(min(elering.quotes["ee"])).year)


def is_being_written(database: Path) -> bool:
    if not database.exists():
        return False
    with closing(sqlite3.connect(database, timeout=0, autocommit=True)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            return "locked" in str(error)
    return False


async def assert_whole(tunnihind: Tunnihind, quotes: Quotes) -> None:
    """Each quote up to the newest is kept once."""
    rows = [row.split(",") for row in (await tunnihind("export", "prices")).output.splitlines()[1:]]
    exported = {int(ts): tuple(map(float, prices)) for ts, *prices in rows}
    newest = max(exported)
    assert newest >= time.time()
    expected = {ts: tuple(prices[ts] for prices in quotes.values()) for ts in quotes["ee"] if ts <= newest}
    assert exported == expected
    assert (await tunnihind("status", "--json")).json()["prices"] == 4 * len(expected)


async def test_kills_during_a_back_fill_cost_nothing_but_time(
    launch: Launch, elering: FakeElering, database: Path, tunnihind: Tunnihind
) -> None:
    arguments = "--elering-url", elering.url, "--history-start", history_start(elering)
    # The first server is killed in the middle of a write.
    in_a_write = launch(*arguments)
    await in_a_write.until_ready()
    await in_a_write.freeze_when(lambda: is_being_written(database))
    await in_a_write.kill()
    assert await in_a_write.until_alone(), in_a_write.family()

    # The second is killed while it waits for an answer.
    elering.hang()
    asked = len(elering.requests)
    awaiting_an_answer = launch(*arguments)

    async def is_asked_again() -> bool:
        return len(elering.requests) > asked

    assert await until(is_asked_again)
    await awaiting_an_answer.kill()

    # The third fills in everything.
    undisturbed = launch(*arguments)
    await undisturbed.until_logged(f"{YEARS} of {YEARS} done")
    await assert_whole(tunnihind, elering.quotes)


async def test_an_import_that_is_killed_while_it_writes_can_be_done_again(
    tmp_path: Path, environment: dict[str, str], database: Path, tunnihind: Tunnihind
) -> None:
    today = delivery_day(time.time())
    quotes = flat_quotes(today - timedelta(days=700), today + timedelta(days=1), HOUR_S)
    file = str(write_prices(tmp_path / "prices.csv", quotes))
    doomed = Process([COMMAND, "import", "prices", file], environment, tmp_path / "import.log")
    await doomed.freeze_when(lambda: "made a new database" in doomed.log and is_being_written(database))
    await doomed.kill()
    assert (await tunnihind("import", "prices", file)).status == 0
    await assert_whole(tunnihind, quotes)


async def test_a_server_in_the_middle_of_its_work_ends_at_a_word(
    launch: Launch, elering: FakeElering, database: Path
) -> None:
    server = launch("--elering-url", elering.url, "--history-start", history_start(elering))
    await server.until_ready()
    async with server.connected(b""), server.connected(b"GET /api/v1/fore"), server.connected(KEPT_ALIVE):
        await server.freeze_when(lambda: is_being_written(database))
        server.ask_to_end()
        server.thaw()
        assert await server.ended() == 0
        assert await server.until_alone(), server.family()


async def test_systemd_hears_that_a_server_answers_lives_and_stops(
    launch: Launch, environment: dict[str, str], tmp_path: Path
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()

    class Manager(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            heard.put_nowait(data.decode())

    address = str(tmp_path / "notify")
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        Manager, local_addr=address, family=socket.AF_UNIX
    )
    environment |= {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "200000"}
    server = launch("--elering-url", UNREACHABLE_URL, "--no-weather")
    async with asyncio.timeout(PATIENCE_S):
        first = {await heard.get() for _ in range(4)}
        assert first == {"READY=1", "WATCHDOG=1"}
        assert (await server.get("/healthz")).status == 200
        assert await server.terminate() == 0
        while await heard.get() != "STOPPING=1":
            pass
    transport.close()
