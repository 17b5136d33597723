"""Computes the weekday, the holidays, the season and the sun's elevation for delivery days."""

from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from typing import Final

import numpy as np

from tunnihind.core.market import DAY_S, HOUR_S, Market
from tunnihind.core.public_holidays import is_holiday, is_working_day
from tunnihind.forecast.known_days.grid import DayGrid, days_between
from tunnihind.forecast.replay.learnt import LearntData, LearntKeeper
from tunnihind.known import Floats, Instants
from tunnihind.weather_points import WeatherPoint

_MEAN_YEAR_DAYS: Final = 365.2425
_FRIDAY: Final = 4
_LOWEST_SINE: Final = -0.2
"""In `Season.sun`, lower sines of the sun's elevation are raised to this value, because a sun so low gives no light."""
_STEP_DAYS: Final = 56


@dataclass(frozen=True, slots=True)
class Season:
    """The calendar and the sun's elevation for each day of a day grid.

    `weekday` (days, 7) is 1 in the column of the day's weekday (Monday first), and 0 in the other columns. A Saturday
    on which people work counts as a Friday. `holiday` (days,) is 1 on public holidays of the zone's country, and 0 on
    other days. `neighbour_holiday` (days,) is the share of the neighbouring countries that have a public holiday on the
    day. `phase` (days, 4) holds the sine and the cosine of a yearly cycle, followed by the sine and the cosine of a
    half-yearly cycle. `sun` (days, 24) holds the sine of the sun's elevation in the middle of each hour, at least
    `_LOWEST_SINE`.
    """

    weekday: Floats
    holiday: Floats
    neighbour_holiday: Floats
    phase: Floats
    sun: Floats

    @classmethod
    def of(cls, grid: DayGrid, market: Market) -> Season:
        """Compute the calendar and the sun's elevation for all days in `grid`."""
        days = days_between(grid.first, grid.day(grid.day_count - 1))
        turn = 2 * np.pi / 365.25 * np.array([day.timetuple().tm_yday for day in days])
        return cls(
            weekday=np.eye(7)[[_demand_weekday(day, market.country) for day in days]],
            holiday=np.array([float(is_holiday(day, market.country)) for day in days]),
            neighbour_holiday=np.array(
                [np.mean([is_holiday(day, country) for country in market.neighbour_countries]) for day in days]
            ),
            phase=np.stack([np.sin(turn), np.cos(turn), np.sin(2 * turn), np.cos(2 * turn)], axis=-1),
            sun=_sun_sines(grid, market),
        )

    def of_first_days(self, days: int) -> Season:
        """Return the first `days` days of this `Season`."""
        return Season(*(getattr(self, column.name)[:days] for column in fields(self)))


class SeasonCache:
    """Caches the `Season` of the last requested first day and market.

    A `keeper` keeps each `Season` for other processes. A `Season` is computed for up to `_STEP_DAYS` more days than
    requested, so that it also serves the grids of the next weeks.
    """

    def __init__(self, keeper: LearntKeeper | None = None) -> None:
        self._keeper = keeper
        self._last: tuple[str, Season] | None = None

    def of(self, grid: DayGrid, market: Market) -> Season:
        """Return the `Season` of a grid and market: from memory, from the keeper, or newly computed."""
        countries = (market.country, *market.neighbour_countries)
        days = -(-grid.day_count // _STEP_DAYS) * _STEP_DAYS
        name = f"season-{grid.first}-{days}-{'-'.join(countries)}-{market.latitude}-{market.longitude}"
        if self._last is None or self._last[0] != name:
            longer = DayGrid.between(grid.first, grid.day(days - 1))
            self._last = name, self._stored_season(name) or self._new_season(name, longer, market)
        return self._last[1].of_first_days(grid.day_count)

    def _stored_season(self, name: str) -> Season | None:
        learnt = None if self._keeper is None else self._keeper.find(name)
        with suppress(ValueError):
            return None if learnt is None else learnt.restore(Season, {})
        return None

    def _new_season(self, name: str, grid: DayGrid, market: Market) -> Season:
        season = Season.of(grid, market)
        if self._keeper is not None:
            self._keeper.keep(name, LearntData.from_dataclass(season))
        return season


def _demand_weekday(day: date, country: str) -> int:
    """Return the weekday, 0 to 6, whose demand a day has: a Saturday on which people work counts as a Friday."""
    return min(day.weekday(), _FRIDAY) if is_working_day(day, country) else day.weekday()


def _sun_sines(grid: DayGrid, market: Market) -> Floats:
    """Return the sine of the sun's elevation in the middle of each hour, at least `_LOWEST_SINE`, shape (days, 24)."""
    ts = np.arange(int(grid.starts[0]), int(grid.starts[-1]), HOUR_S) + HOUR_S // 2
    elevation: Floats = np.maximum(grid.arrange_filled(sine_of_sun_elevation(ts, market)), _LOWEST_SINE)
    return elevation


def sine_of_sun_elevation(ts: Instants | Floats, place: Market | WeatherPoint) -> Floats:
    """Return the sine of the sun's elevation at each instant in `ts`, seen from a point or the middle of a zone.

    The sun's declination follows Cooper 1969 (Solar Energy 12(3)).
    """
    year_angle = 2 * np.pi / _MEAN_YEAR_DAYS * ((ts / DAY_S) % _MEAN_YEAR_DAYS + 10)
    declination = np.radians(-23.44) * np.cos(year_angle)
    hour_angle = np.radians((ts % DAY_S) / HOUR_S * 15 + place.longitude - 180)
    latitude = np.radians(place.latitude)
    sine: Floats = np.sin(latitude) * np.sin(declination) + np.cos(latitude) * np.cos(declination) * np.cos(hour_angle)
    return sine
