"""The scores of forecasts, and the test of a difference between two forecasts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tunnihind.forecast.scoring.scores import (
    Scores,
    coverage,
    pinball_loss,
    skill,
)
from tunnihind.forecast.scoring.significance import ENOUGH_TEST_DAYS, LAGS, diebold_mariano, long_run_variance
from tunnihind.known import Floats

ACTUAL = np.array([10.0, 20.0, -30.0, 100.0])
P10 = np.array([0.0, 20.0, -10.0, 0.0])
P50 = np.array([12.0, 25.0, 0.0, 40.0])
P90 = np.array([20.0, 40.0, 10.0, 80.0])
BASELINE = np.array([30.0, 20.0, -30.0, 0.0])


def test_pinball_loss_by_hand_weighs_the_two_sides_by_the_level() -> None:
    assert pinball_loss(np.array([10.0, -10.0]), np.zeros(2), 0.9) == pytest.approx((0.9 * 10 + 0.1 * 10) / 2)
    assert pinball_loss(np.array([10.0]), np.zeros(1), 0.1) == pytest.approx(1)
    assert pinball_loss(np.array([-10.0]), np.zeros(1), 0.1) == pytest.approx(9)


def test_an_actual_on_the_bound_is_covered() -> None:
    assert coverage(np.array([0.0, 1.0, 2.0, 2.1]), np.zeros(4), np.full(4, 2.0)) == 0.75


def test_skill_is_the_part_of_the_baseline_error_that_is_gone() -> None:
    assert skill(30, 40) == 0.25
    assert skill(50, 40) == -0.25


def test_skill_against_a_faultless_baseline_is_undefined() -> None:
    assert math.isnan(skill(1, 0))


def test_scores_by_hand() -> None:
    scores = Scores.of(actual=ACTUAL, baseline=BASELINE, p10=P10, p50=P50, p90=P90)
    assert scores.n == 4
    assert scores.mae == 24.25
    assert scores.baseline_mae == (20 + 0 + 0 + 100) / 4
    assert scores.skill == pytest.approx(1 - 24.25 / 30)
    assert (scores.below10, scores.coverage80, scores.above90) == (0.25, 0.5, 0.25)
    assert scores.width == (20 + 20 + 20 + 80) / 4
    median_loss = 24.25 / 2
    outer = (1 + 0 + 18 + 10 + 1 + 2 + 4 + 18) / 4
    assert scores.pinball == pytest.approx((median_loss + outer) / 3)
    assert scores.winkler80 == pytest.approx(135)


def test_hours_without_actual_or_baseline_are_left_out() -> None:
    hole = np.array([np.nan, 20.0, -30.0, 100.0])
    scores = Scores.of(actual=hole, baseline=np.flip(hole), p10=P10, p50=P50, p90=P90)
    assert scores.n == 2
    assert scores.mae == (5 + 30) / 2


def test_no_hours_score_nothing_and_raise_nothing() -> None:
    none = np.empty(0)
    scores = Scores.of(actual=none, baseline=none, p10=none, p50=none, p90=none)
    assert scores.n == 0
    assert math.isnan(scores.mae)
    assert math.isnan(scores.skill)
    assert math.isnan(scores.winkler80)


@given(npst.arrays(np.float64, (4, 12), elements=st.floats(-500, 4000, width=32)))
def test_every_actual_is_below_inside_or_above(prices: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    p10, p50, p90 = np.sort(prices[:3], axis=0)
    scores = Scores.of(actual=prices[3], baseline=p10, p10=p10, p50=p50, p90=p90)
    assert scores.below10 + scores.coverage80 + scores.above90 == pytest.approx(1)
    assert scores.winkler80 >= scores.width >= 0


DAYS = np.arange(365)


def persistent_errors(rng: np.random.Generator, days: int) -> Floats:
    """Return absolute errors that stay large or small for about a week: a moving average over seven days."""
    shocks = rng.normal(size=days + 6)
    moving: Floats = np.abs(np.convolve(shocks, np.ones(7), mode="valid"))
    return moving


def test_without_lags_it_is_the_t_statistic_of_the_mean_difference() -> None:
    loss = np.random.default_rng(1).gamma(2, 20, size=40)
    outcome = diebold_mariano(loss, np.full(40, 45.0), np.arange(40), lags=0)
    t = (loss.mean() - 45) / (loss.std() / math.sqrt(40))
    assert outcome.days == 40
    assert outcome.t == pytest.approx(t)
    assert outcome.p == pytest.approx(math.erfc(abs(t) / math.sqrt(2)))


def test_long_run_variance_by_hand() -> None:
    series = np.array([1.0, 3.0, 2.0, 2.0])  # differences from its mean 2: -1, 1, 0, 0
    assert long_run_variance(series, 0) == pytest.approx(2 / 4)
    assert long_run_variance(series, 1) == pytest.approx((2 + 2 * 0.5 * -1) / 4)


def test_long_run_variance_is_bartletts_double_sum() -> None:
    series = np.random.default_rng(2).normal(size=60)
    apart = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    weights = np.maximum(0, 1 - apart / (LAGS + 1))
    centred = series - series.mean()
    assert long_run_variance(series, LAGS) == pytest.approx(centred @ weights @ centred / 60)


def test_persistent_errors_of_equal_forecasts_are_rarely_taken_for_a_difference() -> None:
    rng = np.random.default_rng(4)
    pairs = [(persistent_errors(rng, DAYS.size), persistent_errors(rng, DAYS.size)) for _ in range(300)]
    assert sum(diebold_mariano(*pair, DAYS).p < 0.05 for pair in pairs) < 0.15 * 300


def test_a_clearly_better_forecast_has_a_negative_t_and_a_small_p() -> None:
    rng = np.random.default_rng(5)
    loss = persistent_errors(rng, 365)
    outcome = diebold_mariano(loss, loss * 1.5 + rng.normal(size=365), DAYS)
    assert outcome.t < -3
    assert outcome.p < 0.003


def test_a_day_counts_once_however_many_hours_it_has_and_however_alike_they_are() -> None:
    rng = np.random.default_rng(7)
    loss, benchmark = persistent_errors(rng, 100), persistent_errors(rng, 100)
    hours = np.full(100, 24)
    hours[[10, 80]] = 23, 25
    by_hour = diebold_mariano(np.repeat(loss, hours), np.repeat(benchmark, hours), np.repeat(np.arange(100), hours))
    assert by_hour.days == 100
    assert by_hour.t == pytest.approx(diebold_mariano(loss, benchmark, np.arange(100)).t)


def test_hours_with_an_unknown_loss_are_left_out_of_both() -> None:
    rng = np.random.default_rng(8)
    loss, benchmark = persistent_errors(rng, 60), persistent_errors(rng, 60)
    holed, benchmark_holed = loss.copy(), benchmark.copy()
    holed[3], benchmark_holed[50] = np.nan, np.nan
    kept = np.delete(np.arange(60), [3, 50])
    outcome = diebold_mariano(holed, benchmark_holed, np.arange(60))
    assert outcome == diebold_mariano(loss[kept], benchmark[kept], kept)
    assert outcome.days == 58


def test_the_days_may_come_in_any_order() -> None:
    rng = np.random.default_rng(9)
    loss, benchmark, order = persistent_errors(rng, 60), persistent_errors(rng, 60), rng.permutation(60)
    shuffled = diebold_mariano(loss[order], benchmark[order], np.arange(60)[order])
    assert shuffled == diebold_mariano(loss, benchmark, np.arange(60))


@pytest.mark.parametrize("days", [0, 1, LAGS, ENOUGH_TEST_DAYS - 1])
def test_too_few_days_are_no_test(days: int) -> None:
    rng = np.random.default_rng(10)
    outcome = diebold_mariano(rng.random(days), rng.random(days), np.arange(days))
    assert outcome.days == days
    assert math.isnan(outcome.t)
    assert math.isnan(outcome.p)


@pytest.mark.parametrize("ahead", [0.0, 0.1])
def test_losses_that_differ_by_the_same_every_day_are_no_test(ahead: float) -> None:
    loss = persistent_errors(np.random.default_rng(11), 365)
    outcome = diebold_mariano(loss, loss + ahead, DAYS)
    assert outcome.days == 365
    assert math.isnan(outcome.t)
    assert math.isnan(outcome.p)


@given(npst.arrays(np.float64, (2, 40), elements=st.floats(0, 500, width=32)), st.floats(0.1, 100))
def test_it_turns_round_with_the_forecasts_and_does_not_depend_on_the_unit(
    losses: np.ndarray[tuple[int, int], np.dtype[np.float64]], unit: float
) -> None:
    ours, theirs = losses
    outcome = diebold_mariano(ours, theirs, np.arange(40))
    turned = diebold_mariano(theirs * unit, ours * unit, np.arange(40))
    assert turned.t == pytest.approx(-outcome.t, rel=1e-6, nan_ok=True)
    assert turned.p == pytest.approx(outcome.p, rel=1e-6, nan_ok=True)
    assert math.isnan(outcome.p) or 0 <= outcome.p <= 1
