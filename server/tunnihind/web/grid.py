"""The calendar: days by hours of the clock, each cell tinted by its price."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import quantiles
from typing import Final

from tunnihind.web.display import Display
from tunnihind.web.hours import PricedHour

_PAST_DAYS: Final = 7
_TINTS: Final = 6
_CLOCK_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class GridCell:
    """One hour. Its tint goes from 0 (cheapest) to 5 (most expensive), and is None for a price below zero."""

    hour: PricedHour
    tint: int | None


@dataclass(frozen=True, slots=True)
class GridRow:
    """One day. A clock hour has one cell, none where spring leaves it out, and two where autumn repeats it."""

    day: date
    is_today: bool
    clock_hours: tuple[tuple[GridCell, ...], ...]


def grid(days: Mapping[date, Sequence[PricedHour]], today: date, display: Display) -> tuple[GridRow, ...]:
    """Lay out the days from a week before today on."""
    shown = {day: hours for day, hours in days.items() if day >= today - timedelta(days=_PAST_DAYS)}
    bounds = _bounds([hour.eur_mwh for hours in shown.values() for hour in hours if hour.eur_mwh >= 0])
    return tuple(GridRow(day, day == today, _clock_hours(hours, bounds, display)) for day, hours in shown.items())


def _clock_hours(
    hours: Sequence[PricedHour], bounds: Sequence[float], display: Display
) -> tuple[tuple[GridCell, ...], ...]:
    cells: list[list[GridCell]] = [[] for _ in range(_CLOCK_HOURS)]
    for hour in hours:
        cells[datetime.fromtimestamp(hour.ts, display.zone).hour].append(GridCell(hour, _tint(hour.eur_mwh, bounds)))
    return tuple(tuple(same) for same in cells)


def _bounds(prices: Sequence[float]) -> list[float]:
    """Return the prices between the tints, so that each tint has the same number of hours."""
    return quantiles(prices, n=_TINTS) if len(prices) > 1 else []


def _tint(eur_mwh: float, bounds: Sequence[float]) -> int | None:
    return None if eur_mwh < 0 else bisect_right(bounds, eur_mwh)
