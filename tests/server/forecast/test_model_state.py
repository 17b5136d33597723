"""A forecaster that reuses its learning makes the same forecasts as a fresh one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from tests.support.markets.windy_market import windy_archive, with_prices
from tunnihind.core.market import DAY_S, ESTONIA
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.point.ridges_and_kernel import RidgesAndKernel
from tunnihind.forecast.replay.replay import ERA_DAYS, era_start
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, CovariateArchive

type Utc = Callable[..., int]

FIRST, DAYS = date(2025, 7, 1), 149


@pytest.fixture(scope="module")
def archive() -> Archive:
    return windy_archive(FIRST, DAYS)


def bits(run: Run | None) -> bytes:
    assert run is not None
    return b"".join(values.tobytes() for values in (run.p10, run.p50, run.p90))


def assert_same_as_fresh(warm: TieredForecaster, archive: Archive, instants: Sequence[int]) -> None:
    for as_of in instants:
        known = archive.as_of(as_of)
        assert bits(warm.forecast(known)) == bits(TieredForecaster(ESTONIA).forecast(known))


def test_a_warm_forecaster_gives_the_bits_of_a_fresh_one_at_any_hour(archive: Archive, utc: Utc) -> None:
    first = utc(2025, 10, 20, 9)
    hours = [0, 1, 6, 24, 8 * 24 + 6]
    assert_same_as_fresh(TieredForecaster(ESTONIA), archive, [first + hour * 3600 for hour in hours])


def test_a_warm_forecaster_gives_the_bits_of_a_fresh_one_across_the_start_of_an_era(archive: Archive, utc: Utc) -> None:
    day = date(2025, 10, 1)
    era = era_start(date.fromordinal(day.toordinal() + ERA_DAYS // 2))
    assert date(2025, 8, 1) < era < date(2025, 11, 20)
    noon = utc(era.year, era.month, era.day, 9)
    assert_same_as_fresh(TieredForecaster(ESTONIA), archive, [noon - DAY_S, noon, noon + 6 * 3600])


def test_neither_new_days_nor_new_weather_after_noon_make_it_learn_from_scratch(archive: Archive, utc: Utc) -> None:
    begun: list[RidgesAndKernel] = []

    def counted() -> RidgesAndKernel:
        begun.append(RidgesAndKernel())
        return begun[-1]

    morning = archive.covariates.series["fi_wind_mw"]
    noon = tuple(replace(one, issued_ts=one.issued_ts + 6 * 3600, values=one.values + 100) for one in morning)
    issues = tuple(sorted((*morning, *noon), key=lambda issue: issue.issued_ts))
    fresher = replace(archive, covariates=CovariateArchive({"fi_wind_mw": issues}))
    warm = TieredForecaster(ESTONIA, model=counted)
    for day in range(6):
        for hour in (9, 11, 13, 15):
            warm.forecast(fresher.as_of(utc(2025, 10, 20 + day, hour)))
    assert len(begun) == 2  # one issue before the auctions, one after them


def test_asked_about_an_earlier_instant_it_has_forgotten_what_came_later(archive: Archive, utc: Utc) -> None:
    later = utc(2025, 11, 10, 9)
    assert_same_as_fresh(TieredForecaster(ESTONIA), archive, [later, later - 9 * DAY_S, later])


def test_a_corrected_price_of_the_past_makes_it_learn_anew(archive: Archive, utc: Utc) -> None:
    as_of = utc(2025, 11, 10, 9)
    warm = TieredForecaster(ESTONIA)
    before = bits(warm.forecast(archive.as_of(as_of)))
    row = archive.prices.ts == utc(2025, 8, 1, 12)
    corrected = with_prices(archive, row, np.full(row.shape, 900.0))
    assert bits(warm.forecast(corrected.as_of(as_of))) != before
    assert_same_as_fresh(warm, corrected, [as_of])


def test_a_back_filled_forecast_of_the_past_makes_it_learn_anew(archive: Archive, utc: Utc) -> None:
    as_of = utc(2025, 11, 10, 9)
    issues = archive.covariates.series["fi_wind_mw"]
    holey = replace(archive, covariates=CovariateArchive({"fi_wind_mw": (*issues[:60], *issues[63:])}))
    warm = TieredForecaster(ESTONIA)
    before = bits(warm.forecast(holey.as_of(as_of)))
    assert bits(warm.forecast(archive.as_of(as_of))) != before
    assert_same_as_fresh(warm, archive, [as_of])
