"""Packs strings and arrays of numbers into bytes, and unpacks them.

Packed numbers are little-endian on every machine, so that a database can be moved to another machine. Whole numbers are
stored as differences between neighbours, because differences compress better than the numbers themselves.
"""

import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.known import Floats

_SINGLE: Final = np.dtype("<f4")
_SHORT: Final = np.dtype("<i2")
_WHOLE: Final = np.dtype("<i4")

_COMPRESSION_LEVEL: Final = 9
"""zlib's best compression. It is worth the time, because many rows are kept for years."""

_SCALES: Final = (1, 10, 4, 100)
"""One of these factors turns the values of most covariates into whole numbers, because most values have at most two
decimals or are means of four whole numbers."""
_UNSCALED: Final = 0
_UNKNOWN_SHORT: Final = -32_768
_HIGHEST_SHORT: Final = 32_767

_HUNDREDTHS: Final = 100
_UNKNOWN_WHOLE: Final = -(2**31)
HIGHEST_PRICE: Final = 1e6
"""The highest price in EUR/MWh that can be stored, far above any market's cap. The lowest is `-HIGHEST_PRICE`."""


def pack_hundredths(numbers: Floats) -> bytes:
    """Pack numbers with at most two decimals without loss. NaN is allowed.

    Raises ValueError if a number has more than two decimals or is beyond ±`HIGHEST_PRICE`.
    """
    flat = numbers.ravel()
    if (np.abs(flat) > HIGHEST_PRICE).any():
        raise ValueError("a number is too high to be packed")
    whole = np.where(np.isnan(flat), _UNKNOWN_WHOLE, np.rint(flat * _HUNDREDTHS)).astype(_WHOLE)
    if not np.array_equal(_from_hundredths(whole), flat, equal_nan=True):
        raise ValueError("a number has more than two decimals")
    return _compress_numbers(_differences(whole))


def unpack_hundredths(packed: bytes, what: str) -> Floats:
    """Unpack the result of `pack_hundredths` into a one-dimensional array.

    Raises ValueError if `packed` is damaged. `what` names the data in the error's text, for example "figures".
    """
    return _from_hundredths(_numbers_from_bytes([_decompress(packed, what)], _WHOLE, what)[0].cumsum(dtype=_WHOLE))


def _from_hundredths(whole: NDArray[np.int32]) -> Floats:
    return np.where(whole == _UNKNOWN_WHOLE, np.nan, whole / _HUNDREDTHS)


def unpack_percentiles(*packed: bytes) -> tuple[Floats, Floats, Floats]:
    """Unpack p10, p50 and p90.

    Raises ValueError if they are damaged, cross, have different lengths, or contain NaN or a price beyond
    ±`HIGHEST_PRICE`.
    """
    p10, p50, p90 = (unpack_hundredths(one, "percentiles") for one in packed)
    if not p10.size == p50.size == p90.size:
        raise ValueError("its percentiles have different numbers of periods")
    # With NaN, `<=` and `>=` are false, so NaN is refused.
    if not ((p10 >= -HIGHEST_PRICE) & (p10 <= p50) & (p50 <= p90) & (p90 <= HIGHEST_PRICE)).all():
        raise ValueError("a percentile is not a price, or the percentiles cross")
    return p10, p50, p90


def pack_covariate_values(values: NDArray[np.float32]) -> tuple[bytes, int]:
    """Pack a covariate's values without loss, and return the bytes and a scale. NaN is allowed.

    The scale is the first factor of `_SCALES` that turns all known values into 16-bit integers, and these integers
    are stored. If no factor does so, the values are stored in single precision, and the scale is 0.
    """
    known = ~np.isnan(values)
    for scale in _SCALES:
        whole = np.rint(np.where(known, values, 0).astype(np.float64) * scale)
        if (np.abs(whole) <= _HIGHEST_SHORT).all() and np.array_equal(
            (whole / scale).astype(np.float32)[known], values[known]
        ):
            return _compress_numbers(_differences(np.where(known, whole, _UNKNOWN_SHORT).astype(_SHORT))), scale
    return _compress_numbers(values.astype(_SINGLE)), _UNSCALED


def unpack_covariate_values(packed: Sequence[bytes], scales: Sequence[int]) -> list[NDArray[np.float32]]:
    """Unpack the values of many covariate forecasts. Raises ValueError if the bytes of one forecast are damaged.

    Unpacking all forecasts at once is much faster than unpacking them one by one.
    """
    content = [_decompress(one, "series") for one in packed]
    alike: dict[tuple[int, int], list[int]] = {}
    for place, (scale, one) in enumerate(zip(scales, content, strict=True)):
        alike.setdefault((scale, len(one)), []).append(place)
    unpacked: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(content)
    for (scale, _), places in alike.items():
        together = _values_of_same_length([content[place] for place in places], scale)
        for place, values in zip(places, together, strict=True):
            unpacked[place] = values
    return unpacked


def _values_of_same_length(content: Sequence[bytes], scale: int) -> NDArray[np.float32]:
    """Turn decompressed bytes of the same length and scale into an array with a row for each item of `content`."""
    if scale == _UNSCALED:
        return _numbers_from_bytes(content, _SINGLE, "series").astype(np.float32)
    whole = _numbers_from_bytes(content, _SHORT, "series").cumsum(axis=1, dtype=_SHORT)
    # 16-bit integers are exact in single precision, so these quotients equal the values that were packed.
    values: NDArray[np.float32] = np.divide(whole, np.float32(scale), dtype=np.float32)
    values[whole == _UNKNOWN_SHORT] = np.nan
    return values


def pack_text(text: str) -> bytes:
    """Compress a string."""
    return zlib.compress(text.encode(), _COMPRESSION_LEVEL)


def unpack_text(packed: bytes, what: str) -> str:
    """Unpack the result of `pack_text`.

    Raises ValueError if `packed` is damaged. `what` names the data in the error's text, for example "inputs".
    """
    return _decompress(packed, what).decode()


def _differences[Whole: np.int16 | np.int32](whole: NDArray[Whole]) -> NDArray[Whole]:
    """Return the difference of each number from the number before it, and of the first number from 0.

    If a difference overflows, the running sum that restores the numbers overflows too, so the numbers are still right.
    """
    return np.diff(whole, prepend=whole.dtype.type(0))


def _compress_numbers(numbers: NDArray[Any]) -> bytes:
    """Compress numbers, with the least significant bytes of all numbers first and the most significant bytes last.

    The most significant bytes have few different values, so bytes in this order compress well.
    """
    return zlib.compress(numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes(), _COMPRESSION_LEVEL)


def _numbers_from_bytes(sorted_bytes: Sequence[bytes], kind: np.dtype[Any], what: str) -> NDArray[Any]:
    """Undo the sorting of bytes in `_compress_numbers`, and return a row of numbers for each item of `sorted_bytes`.

    All items of `sorted_bytes` must have the same length. Raises ValueError if this length is not a multiple of
    `kind.itemsize`.
    """
    if len(sorted_bytes[0]) % kind.itemsize:
        raise ValueError(f"its {what} can't be unpacked: they have {len(sorted_bytes[0])} bytes")
    by_byte = np.frombuffer(b"".join(sorted_bytes), np.uint8).reshape(len(sorted_bytes), kind.itemsize, -1)
    numbers: NDArray[Any] = by_byte.transpose(0, 2, 1).copy().view(kind)[..., 0]
    return numbers


def _decompress(packed: bytes, what: str) -> bytes:
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"its {what} can't be unpacked: {error}") from error
