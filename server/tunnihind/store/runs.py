"""Stores forecast runs exactly as they were issued, and the newest scenarios of each zone."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import batched
from typing import Any, Final, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from tunnihind.forecast.known import Floats
from tunnihind.forecast.run import SCENARIO_COUNT, Run, Runs, Scenarios
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.market import HOUR_S, SeriesKey, Zone
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

type _Rows = TableRows[_RunRow, _StoredRun]

_NEWEST_FIRST: Final = (table.c.made_at.desc(), table.c.id.desc())
_SCORE_KEY_PREFIX: Final = "backtest"
_NEXT_ID: Final = select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery()
"""One more than the highest id, because a PostgreSQL sequence could give a new row the id of a row that the command
`copy` has copied."""
_MAX_DELETED_AT_ONCE: Final = 1000
"""One statement deletes at most this many runs, because SQLite limits the number of values in a statement."""


class RunBook:
    """The stored forecast runs.

    Most runs repeat the forecast of an earlier run, but the percentiles of the first hour may differ. Such a run is
    stored with the id of the earlier run, and with only the percentiles up to the last difference. The first hour of a
    run of quarters may differ because a quarter's forecast also depends on the previous hour, which the run does not
    contain.
    """

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _RunRow, row_mapper(_run_or_repeat), database.damage)

    def add_forecast(self, runs: Runs) -> None:
        """Store the runs of one forecast and their scenarios in one transaction. Raises StoreError."""
        self.add(*runs.by_step.values(), scenarios=runs.scenarios)

    def add(self, *runs: Run, scenarios: Scenarios | None = None) -> None:
        """Store runs in one transaction. If scenarios are given, replace the zone's scenarios. Raises StoreError."""
        with self._database.writing() as connection:
            for run in runs:
                cells = _cells(run, self._run_to_repeat(connection, run))
                connection.execute(insert(table).values(id=_NEXT_ID, **cells))
            if scenarios is not None:
                paths = pack_hundredths(scenarios.eur_mwh)
                made = {"zone": scenarios.zone, "made_at": scenarios.made_at, "start_ts": scenarios.start_ts}
                upsert(connection, scenarios_table, [{**made, "paths": paths}])
            self._state.record_served_change(connection)

    def newest(self, key: SeriesKey, as_of: int | None = None) -> Run | None:
        """Return the newest run of a series. If there is no run, return None. Raises StoreError.

        If `as_of` is given, runs made after `as_of` are left out.
        """
        wanted = _run_conditions(key, EARLIEST, as_of)
        with self._database.reading() as connection:
            for row in self.rows.read(connection, *wanted, order_by=_NEWEST_FIRST):
                for run in _runs_of_rows(connection, [row], self.rows).values():
                    return run
        return None

    def made_since(self, key: SeriesKey, made_at: int, as_of: int | None = None) -> list[Run]:
        """Return the runs of a series that were made from `made_at` on, newest first. Raises StoreError.

        If `as_of` is given, runs made after `as_of` are left out.
        """
        wanted = _run_conditions(key, made_at, as_of)
        with self._database.reading() as connection:
            rows = [*self.rows.read(connection, *wanted, order_by=_NEWEST_FIRST)]
            return [*_runs_of_rows(connection, rows, self.rows).values()]

    def delete_superfluous(self, superfluous: Callable[[Collection[int]], set[int]]) -> int:
        """Delete runs, and return the number of deleted runs. Raises StoreError.

        `superfluous` gets the instants at which a zone's runs were made, and returns the instants of the runs to
        delete. If kept runs repeat a deleted run, the first of these kept runs then stores the whole forecast.
        """
        by_zone: dict[str, dict[int, int]] = defaultdict(dict)
        with self._database.writing() as connection:
            # `superfluous` is called once for each zone, because zones' forecasts are made at different instants.
            columns = table.c.zone, table.c.id, table.c.made_at
            is_sound = table.c.made_at.between(EARLIEST, LATEST)
            for zone, number, made_at in connection.execute(select(*columns).where(is_sound)):
                by_zone[zone][number] = made_at
            surplus = {zone: superfluous(set(made.values())) for zone, made in by_zone.items()}
            ids = [number for zone, made in by_zone.items() for number in made if made[number] in surplus[zone]]
            return sum(
                _delete_runs(connection, part, self.rows) for part in batched(ids, _MAX_DELETED_AT_ONCE, strict=False)
            )

    def store_backtest_score(self, key: SeriesKey, score: BacktestScore | None) -> None:
        """Store the backtest score of a series in place of the earlier score. Raises StoreError.

        If `score` is None, the series then has no score.
        """
        self._state.write_served_fact(_score_key(key), None if score is None else asdict(score))

    def backtest_score(self, key: SeriesKey) -> BacktestScore | None:
        """Return the stored backtest score of a series, or None if there is no score. Raises StoreError."""
        found: BacktestScore | None = self._state.read(_score_key(key), BacktestScore | None)
        return found

    def _run_to_repeat(self, connection: Connection, like: Run) -> _CompleteRun | None:
        """Return the newest run with the zone and step of `like`, or the earlier run that the newest run repeats.

        If the run to return is missing or damaged, return None.
        """
        wanted = _run_conditions(SeriesKey(like.zone, like.step_s), EARLIEST, None)
        newest = self.rows.first_sound_object(connection, *wanted, order_by=_NEWEST_FIRST)
        if newest is None:
            return None
        number = newest.id if newest.repeats is None else newest.repeats
        found = _read_complete_runs(connection, [number], self.rows).get(number)
        return None if found is None else _CompleteRun(number, found)


