"""Computes three predictors of the price's slope within an hour, and learns their coefficients.

The predictors come from neighbouring hours, recent slopes and the sun. The coefficients are learnt by ridge regression
from the quarter-hour prices of past days and the replayed forecasts of these days. The ridge regression keeps the
coefficients near `PRIOR_COEFFICIENTS`, which fitted the prices well at the end of 2025. Slopes are price changes per
hour, in units of `shape_scale`.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import numpy as np

from tunnihind.core.market import HOUR_S, Market
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.season import sine_of_sun_elevation
from tunnihind.forecast.quarters.known_quarters import KnownQuarters, shape_scale
from tunnihind.forecast.run import LEADS
from tunnihind.known import Floats, Instants

PRIOR_COEFFICIENTS: Final[Floats] = np.array([1.0, 0.5, -0.8])
"""The prior coefficients of the slope's three predictors, in the order of `slope_predictors`.

The sun is a separate predictor, because solar power changes faster within an hour than hourly means show.
"""
_PREDICTOR_SD: Final[Floats] = np.array([0.14, 0.14, 0.035])
"""The approximate standard deviation of each predictor.

The penalty of each coefficient is proportional to the square of this number, so all three are shrunk equally.
"""
_PRIOR_HOURS: Final = 3000.0
"""The prior weighs as much as this many hours of weight 1, or about four months of such hours."""
_HALF_LIFE_DAYS: Final = 90.0
_WEIGHT_EUR_MWH: Final = 100.0
"""A new hour with this `shape_scale` has weight 1.

Weights are proportional to `shape_scale`, because an error in units of `shape_scale` costs more EUR/MWh if
`shape_scale` is larger.
"""


@dataclass(frozen=True, slots=True)
class ReplayedForecasts:
    """The model's replayed forecasts of past days, before `median_error` moves them.

    `p50` (7, days, 24) holds the forecasts at leads 1 to 7 in EUR/MWh, from the day `first` on. If there is no forecast
    for an hour, its p50 is NaN.
    """

    first: date
    p50: Floats

    @classmethod
    def empty(cls, first: date) -> Self:
        """Return a `ReplayedForecasts` with no days."""
        return cls(first, np.empty((LEADS, 0, CLOCK_HOURS)))

    @property
    def day_count(self) -> int:
        """The number of days in `p50`."""
        return int(self.p50.shape[1])

    def p50_from(self, first: date, days: int) -> Floats:
        """For each lead from 1 to 7, return the p50 of `days` days from `first` on, shape (7, days, 24).

        The p50 of a day without forecasts is NaN.
        """
        rows = (first - self.first).days + np.arange(days)
        inside = (rows >= 0) & (rows < self.day_count)
        window = np.full((LEADS, days, CLOCK_HOURS), np.nan)
        window[:, inside] = self.p50[:, rows[inside]]
        return window


@dataclass(frozen=True, slots=True)
class SlopeRegression:
    """The sums from which the regression computes the coefficients of the slope's predictors.

    The arrays begin with the day `first`, and each sum runs over the hours and leads of one day. `moments` (days, 3, 3)
    holds the weighted sums of the products of two predictors. `with_slope` (days, 3) holds the weighted sums of the
    products of a predictor and the slope.
    """

    first: date
    moments: Floats
    with_slope: Floats

    @classmethod
    def of(cls, known: KnownQuarters, issued: ReplayedForecasts, market: Market) -> Self:
        """Compute each day's sums from `known`, the forecasts in `issued` and the sun's elevation."""
        days = len(known.slope)
        before, after, unit = _forecast_changes(issued, known)
        recent = np.concatenate([np.zeros((LEADS, CLOCK_HOURS)), known.recent_slopes()])
        lately = np.stack([recent[LEADS - lead : LEADS - lead + days] for lead in range(1, LEADS + 1)])
        grid = DayGrid.between(known.first, known.first + timedelta(days=days - 1))
        rise = grid.arrange_filled(sun_sine_rise(np.arange(grid.starts[0], grid.starts[-1], HOUR_S), market))
        columns = slope_predictors((before + after) / 2, unit, lately, np.broadcast_to(rise, unit.shape))
        slope = np.broadcast_to(known.slope, unit.shape)
        counts = np.isfinite(columns).all(axis=-1) & np.isfinite(slope)
        weights = np.where(counts, unit, 0.0) / _WEIGHT_EUR_MWH / LEADS
        x, y = np.where(counts[..., None], columns, 0.0), np.where(counts, slope, 0.0)
        return cls(
            known.first, np.einsum("ldhi,ldhj,ldh->dij", x, x, weights), np.einsum("ldhi,ldh,ldh->di", x, y, weights)
        )

    def coefficients_until(self, last: date) -> Floats:
        """Return the three coefficients of the slope's predictors, learnt from the days up to `last`, shape (3,)."""
        days = min(max((last - self.first).days + 1, 0), len(self.moments))
        recency = 0.5 ** (np.arange(days)[::-1] / _HALF_LIFE_DAYS)
        ridge = np.diag(_PRIOR_HOURS * _PREDICTOR_SD**2)
        moments = np.einsum("d,dij->ij", recency, self.moments[:days]) + ridge
        with_slope = np.einsum("d,di->i", recency, self.with_slope[:days]) + ridge @ PRIOR_COEFFICIENTS
        coefficients: Floats = np.linalg.solve(moments, with_slope)
        return coefficients


