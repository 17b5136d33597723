"""What is kept for how long.

Prices and their corrections stay for good. Forecast runs and covariate issues older than `FULL_DAYS` are thinned
to two a day: the last one before gate closure, which is what a forecast of the next day could have used, and the
day's last one. Previous Runs stay for good: they are the only trace of what had been forecast.

In SQLite a year takes 7 MB of prices (140,000 quarters of four zones), 4 MB of runs and 35 MB of weather; the last
60 days in full take 23 MB more, and each year of Previous Runs 15 MB, once (measured by `bench_growth`).
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select

from tunnihind.market import DAY_S, delivery_day, gate_closure
from tunnihind.store.database import Database
from tunnihind.store.schema import covariates, quarantine, runs

FULL_DAYS: Final = 60
QUARANTINE_DAYS: Final = 400


def thin(database: Database, now: int) -> int:
    """Delete what has outlived its use; return how many rows. Raises StoreError."""
    before = now - FULL_DAYS * DAY_S
    with database.writing() as connection:
        removed = _thin_runs(connection, before) + _thin_covariates(connection, before)
        old = quarantine.c.last_seen_ts < now - QUARANTINE_DAYS * DAY_S
        return removed + connection.execute(delete(quarantine).where(old)).rowcount


def superfluous(issued: Iterable[int]) -> set[int]:
    """Return the instants that are neither their day's last before gate closure nor its last."""
    last: dict[tuple[date, bool], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        last[day, instant < gate_closure(day + timedelta(days=1))] = instant
    return instants - set(last.values())


def _thin_runs(connection: Connection, before: int) -> int:
    query = select(runs.c.made_at).where(runs.c.made_at < before)
    surplus = superfluous(connection.execute(query).scalars())
    return sum(connection.execute(delete(runs).where(runs.c.made_at == made_at)).rowcount for made_at in surplus)


def _thin_covariates(connection: Connection, before: int) -> int:
    """Thin each series by itself: they are not issued together. Previous Runs, a row a month, are all there is."""
    query = select(covariates.c.name, covariates.c.issued_ts).where(covariates.c.lead_s == 0)
    issues: dict[str, list[int]] = defaultdict(list)
    for name, issued_ts in connection.execute(query.where(covariates.c.issued_ts < before)):
        issues[name].append(issued_ts)
    surplus = [{"of": name, "at": issued} for name, instants in issues.items() for issued in superfluous(instants)]
    if surplus:
        key = (covariates.c.name == bindparam("of"), covariates.c.issued_ts == bindparam("at"))
        connection.execute(delete(covariates).where(*key, covariates.c.lead_s == 0), surplus)
    return len(surplus)
