"""A copy into an empty database has all data, or none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert, text, update

from tests.support.clocks import StillClock
from tests.support.store.postgresql import PostgresqlServer
from tests.support.store.stores import DAY, HELD, HOURS, run, series, whole_day
from tunnihind.api.served_data import read_served_data
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, day_start
from tunnihind.errors import SchemaError, SettingsError, SourceRefused, StoreError
from tunnihind.forecast.scoring.live_scores import DayScores, LiveScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import ObservedSeries
from tunnihind.settings import Settings
from tunnihind.store import copying
from tunnihind.store import rows as rows_read
from tunnihind.store.copying import copy
from tunnihind.store.packing import pack_hundredths
from tunnihind.store.schema import backtest_forecasts, leases, metadata
from tunnihind.store.store import Store

SCORES = Scores(24, 20.0, 30.0, 0.25, 0.75, 0.125, 0.125, 9.0, 90.0, 70.0)
NOW = day_start(DAY) + 10 * HOUR_S
type Rows = dict[str, list[str]]


class Interrupted(Exception):
    """An error in place of the process's end."""


def shown(_what: str, _done: int, _total: int) -> None:
    """Ignore the progress."""


def fill(store: Store) -> None:
    """Add rows to every table."""
    for n in range(5):
        store.prices.add(whole_day(DAY - timedelta(days=40 * n)), source="test", seen_ts=NOW - n * DAY_S)
    store.prices.add(whole_day(DAY, price=lambda n: 0.1 * n - 0.0), source="test", seen_ts=NOW + 1)
    for n in range(3):
        store.observations.add({f"wind_speed_100m@{n}": ObservedSeries(NOW - n * DAY_S, np.array([1.5], np.float32))})
        store.covariates.add({f"wind_speed_100m@{n}": [series(NOW - n * DAY_S, [1.5, float("nan"), -0.25])]})
        store.runs.add(run(NOW + n * HOUR_S, level=50 + n, inputs={"ööpäev": "õ€"}))
    store.witnesses.put(HELD)
    store.health.record_failure("elering", NOW, SourceRefused("elering", "ei vasta", status=503))
    store.state.record_refresh(NOW)
    store.records.add("ee", "2025-11", forecasts="zone\n", scores="õ€\n")
    store.scores.store_live_scores("ee", LiveScores(days=(DayScores(DAY, 1, NOW, "weather", SCORES, 1.0),)))
    with store.database.writing() as connection:
        packed = dict.fromkeys(("p10", "p50", "p90"), pack_hundredths(np.ones(24)))
        row = {"model": "m", "zone": "ee", "issued_ts": NOW, "step_s": HOUR_S, "start_ts": NOW, **packed}
        connection.execute(insert(backtest_forecasts).values(row))
        scenario = {"made_at": NOW, "zone": "ee", "start_ts": NOW, "paths": pack_hundredths(np.ones((20, 24)))}
        connection.execute(insert(metadata.tables["scenarios"]).values(scenario))
        lease = {"name": "pipeline", "token": "t", "host": "h", "pid": 1, "beat_ts": 1}
        connection.execute(insert(leases).values(lease))


def rows_of(url: str) -> Rows:
    """Return all rows in the database system's own values."""
    found: Rows = {}
    with Store(url, read_only=True) as store, store.database.reading() as connection:
        for table in metadata.sorted_tables:
            if table is not leases:
                names = ", ".join(table.c.keys())
                rows = connection.execute(text(f"SELECT {names} FROM {table.name}"))  # noqa: S608
                found[table.name] = sorted(repr(tuple(row)) for row in rows)
    return found


def answer(store: Store) -> tuple[str, bytes]:
    """Return the tag and the body of a server's answer from a store."""
    snapshot = Snapshot(Settings(), StillClock(NOW))
    snapshot.replace_data(read_served_data(store, ESTONIA, NOW))
    representation = snapshot.forecast_answer("identity")
    return representation.tag, representation.body


@contextmanager
def empty(postgresql: PostgresqlServer) -> Iterator[str]:
    name = postgresql.make_database()
    yield postgresql.url(name)
    postgresql.drop_database(name)


@contextmanager
def addresses(way: str, tmp_path: Path, postgresql: PostgresqlServer) -> Iterator[tuple[str, str]]:
    first, second = way.split(" to ")
    with empty(postgresql) as one, empty(postgresql) as other:
        yield (
            one if first == "PostgreSQL" else f"sqlite:///{tmp_path / 'source.db'}",
            other if second == "PostgreSQL" else f"sqlite:///{tmp_path / 'target.db'}",
        )


@pytest.fixture(params=["SQLite to PostgreSQL", "PostgreSQL to SQLite"])
def ways(request: pytest.FixtureRequest, tmp_path: Path, postgresql: PostgresqlServer) -> Iterator[tuple[str, str]]:
    """Return the addresses of a filled source, and of a target that doesn't exist yet."""
    with addresses(request.param, tmp_path, postgresql) as (source, target):
        with Store(source) as store:
            fill(store)
        yield source, target


@pytest.fixture
def source(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'source.db'}"
    with Store(url) as store:
        fill(store)
    return url


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'target.db'}"


