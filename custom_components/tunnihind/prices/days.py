"""Calendar days in Tallinn time, in UTC seconds. All price zones have the same local time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

TALLINN: Final = ZoneInfo("Europe/Tallinn")


@dataclass(frozen=True, slots=True)
class Day:
    """A day in Tallinn time, [start, end) in UTC seconds. A day has 23, 24 or 25 hours."""

    date: date
    start: int
    end: int


def local(instant: int) -> datetime:
    """Return the Tallinn wall time of `instant` (UTC seconds)."""
    return datetime.fromtimestamp(instant, UTC).astimezone(TALLINN)


def iso_bounds(start: int, end: int) -> dict[str, str]:
    """Return the bounds of [start, end), UTC seconds, as ISO texts in Tallinn time.

    Each text has the offset from UTC.
    """
    return {"start": local(start).isoformat(), "end": local(end).isoformat()}


def instant_of(day: date, wall: time) -> int:
    """Return the instant (UTC seconds) at which the Tallinn clock shows `wall` on `day`.

    If the clock change in autumn repeats `wall`, the first occurrence counts. If the clock change in spring leaves out
    `wall`, the offset before the change applies. For example, 03:30 means 04:30 on that day.
    """
    return int(datetime.combine(day, wall, TALLINN).timestamp())


def day_of(day: date) -> Day:
    """Return the Tallinn day with this date."""
    return Day(day, instant_of(day, time.min), instant_of(day + timedelta(days=1), time.min))


def day_at(instant: int, *, days_later: int = 0) -> Day:
    """Return the Tallinn day that is `days_later` days after the day of `instant` (UTC seconds)."""
    return day_of(local(instant).date() + timedelta(days=days_later))
