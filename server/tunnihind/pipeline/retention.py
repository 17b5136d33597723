"""Deletes stored rows that are no longer needed.

Forecast runs older than `RUN_DAYS` days are deleted, except the last run of each day and the last run before each gate
closure. The scores of all forecast runs are kept for ever.

Forecasts of a covariate that were issued more than `COVARIATE_DAYS` days ago are deleted, with four exceptions. The
forecast that was issued last on each day is kept. The last forecast before gate closure is kept, because a price
forecast may have used it. The last forecast before `issue_instant` is kept, because price forecasts of past days use
the data known at this instant. Forecasts from a weather model run of 00 UTC are kept, because the price model is
trained on them. In effect, the weather model runs of 00 and 12 UTC are kept. In training and in service, the price
model uses weather forecasts of the same age. The back-fill stores only rows that `thin` would keep, so that it never
restores deleted rows.

A year of data takes 32 MB in SQLite. A year of prices takes 7 MB (140,000 quarters of four zones). A year of forecast
runs takes 9 MB: 3 MB for hours and 6 MB for quarters. A year of weather forecasts takes 11 MB (42 covariates). A year
of ENTSO-E's forecasts takes 5 MB (21 covariates). In a back-filled year, weather forecasts take only 5 MB, and
ENTSO-E's forecasts take only 1 MB. Rows that are too recent to be deleted take about 5 MB, witnesses take 0.5 MB, and a
year of scores takes 0.3 MB. PostgreSQL needs more space than SQLite for each row and its index entry. A year of prices
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
    removed = store.runs.thin(partial(superfluous_runs, now))
    removed += store.covariates.thin(partial(superfluous_issues, now))
    oldest = delivery_day(now) - timedelta(days=WITNESS_DAYS)
    return removed + store.witnesses.thin(oldest, now - WITNESS_DAYS * DAY_S)


def superfluous_runs(now: int, made_at: Collection[int]) -> set[int]:
    """Return the issue instants of the forecast runs that may be deleted.

    `made_at` contains the issue instants of all runs.
    """
    return superfluous((made for made in made_at if made < now - RUN_DAYS * DAY_S), run_read_times)


def superfluous_issues(now: int, issues: Mapping[int, int | None]) -> set[int]:
    """Return the issue instants of the covariate forecasts that may be deleted.

    `issues` maps the issue instant of each forecast to the start of its weather model run. If the forecast comes from
    no weather model run, the start is None.
    """
    old = [issued for issued in issues if issued < now - COVARIATE_DAYS * DAY_S]
    return {issued for issued in superfluous(old, covariate_read_times) if not is_first_of_day(issues[issued])}


def run_read_times(day: date) -> tuple[int, ...]:
    """Return the gate closure for the day after `day`, as a tuple."""
    return (gate_closure(day + timedelta(days=1)),)


def covariate_read_times(day: date) -> tuple[int, ...]:
    """Return the `issue_instant` of `day`, and the gate closure for the day after `day`."""
    return (issue_instant(day), *run_read_times(day))


def is_first_of_day(run_ts: int | None) -> bool:
    """Return whether a weather model run starts at 00 UTC."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous(issued: Iterable[int], read_times: ReadTimes) -> set[int]:
    """Return the superfluous instants in `issued`.

    An instant is superfluous if it was not the newest at any of the `read_times`, nor at the end of its delivery day.
    """
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(at <= instant for at in read_times(day))] = instant
    return instants - set(newest.values())
