"""Hours on a grid of delivery day by clock hour, so that days can be compared."""

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

    `starts` has shape (days + 1,): the start of each day, and the end of the last.
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
        """Return the row of a day; negative or past the end for a day outside the grid."""
        return (day - self.first).days

    def day(self, row: int) -> date:
        """Return the delivery day of a row, which may lie outside the grid."""
        return self.first + timedelta(days=row)

    def slots(self) -> NDArray[np.int64]:
        """Return the index of each clock hour in the grid's hours, and of a doubled hour's second half: (days, 25).

        The hour that a 23-hour day lacks points to the hour after it. The 25th slot of other days points to their third
        hour.
        """
        lengths = self.lengths()
        clock = np.arange(CLOCK_HOURS)
        shift = (lengths - CLOCK_HOURS)[:, None] * (clock > CHANGE_HOUR)
        first = ((self.starts[:-1] - self.starts[0]) // HOUR_S)[:, None] + clock + shift
        return np.concatenate([first, (first[:, CHANGE_HOUR] + (lengths > CLOCK_HOURS))[:, None]], axis=1)

    def lengths(self) -> NDArray[np.int64]:
        """Return how many hours each day has, shape (days,)."""
        return np.diff(self.starts) // HOUR_S

    def lay[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Arrange the grid's hours, shape (..., hours), by day and clock hour, shape (..., days, 24).

        The missing hour of a 23-hour day is NaN. The two hours that share a clock hour on a 25-hour day become their
        mean, or the known one of them.
        """
        grid = merged(hourly[..., self.slots()])
        grid[..., self.lengths() < CLOCK_HOURS, CHANGE_HOUR] = np.nan
        return grid

    def lay_whole[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Lay hours on the grid as `lay` does, but give a day's missing hour the mean of the hours beside it."""
        return bridged(merged(hourly[..., self.slots()]), self.lengths() < CLOCK_HOURS)


def merged[Number: np.floating](slots: NDArray[Number]) -> NDArray[Number]:
    """Turn slots (..., 25) into clock hours (..., 24). A doubled hour becomes the mean of its known values."""
    first, second = slots[..., CHANGE_HOUR], slots[..., CLOCK_HOURS]
    mean = np.where(np.isnan(first), second, np.where(np.isnan(second), first, (first + second) / 2))
    slots[..., CHANGE_HOUR] = mean
    return np.ascontiguousarray(slots[..., :CLOCK_HOURS])


def bridged[Number: np.floating](clock: NDArray[Number], is_short: NDArray[np.bool_]) -> NDArray[Number]:
    """Give the missing hour of short days the mean of the hours beside it. `clock` has shape (..., 24)."""
    short = np.broadcast_to(is_short, clock.shape[:-1])
    clock[short, CHANGE_HOUR] = (clock[short, CHANGE_HOUR - 1] + clock[short, CHANGE_HOUR + 1]) / 2
    return clock


@dataclass(frozen=True, slots=True)
class DailyPrices:
    """One zone's prices of consecutive delivery days by Central European clock hour.

    `eur_mwh` has shape (days, 24), NaN where unknown, arranged as by `DayGrid.lay`. `classes` has shape (days,).
    """

    first: date
    eur_mwh: Floats
    classes: Classes

    @classmethod
    def between(cls, history: PriceHistory, market: Market, first: date, last: date) -> Self:
        """Lay the days from `first` to `last` of a history on the grid."""
        prices = history.of(market.zone).between(day_start(first), day_end(last)).eur_mwh
        classes = classes_of(days_between(first, last), market.country)
        return cls(first, DayGrid.between(first, last).lay(prices), classes)

    def index(self, day: date) -> int:
        """Return the row of a day; negative or past the end for a day outside the grid."""
        return (day - self.first).days


def days_between(first: date, last: date) -> list[date]:
    """Return the days from `first` to `last`, both included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def classes_of(days: Sequence[date], country: str) -> Classes:
    """Return the classes of days by a country's calendar, shape (days,)."""
    return np.array([day_class(day, country) for day in days], np.intp)


def by_hour[Number: np.generic](grid: NDArray[Number], days: Sequence[date]) -> NDArray[Number]:
    """Turn a grid of shape (..., days, 24) into the days' real hours, shape (..., hours)."""
    return np.concatenate([grid[..., row, clock_hours(day)] for row, day in enumerate(days)], axis=-1)
