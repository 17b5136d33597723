"""How long each kind of row is kept.

Recent runs and covariate issues are all kept. Each older day keeps two of each kind: the last one before gate closure,
because a forecast of the next day could have used it, and the last one of the day. Covariates also keep the last issue
before the model's issue time. So the model trains on weather that is as fresh as in a live forecast. For the weather,
the kept issues are the runs of 00 and 12 UTC. Each day's 00 UTC run is always kept. The same rule filters a source's
archive before it is stored. Otherwise thinning would delete rows, and back-fill would add them again each day. The
scores of runs are kept for ever. They take .3 MB a year.

In SQLite a year takes 32 MB: 7 for prices (140,000 quarters of four zones), 9 for runs (3 for hours, 6 for quarters),
11 for weather (42 series) and 5 for ENTSO-E's forecasts (21 series). All recent rows are kept and take some 5 MB more.
Each back-filled year takes 6 MB once: 5 for weather and 1 for ENTSO-E's archive. The sources' answers for the last days
take .5 MB. In PostgreSQL each row and its entry in the index take more: a year of prices takes 23 MB.
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
"""A covariate's issues of the last 14 days are all kept. Issues are large, and the model reads all of them."""
WITNESS_DAYS: Final = 60
"""A source's answer for a delivery day is kept for 60 days after that day, and after it was last heard."""

type ReadTimes = Callable[[date], tuple[int, ...]]
"""Returns the instants of a delivery day, in order, at which a forecast may need the newest issue."""


def thin(store: Store, now: int) -> int:
    """Delete rows that are no longer needed, and return how many. Raises StoreError."""
    removed = store.runs.thin(partial(superfluous_runs, now))
    removed += store.covariates.thin(partial(superfluous_issues, now))
    oldest = delivery_day(now) - timedelta(days=WITNESS_DAYS)
    return removed + store.witnesses.thin(oldest, now - WITNESS_DAYS * DAY_S)


def superfluous_runs(now: int, made_at: Collection[int]) -> set[int]:
    """Return the runs that need not be kept, by the instants at which they were made."""
    return superfluous((made for made in made_at if made < now - RUN_DAYS * DAY_S), run_read_times)


def superfluous_issues(now: int, issues: Mapping[int, int | None]) -> set[int]:
    """Return the issues of a covariate that need not be kept. `issues` maps each instant to the start of its run.

    The first run of each day is always kept, because the model is trained on the first runs.
    """
    old = [issued for issued in issues if issued < now - COVARIATE_DAYS * DAY_S]
    return {issued for issued in superfluous(old, covariate_read_times) if not is_first_of_day(issues[issued])}


def run_read_times(day: date) -> tuple[int, ...]:
    """Return the gate closure of the next day's auction."""
    return (gate_closure(day + timedelta(days=1)),)


def covariate_read_times(day: date) -> tuple[int, ...]:
    """Return the model's issue time for past days, and the gate closure of the next day's auction."""
    return (issue_instant(day), *run_read_times(day))


def is_first_of_day(run_ts: int | None) -> bool:
    """Return whether a run is a day's 00 UTC run."""
    return run_ts is not None and run_ts % DAY_S == 0


def superfluous(issued: Iterable[int], read_times: ReadTimes) -> set[int]:
    """Return the instants that were not the newest at any read time of their day, and not at the day's end."""
    newest: dict[tuple[date, int], int] = {}
    instants = set(issued)
    for instant in sorted(instants):
        day = delivery_day(instant)
        newest[day, sum(at <= instant for at in read_times(day))] = instant
    return instants - set(newest.values())
