"""Disks that can't be written to: serving goes on, and the log names the fault."""

import os
import resource
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.machine.processes import Launch, Reply, Server, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import hourly, made_up_quotes, write_prices
from tests.support.upstreams import FakeElering
from tunnihind.core.market import HOUR_S, delivery_day, floor_hour

_PAGE = 4096
_ROOMY = 32 * 1024 * 1024


class Disk(Protocol):
    """A disk for a server's folder, which can be filled to the last byte while it runs."""

    complaint: str

    def wrapper(self, size: int) -> Sequence[str]: ...
    def fill(self, server: Server) -> None: ...
    def free(self, server: Server) -> None: ...


class SmallDisk:
    """A file system in memory that only the server sees, and that ends with it."""

    complaint = "database or disk is full"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def wrapper(self, size: int) -> Sequence[str]:
        self._folder.mkdir()
        mount = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
        return "unshare", "--mount", "sh", "-c", mount, str(self._folder)

    def fill(self, server: Server) -> None:
        with suppress(OSError), self._filler(server).open("wb", buffering=0) as stream:
            while stream.write(bytes(_PAGE)):
                pass

    def free(self, server: Server) -> None:
        self._filler(server).unlink()

    def _filler(self, server: Server) -> Path:
        return Path(f"/proc/{server.pid}/root{self._folder}/filler")


class LimitedFiles:
    """The best replacement if mounting is not allowed: files that can't grow past a size."""

    complaint = "disk I/O error"

    def wrapper(self, size: int) -> Sequence[str]:
        return "prlimit", f"--fsize={size}:", "--"

    def fill(self, server: Server) -> None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (_PAGE, resource.RLIM_INFINITY))

    def free(self, server: Server) -> None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.fixture
def disk(tmp_path: Path, database: Path) -> Disk:
    mounting = "unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)
    may_mount = subprocess.run(mounting, capture_output=True, check=False).returncode == 0
    return SmallDisk(database.parent) if may_mount else LimitedFiles()


async def test_serving_goes_on_while_the_disk_is_full_and_work_once_there_is_room(
    launch: Launch, clock: ShiftedClock, disk: Disk
) -> None:
    clock.set("2025-12-15T07:50:00Z")
    async with FakeElering(made_up_quotes(date(2025, 12, 1), date(2025, 12, 16)), now=clock.now) as elering:
        arguments = "--elering-url", elering.url, "--history-start", "2026"
        server = launch(*arguments, clock=clock, wrapper=disk.wrapper(_ROOMY))
        await server.until_ready()
        disk.fill(server)
        clock.jump(HOUR_S)
        hour = floor_hour(clock.now())
        await server.until("/api/v1/forecast", lambda reply: reply.json()["dayAhead"][0]["ts"] == hour, say="the hour")
        await server.until_logged(disk.complaint)
        assert (await server.get("/api/v1/forecast")).json()["madeAt"] < hour
        disk.free(server)
        clock.jump(120)
        fresh = await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] >= hour, say="a new run")
        assert fresh.json()["forecast"][0]["ts"] == hour + HOUR_S


@pytest.fixture
def read_only(database: Path) -> Iterator[Sequence[str]]:
    """Return the start command of a server for which `chmod` makes the data read-only."""
    # Root may write anything, unless the capability to is taken from it.
    yield ("setpriv", "--bounding-set=-dac_override", "--") if os.geteuid() == 0 else ()
    database.parent.chmod(0o755)


def protect(database: Path, *, only_file: bool) -> None:
    database.chmod(0o444)
    if not only_file:
        database.parent.chmod(0o555)


@pytest.mark.parametrize(
    ("only_file", "complaint"),
    [
        (True, "attempt to write a readonly database; the known data are still served"),
        (False, "the database is opened for reading only, and nothing new is fetched"),
    ],
    ids=["the file", "its folder too"],
)
async def test_a_database_that_can_only_be_read_is_served(
    only_file: bool,
    complaint: str,
    launch: Launch,
    read_only: Sequence[str],
    database: Path,
    tmp_path: Path,
    tunnihind: Tunnihind,
) -> None:
    today = delivery_day(time.time())
    quotes = made_up_quotes(today - timedelta(days=30), today + timedelta(days=1))
    await tunnihind("import", "prices", str(write_prices(tmp_path / "prices.csv", quotes)))
    made = (await tunnihind("forecast", "--json")).json()
    protect(database, only_file=only_file)
    server = launch(wrapper=read_only)
    reply = await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] == made["madeAt"])
    settled = {hour["ts"]: hour["eurMwh"] for hour in reply.json()["dayAhead"]}
    expected = {ts: price for ts, price in hourly(quotes).items() if ts >= floor_hour(reply.json()["now"])}
    assert settled == {ts: pytest.approx(price, abs=0.0051) for ts, price in expected.items()}
    await server.until_logged(complaint)


