"""Arrays of hours and quarters as bytes, and back again."""

import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tunnihind.forecast.known import Floats
from tunnihind.store.packing import (
    HUNDREDTHS,
    pack_covariate,
    pack_issue,
    pack_percentiles,
    pack_prices,
    unpack_covariate,
    unpack_covariates,
    unpack_percentiles,
)

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


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(-400, 400).map(lambda tenths: tenths / 10) | st.just(NAN), max_size=4)
            | st.lists(st.floats(width=32), max_size=3),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_many_covariates_unpacked_at_once_are_what_each_is_alone(given_series: list[tuple[list[float], bool]]) -> None:
    packed, scales = [], []
    for values, at_once in given_series:
        content, scale = (pack_issue if at_once else pack_covariate)(np.array(values, np.float32))
        packed.append(content)
        scales.append(scale)
    alone = [unpack_covariate(content, scale) for content, scale in zip(packed, scales, strict=True)]
    together = unpack_covariates(packed, scales)
    assert [(one.dtype, one.tobytes()) for one in together] == [(one.dtype, one.tobytes()) for one in alone]


@pytest.mark.parametrize(("wrong", "scale"), [(b"abc", 1), (b"abc", -1), (zlib.compress(b"abc"), -1), (b"ab", 0)])
@pytest.mark.parametrize("times", [1, 2, 4])
def test_a_damaged_series_among_many_is_noticed(wrong: bytes, scale: int, times: int) -> None:
    whole, whole_scale = pack_issue(np.ones(3, np.float32))
    with pytest.raises(ValueError, match=r"."):
        unpack_covariates([whole, *[wrong] * times], [whole_scale, *[scale] * times])


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


def percentiles_of(p50: Floats) -> list[Floats]:
    return [np.round(p50 + offset, 2) + 0.0 for offset in (-20, 0, 30)]


rounded = st.integers(-500_00, 4000_00).map(lambda hundredths: hundredths / HUNDREDTHS)


@given(st.lists(rounded, max_size=300))
@example([0.29, -0.29, 4000.0, -500.0, 0.0])
def test_percentiles_of_two_decimals_come_back_to_the_last_bit(prices: list[float]) -> None:
    before = percentiles_of(np.array(prices, np.float64))
    packed, scale = pack_percentiles(*before)
    assert scale == HUNDREDTHS
    after = unpack_percentiles(*packed, scale=scale)
    assert [values.tobytes() for values in after] == [values.tobytes() for values in before]


@pytest.mark.parametrize("price", [1 / 3, -0.0, 0.005, 1e5 + 0.001])
def test_percentiles_that_are_not_rounded_come_back_to_the_last_bit_too(price: float) -> None:
    before = [np.array([1.0, price])] * 3
    packed, scale = pack_percentiles(*before)
    assert scale is None
    assert [values.tobytes() for values in unpack_percentiles(*packed, scale=scale)] == [before[0].tobytes()] * 3


@pytest.mark.parametrize("price", [NAN, float("inf"), 1e9])
def test_what_is_no_price_is_not_taken_for_one_when_read(price: float) -> None:
    packed, scale = pack_percentiles(*[np.array([price])] * 3)
    with pytest.raises(ValueError, match="no price"):
        unpack_percentiles(*packed, scale=scale)


def test_a_week_of_quarters_takes_a_quarter_of_its_double_precision() -> None:
    quarters = np.arange(7 * 96)
    noise = np.random.default_rng(0).normal(0, 2, quarters.size)
    before = percentiles_of(90 + 60 * np.sin(quarters * 2 * np.pi / 96) + noise)
    packed, _ = pack_percentiles(*before)
    assert sum(map(len, packed)) < sum(len(pack_prices(values)) for values in before) / 4


@pytest.mark.parametrize("wrong", [b"", b"x", "cut", "changed", "three bytes more"])
def test_damaged_percentiles_are_noticed(wrong: bytes | str) -> None:
    (p10, p50, p90), scale = pack_percentiles(*percentiles_of(np.arange(96, dtype=np.float64)))
    match wrong:
        case "cut":
            p10 = p10[:-5]
        case "changed":
            p10 = p10[:-6] + bytes([p10[-6] ^ 1]) + p10[-5:]
        case "three bytes more":
            p10 = zlib.compress(zlib.decompress(p10) + b"xxx")
        case bytes():
            p10 = wrong
    with pytest.raises(ValueError, match="its percentiles can't be unpacked"):
        unpack_percentiles(p10, p50, p90, scale=scale)
