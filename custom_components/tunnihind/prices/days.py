"""Calendar days in Tallinn time, which is the local time of all price zones."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

TALLINN: Final = ZoneInfo("Europe/Tallinn")


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day in Tallinn time, [start, end) in UTC seconds. The day has 23, 24 or 25 hours."""

    date: date
    start: int
    end: int


def tallinn_time(instant: int) -> datetime:
    """Return the date and time in Tallinn at `instant` (UTC seconds)."""
    return datetime.fromtimestamp(instant, UTC).astimezone(TALLINN)


def iso_bounds(start: int, end: int) -> dict[str, str]:
    """Convert `start` and `end` (UTC seconds) to ISO 8601 strings in Tallinn time, with the offset from UTC."""
    return {"start": tallinn_time(start).isoformat(), "end": tallinn_time(end).isoformat()}


def instant_of(day: date, wall: time) -> int:
    """Return the instant (UTC seconds) at which clocks in Tallinn show `wall` on `day`.

    If clocks show `wall` twice on a day in autumn, return the first instant. If clocks skip `wall` on a day in spring,
    use the offset from UTC before the clock change: 03:30 means 04:30.
    """
    return int(datetime.combine(day, wall, TALLINN).timestamp())


def day_of(day: date) -> Day:
    """Return the calendar day `day` with its start and end."""
    return Day(day, instant_of(day, time.min), instant_of(day + timedelta(days=1), time.min))


def day_at(instant: int, *, days_later: int = 0) -> Day:
    """Return the calendar day `days_later` days after the day of `instant` (UTC seconds).

    If `days_later` is negative, return an earlier day.
    """
    return day_of(tallinn_time(instant).date() + timedelta(days=days_later))
