"""Gives a past error more weight if the price level was similar.

A past forecast's error says more about a new forecast if both forecasts are at a similar price level (localized
conformal prediction: Guan 2023, Biometrika 110(1)).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known import Floats
from tunnihind.forecast.known_days.price_state import to_scale

BANK_DAYS: Final = 365
"""The number of past days whose errors count. In a whole year, errors of every season count."""
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
