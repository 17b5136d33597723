"""Finds the years, months and days of the history that are still to be fetched, and records those that are filled.

The history of prices is filled one calendar year at a time. The history of covariates is filled one month or one day at
a time, depending on the source. The table `state` records the instant at which each year, month or day was last filled.

The history of weather runs is filled day by day. The source of weather runs accepts only a limited number of requests.
So the back-fill requests only a limited number of days in an hour and in 24 hours. If a day's weather run is
unavailable, the back-fill requests the day up to three more times, after pauses of one, three and nine days.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from tunnihind.core.market import DAY_S, HOUR_S, day_end, delivery_day, utc_midnight
from tunnihind.pipeline.schedule import CATCH_UP_DAYS
from tunnihind.sources.base import HistorySource, day_ranges
from tunnihind.store.rows import Instant
from tunnihind.store.state import StateBook

YEARS_FILLED_KEY: Final = "years of prices filled"

FORECAST_WANTED_KEY: Final = "covariates filled up"
"""The key under which the table `state` records when the back-fill last made new price forecasts due."""

_YEAR_REFILLED_AFTER_S: Final = CATCH_UP_DAYS * DAY_S
"""A year that was filled before its end is filled again after this many seconds, because ordinary requests for prices
can't close a longer gap."""

_MONTH_REFILLED_AFTER_S: Final = DAY_S
"""A month of covariates that was filled before its end is filled again after this many seconds. The time is short,
because only the back-fill fetches forecasts that the server has missed."""

_PART_DAYS: Final = 31
"""A year's prices are requested in parts of at most this many days. The prices of a part in four zones briefly take
25 MB of memory. The prices of a whole year would take 200 MB."""

_FilledParts: Final = dict[str, Instant]
_UnavailableDays: Final = dict[str, tuple[Instant, int]]


_PROGRESS_KEY: Final = "days filled in"
_MAX_REQUESTS: Final = 4
_FIRST_REPEAT_PAUSE_S: Final = DAY_S
"""The pause in seconds after a day was found unavailable for the first time. Each further pause is three times as long
as the pause before it. A day that was found unavailable `_MAX_REQUESTS` times is not requested again."""


def filled_parts_key(source: HistorySource) -> str:
    """Return the key under which the table `state` records a covariate source's filled months or days."""
    return f"{source.back_fill.by}s of {source.name} filled"


def _unavailable_days_key(source: str) -> str:
    return f"days of {source} that are not there"


def first_part(source: HistorySource, history_start: date) -> date:
    """Return the first UTC day of the history that is filled from a source.

    If the history is filled month by month, return the first day of its first month.
    """
    first = max(source.history_since, history_start)
    return first.replace(day=1) if source.back_fill.by == "month" else first


@dataclass(frozen=True, slots=True)
class BackFillProgress:
    """The back-fill's progress for a source whose history is filled day by day.

    `done` is the number of filled days, and `lacking` is the number of unavailable days. `total` is the number of days
    in the history so far, but at least `done` + `lacking`. `goes_on_at` is the instant from which the back-fill may
    request the next day. If all days are filled, or are unavailable and not due for another request, `goes_on_at` is 0.
    """

    done: int
    lacking: int
    total: int
    goes_on_at: int


def progress_by_source(state: StateBook) -> dict[str, BackFillProgress]:
    """Map the names of sources whose history is filled day by day to their recorded progress. Raises StoreError."""
    return state.read(_PROGRESS_KEY, dict[str, BackFillProgress]) or {}


def record_progress(state: StateBook, source: HistorySource, history_start: date, now: int) -> BackFillProgress:
    """Record and return the back-fill's progress for a source whose history is filled day by day. Raises StoreError."""
    days = filled_parts(state, filled_parts_key(source)).keys()
    done, unavailable = len(days), len(_unavailable_days(state, source.name).keys() - days)
    total = (
        datetime.fromtimestamp(now - source.back_fill.after_s, UTC).date() - first_part(source, history_start)
    ).days + 1
    left = missing_parts(state, source, history_start, now)
    progress = BackFillProgress(
        done, unavailable, max(total, done + unavailable), max(now, next_part_at(state, source, now)) if left else 0
    )
    known = progress_by_source(state)
    if known.get(source.name) != progress:
        state.write(_PROGRESS_KEY, {name: asdict(one) for name, one in (known | {source.name: progress}).items()})
    return progress


def last_day_of_part(source: HistorySource, part: date) -> date:
    """Return the last day of the month that begins on `part`, or `part` itself if the history is filled day by day."""
    return (part + timedelta(days=31)).replace(day=1) - timedelta(days=1) if source.back_fill.by == "month" else part


def record_filled_part(state: StateBook, key: str, part: str, at: int) -> None:
    """Record the instant at which a year, month or day of the history was filled. Raises StoreError."""
    state.change(key, _FilledParts, lambda parts: {**(parts or {}), part: at})


def forget_filled_parts(state: StateBook, key: str, since_ts: int) -> None:
    """Mark years, months or days as not filled, if they were filled at `since_ts` or later. Raises StoreError."""
    state.change(key, _FilledParts, lambda parts: {part: at for part, at in (parts or {}).items() if at < since_ts})


