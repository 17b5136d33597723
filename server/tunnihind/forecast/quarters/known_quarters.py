"""The shapes of past hours, computed from their quarter-hour prices."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import numpy as np

from tunnihind.core.market import HOUR_S, QUARTER_S, QUARTERS_SINCE, day_end, day_start, delivery_day
from tunnihind.forecast.intervals.error_quantiles import pooled_samples, weighted_quantiles
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.run import INTERVAL_LEVELS
from tunnihind.known import Floats
from tunnihind.price_series import PriceSeries

_PER_HOUR: Final = HOUR_S // QUARTER_S
MIDDLES: Final[Floats] = (np.arange(_PER_HOUR) + 0.5) / _PER_HOUR - 0.5
"""The middles of the quarters, in hours from the middle of the hour."""

LEARNT_DAYS: Final = 250
"""The forecasts of quarters and the ranks of the price paths are learnt from up to about this many past days."""
_RECENT_DAYS: Final = 70
"""`recent_distance` uses at most this many days: an older day would have less than 1% of the newest day's weight."""
_HALF_LIFE_DAYS: Final = 10.0
_HOUR_WEIGHTS: Final = (1.0, 1.0, 1.0)
"""The weights of the hour before, the hour itself and the hour after in `recent_distance`."""
_INSIDE_SHARE: Final = INTERVAL_LEVELS[1] - INTERVAL_LEVELS[0]
"""The share of past quarters within the recent distance: 80%, like the share of prices from p10 to p90."""
_PRIOR_WEIGHT_DAYS: Final = 2.0
"""The prior weighs as much as this many new days. The prior slope is 0, and the prior distance is `_PRIOR_DISTANCE`."""
_PRIOR_DISTANCE: Final = 0.15
"""The prior distance in units of `shape_scale`, about Estonia's `recent_distance` from October to December 2025."""
_MIN_SCALE_EUR_MWH: Final = 20.0


def shape_scale(hours: Floats) -> Floats:
    """Return the unit of each hour's slope and distances, in EUR/MWh: the square root of price² + 20².

    The unit grows with the size of the price, because price differences within an hour are roughly proportional to the
    price.
    """
    unit: Floats = np.hypot(hours, _MIN_SCALE_EUR_MWH)
    return unit


@dataclass(frozen=True, slots=True)
class KnownQuarters:
    """Prices and shapes of past hours, by delivery day and clock hour.

    The arrays begin with the delivery day `first`. `hour` (days, 24) holds the prices of the hours, in EUR/MWh. `slope`
    (days, 24) holds the slope of the line that fits each hour's four prices best. `distance` (4, days, 24) holds the
    absolute distance of each quarter from the hour's price. Slopes and distances are in units of `shape_scale`. If the
    price of a quarter is unknown, all values of its hour are NaN. On a 23-hour day, the values of the missing clock
    hour are NaN. On a 25-hour day, each value of the repeated clock hour is the mean of the known values of its two
    hours.
    """

    first: date
    hour: Floats
    slope: Floats
    distance: Floats

    @classmethod
    def until(cls, prices: PriceSeries, last: date) -> Self:
        """Return the shapes of the hours of the day `last` and of the 250 days before it.

        Days before `QUARTERS_SINCE`, the first day with prices for quarters, are left out.
        """
        first = max(last - timedelta(days=LEARNT_DAYS), QUARTERS_SINCE)
        end = max(day_end(last), day_start(first))
        return cls.of(prices.between(day_start(first), end).eur_mwh.reshape(-1, _PER_HOUR), first)

    @classmethod
    def of(cls, quarters: Floats, first: date) -> Self:
        """Compute the shapes of consecutive hours from the start of the day `first` on.

        `quarters` (hours, 4) holds the prices of the quarters of whole days, in EUR/MWh.
        """
        grid = DayGrid.between(first, delivery_day(day_start(first) + len(quarters) * HOUR_S - 1))
        hour = quarters.mean(axis=1)
        deviation = (quarters - hour[:, None]) / shape_scale(hour)[:, None]
        slope = deviation @ MIDDLES / (MIDDLES @ MIDDLES)
        return cls(first, grid.arrange(hour), grid.arrange(slope), grid.arrange(np.abs(deviation).T))

    def recent_slopes(self) -> Floats:
        """For each day, return the mean slope of each clock hour over the days up to that day, shape (days, 24).

        The slopes are in units of `shape_scale`. Recent days have more weight. If few recent days are known, the mean
        is close to 0.
        """
        age = np.arange(len(self.slope))[:, None] - np.arange(len(self.slope))
        weights = np.where(age >= 0, 0.5 ** (np.maximum(age, 0) / _HALF_LIFE_DAYS), 0.0)
        known = np.isfinite(self.slope)
        slopes: Floats = weights @ np.where(known, self.slope, 0.0) / (weights @ known + _PRIOR_WEIGHT_DAYS)
        return slopes

    def recent_distance(self, last: date) -> Floats:
        """Return the distance from the hour's price that about 80% of recent quarters did not exceed.

        The result has shape (24,), with a value for each clock hour, and is in units of `shape_scale`. Only days up to
        the day `last` are used. If few recent days are known, the result is close to `_PRIOR_DISTANCE`.
        """
        days = self.last_row_up_to(last) + 1
        if days == 0:
            return np.full(CLOCK_HOURS, _PRIOR_DISTANCE)
        by_quarter = pooled_samples(
            self.distance[:, max(days - _RECENT_DAYS, 0) : days], _HOUR_WEIGHTS, _HALF_LIFE_DAYS
        )
        values, weights = (part.transpose(1, 0, 2).reshape(CLOCK_HOURS, -1) for part in by_quarter)
        total = weights.sum(axis=1) / (_PER_HOUR * len(_HOUR_WEIGHTS))
        trust = total / (total + _PRIOR_WEIGHT_DAYS)
        distance: Floats = weighted_quantiles(values, weights, (_INSIDE_SHARE,))[0]
        shrunk: Floats = trust * distance + (1 - trust) * _PRIOR_DISTANCE
        return shrunk

    def last_row_up_to(self, day: date) -> int:
        """Return the index of `day` in the arrays.

        If the arrays hold no day up to `day`, return -1. If the arrays end before `day`, return the last day's index.
        """
        return min(max((day - self.first).days, -1), len(self.slope) - 1)
