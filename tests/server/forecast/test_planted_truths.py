"""The whole model finds the effects that are planted in the simulated market."""

from collections.abc import Callable
from datetime import date, time, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.markets.simulated_history import (
    Planted,
    as_simulated,
    every,
    of_lead,
    scored,
    simulated_archive,
    with_weather,
)
from tunnihind.core.market import ESTONIA, HOUR_S, ZONES, day_start, publication_time
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult, backtest
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Archive, CovariateArchive, Floats, forecasts_issued_until

FIRST, LAST = date(2024, 1, 10), date(2025, 7, 14)
EVENTS = (date(2024, 9, 10), date(2024, 11, 20), date(2025, 2, 10))
"""Several events, because three weeks of one market say little about coverage."""
EVENT = EVENTS[-1]
END = EVENT + timedelta(days=36)
MORNINGS = every(3, date(2024, 10, 1), LAST - timedelta(days=7))
"""The mornings on which the undisturbed market is forecast. Fewer would leave too much to chance."""

type Plant = Callable[[date], Planted]


def days_after(day: date, count: int) -> date:
    return day + timedelta(days=count)


def once_recovered(event: date) -> list[date]:
    """Return every third day from 14 to 28 days after an event."""
    return every(3, days_after(event, 14), days_after(event, 28))


def made_on(result: BacktestResult, days: list[date]) -> NDArray[np.bool_]:
    """Return a mask of the forecasts that were made on some mornings."""
    return np.isin(result.forecasts.issued_ts, [day_start(day) + 9 * HOUR_S for day in days])


def over_events(plant: Plant, mornings: Callable[[date], list[date]]) -> BacktestResult:
    """Return forecasts of the days around all events. Each event is planted in a separate market."""
    parts = [scored(simulated_archive(FIRST, days_after(event, 36), plant(event)), mornings(event)) for event in EVENTS]
    forecasts = BacktestForecasts.joined([part.forecasts for part in parts])
    actual, baseline = (np.concatenate([getattr(p, name) for p in parts]) for name in ("actual", "baseline"))
    return BacktestResult(forecasts, actual, baseline)


def is_wind(name: str) -> bool:
    return name in {"wind_speed_100m@ee_parnu", "wind_speed_100m@lt_west", "wind_speed_100m@fi_raahe"}


@pytest.fixture(scope="module")
def windy() -> Archive:
    """Return the simulated market with wind at three points."""
    return with_weather(simulated_archive(FIRST, LAST), FIRST, LAST, is_wind)


@pytest.fixture(scope="module")
def undisturbed(windy: Archive) -> BacktestResult:
    return scored(windy, MORNINGS)


@pytest.fixture(scope="module")
def uneventful() -> Scores:
    """Return the scores of the days after the events in a market without events."""
    return over_events(lambda _: as_simulated, once_recovered).scores()


def test_on_an_undisturbed_market_80_percent_of_the_hours_lie_in_the_interval(undisturbed: BacktestResult) -> None:
    scores = undisturbed.scores()
    assert scores.coverage80 == pytest.approx(0.8, abs=0.02)
    assert scores.below10 == pytest.approx(0.1, abs=0.03)
    assert scores.above90 == pytest.approx(0.1, abs=0.03)
    for lead in undisturbed.scores_by_lead().values():
        assert lead.coverage80 == pytest.approx(0.8, abs=0.05)


def test_the_interval_widens_and_the_skill_falls_with_the_horizon(undisturbed: BacktestResult) -> None:
    by_lead = list(undisturbed.scores_by_lead().values())
    assert (np.diff([scores.width for scores in by_lead]) > 0).all()
    assert by_lead[0].skill > by_lead[3].skill > by_lead[6].skill > 0.2


def threefold(event: date) -> Planted:
    return lambda ts, prices: np.where(ts >= day_start(event), 3 * prices, prices)


def parted(event: date) -> Planted:
    """Return a rule for a market in which a cable fails.

    Before the event all zones have the Finnish price. From then on, each zone has its own, higher price.
    """

    def plant(ts: NDArray[np.int64], prices: Floats) -> Floats:
        finnish = np.broadcast_to(prices[ZONES.index("fi")], prices.shape)
        return np.where(ts >= day_start(event), prices + 60.0 * (prices != finnish), finnish)

    return plant


@pytest.mark.parametrize(("plant", "scale"), [(threefold, 3.0), (parted, 1.0)])
def test_what_shifts_the_market_is_a_surprise_at_first_and_made_good_within_14_days(
    uneventful: Scores, plant: Plant, scale: float
) -> None:
    result = over_events(plant, lambda event: [days_after(event, -1), *once_recovered(event)])
    at_first = made_on(result, [days_after(event, -1) for event in EVENTS])
    struck, recovered = result.scores(at_first), result.scores(~at_first)
    assert struck.coverage80 < 0.3
    assert 0.7 < recovered.coverage80 < 0.95
    assert recovered.mae < 1.3 * scale * uneventful.mae


def test_a_point_of_weather_that_dies_costs_little_skill_and_little_coverage(
    windy: Archive, undisturbed: BacktestResult
) -> None:
    mornings = [day for day in MORNINGS if days_after(EVENT, 1) <= day <= days_after(EVENT, 25)]
    whole = undisturbed.scores(made_on(undisturbed, mornings))
    point, end = "wind_speed_100m@lt_west", day_start(EVENT) + 9 * HOUR_S
    series = {**windy.covariates.series, point: forecasts_issued_until(end, windy.covariates.series[point])}
    one_dead = scored(Archive(windy.prices, CovariateArchive(series)), mornings).scores()
    assert one_dead.n == whole.n
    assert one_dead.mae < 1.3 * whole.mae
    assert one_dead.coverage80 > whole.coverage80 - 0.1


def test_one_hour_at_4000_is_forgotten_within_a_week(uneventful: Scores) -> None:
    def spiked(event: date) -> Planted:
        spike = day_start(days_after(event, 7)) + 18 * HOUR_S
        return lambda ts, prices: np.where(ts == spike, 4000.0, prices)

    after = over_events(spiked, once_recovered).scores()
    assert after.mae < 1.1 * uneventful.mae
    assert after.width < 1.2 * uneventful.width
    assert after.coverage80 > uneventful.coverage80 - 0.03


def test_prices_that_come_out_late_cost_a_day_of_lead_and_no_coverage() -> None:
    def late(day: date) -> int:
        return publication_time(day) + (8 * HOUR_S if day >= EVENT else 0)

    first, last = days_after(EVENT, 7), days_after(EVENT, 16)
    in_time, delayed = (
        backtest(archive, TieredForecaster(ESTONIA), first, last, issue_at=time(15))
        for archive in (simulated_archive(FIRST, END), simulated_archive(FIRST, END, publication=late))
    )
    assert in_time.scores().n == 6 * 10 * 24  # the prices of the first of the seven days are known
    assert delayed.scores().n == 7 * 10 * 24
    assert delayed.scores().coverage80 > 0.7
    assert of_lead(delayed, 7).coverage80 > 0.7