def slope_predictors(line: Floats, unit: Floats, recent: Floats, rise: Floats) -> Floats:
    """Return the three predictors of the slope, shape (..., 3).

    `line` is the mean of the price changes from the hour before and to the hour after, in EUR/MWh. `unit` is the result
    of `shape_scale`, in EUR/MWh. `recent` is the recent mean slope of the clock hour, in units of `shape_scale`. `rise`
    is the result of `sun_sine_rise`.
    """
    return np.stack([line / unit, recent, rise], axis=-1)


def sun_sine_rise(starts: Instants, market: Market) -> Floats:
    """Return the rise of the sine of the sun's elevation in each hour, shape (hours,).

    The rise is half the change from one hour before the hour's middle to one hour after the middle. While the sun is
    below the horizon, the sine of its elevation counts as 0.
    """
    middles = starts + HOUR_S // 2
    before, after = (np.maximum(sine_of_sun_elevation(middles + shift, market), 0) for shift in (-HOUR_S, HOUR_S))
    rise: Floats = (after - before) / 2
    return rise


def fill_unknown_changes(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return the price changes `before` and `after` with all unknown changes (NaN) replaced.

    `before` holds each hour's price change from the hour before, and `after` holds its price change to the hour after.
    An unknown price change is replaced by the hour's other price change, or by 0 if both are unknown.
    """
    first, second = np.where(np.isnan(before), after, before), np.where(np.isnan(after), before, after)
    return np.nan_to_num(first), np.nan_to_num(second)


def _forecast_changes(issued: ReplayedForecasts, known: KnownQuarters) -> tuple[Floats, Floats, Floats]:
    """For each hour, return the forecast changes of the price from the hour before and to the hour after, and the unit.

    The unit is the `shape_scale` of the forecast price. All results are in EUR/MWh and have shape (7, days, 24).
    `fill_unknown_changes` replaces unknown changes.
    """
    around = issued.p50_from(known.first - timedelta(days=1), len(known.slope) + 2)
    p50 = around[:, 1:-1]
    # A run that forecasts a day at lead L forecasts the day before at lead L - 1, and the day after at lead L + 1. At
    # lead 1, the prices of the day before are known.
    edges = np.full((2, *p50.shape[:2], 1), np.nan)
    edges[0, 0, 1:, 0] = known.hour[:-1, -1]
    edges[0, 1:, :, 0] = around[:-1, :-2, -1]
    edges[1, :-1, :, 0] = around[1:, 2:, 0]
    steps = np.diff(np.concatenate([edges[0], p50, edges[1]], axis=2), axis=2)
    before, after = fill_unknown_changes(steps[..., :-1], steps[..., 1:])
    return before, after, shape_scale(p50)