def filled_parts(state: StateBook, key: str) -> dict[str, int]:
    """Map each filled year, month or day of the history to the instant when it was last filled. Raises StoreError."""
    return state.read(key, _FilledParts) or {}


def _unavailable_days(state: StateBook, source: str) -> dict[str, tuple[int, int]]:
    """Map each day that was ever found unavailable at a source to (instant of the last time, number of times).

    Days that were filled later are included.
    """
    return state.read(_unavailable_days_key(source), _UnavailableDays) or {}


def record_unavailable_day(state: StateBook, source: str, day: date, at: int) -> None:
    """Record that at the instant `at`, a source could not provide the data of a day. Raises StoreError."""

    def with_day(known: dict[str, tuple[int, int]] | None) -> dict[str, tuple[int, int]]:
        _, times = (known or {}).get(str(day), (0, 0))
        return {**(known or {}), str(day): (at, times + 1)}

    state.change(_unavailable_days_key(source), _UnavailableDays, with_day)


def missing_parts(state: StateBook, source: HistorySource, history_start: date, now: int) -> tuple[date, ...]:
    """Return the days or months of a source's history to fill now, newest first. Raises StoreError.

    A month is given by its first day.
    """
    if source.back_fill.by == "month":
        return _missing_months(state, source, history_start, now)
    return _missing_days(state, source, history_start, now)


def next_part_at(state: StateBook, source: HistorySource, now: int) -> int:
    """Return the earliest instant at which the next month or day of a source's history may be requested.

    If no limit of the source has been reached, the instant is in the past. Raises StoreError.
    """
    if source.back_fill.by == "month":
        return 0
    asked = [
        *filled_parts(state, filled_parts_key(source)).values(),
        *(at for at, _ in _unavailable_days(state, source.name).values()),
    ]
    # Instants in the future do not count, because they were recorded before the clock was set back.
    newest_first = sorted((at for at in asked if at <= now), reverse=True)
    limits = (source.back_fill.max_days_an_hour, HOUR_S), (source.back_fill.max_days_a_day, DAY_S)
    return max(newest_first[most - 1] + span_s if len(newest_first) >= most else 0 for most, span_s in limits)


def _missing_days(state: StateBook, source: HistorySource, history_start: date, now: int) -> tuple[date, ...]:
    done = filled_parts(state, filled_parts_key(source))
    unavailable = _unavailable_days(state, source.name)
    first = first_part(source, history_start)
    newest = datetime.fromtimestamp(now - source.back_fill.after_s, UTC).date()
    days = (newest - timedelta(days=back) for back in range((newest - first).days + 1))
    return tuple(day for day in days if str(day) not in done and _may_be_requested(unavailable.get(str(day)), now))


def _may_be_requested(asked: tuple[int, int] | None, now: int) -> bool:
    """Return whether `_MAX_REQUESTS` and the pauses (see `_FIRST_REPEAT_PAUSE_S`) allow a request for a day at `now`.

    `asked` is the day's entry in `_unavailable_days`, if the day has one.
    """
    if asked is None:
        return True
    at, times = asked
    return times < _MAX_REQUESTS and not at <= now < at + _FIRST_REPEAT_PAUSE_S * 3 ** (times - 1)


def missing_years(state: StateBook, first_year: int, now: int) -> tuple[int, ...]:
    """Return the years whose prices are to be fetched, but no year before `first_year`. Raises StoreError.

    The newest year comes first, because forecasts need the newest prices most.
    """
    filled_at = filled_parts(state, YEARS_FILLED_KEY)
    years = range(delivery_day(now).year, first_year - 1, -1)
    ends = {year: day_end(date(year, 12, 31)) for year in years}
    return tuple(
        year for year in years if not _is_up_to_date(filled_at.get(str(year)), ends[year], _YEAR_REFILLED_AFTER_S, now)
    )


def day_ranges_of_year(year: int, last: date) -> tuple[tuple[date, date], ...]:
    """Cut a year into ranges (first day, last day) of at most 31 days, newest first. Days after `last` are left out."""
    parts = day_ranges(date(year, 1, 1), min(date(year, 12, 31), last), _PART_DAYS)
    return tuple(parts)[::-1]


def _missing_months(state: StateBook, source: HistorySource, history_start: date, now: int) -> tuple[date, ...]:
    filled_at = filled_parts(state, filled_parts_key(source))
    first = first_part(source, history_start)
    missing = []
    end = (datetime.fromtimestamp(now, UTC).date().replace(day=1) + timedelta(days=31)).replace(day=1)
    while end > first:
        month = (end - timedelta(days=1)).replace(day=1)
        end_ts = utc_midnight(end) + source.back_fill.after_s
        if not _is_up_to_date(filled_at.get(str(month)), end_ts, _MONTH_REFILLED_AFTER_S, now):
            missing.append(month)
        end = month
    return tuple(missing)


def _is_up_to_date(filled_ts: int | None, end_ts: float, refilled_after_s: int, now: int) -> bool:
    """Return whether a year or month need not be filled now.

    It must have been filled by now, and either after its end or less than `refilled_after_s` seconds ago.
    """
    return filled_ts is not None and filled_ts <= now and (filled_ts >= end_ts or now < filled_ts + refilled_after_s)
