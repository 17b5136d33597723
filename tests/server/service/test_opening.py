"""A starting server waits for a database that can't be used yet, and says so on its port."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from aiohttp import ClientConnectionError, ClientSession

from tests.support.clocks import StillClock
from tests.support.machine.processes import free_port, until
from tests.support.store.postgresql import PostgresqlServer, postgresql_server
from tunnihind.errors import StoreError
from tunnihind.service import opening
from tunnihind.service.opening import OpenStore, open_replica_store, open_to_write, wait_for_store
from tunnihind.settings import Settings
from tunnihind.store.engines import sqlite
from tunnihind.store.store import Store

NOW = 1_765_792_800
OPENERS = pytest.mark.parametrize("open_store", [open_to_write, open_replica_store])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_ANSWER_AFTER_S", 0.0)
    monkeypatch.setattr(sqlite, "_BUSY_TIMEOUT_S", 0.1)


class Start:
    """A starting server in this process."""

    def __init__(self, url: str, open_store: OpenStore) -> None:
        self._port = free_port()
        settings = Settings(database_url=url, host="127.0.0.1", port=self._port)
        self._task = asyncio.create_task(wait_for_store(settings, open_store, StillClock(NOW)))

    async def until_it_waits_for(self, reason: str) -> None:
        async with ClientSession(f"http://127.0.0.1:{self._port}") as session:

            async def look() -> bool:
                assert not self._task.done()
                try:
                    async with session.get("/readyz") as answer:
                        return any(reason in text for text in (await answer.json())["reasons"])
                except ClientConnectionError:
                    return False

            assert await until(look), f"it never waited for: {reason}"
            refused = ("/api/v1/forecast", "/api/about", "/", "/accuracy/2025-10.csv")
            for path, status in {"/healthz": 200, **dict.fromkeys(refused, 503)}.items():
                async with session.get(path) as answer:
                    assert answer.status == status, path

    async def until_it_is_open(self) -> None:
        store = await self._task
        assert store is not None
        with store:
            assert store.state.served_version() == 0


@contextmanager
def stopped_server() -> Iterator[tuple[str, Callable[[], None]]]:
    """Return the address of a database whose server is down, and a function that starts this server."""
    with postgresql_server() as server:
        url = server.url(server.make_database())
        Store(url).close()
        server.stop()
        yield url, server.start


@OPENERS
async def test_a_database_server_that_is_away_is_waited_for(
    open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with stopped_server() as (url, start_it):
        start = Start(url, open_store)
        await start.until_it_waits_for("the database server can't be reached")
        await asyncio.to_thread(start_it)
        await start.until_it_is_open()
    assert "waiting until the database can be used" in caplog.text
    assert "can be used now" in caplog.text


async def test_a_replica_waits_for_the_server_that_makes_the_tables(postgresql_url: str) -> None:
    start = Start(postgresql_url, open_replica_store)
    await start.until_it_waits_for("the database has no tables yet")
    await asyncio.to_thread(lambda: Store(postgresql_url).close())
    await start.until_it_is_open()


@OPENERS
async def test_a_new_file_that_another_program_writes_to_is_waited_for(
    open_store: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "new.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        start = Start(f"sqlite:///{file}", open_store)
        await start.until_it_waits_for("database is locked")
    await start.until_it_is_open()
    assert "database is locked; waiting until the database can be used" in caplog.text


async def test_what_waiting_does_not_mend_ends_the_start(tmp_path: Path, postgresql: PostgresqlServer) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("ts,ee\n" * 500)
    latin = postgresql.url(postgresql.make_database(encoding="LATIN1"))
    for url, told in ((f"sqlite:///{file}", "file is not a database"), (latin, "encoded in LATIN1")):
        with pytest.raises(StoreError, match=told):
            await wait_for_store(Settings(database_url=url), open_to_write, StillClock(NOW))
