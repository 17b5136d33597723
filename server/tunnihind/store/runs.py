"""Stores forecast runs exactly as they were issued, and the newest scenarios of each zone."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any, Final

import numpy as np
from sqlalchemy import ColumnElement, delete, func, insert, select

from tunnihind.core.market import SeriesKey, Zone
from tunnihind.forecast.run import SCENARIO_COUNT, Run, Runs, Scenarios
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.packing import (
    HIGHEST_PRICE,
    pack_hundredths,
    pack_text,
    unpack_hundredths,
    unpack_percentiles,
    unpack_text,
)
from tunnihind.store.rows import (
    EARLIEST,
    LATEST,
    Instant,
    NonNegativeInt32,
    PeriodStart,
    Step,
    StoredRow,
    TableRows,
    TextWithoutNul,
    from_json,
    row_mapper,
)
from tunnihind.store.schema import runs as table
from tunnihind.store.schema import scenarios as scenarios_table
from tunnihind.store.state import StateBook

_NEWEST_FIRST: Final = (table.c.made_at.desc(), table.c.id.desc())
_SCORE_KEY_PREFIX: Final = "backtest"
_NEXT_ID: Final = select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery()
"""One more than the highest id, because a PostgreSQL sequence could give a new row the id of a row that the command
`copy` has copied."""


class RunBook:
    """The stored forecast runs."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _RunRow, row_mapper(_run), database)

    def add_forecast(self, runs: Runs) -> None:
        """Store the runs of one forecast and their scenarios in one transaction. Raises StoreError."""
        self.add(*runs.by_step.values(), scenarios=runs.scenarios)

    def add(self, *runs: Run, scenarios: Scenarios | None = None) -> None:
        """Store runs in one transaction. If scenarios are given, replace the zone's scenarios. Raises StoreError."""
        with self._database.writing() as connection:
            for run in runs:
                connection.execute(insert(table).values(id=_NEXT_ID, **_cells(run)))
            if scenarios is not None:
                paths = pack_hundredths(scenarios.eur_mwh)
                made = {"zone": scenarios.zone, "made_at": scenarios.made_at, "start_ts": scenarios.start_ts}
                upsert(connection, scenarios_table, [{**made, "paths": paths}])
            self._state.record_served_change()

    def newest(self, key: SeriesKey, as_of: int | None = None) -> Run | None:
        """Return the newest run of a series. Raises StoreError.

        If `as_of` is given, runs made after `as_of` are left out.
        """
        wanted = _run_conditions(key, EARLIEST, as_of)
        with self._database.reading() as connection:
            return self.rows.first_sound_object(connection, *wanted, order_by=_NEWEST_FIRST)

    def made_since(self, key: SeriesKey, made_at: int, as_of: int | None = None) -> list[Run]:
        """Return the runs of a series that were made from `made_at` on, newest first. Raises StoreError.

        If `as_of` is given, runs made after `as_of` are left out.
        """
        wanted = _run_conditions(key, made_at, as_of)
        with self._database.reading() as connection:
            return [*self.rows.read(connection, *wanted, order_by=_NEWEST_FIRST)]

    def oldest_made_at(self, key: SeriesKey) -> int | None:
        """Return the instant at which a series' oldest run was made, or None if there is no run. Raises StoreError."""
        with self._database.reading() as connection:
            query = select(func.min(table.c.made_at)).where(*_run_conditions(key, EARLIEST, None))
            oldest: int | None = connection.execute(query).scalar_one()
        return oldest

    def delete_superfluous(self, superfluous: Callable[[Collection[int]], set[int]]) -> int:
        """Delete runs, and return the number of deleted runs. Raises StoreError.

        `superfluous` gets the instants at which a zone's runs were made, and returns the instants of the runs to
        delete.
        """
        by_zone: dict[str, set[int]] = defaultdict(set)
        with self._database.writing() as connection:
            # `superfluous` is called once for each zone, because zones' forecasts are made at different instants.
            is_sound = table.c.made_at.between(EARLIEST, LATEST)
            for zone, made_at in connection.execute(select(table.c.zone, table.c.made_at).where(is_sound)):
                by_zone[zone].add(made_at)
            surplus = [(zone, at) for zone, made_at in by_zone.items() for at in superfluous(made_at)]
            return sum(
                connection.execute(delete(table).where(table.c.zone == zone, table.c.made_at == at)).rowcount
                for zone, at in surplus
            )

    def store_backtest_score(self, key: SeriesKey, score: BacktestScore | None) -> None:
        """Store the backtest score of a series in place of the earlier score. Raises StoreError.

        If `score` is None, the series then has no score.
        """
        self._state.write_served_fact(_score_key(key), None if score is None else asdict(score))

    def backtest_score(self, key: SeriesKey) -> BacktestScore | None:
        """Return the stored backtest score of a series. Raises StoreError."""
        found: BacktestScore | None = self._state.read(_score_key(key), BacktestScore | None)
        return found


