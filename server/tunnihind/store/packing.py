"""Hourly arrays as bytes: little-endian, so that a database moves between machines."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.known import Floats

_SINGLE: Final = np.dtype("<f4")
_SHORT: Final = np.dtype("<i2")
_DOUBLE: Final = np.dtype("<f8")

SCALED_BYTES: Final = _SHORT.itemsize
SINGLE_BYTES: Final = _SINGLE.itemsize
"""The size of one packed covariate value, with a scale and without one."""

_SCALES: Final = (1, 10, 4, 100)
"""Forecasts come as whole numbers, with one or two decimals, or as the mean of four whole numbers."""
_UNKNOWN: Final = -32_768
_HIGHEST: Final = 32_767
_HIGHEST_PRICE: Final = 1e6
"""Far beyond any market's cap, EUR/MWh."""


def pack_covariate(values: NDArray[np.float32]) -> tuple[bytes, int | None]:
    """Pack covariate values without loss: as short integers, divided by the scale returned, where that can be.

    With no scale they are in single precision, which is finer than any weather forecast.
    """
    known = ~np.isnan(values)
    for scale in _SCALES:
        whole = np.rint(np.where(known, values, 0).astype(np.float64) * scale)
        if (np.abs(whole) <= _HIGHEST).all() and np.array_equal(
            (whole / scale).astype(np.float32)[known], values[known]
        ):
            return np.where(known, whole, _UNKNOWN).astype(_SHORT).tobytes(), scale
    return values.astype(_SINGLE).tobytes(), None


def unpack_covariate(packed: bytes, scale: int | None) -> NDArray[np.float32]:
    """Undo `pack_covariate`."""
    if scale is None:
        return np.frombuffer(packed, _SINGLE).astype(np.float32)
    whole = np.frombuffer(packed, _SHORT)
    return np.where(whole == _UNKNOWN, np.nan, whole / scale).astype(np.float32)


def pack_prices(values: Floats) -> bytes:
    """Pack prices in double precision: what was issued comes back to the last bit."""
    return values.astype(_DOUBLE).tobytes()


def unpack_prices(packed: bytes) -> Floats:
    """Undo `pack_prices`."""
    return np.frombuffer(packed, _DOUBLE).astype(np.float64)


def unpack_percentiles(*packed: bytes) -> tuple[Floats, Floats, Floats]:
    """Undo `pack_prices` for p10, p50 and p90. Raises ValueError where they are not of the same hours, or cross."""
    p10, p50, p90 = (unpack_prices(one) for one in packed)
    if not p10.size == p50.size == p90.size:
        raise ValueError("its percentiles are not of the same hours")
    # Compared before any arithmetic: values that are not finite fail here too.
    if not ((p10 >= -_HIGHEST_PRICE) & (p10 <= p50) & (p50 <= p90) & (p90 <= _HIGHEST_PRICE)).all():
        raise ValueError("a percentile is no price, or they cross")
    return p10, p50, p90