@pytest.mark.parametrize(
    "ways",
    ["SQLite to PostgreSQL", "PostgreSQL to SQLite", "SQLite to SQLite", "PostgreSQL to PostgreSQL"],
    indirect=True,
)
def test_every_row_is_copied_and_the_pipelines_lease_is_not(ways: tuple[str, str]) -> None:
    source, target = ways
    copied = copy(source, target, shown)
    found = rows_of(target)
    assert found == rows_of(source)
    assert all(found.values()), "a table is empty: nothing is shown of it"
    assert {name: len(rows) for name, rows in found.items()} == {n: t.rows for n, t in copied.tables.items()}
    with Store(target) as store:
        assert store.unguarded_lease().holder() is None


def test_a_server_goes_on_from_a_copy_as_the_same_one_with_the_same_data(ways: tuple[str, str]) -> None:
    source, target = ways
    copy(source, target, shown)
    with Store(source) as before, Store(target) as after:
        assert after.state.instance_id() == before.state.instance_id()
        assert after.state.served_version() == before.state.served_version() > 0
        assert after.state.last_refresh() == NOW
        old, new = (answer(store) for store in (before, after))
        assert new == old
        # The next write gets a new number.
        after.runs.add(run(NOW + DAY_S))
        assert after.runs.newest(HOURS) is not None


def test_a_copy_that_is_interrupted_anywhere_leaves_nothing(
    ways: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = ways
    monkeypatch.setattr(copying, "_ROWS_A_WRITE", 7)
    for wanted in ("copying prices", "copying state"):

        def interrupt(what: str, _done: int, _total: int, wanted: str = wanted) -> None:
            if what == wanted:
                raise Interrupted

        with pytest.raises(Interrupted):
            copy(source, target, interrupt)
    copy(source, target, shown)
    assert rows_of(target) == rows_of(source)


def test_a_source_on_which_a_server_runs_is_refused(ways: tuple[str, str]) -> None:
    source, target = ways
    with Store(source) as store, store.database.writing() as connection:
        connection.execute(update(leases).values(beat_ts=store.database.system.now(connection)))
    with pytest.raises(StoreError, match=r"process 1 on h runs the pipeline on .*: stop it first"):
        copy(source, target, shown)


def test_a_target_with_data_is_left_alone(ways: tuple[str, str]) -> None:
    source, target = ways
    with Store(target) as store:
        store.prices.add(whole_day(DAY), source="other", seen_ts=NOW)
    before = rows_of(target)
    with pytest.raises(StoreError, match="holds data already, in prices: name an empty database"):
        copy(source, target, shown)
    assert rows_of(target) == before


@pytest.mark.parametrize("number", ["0000", "0999"])
def test_a_source_of_another_version_is_told_apart(source: str, target: str, number: str) -> None:
    with Store(source) as store, store.database.writing() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{number}'"))  # noqa: S608
    words = "start `./run serve` once" if number == "0000" else "written by a newer version of Tunnihind"
    with pytest.raises(SchemaError, match=words):
        copy(source, target, shown)


def test_a_target_of_a_newer_version_is_refused(source: str, target: str) -> None:
    with Store(target) as store, store.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0999'"))
        connection.execute(text("DELETE FROM state"))
    with pytest.raises(SchemaError, match="written by a newer version of Tunnihind"):
        copy(source, target, shown)


def test_a_database_is_not_copied_onto_itself(source: str, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "source.db")
    for url in (source, f"sqlite:///{link}"):
        with pytest.raises(StoreError, match="holds data already"):
            copy(source, url, shown)


@pytest.mark.parametrize("address", ["nonsense", "mysql+psycopg://u:secret@h/d", "postgresql+psycopg://u:secret@h:x/d"])
def test_an_address_that_is_none_is_told_by_the_name_of_its_option(source: str, address: str) -> None:
    with pytest.raises(SettingsError, match=r"^to (is|names) ") as refused:
        copy(source, address, shown)
    assert "secret" not in str(refused.value)


def test_damaged_rows_are_counted_and_left_out(
    source: str, postgresql: PostgresqlServer, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(source) as store, store.database.writing() as connection:
        connection.execute(text("UPDATE witnesses SET day = 'no day'"))
        connection.execute(text("UPDATE source_health SET error = 'a' || char(0)"))
        connection.execute(text("UPDATE prices SET eur_mwh = 'dear' WHERE zone = 'lv' AND ts % 86400 = 0"))
    with empty(postgresql) as url:
        copied = copy(source, url, shown)
        left_out = {name: table.left_out for name, table in copied.tables.items() if table.left_out}
        assert left_out.keys() == {"witnesses", "source_health", "prices"}
        assert left_out["prices"] > 1
        assert "the table witnesses has damaged rows" in caplog.text


def test_a_copy_that_can_not_be_written_leaves_no_open_cursor(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def interrupt(_what: str, _done: int, _total: int) -> None:
        raise Interrupted

    monkeypatch.setattr(copying, "_ROWS_A_WRITE", 3)
    monkeypatch.setattr(rows_read, "_BATCH_ROWS", 3)
    with pytest.raises(Interrupted):
        copy(source, target, interrupt)
    gc.collect()
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


def test_progress_comes_to_its_end(source: str, target: str) -> None:
    last: dict[str, tuple[int, int]] = {}
    copy(source, target, lambda what, done, total: last.update({what: (done, total)}))
    assert all(done == total for done, total in last.values())
    assert {"copying prices", "copying state"} <= last.keys()
