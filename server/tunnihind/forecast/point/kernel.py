"""A kernel ridge regression that predicts all 24 hours of a day together.

The kernel is the sum of a linear and a Gaussian kernel. Unlike the ridge regressions for single hours, the kernel
regression includes interactions between all inputs. The distance between two days depends most on the inputs with large
coefficients in a linear fit of all hours. The method is a diagonal recursive feature machine with linear features
(Radhakrishnan, Beaglehole, Pandit, Belkin 2024, Science 383, 1461; arXiv 2401.04553). The computation uses single
precision, which is accurate enough.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.columns.lead import CALENDAR, NEIGHBOURS, NEXT_DAY, OWN_PRICES, WEATHER
from tunnihind.forecast.columns.next_day import ALL_HOURS_CURVE, SUPPLY_CURVES, TIGHTNESS_HINGE_PREFIX
from tunnihind.forecast.columns.prices_and_calendar import NEIGHBOUR_PRICE_SUFFIX, WEEK_MEAN_COLUMN
from tunnihind.forecast.columns.table import ColumnNames, InputRows
from tunnihind.forecast.columns.weather import TARGET_HOURS_SUFFIX
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.vintages import Floats32
from tunnihind.forecast.point.ridge import robust_weight
from tunnihind.known import Floats

KERNEL_DAYS: Final = (900, 600, 600, 600, 600, 600, 600)
"""The largest number of past days in a kernel regression, by lead.

Lead 1 uses more past days than later leads, because prices depend on covariates more steadily at lead 1.
"""
MIN_KERNEL_DAYS: Final = 90

_BLOCK_HOURS: Final = 3
_HALF_LIFE_DAYS: Final = (500.0, 300.0, 300.0, 300.0, 300.0, 300.0, 300.0)
"""The half-lives of the weights of past days, by lead."""
_NOISE: Final = 0.5
_NOISE_GROWTH: Final = 0.5
"""`_NOISE` * (1 + `_NOISE_GROWTH` * (lead - 1)) / (weight of the day) is added to the kernel matrix's diagonal."""
_SHARPNESS: Final = 1.5
_SCALE_STEPS: Final = 2
_SCALE_NOISE: Final = 2.0
"""The penalty of the linear fits in `_input_scales`, as a multiple of the kernel regression's noise."""
_SCALE_SHARE_OF_MEAN: Final = 0.1
"""This fraction of the inputs' mean coefficient size is added to the scale of each input.

Without this addition, an input with only a non-linear effect would be ignored.
"""
_Z_CLIP: Final = 3.0
_LEAST_SD: Final = 1e-3
_FACTORED_ROWS: Final = 64
"""`_coefficients` factors this many rows of the kernel matrix at a time. More and fewer are slower."""
_OWN_HOURLY: Final = ("price_last_day", "price_day_before", "price_week_ago", WEEK_MEAN_COLUMN)
_NEXT_DAY_ENDINGS: Final = ("_daily", "_daily_change", "_daily_against_week")


def kernel_inputs(rows: InputRows, lead: int) -> Floats32:
    """Return the inputs of the kernel regression for each day, shape (days, inputs).

    From lead 2 on, hourly columns are averaged over blocks of three hours, because this saves time and costs no
    accuracy.
    """
    block = 1 if lead == 1 else _BLOCK_HOURS
    groups = (OWN_PRICES, CALENDAR, WEATHER, NEIGHBOURS, NEXT_DAY)
    parts = [part for group in groups for part in _group_inputs(group, rows, block)]
    return np.concatenate(parts, axis=1, dtype=np.float32)


def _group_inputs(group: str, rows: InputRows, block: int) -> list[Floats]:
    names = rows.names
    if not names.in_group(group):
        return []
    if group == WEATHER:
        return [part for driver in _weather_driver_names(names) for part in _weather_inputs(driver, rows, block)]
    if group == NEXT_DAY:
        return _next_day_inputs(rows, block)
    return [
        *(_block_means(rows.hourly(name), block) for name in _hourly_column_names(group, names)),
        rows.daily(names.daily_in_group(group)),
    ]


def _hourly_column_names(group: str, names: ColumnNames) -> tuple[str, ...]:
    """Return the names of the hourly columns to use from a group other than `WEATHER` and `NEXT_DAY`.

    From the neighbours' hourly columns, only the prices of the first and the last zone are used (see
    `Market.neighbours`).
    """
    if group == OWN_PRICES:
        return _OWN_HOURLY
    if group == NEIGHBOURS:
        first, *_, last = (name for name in names.in_group(group) if name.endswith(NEIGHBOUR_PRICE_SUFFIX))
        return first, last
    return ()


