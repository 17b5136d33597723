import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.core.market import PriceLimits
from tunnihind.forecast.intervals.conformal import (
    calibrated_percentiles,
    lowest_likely_price,
    nondecreasing_lead_values,
    percentiles_from_distances,
    signed_distances,
)
from tunnihind.forecast.intervals.median_error import p50_moved_by_error
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.known import Floats

LEADS, HOURS = 7, 24
LIMITS = PriceLimits(-500.0, 4000.0)
SHARE_OF_HIGH = np.repeat([0.3, 0.5, 0.7], 8)


def unsure(days: int) -> tuple[Floats, Floats]:
    """Return prices and forecasts of hours that are near 0 or near 100, and of hours whose forecasts are exact."""
    is_high = np.random.default_rng(1).random((days, HOURS)) < SHARE_OF_HIGH
    prices = np.where(SHARE_OF_HIGH == 0.5, 50.0, np.where(is_high, 100.0, 0.0))
    return prices, constant(100 * SHARE_OF_HIGH, days)


def constant(p50: Floats | float, days: int = 250) -> Floats:
    """Return the same forecasts for all leads and days."""
    return np.broadcast_to(p50, (LEADS, days, HOURS)).copy()


def test_p50_of_an_unsure_hour_moves_to_the_price_that_comes_more_often() -> None:
    prices, issued = unsure(250)
    moved = p50_moved_by_error(issued[:, -1], prices, issued)
    assert moved == pytest.approx(np.broadcast_to(np.repeat([0.0, 50.0, 100.0], 8), moved.shape), abs=1e-9)


def test_the_error_of_another_level_does_not_count() -> None:
    prices, issued = unsure(250)
    issued[:, :, 0], prices[:, 0] = 400.0, 440.0
    assert p50_moved_by_error(np.full((LEADS, HOURS), 400.0), prices, issued) == pytest.approx(440)


def test_one_error_at_a_rare_level_does_not_move_p50() -> None:
    prices, issued = np.full((250, HOURS), 50.0), constant(50.0)
    prices[-1, 0], issued[:, -1, 0] = 800.0, 400.0
    p50 = np.full((LEADS, HOURS), 400.0)
    assert p50_moved_by_error(p50, prices, issued) == pytest.approx(p50)


def test_an_error_that_all_levels_share_leaves_p50_as_it_is() -> None:
    issued = constant(np.linspace(20.0, 200.0, HOURS))
    prices = to_eur(to_asinh(issued[0]) + 0.2)
    assert p50_moved_by_error(issued[:, -1], prices, issued) == pytest.approx(issued[:, -1])


def test_p50_does_not_move_away_from_the_median_at_its_level() -> None:
    issued = constant(np.repeat([4.0, 80.0], [2, 22]))
    prices = np.repeat([[3.0, 60.0]], [2, 22], axis=1).repeat(250, axis=0)
    moved = p50_moved_by_error(issued[:, -1], prices, issued)
    assert ((moved[:, :2] <= 4) & (moved[:, :2] >= 3)).all()


def test_each_lead_has_its_own_errors() -> None:
    prices, issued = unsure(250)
    p50 = issued[:, -1].copy()
    issued[2] = prices
    moved = p50_moved_by_error(p50, prices, issued)
    assert moved[2] == pytest.approx(p50[2])
    assert (np.abs(moved[[1, 3]] - p50[[1, 3]])[:, :8] > 20).all()


def test_newer_errors_count_more_than_older_ones() -> None:
    issued = constant(np.repeat([50.0, 400.0], [8, 16]))
    prices = issued[0].copy()
    prices[:150, :8], prices[150:, :8] = 20.0, 80.0
    assert p50_moved_by_error(issued[:, -1], prices, issued)[:, :8] == pytest.approx(80)


def test_a_short_past_leaves_p50_as_it_is() -> None:
    prices, issued = unsure(250)
    p50 = issued[:, -1]
    assert p50_moved_by_error(p50, prices[-59:], issued[:, -59:]) == pytest.approx(p50)
    assert p50_moved_by_error(p50, prices[-60:], issued[:, -60:]) != pytest.approx(p50)


@pytest.mark.parametrize("lacks", ["prices", "forecasts"])
def test_hours_without_prices_or_without_forecasts_do_not_count(lacks: str) -> None:
    issued = constant(np.repeat([50.0, 400.0], [8, 16]))
    prices = issued[0].copy()
    prices[150:, :8] = 80.0
    gap = slice(0, 150)
    if lacks == "prices":
        prices[gap, :8] = np.nan
    else:
        issued[:, gap, :8] = np.nan
    assert p50_moved_by_error(np.full((LEADS, HOURS), 50.0), prices, issued) == pytest.approx(80)


def test_p50_moves_within_the_interval_of_the_models_forecast() -> None:
    prices, issued = unsure(250)
    model = issued[:, -1]
    low, high = signed_distances(prices, issued, model)
    p10, _, p90 = percentiles_from_distances(
        model, -nondecreasing_lead_values(-low), nondecreasing_lead_values(high), lowest_likely_price(prices), LIMITS
    )
    percentiles = calibrated_percentiles(model, prices, issued, LIMITS)
    assert (percentiles[0] == p10).all()
    assert (percentiles[2] == p90).all()
    assert percentiles[1] == pytest.approx(np.clip(p50_moved_by_error(model, prices, issued), p10, p90))
    assert (np.abs(percentiles[1] - model)[:, :8] > 20).all()


@given(seed=st.integers(0, 1000), spread=st.floats(0, 300))
def test_percentiles_never_cross(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    prices = rng.normal(40, 60, (90, HOURS))
    issued = prices + rng.normal(0, spread, (LEADS, 90, HOURS))
    p10, p50, p90 = calibrated_percentiles(rng.normal(40, 60, (LEADS, HOURS)), prices, issued, LIMITS)
    assert ((p10 <= p50) & (p50 <= p90)).all()
