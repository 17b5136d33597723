"""The shape that past hours had: how the price ran within them, and how far their quarters lay apart."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import numpy as np

from tunnihind.forecast.intervals.error_quantiles import pooled, weighted_quantiles
from tunnihind.forecast.known import Floats
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.run import OUTER_LEVELS
from tunnihind.market import HOUR_S, QUARTER_S, QUARTERS_SINCE, day_end, day_start, delivery_day
from tunnihind.price_series import PriceSeries

PER_HOUR: Final = HOUR_S // QUARTER_S
MIDDLES: Final[Floats] = (np.arange(PER_HOUR) + 0.5) / PER_HOUR - 0.5
"""Where the middles of the quarters are, in hours from the middle of the hour."""

DAYS: Final = 250
"""How many days are looked at."""
_RECENT_DAYS: Final = 70
"""Older ones weigh less than a hundredth of the newest in what is recent."""
_HALF_LIFE_DAYS: Final = 10.0
_HOUR_WEIGHTS: Final = (1.0, 1.0, 1.0)
"""The hours on either side count like the hour itself where distances are pooled."""
_INSIDE: Final = OUTER_LEVELS[1] - OUTER_LEVELS[0]
"""The share of quarters within the distance, the same as from p10 to p90."""
_PRIOR_DAYS: Final = 2.0
"""Days of known quarters that weigh as much as the prior: no slope, and the distance below."""
_PRIOR_DISTANCE: Final = 0.15
"""About that of Estonia's quarters of October to December 2025, in units of the scale."""
_LEAST_SCALE_EUR_MWH: Final = 20.0


def scale(hours: Floats) -> Floats:
    """Return the unit in which shapes are measured, EUR/MWh: the size of the hour's price, and 20 near zero.

    Dear hours differ more within than cheap ones, about in proportion.
    """
    unit: Floats = np.hypot(hours, _LEAST_SCALE_EUR_MWH)
    return unit


@dataclass(frozen=True, slots=True)
class KnownQuarters:
    """Past hours by delivery day from `first` on and clock hour.

    `hour` (days, 24) is their price, EUR/MWh; `slope` (days, 24) and the `distance` of their quarters (4, days, 24) are
    in units of the scale. NaN for an hour of which not all four quarters are known; of two hours with the same clock
    hour the means of both.
    """

    first: date
    hour: Floats
    slope: Floats
    distance: Floats

    @classmethod
    def until(cls, prices: PriceSeries, last: date) -> Self:
        """Look at the quarters of the last days up to `last`; at no day of before quarters were traded."""
        first = max(last - timedelta(days=DAYS), QUARTERS_SINCE)
        end = max(day_end(last), day_start(first))
        return cls.of(prices.between(day_start(first), end).eur_mwh.reshape(-1, PER_HOUR), first)

    @classmethod
    def of(cls, quarters: Floats, first: date) -> Self:
        """Look at quarters (hours, 4), EUR/MWh, of whole days that begin with `first`."""
        grid = DayGrid.between(first, delivery_day(day_start(first) + len(quarters) * HOUR_S - 1))
        hour = quarters.mean(axis=1)
        deviation = (quarters - hour[:, None]) / scale(hour)[:, None]
        slope = deviation @ MIDDLES / (MIDDLES @ MIDDLES)
        return cls(first, grid.lay(hour), grid.lay(slope), grid.lay(np.abs(deviation).T))

    def recent_slopes(self) -> Floats:
        """Return the slope that clock hours had lately, near days counting more, known after each day, (days, 24)."""
        age = np.arange(len(self.slope))[:, None] - np.arange(len(self.slope))
        weights = np.where(age >= 0, 0.5 ** (np.maximum(age, 0) / _HALF_LIFE_DAYS), 0.0)
        known = np.isfinite(self.slope)
        slopes: Floats = weights @ np.where(known, self.slope, 0.0) / (weights @ known + _PRIOR_DAYS)
        return slopes

    def recent_distance(self, last: date) -> Floats:
        """Return within what distance of their hour 80% of quarters lay up to the day `last`, by clock hour: (24,)."""
        days = self.row(last) + 1
        if days == 0:
            return np.full(CLOCK_HOURS, _PRIOR_DISTANCE)
        by_quarter = pooled(self.distance[:, max(days - _RECENT_DAYS, 0) : days], _HOUR_WEIGHTS, _HALF_LIFE_DAYS)
        values, weights = (part.transpose(1, 0, 2).reshape(CLOCK_HOURS, -1) for part in by_quarter)
        total = weights.sum(axis=1) / (PER_HOUR * len(_HOUR_WEIGHTS))
        trust = total / (total + _PRIOR_DAYS)
        distance: Floats = weighted_quantiles(values, weights, (_INSIDE,))[0]
        drawn: Floats = trust * distance + (1 - trust) * _PRIOR_DISTANCE
        return drawn

    def row(self, day: date) -> int:
        """Return the row of a day; -1 for one before the first, the last row for one past it."""
        return min(max((day - self.first).days, -1), len(self.slope) - 1)
