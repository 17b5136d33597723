"""Makes the scenarios of a run.

Each price path follows the errors of one past forecast. In each hour, the path with the highest error gets the highest
of the hour's 20 values, and so on. If fewer than 20 past forecasts can be used, random errors are used instead.
"""

import math
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.core.market import DAY_S, HOUR_S, PriceLimits, day_start, delivery_day
from tunnihind.forecast.known_days.grid import consecutive_hours, days_between
from tunnihind.forecast.quarters.slope import ReplayedForecasts
from tunnihind.forecast.run import Run, Scenarios
from tunnihind.forecast.scenarios.dependence import ranks_of_past_errors, ranks_of_random_errors
from tunnihind.forecast.scenarios.values import scenario_values
from tunnihind.price_series import PriceSeries

_LOWEST_PRICE_DAYS: Final = 90
"""The lowest price of this many days before a run's first delivery day limits the lowest value of each hour.

`scenario_values` applies the limit.
"""


def scenarios_of(hourly: Run, hours: PriceSeries, issued: ReplayedForecasts, limits: PriceLimits) -> Scenarios:
    """Return 20 equally likely price paths for the hours of a run.

    `hours` holds the known hourly prices. If at least 20 past forecasts in `issued` can be used, their errors determine
    the dependence between hours. To avoid leakage, no price of a delivery day affects the paths of that day.
    """
    first = delivery_day(hourly.start_ts)
    days = days_between(first, delivery_day(hourly.end_ts - 1))
    from_newest = (first - (issued.first + timedelta(days=issued.day_count - 1))).days
    ranks = ranks_of_past_errors(issued, hours, range(from_newest, from_newest + len(days)))
    whole = (
        ranks_of_random_errors((hourly.end_ts - day_start(first)) // HOUR_S)
        if ranks is None
        else consecutive_hours(ranks, days)
    )
    skipped = (hourly.start_ts - day_start(first)) // HOUR_S
    values = scenario_values(hourly, _lowest_price_before(first, hours), limits)
    paths = np.take_along_axis(values, whole[:, skipped : skipped + hourly.p50.size], axis=0)
    return Scenarios(hourly.made_at, hourly.zone, hourly.start_ts, paths)


def _lowest_price_before(day: date, hours: PriceSeries) -> float:
    """Return the lowest known price, in EUR/MWh, of the 90 days before a day.

    If no price of these days is known, return minus infinity.
    """
    before = hours.between(day_start(day) - _LOWEST_PRICE_DAYS * DAY_S, day_start(day)).eur_mwh
    return float(np.nanmin(before)) if np.isfinite(before).any() else -math.inf
