"""Calendar days of the Tallinn clock, in UTC seconds. The clocks of all zones show the same time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

TALLINN: Final = ZoneInfo("Europe/Tallinn")


@dataclass(frozen=True, slots=True)
class Day:
    """One Tallinn day: [start, end) in UTC seconds, 23, 24 or 25 hours long."""

    date: date
    start: int
    end: int


def local(instant: int) -> datetime:
    """Return the Tallinn wall time of `instant` (UTC seconds)."""
    return datetime.fromtimestamp(instant, UTC).astimezone(TALLINN)


def iso_bounds(start: int, end: int) -> dict[str, str]:
    """Return [start, end) (UTC seconds) as Tallinn wall times with their offset, for attributes and actions."""
    return {"start": local(start).isoformat(), "end": local(end).isoformat()}


def instant_of(day: date, wall: time) -> int:
    """Return the instant (UTC seconds) at which the Tallinn clock shows `wall` on `day`.

    If autumn repeats the time, the first one counts. If spring leaves it out, the offset before the change applies, so
    03:30 means 04:30 of that day.
    """
    return int(datetime.combine(day, wall, TALLINN).timestamp())


def day_of(day: date) -> Day:
    """Return the Tallinn day of that date."""
    return Day(day, instant_of(day, time.min), instant_of(day + timedelta(days=1), time.min))


def day_at(instant: int, *, days_later: int = 0) -> Day:
    """Return the Tallinn day of `instant` (UTC seconds), or the day `days_later` days after it."""
    return day_of(local(instant).date() + timedelta(days=days_later))
