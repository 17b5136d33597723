"""The level of a price among the prices of its day, and its colour on a scale of prices."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

COLOURS: Final = 5
"""The number of colours from cheap to expensive. Prices below zero have one more colour."""


class Level(StrEnum):
    """The price level of a period. If no prices are equal, each level has about a fifth of the day's prices."""

    VERY_LOW = "very_low"
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    VERY_HIGH = "very_high"


_FIFTHS: Final = tuple(Level)


def levels(prices: Sequence[float]) -> list[Level]:
    """Return the level of each price of a day: the fifth of the day's sorted prices to which the price belongs.

    Equal prices get the level of their mean rank, so if all prices of a day are equal, all levels are `normal`.
    """
    ranked = sorted(prices)
    return [level(price, ranked) for price in prices]


def level(price: float, ranked: Sequence[float]) -> Level:
    """Return the level of one price of a day. `ranked` lists the day's prices in ascending order."""
    middle = (bisect_left(ranked, price) + bisect_right(ranked, price)) / 2 / len(ranked)
    return _FIFTHS[min(int(middle * len(_FIFTHS)), len(_FIFTHS) - 1)]


def level_on(scale: Sequence[float], price: float) -> Level:
    """Return the level of a price on a scale, from `very_low` in the cheapest colour to `very_high` in the dearest.

    `scale` lists the prices at which the level changes, in the unit of `price`. A price below zero is `very_low`.
    """
    return _FIFTHS[colour(price, scale) % COLOURS]


def colour(price: float, bounds: Sequence[float]) -> int:
    """Return the number of a price's colour: from 0 for cheap to 4 for expensive, and 5 for a price below zero.

    `bounds` lists the prices at which the colour changes, in the unit of `price`.
    """
    return COLOURS if price < 0 else bisect_right(bounds, price)
