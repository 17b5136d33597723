import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tunnihind.forecast.intervals.error_quantiles import ERROR_DAYS, interval_offsets, weighted_quantiles
from tunnihind.forecast.run import LEADS

type Errors = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def normal_errors(days: int = ERROR_DAYS, scale: float = 10.0) -> Errors:
    return np.random.default_rng(7).normal(0, scale, (LEADS, days, 24))


def test_weighted_quantiles_by_hand() -> None:
    values = np.array([[30.0, 10.0, 20.0, 40.0]])
    assert weighted_quantiles(values, np.ones((1, 4)), (0.25, 0.5, 0.75)).ravel().tolist() == [10, 20, 30]
    assert weighted_quantiles(values, np.array([[1.0, 1.0, 1.0, 7.0]]), (0.1, 0.5)).ravel().tolist() == [10, 40]


def test_a_sample_without_weight_does_not_count() -> None:
    values = np.array([-1000.0, 1.0, 2.0, 1000.0])
    assert weighted_quantiles(values, np.array([0.0, 1.0, 1.0, 0.0]), (0.1, 0.9)).tolist() == [1, 2]


def test_offsets_are_the_quantiles_of_the_errors_when_many_are_known() -> None:
    lower, upper = interval_offsets(normal_errors(), 1)
    assert lower.mean() == pytest.approx(-12.8 * 90 / 92 - 80 * 2 / 92, abs=1)
    assert upper.mean() == pytest.approx(12.8 * 90 / 92 + 90 * 2 / 92, abs=1)


def test_sides_are_as_unequal_as_the_errors() -> None:
    lower, upper = interval_offsets(np.abs(normal_errors()) ** 2 - 20, 1)
    assert (upper > 4 * -lower).all()


def test_hours_of_large_errors_have_a_wide_interval_and_distant_ones_do_not() -> None:
    errors = normal_errors()
    errors[:, :, 17:20] *= 20
    width = np.diff(interval_offsets(errors, 1), axis=0)[0, 0]
    assert width[18] > 2 * width[6]


def test_recent_errors_count_more() -> None:
    calm_lately, wild_lately = normal_errors(), normal_errors()
    calm_lately[:, :45] *= 10
    wild_lately[:, 45:] *= 10
    assert interval_offsets(wild_lately, 1)[1].mean() > 1.3 * interval_offsets(calm_lately, 1)[1].mean()


def test_no_error_known_gives_a_wide_prior_that_widens_with_the_lead() -> None:
    lower, upper = interval_offsets(np.full((LEADS, 30, 24), np.nan), LEADS)
    assert (upper - lower > 160).all()
    assert (np.diff(upper - lower, axis=0) > 0).all()


def test_few_known_errors_leave_the_interval_near_the_prior() -> None:
    errors = np.full((LEADS, ERROR_DAYS, 24), np.nan)
    errors[:, -1] = 0.0
    few = np.diff(interval_offsets(errors, 1), axis=0)
    many = np.diff(interval_offsets(np.zeros((LEADS, ERROR_DAYS, 24)), 1), axis=0)
    assert (few > 100).all()
    assert (many < 10).all()


def test_stale_leads_are_at_least_as_wide_as_the_seventh_and_widen_on() -> None:
    offsets = interval_offsets(normal_errors(), 40)
    width = (offsets[1] - offsets[0])[LEADS - 1 :]
    assert offsets.shape == (2, 40, 24)
    assert (np.diff(width, axis=0) > 0).all()


@given(
    npst.arrays(np.float64, (LEADS, 5, 24), elements=st.one_of(st.just(np.nan), st.floats(-4500, 4500, width=32))),
    st.integers(1, 12),
)
def test_offsets_never_cross_nor_narrow_whatever_the_errors(errors: Errors, leads: int) -> None:
    lower, upper = interval_offsets(errors, leads)
    assert lower.shape == upper.shape == (leads, 24)
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    assert (lower <= 0).all()
    assert (upper >= 0).all()
    assert (np.diff(lower, axis=0) <= 0).all()
    assert (np.diff(upper, axis=0) >= 0).all()
