"""The mean price of each clock hour over the last seven days: a naive forecast with which the model is compared.

A single outlier affects this mean less than it affects the baseline, the price one week earlier.
"""

from datetime import date, datetime, timedelta
from typing import Final

import numpy as np

from tunnihind.core.market import DELIVERY_TZ, HOUR_S, SeriesKey
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.known import Floats, Instants, PriceHistory
from tunnihind.price_series import PriceSeries

_DAYS: Final = 7


def seven_day_mean_to_newest_day(prices: PriceHistory, targets: Instants, key: SeriesKey) -> Floats:
    """Return the means of `seven_day_mean_until` for the seven days up to the zone's newest settled day.

    If no price of the zone is known, all means are NaN.
    """
    newest = prices.series_of(key.zone).newest_day
    if newest is None:
        return np.full(targets.shape, np.nan)
    return seven_day_mean_until(prices.series_of(*key), newest, targets)


def seven_day_mean_until(prices: PriceSeries, last: date, targets: Instants) -> Floats:
    """For each instant in `targets`, return the mean price of its clock hour over the seven delivery days up to `last`.

    The means are in EUR/MWh and have the shape of `targets`. If `prices` has a step of 900 s, each mean covers only the
    instant's quarter of the clock hour. Unknown prices are left out. If no price is known for a mean, the mean is NaN.
    """
    grid = DayGrid.between(last - timedelta(days=_DAYS - 1), last)
    by_hour = prices.between(int(grid.starts[0]), int(grid.starts[-1])).eur_mwh
    week = grid.arrange(by_hour.reshape(grid.hour_count, -1).T)
    known = ~np.isnan(week)
    days = known.sum(axis=1)
    by_clock_hour = np.where(known, week, 0.0).sum(axis=1) / np.where(days > 0, days, np.nan)
    clock_hours = np.array([datetime.fromtimestamp(int(ts), DELIVERY_TZ).hour for ts in targets], np.intp)
    means: Floats = by_clock_hour[targets % HOUR_S // prices.step_s, clock_hours]
    return means
