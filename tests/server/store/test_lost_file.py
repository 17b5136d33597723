"""A database file that is deleted or replaced while it is open, and its file mode."""

import logging
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.support.store.stores import DAY, HOURS, run, whole_day
from tunnihind.errors import StoreError, StoreLost
from tunnihind.store.schema import runs
from tunnihind.store.store import Store

SEEN = 1765713600
type Spoil = Callable[[Path], object]


@pytest.fixture
def copy(store: Store, path: Path, tmp_path: Path) -> Path:
    """Return a copy of the store with a run in it, as a backup makes it."""
    store.runs.add(run(SEEN))
    target = tmp_path / "copy.db"
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(target)) as backup:
        source.backup(backup)
    return target


def assert_lost(store: Store, reason: str) -> None:
    for access in (store.state.served_version, lambda: store.state.record_refresh(SEEN)):
        with pytest.raises(StoreLost) as caught:
            access()
        assert reason in caught.value.reason
        assert str(store.database.system.path) not in caught.value.reason


def test_a_deleted_file_is_noticed_at_once_told_once_and_not_made_anew(
    store: Store, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.runs.add(run(SEEN))
    path.unlink()
    for _ in range(3):
        assert_lost(store, "has been deleted")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "the database file has been deleted" in caplog.text
    assert not path.exists()


def test_a_file_that_is_back_is_used_on_with_all_that_was_written(
    store: Store, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.runs.add(run(SEEN))
    away = path.rename(path.with_name("away.db"))
    assert_lost(store, "has been deleted")
    away.rename(path)
    store.runs.add(run(SEEN + 3600))
    assert [found.made_at for found in store.runs.made_since(HOURS, 0)] == [SEEN + 3600, SEEN]
    assert "the database file is back" in caplog.text


@pytest.mark.parametrize("is_missed_meanwhile", [False, True])
def test_a_copy_in_the_files_place_is_used_on_and_told_of(
    store: Store, path: Path, copy: Path, is_missed_meanwhile: bool, caplog: pytest.LogCaptureFixture
) -> None:
    store.runs.add(run(SEEN + 3600))
    path.unlink()
    if is_missed_meanwhile:
        assert_lost(store, "has been deleted")
    copy.rename(path)
    assert [found.made_at for found in store.runs.made_since(HOURS, 0)] == [SEEN]
    assert store.database.system.replacement_count == 1
    assert "another copy has replaced the database file" in caplog.text
    store.runs.add(run(SEEN + 7200))
    with Store(f"sqlite:///{path}", read_only=True) as other:
        assert [found.made_at for found in other.runs.made_since(HOURS, 0)] == [SEEN + 7200, SEEN]


def test_a_copy_waits_until_nobody_uses_the_file_before_it(store: Store, path: Path, copy: Path) -> None:
    """Otherwise the old file's log, which has the same path, would be used with the new file."""
    store.runs.add(run(SEEN + 3600))
    with ThreadPoolExecutor(1) as another_thread:
        with store.database.reading() as connection:
            connection.execute(select(runs.c.id)).all()
            copy.replace(path)
            with pytest.raises(StoreLost, match="is still in use"):
                another_thread.submit(store.runs.made_since, HOURS, 0).result()
        assert [found.made_at for found in another_thread.submit(store.runs.made_since, HOURS, 0).result()] == [SEEN]


def test_a_file_put_in_place_just_before_the_end_keeps_its_own_data(store: Store, path: Path, copy: Path) -> None:
    store.runs.add(run(SEEN + 3600))
    copy.replace(path)
    store.close()
    with Store(f"sqlite:///{path}") as other:
        assert [found.made_at for found in other.runs.made_since(HOURS, 0)] == [SEEN]


def another_server(path: Path) -> None:
    with Store(f"sqlite:///{path}") as other:
        other.prices.add(whole_day(DAY), source="a", seen_ts=SEEN)


@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (another_server, "the new one is another server's"),
        (Path.touch, "replaced"),
        (lambda path: path.write_text("ts,ee\n" * 500), "file is not a database"),
        (Path.mkdir, "replaced"),
    ],
    ids=["another server", "empty", "no database", "a folder"],
)
def test_another_file_in_its_place_is_neither_used_nor_changed(
    store: Store, path: Path, copy: Path, put: Spoil, reason: str
) -> None:
    path.unlink()
    assert_lost(store, "has been deleted")
    put(path)
    before = path.read_bytes() if path.is_file() else b""
    assert_lost(store, reason)
    assert (path.read_bytes() if path.is_file() else b"") == before
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    copy.rename(path)
    assert len(store.runs.made_since(HOURS, 0)) == 1


def test_a_copy_that_is_still_being_made_is_waited_for(store: Store, path: Path, copy: Path) -> None:
    path.unlink()
    whole = copy.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert_lost(store, "has been replaced")
    path.write_bytes(whole)
    assert len(store.runs.made_since(HOURS, 0)) == 1


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("folder_mode", "expected"), [(0o755, 0o600), (0o777, 0o600), (0o2775, 0o640)])
def test_a_new_database_is_for_its_owner_and_where_the_folder_has_a_group_for_that(
    tmp_path: Path, folder_mode: int, expected: int
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(folder_mode)
    umask = os.umask(0)
    try:
        with Store(f"sqlite:///{folder / 'tunnihind.db'}") as store:
            store.runs.add(run(SEEN))
            assert {path.name for path in folder.iterdir()} == {f"tunnihind.db{end}" for end in ("", "-wal", "-shm")}
            assert {mode(path) for path in folder.iterdir()} == {expected}
    finally:
        os.umask(umask)


def test_a_database_that_a_link_names_is_made_where_it_leads(tmp_path: Path) -> None:
    link, target = tmp_path / "tunnihind.db", tmp_path / "disk" / "prices.db"
    link.symlink_to(target)
    with Store(f"sqlite:///{link}") as store:
        store.runs.add(run(SEEN))
    assert mode(target) == 0o600


def test_what_could_only_be_read_is_written_to_once_that_can_be(store: Store, path: Path) -> None:
    store.runs.add(run(SEEN))
    with Store(f"sqlite:///{path}", read_only=True) as reader:
        with pytest.raises(StoreError, match="for reading only"):
            reader.runs.add(run(SEEN + 3600))
        reader.reopen_for_writing()
        reader.runs.add(run(SEEN + 3600))
        assert len(reader.runs.made_since(HOURS, 0)) == 2
