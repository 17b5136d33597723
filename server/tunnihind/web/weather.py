"""Draws the newest forecast of wind and sun as two bands under the chart.

The forecast is for a zone's region: the Baltics or Finland. An x coordinate in the SVG is the number of hours since
the start of the first drawn hour. To show other hours, a script only has to change the `viewBox`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Self

import numpy as np

from tunnihind.core.market import DAY_S, HOUR_S, Market, floor_hour
from tunnihind.known import CovariateArchive, Floats
from tunnihind.weather_points import REGIONS, region_points
from tunnihind.web.display import Display
from tunnihind.web.drawing import Drawing


def region_wind_covariate_names(market: Market) -> tuple[str, ...]:
    """Return the names of the wind covariates of a market's region.

    Each covariate is the wind speed in m/s, 100 m above the ground, at one place with wind farms.
    """
    return tuple(f"wind_speed_100m@{point.name}" for point in region_points(market.zone, "wind"))


def region_sun_covariate_names(market: Market) -> tuple[str, ...]:
    """Return the names of the sun covariates of a market's region.

    Each covariate is the shortwave radiation in W/m² on the ground, at one place with many consumers.
    """
    return tuple(f"shortwave_radiation@{point.name}" for point in region_points(market.zone, "load"))


MAX_WEATHER_AGE_S: Final = 2 * DAY_S
"""Pages use no weather forecast older than this many seconds, because it would say little about the next days."""

_WEATHER_PAST_S: Final = 2 * DAY_S
_WEATHER_AHEAD_S: Final = 10 * DAY_S

_WIND_TOPS_M_S: Final = (8, 16, 32)
_SUN_TOPS_W_M2: Final = (100, 200, 400, 800)
"""The possible values at the top of the wind band and of the sun band.

Each band has only a few possible values, so that readers can compare weeks. The small values of the sun band make the
weak sun of November visible.
"""

_HEIGHT: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class RegionWeather:
    """A region's weather for each hour from `start_ts` on.

    `wind` is the mean wind speed in m/s, 100 m above the ground, at the places with wind farms. `sun` is the mean
    shortwave radiation in W/m² on the ground, at the places with many consumers. Both have the shape (hours,). If the
    value at any of these places is unknown, the mean is NaN.
    """

    start_ts: int
    wind: Floats
    sun: Floats

    @classmethod
    def of(cls, archive: CovariateArchive, market: Market, now: int) -> Self | None:
        """Return the weather of a market's region from two days before `now` (unix seconds) to ten days after `now`.

        Unknown hours at both ends are left out. For each hour and place, use the newest forecast that was issued in the
        two days before `now`. If no mean over the places is known, return None.
        """
        start_ts, hours = floor_hour(now) - _WEATHER_PAST_S, (_WEATHER_PAST_S + _WEATHER_AHEAD_S) // HOUR_S
        wind, sun = (
            np.mean(
                [archive.newest_values(name, start_ts, hours, now - MAX_WEATHER_AGE_S, now) for name in names], axis=0
            )
            for names in (region_wind_covariate_names(market), region_sun_covariate_names(market))
        )
        either = np.flatnonzero(np.isfinite(wind) | np.isfinite(sun))
        if not either.size:
            return None
        first, end = int(either[0]), int(either[-1]) + 1
        return cls(start_ts + first * HOUR_S, wind[first:end], sun[first:end])

    def wind_and_sun_at(self, hours: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the wind and the sun in the given hours. Unknown values are NaN.

        `hours` lists the start of each hour in unix seconds.
        """
        slots = (np.asarray(hours, np.int64) - self.start_ts) // HOUR_S
        is_inside = (slots >= 0) & (slots < self.wind.size)
        at = np.where(is_inside, slots, 0)
        return np.where(is_inside, self.wind[at], np.nan), np.where(is_inside, self.sun[at], np.nan)


@dataclass(frozen=True, slots=True)
class WeatherStrip:
    """The drawing of the wind band and the sun band.

    Each band is 100 SVG units high. At first, the page shows `shown_hours` hours of the drawing, beginning `shown_from`
    hours after `start_ts`.
    """

    start_ts: int
    hours: int
    shown_from: float
    shown_hours: float
    region: str
    wind: str
    sun: str
    wind_top: int
    sun_top: int
    wind_values: str
    sun_values: str
    day_texts: tuple[str, ...]


def weather_strip(weather: RegionWeather | None, drawing: Drawing | None, display: Display) -> WeatherStrip | None:
    """Draw the weather up to the end of the chart."""
    if weather is None or drawing is None or weather.start_ts >= drawing.end:
        return None
    hours = -((weather.start_ts - drawing.end) // HOUR_S)
    wind, sun = weather.wind[:hours], weather.sun[:hours]
    wind_top, sun_top = _band_top(wind, _WIND_TOPS_M_S), _band_top(sun, _SUN_TOPS_W_M2)
    return WeatherStrip(
        start_ts=weather.start_ts,
        hours=wind.size,
        shown_from=(drawing.start - weather.start_ts) / HOUR_S,
        shown_hours=(drawing.end - drawing.start) / HOUR_S,
        region=display.texts(f"weather.region.{REGIONS[display.market.zone]}"),
        wind=_area_path(wind / wind_top),
        sun=_area_path(sun / sun_top),
        wind_top=wind_top,
        sun_top=sun_top,
        wind_values=_values_text(wind),
        sun_values=_values_text(sun),
        day_texts=tuple(_day_texts(weather.start_ts, wind, sun, display)),
    )


def _band_top(values: Floats, possible_tops: Sequence[int]) -> int:
    """Return the lowest of the `possible_tops` that no known value exceeds.

    If a known value exceeds all of them, return the highest of the `possible_tops`.
    """
    highest = np.nanmax(values, initial=0)
    return next((top for top in possible_tops if highest <= top), possible_tops[-1])


def _area_path(shares: Floats) -> str:
    """Draw the area under a band's known values, each at the middle of its hour.

    `shares` lists each hour's value as a fraction of the value at the band's top.
    """
    heights = np.round(_HEIGHT * (1 - np.clip(shares, 0, 1)))
    path = []
    for is_known, run in groupby(range(heights.size), key=lambda hour: bool(np.isfinite(heights[hour]))):
        if is_known:
            hours = list(run)
            points = "".join(f"L{hour + 0.5:g} {heights[hour]:g}" for hour in hours)
            path.append(f"M{hours[0] + 0.5:g} {_HEIGHT}{points}V{_HEIGHT}Z")
    return "".join(path)


def _values_text(values: Floats) -> str:
    return ",".join(f"{value:.0f}" if np.isfinite(value) else "" for value in values)


def _day_texts(start_ts: int, wind: Floats, sun: Floats, display: Display) -> Iterator[str]:
    """Write the mean wind and the strongest sun of each day's drawn hours. Days with unknown values are left out."""
    for day, group in groupby(range(wind.size), key=lambda hour: display.local_day(start_ts + hour * HOUR_S)):
        hours = list(group)
        if np.isfinite(wind[hours]).all() and np.isfinite(sun[hours]).all():
            yield display.texts(
                "weather.day",
                day=display.texts.short_date(day),
                wind=f"{wind[hours].mean():.0f}",
                sun=f"{sun[hours].max():.0f}",
            )
