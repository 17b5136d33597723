"""The saving of plans by the forecast, as a share of the possible saving."""

import math
from datetime import date, timedelta
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, WEEK_S, day_start, hours_of
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult
from tunnihind.forecast.scoring.decisions import (
    PLAN_HOURS,
    PlanScores,
    PricesWithForecasts,
    Savings,
    boiler_eur_a_year,
    day_savings,
    saving,
    savings,
    week_savings,
)
from tunnihind.forecast.scoring.report import BacktestReport
from tunnihind.known import Floats
from tunnihind.price_series import PriceSeries

PRICES = st.floats(-500, 4000).map(lambda price: round(price, 2))
DAYS = st.sampled_from([23, 24, 25, 92, 96, 100]).flatmap(lambda n: st.lists(PRICES, min_size=n, max_size=n))


def told(actual: list[float], forecast: list[float]) -> PricesWithForecasts:
    """Return a day whose two naive forecasts have the same price for all hours."""
    flat = np.zeros(len(actual))
    return PricesWithForecasts(np.array(actual), np.array(forecast), flat, flat)


@given(DAYS, st.integers(1, 23))
def test_a_perfect_forecast_catches_all_and_no_other_more(prices: list[float], periods: int) -> None:
    actual = np.array(prices)
    rng = np.random.default_rng(len(prices))
    best = saving(actual, actual, periods)
    assert best >= saving(actual, rng.permutation(actual), periods) - 1e-9
    assert best >= -1e-9


@given(st.lists(PRICES, min_size=24, max_size=24, unique=True), st.sampled_from(PLAN_HOURS))
def test_a_reversed_forecast_loses_what_it_could_have_saved(prices: list[float], hours: int) -> None:
    found = savings(told(prices, [-price for price in prices]), hours)
    assert found is not None
    assert found.ideal > 0 > found.forecast
    assert PlanScores.of([found]).share < 0


@given(
    st.lists(st.integers(-5, 5).map(float), min_size=8, max_size=8),
    st.lists(st.integers(-3, 3).map(float), min_size=8, max_size=8),
    st.integers(1, 8),
)
def test_it_is_what_trying_all_choices_finds_of_equal_ones_the_earliest(
    prices: list[float], forecast: list[float], periods: int
) -> None:
    # `combinations` yields choices in the order of their positions, and `min` takes the first of equals.
    taken = min(combinations(range(8), periods), key=lambda chosen: sum(forecast[row] for row in chosen))
    expected = sum(prices) / 8 - sum(prices[row] for row in taken) / periods
    assert saving(np.array(prices), np.array(forecast), periods) == pytest.approx(expected)


def test_days_on_which_little_can_be_saved_count_for_little() -> None:
    calm, wild = Savings(-1.0, 0.0, 0.0, 1.0), Savings(90.0, 0.0, 0.0, 99.0)
    assert PlanScores.of([calm, wild]).share == pytest.approx(0.89)


@pytest.mark.parametrize("column", PricesWithForecasts._fields)
def test_a_day_with_a_hole_in_a_price_or_a_forecast_is_left_out(column: str) -> None:
    whole = told([float(n) for n in range(24)], [1.0] * 24)
    hole = np.where(np.arange(24) == 7, np.nan, getattr(whole, column))
    assert day_savings(whole).keys() == set(PLAN_HOURS)
    assert day_savings(whole._replace(**{column: hole})) == {}
    assert week_savings([whole] * 6 + [whole._replace(**{column: hole})]) is None


@given(PRICES, st.sampled_from([23, 24, 25, 92, 96, 100]), st.sampled_from(PLAN_HOURS))
@example(183.83, 100, 1)
def test_without_a_plan_or_with_prices_all_alike_there_is_no_share(price: float, periods: int, hours: int) -> None:
    flat = savings(told([price] * periods, [1.0] * periods), hours)
    assert flat == Savings(0.0, 0.0, 0.0, 0.0)
    for none in (PlanScores.of([]), PlanScores.of([flat])):
        assert math.isnan(none.share)
        assert math.isnan(none.baseline_share)


def test_quarters_are_planned_as_quarters_so_that_an_hour_may_be_split() -> None:
    prices = np.arange(96, dtype=np.float64)[::-1]
    quarters = PricesWithForecasts(prices, prices, prices, prices)
    assert day_savings(quarters, QUARTER_S)[3].ideal == prices.mean() - np.arange(12).mean()


def test_a_week_takes_its_hours_from_all_seven_days() -> None:
    days = [told([price] * 24, [price] * 24) for price in (70.0, 60.0, 50.0, 40.0, 30.0, 20.0, 10.0)]
    found = week_savings(days)
    assert found is not None
    assert found.forecast == found.ideal == 40.0 - 10.0
    assert week_savings(days[:6]) is None


def test_a_boiler_uses_nine_kilowatt_hours_a_day() -> None:
    assert boiler_eur_a_year(100.0) == pytest.approx(0.1 * 9 * 365)


def issued(first: date, days: int, *, published: int = 0, p50: Floats | None = None) -> BacktestResult:
    """Return a week's forecasts issued on each of some days.

    Only the prices of the first `published` days are known.
    """
    rng = np.random.default_rng(5)
    start = day_start(first) - WEEK_S
    hours = (day_start(first + timedelta(days=days + 8)) - start) // HOUR_S
    truth = PriceSeries("ee", HOUR_S, start, rng.normal(80, 30, hours))
    rows = [
        (day_start(day) + 10 * HOUR_S, ts, lead)
        for day in (first + timedelta(days=n) for n in range(days))
        for lead in range(1, 8)
        for ts in hours_of(day + timedelta(days=lead))[published if lead == 1 else 0 :]
    ]
    at, targets, leads = (np.array(column) for column in zip(*rows, strict=True))
    said = truth.prices_at(targets)
    return BacktestResult.of(BacktestForecasts(at, targets, leads, said - 9, said, said + 9, said + targets % 7), truth)


@pytest.mark.parametrize("first", [date(2025, 3, 20), date(2025, 10, 15)])
def test_a_backtest_scores_days_of_23_and_25_hours_too(first: date) -> None:
    decisions = BacktestReport.of(issued(first, 14), ESTONIA).decisions
    assert {lead: plans[4].n for lead, plans in decisions.by_days_ahead.items()} == dict.fromkeys(range(1, 8), 14)
    assert {plans[hours].share for plans in decisions.by_days_ahead.values() for hours in PLAN_HOURS} == {1.0}
    assert (decisions.week.n, decisions.week.share) == (14, 1.0)
    assert decisions.week.baseline_share < 1


def test_a_day_that_is_partly_published_is_no_decision_of_the_forecast() -> None:
    decisions = BacktestReport.of(issued(date(2025, 5, 1), 3, published=1), ESTONIA).decisions
    assert sorted(decisions.by_days_ahead) == [2, 3, 4, 5, 6, 7]
    assert decisions.week.n == 0
