"""Deletes stored rows that are no longer needed.

Forecast runs older than `RUN_DAYS` days are deleted, except the last run of each day and the last run before each gate
closure. Scores are kept for ever.

Forecasts of a covariate that were issued more than `COVARIATE_DAYS` days ago are deleted, except four kinds:

- the forecast that was issued last on each day
- the last forecast before gate closure, because a price forecast may have used it
- the last forecast up to `issue_instant`, because price forecasts of past days use the data known at this instant
- forecasts from a weather model run of 00 UTC, because the price model is trained on them

The back-fill stores only rows that `thin` would keep, so that it never restores deleted rows.

The space that stored data take in SQLite:

    a year of prices (140,000 quarters of four zones)      7 MB
    a year of forecast runs for hours                      3 MB
    a year of forecast runs for quarters                   6 MB
    a year of weather forecasts (42 covariates)           11 MB (5 MB if back-filled)
    a year of ENTSO-E's forecasts (21 covariates)          5 MB (1 MB if back-filled)
    a year of scores                                     0.3 MB
    witnesses                                            0.5 MB
    rows that are too recent to be deleted                 5 MB

PostgreSQL needs more space than SQLite for each row and its index entry. For example, a year of prices takes 23 MB in
PostgreSQL.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Final

from tunnihind.forecast.run import issue_instant
from tunnihind.market import DAY_S, delivery_day, gate_closure
from tunnihind.store.store import Store

RUN_DAYS: Final = 60
"""Every forecast run of the last 60 days is kept."""
COVARIATE_DAYS: Final = 14
"""All forecasts of covariates from the last 14 days are kept. The time is short, because these forecasts are large, and
the model reads all of them."""
WITNESS_DAYS: Final = 60
"""A witness is kept until 60 days have passed since its delivery day, and since the source last gave these prices."""

type ReadTimes = Callable[[date], tuple[int, ...]]
"""Returns the instants of a delivery day at which the newest stored forecast may be needed. The instants are in order
of time."""


def thin(store: Store, now: int) -> int:
    """Delete stored rows that are no longer needed, and return the number of deleted rows. Raises StoreError."""
    removed = store.runs.thin(partial(_superfluous_runs, now))
    removed += store.covariates.thin(partial(superfluous_issues, now))
    oldest = delivery_day(now) - timedelta(days=WITNESS_DAYS)
    return removed + store.witnesses.thin(oldest, now - WITNESS_DAYS * DAY_S)


def _superfluous_runs(now: int, made_at: Collection[int]) -> set[int]:
    """Return the issue instants of the forecast runs that may be deleted.

    `made_at` contains the issue instants of all runs.
    """
    return superfluous((made for made in made_at if made < now - RUN_DAYS * DAY_S), _run_read_times)


def superfluous_issues(now: int, issues: Mapping[int, int | None]) -> set[int]:
    """Return the issue instants of the covariate forecasts that may be deleted.

    `issues` maps the issue instant of each forecast to the start of its weather model run. If the forecast has no such
    run, the start is None.
    """
    old = [issued for issued in issues if issued < now - COVARIATE_DAYS * DAY_S]
    return {issued for issued in superfluous(old, covariate_read_times) if not is_first_of_day(issues[issued])}


def _run_read_times(day: date) -> tuple[int, ...]:
    """Return a tuple with one instant: the last second before the gate closure for the day after `day`."""
    return (gate_closure(day + timedelta(days=1)) - 1,)


def covariate_read_times(day: date) -> tuple[int, ...]:
    """Return the `issue_instant` of `day`, and the last second before the gate closure for the day after `day`."""
    return (issue_instant(day), *_run_read_times(day))


def is_first_of_day(run_ts: int | None) -> bool:
    """Return whether a weather model run starts at 00 UTC."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous(issued: Iterable[int], read_times: ReadTimes) -> set[int]:
    """Return the issue instants in `issued` whose forecasts may be deleted.

    A forecast is kept if it was the last one issued on its day up to one of the `read_times`, or before the day's end.
    """
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(at < instant for at in read_times(day))] = instant
    return instants - set(newest.values())
