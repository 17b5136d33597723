"""Kernel ridge on whole days: 24 hours at once from a day's columns in blocks of three hours.

The kernel is linear plus Gaussian. It sees all hours of the last days at once and interactions that the hour-wise
ridge cannot; alone it is no better, averaged with the ridges it is worth 1 to 2 %. Single precision is enough.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.columns.lead import CALENDAR, NEIGHBOURS, NEXT_DAY, OWN, WEATHER
from tunnihind.forecast.columns.next_day import CURVE
from tunnihind.forecast.columns.prices_and_calendar import WEEK_MEAN
from tunnihind.forecast.columns.table import ColumnNames, Rows
from tunnihind.forecast.columns.weather import TARGET_HOURS
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.vintages import Singles
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
_GROUP_SCALE: Final = {OWN: 2.0, CALENDAR: 2.0, WEATHER: 1.5, NEIGHBOURS: 1.0, NEXT_DAY: 3.0}
_HOURLY: Final = {
    OWN: ("price_last_day", "price_day_before", "price_week_ago", WEEK_MEAN),
    NEIGHBOURS: ("lv_price", "fi_price"),
}
"""Hourly columns that the kernel reads in blocks; of most groups it reads all daily ones too."""
_NEXT_DAY_ENDINGS: Final = ("_daily", "_daily_change", "_daily_against_week")


def day_rows(rows: Rows) -> tuple[Singles, Singles]:
    """Return what the kernel reads of days, (n, k), and the scale of each (k,).

    Hourly columns come by blocks of three hours, daily ones as they are. A group weighs alike however many it has.
    """
    parts: list[Floats] = []
    scales: list[Floats] = []
    for group, scale in _GROUP_SCALE.items():
        of_group = _parts_of(group, rows)
        width = sum(part.shape[1] for part in of_group)
        parts += of_group
        scales.append(np.full(width, scale / np.sqrt(max(width, 1))))
    return np.concatenate(parts, axis=1).astype(np.float32), np.concatenate(scales).astype(np.float32)


def _parts_of(group: str, rows: Rows) -> list[Floats]:
    """Return what the kernel reads of a group of columns, each part (n, k)."""
    names = rows.names
    if not names.of(group):
        return []
    if group == WEATHER:
        return [part for driver in _drivers(names) for part in _weather_parts(driver, rows)]
    if group == NEXT_DAY:
        return _next_day_parts(rows)
    return [*(_blocks(rows.hourly(name)) for name in _HOURLY.get(group, ())), rows.daily(names.daily_of(group))]


def _drivers(names: ColumnNames) -> list[str]:
    """Return what the names of each weather driver's columns begin with."""
    return [name.removesuffix(TARGET_HOURS) for name in names.of(WEATHER) if name.endswith(TARGET_HOURS)]


def _weather_parts(driver: str, rows: Rows) -> list[Floats]:
    daily = [name for name in rows.names.daily_of(WEATHER) if name.startswith(f"{driver}_")]
    return [_blocks(rows.hourly(f"{driver}{TARGET_HOURS}")), rows.daily(daily)]


def _next_day_parts(rows: Rows) -> list[Floats]:
    """Return of the first lead each driver by blocks and by day, and the supply curve; of the second all there is."""
    names = rows.names
    if CURVE not in names.of(NEXT_DAY):
        return [rows.daily(names.daily_of(NEXT_DAY))]
    drivers = [name.removesuffix("_daily_change") for name in names.of(NEXT_DAY) if name.endswith("_daily_change")]
    return [
        *(_blocks(rows.hourly(driver)) for driver in drivers),
        *(rows.daily(f"{driver}{ending}" for ending in _NEXT_DAY_ENDINGS) for driver in drivers),
        _blocks(rows.hourly(CURVE)),
    ]


def _blocks(hourly: Floats) -> Floats:
    """Return means of three hours, (n, 24) -> (n, 8)."""
    means: Floats = hourly.reshape(len(hourly), CLOCK_HOURS // _BLOCK_HOURS, _BLOCK_HOURS).mean(axis=2)
    return means


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
    def of(cls, days: Singles, scale: Singles, y: Floats, error: Floats, lead: int) -> KernelFit | None:
        """Fit consecutive `days` (n, k), the newest last, to targets (n, 24), asinh scale; None with too few of them.

        Days of a large past `error` (n,) weigh less.
        """
        use = np.isfinite(y).all(axis=1)
        if use.sum() < MIN_KERNEL_DAYS:
            return None
        age = np.arange(len(y))[::-1][use]
        days, target = days[use], y[use].astype(np.float32)
        weight = _weights(error[use], age)
        share = weight / weight.sum()
        mean = share @ days
        sd = np.sqrt(np.maximum(share @ days**2 - mean**2, 0))
        sd = np.where(sd < _FLAT, np.float32(1e6), sd)
        rows = _standard(days, mean, sd, scale)
        norms = (rows * rows).sum(axis=1)
        matrix = _kernel(rows, rows, norms, norms, norms.mean())
        diagonal = np.arange(len(rows))
        matrix[diagonal, diagonal] += np.float32(_NOISE * (1 + _NOISE_GROWTH * (lead - 1))) / weight
        level = share @ target
        return cls(rows, norms, mean, sd, scale, np.linalg.solve(matrix, target - level), level)

    def predict(self, days: Singles) -> Floats:
        """Return the forecast of days, (n, k) -> (n, 24), asinh scale."""
        x = _standard(days, self.mean, self.sd, self.scale)
        matrix = _kernel(x, self.rows, (x * x).sum(axis=1), self.norms, self.norms.mean())
        return (self.level + matrix @ self.alpha).astype(np.float64)


def _weights(error: Floats, age: NDArray[np.intp]) -> Singles:
    size = np.where(np.isnan(error), _UNSEEN_ERROR, error)
    weights: Floats = 0.5 ** (age / _HALF_LIFE_DAYS) * _ROBUST / np.sqrt(size**2 + _ROBUST**2)
    return weights.astype(np.float32)


def _standard(days: Singles, mean: Singles, sd: Singles, scale: Singles) -> Singles:
    standard: Singles = np.clip((days - mean) / sd, -_Z_CLIP, _Z_CLIP) * scale
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
