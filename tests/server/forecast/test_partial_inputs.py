"""Known forecasts of load, wind and sun make the forecast better, and missing ones make it no worse."""

from collections.abc import Callable
from datetime import date, timedelta
from itertools import combinations
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.markets.windy_market import archive_of, with_covariates
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, day_end, day_start
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.season import sine_of_sun_elevation
from tunnihind.forecast.scoring.backtest import backtest
from tunnihind.known import Floats, IssuedSeries

type IsKnown = Callable[[date], bool]

FIRST, DAYS = date(2025, 2, 1), 140
LAST = FIRST + timedelta(days=DAYS - 1)
SCORED = LAST - timedelta(days=9), LAST
START = day_start(FIRST)
HOURS = np.arange(START, day_end(LAST), HOUR_S)
BY_CHANCE: Final = 1.05
"""The difference that ten days may show by chance."""


def wandering(seed: int) -> Floats:
    """Return a share between 0 and 1 of each hour, which changes from day to day."""
    rng = np.random.default_rng(seed)
    level = np.zeros(HOURS.size)
    for hour in range(1, HOURS.size):
        level[hour] = 0.97 * level[hour - 1] + 0.25 * rng.normal()
    return 1 / (1 + np.exp(-level))


WIND = 2000 * wandering(1)
SUN = 2500 * wandering(2) * np.maximum(sine_of_sun_elevation(HOURS + HOUR_S // 2, ESTONIA), 0)
LOAD = 2500 + 800 * wandering(3)
PARTS = {"lt_wind_da_mw": WIND, "lt_solar_da_mw": SUN, "lt_load_da_mw": LOAD}


def prices(ts: NDArray[np.int64]) -> Floats:
    """Return prices that depend on load less wind and sun."""
    hour = (ts - START) // HOUR_S
    noise = np.random.default_rng(4).normal(size=HOURS.size)
    price: Floats = 40 + 0.04 * (LOAD - WIND - SUN)[hour] + 8 * noise[hour]
    return price


def issued(truth: Floats, is_known: IsKnown = lambda _: True) -> tuple[IssuedSeries, ...]:
    """Return a forecast for each known delivery day, issued at 08:00 UTC of the day before."""
    days = (FIRST + timedelta(days=number) for number in range(DAYS))
    return tuple(
        IssuedSeries(
            (day_start(day) + 2 * HOUR_S) // DAY_S * DAY_S - 16 * HOUR_S,
            day_start(day),
            truth[(day_start(day) - START) // HOUR_S : (day_end(day) - START) // HOUR_S].astype(np.float32),
        )
        for day in days
        if is_known(day)
    )


PRICES = archive_of(FIRST, LAST, prices)


def error_with(**covariates: tuple[IssuedSeries, ...]) -> float:
    """Return the mean absolute error of the next-day forecasts over the last ten delivery days."""
    result = backtest(with_covariates(PRICES, **covariates), TieredForecaster(ESTONIA), *SCORED, horizon_days=1)
    assert np.isfinite(result.forecasts.p50).all()
    return result.scores().mae


@pytest.fixture(scope="module")
def blind() -> float:
    return error_with()


@pytest.fixture(scope="module")
def by_wind() -> float:
    return error_with(lt_wind_da_mw=issued(WIND))


@pytest.mark.parametrize("names", [names for count in (1, 2, 3) for names in combinations(PARTS, count)])
def test_any_part_helps_by_itself_and_with_others(names: tuple[str, ...], blind: float) -> None:
    error = error_with(**{name: issued(PARTS[name]) for name in names})
    assert error < blind
    if len(names) > 1:
        assert error < 0.85 * blind


@pytest.mark.parametrize(
    "is_known",
    [
        lambda day: day >= FIRST + timedelta(days=70),
        lambda day: day < SCORED[0] - timedelta(days=20),
        lambda day: day < SCORED[0] + timedelta(days=5),
        lambda day: day.toordinal() % 3 != 0,
        lambda day: not 60 <= (day - FIRST).days < 90,
    ],
    ids=["begins late", "has ended", "ends meanwhile", "lacks every third day", "has a hole"],
)
def test_a_part_that_comes_and_goes_leaves_the_rest_as_good(is_known: IsKnown, by_wind: float, blind: float) -> None:
    error = error_with(lt_wind_da_mw=issued(WIND), lt_load_da_mw=issued(LOAD, is_known))
    assert error < BY_CHANCE * by_wind
    assert error < blind
