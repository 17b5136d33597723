"""Writes that belong together, with a fault or a kill after each of them: all of them are kept, or none."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count

import pytest
from sqlalchemy import event, select

from tests.server.store.test_processes import answers, worker
from tests.support.store.ingest_trial import (
    NOW,
    TAKEOVER_FIRST,
    TOMORROW,
    fill_with_wrong_prices,
    takeover_quotes,
    takeover_trial,
)
from tests.support.store.stores import DAY, hourly, whole_day
from tunnihind.core.market import HOUR_S
from tunnihind.errors import StoreError
from tunnihind.pipeline.back_fill import (
    YEARS_FILLED_KEY,
    filled_parts,
    record_filled_part,
)
from tunnihind.store.schema import metadata, source_health
from tunnihind.store.store import Store

WRITES = ("INSERT", "UPDATE", "DELETE")


def contents(store: Store) -> dict[str, list[str]]:
    """Return the rows of all tables, without the health of sources."""
    tables = [table for table in metadata.sorted_tables if table is not source_health]
    with store.database.reading() as connection:
        return {table.name: sorted(map(repr, connection.execute(select(table)).all())) for table in tables}


@contextmanager
def disk_full_after(writes: int, store: Store) -> Iterator[None]:
    """Let a number of statements write. Each further one fails."""
    numbers = count()

    def fail(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(WRITES) and next(numbers) >= writes:
            raise StoreError("the disk is full")

    engine = store.database.system.engine
    event.listen(engine, "before_cursor_execute", fail)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", fail)


def test_what_is_written_within_a_transaction_is_read_there_and_kept_as_one(store: Store) -> None:
    with pytest.raises(StoreError), store.database.writing():  # noqa: PT012  the transaction is the subject
        store.prices.add(whole_day(DAY), source="elering", seen_ts=NOW)
        store.state.write("key", 1)
        assert (store.prices.count(), store.state.read("key")) == (96, 1)
        raise StoreError("a fault")
    assert (store.prices.count(), store.state.read("key")) == (0, None)
    with store.database.writing():
        store.prices.add(whole_day(DAY), source="elering", seen_ts=NOW)
        store.state.write("key", 1)
    assert (store.prices.count(), store.state.read("key")) == (96, 1)


async def test_a_full_disk_at_any_write_of_a_takeover_deletes_no_history(store: Store) -> None:
    await fill_with_wrong_prices(store)
    trial = takeover_trial(store)
    before = contents(store)
    for writes in count():
        try:
            with disk_full_after(writes, store):
                await trial.ingest(TAKEOVER_FIRST, TOMORROW, after_s=HOUR_S)
        except StoreError:
            assert contents(store) == before
        else:
            break
    assert writes > 10
    assert hourly(store) == takeover_quotes()["ee"]
    assert filled_parts(store.state, YEARS_FILLED_KEY) == {}


async def test_a_kill_amid_a_takeover_deletes_no_history(url: str, store: Store) -> None:
    await fill_with_wrong_prices(store)
    before = contents(store)
    with worker("die_taking_over", url) as process:
        answers(process)
    assert process.returncode < 0
    assert contents(store) == before
    await takeover_trial(store).ingest(TAKEOVER_FIRST, TOMORROW, after_s=HOUR_S)
    assert hourly(store) == takeover_quotes()["ee"]
    assert filled_parts(store.state, YEARS_FILLED_KEY) == {}


async def test_a_takeover_that_fails_is_neither_logged_nor_counted(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await fill_with_wrong_prices(store)
    trial = takeover_trial(store)
    caplog.clear()
    with pytest.raises(StoreError), disk_full_after(6, store):
        await trial.ingest(TAKEOVER_FIRST, TOMORROW, after_s=HOUR_S)
    assert not trial.observer.refused
    assert not caplog.messages


def test_parts_that_two_threads_record_at_once_are_all_recorded(store: Store) -> None:
    years = [str(year) for year in range(2010, 2026)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda year: record_filled_part(store.state, YEARS_FILLED_KEY, year, NOW), years))
    assert filled_parts(store.state, YEARS_FILLED_KEY) == dict.fromkeys(years, NOW)