def _delete_runs(connection: Connection, ids: Sequence[int], all_rows: _Rows) -> int:
    staying = table.c.repeats.in_(ids), table.c.id.not_in(ids)
    rows = {row.id: row for row in all_rows.read(connection, *staying, order_by=(table.c.id,))}
    heirs: dict[int | None, _CompleteRun] = {}
    for number, run in _runs_of_rows(connection, [*rows.values()], all_rows).items():
        row = rows[number]
        cells = _cells(run, heirs.get(row.repeats))
        connection.execute(update(table).where(table.c.id == row.id).values(cells))
        if cells["repeats"] is None:
            heirs[row.repeats] = _CompleteRun(row.id, run)
    return connection.execute(delete(table).where(table.c.id.in_(ids))).rowcount


class _CompleteRun(NamedTuple):
    """A run whose row stores the complete forecast."""

    id: int
    run: Run


def _cells(run: Run, earlier: _CompleteRun | None) -> dict[str, Any]:
    """Return the values of the row that stores a run.

    If the run repeats `earlier`, `repeats` is the id of `earlier`. Otherwise, `repeats` is None.
    """
    new = None if earlier is None else _count_new_periods(run, earlier.run.repeated_at(run.made_at, run.start_ts))
    percentiles = [percentile[:new] for percentile in (run.p10, run.p50, run.p90)]
    p10, p50, p90 = map(pack_hundredths, percentiles)
    return {
        "made_at": run.made_at,
        "tier": run.tier,
        "zone": run.zone,
        "step_s": run.step_s,
        "start_ts": run.start_ts,
        "p10": p10,
        "p50": p50,
        "p90": p90,
        "repeats": earlier.id if new is not None and earlier is not None else None,
        "inputs": pack_text(json.dumps(run.inputs)) if new is None else None,
    }


def _count_new_periods(run: Run, again: Run | None) -> int | None:
    """Return the number of periods from the start of `run` to the last period that differs from `again`.

    `again` is an earlier run's forecast from the start of `run` on, or None. If `again` is None, or if `run` differs
    from `again` in anything but the percentiles of the first hour, return None. If no period differs, return 0.
    """
    if again is None or again.p50.size != run.p50.size:
        return None
    percentiles = [np.stack([one.p10, one.p50, one.p90]).view(np.int64) for one in (run, again)]
    differing = np.flatnonzero((percentiles[0] != percentiles[1]).any(axis=0))
    new = int(differing[-1]) + 1 if differing.size else 0
    if new * run.step_s > HOUR_S or not _with_first_periods(
        again, run.p10[:new], run.p50[:new], run.p90[:new]
    ).is_identical_to(run):
        return None
    return new


