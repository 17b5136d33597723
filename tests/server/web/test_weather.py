"""The weather of a zone's region, and its strip under the chart."""

import re
from collections.abc import Mapping, Sequence
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR
from tests.support.pages import sample_views
from tunnihind.core.market import DAY_S, ESTONIA, FINLAND, HOUR_S, LATVIA
from tunnihind.known import CovariateArchive, IssuedSeries
from tunnihind.service.page_context import read_region_weather
from tunnihind.settings import Settings
from tunnihind.store.store import Store
from tunnihind.web.options import PageOptions
from tunnihind.web.summary import DashboardSummary, PageContext, summarise_dashboard
from tunnihind.web.weather import (
    MAX_WEATHER_AGE_S,
    RegionWeather,
    WeatherStrip,
    region_sun_covariate_names,
    region_wind_covariate_names,
)

MIDNIGHT = HOUR // DAY_S * DAY_S


def summary_with(weather: RegionWeather | None, **options: str) -> DashboardSummary:
    options_read = PageOptions.read(options)
    return summarise_dashboard(sample_views.ordinary(), HOUR + 612, Settings(), options_read, PageContext(weather))


def strip_of(weather: RegionWeather, **options: str) -> WeatherStrip:
    strip = summary_with(weather, **options).weather
    assert strip is not None
    return strip


def points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"L([\d.]+) ([\d.]+)", path)]


def test_each_hour_has_its_wind_and_sun_in_its_middle_as_high_as_they_are_strong() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.array([0.0, 8.0, 16.0, 33.0]), np.array([0.0, 200.0, 800.0, 900.0])))
    assert points(strip.wind) == [(0.5, 100), (1.5, 75), (2.5, 50), (3.5, 0)]
    assert points(strip.sun) == [(0.5, 100), (1.5, 75), (2.5, 0), (3.5, 0)]
    assert (strip.wind_values, strip.sun_values) == ("0,8,16,33", "0,200,800,900")


def test_a_calm_and_dark_week_is_drawn_on_a_scale_that_shows_it() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.array([4.0, 6.0]), np.array([0.0, 50.0])))
    assert (strip.wind_top, strip.sun_top) == (8, 100)
    assert points(strip.wind) == [(0.5, 50), (1.5, 25)]
    assert points(strip.sun) == [(0.5, 100), (1.5, 50)]


def test_hours_without_weather_leave_a_gap() -> None:
    strip = strip_of(RegionWeather(MIDNIGHT, np.array([8.0, nan, 8.0]), np.array([nan, 200.0, nan])))
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
    assert strip.day_texts == (
        "Mon 15 Dec: average wind 8 m/s, sun up to 123 W/m²",
        "Tue 16 Dec: average wind 8 m/s, sun up to 0 W/m²",
    )


def test_without_weather_there_is_no_strip() -> None:
    assert summary_with(None).weather is None
    long_after = RegionWeather(MIDNIGHT + 9 * DAY_S, np.full(3, 8.0), np.full(3, 8.0))
    assert summary_with(long_after).weather is None


NOW = HOUR + 612
WIND, SUN = region_wind_covariate_names(ESTONIA), region_sun_covariate_names(ESTONIA)


def issue(issued: int, values: Sequence[float], start: int = HOUR) -> IssuedSeries:
    return IssuedSeries(issued, start, np.array(values, np.float32))


def archive(issues: Sequence[IssuedSeries], names: Sequence[str] = (*WIND, *SUN)) -> CovariateArchive:
    return CovariateArchive(dict.fromkeys(names, tuple(issues)))


def by_hour(weather: RegionWeather | None) -> Mapping[int, float]:
    if weather is None:
        return {}
    hours = range(weather.start_ts, weather.start_ts + weather.wind.size * HOUR_S, HOUR_S)
    return {ts: value for ts, value in zip(hours, weather.wind.tolist(), strict=True) if np.isfinite(value)}


def test_it_is_the_mean_over_the_places() -> None:
    names = {name: (issue(NOW, [float(place)]),) for place, name in enumerate((*WIND, *SUN))}
    weather = RegionWeather.of(CovariateArchive(names), ESTONIA, NOW)
    assert weather is not None
    assert weather.wind.tolist() == [np.mean(range(len(WIND)))]
    assert weather.sun.tolist() == [np.mean(range(len(WIND), len(names)))]


def test_each_zone_has_the_weather_of_its_region() -> None:
    assert region_wind_covariate_names(LATVIA) == WIND
    assert {
        name.partition("@")[2][:2]
        for name in (*region_wind_covariate_names(FINLAND), *region_sun_covariate_names(FINLAND))
    } == {"fi"}
    assert not {*region_wind_covariate_names(FINLAND), *region_sun_covariate_names(FINLAND)} & {*WIND, *SUN}


def test_an_hour_of_which_one_place_is_unknown_is_unknown() -> None:
    assert RegionWeather.of(archive([issue(NOW, [5.0])], [*WIND[1:], *SUN[1:]]), ESTONIA, NOW) is None


def test_of_each_hour_the_newest_forecast_counts_and_a_short_one_leaves_the_rest_to_the_one_before() -> None:
    long, short = issue(NOW - 6 * HOUR_S, [1.0, 2.0, 3.0, 4.0]), issue(NOW, [7.0, float("nan"), 9.0])
    assert list(by_hour(RegionWeather.of(archive([long, short]), ESTONIA, NOW)).values()) == [7.0, 2.0, 9.0, 4.0]


def test_old_forecasts_are_none() -> None:
    assert RegionWeather.of(archive([issue(NOW - MAX_WEATHER_AGE_S - 1, [1.0] * 90)]), ESTONIA, NOW) is None
    assert RegionWeather.of(archive([issue(NOW - MAX_WEATHER_AGE_S, [1.0] * 90)]), ESTONIA, NOW) is not None


values = st.lists(st.floats(0, 30), min_size=1, max_size=60)
starts = st.integers(-40, 40).map(lambda hours: HOUR + hours * HOUR_S)
issues = st.builds(issue, st.integers(NOW - MAX_WEATHER_AGE_S, NOW + 3 * DAY_S), values, starts)


@given(st.lists(issues, max_size=6), st.integers(0, 3 * DAY_S))
def test_nothing_is_seen_that_was_issued_later(given_issues: list[IssuedSeries], later: int) -> None:
    now = NOW + later
    seen = [one for one in given_issues if one.issued_ts <= now]
    known = by_hour(RegionWeather.of(archive(seen), ESTONIA, now))
    assert by_hour(RegionWeather.of(archive(given_issues), ESTONIA, now)) == known
    assert set(known) <= {one.start_ts + hour * HOUR_S for one in seen for hour in range(one.values.size)}


def test_what_a_store_holds_is_served(store: Store) -> None:
    assert read_region_weather(store, ESTONIA, NOW) is None
    fresh, later = issue(NOW - HOUR_S, [6.0, 7.0]), issue(NOW + DAY_S, [20.0, 20.0])
    store.covariates.add({name: [fresh, later] for name in (*WIND, *SUN)})
    weather = read_region_weather(store, ESTONIA, NOW)
    assert by_hour(weather) == pytest.approx({HOUR: 6.0, HOUR + HOUR_S: 7.0}, abs=0.01)
