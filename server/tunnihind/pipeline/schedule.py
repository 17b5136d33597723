"""Decides from the `Situation` and the time which tasks are due. All functions of this module are pure.

During the publication watch (`Market.publication_watch`), prices are requested every minute until no price up to
tomorrow is missing, and less often at other times. Each covariate source has its own cadence of requests. A failed task
is tried again after a pause that grows with each failure, up to a limit. If the recorded instant of an event is in the
future, the event is ignored, because it was recorded before the clock was set back.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from enum import StrEnum
from math import ceil, inf
from typing import Final, NamedTuple

from tunnihind.core.market import DAY_S, HOUR_S, Market, Zone, delivery_day, floor_hour
from tunnihind.sources.base import Cadence

_WATCH_INTERVAL_S: Final = 60
_PRICES_MISSING_INTERVAL_S: Final = 15 * 60
_PRICES_COMPLETE_INTERVAL_S: Final = HOUR_S
"""After a successful request for prices, the next request follows after this many seconds. `_price_repeat_interval`
chooses one of the three numbers."""

_HELD_DAYS_INTERVAL_S: Final = 6 * HOUR_S

_SCORES_AT: Final = time(16)
"""New scores are due at this local time each day. Normally, the next day's prices have been published by then."""

_FIRST_PAUSE_S: Final = 60
LONGEST_PAUSE_S: Final = 15 * 60
_LONGEST_PAUSE_IN_WATCH_S: Final = 2 * 60

MAX_RETRY_AFTER_S: Final = 2 * HOUR_S
"""A pause that a source asks for (Retry-After) lasts at most this many seconds."""
MAX_RETRY_AFTER_IN_WATCH_S: Final = 15 * 60
"""If a source asks for a pause during the publication watch, the pause lasts at most this many seconds."""

CORRECTION_DAYS: Final = 2
"""Requests for prices usually also cover this many past days, because the sources may correct their prices."""

CATCH_UP_DAYS: Final = 14
"""If prices are missing, ordinary requests for prices reach back up to this many days. The back-fill requests older
prices."""


class TaskKind(StrEnum):
    """The kinds of tasks, in the order in which due tasks are done."""

    PRICES = "prices"
    COVARIATES = "covariates"
    FORECAST = "forecast"
    HELD_DAYS = "held days"
    PRICE_HISTORY = "price history"
    COVARIATE_HISTORY = "covariate history"
    SCORES = "scores"
    RECORDS = "accuracy records"
    CLEAN_UP = "thinning"


ZONE_TASK_KINDS: Final = frozenset({TaskKind.FORECAST, TaskKind.SCORES})
"""The kinds of tasks that are done for each zone separately."""


class Task(NamedTuple):
    """A task for one covariate source, for one zone, or for the whole server."""

    kind: TaskKind
    source: str = ""
    zone: Zone | None = None

    def __str__(self) -> str:
        """Return the task's name for logs, such as `covariates of open-meteo`."""
        of = self.source or self.zone
        return f"{self.kind} of {of}" if of else str(self.kind)


@dataclass(frozen=True, slots=True)
class Tries:
    """The past attempts at a task."""

    tried_ts: int | None = None
    """The instant of the last attempt, or None before the first."""
    succeeded_ts: int | None = None
    """The instant of the last success, or None before the first."""
    failures: int = 0
    """The number of failures since the last success."""
    not_before_ts: int = 0
    """No attempt is made before this instant, for example because the source asked for a pause."""


@dataclass(frozen=True, slots=True)
class CovariateSourceSituation:
    """When to send requests to a source of covariates or observations, and the missing parts of its history."""

    cadence: Cadence
    missing_parts: tuple[date, ...] = ()
    """The days to fill, or the first days of the months to fill (UTC), newest first."""
    next_part_at: int = 0
    """The earliest instant at which the next month or day may be requested."""
    has_forecasts: bool = True
    """False for a source of observations, which has only a history."""


