"""Forecasts of past days, kept so that the model's score costs only the new ones.

Each depends on what counts as known at its instant. When something is stored later that counts as known by then, the
same transaction deletes these forecasts, and they are made again.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, delete, insert

from tunnihind.forecast.scoring.backtest import SCORE_DAYS, NextDay
from tunnihind.market import DAY_S, SeriesKey, Zone
from tunnihind.store.database import Database
from tunnihind.store.packing import pack_hundredths, unpack_percentiles
from tunnihind.store.rows import Hour, Instant, Plain, Rows, Shape, Step, singly
from tunnihind.store.schema import backtest_forecasts as table
from tunnihind.store.state import StateBook

_SCORED: Final = "backtest scored"
_KEPT_S: Final = (SCORE_DAYS + 30) * DAY_S
"""Forecasts older than this before the newest one are deleted."""


class BacktestBook:
    """The forecasts of past days of a store."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = Rows(table, _Row, singly(_forecast), database.damage)

    def kept(self, model: str, of: SeriesKey) -> dict[int, NextDay]:
        """Return a model's forecasts of a series by their instant. Raises StoreError."""
        wanted = table.c.model == model, table.c.zone == of.zone, table.c.step_s == of.step_s
        with self._database.reading() as connection:
            found = self.rows.read(connection, *wanted, order_by=(table.c.issued_ts,))
            return {forecast.issued_ts: forecast for forecast in found}

    def state_of_past(self) -> int:
        """Return a number that grows with everything that becomes known. Raises StoreError."""
        with self._database.reading() as connection:
            return self._state.knowledge_changes(connection)

    def add(self, model: str, zone: Zone, forecasts: Sequence[NextDay], *, past: int) -> bool:
        """Keep a model's forecasts of a zone and drop other models'; return whether they were kept. Raises StoreError.

        They are not where more has become known than `past`, what `state_of_past` said before they were made.
        """
        rows = [
            {
                "model": model,
                "zone": zone,
                "issued_ts": forecast.issued_ts,
                "step_s": forecast.step_s,
                "start_ts": forecast.start_ts,
                "p10": pack_hundredths(forecast.p10),
                "p50": pack_hundredths(forecast.p50),
                "p90": pack_hundredths(forecast.p90),
            }
            for forecast in forecasts
        ]
        with self._database.writing() as connection:
            if not rows or self._state.knowledge_changes(connection) != past:
                return False
            instants = [row["issued_ts"] for row in rows]
            oldest = max(forecast.issued_ts for forecast in forecasts) - _KEPT_S
            outlived = (table.c.model != model) | table.c.issued_ts.in_(instants) | (table.c.issued_ts < oldest)
            connection.execute(delete(table).where(table.c.zone == zone, outlived))
            connection.execute(insert(table), rows)
        return True

    def scored_at(self, model: str, zone: Zone) -> int | None:
        """Return when a model was last scored by a zone's prices; None where another one was since. Raises StoreError.

        None too where it never was.
        """
        found = self._state.read(f"{_SCORED} {zone}")
        at = found.get("at") if isinstance(found, dict) and found.get("model") == model else None
        return at if isinstance(at, int) else None

    def note_scored(self, model: str, zone: Zone, at: int) -> None:
        """Note that a model has been scored by a zone's prices. Raises StoreError."""
        self._state.write(f"{_SCORED} {zone}", {"model": model, "at": at})


class _Row(Shape):
    """A row of the table."""

    model: Plain
    zone: Zone
    issued_ts: Instant
    step_s: Step
    start_ts: Hour
    p10: bytes
    p50: bytes
    p90: bytes


def _forecast(row: _Row) -> NextDay:
    """Return the forecast that a row holds. Raises ValueError."""
    percentiles = unpack_percentiles(row.p10, row.p50, row.p90)
    return NextDay(row.issued_ts, row.start_ts, *percentiles, step_s=row.step_s)


def forget_since(connection: Connection, known_ts: int, zone: Zone | None = None) -> None:
    """Delete, within the transaction that adds to what was known at an instant, the forecasts that might differ.

    Those are of all zones unless one is given: a zone's forecast looks at its neighbours' prices.
    """
    of_zone = [] if zone is None else [table.c.zone == zone]
    connection.execute(delete(table).where(table.c.issued_ts >= known_ts, *of_zone))