def _cells(run: Run) -> dict[str, Any]:
    p10, p50, p90 = map(pack_hundredths, (run.p10, run.p50, run.p90))
    return {
        "made_at": run.made_at,
        "tier": run.tier,
        "zone": run.zone,
        "step_s": run.step_s,
        "start_ts": run.start_ts,
        "p10": p10,
        "p50": p50,
        "p90": p90,
        "inputs": pack_text(json.dumps(run.inputs)),
    }


class _RunRow(StoredRow):
    id: NonNegativeInt32
    made_at: Instant
    zone: Zone
    step_s: Step
    tier: TextWithoutNul
    start_ts: PeriodStart
    p10: bytes
    p50: bytes
    p90: bytes
    inputs: bytes


def _run(row: _RunRow) -> Run:
    if row.start_ts % row.step_s:
        raise ValueError(f"start_ts is {row.start_ts}, at which no period of {row.step_s} s begins")
    percentiles = unpack_percentiles(row.p10, row.p50, row.p90)
    inputs: dict[str, Any] = from_json(unpack_text(row.inputs, "inputs"), dict[str, Any])
    return Run(row.made_at, row.tier, row.zone, row.step_s, row.start_ts, *percentiles, inputs)


def _run_conditions(key: SeriesKey, since_ts: int, as_of: int | None) -> tuple[ColumnElement[bool], ...]:
    """Return SQL conditions for a series' runs that were made from `since_ts` on, and up to `as_of` if it is given.

    Rows with a damaged `made_at` are never selected.
    """
    made = table.c.made_at.between(since_ts, LATEST if as_of is None else as_of)
    return table.c.zone == key.zone, table.c.step_s == key.step_s, made


def _score_key(key: SeriesKey) -> str:
    return f"{_SCORE_KEY_PREFIX} {key.zone} {key.step_s}"


class ScenarioBook:
    """Reads the stored scenarios. `RunBook.add` writes the scenarios."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.rows = TableRows(scenarios_table, _ScenariosRow, row_mapper(_scenarios), database)

    def newest(self, zone: Zone) -> Scenarios | None:
        """Return the scenarios of a zone. Raises StoreError."""
        with self._database.reading() as connection:
            return self.rows.first_sound_object(connection, scenarios_table.c.zone == zone)


class _ScenariosRow(StoredRow):
    zone: Zone
    made_at: Instant
    start_ts: PeriodStart
    paths: bytes


def _scenarios(row: _ScenariosRow) -> Scenarios:
    paths = unpack_hundredths(row.paths, "paths")
    if not paths.size or not (np.abs(paths) <= HIGHEST_PRICE).all():
        raise ValueError("its paths are not prices")
    return Scenarios(row.made_at, row.zone, row.start_ts, paths.reshape(SCENARIO_COUNT, -1))
