"""The state of prices by delivery day, from which the columns of all regressions are taken."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from tunnihind.forecast.daily import DayGrid
from tunnihind.known import Floats, PriceHistory
from tunnihind.market import ZONES

SCALE_EUR_MWH: Final = 100.0
"""Prices are modelled as asinh(price / scale): near linear up to the scale, logarithmic beyond it, and defined for
negative prices (Uniejewski, Weron, Ziel 2018, IEEE Trans. Power Syst. 33(2))."""
MEAN_DAYS: Final = (3, 7, 28)
PROFILE_DAYS: Final = 15
RANGE_DAYS: Final = 90
BELOW_RANGE, ABOVE_RANGE = 0.3, 0.15
"""How far, in asinh units, a forecast may leave the range of the last `RANGE_DAYS`."""


def to_scale(eur_mwh: Floats) -> Floats:
    """Return prices in the scale in which they are modelled."""
    scaled: Floats = np.arcsinh(eur_mwh / SCALE_EUR_MWH)
    return scaled


def to_eur(scaled: Floats) -> Floats:
    """Return EUR/MWh from the scale in which prices are modelled."""
    eur_mwh: Floats = np.sinh(scaled) * SCALE_EUR_MWH
    return eur_mwh


@dataclass(frozen=True, slots=True)
class PriceState:
    """Prices on a grid, in asinh scale but for `eur_mwh`.

    `eur_mwh` (days, 24) Estonian prices, NaN where unknown; `target` (days, 24) the same in scale; `y` (days, 24,
    zones) without holes: a neighbour's takes Estonia's price, Estonia's the day before's. `mean[k]` (days, 24, zones)
    of the last k days; `profile` (days, 24) mean deviation from the day's mean over the last 15 days; `low` and `high`
    (days,) what a forecast that knows the days up to this one may not leave.
    """

    eur_mwh: Floats
    target: Floats
    y: Floats
    mean: dict[int, Floats]
    profile: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, prices: PriceHistory, grid: DayGrid) -> PriceState:
        """Lay a history on a grid."""
        zones = [prices.between(zone, int(grid.starts[0]), int(grid.starts[-1])) for zone in ZONES]
        price = np.moveaxis(grid.lay_whole(np.stack(zones)), 0, -1)
        own = price[..., 0]
        filled = np.where(np.isnan(price), own[..., None], price)
        y = _filled_forward(to_scale(filled))
        shape = y[..., 0] - y[..., 0].mean(axis=1, keepdims=True)
        return cls(
            eur_mwh=own,
            target=to_scale(own),
            y=y,
            mean={days: trailing_mean(y, days) for days in MEAN_DAYS},
            profile=trailing_mean(shape, PROFILE_DAYS),
            low=-_trailing_max(-y[..., 0].min(axis=1)) - BELOW_RANGE,
            high=_trailing_max(y[..., 0].max(axis=1)) + ABOVE_RANGE,
        )


def trailing_mean(values: Floats, days: int) -> Floats:
    """Return the mean over the last `days` rows, the own one included; over fewer at the start."""
    total = np.cumsum(values, axis=0)
    out = total.copy()
    out[days:] -= total[:-days]
    count = np.minimum(np.arange(1, len(values) + 1), days)
    mean: Floats = out / count.reshape((-1,) + (1,) * (values.ndim - 1))
    return mean


def _trailing_max(daily: Floats) -> Floats:
    padded = np.concatenate([np.full(RANGE_DAYS - 1, -np.inf), daily])
    highest: Floats = np.lib.stride_tricks.sliding_window_view(padded, RANGE_DAYS).max(axis=1)
    return highest


def _filled_forward(values: Floats) -> Floats:
    """Replace NaN by the value of the row before; zero before the first one known."""
    known = ~np.isnan(values)
    rows = np.arange(len(values)).reshape((-1,) + (1,) * (values.ndim - 1))
    newest = np.maximum.accumulate(np.where(known, rows, 0), axis=0)
    filled: Floats = np.nan_to_num(np.take_along_axis(values, newest, axis=0))
    return filled
