"""A forecast that takes no model, to measure one by."""

from datetime import datetime, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.known_days.grid import DailyPrices
from tunnihind.known import Floats, Instants, PriceHistory
from tunnihind.market import DELIVERY_TZ, ESTONIA, Market

_DAYS: Final = 7


def seven_day_mean(prices: PriceHistory, targets: Instants, market: Market = ESTONIA) -> Floats:
    """Return the mean price of each target's clock hour over seven delivery days, shape (n,), EUR/MWh.

    They are the days up to the newest settled one. Unknown hours do not count; NaN where none is known. It is harder
    to beat than the price one week earlier, for it follows the level of prices and forgets a single odd day.
    """
    newest = prices.of(market.zone).newest_day
    if newest is None:
        return np.full(targets.shape, np.nan)
    week = DailyPrices.between(prices, market, newest - timedelta(days=_DAYS - 1), newest).eur_mwh
    known = ~np.isnan(week)
    days = known.sum(axis=0)
    by_clock_hour = np.where(known, week, 0.0).sum(axis=0) / np.where(days > 0, days, np.nan)
    clock_hours = np.array([datetime.fromtimestamp(int(ts), DELIVERY_TZ).hour for ts in targets], np.intp)
    means: Floats = by_clock_hour[clock_hours]
    return means
