"""Kernel ridge on whole days: 24 hours at once from a day's inputs in blocks of three hours.

The kernel is linear plus Gaussian. It sees all hours of the last days at once and interactions that the hour-wise
ridge cannot; alone it is no better, averaged with the ridges it is worth 1 to 2 %. Single precision is enough.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.calendar import CLOCK_HOURS
from tunnihind.forecast.model.columns import CALENDAR_COLUMNS, FAR_COLUMNS, OWN_COLUMNS
from tunnihind.forecast.model.next_day import LINEAR_COLUMNS
from tunnihind.forecast.model.vintages import Singles
from tunnihind.known import Floats

KERNEL_DAYS: Final = 600
MIN_KERNEL_DAYS: Final = 90

_BLOCK_HOURS: Final = 3
_HALF_LIFE_DAYS: Final = 300.0
_NOISE: Final = 0.5
_NOISE_GROWTH: Final = 0.5
"""The diagonal of the kernel matrix is `_NOISE` * (1 + `_NOISE_GROWTH` * (lead - 1)) / a day's weight."""
_SHARPNESS: Final = 1.5
_Z_CLIP: Final = 3.0
_ROBUST: Final = 0.3
_UNSEEN_ERROR: Final = 0.5
_FLAT: Final = 1e-3
_GROUP_SCALE: Final = {"own": 2.0, "calendar": 2.0, "far": 1.5, "neighbours": 1.0, "near": 3.0}
_BLOCK_DAYS: Final = 64
"""Size of the blocks in which the system is solved."""
_NEIGHBOUR_DAY_COLUMNS: Final = (1, 3, 5, 7, 9, 11, 12)


def day_inputs(
    base: Floats, neighbours: Floats, near: Floats | None, far_drivers: int, near_drivers: int
) -> tuple[Singles, Singles]:
    """Return day-level inputs (n, k) and the scale of their groups (k,), from the hourly columns (n, 24, ...).

    `base` begins with the columns of own prices, calendar and far drivers; `near` are those of next-day covariates.
    """
    first = base[:, 0]
    groups = {
        "own": [*(_blocks(base[..., column]) for column in (0, 1, 3, 6)), first[:, 8:17]],
        "calendar": [first[:, 17:27], first[:, 28:29], first[:, 30:34]],
        "far": [part for driver in range(far_drivers) for part in _far_inputs(base, driver)],
        "neighbours": [
            _blocks(neighbours[..., 0]),
            _blocks(neighbours[..., 8]),
            neighbours[:, 0][:, _NEIGHBOUR_DAY_COLUMNS],
        ],
        "near": _near_inputs(near, near_drivers),
    }
    inputs: list[Floats] = []
    scales: list[Floats] = []
    for name, parts in groups.items():
        if parts:
            inputs += parts
            width = sum(part.shape[1] for part in parts)
            scales.append(np.full(width, _GROUP_SCALE[name] / np.sqrt(width)))
    return np.concatenate(inputs, axis=1).astype(np.float32), np.concatenate(scales).astype(np.float32)


