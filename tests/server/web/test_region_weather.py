from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.api.api_server import HOUR
from tunnihind.core.market import DAY_S, ESTONIA, FINLAND, HOUR_S, LATVIA
from tunnihind.known import CovariateArchive, IssuedSeries
from tunnihind.service.page_context import read_region_weather
from tunnihind.store.store import Store
from tunnihind.web.weather import (
    MAX_WEATHER_AGE_S,
    RegionWeather,
    region_sun_covariate_names,
    region_wind_covariate_names,
)

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
