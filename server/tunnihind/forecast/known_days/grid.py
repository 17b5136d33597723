"""A grid of delivery days by clock hours, on which days can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known import Floats, Instants, PriceHistory
from tunnihind.forecast.known_days.calendar import CHANGE_HOUR, CLOCK_HOURS, clock_hours, day_class
from tunnihind.market import HOUR_S, Market, day_end, day_start

type Classes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DayGrid:
    """Consecutive delivery days by 24 Central European clock hours.

    `starts` holds the start of each day and the end of the last day, shape (days + 1,).
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
        """The number of days."""
        return self.starts.size - 1

    @property
    def hours(self) -> int:
        """The number of hours."""
        return int(self.starts[-1] - self.starts[0]) // HOUR_S

    def index(self, day: date) -> int:
        """Return the row of a day. For a day outside the grid, the row is negative or past the end."""
        return (day - self.first).days

    def day(self, row: int) -> date:
        """Return the delivery day of a row. The row may lie outside the grid."""
        return self.first + timedelta(days=row)

    def slots(self) -> NDArray[np.int64]:
        """Return the position of each clock hour among the grid's hours, shape (days, 25).

        The 25th column is the second hour of a doubled clock hour. On days without a doubled hour, the 25th column
        repeats the third hour. On days of 23 hours, the missing hour has the position of the hour after it.
        """
        lengths = self.lengths()
        clock = np.arange(CLOCK_HOURS)
        shift = (lengths - CLOCK_HOURS)[:, None] * (clock > CHANGE_HOUR)
        first = ((self.starts[:-1] - self.starts[0]) // HOUR_S)[:, None] + clock + shift
        return np.concatenate([first, (first[:, CHANGE_HOUR] + (lengths > CLOCK_HOURS))[:, None]], axis=1)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of hours of each day, shape (days,)."""
        return np.diff(self.starts) // HOUR_S

    def lay[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Arrange hours by day and clock hour, (..., hours) -> (..., days, 24).

        The missing hour of a 23-hour day is NaN. On a 25-hour day, the two hours with the same clock hour become the
        mean of their known values.
        """
        grid = merged(hourly[..., self.slots()])
        grid[..., self.lengths() < CLOCK_HOURS, CHANGE_HOUR] = np.nan
        return grid

    def lay_whole[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Arrange hours like `lay`. On a 23-hour day, the missing hour becomes the mean of the hours beside it."""
        return bridged(merged(hourly[..., self.slots()]), self.lengths() < CLOCK_HOURS)


def merged[Number: np.floating](slots: NDArray[Number]) -> NDArray[Number]:
    """Turn slots (..., 25) into clock hours (..., 24). A doubled hour becomes the mean of its known values."""
    first, second = slots[..., CHANGE_HOUR], slots[..., CLOCK_HOURS]
    mean = np.where(np.isnan(first), second, np.where(np.isnan(second), first, (first + second) / 2))
    slots[..., CHANGE_HOUR] = mean
    return np.ascontiguousarray(slots[..., :CLOCK_HOURS])


def bridged[Number: np.floating](clock: NDArray[Number], is_short: NDArray[np.bool_]) -> NDArray[Number]:
    """Fill the missing hour of short days with the mean of the hours beside it. `clock` has shape (..., 24)."""
    short = np.broadcast_to(is_short, clock.shape[:-1])
    clock[short, CHANGE_HOUR] = (clock[short, CHANGE_HOUR - 1] + clock[short, CHANGE_HOUR + 1]) / 2
    return clock


@dataclass(frozen=True, slots=True)
class DailyPrices:
    """One zone's prices of consecutive delivery days by Central European clock hour.

    `eur_mwh` is arranged by `DayGrid.lay`, shape (days, 24). Unknown prices are NaN. `classes` has shape (days,).
    """

    first: date
    eur_mwh: Floats
    classes: Classes

    @classmethod
    def between(cls, history: PriceHistory, market: Market, first: date, last: date) -> Self:
        """Arrange a history's prices of the days from `first` to `last`."""
        prices = history.of(market.zone).between(day_start(first), day_end(last)).eur_mwh
        classes = classes_of(days_between(first, last), market.country)
        return cls(first, DayGrid.between(first, last).lay(prices), classes)

    def index(self, day: date) -> int:
        """Return the row of a day. For a day outside the grid, the row is negative or past the end."""
        return (day - self.first).days


def days_between(first: date, last: date) -> list[date]:
    """Return the days from `first` to `last`, both included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def classes_of(days: Sequence[date], country: str) -> Classes:
    """Return the classes of days by a country's calendar, shape (days,)."""
    return np.array([day_class(day, country) for day in days], np.intp)


def by_hour[Number: np.generic](grid: NDArray[Number], days: Sequence[date]) -> NDArray[Number]:
    """Turn clock hours into the real hours of the days, (..., days, 24) -> (..., hours)."""
    return np.concatenate([grid[..., row, clock_hours(day)] for row, day in enumerate(days)], axis=-1)
