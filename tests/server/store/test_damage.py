"""A row with a damaged cell in any column of any table is left out, and its table is named. No process ends."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import date, timedelta
from itertools import count, zip_longest
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from sqlalchemy import Column, Connection, Float, LargeBinary, Text, create_engine, insert, make_url, text
from sqlalchemy.exc import DBAPIError

from tests.server.store.conftest import System
from tests.support.clocks import StillClock
from tests.support.store.pipelines import plain_run
from tests.support.store.postgresql import PostgresqlServer
from tests.support.store.stores import DAY, HELD, HOURS, run, series, whole_day
from tests.support.upstreams.sources import ScriptedWeather
from tunnihind.api.served_data import read_served_data
from tunnihind.api.snapshot import Snapshot
from tunnihind.cli.inspect import read_status, status_lines
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, ZONES, day_start
from tunnihind.errors import SchemaError, SourceUnreachable
from tunnihind.forecast.scoring.live_scores import DayScores, LiveScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import ObservedSeries
from tunnihind.pipeline.back_fill import (
    YEARS_FILLED_KEY,
    filled_parts,
    record_filled_part,
)
from tunnihind.pipeline.modelling import backtest_scores, live_scores, make_runs
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.pipeline.situation import read_situation
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store.packing import pack_hundredths
from tunnihind.store.schema import backtest_forecasts, metadata, scenarios
from tunnihind.store.store import Store

NOW: Final = day_start(DAY) + 10 * 3600
DAYS: Final = 20
SCORES: Final = Scores(24, 20.0, 30.0, 0.3, 0.8, 0.1, 0.1, 9.0, 90.0, 70.0)

DAMAGE: Final = {
    "a text": "x",
    "an empty text": "",
    "bytes": b"\xff\x00\x01",
    "minus one": -1,
    "an absurd number": 2**62,
    "infinity": float("inf"),
    "nothing": None,
    "another document": '{"a": ["b", 1e999]}',
    "half a document": "[[1765670400, 0.0], [176",
    "a nested document": "[" * 3000,
    "a far date": "9999-12-31",
    "no end of dates": "infinity",
}
ALONE: Final = {"state": ("value",), "leases": ("pid", "beat_ts")}
"""Tables whose rows all have different meanings, and their columns. Any text is a valid token or host."""
COLUMNS: Final = {
    table.name: [
        column
        for column in table.columns
        # SQLite itself allows only numbers as the number of a run.
        if (table.name, column.name) != ("runs", "id")
    ]
    for table in metadata.sorted_tables
    if table.name not in ALONE
}
ONE_OF_EACH: Final = [[column for column in each if column is not None] for each in zip_longest(*COLUMNS.values())]
"""The first column of every table, the second column of every table, and so on."""


@pytest.fixture(scope="module")
def whole(system: System, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    """Return a database with more rows in each table than there are kinds of damage.

    Its columns accept any value in SQLite. In PostgreSQL they accept all values of their type, and NULL.
    """
    if system == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('whole') / 'tunnihind.db'}"
    else:
        server: PostgresqlServer = request.getfixturevalue("postgresql")
        url = server.url(server.make_database())
    with Store(url) as store:
        for day in range(DAYS):
            store.prices.add(whole_day(DAY - timedelta(day)), source="elering", seen_ts=NOW - DAY_S)
            store.covariates.add({"ee_wind_mw": [series(NOW - day * 3600, [1.0, 2.0])]})
            store.observations.add({f"{day}_wind_mw": ObservedSeries(NOW // HOUR_S * HOUR_S, np.ones(2, np.float32))})
            store.runs.add(plain_run(NOW - day * 3600, median=50.0 + day))
            store.witnesses.put(replace(HELD, day=DAY - timedelta(day)))
            store.health.record_failure(f"source {day}", NOW, SourceUnreachable("elering", "no answer"))
        store.runs.store_backtest_score(HOURS, None)
        scored = [DayScores(DAY - timedelta(day), 1, NOW, "test", SCORES, 1.0) for day in range(DAYS)]
        store.scores.store_live_scores("ee", LiveScores(days=tuple(scored)))
        store.records.add("ee", "2025-10", forecasts="zone\n", scores="zone\n")
        store.records.add("ee", "2025-11", forecasts="zone\n", scores="zone\n")
        store.state.record_refresh(NOW)
        record_filled_part(store.state, YEARS_FILLED_KEY, str(DAY.year), NOW)
        record_filled_part(store.state, "months of weather filled", "2025-12-01", NOW)
        ones = pack_hundredths(np.ones(24))
        past = [
            {
                "model": "m",
                "zone": "ee",
                "issued_ts": NOW - day * DAY_S,
                "step_s": HOUR_S,
                "start_ts": NOW,
                "p10": ones,
                "p50": ones,
                "p90": ones,
            }
            for day in range(DAYS)
        ]
        paths = pack_hundredths(np.ones((20, 24)))
        kept = [{"made_at": NOW, "zone": zone, "start_ts": NOW, "paths": paths} for zone in ZONES]
        with store.database.writing() as connection:
            connection.execute(insert(backtest_forecasts), past)
            connection.execute(insert(scenarios), kept)
    with changing(url) as connection:
        if system == "sqlite":
            connection.exec_driver_sql("PRAGMA writable_schema = ON")
            change = "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'"
            connection.exec_driver_sql(change)
        else:
            for table in metadata.sorted_tables:
                for column in table.columns:
                    if not column.primary_key:
                        change = f"ALTER TABLE {table.name} ALTER COLUMN {column.name} DROP NOT NULL"
                        connection.exec_driver_sql(change)
    return url


@pytest.fixture
def url(system: System, whole: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    if system == "sqlite":
        yield f"sqlite:///{shutil.copy(whole.removeprefix('sqlite:///'), tmp_path / 'tunnihind.db')}"
        return
    server: PostgresqlServer = request.getfixturevalue("postgresql")
    name = server.make_database(like=make_url(whole).database or "")
    yield server.url(name)
    server.drop_database(name)


@contextmanager
def changing(url: str) -> Iterator[Connection]:
    """Open a transaction that ignores the columns' types."""
    engine = create_engine(url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def damage(url: str, column: Column[object]) -> list[object]:
    """Put a value of every kind into a column, each into another row. Return the values that the database accepts."""
    table = column.table
    key = [each.name for each in table.primary_key]
    of = "WHERE zone = 'ee'" if table.name == "prices" else ""
    matches = " AND ".join(f"{name} = :of_{name}" for name in key)
    newest = "2 DESC" if len(key) > 1 else "1"
    change = f"UPDATE {table.name} SET {column.name} = :value WHERE {matches}"  # noqa: S608
    done = []
    with changing(url) as connection:
        rows = connection.execute(text(f"SELECT {', '.join(key)} FROM {table.name} {of} ORDER BY {newest}")).all()  # noqa: S608
        for row, value in zip(rows, DAMAGE.values(), strict=False):
            of_row = {f"of_{name}": cell for name, cell in row._asdict().items()}
            if is_taken(connection, change, value=value, **of_row):
                done.append(value)
    return done


def is_taken(connection: Connection, change: str, **values: object) -> bool:
    """Try to change values, and return whether the database accepted the change."""
    with suppress(DBAPIError), connection.begin_nested():
        connection.execute(text(change), values)
        return True
    return False


def is_noticed(system: System, column: Column[object], value: object) -> bool:
    """Return whether a value in a column has to be noticed.

    Valid values, and columns that are not read, are not noticed.
    """
    match (column.table.name, column.name), column.type:
        case ("prices", "zone"), _:
            noticed = True
        case ("prices", "source"), _:
            noticed = False
        case _, LargeBinary():
            noticed = True
        case _, Text():
            # PostgreSQL stores bytes as an ordinary text.
            noticed = (isinstance(value, bytes) and system == "sqlite") or (value is None and not column.nullable)
        case _, Float():
            noticed = value != -1
        case _:
            noticed = value is not None or not column.nullable
    return noticed


def look_at_everything(store: Store) -> None:
    """Read a store as a server, its pipeline, its model's process and the commands do."""
    view = read_served_data(store, ESTONIA, NOW)
    assert len(view.hours.settled) >= 14 * 24
    assert view.hours.run is not None
    sources = [ScriptedWeather()]
    situation = read_situation(store, [ESTONIA], sources, date(2025, 1, 1), {"ee": "m"}, {}, NOW)
    assert situation.settled_through is not None
    status = read_status(store, ESTONIA, NOW, is_past=False)
    json.dumps(asdict(status), default=str)
    assert list(status_lines(status))
    assert store.scores.day_scores("ee", DAY - timedelta(DAYS), DAY)
    assert make_runs(store, NOW, ESTONIA) is not None
    live_scores(store, NOW, ESTONIA, "m")
    backtest_scores(store, NOW, ESTONIA, "m")
    assert len(store.state.instance_id()) == 32


def work_with(store: Store) -> None:
    """Use a store as a server does in a day."""
    look_at_everything(store)
    assert store.unguarded_lease().claim()
    delete_superfluous(store, NOW)
    store.look_for_damage()
    store.state.record_refresh(NOW)
    store.runs.add(run(NOW))
    store.witnesses.put(HELD)
    store.health.record_success("elering", NOW)
    look_at_everything(store)


@pytest.mark.usefixtures("quick_model")
@pytest.mark.parametrize("columns", ONE_OF_EACH, ids=count(1))
def test_damaged_cells_are_named_and_end_nothing(
    url: str, system: System, columns: list[Column[object]], caplog: pytest.LogCaptureFixture
) -> None:
    done = {column: damage(url, column) for column in columns}
    damaged = {
        column.table.name for column, values in done.items() if any(is_noticed(system, column, one) for one in values)
    }
    assert all(done.values())
    with Store(url, read_only=True) as reader:
        look_at_everything(reader)
    caplog.clear()
    with Store(url) as store:
        work_with(store)
        assert store.database.system.damaged_tables >= damaged
    assert damaged <= {line.split()[2] for line in caplog.messages if " has damaged rows, which are left out" in line}


@pytest.mark.usefixtures("quick_model")
@pytest.mark.parametrize("value", DAMAGE.values(), ids=DAMAGE.keys())
def test_facts_of_which_there_is_one_begin_anew(
    url: str, system: System, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    with Store(url) as store:
        store.unguarded_lease().claim()
    with changing(url) as connection:
        damaged = {
            table
            for table, columns in ALONE.items()
            for column in columns
            if is_taken(connection, f"UPDATE {table} SET {column} = :value", value=value)  # noqa: S608
        }
        if "leases" not in damaged:
            connection.execute(text("DELETE FROM leases"))
    if not damaged:
        assert system == "postgresql"
        return
    with Store(url, read_only=True) as reader:
        look_at_everything(reader)
    with Store(url) as store:
        work_with(store)
        assert store.state.last_refresh() == NOW
        if "state" in damaged:
            assert store.state.served_version() > 10**9
            assert filled_parts(store.state, YEARS_FILLED_KEY) == {}
        identity = store.state.instance_id()
    with Store(url) as store:
        assert store.state.instance_id() == identity
    for table in damaged:
        assert f"the table {table} has damaged rows" in caplog.text


def test_a_damaged_identity_keeps_no_replica_and_no_model_out(url: str) -> None:
    with changing(url) as connection:
        connection.execute(text("UPDATE state SET value = 'x' WHERE key = 'instance_id'"))
    with Store(url, read_only=True, is_replica=True) as store:
        assert len(store.state.instance_id()) == 32


def test_a_damaged_price_is_missing_and_what_the_source_says_takes_its_place(url: str) -> None:
    ts = day_start(DAY - timedelta(10)) + 3600
    with changing(url) as connection:
        connection.execute(text("UPDATE prices SET eur_mwh = 1e300 WHERE zone = 'ee' AND ts = :ts"), {"ts": ts})
        connection.execute(text("DELETE FROM witnesses"))  # columns of days that may have gaps
    with Store(url) as store:
        assert ts not in store.prices.read_archive().newest_versions().series_of("ee")
        assert "ee" not in {zone for zone, *_ in store.prices.newest_versions(ts, ts)}
        assert read_situation(
            store, [ESTONIA], [], date(2025, 1, 1), {"ee": "m"}, {}, NOW
        ).settled_through == DAY - timedelta(11)
        added = store.prices.add(whole_day(DAY - timedelta(10)), source="elering", seen_ts=NOW - DAY_S)
        assert (added.new, added.corrected) == (1, 0)
        assert store.prices.read_archive().newest_versions().series_of("ee")[ts] == 11.0
        assert read_situation(store, [ESTONIA], [], date(2025, 1, 1), {"ee": "m"}, {}, NOW).settled_through == DAY


async def test_readyz_warns_of_damaged_rows_until_a_check_finds_none(url: str) -> None:
    with changing(url) as connection:
        connection.execute(text("UPDATE day_scores SET days_ahead = 99 WHERE issued_on = :day"), {"day": str(DAY)})
    snapshot = Snapshot(Settings(), StillClock(NOW))
    with Store(url) as store:
        updater = SnapshotUpdater(store, [snapshot], StillClock(NOW))
        await updater.refresh()
        assert not snapshot.troubles.warnings
        store.look_for_damage()
        await updater.refresh()
        assert [*snapshot.troubles.warnings.values()] == [
            "damaged rows of day_scores are left out: stop the server, and restore a backup"
        ]
        assert snapshot.data.hours.run is not None
        left_out = "left out    damaged rows of day_scores: restore a backup"
        assert left_out in status_lines(read_status(store, ESTONIA, NOW, is_past=False))
        with changing(url) as connection:
            connection.execute(text("DELETE FROM day_scores WHERE days_ahead = 99"))
        store.look_for_damage()
        await updater.refresh()
        assert not snapshot.troubles.warnings


@pytest.mark.parametrize("noted", ["x", None, "", b"\xff", 7])
def test_a_damaged_note_of_the_tables_version_is_warned_of(url: str, system: System, noted: object) -> None:
    with changing(url) as connection:
        if not is_taken(connection, "UPDATE alembic_version SET version_num = :noted", noted=noted):
            assert system == "postgresql"
            return
    with Store(url, read_only=True) as reader:
        assert reader.prices.count()
    with Store(url) as store:
        assert store.prices.count()
        store.look_for_damage()
        assert store.database.system.damage.startswith("damaged rows of alembic_version")


def test_a_damaged_note_of_other_tables_is_refused_in_plain_words(url: str) -> None:
    with changing(url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'x'"))
        connection.execute(text("ALTER TABLE runs RENAME COLUMN tier TO level"))
    for read_only in (False, True):
        with pytest.raises(SchemaError, match="alembic_version is damaged: restore a backup"):
            Store(url, read_only=read_only)
