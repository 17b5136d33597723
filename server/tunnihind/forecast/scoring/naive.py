"""A forecast that takes no model, to measure one by."""

from datetime import datetime, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.known import Floats, Instants, PriceHistory
from tunnihind.market import DELIVERY_TZ, ESTONIA, HOUR_S, Market

_DAYS: Final = 7


def seven_day_mean(prices: PriceHistory, targets: Instants, market: Market = ESTONIA, step_s: int = HOUR_S) -> Floats:
    """Return the mean price of each target's clock hour over seven delivery days, shape (n,), EUR/MWh.

    With a step of 900 s it is that of the clock hour's same quarter.

    They are the days up to the newest settled one. Unknown hours do not count; NaN where none is known. It is harder
    to beat than the price one week earlier, for it follows the level of prices and forgets a single odd day.
    """
    newest = prices.of(market.zone).newest_day
    if newest is None:
        return np.full(targets.shape, np.nan)
    grid = DayGrid.between(newest - timedelta(days=_DAYS - 1), newest)
    by_hour = prices.of(market.zone, step_s).between(int(grid.starts[0]), int(grid.starts[-1])).eur_mwh
    week = grid.lay(by_hour.reshape(grid.hours, -1).T)
    known = ~np.isnan(week)
    days = known.sum(axis=1)
    by_clock_hour = np.where(known, week, 0.0).sum(axis=1) / np.where(days > 0, days, np.nan)
    clock_hours = np.array([datetime.fromtimestamp(int(ts), DELIVERY_TZ).hour for ts in targets], np.intp)
    means: Floats = by_clock_hour[targets % HOUR_S // step_s, clock_hours]
    return means