@dataclass(frozen=True, slots=True)
class ZoneSituation:
    """Facts about a served zone's prices, forecasts and scores."""

    settled_through: date | None = None
    """The last delivery day up to which the recent prices have no gap, or None if no recent day is complete. A day
    before today is not a gap if its prices are held back."""
    run_made_at: int | None = None
    """The instant of the newest forecast, or None before the first."""
    scored_ts: int | None = None
    """The instant at which the present model was last scored. None if it was never scored, or if another model was
    scored later."""
    is_in_doubt: bool = False
    """True if prices of today or later are held back, or wait for a second source."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that decide which tasks are due."""

    market: Market
    """The first served market. All markets have the same local time and publication watch."""
    zones: Mapping[Zone, ZoneSituation]
    """The facts about each served zone, in the order of the operator's settings."""
    prices_changed_ts: int | None = None
    """The instant at which the stored prices last changed, or None if no price was ever stored."""
    forecast_wanted_ts: int | None = None
    """The instant at which the back-fill last made new forecasts due, or None if it never did."""
    held_days: tuple[date, ...] = ()
    """The held-back delivery days whose prices the task `TaskKind.HELD_DAYS` requests, oldest first."""
    missing_years: tuple[int, ...] = ()
    """The years whose prices are to be fetched, newest first."""
    covariates: Mapping[str, CovariateSourceSituation] = field(default_factory=dict)
    """The facts about each source of covariates or observations, by the source's name."""
    tries: Mapping[Task, Tries] = field(default_factory=dict)
    """The past attempts at each task."""
    blocked: Collection[Task] = ()
    """The tasks that must not begin now."""

    @property
    def settled_through(self) -> date | None:
        """The earliest `settled_through` of all zones, or None if all zones have None.

        Zones with None are left out if others have a day: nobody can tell whether they will ever get prices.
        """
        return min(self._settled_days(), default=None)

    @property
    def newest_settled_through(self) -> date | None:
        """The same as `settled_through`, without the zones that are more than a day behind another zone."""
        days = self._settled_days()
        return min((day for day in days if max(days) - day <= timedelta(days=1)), default=None)

    def _settled_days(self) -> list[date]:
        return [zone.settled_through for zone in self.zones.values() if zone.settled_through is not None]

    @property
    def is_in_doubt(self) -> bool:
        """True if `ZoneSituation.is_in_doubt` is true for at least one zone."""
        return any(zone.is_in_doubt for zone in self.zones.values())

    def tries_of(self, task: Task) -> Tries:
        """Return the past attempts at a task. Before the first attempt, return `Tries()`."""
        return self.tries.get(task, Tries())

    def tasks(self) -> list[Task]:
        """Return all tasks that are not in `blocked`, in the order of `TaskKind`."""
        tasks: list[Task] = []
        for kind in TaskKind:
            if kind in ZONE_TASK_KINDS:
                tasks += [Task(kind, zone=zone) for zone in self.zones]
            else:
                sources = self.covariates if kind in {TaskKind.COVARIATES, TaskKind.COVARIATE_HISTORY} else ("",)
                tasks += [Task(kind, source) for source in sources]
        return [task for task in tasks if task not in self.blocked]


def due_tasks(situation: Situation, now: int) -> list[Task]:
    """Return the tasks that are due now, in the order in which to do them."""
    return [task for task in situation.tasks() if due_at(task, situation, now) <= now]


def next_due_at(situation: Situation, now: int) -> float:
    """Return the earliest instant at which a task becomes due."""
    return min(due_at(task, situation, now) for task in situation.tasks())


def due_at(task: Task, situation: Situation, now: int) -> float:
    """Return the instant at which a task becomes due.

    If the task has no work, or waits for the first price, return inf. If the task is due at once, the result may be
    -inf.
    """
    tries = situation.tries_of(task)
    wanted = _wanted_at(task, situation, now)
    if tries.tried_ts is None or tries.tried_ts > now:
        return wanted
    if tries.failures:
        wanted = max(wanted, tries.tried_ts + _task_pause(task, situation, now))
    return max(wanted, tries.not_before_ts)


def pause_after_failures(failures: int, market: Market, now: int) -> int:
    """Return the pause in seconds after `failures` failures in a row."""
    longest = _LONGEST_PAUSE_IN_WATCH_S if market.is_in_publication_watch(now) else LONGEST_PAUSE_S
    return _doubling_pause(_FIRST_PAUSE_S, failures, longest)


def limited_pause_end(market: Market, now: int, asked_s: float) -> int:
    """Return the end of a pause of `asked_s` seconds that a source has asked for at `now`.

    A pause lasts two hours at most. Prices are urgent during the publication watch, so a pause that begins in the watch
    lasts 15 minutes at most. If a pause begins earlier, it ends at the start of the watch at the latest, or after
    15 minutes if that is later.
    """
    end = now + min(ceil(asked_s), MAX_RETRY_AFTER_S)
    watch_start, watch_end = (market.instant(market.local_time(now).date(), at) for at in market.publication_watch)
    if now < watch_end:
        end = min(end, max(watch_start, now + MAX_RETRY_AFTER_IN_WATCH_S))
    return end


