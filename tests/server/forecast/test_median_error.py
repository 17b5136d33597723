import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.forecast.intervals.conformal import percentiles_of
from tunnihind.forecast.intervals.median_error import with_median_error
from tunnihind.forecast.known import Floats
from tunnihind.forecast.known_days.price_state import to_eur, to_scale
from tunnihind.market import Limits

LEADS, HOURS = 7, 24


def unsure(days: int) -> tuple[Floats, Floats]:
    """Return prices and forecasts of hours that are near 0 or near 100, and of hours whose forecasts are exact."""
    is_high = np.random.default_rng(1).random((days, HOURS)) < SHARE_OF_HIGH
    prices = np.where(SHARE_OF_HIGH == 0.5, 50.0, np.where(is_high, 100.0, 0.0))
    return prices, np.broadcast_to(100 * SHARE_OF_HIGH, (LEADS, days, HOURS)).copy()


SHARE_OF_HIGH = np.repeat([0.3, 0.5, 0.7], 8)


def test_p50_of_an_unsure_hour_moves_toward_the_prices_that_come_more_often() -> None:
    prices, issued = unsure(250)
    moved = with_median_error(issued[:, -1], prices, issued)
    assert (moved[:, :8] < 20).all()
    assert moved[:, 8:16] == pytest.approx(50)
    assert (moved[:, 16:] > 80).all()
    assert ((moved >= 0) & (moved <= 100)).all()


def test_the_error_of_another_level_does_not_count() -> None:
    prices, issued = unsure(250)
    issued[:, :, 0], prices[:, 0] = 400.0, 440.0
    assert with_median_error(np.full((LEADS, HOURS), 400.0), prices, issued) == pytest.approx(428, abs=2)


def test_an_error_that_all_levels_share_leaves_p50_as_it_is() -> None:
    issued = np.broadcast_to(np.linspace(20.0, 200.0, HOURS), (LEADS, 250, HOURS))
    prices = to_eur(to_scale(issued[0]) + 0.2)
    assert with_median_error(issued[:, -1], prices, issued) == pytest.approx(issued[:, -1])


def test_a_short_past_leaves_p50_as_it_is() -> None:
    prices, issued = unsure(250)
    p50 = issued[:, -1]
    assert with_median_error(p50, prices[-59:], issued[:, -59:]) == pytest.approx(p50)
    assert with_median_error(p50, prices[-60:], issued[:, -60:]) != pytest.approx(p50)


def test_a_day_without_prices_or_forecasts_does_not_count() -> None:
    prices, issued = unsure(200)
    p50 = issued[:, -1]
    gap = np.full((1, HOURS), np.nan)
    with_gap = np.concatenate([prices[:100], gap, prices[100:]])
    # A day's weight falls with its age, and half of the weight lies on the same side with and without the gap.
    same = np.concatenate([issued[:, :100], np.full((LEADS, 1, HOURS), 5000.0), issued[:, 100:]], axis=1)
    assert with_median_error(p50, with_gap, same) == pytest.approx(with_median_error(p50, prices, issued))


@given(seed=st.integers(0, 1000), spread=st.floats(0, 300))
def test_p50_stays_within_the_models_interval(seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    prices = rng.normal(40, 60, (90, HOURS))
    issued = prices + rng.normal(0, spread, (LEADS, 90, HOURS))
    p10, p50, p90 = percentiles_of(rng.normal(40, 60, (LEADS, HOURS)), prices, issued, Limits(-500.0, 4000.0))
    assert ((p10 <= p50) & (p50 <= p90)).all()
