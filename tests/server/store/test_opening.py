"""A store is opened: for reading only, without a file, and with another kind of file."""

import hashlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.store.stores import DAY, HELD, HOURS, run, series, whole_day
from tunnihind.errors import SchemaError, SettingsError, SourceUnreachable, StoreError
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.store.store import Store

SEEN = HELD.since_ts


def fingerprint(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


def fill(store: Store) -> None:
    store.prices.add(whole_day(DAY), source="a", seen_ts=SEEN)
    store.covariates.add({"ee_wind_mw": [series(SEEN, [1.0])]})
    store.runs.add(run(SEEN))
    store.witnesses.put(HELD)
    store.health.record_failure("elering", SEEN, SourceUnreachable("elering", "no answer"))


@pytest.fixture
def filled(path: Path, store: Store) -> Path:
    """Return the path of a closed database with data of every kind."""
    fill(store)
    store.close()
    return path


@pytest.fixture
def read_only(url: str, filled: Path) -> Iterator[Store]:
    with Store(url, read_only=True) as opened:
        yield opened


def read_all(store: Store) -> None:
    assert len(store.read_archive().prices.newest_versions().series_of("ee")) == 24
    assert list(store.read_archive().covariates.series) == ["ee_wind_mw"]
    assert store.runs.newest(HOURS) is not None
    assert store.witnesses.held_back() == [HELD]
    assert store.health.by_source()["elering"].failures == 1
    assert store.unguarded_lease().holder() is None
    assert store.state.served_version() == 3


WRITES: list[Callable[[Store], object]] = [
    lambda store: store.prices.add(whole_day(DAY, price=float), source="a", seen_ts=SEEN),
    lambda store: store.covariates.add({"ee_wind_mw": [series(SEEN, [2.0])]}),
    lambda store: store.runs.add(run(SEEN)),
    lambda store: store.runs.store_backtest_score(HOURS, None),
    lambda store: store.witnesses.put(HELD),
    lambda store: store.health.record_success("elering", SEEN),
    lambda store: store.unguarded_lease().claim(),
    lambda store: store.unguarded_lease().release(),
    lambda store: store.state.record_refresh(SEEN),
    lambda store: delete_superfluous(store, SEEN),
]


def test_a_read_only_store_reads_all_and_writes_nothing(url: str, filled: Path) -> None:
    before = fingerprint(filled.parent)
    with Store(url, read_only=True) as store:
        read_all(store)
        for write in WRITES:
            with pytest.raises(StoreError, match="opened for reading only"):
                write(store)
    after = fingerprint(filled.parent)
    # SQLite's own files for several processes may stay: an index, and an empty log.
    assert after.pop(f"{filled.name}-wal", None) in {None, hashlib.sha256(b"").hexdigest()}
    after.pop(f"{filled.name}-shm", None)
    assert after == before


def test_a_read_only_store_cannot_be_talked_into_writing(read_only: Store) -> None:
    with pytest.raises(StoreError, match="readonly"), read_only.database.reading() as connection:
        connection.exec_driver_sql("DELETE FROM runs")


def test_in_a_folder_that_cannot_be_written_reading_leaves_no_trace_at_all(
    url: str, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fingerprint(filled.parent)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Store(url, read_only=True) as store:
        read_all(store)
        assert fingerprint(filled.parent) == before
    assert fingerprint(filled.parent) == before


def test_a_read_only_store_follows_what_another_process_writes(read_only: Store, url: str) -> None:
    with Store(url) as writer:
        writer.runs.add(run(SEEN + 3600))
        newest = read_only.runs.newest(HOURS)
    assert newest is not None
    assert newest.made_at == SEEN + 3600


def test_what_a_killed_server_left_in_its_log_is_read_without_touching_it(
    tmp_path: Path, path: Path, store: Store
) -> None:
    fill(store)
    left = tmp_path / "after the kill"
    left.mkdir()
    for name in (path.name, f"{path.name}-wal"):
        shutil.copy(path.with_name(name), left)
    before = fingerprint(left)
    with Store(f"sqlite:///{left / path.name}", read_only=True) as killed:
        read_all(killed)
    assert before.items() <= fingerprint(left).items()


def test_reading_where_there_is_no_database_says_so_and_makes_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no database at .*absent/tunnihind\.db.*--database-url"):
        Store(f"sqlite:///{tmp_path}/absent/tunnihind.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_made_together_with_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "with space" / "100%" / "tunnihind.db"
    with Store(f"sqlite:///{file}") as store:
        fill(store)
    assert file.exists()
    with Store(f"sqlite:///{file}", read_only=True) as store:
        read_all(store)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"can't make the database .*/file/data/tunnihind\.db: Not a directory"):
        Store(f"sqlite:///{tmp_path}/file/data/tunnihind.db")


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("content", [b"ts,ee\n1765756800,1.0\n" * 50, b"\x00" * 4096, b"SQLite format 3\x00" * 300])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    path: Path, url: str, content: bytes, read_only: bool
) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"tunnihind\.db: file is not a database"):
        Store(url, read_only=read_only)
    assert path.read_bytes() == content


@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_database_is_refused(filled: Path, url: str, read_only: bool) -> None:
    filled.write_bytes(filled.read_bytes()[:6000])
    with pytest.raises(StoreError, match="malformed"):
        Store(url, read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_is_no_database(tmp_path: Path, read_only: bool) -> None:
    with pytest.raises(StoreError, match="can't read the database"):
        Store(f"sqlite:///{tmp_path}", read_only=read_only)


def test_an_empty_file_becomes_a_store_but_not_for_a_reader(path: Path, url: str) -> None:
    path.touch()
    with pytest.raises(SchemaError, match=r"start `\./run serve` once"):
        Store(url, read_only=True)
    with Store(url) as store:
        assert store.prices.count() == 0


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/var/lib/tunnihind.db",
        "sqlite:relative.db",
        "sqlite://host/a.db",
        "nosuch://host/name",
        "postgresql://user:secret@host:port/name",
        "postgresql//user:secret@host/name",
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_an_address_that_is_none_is_a_wrong_setting(url: str, read_only: bool) -> None:
    with pytest.raises(SettingsError, match=r"database-url is .*give an address such as sqlite:///") as caught:
        Store(url, read_only=read_only)
    assert "secret" not in str(caught.value)


def test_a_database_whose_driver_is_missing_is_a_wrong_setting() -> None:
    with pytest.raises(SettingsError, match=r"names sqlite\+pysqlcipher, whose driver pysqlcipher3? is not installed"):
        Store("sqlite+pysqlcipher://:secret@/tunnihind.db")


def test_opening_waits_for_another_process_that_is_just_making_the_same_database(path: Path, url: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.1, other.execute, ["COMMIT"])
        release.start()
        with Store(url) as store:
            assert store.prices.count() == 0
        release.join()
