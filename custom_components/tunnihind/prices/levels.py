"""How the price of a period compares with the other periods of its day."""

from bisect import bisect_left, bisect_right
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
    return _level(period.price, sorted(other.price for other in day))


def levels(day: Sequence[Period]) -> list[Level]:
    """Return the same for each period of the day."""
    prices = sorted(period.price for period in day)
    return [_level(period.price, prices) for period in day]


def is_cheap(period: Period, day: Sequence[Period], *, cheap_hours: int) -> bool:
    """Tell whether the period is among the cheapest `cheap_hours` hours of its day, or costs the same as the last."""
    return rank(period, day) * period.length_s <= cheap_hours * HOUR_S


def _level(price: float, prices: Sequence[float]) -> Level:
    """Return the fifth that the price is in, among the day's prices in their order."""
    middle = (bisect_left(prices, price) + bisect_right(prices, price)) / 2 / len(prices)
    fifths = tuple(Level)
    return fifths[min(int(middle * len(fifths)), len(fifths) - 1)]
