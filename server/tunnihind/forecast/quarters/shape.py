"""The shape within the hour. It is the distance of each quarter of a forecast from its hour.

The shape is a straight line with a little curvature. In Estonia's quarters of 2025 the slope explains four fifths of
the variance within the hour. The rest of a shape does not repeat.
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known import Floats
from tunnihind.forecast.quarters.known_quarters import MIDDLES, scale
from tunnihind.forecast.quarters.slope import columns_of, one_for_the_other

_CURVATURE: Final[Floats] = np.array([0.05, -0.05, -0.05, 0.05])
"""The distance of quarters from the line, in hours that bend by 1 EUR/MWh. For a parabola it would be 1/32."""


def deviations(
    p50: Floats, previous: Floats, following: Floats, *, recent: Floats, rise: Floats, shares: Floats
) -> Floats:
    """Return the distances of the quarters from their hour, shape (hours, 4), EUR/MWh.

    - `p50`: the medians of the hours. `previous` and `following` are the expected prices of the hours before and after
      each hour, NaN where unknown. All three have shape (hours,) and are in EUR/MWh.
    - `recent` (hours,): the recent slope of the clock hour, in units of its scale.
    - `rise` (hours,): the rise of the sun.
    - `shares` (hours, 3): the shares of the line, the recent slope and the rise.
    """
    before, after = one_for_the_other(p50 - previous, following - p50)
    unit = scale(p50)
    slope = (columns_of((before + after) / 2, unit, recent, rise) * shares).sum(axis=-1) * unit
    shape: Floats = slope[:, None] * MIDDLES + (after - before)[:, None] * _CURVATURE
    return shape
