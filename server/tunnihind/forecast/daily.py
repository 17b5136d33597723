"""Hours on a grid of delivery day and clock hour, the shape in which days can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.calendar import CLOCK_HOURS, clock_hours, day_class
from tunnihind.known import Floats, PriceHistory
from tunnihind.market import HOUR_S, day_end, day_start

type Classes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DailyPrices:
    """Estonian prices of consecutive delivery days by Central European clock hour.

    `eur_mwh` has shape (days, 24), NaN where unknown. The hour that a 23-hour day lacks is unknown, the two
    that share a clock hour on a 25-hour day count as their mean. `classes` has shape (days,).
    """

    first: date
    eur_mwh: Floats
    classes: Classes

    @classmethod
    def between(cls, history: PriceHistory, first: date, last: date) -> Self:
        """Lay the days from `first` to `last` of a history on the grid."""
        days = days_between(first, last)
        prices = history.between("ee", day_start(first), day_end(last))
        grid = np.array([_by_clock_hour(prices[_hours_within(day, first)], day) for day in days])
        return cls(first, grid, classes_of(days))

    def index(self, day: date) -> int:
        """Return the row of a day; negative or past the end for a day outside the grid."""
        return (day - self.first).days


def days_between(first: date, last: date) -> list[date]:
    """Return the days from `first` to `last`, both included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def classes_of(days: Sequence[date]) -> Classes:
    """Return the classes of days, shape (days,)."""
    return np.array([day_class(day) for day in days], np.intp)


def by_hour(grid: Floats, days: Sequence[date]) -> Floats:
    """Lay a grid of shape (..., days, 24) out hour by hour, shape (..., hours), as the days have them."""
    return np.concatenate([grid[..., row, clock_hours(day)] for row, day in enumerate(days)], axis=-1)


def _hours_within(day: date, first: date) -> slice:
    start = day_start(first)
    return slice((day_start(day) - start) // HOUR_S, (day_end(day) - start) // HOUR_S)


def _by_clock_hour(prices: Floats, day: date) -> Floats:
    if prices.size == CLOCK_HOURS:
        return prices
    known = ~np.isnan(prices)
    hours = np.array(clock_hours(day))[known]
    counts = np.bincount(hours, minlength=CLOCK_HOURS)
    sums = np.bincount(hours, weights=prices[known], minlength=CLOCK_HOURS)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
