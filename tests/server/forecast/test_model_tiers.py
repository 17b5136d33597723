"""The inputs that the model uses, and their names in a run."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from tests.support.markets.windy_market import WindyMarket, archive_of, windy_archive
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, day_end, day_start
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, CovariateArchive, IssuedSeries

type Utc = Callable[..., int]

FIRST, DAYS = date(2025, 7, 1), 149
LAST = FIRST + timedelta(days=DAYS - 1)


@pytest.fixture(scope="module")
def market() -> WindyMarket:
    return WindyMarket.of(FIRST, DAYS)


@pytest.fixture(scope="module")
def archive() -> Archive:
    return windy_archive(FIRST, DAYS)


@pytest.fixture(scope="module")
def noon(utc: Utc) -> int:
    return utc(2025, 11, 20, 9)


def run_of(archive: Archive, as_of: int) -> Run:
    run = TieredForecaster(ESTONIA).forecast(archive.as_of(as_of))
    assert run is not None
    assert np.isfinite([run.p10, run.p50, run.p90]).all()
    json.dumps(run.inputs, allow_nan=False)
    return run


def using(archive: Archive, **series: tuple[IssuedSeries, ...]) -> Archive:
    return replace(archive, covariates=CovariateArchive(series))


def error_of(run: Run, market: WindyMarket) -> float:
    """Return the mean absolute error of the days ahead."""
    ts = np.array(run.starts())
    ahead = ts >= day_start(date(2025, 11, 21))
    return float(np.abs(run.p50 - market.prices(ts))[ahead].mean())


def test_fresh_weather_makes_the_first_tier_and_a_far_better_forecast(
    archive: Archive, market: WindyMarket, noon: int
) -> None:
    fresh, blind = run_of(archive, noon), run_of(using(archive), noon)
    assert (fresh.tier, blind.tier) == ("weather", "prices")
    assert error_of(fresh, market) < 0.6 * error_of(blind, market)
    (wind,) = fresh.inputs["covariates"]
    assert (wind["name"], wind["ageH"], wind["imputed"]) == ("fi_wind_mw", 3.0, False)
    assert 200 < wind["reachH"] <= 216
    assert fresh.inputs["drivers"] == {"wind_fi": ["fi_wind_mw"]}


def test_weather_of_two_days_ago_is_called_stale_and_still_helps(
    archive: Archive, market: WindyMarket, noon: int
) -> None:
    issues = archive.covariates.series["fi_wind_mw"]
    old = using(archive, fi_wind_mw=tuple(issue for issue in issues if issue.issued_ts < noon - 2 * DAY_S))
    run = run_of(old, noon)
    assert run.tier == "stale-weather"
    assert run.inputs["staleDays"] == 2
    assert error_of(run, market) < error_of(run_of(using(archive), noon), market)


@pytest.mark.parametrize(
    "is_known",
    [lambda age_days: age_days > 10, lambda age_days: age_days < 40],
    ids=["not for ten days", "for a few weeks only"],
)
def test_weather_that_is_too_old_or_too_young_is_not_used(
    archive: Archive, noon: int, is_known: Callable[[float], bool]
) -> None:
    issues = archive.covariates.series["fi_wind_mw"]
    known = tuple(issue for issue in issues if is_known((noon - issue.issued_ts) / DAY_S))
    assert run_of(using(archive, fi_wind_mw=known), noon).tier == "prices"


def test_little_history_has_tiers_of_its_own(utc: Utc) -> None:
    archive = windy_archive(date(2025, 5, 1), 130)
    tiers = [run_of(archive, utc(2025, *day, 9)).tier for day in [(6, 10), (7, 20), (9, 5)]]
    assert tiers == ["last-weeks-mean", "short-history", "weather"]


def test_nothing_known_gives_nothing(noon: int) -> None:
    empty = archive_of(FIRST, FIRST, lambda ts: np.full(ts.shape, np.nan))
    assert TieredForecaster(ESTONIA).forecast(empty.as_of(noon)) is None


def test_weather_points_stand_for_wind_and_a_dead_one_is_imputed(market: WindyMarket, noon: int) -> None:
    share = market.forecasts(FIRST, LAST, scale=1.0)
    speed = tuple(replace(one, values=(25 * np.clip(one.values, 0, 1)).astype(np.float32)) for one in share)
    dead = tuple(
        replace(one, values=np.full_like(one.values, np.nan)) if one.issued_ts > noon - 5 * DAY_S else one
        for one in speed
    )
    prices = archive_of(FIRST, LAST, market.prices)
    both = using(prices, **{"wind_speed_100m@lt_west": speed, "wind_speed_100m@ee_west": dead})
    run = run_of(both, noon)
    assert run.tier == "weather"
    points = ["wind_speed_100m@ee_west", "wind_speed_100m@lt_west"]
    assert run.inputs["drivers"] == {"wind_baltic": points, "residual_baltic": points}
    assert [one["imputed"] for one in run.inputs["covariates"]] == [True, False]
    whole = run_of(using(prices, **{"wind_speed_100m@lt_west": speed}), noon)
    assert np.abs(run.p50 - whole.p50).max() < 10


def next_day(market: WindyMarket, name: str, level: float, wind_gw: float) -> tuple[IssuedSeries, ...]:
    """Return one forecast for each delivery day, issued at 08:00 UTC of the day before."""
    issues = []
    for number in range(DAYS):
        start = day_start(FIRST + timedelta(days=number))
        hours = (day_end(FIRST + timedelta(days=number)) - start) // HOUR_S
        begin = (start - market.start_ts) // HOUR_S
        values = 1000 * (level + wind_gw * market.wind[begin : begin + hours])
        issues.append(
            IssuedSeries((start + 2 * HOUR_S) // DAY_S * DAY_S - 16 * HOUR_S, start, values.astype(np.float32))
        )
    return tuple(issues)


def test_covariates_of_the_next_day_help_the_first_two_days_and_change_no_others(
    market: WindyMarket, noon: int
) -> None:
    prices = archive_of(FIRST, LAST, market.prices)
    known = {
        "ee_load_da_mw": next_day(market, "load", 3.0, 0.0),
        "ee_wind_da_mw": next_day(market, "wind", 0.0, 2.0),
    }
    run, blind = run_of(using(prices, **known), noon), run_of(using(prices), noon)
    assert run.tier == "weather"
    assert set(run.inputs["drivers"]) == {"residual_baltic", "wind_baltic"}
    third = (day_start(date(2025, 11, 23)) - run.start_ts) // HOUR_S
    first = (day_start(date(2025, 11, 21)) - run.start_ts) // HOUR_S
    assert np.abs(run.p50 - blind.p50)[first:third].max() > 5
    truth = market.prices(np.array(run.starts()))
    day = slice(first, first + 24)
    assert np.abs(run.p50 - truth)[day].mean() < 0.6 * np.abs(blind.p50 - truth)[day].mean()
    assert (run.p50[third + 24 :] == blind.p50[third + 24 :]).all() or np.abs(run.p50 - blind.p50)[third:].max() < 30


def test_a_next_day_covariate_that_is_late_today_is_done_without(market: WindyMarket, noon: int) -> None:
    prices = archive_of(FIRST, LAST, market.prices)
    load = next_day(market, "load", 3.0, 0.0)
    late = tuple(issue for issue in load if issue.issued_ts < noon - 10 * HOUR_S)
    assert run_of(using(prices, ee_load_da_mw=late), noon).tier == "prices"


def test_names_that_mean_nothing_are_named_as_ignored(archive: Archive, noon: int) -> None:
    issues = archive.covariates.series["fi_wind_mw"]
    run = run_of(using(archive, **{"fi_wind_mw": issues, "soil_moisture@ee_west": issues, "no_wind_mw": issues}), noon)
    assert run.inputs["ignored"] == ["no_wind_mw", "soil_moisture@ee_west"]
