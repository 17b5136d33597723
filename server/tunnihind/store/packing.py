"""Arrays of hours and quarters as bytes: little-endian, so that a database moves between machines."""

import zlib
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known import Floats

_SINGLE: Final = np.dtype("<f4")
_SHORT: Final = np.dtype("<i2")
_WHOLE: Final = np.dtype("<i4")
_DOUBLE: Final = np.dtype("<f8")

_LEVEL: Final = 9
"""zlib's best compression: a run is written once and kept for years."""

SCALED_BYTES: Final = _SHORT.itemsize
SINGLE_BYTES: Final = _SINGLE.itemsize
"""The size of one packed covariate value, with a scale and without one."""

_SCALES: Final = (1, 10, 4, 100)
"""Forecasts come as whole numbers, with one or two decimals, or as the mean of four whole numbers."""
_UNKNOWN: Final = -32_768
_HIGHEST: Final = 32_767
HUNDREDTHS: Final = 100
"""The scale of percentiles: forecasts are rounded to 2 decimals."""
_HIGHEST_PRICE: Final = 1e6
"""Far beyond any market's cap, EUR/MWh."""
_NO_FIGURE: Final = -2 * _HIGHEST_PRICE


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


def pack_issue(values: NDArray[np.float32]) -> tuple[bytes, int | None]:
    """Pack what was issued at once, without loss: as `pack_covariate` does, but changes from hour to hour, compressed.

    The scale returned is then negative. That takes about a third of the room.
    """
    packed, scale = pack_covariate(values)
    if scale is None:
        return packed, None
    # Short integers wrap around, forth and back.
    changes = np.diff(np.frombuffer(packed, _SHORT), prepend=np.int16(0)).astype(_SHORT)
    return zlib.compress(_by_byte(changes), _LEVEL), -scale


def unpack_covariate(packed: bytes, scale: int | None) -> NDArray[np.float32]:
    """Undo `pack_covariate` and `pack_issue`. Raises ValueError where it is damaged."""
    if scale is None:
        return np.frombuffer(packed, _SINGLE).astype(np.float32)
    if scale == 0:
        raise ValueError("its scale is 0")
    if scale > 0:
        whole = np.frombuffer(packed, _SHORT)
    else:
        whole = _from_bytes(_decompressed(packed, "series"), _SHORT, "series").cumsum(dtype=_SHORT)
    return np.where(whole == _UNKNOWN, np.nan, whole / abs(scale)).astype(np.float32)


def unpack_covariates(packed: Sequence[bytes], scales: Sequence[int | None]) -> list[NDArray[np.float32]]:
    """Undo `pack_covariate` and `pack_issue` for many at once, much faster. Raises ValueError where one is damaged."""
    alike: dict[tuple[int | None, int], list[int]] = {}
    content = list(packed)
    for place, scale in enumerate(scales):
        if scale is not None and scale < 0:
            content[place] = _decompressed(packed[place], "series")
        alike.setdefault((scale, len(content[place])), []).append(place)
    unpacked: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(content)
    for (scale, _), places in alike.items():
        together = _unpacked_alike([content[place] for place in places], scale)
        for place, values in zip(places, together, strict=True):
            unpacked[place] = values
    return unpacked


def _unpacked_alike(content: list[bytes], scale: int | None) -> NDArray[np.float32]:
    """Return the values of series of one length and scale, (series, hours)."""
    joined = b"".join(content)
    if scale is None:
        return np.frombuffer(joined, _SINGLE).astype(np.float32).reshape(len(content), -1)
    if scale == 0:
        raise ValueError("a scale is 0")
    if scale > 0:
        whole = np.frombuffer(joined, _SHORT).reshape(len(content), -1)
    else:
        by_byte = np.frombuffer(joined, np.uint8).reshape(len(content), _SHORT.itemsize, -1)
        whole = by_byte.transpose(0, 2, 1).copy().view(_SHORT)[..., 0].cumsum(axis=1, dtype=_SHORT)
    # To the bit what double precision rounds to: a quotient of two numbers as short as these is.
    values = np.divide(whole, np.float32(abs(scale)), dtype=np.float32)
    values[whole == _UNKNOWN] = np.nan
    return values


def pack_prices(values: Floats) -> bytes:
    """Pack prices in double precision: what was issued comes back to the last bit."""
    return values.astype(_DOUBLE).tobytes()


def unpack_prices(packed: bytes) -> Floats:
    """Undo `pack_prices`."""
    return np.frombuffer(packed, _DOUBLE).astype(np.float64)


