"""Calendar days in the local time of a price zone."""

from dataclasses import dataclass
from datetime import date, timedelta

from ..core.market import Market


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day of a zone, [start, end) in UTC seconds. The day has 23, 24 or 25 hours."""

    date: date
    start: int
    end: int


def iso_bounds(zone: Market, start: int, end: int) -> dict[str, str]:
    """Convert `start` and `end` (UTC seconds) to ISO 8601 strings in the zone's time, with the offset from UTC."""
    return {"start": zone.local_time(start).isoformat(), "end": zone.local_time(end).isoformat()}


def day_of(zone: Market, day: date) -> Day:
    """Return the calendar day `day` with its start and end."""
    return Day(day, zone.midnight(day), zone.midnight(day + timedelta(days=1)))


def day_at(zone: Market, instant: int, *, days_later: int = 0) -> Day:
    """Return the calendar day `days_later` days after the day of `instant` (UTC seconds).

    If `days_later` is negative, return an earlier day.
    """
    return day_of(zone, zone.local_time(instant).date() + timedelta(days=days_later))
