"""Deletes stored rows that are no longer needed.

All recent runs are kept. For each older day, two runs are kept: the last run before gate closure and the last run of
the day.

The rule for runs also applies to the issues of covariates. The last issue before gate closure is kept, because a
forecast of the next day may have used this issue. The last issue before `issue_instant` is kept too, because forecasts
of past days use the data known at this instant. Because these issues are kept, training uses weather forecasts of the
same age as in a live run. The 00 UTC weather run of each day is always kept. Together, the rules keep
the weather runs of 00 and 12 UTC. The back-fill stores only rows that the rules of this module keep, so that it never
restores deleted rows. The scores of runs are kept for ever. The scores of a year take 0.3 MB.

A year of data takes 32 MB in SQLite. A year of prices takes 7 MB (140,000 quarters of four zones). A year of runs takes
9 MB (3 MB for hours, 6 MB for quarters). A year of weather forecasts takes 11 MB (42 series). A year of ENTSO-E's
forecasts takes 5 MB (21 series). The rows that are too recent to be deleted take about 5 MB in total. A back-filled
year of weather forecasts takes 5 MB. A back-filled year of ENTSO-E's forecasts takes 1 MB. The witnesses (the sources'
prices of the last 60 days) take 0.5 MB. PostgreSQL needs more space for each row and its index entry. A year of prices
takes 23 MB in PostgreSQL.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Final

from tunnihind.forecast.run import issue_instant
from tunnihind.market import DAY_S, delivery_day, gate_closure
from tunnihind.store.store import Store

RUN_DAYS: Final = 60
"""Every run of the last 60 days is kept."""
COVARIATE_DAYS: Final = 14
"""All covariate issues of the last 14 days are kept. Issues are large and the model reads all of them, so the time is
short."""
WITNESS_DAYS: Final = 60
"""A witness is kept until 60 days have passed since its delivery day and since the source last gave its prices."""

type ReadTimes = Callable[[date], tuple[int, ...]]
"""Returns the instants of a delivery day at which a forecast may need the newest issue. The instants are in order of
time."""


def thin(store: Store, now: int) -> int:
    """Delete stored rows that are no longer needed, and return the number of deleted rows. Raises StoreError."""
    removed = store.runs.thin(partial(superfluous_runs, now))
    removed += store.covariates.thin(partial(superfluous_issues, now))
    oldest = delivery_day(now) - timedelta(days=WITNESS_DAYS)
    return removed + store.witnesses.thin(oldest, now - WITNESS_DAYS * DAY_S)


def superfluous_runs(now: int, made_at: Collection[int]) -> set[int]:
    """Return the issue instants of the runs that may be deleted."""
    return superfluous((made for made in made_at if made < now - RUN_DAYS * DAY_S), run_read_times)


def superfluous_issues(now: int, issues: Mapping[int, int | None]) -> set[int]:
    """Return the instants of the covariate issues that may be deleted.

    `issues` maps the instant of each issue to the start of the issue's weather run. If the weather run of an issue is
    unknown, the issue is mapped to None.

    The 00 UTC run of each day is always kept, because the model is trained on these runs.
    """
    old = [issued for issued in issues if issued < now - COVARIATE_DAYS * DAY_S]
    return {issued for issued in superfluous(old, covariate_read_times) if not is_first_of_day(issues[issued])}


def run_read_times(day: date) -> tuple[int, ...]:
    """Return the gate closure of the auction for the day after `day`."""
    return (gate_closure(day + timedelta(days=1)),)


def covariate_read_times(day: date) -> tuple[int, ...]:
    """Return the `issue_instant` of `day`, and the gate closure of the auction for the day after `day`."""
    return (issue_instant(day), *run_read_times(day))


def is_first_of_day(run_ts: int | None) -> bool:
    """Return whether a weather run starts at 00 UTC."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous(issued: Iterable[int], read_times: ReadTimes) -> set[int]:
    """Return the issue instants that are no longer needed.

    An issue is needed if it was the newest issue at one of the `read_times` or at the end of its delivery day.
    """
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(at <= instant for at in read_times(day))] = instant
    return instants - set(newest.values())
