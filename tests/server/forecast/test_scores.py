import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tunnihind.forecast.scoring.scores import (
    Scores,
    coverage,
    mean_absolute_error,
    pinball_loss,
    skill,
    winkler_score,
)

ACTUAL = np.array([10.0, 20.0, -30.0, 100.0])
P10 = np.array([0.0, 20.0, -10.0, 0.0])
P50 = np.array([12.0, 25.0, 0.0, 40.0])
P90 = np.array([20.0, 40.0, 10.0, 80.0])
BASELINE = np.array([30.0, 20.0, -30.0, 0.0])


def test_mae_by_hand() -> None:
    assert mean_absolute_error(ACTUAL, P50) == (2 + 5 + 30 + 60) / 4


def test_pinball_loss_by_hand_weighs_the_two_sides_by_the_level() -> None:
    assert pinball_loss(np.array([10.0, -10.0]), np.zeros(2), 0.9) == pytest.approx((0.9 * 10 + 0.1 * 10) / 2)
    assert pinball_loss(np.array([10.0]), np.zeros(1), 0.1) == pytest.approx(1)
    assert pinball_loss(np.array([-10.0]), np.zeros(1), 0.1) == pytest.approx(9)


def test_winkler_score_by_hand_is_width_and_ten_times_what_lies_outside() -> None:
    assert winkler_score(ACTUAL, P10, P90) == pytest.approx((20 + 20 + (20 + 10 * 20) + (80 + 10 * 20)) / 4)


def test_winkler_score_is_ten_times_the_two_outer_pinball_losses() -> None:
    outer = pinball_loss(ACTUAL, P10, 0.1) + pinball_loss(ACTUAL, P90, 0.9)
    assert winkler_score(ACTUAL, P10, P90) == pytest.approx(10 * outer)


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
