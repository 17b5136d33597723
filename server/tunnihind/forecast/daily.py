"""Hours on a grid of delivery day and clock hour, the shape in which days can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.calendar import CHANGE_HOUR, CLOCK_HOURS, clock_hours, day_class
from tunnihind.known import Floats, Instants, PriceHistory
from tunnihind.market import HOUR_S, day_end, day_start

type Classes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DayGrid:
    """Consecutive delivery days by 24 Central European clock hours.

    `starts` has shape (days + 1,): the first instant of each day, and the end of the last.
    """

    first: date
    starts: Instants

    @classmethod
    def between(cls, first: date, last: date) -> Self:
        """Return the grid of the days from `first` to `last`."""
        days = days_between(first, last)
        return cls(first, np.array([*(day_start(day) for day in days), day_end(last)], np.int64))

    @property
    def days(self) -> int:
        """How many days there are."""
        return self.starts.size - 1

    @property
    def hours(self) -> int:
        """How many hours the days have."""
        return int(self.starts[-1] - self.starts[0]) // HOUR_S

    def index(self, day: date) -> int:
        """Return the row of a day; negative or past the end for a day outside the grid."""
        return (day - self.first).days

    def day(self, row: int) -> date:
        """Return the delivery day of a row, also of one outside the grid."""
        return self.first + timedelta(days=row)

    def lay[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Lay hours that begin with the grid's first, shape (..., hours), on the grid, shape (..., days, 24).

        The hour that a 23-hour day lacks is unknown (NaN), the two that share a clock hour on a 25-hour day count
        as the mean of those known.
        """
        lengths = np.diff(self.starts) // HOUR_S
        clock = np.arange(CLOCK_HOURS)
        shift = (lengths - CLOCK_HOURS)[:, None] * (clock > CHANGE_HOUR)
        at = ((self.starts[:-1] - self.starts[0]) // HOUR_S)[:, None] + clock + shift
        grid: NDArray[Number] = hourly[..., at]
        grid[..., lengths < CLOCK_HOURS, CHANGE_HOUR] = np.nan
        (long,) = np.nonzero(lengths > CLOCK_HOURS)
        first, second = grid[..., long, CHANGE_HOUR], hourly[..., at[long, CHANGE_HOUR] + 1]
        mean = np.where(np.isnan(first), second, np.where(np.isnan(second), first, (first + second) / 2))
        grid[..., long, CHANGE_HOUR] = mean
        return grid

    def lay_whole[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Lay hours on the grid as `lay` does; an hour that a day lacks is the mean of the two beside it."""
        grid = self.lay(hourly)
        (short,) = np.nonzero(np.diff(self.starts) // HOUR_S < CLOCK_HOURS)
        grid[..., short, CHANGE_HOUR] = (grid[..., short, CHANGE_HOUR - 1] + grid[..., short, CHANGE_HOUR + 1]) / 2
        return grid


@dataclass(frozen=True, slots=True)
class DailyPrices:
    """Estonian prices of consecutive delivery days by Central European clock hour.

    `eur_mwh` has shape (days, 24), NaN where unknown, laid as `DayGrid.lay` does. `classes` has shape (days,).
    """

    first: date
    eur_mwh: Floats
    classes: Classes

    @classmethod
    def between(cls, history: PriceHistory, first: date, last: date) -> Self:
        """Lay the days from `first` to `last` of a history on the grid."""
        prices = history.between("ee", day_start(first), day_end(last))
        return cls(first, DayGrid.between(first, last).lay(prices), classes_of(days_between(first, last)))

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