def _with_first_periods(run: Run, p10: Floats, p50: Floats, p90: Floats) -> Run:
    begun = [
        np.concatenate([new, old[new.size :]])
        for new, old in zip((p10, p50, p90), (run.p10, run.p50, run.p90), strict=True)
    ]
    return replace(run, p10=begun[0], p50=begun[1], p90=begun[2])


class _StoredRun(NamedTuple):
    """The content of a row of the table `runs`.

    If the row stores a complete run, `complete` is the run, and `repeats` and `new` are None. Otherwise, `complete` is
    None, and `repeats` is the id of the earlier run that the run repeats. `new` then has p10, p50 and p90 of the
    periods up to the last period that differs from the earlier run.
    """

    id: int
    made_at: int
    zone: Zone
    step_s: int
    start_ts: int
    complete: Run | None
    repeats: int | None
    new: tuple[Floats, Floats, Floats] | None


def _run_or_repeat(one: _RunRow) -> _StoredRun:
    if one.start_ts % one.step_s:
        raise ValueError(f"start_ts is {one.start_ts}, at which no period of {one.step_s} s begins")
    percentiles = unpack_percentiles(one.p10, one.p50, one.p90)
    if one.repeats is not None:
        return _StoredRun(one.id, one.made_at, one.zone, one.step_s, one.start_ts, None, one.repeats, percentiles)
    if one.inputs is None:
        raise ValueError("it neither has inputs nor repeats another run")
    inputs: dict[str, Any] = from_json(unpack_text(one.inputs, "inputs"), dict[str, Any])
    run = Run(one.made_at, one.tier, one.zone, one.step_s, one.start_ts, *percentiles, inputs)
    return _StoredRun(one.id, one.made_at, one.zone, one.step_s, one.start_ts, run, None, None)


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
    repeats: NonNegativeInt32 | None
    inputs: bytes | None


def _runs_of_rows(connection: Connection, rows: Sequence[_StoredRun], all_rows: _Rows) -> dict[int, Run]:
    """Restore the whole run of each row, and map the row's id to the run. The result has the order of `rows`.

    If the run that a row repeats is missing, is damaged or doesn't fit the row, the row is logged and left out.
    """
    complete = {row.id: row.complete for row in rows if row.complete is not None}
    elsewhere = {row.repeats for row in rows if row.repeats is not None} - complete.keys()
    complete |= _read_complete_runs(connection, elsewhere, all_rows)
    found = ((row, complete[row.id] if row.repeats is None else _restored_run(row, complete, all_rows)) for row in rows)
    return {row.id: run for row, run in found if run is not None}


def _read_complete_runs(connection: Connection, ids: Collection[int], all_rows: _Rows) -> dict[int, Run]:
    found = all_rows.read(connection, table.c.id.in_(ids), table.c.repeats.is_(None)) if ids else ()
    return {row.id: row.complete for row in found if row.complete is not None}


def _restored_run(row: _StoredRun, complete: Mapping[int, Run], all_rows: _Rows) -> Run | None:
    of = None if row.repeats is None else complete.get(row.repeats)
    is_alike = of is not None and (of.zone, of.step_s) == (row.zone, row.step_s)
    run = of.repeated_at(row.made_at, row.start_ts) if of is not None and is_alike else None
    if run is None or row.new is None or row.new[1].size > run.p50.size:
        all_rows.note(f"id {row.id}", f"it repeats run {row.repeats}, which is missing or has changed")
        return None
    return _with_first_periods(run, *row.new) if row.new[1].size else run


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
        self.rows = TableRows(scenarios_table, _ScenariosRow, row_mapper(_scenarios), database.damage)

    def newest(self, zone: Zone) -> Scenarios | None:
        """Return the scenarios of a zone, or None if there are no scenarios. Raises StoreError."""
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