def _blocks(hourly: Floats) -> Floats:
    """Return means of three hours, (n, 24) -> (n, 8)."""
    means: Floats = hourly.reshape(len(hourly), CLOCK_HOURS // _BLOCK_HOURS, _BLOCK_HOURS).mean(axis=2)
    return means


def _far_inputs(base: Floats, driver: int) -> list[Floats]:
    """Return of a far driver's columns the target hours by blocks, and the day means."""
    at = OWN_COLUMNS + CALENDAR_COLUMNS + FAR_COLUMNS * driver
    return [_blocks(base[..., at]), base[:, 0, at + 3 : at + 9]]


def _near_inputs(near: Floats | None, drivers: int) -> list[Floats]:
    """Return of the next day's columns each driver by blocks and by day, and the supply curve; the second day's all."""
    if near is None:
        return []
    if near.shape[-1] < LINEAR_COLUMNS * drivers:
        return [near[:, 0]]
    starts = [LINEAR_COLUMNS * driver for driver in range(drivers)]
    hourly = [_blocks(near[..., start]) for start in starts]
    daily = [near[:, 0, start + 2 : start + 5] for start in starts]
    return [*hourly, *daily, _blocks(near[..., -2])]


@dataclass(frozen=True, slots=True)
class KernelFit:
    """A fitted day kernel over `rows` (days, k) with coefficients `alpha` (days, 24)."""

    rows: Singles
    norms: Singles
    mean: Singles
    sd: Singles
    scale: Singles
    alpha: Singles
    level: Singles

    @classmethod
    def of(cls, inputs: Singles, scale: Singles, y: Floats, error: Floats, lead: int) -> KernelFit | None:
        """Fit consecutive days (n, k), the newest last, to targets (n, 24), asinh scale; None with too few days.

        Days of a large past `error` (n,) weigh less.
        """
        use = np.isfinite(y).all(axis=1)
        if use.sum() < MIN_KERNEL_DAYS:
            return None
        age = np.arange(len(y))[::-1][use]
        inputs, target = inputs[use], y[use].astype(np.float32)
        weight = _weights(error[use], age)
        share = weight / weight.sum()
        mean = share @ inputs
        sd = np.sqrt(np.maximum(share @ inputs**2 - mean**2, 0))
        sd = np.where(sd < _FLAT, np.float32(1e6), sd)
        rows = _standard(inputs, mean, sd, scale)
        norms = (rows * rows).sum(axis=1)
        matrix = _kernel(rows, rows, norms, norms, norms.mean())
        diagonal = np.arange(len(rows))
        matrix[diagonal, diagonal] += np.float32(_NOISE * (1 + _NOISE_GROWTH * (lead - 1))) / weight
        level = share @ target
        return cls(rows, norms, mean, sd, scale, _solved(matrix, target - level), level)

    def predict(self, inputs: Singles) -> Floats:
        """Return the forecast of days, (n, k) -> (n, 24), asinh scale."""
        x = _standard(inputs, self.mean, self.sd, self.scale)
        matrix = _kernel(x, self.rows, (x * x).sum(axis=1), self.norms, self.norms.mean())
        return (self.level + matrix @ self.alpha).astype(np.float64)


def _weights(error: Floats, age: NDArray[np.intp]) -> Singles:
    size = np.where(np.isnan(error), _UNSEEN_ERROR, error)
    weights: Floats = 0.5 ** (age / _HALF_LIFE_DAYS) * _ROBUST / np.sqrt(size**2 + _ROBUST**2)
    return weights.astype(np.float32)


def _standard(inputs: Singles, mean: Singles, sd: Singles, scale: Singles) -> Singles:
    standard: Singles = np.clip((inputs - mean) / sd, -_Z_CLIP, _Z_CLIP) * scale
    return standard


def _kernel(a: Singles, b: Singles, a2: Singles, b2: Singles, unit: np.float32) -> Singles:
    """Return the linear plus the Gaussian kernel between rows, in units of the mean squared norm."""
    matrix: Singles = a @ b.T
    sharpness = np.float32(_SHARPNESS) / unit
    gaussian = matrix * (2 * sharpness)
    gaussian -= sharpness * a2[:, None]
    gaussian -= sharpness * b2
    np.exp(gaussian, out=gaussian)
    matrix /= unit
    matrix += gaussian
    return matrix


def _solved(matrix: Singles, right: Singles) -> Singles:
    """Return the solution (n, m) of a positive definite system (n, n), by elimination of blocks; both are used up.

    Most of the work is products of matrices in single precision: three times as fast as LAPACK's general solution,
    which numpy calls in double precision. Positive definite systems need no pivots (Golub & Van Loan, 4.2).
    """
    blocks = [slice(start, start + _BLOCK_DAYS) for start in range(0, len(matrix), _BLOCK_DAYS)]
    inverses: list[Singles] = []
    for block in blocks:
        rest = slice(block.stop, None)
        inverses.append(np.linalg.inv(matrix[block, block]))
        factor = matrix[rest, block] @ inverses[-1]
        matrix[rest, rest] -= factor @ matrix[block, rest]
        right[rest] -= factor @ right[block]
    for block, inverse in zip(reversed(blocks), reversed(inverses), strict=True):
        right[block] = inverse @ (right[block] - matrix[block, block.stop :] @ right[block.stop :])
    return right
