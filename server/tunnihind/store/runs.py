"""The archive of forecast runs, each exactly as it was issued."""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from tunnihind.errors import StoreError
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.store.database import Database
from tunnihind.store.journal import Journal
from tunnihind.store.packing import pack_prices, unpack_prices
from tunnihind.store.schema import runs as table

_SCORE: Final = "backtest"
_ACCURACY: Final = "live scores"
_AT_ONCE: Final = 1000
"""So many runs are deleted by one statement: SQLite takes only so many values."""


class RunArchive:
    """The forecast runs of a store; append-only.

    Most hourly runs say what the one before said. Of those is kept that they were made, and which one they repeat.
    """

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def add(self, run: Run) -> None:
        """Keep a run. Raises StoreError."""
        with self._database.writing() as connection:
            connection.execute(insert(table).values(_cells(run, _last_in_full(connection))))
            self._journal.advance(connection)

    def newest(self, as_of: int | None = None) -> Run | None:
        """Return the newest run, made at `as_of` or earlier. Raises StoreError."""
        query = _newest_first()
        if as_of is not None:
            query = query.where(table.c.made_at <= as_of)
        with self._database.reading() as connection:
            return next(iter(_runs(connection, query.limit(1))), None)

    def since(self, made_at: int, as_of: int | None = None) -> list[Run]:
        """Return the runs made at or after `made_at` (and at `as_of` or earlier), newest first. Raises StoreError."""
        query = _newest_first().where(table.c.made_at >= made_at)
        if as_of is not None:
            query = query.where(table.c.made_at <= as_of)
        with self._database.reading() as connection:
            return _runs(connection, query)

    def keep_score(self, score: BacktestScore | None) -> None:
        """Keep the model's newest backtest in place of the last one. Raises StoreError."""
        self._journal.write_served(_SCORE, None if score is None else asdict(score))

    def score(self) -> BacktestScore | None:
        """Return the model's newest backtest. Raises StoreError."""
        found = self._journal.read(_SCORE)
        return None if found is None else msgspec.convert(found, BacktestScore)

    def keep_accuracy(self, windows: Sequence[WindowScores]) -> None:
        """Keep how the runs have done in place of what was kept last. Raises StoreError."""
        self._journal.write_served(_ACCURACY, msgspec.to_builtins(tuple(windows)))

    def accuracy(self) -> tuple[WindowScores, ...]:
        """Return how the runs have done, nothing where they were never scored. Raises StoreError."""
        found = self._journal.read(_ACCURACY)
        return msgspec.convert(found or (), tuple[WindowScores, ...], str_keys=True)


def delete_runs(connection: Connection, ids: Sequence[int]) -> int:
    """Delete runs, handing what they say on to those that stay and repeat them; return how many there were."""
    return sum(_delete(connection, ids[first : first + _AT_ONCE]) for first in range(0, len(ids), _AT_ONCE))


def _delete(connection: Connection, ids: Sequence[int]) -> int:
    staying = select(table).where(table.c.repeats.in_(ids), table.c.id.not_in(ids)).order_by(table.c.id)
    rows = connection.execute(staying).all()
    heirs: dict[int, _InFull] = {}
    for row, run in zip(rows, _resolved(connection, rows), strict=True):
        cells = _cells(run, heirs.get(row.repeats))
        connection.execute(update(table).where(table.c.id == row.id).values(cells))
        if cells["repeats"] is None:
            heirs[row.repeats] = _InFull(row.id, run)
    return connection.execute(delete(table).where(table.c.id.in_(ids))).rowcount


class _InFull(NamedTuple):
    """A run whose row holds all that it says."""

    id: int
    run: Run


def _cells(run: Run, earlier: _InFull | None) -> dict[str, Any]:
    """Return the values of a run's row, which repeats an earlier run where it can."""
    again = None if earlier is None else earlier.run.repeated(run.made_at, run.start_ts)
    is_repeat = again is not None and again.says_the_same(run)
    return {
        "made_at": run.made_at,
        "tier": run.tier,
        "start_ts": run.start_ts,
        "p10": b"" if is_repeat else pack_prices(run.p10),
        "p50": b"" if is_repeat else pack_prices(run.p50),
        "p90": b"" if is_repeat else pack_prices(run.p90),
        "inputs": "" if is_repeat else json.dumps(run.inputs),
        "repeats": earlier.id if is_repeat and earlier is not None else None,
    }


def _last_in_full(connection: Connection) -> _InFull | None:
    """Return the run that the newest one is, or repeats."""
    newest = connection.execute(_newest_first().limit(1)).one_or_none()
    if newest is None:
        return None
    number = newest.id if newest.repeats is None else newest.repeats
    found = _read_in_full(connection, [number]).get(number)
    return None if found is None else _InFull(number, found)


def _runs(connection: Connection, query: Select[Any]) -> list[Run]:
    return _resolved(connection, connection.execute(query).all())


def _resolved(connection: Connection, rows: Sequence[Row[Any]]) -> list[Run]:
    """Return the runs that rows stand for."""
    in_full = {row.id: _in_full(row) for row in rows if row.repeats is None}
    elsewhere = {row.repeats for row in rows if row.repeats is not None} - in_full.keys()
    in_full |= _read_in_full(connection, elsewhere)
    return [in_full[row.id] if row.repeats is None else _repeat(row, in_full.get(row.repeats)) for row in rows]


def _read_in_full(connection: Connection, ids: Collection[int]) -> dict[int, Run]:
    query = select(table).where(table.c.id.in_(ids), table.c.repeats.is_(None))
    return {row.id: _in_full(row) for row in connection.execute(query)}


def _in_full(row: Row[Any]) -> Run:
    return Run(
        made_at=row.made_at,
        tier=row.tier,
        start_ts=row.start_ts,
        p10=unpack_prices(row.p10),
        p50=unpack_prices(row.p50),
        p90=unpack_prices(row.p90),
        inputs=json.loads(row.inputs),
    )


def _repeat(row: Row[Any], of: Run | None) -> Run:
    run = None if of is None else of.repeated(row.made_at, row.start_ts)
    if run is None:
        raise StoreError(f"run {row.id} of the database repeats run {row.repeats}, which does not say what it said")
    return run


def _newest_first() -> Select[Any]:
    return select(table).order_by(table.c.made_at.desc(), table.c.id.desc())
