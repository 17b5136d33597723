"""A store is closed while its threads are at work, as when a server stops."""

import shutil
import threading
from pathlib import Path

import pytest

from tests.support.store.stores import DAY, HELD, whole_day
from tunnihind.errors import StoreError
from tunnihind.store.database import Database
from tunnihind.store.store import Store

LONG_ENOUGH_TO_CLOSE_S = 0.2


def test_closing_waits_for_a_transaction_that_is_open_in_another_thread(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'some.db'}")
    is_open, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def write() -> None:
        with database.writing() as connection:
            connection.exec_driver_sql("CREATE TABLE some (thing)")
            is_open.set()
            go_on.wait()
        order.append("written")

    def close() -> None:
        database.close()
        order.append("closed")

    writer, closer = threading.Thread(target=write), threading.Thread(target=close)
    # A transaction is open when another thread begins to close the store. Closing has to wait.
    writer.start()
    is_open.wait()
    closer.start()
    closer.join(LONG_ENOUGH_TO_CLOSE_S)
    # Only now may the transaction end. Closing ends after it.
    order.append("let go")
    go_on.set()
    writer.join()
    closer.join()
    assert order[0] == "let go"
    assert sorted(order[1:]) == ["closed", "written"]
    assert [file.name for file in tmp_path.iterdir()] == ["some.db"]


def test_a_closed_store_opens_no_file_again(tmp_path: Path) -> None:
    folder = tmp_path / "thrown away"
    store = Store(f"sqlite:///{folder / 'some.db'}")
    store.close()
    shutil.rmtree(folder)
    with pytest.raises(StoreError):
        store.prices.count()
    with pytest.raises(StoreError):
        store.prices.add(whole_day(DAY), source="a", seen_ts=HELD.since_ts)
    assert not folder.exists()
