"""How long each kind of row is kept.

Recent runs and covariate issues are all kept. Of older ones, each day keeps the last one before gate closure, which a
forecast of the next day could have used, and the last one of the day. Covariates also keep the last one before the
model's issue time: the model is trained on weather that is as fresh as what it forecasts from. Of the weather these are
the runs of 00 and 12 UTC. Each day's 00 UTC run is kept in any case, and Previous Runs of an older version are too. A
source's archive is filtered by the same rule before it is stored. Without that, back-fill would add each day what
thinning deletes. The scores of runs are kept for ever: they take .3 MB a year.

In SQLite a year takes 32 MB: 7 of prices (140,000 quarters of four zones), 9 of runs (3 of hours, 6 of quarters), 11 of
weather (42 series) and 5 of ENTSO-E's forecasts (21 series). What is kept in full takes some 5 MB more. Each past year
that is filled in takes 6 MB, once: 5 of weather and 1 of ENTSO-E's archive. What sources say of the
last days takes .5 MB. In PostgreSQL each row and its entry in the index take more: a year of prices 23 MB.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select

from tunnihind.forecast.known import IssuedSeries
from tunnihind.forecast.run import issue_instant
from tunnihind.market import DAY_S, delivery_day, gate_closure
from tunnihind.store.database import Database
from tunnihind.store.rows import EARLIEST, DamageLog
from tunnihind.store.runs import delete_runs
from tunnihind.store.schema import covariates, runs, witnesses

RUN_DAYS: Final = 60
"""Every run of the last 60 days is kept."""
COVARIATE_DAYS: Final = 14
"""Every issue of a covariate of the last 14 days is kept. Issues are large, and the model reads all of them."""
WITNESS_DAYS: Final = 60
"""What a source said of a delivery day is kept for so long, and after that since it was last heard."""

type Looks = Callable[[date], tuple[int, ...]]
"""The instants of a delivery day, in order, at which a forecast may need the newest issue."""


def thin(database: Database, now: int) -> int:
    """Delete what has outlived its use; return how many rows. Raises StoreError."""
    with database.writing() as connection:
        removed = _thin_runs(connection, now - RUN_DAYS * DAY_S, database.damage)
        removed += _thin_covariates(connection, now - COVARIATE_DAYS * DAY_S)
        old = delivery_day(now) - timedelta(days=WITNESS_DAYS)
        outlived = witnesses.c.heard_ts.between(EARLIEST, now - WITNESS_DAYS * DAY_S - 1)
        return removed + connection.execute(delete(witnesses).where(witnesses.c.day < old, outlived)).rowcount


def looks_at_runs(day: date) -> tuple[int, ...]:
    """Return the close of the next day's auction."""
    return (gate_closure(day + timedelta(days=1)),)


def looks_at_covariates(day: date) -> tuple[int, ...]:
    """Return the model's clock for past days, and the close of the next day's auction."""
    return (issue_instant(day), *looks_at_runs(day))


def is_first_of_day(run_ts: int | None) -> bool:
    """Return whether a run is a day's 00 UTC one. It is always kept: the model is trained on these."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous(issued: Iterable[int], looks: Looks) -> set[int]:
    """Return the instants that were the newest at no look of their day, nor at its end."""
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(look <= instant for look in looks(day))] = instant
    return instants - set(newest.values())


def lasting(connection: Connection, name: str, issues: Sequence[IssuedSeries], now: int) -> list[IssuedSeries]:
    """Return those issues of a covariate that thinning would leave beside what is kept."""
    before = now - COVARIATE_DAYS * DAY_S
    old = {
        issue.issued_ts
        for issue in issues
        if issue.lead_s == 0 and issue.issued_ts < before and not is_first_of_day(issue.run_ts)
    }
    if not old:
        return list(issues)
    kept = select(covariates.c.issued_ts).where(
        covariates.c.name == name,
        covariates.c.lead_s == 0,
        covariates.c.issued_ts.between(min(old) - DAY_S, before - 1),
    )
    surplus = superfluous(old.union(connection.execute(kept).scalars()), looks_at_covariates)
    return [issue for issue in issues if issue.lead_s or issue.issued_ts not in surplus]


def _thin_runs(connection: Connection, before: int, damage: DamageLog) -> int:
    query = select(runs.c.id, runs.c.made_at).where(runs.c.made_at.between(EARLIEST, before - 1))
    made_at = {row.id: row.made_at for row in connection.execute(query)}
    surplus = superfluous(made_at.values(), looks_at_runs)
    return delete_runs(connection, [number for number, made in made_at.items() if made in surplus], damage)


def _thin_covariates(connection: Connection, before: int) -> int:
    """Thin each series by itself: they are not issued together. Previous Runs, a row a month, are all there is."""
    columns = covariates.c.name, covariates.c.issued_ts, covariates.c.run_ts
    query = select(*columns).where(covariates.c.lead_s == 0, covariates.c.issued_ts.between(EARLIEST, before - 1))
    issues: dict[str, dict[int, int | None]] = defaultdict(dict)
    for name, issued_ts, run_ts in connection.execute(query):
        issues[name][issued_ts] = run_ts
    surplus = [
        {"of": name, "at": issued}
        for name, runs_by_issue in issues.items()
        for issued in superfluous(runs_by_issue, looks_at_covariates)
        if not is_first_of_day(runs_by_issue[issued])
    ]
    if surplus:
        key = (covariates.c.name == bindparam("of"), covariates.c.issued_ts == bindparam("at"))
        connection.execute(delete(covariates).where(*key, covariates.c.lead_s == 0), surplus)
    return len(surplus)
