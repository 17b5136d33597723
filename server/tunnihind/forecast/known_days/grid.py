"""Arranges hourly values in a grid of delivery days (rows) by 24 clock hours (columns)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import HOUR_S, Market, day_end, day_start
from tunnihind.forecast.known_days.calendar import CHANGE_HOUR, CLOCK_HOURS, clock_hours, day_class
from tunnihind.known import Floats, Instants, PriceHistory

type Classes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class DayGrid:
    """A grid of consecutive delivery days (rows) by the 24 Central European clock hours (columns).

    `starts` (days + 1,) holds the start of each day and the end of the last day, in unix seconds.
    """

    first: date
    starts: Instants

    @classmethod
    def between(cls, first: date, last: date) -> Self:
        """Return the grid of the days from `first` to `last`, both included."""
        days = days_between(first, last)
        return cls(first, np.array([*(day_start(day) for day in days), day_end(last)], np.int64))

    @property
    def day_count(self) -> int:
        """The number of rows, one for each delivery day."""
        return self.starts.size - 1

    @property
    def hour_count(self) -> int:
        """The number of hours from the start of the first day to the end of the last day."""
        return int(self.starts[-1] - self.starts[0]) // HOUR_S

    def row_of(self, day: date) -> int:
        """Return the row of `day`, counted from 0. `day` may lie outside the grid."""
        return (day - self.first).days

    def day(self, row: int) -> date:
        """Return the delivery day of a row. `row` may lie outside the grid."""
        return self.first + timedelta(days=row)

    def hour_positions(self) -> NDArray[np.int64]:
        """For each clock hour of each day, return its position among all hours of the grid, shape (days, 25).

        On a 25-hour day, clock hour 2 occurs twice, and the 25th column holds its second position. On days of 23 or 24
        hours, the 25th column repeats the column of clock hour 2. On a 23-hour day, clock hour 2 is missing, and its
        column holds the position of the next hour.
        """
        lengths = self.lengths()
        clock = np.arange(CLOCK_HOURS)
        shift = (lengths - CLOCK_HOURS)[:, None] * (clock > CHANGE_HOUR)
        first = ((self.starts[:-1] - self.starts[0]) // HOUR_S)[:, None] + clock + shift
        return np.concatenate([first, (first[:, CHANGE_HOUR] + (lengths > CLOCK_HOURS))[:, None]], axis=1)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of hours of each day, shape (days,)."""
        return np.diff(self.starts) // HOUR_S

    def arrange[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Arrange hourly values by day and clock hour. The shape (..., hours) becomes (..., days, 24).

        On a 23-hour day, the value of the missing hour is NaN. On a 25-hour day, clock hour 2 occurs twice, and its
        value is the mean of its known values.
        """
        grid = merge_repeated_hour(hourly[..., self.hour_positions()])
        grid[..., self.lengths() < CLOCK_HOURS, CHANGE_HOUR] = np.nan
        return grid

    def arrange_filled[Number: np.floating](self, hourly: NDArray[Number]) -> NDArray[Number]:
        """Arrange hourly values like `arrange`, but fill the missing hour of 23-hour days (see `fill_missing_hour`)."""
        return fill_missing_hour(merge_repeated_hour(hourly[..., self.hour_positions()]), self.lengths() < CLOCK_HOURS)


def merge_repeated_hour[Number: np.floating](values: NDArray[Number]) -> NDArray[Number]:
    """Turn values (..., 25) at the positions of `DayGrid.hour_positions` into values by clock hour (..., 24).

    If a clock hour occurs twice, its value is the mean of its known values. The function overwrites `values`.
    """
    first, second = values[..., CHANGE_HOUR], values[..., CLOCK_HOURS]
    mean = np.where(np.isnan(first), second, np.where(np.isnan(second), first, (first + second) / 2))
    values[..., CHANGE_HOUR] = mean
    return np.ascontiguousarray(values[..., :CLOCK_HOURS])


def fill_missing_hour[Number: np.floating](
    by_clock_hour: NDArray[Number], is_short: NDArray[np.bool_]
) -> NDArray[Number]:
    """Fill the missing hour of 23-hour days in `by_clock_hour` (..., 24) with the mean of the hours beside it.

    `is_short` (...) is true for 23-hour days. The function overwrites `by_clock_hour`.
    """
    short = np.broadcast_to(is_short, by_clock_hour.shape[:-1])
    around = by_clock_hour[short, CHANGE_HOUR - 1] + by_clock_hour[short, CHANGE_HOUR + 1]
    by_clock_hour[short, CHANGE_HOUR] = around / 2
    return by_clock_hour


@dataclass(frozen=True, slots=True)
class PricesByDay:
    """The prices of one zone on consecutive delivery days, by Central European clock hour.

    `eur_mwh` (days, 24) holds the prices as `DayGrid.arrange` arranges them. Unknown prices are NaN. `classes` (days,)
    holds the demand class of each day.
    """

    first: date
    eur_mwh: Floats
    classes: Classes

    @classmethod
    def between(cls, history: PriceHistory, market: Market, first: date, last: date) -> Self:
        """Arrange the prices of the market's zone on the days from `first` to `last`, both included."""
        prices = history.series_of(market.zone).between(day_start(first), day_end(last)).eur_mwh
        classes = day_classes(days_between(first, last), market.country)
        return cls(first, DayGrid.between(first, last).arrange(prices), classes)

    def row_of(self, day: date) -> int:
        """Return the row of `day`, counted from 0. `day` may lie before or after all rows."""
        return (day - self.first).days


def days_between(first: date, last: date) -> list[date]:
    """Return the days from `first` to `last`, both included."""
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def day_classes(days: Sequence[date], country: str) -> Classes:
    """Return the demand class of each day in a country, shape (days,)."""
    return np.array([day_class(day, country) for day in days], np.intp)


def consecutive_hours[Number: np.generic](grid: NDArray[Number], days: Sequence[date]) -> NDArray[Number]:
    """Turn values by clock hour (..., days, 24) into values for the 23, 24 or 25 hours of each day (..., hours)."""
    return np.concatenate([grid[..., row, clock_hours(day)] for row, day in enumerate(days)], axis=-1)
