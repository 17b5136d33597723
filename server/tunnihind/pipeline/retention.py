"""Deletes stored rows that are no longer needed.

Forecast runs older than `KEEP_RUNS_DAYS` days are deleted, except the last run of each day, the last run before each
gate closure, and the run that belongs into the record of the month (see `accuracy_record`). Scores and records are kept
for ever.

Forecasts of a covariate that were issued more than `KEEP_COVARIATES_DAYS` days ago are deleted, except four kinds:

- the forecast that was issued last on each day
- the last forecast before each gate closure, because a price forecast may have used it
- the last forecast up to each day's `issue_instant`, because price forecasts of past days use the data known then
- forecasts from a weather run of 00 UTC, because the price model is trained on them

The back-fill does not store forecasts that `delete_superfluous` would delete.

The size of the stored data in SQLite:

    a year of prices (140,000 quarters of four zones)      7 MB
    a year of forecast runs for hours                      4 MB
    a year of forecast runs for quarters                   8 MB
    a year of weather forecasts (42 covariates)           11 MB (5 MB if back-filled)
    a year of past weather (42 covariates)               0.5 MB
    a year of ENTSO-E's forecasts (21 covariates)          5 MB (1 MB if back-filled)
    a year of scores                                     0.3 MB
    a year of records                                    0.8 MB
    witnesses                                            0.5 MB
    rows that are too recent to be deleted                17 MB

The same data take more space in PostgreSQL, for example 23 MB for a year of prices.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Final

from tunnihind.core.market import DAY_S, delivery_day, gate_closure
from tunnihind.forecast.run import issue_instant
from tunnihind.forecast.scoring.live_scores import first_instants_in_record_window
from tunnihind.store.store import Store

KEEP_RUNS_DAYS: Final = 60
"""All forecast runs that were made at most this many days ago are kept."""
KEEP_COVARIATES_DAYS: Final = 14
"""All forecasts of covariates that were issued at most this many days ago are kept. The number is small, because these
forecasts take much space."""
KEEP_WITNESSES_DAYS: Final = 60
"""A witness is deleted if its delivery day and its last answer are both more than this many days ago."""

type KeepInstants = Callable[[date], tuple[int, ...]]
"""Takes a delivery day. Returns instants of this day: the last forecast up to each instant is kept."""


def delete_superfluous(store: Store, now: int) -> int:
    """Delete stored rows that are no longer needed, and return the number of deleted rows. Raises StoreError."""
    removed = store.runs.delete_superfluous(partial(_superfluous_run_instants, now))
    removed += store.covariates.delete_superfluous(partial(superfluous_issues, now))
    oldest = delivery_day(now) - timedelta(days=KEEP_WITNESSES_DAYS)
    return removed + store.witnesses.delete_old(oldest, now - KEEP_WITNESSES_DAYS * DAY_S)


def _superfluous_run_instants(now: int, made_at: Collection[int]) -> set[int]:
    """Return those of the issue instants `made_at` whose forecast runs may be deleted."""
    old = {made for made in made_at if made < now - KEEP_RUNS_DAYS * DAY_S}
    return superfluous_instants(old, _run_cutoff_instants) - {*first_instants_in_record_window(old).values()}


def superfluous_issues(now: int, issues: Mapping[int, int | None]) -> set[int]:
    """For one covariate, return the issue instants of the forecasts that may be deleted.

    `issues` maps the issue instant of each forecast to the start of its weather run. If a forecast has no known weather
    run, the start is None.
    """
    old = [issued for issued in issues if issued < now - KEEP_COVARIATES_DAYS * DAY_S]
    return {
        issued for issued in superfluous_instants(old, covariate_cutoff_instants) if not is_midnight_run(issues[issued])
    }


def _run_cutoff_instants(day: date) -> tuple[int, ...]:
    """Return only the last second before the gate closure for the day after `day`."""
    return (gate_closure(day + timedelta(days=1)) - 1,)


def covariate_cutoff_instants(day: date) -> tuple[int, ...]:
    """Return the `issue_instant` of `day`, and the last second before the gate closure for the day after `day`."""
    return (issue_instant(day), *_run_cutoff_instants(day))


def is_midnight_run(run_ts: int | None) -> bool:
    """Return whether a weather run starts at 00 UTC. If `run_ts` is None, return False."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous_instants(issued: Iterable[int], keep_instants: KeepInstants) -> set[int]:
    """Return those of the issue instants `issued` whose forecasts may be deleted.

    For each delivery day, the last forecast of the day is kept, and the last one up to each of the day's
    `keep_instants`.
    """
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(at < instant for at in keep_instants(day))] = instant
    return instants - set(newest.values())
