"""The calendar: days by hours of the clock, each hour tinted by its price or by those of its quarters."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from statistics import quantiles
from typing import Final

from tunnihind.market import floor_hour
from tunnihind.web.days import DayName, day_name
from tunnihind.web.display import Display
from tunnihind.web.periods import PricedPeriod

_PAST_DAYS: Final = 7
_TINTS: Final = 6
_CLOCK_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class GridCell:
    """One hour with its periods: itself, or its quarters.

    The tint of each goes from 0 (cheapest) to 5 (most expensive), and is None for a price below zero.
    """

    ts: int
    periods: tuple[PricedPeriod, ...]
    tints: tuple[int | None, ...]

    @property
    def is_settled(self) -> bool:
        """Whether no price of the hour is a forecast."""
        return all(period.settled is not None for period in self.periods)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One day. A clock hour has one cell, none where spring leaves it out, and two where autumn repeats it."""

    day: date
    name: DayName
    is_past: bool
    periods: tuple[PricedPeriod, ...]
    clock_hours: tuple[tuple[GridCell, ...], ...]


def grid(days: Mapping[date, Sequence[PricedPeriod]], today: date, display: Display) -> tuple[GridRow, ...]:
    """Lay out today and the days after it, then the past week, the latest day first."""
    shown = {day: periods for day, periods in days.items() if day >= today - timedelta(days=_PAST_DAYS)}
    bounds = _bounds([price for periods in shown.values() for price in map(display.shown, periods) if price >= 0])
    order = sorted(shown, key=lambda day: (day < today, abs(day - today)))
    return tuple(
        GridRow(day, day_name(day, today), day < today, tuple(shown[day]), _clock_hours(shown[day], bounds, display))
        for day in order
    )


def _clock_hours(
    periods: Sequence[PricedPeriod], bounds: Sequence[float], display: Display
) -> tuple[tuple[GridCell, ...], ...]:
    clock_hours: list[list[GridCell]] = [[] for _ in range(_CLOCK_HOURS)]
    for cell in _cells(periods, bounds, display):
        clock_hours[datetime.fromtimestamp(cell.ts, display.zone).hour].append(cell)
    return tuple(tuple(same) for same in clock_hours)


def _cells(periods: Sequence[PricedPeriod], bounds: Sequence[float], display: Display) -> Iterator[GridCell]:
    for hour, group in groupby(periods, key=lambda period: floor_hour(period.ts)):
        of_hour = tuple(group)
        yield GridCell(hour, of_hour, tuple(_tint(display.shown(period), bounds) for period in of_hour))


def _bounds(prices: Sequence[float]) -> list[float]:
    """Return the prices between the tints, so that each tint has the same number of periods."""
    return quantiles(prices, n=_TINTS) if len(prices) > 1 else []


def _tint(price: float, bounds: Sequence[float]) -> int | None:
    return None if price < 0 else bisect_right(bounds, price)
