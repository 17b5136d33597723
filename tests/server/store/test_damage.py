"""A damaged cell in any column of any table is named and left out, and ends nothing; what can be is fetched again."""

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from sqlalchemy import Column, Float, LargeBinary, Table, Text

from tests.support.pipelines import plain_run
from tests.support.sources import ScriptedWeather
from tests.support.stores import CASE, DAY, run, series, whole_day
from tunnihind.api.served_data import read_served_data
from tunnihind.cli.status import describe, read_status
from tunnihind.errors import SchemaError
from tunnihind.forecast.scoring.live_scores import DayScores, LiveScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.market import DAY_S, HOUR_S, day_start
from tunnihind.pipeline.back_fill import YEARS_FILLED, filled, months_filled, note_filled, refill_damaged
from tunnihind.pipeline.modelling import accuracy, make_runs, scores
from tunnihind.pipeline.situation import read_situation
from tunnihind.store.packing import pack_paths
from tunnihind.store.revision import is_current
from tunnihind.store.schema import metadata
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
}
ALONE: Final = {"state", "leases"}
"""Tables of which every row is one of its kind."""
COLUMNS: Final = [
    (table, column)
    for table in metadata.sorted_tables
    for column in table.columns
    # SQLite itself takes nothing but numbers for a run's number.
    if table.name not in ALONE and (table.name, column.name) != ("runs", "id")
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with more rows in each table than there are kinds of damage; its columns take anything."""
    path = tmp_path_factory.mktemp("whole") / "tunnihind.db"
    with Store(f"sqlite:///{path}") as store:
        for day in range(DAYS):
            store.prices.add(whole_day(DAY - timedelta(day)), source="elering", seen_ts=NOW - DAY_S)
            store.covariates.add({"ee_wind_mw": [series(NOW - day * 3600, [1.0, 2.0], lead_s=DAY_S)]})
            store.runs.add(plain_run(NOW - day * 3600, median=50.0 + day))
            store.quarantine.put(replace(CASE, day=DAY - timedelta(day)))
            store.health.failed(f"source {day}", NOW, "no answer")
        store.runs.keep_score(None)
        scored = [DayScores(DAY - timedelta(day), 1, NOW, "test", SCORES, 1.0) for day in range(DAYS)]
        store.scores.keep(LiveScores(days=tuple(scored)))
        store.lease().claim()
        store.state.refreshed(NOW)
        note_filled(store.state, YEARS_FILLED, str(DAY.year), NOW)
        note_filled(store.state, months_filled("weather"), "2025-12-01", NOW)
        day_of_ones = tuple(unpacked.tobytes() for unpacked in (np.ones(24, "<f8"),) * 3)
        with store.database.writing() as connection:
            for day in range(DAYS):
                row = "m", NOW - day * DAY_S, HOUR_S, NOW, *day_of_ones
                connection.exec_driver_sql("INSERT INTO backtest_forecasts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
                paths = NOW - day * 3600, "ee", NOW, pack_paths(np.ones((20, 24)))
                connection.exec_driver_sql("INSERT INTO scenarios VALUES (?, ?, ?, ?)", paths)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
        connection.commit()
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "tunnihind.db"))


def damage(path: Path, table: Table, column: Column[object]) -> list[object]:
    """Put a value of every kind into a column, each into another row; return those that SQLite takes."""
    key = [each.name for each in table.primary_key]
    of = "WHERE zone = 'ee'" if table.name == "prices" else ""
    matches = " AND ".join(f"{name} = ?" for name in key)
    newest = "2 DESC" if len(key) > 1 else "1"
    done = []
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute(f"SELECT {', '.join(key)} FROM {table.name} {of} ORDER BY {newest}")  # noqa: S608
        for row, value in zip(rows.fetchall(), DAMAGE.values(), strict=False):
            with suppress(sqlite3.IntegrityError):
                connection.execute(f"UPDATE {table.name} SET {column.name} = ? WHERE {matches}", (value, *row))  # noqa: S608
                done.append(value)
    return done


def is_noticed(table: Table, column: Column[object], value: object) -> bool:
    """Tell whether a value is one that its column can't hold, or that nobody looks at."""
    match (table.name, column.name), column.type:
        case ("prices", "zone"), _:
            noticed = True
        case ("prices", "source"), _:
            noticed = False
        case ("runs", "inputs"), _:
            noticed = False  # those of runs are in `packed_inputs` today
        case (_, "quotes"), _:
            noticed = True
        case _, LargeBinary():
            noticed = value not in {"", DAMAGE["a nested document"]}
        case _, Text():
            noticed = isinstance(value, bytes) or value is None
        case _, Float():
            noticed = value != -1
        case _:
            noticed = value is not None or not column.nullable
    return noticed


def look_at_everything(store: Store) -> None:
    """Do what a server, its pipeline, its model's process and the commands do with a store."""
    view = read_served_data(store, NOW)
    assert len(view.settled) >= 14 * 24
    assert view.run is not None
    sources = [ScriptedWeather()]
    situation = read_situation(store, sources, date(2025, 1, 1), "m", {}, NOW)
    assert situation.settled_through is not None
    status = read_status(store, NOW, is_past=False)
    json.dumps(asdict(status), default=str)
    assert list(describe(status))
    assert store.scores.days(DAY - timedelta(DAYS), DAY)
    assert make_runs(store, NOW) is not None
    accuracy(store, NOW)
    scores(store, NOW)
    assert len(store.state.instance_id()) == 32


def work_with(store: Store) -> None:
    """Do what a server does with a store in a day."""
    look_at_everything(store)
    assert store.lease().claim()
    refill_damaged(store, [ScriptedWeather()])
    store.thin(NOW)
    store.state.refreshed(NOW)
    store.runs.add(run(NOW))
    store.quarantine.put(CASE)
    store.health.succeeded("elering", NOW)
    look_at_everything(store)


@pytest.mark.usefixtures("quick_model")
@pytest.mark.parametrize(("table", "column"), COLUMNS, ids=lambda part: part.name)
def test_damaged_cells_are_named_and_end_nothing(
    path: Path, table: Table, column: Column[object], caplog: pytest.LogCaptureFixture
) -> None:
    values = damage(path, table, column)
    assert values
    url = f"sqlite:///{path}"
    with Store(url, read_only=True) as reader:
        look_at_everything(reader)
    caplog.clear()
    with Store(url) as store:
        work_with(store)
    named = [text for text in caplog.messages if f"the row of {table.name} with " in text and " is damaged: " in text]
    assert len(named) >= sum(is_noticed(table, column, value) for value in values), caplog.text
    assert len(named) == len(set(named)) <= len(values)


@pytest.mark.usefixtures("quick_model")
@pytest.mark.parametrize("value", DAMAGE.values(), ids=DAMAGE.keys())
@pytest.mark.parametrize("table", sorted(ALONE))
def test_facts_of_which_there_is_one_begin_anew(
    path: Path, table: str, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    columns = {"state": ("value",), "leases": ("token", "host", "pid", "beat_ts")}[table]
    with closing(sqlite3.connect(path)) as connection, connection:
        for column in columns:
            connection.execute(f"UPDATE {table} SET {column} = ?", (value,))  # noqa: S608
    url = f"sqlite:///{path}"
    with Store(url, read_only=True) as reader:
        look_at_everything(reader)
    with Store(url) as store:
        work_with(store)
        assert store.state.last_refresh() == NOW
        if table == "state":
            assert store.state.version() > 10**9
            assert filled(store.state, YEARS_FILLED) == {}
        identity = store.state.instance_id()
    with Store(url) as store:
        assert store.state.instance_id() == identity
    assert f"the row of {table} with " in caplog.text


def test_a_damaged_price_is_missing_and_what_the_source_says_takes_its_place(path: Path) -> None:
    ts = day_start(DAY - timedelta(10)) + 3600
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE prices SET eur_mwh = 'x' WHERE zone = 'ee' AND ts = ?", (ts,))
        connection.execute("DELETE FROM quarantine")  # whose days may have gaps
    with Store(f"sqlite:///{path}") as store:
        assert ts not in store.prices.archive().everything().of("ee")
        assert read_situation(store, [], date(2025, 1, 1), "m", {}, NOW).settled_through == DAY - timedelta(11)
        added = store.prices.add(whole_day(DAY - timedelta(10)), source="elering", seen_ts=NOW - DAY_S)
        assert (added.new, added.corrected) == (1, 0)
        assert store.prices.archive().everything().of("ee")[ts] == 11.0
        assert read_situation(store, [], date(2025, 1, 1), "m", {}, NOW).settled_through == DAY


@pytest.mark.parametrize(("column", "value"), [("eur_mwh", "x"), ("ts", "x"), ("zone", "xx")])
def test_a_year_with_a_damaged_price_is_filled_in_again(path: Path, column: str, value: object) -> None:
    ts = day_start(DAY) + 3600
    with closing(sqlite3.connect(path)) as connection, connection:
        change = f"UPDATE prices SET {column} = ? WHERE zone = 'ee' AND ts = ?"  # noqa: S608
        connection.execute(change, (value, ts))
    with Store(f"sqlite:///{path}") as store:
        refill_damaged(store, [])
        assert filled(store.state, YEARS_FILLED) == {}
        note_filled(store.state, YEARS_FILLED, "2025", NOW)
        refill_damaged(store, [])
        assert filled(store.state, YEARS_FILLED) == {"2025": NOW}
        assert store.prices.count() == DAYS * 24 * 4 - 1


@pytest.mark.parametrize("noted", ["x", None, "", b"\xff", 7])
def test_a_damaged_note_of_the_tables_version_is_made_anew(
    path: Path, noted: object, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (noted,))
    url = f"sqlite:///{path}"
    with Store(url, read_only=True) as reader:
        assert reader.prices.count()
    with Store(url) as store:
        assert store.prices.count()
        assert is_current(store.database)
    assert "alembic_version is damaged" in caplog.text


def test_a_damaged_note_of_other_tables_is_refused_in_plain_words(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'x'")
        connection.execute("ALTER TABLE runs ADD COLUMN more")
    for read_only in (False, True):
        with pytest.raises(SchemaError, match="alembic_version is damaged"):
            Store(f"sqlite:///{path}", read_only=read_only)