async def test_a_first_start_on_a_full_disk_waits_for_room(launch: Launch, disk: Disk) -> None:
    server = launch(wrapper=disk.wrapper(_PAGE))
    await server.until("/readyz", is_told(disk.complaint), say="what is wrong")
    await server.until_logged(f"{disk.complaint}; waiting until the database can be used")
    assert await server.terminate() == 0


@pytest.fixture
async def filled(tmp_path: Path, clock: ShiftedClock, tunnihind: Tunnihind) -> int:
    """Fill the database with prices of a month and a forecast, well within an hour; return the forecast's time."""
    clock.set("2025-12-15T07:20:00Z")
    quotes = made_up_quotes(date(2025, 11, 15), date(2025, 12, 16))
    await tunnihind("import", "prices", str(write_prices(tmp_path / "prices.csv", quotes)), clock=clock)
    made_at: int = (await tunnihind("forecast", "--json", clock=clock)).json()["madeAt"]
    return made_at


def is_told(reason: str) -> Callable[[Reply], bool]:
    return lambda reply: reply.status == 503 and any(reason in text for text in reply.json()["reasons"])


async def test_a_server_that_was_started_on_a_full_disk_works_once_there_is_room(
    launch: Launch, clock: ShiftedClock, filled: int
) -> None:
    disk = LimitedFiles()
    server = launch(clock=clock, wrapper=disk.wrapper(_PAGE))
    await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] == filled)
    await server.until("/readyz", is_told("the database can't be"), say="what is wrong")
    await server.until_logged("the database is opened for reading only, and nothing new is fetched")
    disk.free(server)
    await server.until_logged("the database is writable now")
    await server.until("/readyz", lambda reply: not is_told("the database can't be")(reply), say="all well")
    await server.until_logged("elering")


async def test_a_database_that_is_deleted_is_missed_and_taken_up_again(
    launch: Launch, clock: ShiftedClock, filled: int, database: Path
) -> None:
    server = launch(clock=clock)
    await server.until("/api/v1/forecast", lambda reply: reply.json()["madeAt"] == filled)
    away = database.rename(database.with_name("away.db"))  # noqa: ASYNC240  one call
    await server.until("/readyz", is_told("the database file has been deleted"), say="what is wrong")
    assert (await server.get("/api/v1/forecast")).json()["madeAt"] == filled
    away.rename(database)
    await server.until_logged("the database file is back")
    await server.until("/readyz", lambda reply: not is_told("the database file")(reply), say="all well")
    assert server.log.count("the database file has been deleted") == 1


async def test_what_a_backup_over_the_file_lacks_is_fetched_again(
    launch: Launch, clock: ShiftedClock, database: Path, tmp_path: Path
) -> None:
    clock.set("2025-12-12T15:50:00Z")
    async with FakeElering(made_up_quotes(date(2025, 12, 1), date(2025, 12, 16)), now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2026", clock=clock)
        await server.until_ready()
        backup = tmp_path / "backup.db"
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(backup)) as target:
            source.backup(target)
        clock.set("2025-12-15T15:50:00Z")
        has_tomorrow = hours_from("2025-12-15T15:00:00Z", 32)
        before = (await server.until("/api/v1/forecast", has_tomorrow, say="tomorrow")).json()
        asked = len(elering.requests)
        backup.replace(database)

        def is_known(reply: Reply) -> bool:
            return has_tomorrow(reply) and bool((reply.json()["madeAt"] or 0) > before["madeAt"])

        clock.jump(60)  # so that another run is told from the one before
        await server.until("/api/v1/forecast", is_known, say="a run from what the new file holds")
        assert len(elering.requests) > asked
    assert f"{database}: another copy has replaced the database file" in server.log
    await server.until("/readyz", lambda reply: not reply.json()["warnings"], say="all well")


def hours_from(first: str, count: int) -> Callable[[Reply], bool]:
    """Return a function that checks whether an answer has this many published hours from an hour on."""
    start = round(datetime.fromisoformat(first).timestamp())
    expected = [*range(start, start + count * HOUR_S, HOUR_S)]
    return lambda reply: [hour["ts"] for hour in reply.json()["dayAhead"]] == expected
