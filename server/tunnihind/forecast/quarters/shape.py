"""The shape within the hour: how far each quarter of a forecast is from its hour.

It is a straight line but for a little curvature. In Estonia's quarters of 2025 the slope makes four fifths of their
variance within the hour, and what is left of a shape does not come again.
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known import Floats
from tunnihind.forecast.quarters.known_quarters import MIDDLES, scale
from tunnihind.forecast.quarters.slope import columns_of, one_for_the_other

_CURVATURE: Final[Floats] = np.array([0.05, -0.05, -0.05, 0.05])
"""How far quarters lie from the line for hours that bend by 1 EUR/MWh; a parabola through three hours has 1/32."""


def deviations(
    p50: Floats, previous: Floats, following: Floats, *, recent: Floats, rise: Floats, shares: Floats
) -> Floats:
    """Return how far the quarters of hours lie from their hour, shape (hours, 4), EUR/MWh.

    All arguments but the last have shape (hours,): the `p50` of the hours and the prices to expect in the hours before
    and after each, EUR/MWh, NaN where there is none; the `recent` slope of the clock hour, in units of its scale; the
    sun's `rise`. `shares` (hours, 3) are those of the line, the recent slope and the rise.
    """
    before, after = one_for_the_other(p50 - previous, following - p50)
    unit = scale(p50)
    slope = (columns_of((before + after) / 2, unit, recent, rise) * shares).sum(axis=-1) * unit
    shape: Floats = slope[:, None] * MIDDLES + (after - before)[:, None] * _CURVATURE
    return shape
