"""Hourly arrays as bytes, and back again."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tunnihind.store.packing import pack_covariate, unpack_covariate

NAN = float("nan")


def there_and_back(values: list[float]) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
    given_values = np.array(values, np.float32)
    packed, scale = pack_covariate(given_values)
    return given_values, unpack_covariate(packed, scale), len(packed)


@given(st.lists(st.floats(width=32)))
@example([327.67, -327.67, NAN])
@example([float("inf"), 1.0])
@example([16_777_217.0, 1.0])
def test_covariates_come_back_without_loss(values: list[float]) -> None:
    before, after, _ = there_and_back(values)
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(
    "values",
    [
        [812.0, 0.0, 32_767.0],  # radiation, W/m2
        [-31.4, 22.5, NAN],  # temperature
        [7.31, 0.02],  # wind speed
        [1403.25, 7998.75],  # the mean of four quarters, MW
    ],
)
def test_what_sources_tell_takes_two_bytes_an_hour(values: list[float]) -> None:
    _, _, size = there_and_back(values)
    assert size == 2 * len(values)
