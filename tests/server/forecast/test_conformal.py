"""The calibrated percentiles: the interval by past errors, and the shift of p50 within it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

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

LIMITS = PriceLimits(-500.0, 4000.0)
prices = npst.arrays(np.float64, (7, 24), elements=st.floats(-500, 4000))
widths = npst.arrays(np.float64, (7, 24), elements=st.floats(0, 5))


@given(by_lead=widths)
def test_widths_never_fall_with_the_lead_and_keep_their_sum(by_lead: Floats) -> None:
    wider = nondecreasing_lead_values(by_lead)
    assert (np.diff(wider, axis=0) >= -1e-9).all()
    assert wider.sum(axis=0) == pytest.approx(by_lead.sum(axis=0))


def test_widths_that_grow_already_are_left_alone() -> None:
    by_lead = np.arange(7.0)[:, None] * np.ones(24)
    assert (nondecreasing_lead_values(by_lead) == by_lead).all()


@given(p50=prices, low=widths, high=widths, lowest=st.floats(-500, 4000))
def test_percentiles_never_cross_and_stay_within_the_markets_limits(
    p50: Floats, low: Floats, high: Floats, lowest: float
) -> None:
    percentiles = percentiles_from_distances(p50, -low, high, lowest, LIMITS)
    assert (np.diff(percentiles, axis=0) >= 0).all()
    assert (percentiles[1] == p50).all()
    assert percentiles.min() >= LIMITS.floor
    assert percentiles.max() <= LIMITS.cap
    assert (percentiles[0] >= np.minimum(p50, lowest)).all()


def test_only_the_prices_of_the_last_90_days_say_how_low_a_price_is_likely_to_be() -> None:
    prices_of_days = np.full((200, 24), 50.0)
    prices_of_days[:110] = -400
    assert lowest_likely_price(prices_of_days) == 50
    prices_of_days[-1] = -5  # a day of 90: more than one hour in a hundred
    assert lowest_likely_price(prices_of_days) == -5


LEVEL = np.full((7, 24), 100.0)


def past(days: int, spread: float = 20.0, seed: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    issued = np.full((7, days, 24), 100.0)
    return 100 + spread * rng.normal(size=(days, 24)), issued


def test_the_interval_of_steady_errors_covers_80_percent_of_them() -> None:
    actual, issued = past(400)
    low, high = signed_distances(actual, issued, LEVEL)
    percentiles = percentiles_from_distances(LEVEL, low, high, lowest_likely_price(actual), LIMITS)
    rng = np.random.default_rng(9)
    to_come = 100 + 20 * rng.normal(size=(2000, 7, 24))
    inside = (to_come >= percentiles[0]) & (to_come <= percentiles[2])
    assert inside.mean() == pytest.approx(0.8, abs=0.02)


def test_errors_that_lean_to_one_side_make_the_interval_lean() -> None:
    actual, issued = past(400)
    low, high = signed_distances(np.abs(actual - 100) + 100, issued, LEVEL)
    assert (-low < 0.2 * high).all()


def test_it_follows_a_threefold_volatility_within_two_weeks() -> None:
    calm, issued = past(400)
    calm_low, calm_high = signed_distances(calm, issued, LEVEL)
    wild = calm.copy()
    wild[-14:] = 100 + 3 * (wild[-14:] - 100)
    low, high = signed_distances(wild, issued, LEVEL)
    assert (high - low).mean() > 1.5 * (calm_high - calm_low).mean()


def test_with_few_past_errors_it_is_wider_and_with_none_it_is_wide() -> None:
    actual, issued = past(400)
    many = np.subtract(*signed_distances(actual, issued, LEVEL)[::-1])
    few = np.subtract(*signed_distances(actual[-8:], issued[:, -8:], LEVEL)[::-1])
    none = np.subtract(*signed_distances(actual, np.full_like(issued, np.nan), LEVEL)[::-1])
    assert few.mean() > many.mean()
    assert (none == 1.4).all()


def test_later_errors_than_those_given_play_no_part() -> None:
    actual, issued = past(400)
    changed = actual.copy()
    changed[-1] = 3000
    before, after = (signed_distances(came[:-1], issued[:, :-1], LEVEL) for came in (actual, changed))
    assert np.array_equal(before, after)


def test_hours_widen_when_others_of_their_day_have_erred_more() -> None:
    actual, issued = past(400)
    wild = actual.copy()
    wild[-14:, :8] = 100 + 3 * (wild[-14:, :8] - 100)
    _, calm_high = signed_distances(actual, issued, LEVEL)
    _, high = signed_distances(wild, issued, LEVEL)
    assert (high[:, 14:20] > 1.1 * calm_high[:, 14:20]).all()
    assert (high[:, 2:6] > 1.5 * calm_high[:, 2:6]).all()


def test_hours_are_as_uncertain_as_forecasts_of_their_level_were() -> None:
    actual, issued = past(400, spread=5)
    dear = np.arange(400) % 2 == 1
    issued[:, dear] += 100
    actual[dear] = 200 + 10 * (actual[dear] - 100)
    width_at_100, width_at_200 = (
        np.ptp(
            percentiles_from_distances(p50, *signed_distances(actual, issued, p50), -500, LIMITS)[[0, 2]], axis=0
        ).mean(axis=1)
        for p50 in (LEVEL, 2 * LEVEL)
    )
    assert (width_at_200 > 3 * width_at_100).all()


@pytest.mark.parametrize(("days_ago", "counts"), [(365, True), (430, False)])
def test_the_errors_of_last_winter_count_and_those_of_the_winter_before_do_not(days_ago: int, counts: bool) -> None:
    actual, issued = past(500)
    calm_low, calm_high = signed_distances(actual, issued, 4 * LEVEL)
    winter = np.arange(500 - days_ago, 560 - days_ago, 2)
    actual[winter], issued[:, winter] = 400 + 20 * (actual[winter] - 100), 400.0
    low, high = signed_distances(actual, issued, 4 * LEVEL)
    growth = (high - low).mean() / (calm_high - calm_low).mean()
    assert growth > 1.5 if counts else growth < 1.1


LEADS, HOURS = 7, 24
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
