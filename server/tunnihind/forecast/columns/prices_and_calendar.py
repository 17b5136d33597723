"""Computes columns from prices, the calendar and the sun's elevation.

The same functions compute the columns for training and for live forecasts. The last day whose prices a forecast may
use is day j = target - lead, so no column uses later prices. `target` holds the rows of n target days in a `DayGrid`,
shape (n,).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.columns.table import Columns, DayRows
from tunnihind.forecast.known_days.price_state import MEAN_DAYS, PROFILE_DAYS, PriceState
from tunnihind.forecast.known_days.season import Season

WEEK_MEAN_COLUMN: Final = "price_mean_7d"
"""The name of the column with each clock hour's mean price over the seven days up to day j.

If the model has learnt few days, this mean price is mixed into the forecast.
"""

NEIGHBOUR_PRICE_SUFFIX: Final = "_price"
"""The names of columns with a neighbour's hourly prices on day j end with this text."""
_YEAR_DAYS: Final = 364
_AROUND_DAYS: Final = PROFILE_DAYS // 2


def own_price_columns(prices: PriceState, target: DayRows, lead: int) -> Columns:
    """Return hourly and daily columns of the forecast zone's prices."""
    y, j, week = prices.own_filled, target - lead, target - 7
    means = {f"price_mean_{days}d": prices.trailing_means[days][j] for days in MEAN_DAYS}
    hourly = {
        "price_last_day": y[j],
        "price_day_before": y[j - 1],
        "price_2_days_before": y[j - 2],
        "price_week_ago": y[week],
        "price_2_weeks_ago": y[week - 7],
        **means,
    }
    whole_days = ("price_last_day", "price_day_before", "price_week_ago", *means)
    return {
        **hourly,
        **{f"{name}_daily": hourly[name].mean(1) for name in whole_days},
        "price_last_day_lowest": y[j].min(1),
        "price_last_day_highest": y[j].max(1),
        "price_last_day_evening": y[j][:, -4:].mean(1),
    }


def neighbour_columns(prices: PriceState, target: DayRows, lead: int) -> Columns:
    """Return columns of the neighbouring zones' prices.

    The last zone of `Market.neighbours` has two more columns. One holds the last zone's prices a week before the target
    day. The other holds the mean absolute difference between the last zone's prices and the forecast zone's prices on
    day j.
    """
    j = target - lead
    columns: Columns = {}
    for zone, neighbour in prices.neighbours.items():
        price, week = neighbour.price[j], neighbour.week_mean[j]
        columns |= {
            f"{zone}{NEIGHBOUR_PRICE_SUFFIX}": price,
            f"{zone}_price_daily": price.mean(1),
            f"{zone}_price_mean_7d": week,
            f"{zone}_price_mean_7d_daily": week.mean(1),
        }
    far, spread_to = list(prices.neighbours.items())[-1]
    columns[f"{far}_spread"] = np.abs(prices.own_filled[j] - spread_to.price[j]).mean(1)
    columns[f"{far}_price_week_ago"] = spread_to.price[target - 7]
    return columns


def calendar_columns(season: Season, prices: PriceState, target: DayRows, lead: int) -> Columns:
    """Return columns of the weekday, the holidays, the sun, the season and last year's daily price profile.

    If last year's price profile is unknown, its column is 0.
    """
    j, sun = target - lead, season.sun
    then = target - _YEAR_DAYS + _AROUND_DAYS
    last_year = np.where((then >= PROFILE_DAYS)[:, None], prices.profile[np.maximum(then, 0)], 0.0)
    return {
        **{f"weekday_{day}": values for day, values in enumerate(season.weekday[target].T)},
        "holiday": season.holiday[target],
        "holiday_last_day": season.holiday[j] * (lead == 1),
        "neighbour_holiday": season.neighbour_holiday[target],
        "sun": sun[target],
        "sun_daily": sun[target].mean(1),
        "sun_change": sun[target] - sun[j],
        **{f"season_{phase}": values for phase, values in enumerate(season.phase[target].T)},
        "profile_last_year": last_year,
    }
