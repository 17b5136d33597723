"""A run of prices at one step, compared with dictionaries that follow the definition directly."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.core.market import HOUR_S, QUARTER_S, hourly_prices
from tunnihind.price_series import PriceSeries

START = 1_765_753_200
"""2025-12-14T23:00Z, the first hour of delivery day 2025-12-15."""

STEPS = st.sampled_from([QUARTER_S, HOUR_S])
PRICES = st.dictionaries(st.integers(-9, 40), st.floats(-500, 4000), max_size=30)


def series(prices: dict[int, float], step_s: int) -> tuple[PriceSeries, dict[int, float]]:
    """Return prices by the number of their period, as a series and as a dictionary in order of time."""
    by_start = {START + number * step_s: prices[number] for number in sorted(prices)}
    return PriceSeries.of("ee", step_s, by_start), by_start


@given(PRICES, STEPS)
def test_a_series_is_a_mapping_of_the_known_prices_in_order(prices: dict[int, float], step_s: int) -> None:
    found, expected = series(prices, step_s)
    assert found == expected
    assert list(found) == list(expected)
    assert len(found) == len(expected)
    assert found.newest_ts == max(expected, default=None)
    assert found.is_whole == (found.eur_mwh.size == len(expected))
    assert all(ts not in found for ts in found.starts.tolist() if ts not in expected)
    assert START + 1 not in found


@given(PRICES, STEPS, st.integers(-12, 45), st.integers(-12, 45))
def test_a_window_holds_the_prices_inside_it(prices: dict[int, float], step_s: int, first: int, last: int) -> None:
    found, expected = series(prices, step_s)
    low, high = START + first * step_s, START + last * step_s
    window = found.between(low, high)
    assert window == {ts: price for ts, price in expected.items() if low <= ts < high}
    assert (window.start_ts, window.end_ts) == (low, max(low, high))
    np.testing.assert_array_equal(window.eur_mwh, found.prices_at(np.arange(low, high, step_s)))


@given(PRICES)
def test_an_hour_of_quarters_is_the_mean_of_its_four(prices: dict[int, float]) -> None:
    quarters, by_start = series(prices, QUARTER_S)
    hours = quarters.means(HOUR_S)
    assert hours.step_s == HOUR_S
    assert dict(hours) == pytest.approx(hourly_prices(by_start))


def test_hours_are_their_own_hours() -> None:
    hours, _ = series({0: 1.0}, HOUR_S)
    assert hours.means(HOUR_S) is hours


def test_instants_between_two_periods_have_no_price() -> None:
    quarters, _ = series({0: 1.0, 1: 2.0}, QUARTER_S)
    found = quarters.prices_at(np.array([START, START + 1, START + QUARTER_S, START - QUARTER_S]))
    np.testing.assert_array_equal(found, [1.0, np.nan, 2.0, np.nan])


def test_a_price_off_the_step_is_refused() -> None:
    with pytest.raises(ValueError, match="is not the start of a period of 3600 s"):
        PriceSeries.of("ee", HOUR_S, {START + QUARTER_S: 1.0})


def test_the_delivery_day_of_the_newest_price_is_that_of_central_europe() -> None:
    assert series({-1: 1.0}, HOUR_S)[0].newest_day == date(2025, 12, 14)
    assert series({0: 1.0}, HOUR_S)[0].newest_day == date(2025, 12, 15)
    assert series({}, HOUR_S)[0].newest_day is None
