"""How the price of a period compares with the other periods of its day."""

from collections.abc import Sequence
from enum import StrEnum

from .timeline import HOUR_S, Period


class Level(StrEnum):
    """A fifth of the day, by price."""

    VERY_LOW = "very_low"
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    VERY_HIGH = "very_high"


def rank(period: Period, day: Sequence[Period]) -> int:
    """Return the period's place in its day, 1 being the cheapest. Equal prices share the better place."""
    return 1 + sum(other.price < period.price for other in day)


def level(period: Period, day: Sequence[Period]) -> Level:
    """Return which fifth of its day the period is in.

    Equal prices share the middle of their places, so a day of one price is normal throughout.
    """
    cheaper = sum(other.price < period.price for other in day)
    equal = sum(other.price == period.price for other in day)
    middle = (cheaper + equal / 2) / len(day)
    levels = tuple(Level)
    return levels[min(int(middle * len(levels)), len(levels) - 1)]


def is_cheap(period: Period, day: Sequence[Period], *, cheap_hours: int) -> bool:
    """Tell whether the period is among the cheapest `cheap_hours` hours of its day, or costs the same as the last."""
    return rank(period, day) * period.length_s <= cheap_hours * HOUR_S