def _weather_driver_names(names: ColumnNames) -> list[str]:
    return [
        name.removesuffix(TARGET_HOURS_SUFFIX) for name in names.in_group(WEATHER) if name.endswith(TARGET_HOURS_SUFFIX)
    ]


def _weather_inputs(driver: str, rows: InputRows, block: int) -> list[Floats]:
    daily = [name for name in rows.names.daily_in_group(WEATHER) if name.startswith(f"{driver}_")]
    return [_block_means(rows.hourly(f"{driver}{TARGET_HOURS_SUFFIX}"), block), rows.daily(daily)]


def _next_day_inputs(rows: InputRows, block: int) -> list[Floats]:
    """Return the inputs from the columns of next-day drivers.

    At lead 1, only the hinges of the market tightness are averaged over blocks of three hours. At lead 2, next-day
    drivers have only daily columns.
    """
    names = rows.names
    if ALL_HOURS_CURVE not in names.in_group(NEXT_DAY):
        return [rows.daily(names.daily_in_group(NEXT_DAY))]
    drivers = [
        name.removesuffix("_daily_change") for name in names.in_group(NEXT_DAY) if name.endswith("_daily_change")
    ]
    return [
        *(_block_means(rows.hourly(driver), block) for driver in drivers),
        *(rows.daily(f"{driver}{ending}" for ending in _NEXT_DAY_ENDINGS) for driver in drivers),
        *(_block_means(rows.hourly(curve), block) for curve in SUPPLY_CURVES),
        *(
            _block_means(rows.hourly(name), _BLOCK_HOURS)
            for name in names.in_group(NEXT_DAY)
            if name.startswith(TIGHTNESS_HINGE_PREFIX)
        ),
    ]