def pack_percentiles(*percentiles: Floats) -> tuple[list[bytes], Literal[100] | None]:
    """Pack p10, p50 and p90 without loss: as whole hundredths where they are rounded to these, and that scale.

    What is packed is the change from one period to the next, compressed. That takes a fifth of what `pack_prices` does,
    which packs them where they are not rounded; there is no scale then.
    """
    hundredths = [_hundredths(values) for values in percentiles]
    if any(whole is None for whole in hundredths):
        return [pack_prices(values) for values in percentiles], None
    return [_pack_changes(whole) for whole in hundredths if whole is not None], HUNDREDTHS


def unpack_percentiles(*packed: bytes, scale: Literal[100] | None) -> tuple[Floats, Floats, Floats]:
    """Undo `pack_percentiles`. Raises ValueError where they are not of the same periods, cross or are damaged."""
    unpack = unpack_prices if scale is None else partial(_unpack_changes, what="percentiles")
    p10, p50, p90 = (unpack(one) for one in packed)
    if not p10.size == p50.size == p90.size:
        raise ValueError("its percentiles are not of the same periods")
    # Compared before any arithmetic: values that are not finite fail here too.
    if not ((p10 >= -_HIGHEST_PRICE) & (p10 <= p50) & (p50 <= p90) & (p90 <= _HIGHEST_PRICE)).all():
        raise ValueError("a percentile is no price, or they cross")
    return p10, p50, p90


def pack_figures(figures: Floats) -> bytes:
    """Pack numbers as whole hundredths, NaN among them; all of them within ±`_HIGHEST_PRICE`."""
    return _pack_changes(np.rint(np.where(np.isnan(figures), _NO_FIGURE, figures) * HUNDREDTHS).astype(np.int32))


def unpack_figures(packed: bytes, count: int) -> Floats:
    """Undo `pack_figures`. Raises ValueError where they are not that many."""
    figures = _unpack_changes(packed, "figures")
    if figures.size != count:
        raise ValueError(f"it has {figures.size} figures")
    return np.where(figures == _NO_FIGURE, np.nan, figures)


def pack_paths(paths: Floats) -> bytes:
    """Pack price paths (paths, hours), rounded to hundredths, without loss. Raises ValueError for what is no price."""
    whole = _hundredths(paths)
    if whole is None:
        raise ValueError("a path has a price that is none, or more than two decimals")
    return _pack_changes(whole.ravel())


def unpack_paths(packed: bytes, paths: int) -> Floats:
    """Undo `pack_paths`. Raises ValueError where they are damaged, or can't be so many."""
    prices = _unpack_changes(packed, "paths")
    if not prices.size or prices.size % paths or not (np.abs(prices) <= _HIGHEST_PRICE).all():
        raise ValueError(f"its paths hold {prices.size} prices, which make no {paths} paths")
    return prices.reshape(paths, -1)


def pack_text(text: str) -> bytes:
    """Compress a text."""
    return zlib.compress(text.encode(), _LEVEL)


def unpack_text(packed: bytes, what: str) -> str:
    """Undo `pack_text`. Raises ValueError, which says `what` can't be unpacked."""
    return _decompressed(packed, what).decode()


def _decompressed(packed: bytes, what: str) -> bytes:
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"its {what} can't be unpacked: {error}") from error


def _hundredths(values: Floats) -> NDArray[np.int32] | None:
    """Return prices in hundredths of a euro, None where they would not come back to the last bit."""
    if not (np.abs(values) <= _HIGHEST_PRICE).all():
        return None
    whole = np.rint(values * HUNDREDTHS).astype(np.int32)
    return whole if (whole / HUNDREDTHS).tobytes() == values.tobytes() else None


def _pack_changes(whole: NDArray[np.int32]) -> bytes:
    changes = np.diff(whole, prepend=np.int32(0)).astype(_WHOLE)
    return zlib.compress(_by_byte(changes), _LEVEL)


def _unpack_changes(packed: bytes, what: str) -> Floats:
    changes = _from_bytes(_decompressed(packed, what), _WHOLE, what)
    prices: Floats = changes.cumsum(dtype=np.int64) / HUNDREDTHS
    return prices


def _by_byte(numbers: NDArray[Any]) -> bytes:
    """Return all first bytes, then all second ones: the upper ones are nearly all the same, which compresses well."""
    return numbers.view(np.uint8).reshape(-1, numbers.itemsize).T.tobytes()


def _from_bytes(split: bytes, kind: np.dtype[Any], what: str) -> NDArray[Any]:
    """Undo `_by_byte`. Raises ValueError, which says `what` can't be unpacked."""
    if len(split) % kind.itemsize:
        raise ValueError(f"its {what} can't be unpacked: they have {len(split)} bytes")
    return np.frombuffer(split, np.uint8).reshape(kind.itemsize, -1).T.copy().view(kind).ravel()
