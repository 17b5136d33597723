"""Computes level corrections.

A level correction is a fraction of the recent mean error, and is added to a forecast. The longer past errors lasted,
the larger the fraction, up to a limit.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

_FIRST_LEAD: Final = 3
"""The first lead with a level correction.

The forecasts of shorter leads need none, because they follow the newest prices closely enough.
"""

_ERROR_HALF_LIFE_DAYS: Final = 3.0
_GAIN_HALF_LIFE_DAYS: Final = 60.0
_PRIOR_GAIN: Final = 0.1
_PRIOR_WEIGHT: Final = 0.4
_LARGEST_GAIN: Final = 0.5
_LARGEST_SHIFT: Final = 0.4


@dataclass(slots=True)
class LevelTracker:
    """Computes one lead's level correction: a gain times the moving mean of the daily mean errors.

    The gain is estimated by a regression of each day's mean error on the moving mean that was known when the day was
    forecast. If errors seldom last for days, the gain is small. The gain and the level correction are limited.
    """

    lead: int
    states: list[float] = field(default_factory=list)
    state: float = 0.0
    cov: float = _PRIOR_WEIGHT * _PRIOR_GAIN
    var: float = _PRIOR_WEIGHT

    def update(self, error: float) -> float:
        """Add one more day, and return the level correction of the day `lead` days after that day.

        `error` is the mean error of the added day's forecast without its level correction. If the error is unknown,
        `error` must be NaN. The error (price minus forecast) and the level correction are on the asinh scale. At leads
        1 and 2, return 0.
        """
        if np.isfinite(error):
            keep, slow = 0.5 ** (1 / _ERROR_HALF_LIFE_DAYS), 0.5 ** (1 / _GAIN_HALF_LIFE_DAYS)
            self.state = keep * self.state + (1 - keep) * error
            if len(self.states) >= self.lead:
                earlier = self.states[-self.lead]
                self.cov = slow * self.cov + error * earlier + (1 - slow) * _PRIOR_WEIGHT * _PRIOR_GAIN
                self.var = slow * self.var + earlier**2 + (1 - slow) * _PRIOR_WEIGHT
        self.states = [*self.states, self.state][-self.lead :]
        if self.lead < _FIRST_LEAD:
            return 0.0
        gain = min(max(self.cov / self.var, 0.0), _LARGEST_GAIN)
        return float(np.clip(gain * self.state, -_LARGEST_SHIFT, _LARGEST_SHIFT))
