"""How an hour's price compares with the other hours of its day."""

from collections.abc import Sequence
from enum import StrEnum

from .timeline import Hour


class Level(StrEnum):
    """A fifth of the day's hours, by price."""

    VERY_LOW = "very_low"
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    VERY_HIGH = "very_high"


def rank(hour: Hour, day: Sequence[Hour]) -> int:
    """Return the hour's place among its day's hours, 1 being the cheapest. Equal prices share the better place."""
    return 1 + sum(other.price < hour.price for other in day)


def level(hour: Hour, day: Sequence[Hour]) -> Level:
    """Return which fifth of its day's hours the hour is in.

    Equal prices share the middle of their places, so that every hour of a flat day is normal.
    """
    cheaper = sum(other.price < hour.price for other in day)
    equal = sum(other.price == hour.price for other in day)
    middle = (cheaper + equal / 2) / len(day)
    levels = tuple(Level)
    return levels[min(int(middle * len(levels)), len(levels) - 1)]


def is_cheap(hour: Hour, day: Sequence[Hour], *, cheap_hours: int) -> bool:
    """Tell whether the hour costs at most as much as the day's `cheap_hours`-th cheapest."""
    return rank(hour, day) <= cheap_hours