def price_request_days(situation: Situation, now: int) -> tuple[date, date]:
    """Return the first and the last delivery day of the next request for prices.

    By default, a request for prices covers the days from two days ago to tomorrow. If the day after
    `Situation.settled_through` is earlier, the request begins with that day. If `settled_through` is None, the request
    begins `CATCH_UP_DAYS` days ago. If only tomorrow's prices are missing during the publication watch, the request
    begins with yesterday, because the settled prices of yesterday and today show whether an answer is wrong.
    """
    today, tomorrow = delivery_day(now), next_delivery_day(now)
    if situation.market.is_in_publication_watch(now) and situation.newest_settled_through == today:
        return today - timedelta(days=1), tomorrow
    oldest = today - timedelta(days=CATCH_UP_DAYS)
    if situation.settled_through is None:
        return oldest, tomorrow
    gap = situation.settled_through + timedelta(days=1)
    return max(oldest, min(gap, today - timedelta(days=CORRECTION_DAYS))), tomorrow


def next_delivery_day(now: float) -> date:
    """Return the delivery day that follows the delivery day of `now`."""
    return delivery_day(now) + timedelta(days=1)


def _task_pause(task: Task, situation: Situation, now: int) -> int:
    """Return the pause in seconds after a task's failures. Tasks of a covariate source use the source's cadence."""
    failures = situation.tries_of(task).failures
    if task.source not in situation.covariates:
        return pause_after_failures(failures, situation.market, now)
    cadence = situation.covariates[task.source].cadence
    return _doubling_pause(cadence.retry_s, failures, cadence.longest_retry_s)


def _doubling_pause(first_s: int, failures: int, longest_s: int) -> int:
    """Return a pause of `first_s` seconds, doubled for each failure after the first, up to `longest_s` seconds."""
    return int(min(first_s * 2.0 ** min(failures - 1, 20), longest_s))


def _wanted_at(task: Task, situation: Situation, now: int) -> float:
    if task.zone is not None:
        zone = situation.zones[task.zone]
        if task.kind is TaskKind.FORECAST:
            return _forecast_wanted_at(situation, zone, situation.tries_of(task), now)
        return _scores_wanted_at(situation, zone, now)
    if not _has_work(task, situation):
        return inf
    if task.kind is TaskKind.COVARIATE_HISTORY:
        return situation.covariates[task.source].next_part_at
    succeeded_ts = situation.tries_of(task).succeeded_ts
    if task.kind is TaskKind.PRICE_HISTORY or succeeded_ts is None or succeeded_ts > now:
        return -inf
    return succeeded_ts + _repeat_interval(task, situation, now)


def _has_work(task: Task, situation: Situation) -> bool:
    match task.kind:
        case TaskKind.HELD_DAYS:
            return bool(situation.held_days)
        case TaskKind.PRICE_HISTORY:
            return bool(situation.missing_years)
        case TaskKind.COVARIATES:
            return situation.covariates[task.source].has_forecasts
        case TaskKind.COVARIATE_HISTORY:
            return bool(situation.covariates[task.source].missing_parts)
        case _:
            return True


def _repeat_interval(task: Task, situation: Situation, now: int) -> float:
    """Return the seconds from a task's success until the task is due again."""
    match task.kind:
        case TaskKind.PRICES:
            return _price_repeat_interval(situation, now)
        case TaskKind.COVARIATES:
            return situation.covariates[task.source].cadence.every_s
        case TaskKind.HELD_DAYS:
            return _HELD_DAYS_INTERVAL_S
        case _:
            return DAY_S


def _price_repeat_interval(situation: Situation, now: int) -> int:
    expected = situation.market.newest_expected_day(now)
    if situation.market.is_in_publication_watch(now) and (situation.newest_settled_through or date.min) < expected:
        return _WATCH_INTERVAL_S
    is_complete = (situation.settled_through or date.min) >= expected
    return _PRICES_COMPLETE_INTERVAL_S if is_complete and not situation.is_in_doubt else _PRICES_MISSING_INTERVAL_S


def _forecast_wanted_at(situation: Situation, zone: ZoneSituation, tries: Tries, now: int) -> float:
    if situation.prices_changed_ts is None:
        return inf
    # `succeeded_ts` counts too, because an attempt without enough prices for a run must not be repeated at once.
    made = [ts for ts in (zone.run_made_at, tries.succeeded_ts) if ts is not None and ts <= now]
    news = max(situation.prices_changed_ts, situation.forecast_wanted_ts or 0)
    if not made or max(made) < news <= now:
        return -inf
    return floor_hour(max(made)) + HOUR_S


def _scores_wanted_at(situation: Situation, zone: ZoneSituation, now: int) -> float:
    if situation.prices_changed_ts is None:
        return inf
    if zone.scored_ts is None or zone.scored_ts > now:
        return -inf
    scored = situation.market.local_time(zone.scored_ts)
    day = scored.date() + timedelta(days=1) if scored.time() >= _SCORES_AT else scored.date()
    return situation.market.instant(day, _SCORES_AT)