def _block_means(hourly: Floats, block: int) -> Floats:
    """Average hourly values over blocks of `block` hours. The shape (days, 24) becomes (days, 24 / block)."""
    means: Floats = hourly.reshape(len(hourly), CLOCK_HOURS // block, block).mean(axis=2)
    return means


@dataclass(frozen=True, slots=True)
class KernelFit:
    """A fitted kernel regression.

    `rows` (days, inputs) holds the standardised and scaled inputs of the fitted days, and `norms` (days,) their squared
    norms. `mean`, `sd` and `scale` (inputs,) hold the weighted mean, the weighted standard deviation and the scale of
    each input. If an input is nearly constant, its `sd` is 1e6. `level` (24,) holds the weighted mean price of each
    hour. `alpha` (days, 24) holds the coefficients.
    """

    rows: Floats32
    norms: Floats32
    mean: Floats32
    sd: Floats32
    scale: Floats32
    alpha: Floats32
    level: Floats32

    @classmethod
    def of(cls, inputs: Floats32, y: Floats, error: Floats, lead: int) -> KernelFit | None:
        """Fit the kernel regression to `inputs` (n, inputs) and the prices `y` (n, 24) on the asinh scale.

        If fewer than `MIN_KERNEL_DAYS` days have all prices, return None. The n days must be consecutive, with the
        newest day last. `error` (n,) holds the size of each day's forecast error on the asinh scale, or NaN. Days with
        large errors get less weight.
        """
        use = np.isfinite(y).all(axis=1)
        if use.sum() < MIN_KERNEL_DAYS:
            return None
        age = np.arange(len(y))[::-1][use]
        inputs, target = inputs[use], y[use].astype(np.float32)
        weight = _day_weights(error[use], age, _HALF_LIFE_DAYS[lead - 1])
        share = weight / weight.sum()
        mean = share @ inputs
        sd = np.sqrt(np.maximum(share @ inputs**2 - mean**2, 0))
        sd = np.where(sd < _LEAST_SD, np.float32(1e6), sd)
        level = share @ target
        target -= level
        noise = np.float32(_NOISE * (1 + _NOISE_GROWTH * (lead - 1)))
        z = _standardised(inputs, mean, sd)
        scale = _input_scales(z, weight, target, noise)
        rows = z * scale
        norms = (rows * rows).sum(axis=1)
        return cls(rows, norms, mean, sd, scale, _coefficients(rows, norms, noise / weight, target), level)

    def predict(self, inputs: Floats32) -> Floats:
        """Return the forecast prices on the asinh scale, shape (n, 24). `inputs` (n, inputs) holds n days' inputs."""
        x = _standardised(inputs, self.mean, self.sd) * self.scale
        matrix = _kernel_matrix(x, self.rows, (x * x).sum(axis=1), self.norms, self.norms.mean())
        return (self.level + matrix @ self.alpha).astype(np.float64)


def _day_weights(error: Floats, age: NDArray[np.intp], half_life_days: float) -> Floats32:
    return (0.5 ** (age / half_life_days) * robust_weight(error)).astype(np.float32)


def _standardised(inputs: Floats32, mean: Floats32, sd: Floats32) -> Floats32:
    standard: Floats32 = np.clip((inputs - mean) / sd, -_Z_CLIP, _Z_CLIP)
    return standard


def _input_scales(z: Floats32, weight: Floats32, target: Floats32, noise: np.float32) -> Floats32:
    """Return the scale of each input, shape (inputs,).

    An input's scale grows with the size of its coefficients in a linear fit of all hours. A second fit with the scaled
    inputs makes the scale of unimportant inputs even smaller.
    """
    weighted = (z * weight[:, None]).T
    gram, cross = weighted @ z, weighted @ target
    scale = np.ones(len(gram), np.float32)
    for _ in range(_SCALE_STEPS):
        mean_squared_norm = scale**2 @ gram.diagonal() / weight.sum()
        if mean_squared_norm == 0:  # all inputs or all prices are constant
            return np.ones_like(scale)
        system = gram * (scale[:, None] * (scale / mean_squared_norm))
        diagonal = np.arange(len(system))
        system[diagonal, diagonal] += _SCALE_NOISE * noise
        coefficients = np.linalg.solve(system, cross * (scale / mean_squared_norm)[:, None]) * scale[:, None]
        size = np.sqrt((coefficients**2).mean(axis=1))
        scale = size + _SCALE_SHARE_OF_MEAN * size.mean()
    return scale if scale.any() else np.ones_like(scale)


def _coefficients(rows: Floats32, norms: Floats32, noise: Floats32, target: Floats32) -> Floats32:
    """Return the coefficients of the kernel regression, shape (n, 24): (kernel matrix + diagonal noise)^-1 `target`.

    `rows` and `norms` are as in `KernelFit`, and `noise` (n,) holds the noise of each day. The matrix is symmetric and
    positive definite, so a Cholesky factor is computed, by blocks of rows (Golub, Van Loan 2013, Matrix Computations,
    section 4.2.6). The matrix itself is never whole in memory. `numpy.linalg.solve` would use no symmetry, and double
    precision, in three times the time.
    """
    n = len(rows)
    blocks = [slice(start, min(start + _FACTORED_ROWS, n)) for start in range(0, n, _FACTORED_ROWS)]
    # On and right of its diagonal blocks, `factor` holds L^T of the Cholesky factor L, followed by L^-1 `target`.
    factor = np.empty((n, n + target.shape[1]), np.float32)
    inverses: list[NDArray[np.floating]] = []
    for block in blocks:
        start, done = block.start, slice(block.start)
        right = np.concatenate(
            [_kernel_matrix(rows[block], rows[start:], norms[block], norms[start:], norms.mean()), target[block]],
            axis=1,
        )
        diagonal = np.arange(len(right))
        right[diagonal, diagonal] += noise[block]
        right -= factor[done, block].T @ factor[done, start:]
        inverses.append(np.linalg.inv(np.linalg.cholesky(right[:, : len(right)])))
        factor[block, start:] = inverses[-1] @ right
    x = factor[:, n:]
    for block, inverse in zip(reversed(blocks), reversed(inverses), strict=True):
        x[block] = inverse.T @ (x[block] - factor[block, block.stop : n] @ x[block.stop :])
    return x.copy()


def _kernel_matrix(a: Floats32, b: Floats32, a2: Floats32, b2: Floats32, mean_squared_norm: np.float32) -> Floats32:
    """Return the sum of the linear and the Gaussian kernel for each pair of a row in `a` and a row in `b`.

    `a2` and `b2` hold the squared norms of the rows in `a` and `b`. `mean_squared_norm` is the mean squared norm of the
    rows to which the kernel regression is fitted.
    """
    matrix: Floats32 = a @ b.T
    sharpness = np.float32(_SHARPNESS) / mean_squared_norm
    gaussian = matrix * (2 * sharpness)
    gaussian -= sharpness * a2[:, None]
    gaussian -= sharpness * b2
    np.exp(gaussian, out=gaussian)
    matrix /= mean_squared_norm
    matrix += gaussian
    return matrix
