"""The shape of a forecast within an hour: the deviation of each quarter from the hour's price.

The shape is a slightly curved line. No more is predicted, because in Estonia's quarter-hour prices of 2025, a straight
line explains four fifths of the variance within the hour, and the other fifth has no daily pattern.
"""

from typing import Final

import numpy as np

from tunnihind.forecast.quarters.known_quarters import MIDDLES, shape_scale
from tunnihind.forecast.quarters.slope import fill_unknown_changes, slope_predictors
from tunnihind.known import Floats

_CURVATURE: Final[Floats] = np.array([0.05, -0.05, -0.05, 0.05])
"""The deviations of the quarters from a straight line, in EUR/MWh, for a bend of 1 EUR/MWh.

The bend is the price change to the hour after minus the price change from the hour before. For a parabola, the
deviations would be ±1/32 instead of ±0.05.
"""


def quarter_deviations(
    p50: Floats, previous: Floats, following: Floats, *, recent: Floats, rise: Floats, coefficients: Floats
) -> Floats:
    """Return the deviation of each quarter from its hour's price, in EUR/MWh, shape (hours, 4).

    `p50` (hours,) holds the medians of the hours, in EUR/MWh. `previous` and `following` (hours,) hold the expected
    prices, in EUR/MWh, of the hours before and after each hour. Unknown prices are NaN. `recent` (hours,) holds the
    recent mean slope of each hour's clock hour, in units of `shape_scale`. `rise` (hours,) is the result of
    `sun_sine_rise`. `coefficients` (hours, 3) holds the coefficients of the slope's predictors, in the order of
    `slope_predictors`.
    """
    before, after = fill_unknown_changes(p50 - previous, following - p50)
    unit = shape_scale(p50)
    slope = (slope_predictors((before + after) / 2, unit, recent, rise) * coefficients).sum(axis=-1) * unit
    shape: Floats = slope[:, None] * MIDDLES + (after - before)[:, None] * _CURVATURE
    return shape
