"""The shape within the hour: how far each quarter of a forecast is from its hour.

It is a straight line but for a little curvature. In Estonia's quarters of 2025 the line carries nine tenths of what is
to be gained; what is left of a shape is not the same on two days.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.quarters.known_quarters import MIDDLES
from tunnihind.known import Floats

_RECENT_SHARE: Final = 0.5
"""How much of the slope that the clock hour had lately is expected again, on top of the forecast's own."""
_SUN_SLOPE: Final = -0.8
"""Slope, in units of the scale, for the sine of the sun's elevation rising by 1 in an hour: solar power rises and falls
within the hour faster than the mean of hours tells."""
_CURVATURE: Final[Floats] = np.array([0.05, -0.05, -0.05, 0.05])
"""How far quarters lie from the line for hours that bend by 1 EUR/MWh; a parabola through three hours has 1/32."""


def deviations(p50: Floats, follows: NDArray[np.bool_], recent_slope: Floats, sun_rise: Floats, unit: Floats) -> Floats:
    """Return how far the quarters of consecutive hours lie from their hour, shape (hours, 4), EUR/MWh.

    All arguments have shape (hours,): `p50`, EUR/MWh, of which that of the next hour is looked at only where it
    `follows`; the slope that the clock hour had lately, in units of the scale `unit`, EUR/MWh; how much the sine of the
    sun's elevation rises in the hour.
    """
    before, after = _steps(p50, follows)
    slope = (before + after) / 2 + unit * (_RECENT_SHARE * recent_slope + _SUN_SLOPE * sun_rise)
    shape: Floats = slope[:, None] * MIDDLES + (after - before)[:, None] * _CURVATURE
    return shape


def _steps(p50: Floats, follows: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the steps from the hour before and to the hour after; where only one may be looked at, it is both."""
    step = np.diff(p50)
    before, after = np.append(np.nan, step), np.where(follows, np.append(step, np.nan), np.nan)
    first, second = np.where(np.isnan(before), after, before), np.where(np.isnan(after), before, after)
    return np.nan_to_num(first), np.nan_to_num(second)
