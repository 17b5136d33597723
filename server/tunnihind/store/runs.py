"""The archive of forecast runs, each exactly as it was issued."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import msgspec
from sqlalchemy import Row, Select, insert, select

from tunnihind.forecast.backtest import BacktestScore
from tunnihind.forecast.live_scores import WindowScores
from tunnihind.forecast.run import Run
from tunnihind.store.database import Database
from tunnihind.store.journal import Journal
from tunnihind.store.packing import pack_prices, unpack_prices
from tunnihind.store.schema import runs as table

_SCORE: Final = "backtest"
_ACCURACY: Final = "live scores"


class RunArchive:
    """The forecast runs of a store; append-only."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def add(self, run: Run) -> None:
        """Keep a run. Raises StoreError."""
        row = {
            "made_at": run.made_at,
            "tier": run.tier,
            "start_ts": run.start_ts,
            "p10": pack_prices(run.p10),
            "p50": pack_prices(run.p50),
            "p90": pack_prices(run.p90),
            "inputs": json.dumps(run.inputs),
        }
        with self._database.writing() as connection:
            connection.execute(insert(table).values(row))
            self._journal.advance(connection)

    def newest(self, as_of: int | None = None) -> Run | None:
        """Return the newest run, made at `as_of` or earlier. Raises StoreError."""
        query = _newest_first()
        if as_of is not None:
            query = query.where(table.c.made_at <= as_of)
        with self._database.reading() as connection:
            row = connection.execute(query.limit(1)).one_or_none()
        return None if row is None else _run(row)

    def since(self, made_at: int, as_of: int | None = None) -> list[Run]:
        """Return the runs made at or after `made_at` (and at `as_of` or earlier), newest first. Raises StoreError."""
        query = _newest_first().where(table.c.made_at >= made_at)
        if as_of is not None:
            query = query.where(table.c.made_at <= as_of)
        with self._database.reading() as connection:
            return [_run(row) for row in connection.execute(query)]

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


def _newest_first() -> Select[Any]:
    return select(table).order_by(table.c.made_at.desc(), table.c.id.desc())


def _run(row: Row[Any]) -> Run:
    return Run(
        made_at=row.made_at,
        tier=row.tier,
        start_ts=row.start_ts,
        p10=unpack_prices(row.p10),
        p50=unpack_prices(row.p50),
        p90=unpack_prices(row.p90),
        inputs=json.loads(row.inputs),
    )
