"""A database with damaged cells: the server starts and goes on, and names the damaged tables."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Final

import pytest

from tests.support.machine.processes import Launch, Reply, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams import FakeElering
from tunnihind.core.market import HOUR_S, floor_hour

DAMAGE: Final = (
    "UPDATE state SET value = 'x' WHERE key IN ('version', 'instance_id', 'last_refresh', 'live scores')",
    "UPDATE prices SET eur_mwh = 'x' WHERE zone = 'ee' AND ts = unixepoch('2025-12-05')",
    "UPDATE runs SET p50 = substr(p50, 1, 11)",
    "UPDATE source_health SET tried_ts = 'x'",
    "UPDATE alembic_version SET version_num = 'x'",
)
HELD: Final = "UPDATE leases SET pid = 'x'"
"""A server that is stopped holds no lease."""
TABLES: Final = ("state", "prices", "runs")


def execute(database: Path, statements: Sequence[str]) -> None:
    with closing(sqlite3.connect(database, timeout=30)) as connection, connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement


@pytest.mark.parametrize("is_running", [False, True], ids=["at start", "while it runs"])
async def test_damaged_cells_end_nothing(
    is_running: bool, launch: Launch, clock: ShiftedClock, database: Path, tunnihind: Tunnihind
) -> None:
    clock.set("2025-12-15T07:50:00Z")
    quotes = made_up_quotes(date(2025, 12, 1), date(2025, 12, 16))
    async with FakeElering(quotes, now=clock.now) as elering:
        arguments = "--elering-url", elering.url, "--history-start", "2025"
        server = launch(*arguments, clock=clock)
        await server.until_ready()
        # Rows are damaged under a running server, or between two starts.
        if not is_running:
            await server.terminate()
        execute(database, (*DAMAGE, HELD) if is_running else DAMAGE)
        if not is_running:
            server = launch(*arguments, clock=clock)
        await server.until("/api/v1/forecast", lambda reply: reply.status == 200)
        # In the next hour the server still makes a run, and names each damaged table.
        clock.jump(HOUR_S)
        hour = floor_hour(clock.now())

        def is_fresh(reply: Reply) -> bool:
            found = reply.json()
            return bool((found["madeAt"] or 0) >= hour and found["dayAhead"][0]["ts"] == hour)

        await server.until("/api/v1/forecast", is_fresh, say="a new run")
        await server.until_ready()
        for table in TABLES:
            assert f"the table {table} has damaged rows" in server.log

        def warns(reply: Reply) -> bool:
            warnings = " ".join(reply.json()["warnings"])
            return "damaged rows of " in warnings and "prices" in warnings and "restore a backup" in warnings

        await server.until("/readyz", warns, say="a warning")
        assert (await tunnihind("status", clock=clock)).status == 0


async def test_pages_that_cannot_be_read_are_warned_of_while_the_rest_goes_on(
    launch: Launch, clock: ShiftedClock, database: Path
) -> None:
    """A disk has lost a page in the middle of the file, on which the scores of the runs begin."""
    clock.set("2025-12-15T07:50:00Z")
    quotes = made_up_quotes(date(2025, 12, 1), date(2025, 12, 16))
    async with FakeElering(quotes, now=clock.now) as elering:
        arguments = "--elering-url", elering.url, "--history-start", "2026"
        server = launch(*arguments, clock=clock)
        await server.until_ready()
        await server.terminate()
        lose_first_page(database, "day_scores")
        server = launch(*arguments, clock=clock)

        def warns(reply: Reply) -> bool:
            warnings = " ".join(reply.json()["warnings"])
            return reply.status == 200 and "the database file is damaged" in warnings and "restore a backup" in warnings

        await server.until("/readyz", warns, say="a warning")
        await server.until_logged("the database file is damaged")
        clock.jump(HOUR_S)
        hour = floor_hour(clock.now())
        await server.until("/api/v1/forecast", lambda reply: (reply.json()["madeAt"] or 0) >= hour, say="a new run")


def lose_first_page(database: Path, table: str) -> None:
    """Write zeros over the page with which a table begins."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [size] = connection.execute("PRAGMA page_size").fetchone()
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))
