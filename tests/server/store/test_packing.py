"""Arrays of hours and quarters as bytes, and back again."""

import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from tunnihind.known import Floats
from tunnihind.store.packing import (
    pack_covariate_values,
    pack_hundredths,
    unpack_covariate_values,
    unpack_hundredths,
    unpack_percentiles,
)

NAN = float("nan")


def there_and_back(*values: list[float]) -> list[NDArray[np.float32]]:
    packed, scales = zip(*(pack_covariate_values(np.array(some, np.float32)) for some in values), strict=True)
    return unpack_covariate_values(packed, scales)


@given(
    st.lists(
        st.lists(st.integers(-400, 400).map(lambda tenths: tenths / 10) | st.just(NAN), max_size=4)
        | st.lists(st.floats(width=32), max_size=3),
        min_size=1,
        max_size=12,
    )
)
@example([[327.67, -327.67, NAN], [float("inf"), 1.0], [16_777_217.0, 1.0]])
def test_covariates_come_back_without_loss_alone_and_among_others(many: list[list[float]]) -> None:
    for found in (there_and_back(*many), [there_and_back(values)[0] for values in many]):
        for values, given_values in zip(found, many, strict=True):
            assert values.dtype == np.float32
            np.testing.assert_array_equal(values, np.array(given_values, np.float32))


@pytest.mark.parametrize(
    ("wrong", "scale"), [(b"abc", 1), (zlib.compress(b"abc"), 1), (b"abcd", 0), (zlib.compress(b"abc"), 0)]
)
@pytest.mark.parametrize("times", [1, 2, 4])
def test_a_damaged_series_among_many_is_noticed(wrong: bytes, scale: int, times: int) -> None:
    whole, whole_scale = pack_covariate_values(np.ones(3, np.float32))
    with pytest.raises(ValueError, match=r"."):
        unpack_covariate_values([whole, *[wrong] * times], [whole_scale, *[scale] * times])


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([812.0, 0.0, 32_767.0], 1),  # radiation, W/m2
        ([-31.4, 22.5, NAN], 10),  # temperature
        ([7.31, 0.02], 100),  # wind speed
        ([1403.25, 7998.75], 4),  # the mean of four quarters, MW
    ],
)
def test_what_sources_say_is_kept_as_short_integers(values: list[float], scale: int) -> None:
    assert pack_covariate_values(np.array(values, np.float32))[1] == scale


def percentiles_of(p50: Floats) -> list[Floats]:
    return [np.round(p50 + offset, 2) + 0.0 for offset in (-20, 0, 30)]


hundredths = st.integers(-999_999_99, 999_999_99).map(lambda whole: whole / 100)


@given(npst.arrays(np.float64, st.integers(0, 300), elements=hundredths | st.just(NAN)))
@example(np.array([0.29, -0.29, 4000.0, -500.0, 0.0, NAN, 1e6, NAN, -1e6]))
def test_numbers_of_two_decimals_come_back_to_the_last_bit(numbers: Floats) -> None:
    assert unpack_hundredths(pack_hundredths(numbers), "it").tobytes() == numbers.tobytes()


@pytest.mark.parametrize("number", [1 / 3, 0.005, 1e5 + 0.001, float("inf"), 1e9])
def test_other_numbers_are_not_packed(number: float) -> None:
    with pytest.raises(ValueError, match="a number"):
        pack_hundredths(np.array([1.0, number]))


def test_what_is_no_price_is_not_taken_for_one_when_read() -> None:
    with pytest.raises(ValueError, match="not a price"):
        unpack_percentiles(*[pack_hundredths(np.array([NAN]))] * 3)


def test_a_week_of_quarters_takes_a_quarter_of_its_double_precision() -> None:
    quarters = np.arange(7 * 96)
    noise = np.random.default_rng(0).normal(0, 2, quarters.size)
    before = percentiles_of(90 + 60 * np.sin(quarters * 2 * np.pi / 96) + noise)
    assert sum(len(pack_hundredths(values)) for values in before) < sum(values.nbytes for values in before) / 4


@pytest.mark.parametrize("wrong", [b"", b"x", "cut", "changed", "three bytes more"])
def test_damaged_percentiles_are_noticed(wrong: bytes | str) -> None:
    p10, p50, p90 = map(pack_hundredths, percentiles_of(np.arange(96, dtype=np.float64)))
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
        unpack_percentiles(p10, p50, p90)
