"""Hourly arrays as bytes: little-endian, so that a database moves between machines."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.known import Floats

_SINGLE: Final = np.dtype("<f4")
_DOUBLE: Final = np.dtype("<f8")

COVARIATE_BYTES: Final = _SINGLE.itemsize
"""The size of one packed covariate value."""


def pack_covariate(values: NDArray[np.float32]) -> bytes:
    """Pack covariate values in single precision, which is finer than any weather forecast."""
    return values.astype(_SINGLE).tobytes()


def unpack_covariate(packed: bytes) -> NDArray[np.float32]:
    """Undo `pack_covariate`."""
    return np.frombuffer(packed, _SINGLE).astype(np.float32)


def pack_prices(values: Floats) -> bytes:
    """Pack prices in double precision: what was issued comes back to the last bit."""
    return values.astype(_DOUBLE).tobytes()


def unpack_prices(packed: bytes) -> Floats:
    """Undo `pack_prices`."""
    return np.frombuffer(packed, _DOUBLE).astype(np.float64)
