import re
from math import nan

import numpy as np
import pytest

from tests.support.api.api_server import HOUR
from tests.support.pages import sample_views
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.settings import Settings
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import DashboardSummary, PageContext, summarise_dashboard
from tunnihind.web.weather import RegionWeather, WeatherStrip

MIDNIGHT = HOUR // DAY_S * DAY_S


def summary_with(weather: RegionWeather | None, **options: str) -> DashboardSummary:
    options_read = PageOptions.read(options)
    return summarise_dashboard(sample_views.ordinary(), HOUR + 612, Settings(), options_read, PageContext(weather))


def strip_of(weather: RegionWeather | None, **options: str) -> WeatherStrip | None:
    return summary_with(weather, **options).weather


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"L([\d.]+) ([\d.]+)", path)]


def test_each_hour_has_its_wind_and_sun_in_its_middle_as_high_as_they_are_strong() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.array([0.0, 8.0, 16.0, 33.0]), np.array([0.0, 200.0, 800.0, 900.0])))
    assert strip is not None
    assert points(strip.wind) == [(0.5, 100), (1.5, 75), (2.5, 50), (3.5, 0)]
    assert points(strip.sun) == [(0.5, 100), (1.5, 75), (2.5, 0), (3.5, 0)]
    assert (strip.wind_values, strip.sun_values) == ("0,8,16,33", "0,200,800,900")


def test_a_calm_and_dark_week_is_drawn_on_a_scale_that_shows_it() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.array([4.0, 6.0]), np.array([0.0, 50.0])))
    assert strip is not None
    assert (strip.wind_top, strip.sun_top) == (8, 100)
    assert points(strip.wind) == [(0.5, 50), (1.5, 25)]
    assert points(strip.sun) == [(0.5, 100), (1.5, 50)]


def test_hours_without_weather_leave_a_gap() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.array([8.0, nan, 8.0]), np.array([nan, 200.0, nan])))
    assert strip is not None
    assert strip.wind == "M0.5 100L0.5 0V100ZM2.5 100L2.5 0V100Z"
    assert strip.wind_values == "8,,8"


@pytest.mark.parametrize("tz", ["local", "utc"])
@pytest.mark.parametrize("period", ["hour", "quarter"])
def test_the_strip_shows_the_same_time_as_the_drawn_chart(tz: str, period: str) -> None:
    weather = RegionWeather(MIDNIGHT, np.full(240, 8.0), np.full(240, 100.0))
    summary = summary_with(weather, tz=tz, period=period)
    assert summary.drawing is not None
    assert summary.weather is not None
    strip = summary.weather
    assert strip.start_ts + strip.shown_from * HOUR_S == summary.drawing.start
    assert strip.shown_hours * HOUR_S == summary.drawing.end - summary.drawing.start
    assert strip.start_ts + strip.hours * HOUR_S == summary.drawing.end


def test_each_day_that_is_known_whole_or_partly_is_told_in_words() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.full(30, 8.0), np.where(np.arange(30) == 10, 123.4, 0.0)), tz="utc")
    assert strip is not None
    assert strip.day_texts == (
        "Mon 15 Dec: average wind 8 m/s, sun up to 123 W/m²",
        "Tue 16 Dec: average wind 8 m/s, sun up to 0 W/m²",
    )


def test_without_weather_there_is_no_strip() -> None:
    assert strip_of(None) is None
    long_after = RegionWeather(MIDNIGHT + 9 * DAY_S, np.full(3, 8.0), np.full(3, 8.0))
    assert strip_of(long_after) is None
