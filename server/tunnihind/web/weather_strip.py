"""Wind and sun as two quiet bands under the chart, for an SVG that stretches and shows any part of the time.

A step to the right is an hour, from `start_ts` on, so that what is seen is chosen by the SVG's `viewBox` alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np

from tunnihind.baltic_weather import BalticWeather
from tunnihind.forecast.known import Floats
from tunnihind.market import HOUR_S
from tunnihind.web.display import Display
from tunnihind.web.drawing import Drawing

WIND_M_S: Final = 16
SUN_W_M2: Final = 800
"""The tops of the bands. They stay the same, so that a calm week looks calm and a dark one dark."""

_HEIGHT: Final = 100


@dataclass(frozen=True, slots=True)
class WeatherStrip:
    """Paths of both bands, each 100 high; the hours' values; and each day in words.

    The part that is shown at first begins `shown_from` hours after `start_ts`.
    """

    wind_top = WIND_M_S
    sun_top = SUN_W_M2

    start_ts: int
    hours: int
    shown_from: float
    shown_hours: float
    wind: str
    sun: str
    wind_values: str
    sun_values: str
    days: tuple[str, ...]


def weather_strip(weather: BalticWeather | None, drawing: Drawing | None, display: Display) -> WeatherStrip | None:
    """Draw what is known of the weather for as far as the prices are drawn; None where nothing is."""
    if weather is None or drawing is None or weather.start_ts >= drawing.end:
        return None
    hours = -((weather.start_ts - drawing.end) // HOUR_S)
    wind, sun = weather.wind[:hours], weather.sun[:hours]
    return WeatherStrip(
        start_ts=weather.start_ts,
        hours=wind.size,
        shown_from=(drawing.start - weather.start_ts) / HOUR_S,
        shown_hours=(drawing.end - drawing.start) / HOUR_S,
        wind=_area(wind / WIND_M_S),
        sun=_area(sun / SUN_W_M2),
        wind_values=_values(wind),
        sun_values=_values(sun),
        days=tuple(_in_words(weather.start_ts, wind, sun, display)),
    )


def _area(shares: Floats) -> str:
    """Draw the area under each run of known values, which stand in the middle of their hours."""
    heights = np.round(_HEIGHT * (1 - np.clip(shares, 0, 1)))
    path = []
    for is_known, run in groupby(range(heights.size), key=lambda hour: bool(np.isfinite(heights[hour]))):
        if is_known:
            hours = list(run)
            points = "".join(f"L{hour + 0.5:g} {heights[hour]:g}" for hour in hours)
            path.append(f"M{hours[0] + 0.5:g} {_HEIGHT}{points}V{_HEIGHT}Z")
    return "".join(path)


def _values(values: Floats) -> str:
    return ",".join(f"{value:.0f}" if np.isfinite(value) else "" for value in values)


def _in_words(start_ts: int, wind: Floats, sun: Floats, display: Display) -> Iterator[str]:
    """Tell each day's mean wind and strongest sun."""
    for day, group in groupby(range(wind.size), key=lambda hour: display.day(start_ts + hour * HOUR_S)):
        hours = list(group)
        if np.isfinite(wind[hours]).all() and np.isfinite(sun[hours]).all():
            yield display.texts(
                "weather.day",
                day=display.texts.short_date(day),
                wind=f"{wind[hours].mean():.0f}",
                sun=f"{sun[hours].max():.0f}",
            )
