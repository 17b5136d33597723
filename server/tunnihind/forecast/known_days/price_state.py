"""Arranges the prices from which price columns are computed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tunnihind.core.market import Market, Zone
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.known import Floats, PriceHistory

_SCALE_EUR_MWH: Final = 100.0
"""Prices are modelled as asinh(price / `_SCALE_EUR_MWH`).

The function asinh is nearly linear for small prices and nearly logarithmic for large prices. Unlike the logarithm,
asinh is defined for negative prices (Uniejewski, Weron, Ziel 2018, IEEE Transactions on Power Systems 33(2)).
"""
_WEEK_DAYS: Final = 7
MEAN_DAYS: Final = (3, _WEEK_DAYS, 28)
PROFILE_DAYS: Final = 15
_RANGE_DAYS: Final = 90
_BELOW_RANGE, _ABOVE_RANGE = 0.3, 0.15
"""The lower bound of a regression's forecast lies `_BELOW_RANGE` below the lowest price of the last 90 days.

The upper bound lies `_ABOVE_RANGE` above the highest of these prices. Both distances are on the asinh scale.
"""


def to_asinh(eur_mwh: Floats, scale_eur_mwh: float = _SCALE_EUR_MWH) -> Floats:
    """Convert prices in EUR/MWh to asinh(price / `scale_eur_mwh`). The point models use the default scale."""
    scaled: Floats = np.arcsinh(eur_mwh / scale_eur_mwh)
    return scaled


def to_eur(scaled: Floats, scale_eur_mwh: float = _SCALE_EUR_MWH) -> Floats:
    """Convert asinh(price / `scale_eur_mwh`) to prices in EUR/MWh."""
    eur_mwh: Floats = np.sinh(scaled) * scale_eur_mwh
    return eur_mwh


class NeighbourPrices(NamedTuple):
    """A neighbouring zone's prices without gaps, and each clock hour's mean price over the seven days up to each day.

    `price` and `week_mean` have shape (days, 24) and are on the asinh scale.
    """

    price: Floats
    week_mean: Floats


@dataclass(frozen=True, slots=True)
class PriceState:
    """The prices of a zone and its neighbours on a day grid.

    Unless stated otherwise, arrays are on the asinh scale and have shape (days, 24). `eur_mwh` holds the forecast
    zone's prices in EUR/MWh, with NaN for unknown prices. `own_with_gaps` holds the same prices on the asinh scale.
    `own_filled` holds the forecast zone's prices without gaps, and `neighbours` holds the neighbours' prices without
    gaps. If a neighbour's price is missing, the forecast zone's price is used. All other gaps are filled with the
    newest earlier price at the same clock hour, or with 0 if there is none. `trailing_means[k]` holds each clock hour's
    mean of `own_filled` over the k days up to each day. `profile` holds each clock hour's price less the day's mean
    price, averaged over the 15 days up to each day. For each day, `low` and `high` (days,) hold the bounds of a
    regression's forecast that uses the prices up to that day.
    """

    eur_mwh: Floats
    own_with_gaps: Floats
    own_filled: Floats
    neighbours: Mapping[Zone, NeighbourPrices]
    trailing_means: Mapping[int, Floats]
    profile: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, prices: PriceHistory, grid: DayGrid, market: Market) -> PriceState:
        """Arrange the prices of the market's zone and of its neighbours on `grid`."""

        def arranged_prices(zone: Zone) -> Floats:
            return grid.arrange_filled(
                prices.series_of(zone).between(int(grid.starts[0]), int(grid.starts[-1])).eur_mwh
            )

        eur_mwh = arranged_prices(market.zone)
        with_gaps = to_asinh(eur_mwh)
        filled = _filled_forward(with_gaps)
        neighbours = {}
        for zone in market.neighbours:
            price = arranged_prices(zone)
            whole = _filled_forward(to_asinh(np.where(np.isnan(price), eur_mwh, price)))
            neighbours[zone] = NeighbourPrices(whole, _trailing_mean(whole, _WEEK_DAYS))
        shape = filled - filled.mean(axis=1, keepdims=True)
        return cls(
            eur_mwh=eur_mwh,
            own_with_gaps=with_gaps,
            own_filled=filled,
            neighbours=neighbours,
            trailing_means={days: _trailing_mean(filled, days) for days in MEAN_DAYS},
            profile=_trailing_mean(shape, PROFILE_DAYS),
            low=-_trailing_max(-filled.min(axis=1)) - _BELOW_RANGE,
            high=_trailing_max(filled.max(axis=1)) + _ABOVE_RANGE,
        )

    def arrays_until(self, row: int) -> list[tuple[str, Floats]]:
        """Return the rows up to `row` of all arrays from which the fields can be computed, each array with its name."""
        by_name = {"target": self.own_with_gaps, "own": self.own_filled}
        by_name |= {zone: neighbour.price for zone, neighbour in self.neighbours.items()}
        return [(name, values[: row + 1]) for name, values in by_name.items()]


def _trailing_mean(values: Floats, days: int) -> Floats:
    """For each row, return the mean of this row and of up to `days` - 1 rows before it."""
    total = np.cumsum(values, axis=0)
    out = total.copy()
    out[days:] -= total[:-days]
    count = np.minimum(np.arange(1, len(values) + 1), days)
    mean: Floats = out / count.reshape((-1,) + (1,) * (values.ndim - 1))
    return mean


def _trailing_max(daily: Floats) -> Floats:
    padded = np.concatenate([np.full(_RANGE_DAYS - 1, -np.inf), daily])
    highest: Floats = np.lib.stride_tricks.sliding_window_view(padded, _RANGE_DAYS).max(axis=1)
    return highest


def _filled_forward(values: Floats) -> Floats:
    """Replace each NaN by the newest value above it in its column, or by zero if all values above it are NaN."""
    known = ~np.isnan(values)
    rows = np.arange(len(values)).reshape((-1,) + (1,) * (values.ndim - 1))
    newest = np.maximum.accumulate(np.where(known, rows, 0), axis=0)
    filled: Floats = np.nan_to_num(np.take_along_axis(values, newest, axis=0))
    return filled
