"""When to do what: a pure function of the situation and the clock.

Prices are asked for every minute from 13:45 to 15:30 Estonian time until tomorrow is complete, patiently
otherwise. What fails is tried again after a growing pause. Nothing here trusts the clock to run forward: an
instant that lies in the future was noted before the clock was set back, and counts as never.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from math import inf
from typing import Final

from tunnihind.market import DAY_S, HOUR_S, LOCAL_TZ, delivery_day, floor_hour

PUBLICATION_WATCH: Final = (time(13, 45), time(15, 30))
"""Estonian local time between which the next day's prices appear on a normal day."""

FAST_S: Final = 60
MISSING_S: Final = 15 * 60
PATIENT_S: Final = HOUR_S
WEATHER_S: Final = 3 * HOUR_S
HELD_S: Final = 6 * HOUR_S

FIRST_PAUSE_S: Final = 60
LONGEST_PAUSE_S: Final = 15 * 60
LONGEST_PAUSE_IN_WATCH_S: Final = 2 * 60

CORRECTION_DAYS: Final = 2
"""Prices of so many past days are asked for again, because they get corrected."""

CATCH_UP_DAYS: Final = 14
"""What a stop of the server left out is made up for in one go up to this age; the back-fill reaches further."""


class Job(StrEnum):
    """A thing to do, in the order in which due jobs are done."""

    PRICES = "prices"
    WEATHER = "weather"
    FORECAST = "forecast"
    HELD_DAYS = "held days"
    PRICE_HISTORY = "price history"
    WEATHER_HISTORY = "weather history"
    SCORES = "scores"
    THIN = "thinning"


@dataclass(frozen=True, slots=True)
class Tries:
    """How a job has gone: its last try and success, failures in a row, and the end of a pause asked for."""

    tried_ts: int | None = None
    ok_ts: int | None = None
    failures: int = 0
    not_before_ts: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """All that decides what is due.

    `settled_through` is the delivery day up to which EE has no gap of late, `stored_ts` when prices were last
    stored, `run_made_at` the newest forecast's instant; `held_days` failed the gate; `missing_years` and
    `missing_months` (first days) are to be back-filled, the first of them next.
    """

    settled_through: date | None = None
    stored_ts: int | None = None
    run_made_at: int | None = None
    held_days: tuple[date, ...] = ()
    missing_years: tuple[int, ...] = ()
    missing_months: tuple[date, ...] = ()
    has_weather: bool = False
    tries: Mapping[Job, Tries] = field(default_factory=dict)

    def of(self, job: Job) -> Tries:
        """Return how a job has gone."""
        return self.tries.get(job, Tries())


def due_jobs(situation: Situation, now: int) -> list[Job]:
    """Return what is to be done now, in order."""
    return [job for job in Job if due_at(job, situation, now) <= now]


def next_due(situation: Situation, now: int) -> float:
    """Return the instant at which something is next to be done."""
    return min(due_at(job, situation, now) for job in Job)


def due_at(job: Job, situation: Situation, now: int) -> float:
    """Return the instant at which a job is to be done: past where it is due, infinite where nothing calls for it."""
    tries = situation.of(job)
    wanted = _wanted_at(job, situation, now)
    if tries.failures and tries.tried_ts is not None and tries.tried_ts <= now:
        wanted = max(wanted, tries.tried_ts + pause(tries.failures, now))
    asked_pause_holds = tries.not_before_ts <= now + DAY_S
    return max(wanted, tries.not_before_ts) if asked_pause_holds else wanted


def pause(failures: int, now: int) -> int:
    """Return for how many seconds to leave alone what has failed so often in a row."""
    longest = LONGEST_PAUSE_IN_WATCH_S if is_publication_watch(now) else LONGEST_PAUSE_S
    return int(min(FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10), longest))


def price_window(situation: Situation, now: int) -> tuple[date, date]:
    """Return the first and last delivery day to ask for.

    Minute by minute only the day that is awaited; otherwise the last 48 hours too, and what a stop of the
    server has left out. With nothing settled of late that is all there is to ask for.
    """
    today, tomorrow = delivery_day(now), next_day(now)
    if is_publication_watch(now) and situation.settled_through == today:
        return tomorrow, tomorrow
    oldest = today - timedelta(days=CATCH_UP_DAYS)
    if situation.settled_through is None:
        return oldest, tomorrow
    gap = situation.settled_through + timedelta(days=1)
    return max(oldest, min(gap, today - timedelta(days=CORRECTION_DAYS))), tomorrow


def next_day(now: float) -> date:
    """Return the delivery day after the present one."""
    return delivery_day(now) + timedelta(days=1)


def is_publication_watch(now: float) -> bool:
    """Return whether the next day's prices are expected any minute."""
    first, last = PUBLICATION_WATCH
    return first <= datetime.fromtimestamp(now, LOCAL_TZ).time() < last


def expected_through(now: float) -> date:
    """Return the delivery day up to which prices should be settled by now."""
    is_out = datetime.fromtimestamp(now, LOCAL_TZ).time() >= PUBLICATION_WATCH[0]
    # Shortly after Estonian midnight the present delivery day is still the old one, whose successor is out.
    is_small_hour = datetime.fromtimestamp(now, LOCAL_TZ).date() > delivery_day(now)
    return next_day(now) if is_out or is_small_hour else delivery_day(now)


def _wanted_at(job: Job, situation: Situation, now: int) -> float:
    if job is Job.FORECAST:
        return _forecast_wanted_at(situation, now)
    if not _has_work(job, situation):
        return inf
    ok_ts = situation.of(job).ok_ts
    if job in {Job.PRICE_HISTORY, Job.WEATHER_HISTORY} or ok_ts is None or ok_ts > now:
        return -inf
    return ok_ts + _interval(job, situation, now)


def _has_work(job: Job, situation: Situation) -> bool:
    match job:
        case Job.WEATHER:
            return situation.has_weather
        case Job.HELD_DAYS:
            return bool(situation.held_days)
        case Job.PRICE_HISTORY:
            return bool(situation.missing_years)
        case Job.WEATHER_HISTORY:
            return bool(situation.missing_months)
        case Job.SCORES:
            return situation.stored_ts is not None
        case _:
            return True


def _interval(job: Job, situation: Situation, now: int) -> float:
    """Return how long a success lasts, in seconds."""
    match job:
        case Job.PRICES:
            return _price_interval(situation, now)
        case Job.WEATHER:
            return WEATHER_S
        case Job.HELD_DAYS:
            return HELD_S
        case _:
            return DAY_S


def _price_interval(situation: Situation, now: int) -> int:
    if situation.settled_through is not None and situation.settled_through >= expected_through(now):
        return PATIENT_S
    return FAST_S if is_publication_watch(now) else MISSING_S


def _forecast_wanted_at(situation: Situation, now: int) -> float:
    if situation.stored_ts is None:
        return inf
    # A forecaster that had too little to go by made no run, and is asked no sooner for that.
    made = [ts for ts in (situation.run_made_at, situation.of(Job.FORECAST).ok_ts) if ts is not None and ts <= now]
    if not made or max(made) < situation.stored_ts <= now:
        return -inf
    return floor_hour(max(made)) + HOUR_S
