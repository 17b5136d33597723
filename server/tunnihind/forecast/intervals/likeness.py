"""Gives a past error more weight if the past forecast's price level was similar to the new forecast's.

Such an error says more about the new forecast (localized conformal prediction: Guan 2023, Biometrika 110(1)).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known import Floats
from tunnihind.forecast.known_days.price_state import to_scale

BANK_DAYS: Final = 365
"""The number of past days whose errors count. A whole year has errors of every season."""
ENOUGH_DAYS: Final = 60
"""With errors of fewer days, intervals are widened, and p50 is not moved."""

_SCALE_EUR_MWH: Final = 30.0
"""The asinh scale of the comparison. It separates prices near zero better than the scale of the point models."""
_WIDTH: Final = 0.2
"""The standard deviation of the Gaussian weight in asinh units."""
_LEAST: Final = 0.05
"""The weight of an error at a very different price level."""


def likeness(past: Floats, now: Floats) -> Floats:
    """Return the weight of each past error, a number from `_LEAST` to 1 + `_LEAST`.

    For each past error, `past` holds the p50 of the past forecast. `now` holds the p50 of the new forecast. `past` and
    `now` are in EUR/MWh, and numpy broadcasts them to one shape.
    """
    distance = (to_scale(past, _SCALE_EUR_MWH) - to_scale(now, _SCALE_EUR_MWH)) / _WIDTH
    weight: Floats = _LEAST + np.exp(-0.5 * distance**2)
    return weight
