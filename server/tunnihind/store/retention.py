"""What is kept for how long.

Prices and their corrections stay for good (about 140,000 quarters a year for four zones). Forecast runs and
covariate issues older than `FULL_DAYS` are thinned to two a day: the last one before gate closure, which is what
a forecast of the next day could have used, and the day's last one.
"""

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Final

from sqlalchemy import Column, Table, delete, select

from tunnihind.market import DAY_S, DELIVERY_TZ, delivery_day
from tunnihind.store.database import Database
from tunnihind.store.schema import covariates, quarantine, runs

FULL_DAYS: Final = 60
QUARANTINE_DAYS: Final = 400

_GATE_CLOSURE: Final = time(12, 0)
"""The day-ahead auction closes at 12:00 Brussels time."""


def thin(database: Database, now: int) -> int:
    """Delete what has outlived its use; return how many rows. Raises StoreError."""
    before = now - FULL_DAYS * DAY_S
    removed = _thin_runs(database, before) + _thin_covariates(database, before)
    with database.writing() as connection:
        old = quarantine.c.last_seen_ts < now - QUARANTINE_DAYS * DAY_S
        removed += connection.execute(delete(quarantine).where(old)).rowcount
    return removed


def superfluous(issued: Iterable[int]) -> set[int]:
    """Return the instants that are neither their day's last before gate closure nor its last."""
    last: dict[tuple[date, bool], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        closure = datetime.combine(day, _GATE_CLOSURE, DELIVERY_TZ).timestamp()
        last[day, instant < closure] = instant
    return instants - set(last.values())


def _thin_runs(database: Database, before: int) -> int:
    return _delete(database, runs, runs.c.made_at, before)


def _thin_covariates(database: Database, before: int) -> int:
    return _delete(database, covariates, covariates.c.issued_ts, before)


def _delete(database: Database, table: Table, instant: Column[int], before: int) -> int:
    with database.writing() as connection:
        query = select(instant).where(instant < before).distinct()
        surplus = superfluous(connection.execute(query).scalars())
        return sum(connection.execute(delete(table).where(instant == issued)).rowcount for issued in sorted(surplus))
