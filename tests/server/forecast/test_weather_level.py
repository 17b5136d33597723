"""Observed weather of a year and more moves far days toward the level that the weather makes likely, and no others."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.support.markets.windy_market import WindyMarket, archive_of
from tunnihind.cli.forecast import issue_and_input_lines
from tunnihind.core.market import ESTONIA, HOUR_S, PriceLimits, day_start
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.price_state import to_asinh
from tunnihind.forecast.run import Run
from tunnihind.forecast.weather_level import WeatherLevel
from tunnihind.known import Archive, Floats, ObservationArchive, ObservedSeries

type Utc = Callable[..., int]

FIRST, DAYS = date(2024, 8, 1), 480
LAST = FIRST + timedelta(days=DAYS - 1)
FORECASTS_FROM = LAST - timedelta(days=70)
"""Forecasts of the wind were archived only for the last weeks."""
AS_OF = (2025, 11, 20, 9)
LIMITS = PriceLimits(-500, 4000)
NAME = "fi_wind_mw"


@pytest.fixture(scope="module")
def market() -> WindyMarket:
    return WindyMarket.of(FIRST, DAYS)


@pytest.fixture(scope="module")
def archive(market: WindyMarket) -> Archive:
    """Observations of all days, and forecasts of the last weeks."""
    forecasts = {NAME: market.forecasts(FORECASTS_FROM, LAST)}
    return observed(archive_of(FIRST, LAST, market.prices, forecasts), market)


def observed(archive: Archive, market: WindyMarket, *, since: date = FIRST, error: float = 0.0) -> Archive:
    start = day_start(since)
    wind = market.wind[(start - market.start_ts) // HOUR_S :]
    values = (8000 * wind + error).astype(np.float32)
    return replace(archive, observations=ObservationArchive({NAME: ObservedSeries(start, values)}))


def unobserved(archive: Archive) -> Archive:
    return replace(archive, observations=ObservationArchive())


FORECASTER = TieredForecaster(ESTONIA)
"""One for all tests, because its replays do not depend on observations."""


def run_of(archive: Archive, as_of: int) -> Run:
    run = FORECASTER.forecast(archive.as_of(as_of))
    assert run is not None
    return run


def by_lead(run: Run) -> list[Floats]:
    """Return the p50 of tomorrow and of the six days after it, each on the scale of the levels."""
    tomorrow = (day_start(date(2025, 11, 21)) - run.start_ts) // HOUR_S
    scaled = to_asinh(np.array(run.p50), 50.0)
    return [scaled[tomorrow + 24 * n : tomorrow + 24 * (n + 1)] for n in range(7)]


def test_far_days_move_nearer_to_the_truth(archive: Archive, market: WindyMarket, utc: Utc) -> None:
    as_of, gains = utc(*AS_OF), []
    for back in range(27, -1, -9):
        with_weather, without = (run_of(one, as_of - back * 86400) for one in (archive, unobserved(archive)))
        hours = np.arange(with_weather.p50.size - 72, with_weather.p50.size)
        truth = market.prices(with_weather.start_ts + hours * HOUR_S)
        gains.append(np.abs(without.p50[hours] - truth).mean() - np.abs(with_weather.p50[hours] - truth).mean())
    assert np.mean(gains) > 0


def test_the_next_day_never_moves_and_later_days_keep_their_shape(archive: Archive, utc: Utc) -> None:
    with_weather, without = (run_of(one, utc(*AS_OF)) for one in (archive, unobserved(archive)))
    days = with_weather.inputs["observedDays"]
    assert days > 365
    assert f"  far days    moved toward the price level of {days} days of observed weather" in issue_and_input_lines(
        with_weather
    )
    assert without.inputs["observedDays"] == 0
    assert not any("observed" in line for line in issue_and_input_lines(without))
    moves = [one - other for one, other in zip(by_lead(with_weather), by_lead(without), strict=True)]
    assert not moves[0].any()
    for move in moves[1:]:
        assert move == pytest.approx(move.mean(), abs=2e-4)
        assert abs(move.mean()) > 1e-3


def test_an_observation_counts_from_the_end_of_its_hour(archive: Archive, utc: Utc) -> None:
    as_of = utc(*AS_OF)
    series = archive.observations.series[NAME]
    late = (as_of - series.start_ts) // HOUR_S
    for first, changes in ((late, False), (late - 30 * 24, True)):
        values = series.values.copy()
        values[first:] = 0
        tampered = replace(archive, observations=ObservationArchive({NAME: replace(series, values=values)}))
        assert (run_of(tampered, as_of).p50 != run_of(archive, as_of).p50).any() == changes


def test_the_newest_forecasts_stand_in_for_days_without_observations(
    archive: Archive, market: WindyMarket, utc: Utc
) -> None:
    as_of = utc(*AS_OF)
    series = archive.observations.series[NAME]
    late = ObservedSeries(series.start_ts, series.values[: (as_of - series.start_ts) // HOUR_S - 20 * 24])
    stopped = run_of(replace(archive, observations=ObservationArchive({NAME: late})), as_of)
    assert stopped.inputs["observedDays"] == run_of(archive, as_of).inputs["observedDays"]
    assert np.array(stopped.p50) == pytest.approx(np.array(run_of(archive, as_of).p50), abs=3)


def test_observations_that_are_always_higher_than_forecasts_change_nothing(
    archive: Archive, market: WindyMarket, utc: Utc
) -> None:
    as_of = utc(*AS_OF)
    higher = run_of(observed(unobserved(archive), market, error=900.0), as_of)
    assert np.array(higher.p50) == pytest.approx(np.array(run_of(archive, as_of).p50), abs=0.2)


@pytest.mark.parametrize("known", ["short", "another"])
def test_without_a_year_of_the_forecast_weather_nothing_moves(
    archive: Archive, market: WindyMarket, utc: Utc, known: str
) -> None:
    as_of = utc(*AS_OF)
    fewer = observed(unobserved(archive), market, since=date(2025, 1, 1))
    if known == "another":
        fewer = replace(archive, observations=ObservationArchive({"ee_wind_mw": archive.observations.series[NAME]}))
    run, plain = run_of(fewer, as_of), run_of(unobserved(archive), as_of)
    assert run.inputs["observedDays"] == 0
    for name in ("p10", "p50", "p90"):
        np.testing.assert_array_equal(getattr(run, name), getattr(plain, name))


@given(
    arrays(float, (3, 7, 24), elements=st.floats(-500, 4000)).map(lambda found: np.sort(found, axis=0)),
    arrays(float, 7, elements=st.floats(-3, 6) | st.just(np.nan)),
)
def test_percentiles_stay_in_order_within_the_limits_and_move_toward_the_level(
    percentiles: Floats, levels: Floats
) -> None:
    moved = WeatherLevel(levels, 400).moved(percentiles, LIMITS)
    assert (moved[0] <= moved[1]).all()
    assert (moved[1] <= moved[2]).all()
    assert ((moved >= LIMITS.floor) & (moved <= LIMITS.cap)).all()
    still = np.isnan(levels) | (np.arange(7) == 0)
    np.testing.assert_array_equal(moved[:, still], percentiles[:, still])
    before, after = (to_asinh(one[1], 50.0).mean(axis=1) for one in (percentiles, moved))
    assert (np.abs(levels - after) <= np.abs(levels - before) + 1e-9)[~still].all()


def test_bands_widen_only_where_level_and_forecast_are_far_apart() -> None:
    p50 = np.full((7, 24), 50.0)
    percentiles = np.stack([p50 - 20, p50, p50 + 20])
    level = float(to_asinh(np.array(50.0), 50.0))

    def width(distance: float) -> float:
        moved = to_asinh(WeatherLevel(np.full(7, level + distance), 400).moved(percentiles, LIMITS), 50.0)
        return float((moved[2] - moved[0])[6].mean())

    assert width(0.2) == pytest.approx(width(0.0))
    assert width(-0.2) == pytest.approx(width(0.0))
    assert width(0.75) == width(-0.75) == pytest.approx(width(0.0) + 2 * 0.3 * 0.5)
