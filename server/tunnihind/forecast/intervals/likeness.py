"""The past errors that count for a forecast, and their weights by price level.

Past errors of forecasts at a similar level say more about a forecast than other errors do (localized conformal
prediction: Guan 2023, Biometrika 110(1)).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known import Floats
from tunnihind.forecast.known_days.price_state import to_scale

BANK_DAYS: Final = 250
"""Older errors do not count."""
ENOUGH_DAYS: Final = 60
"""With errors of fewer days, widths grow and p50 does not move."""
HALF_LIFE_DAYS: Final = 90.0
"""An error's weight halves with this age."""

_SCALE_EUR_MWH: Final = 30.0
"""Levels are compared on this scale. It separates levels near zero better than the scale of the price models."""


def likeness(past: Floats, now: Floats, *, width: float, least: float) -> Floats:
    """Return the weight of each past error, a number from `least` to 1 + `least`.

    `past` holds the p50 to which each error belongs. `now` holds the p50 of the new forecast. Both arrays are in
    EUR/MWh, and are broadcast to one shape. `width` is the standard deviation of the Gaussian weight in asinh units.
    """
    distance = (to_scale(past, _SCALE_EUR_MWH) - to_scale(now, _SCALE_EUR_MWH)) / width
    weight: Floats = least + np.exp(-0.5 * distance**2)
    return weight
