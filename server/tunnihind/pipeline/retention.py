"""Deletes stored rows that are no longer needed.

Runs older than `RUN_DAYS` days are deleted, except the last run of each day and the last run before each gate closure.
The scores of all runs are kept for ever.

Covariate issues older than `COVARIATE_DAYS` days are deleted, with four exceptions. The last issue of each day is kept.
The last issue before gate closure is kept, because a forecast of the next day may have used this issue. The last issue
before `issue_instant` is kept, because forecasts of past days use the data known at this instant. The 00 UTC weather
model run is kept, because the model is trained on 00 UTC runs. In effect, the weather model runs of 00 and 12 UTC are
kept, and training uses weather forecasts of the same age as in a live run. The back-fill stores only rows that `thin`
would keep, so that the back-fill never restores deleted rows.

A year of data takes 32 MB in SQLite: 7 MB for prices (140,000 quarters of four zones), 9 MB for runs (3 MB for hours, 6
MB for quarters), 11 MB for weather forecasts (42 series) and 5 MB for ENTSO-E's forecasts (21 series). A back-filled
year takes only 5 MB for weather forecasts and 1 MB for ENTSO-E's forecasts. The rows that are too recent to be deleted
take about 5 MB in total, the witnesses 0.5 MB, and the scores of a year 0.3 MB. PostgreSQL needs more space than SQLite
for each row and its index entry: a year of prices takes 23 MB in PostgreSQL.
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

    `issues` maps each issue's instant to the start of the issue's weather model run, or to None if there is no run.
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
    """Return whether a weather model run starts at 00 UTC."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous(issued: Iterable[int], read_times: ReadTimes) -> set[int]:
    """Return the issues that were not the newest at any of the `read_times` or at the end of their delivery day."""
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(at <= instant for at in read_times(day))] = instant
    return instants - set(newest.values())
