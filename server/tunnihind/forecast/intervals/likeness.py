"""Gives a past error more weight if the past forecast and the new forecast have similar price levels.

The method is localized conformal prediction (Guan 2023, Biometrika 110(1)).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known_days.price_state import to_asinh
from tunnihind.known import Floats

CALIBRATION_DAYS: Final = 365
"""The quantiles in `conformal` and the medians in `median_error` use the errors of up to this many past days.

The limit is a whole year, so that each season counts once.
"""
ENOUGH_ERROR_DAYS: Final = 60
"""If the errors of fewer days are known for a lead, the lead's intervals are widened.

If the errors of fewer than 24 * `ENOUGH_ERROR_DAYS` hours are known for a lead, the lead's p50 is not moved.
"""

_SCALE_EUR_MWH: Final = 30.0
"""Price levels are compared as asinh(price / `_SCALE_EUR_MWH`).

This scale separates prices near zero better than the asinh scale of the point models.
"""
_WIDTH: Final = 0.2
"""The standard deviation of the Gaussian weight, in units of asinh(price / `_SCALE_EUR_MWH`)."""
_LEAST_WEIGHT: Final = 0.05
"""The weight of an error if the price levels of the past forecast and the new forecast are very different."""


def similarity_weights(past: Floats, now: Floats) -> Floats:
    """Return the weight of each past error, a number from `_LEAST_WEIGHT` to 1 + `_LEAST_WEIGHT`.

    `past` holds the forecasts to which the past errors belong, and `now` holds the new forecasts, in EUR/MWh. The
    result has the shape to which numpy broadcasts `past` and `now`.
    """
    distance = (to_asinh(past, _SCALE_EUR_MWH) - to_asinh(now, _SCALE_EUR_MWH)) / _WIDTH
    weight: Floats = _LEAST_WEIGHT + np.exp(-0.5 * distance**2)
    return weight
