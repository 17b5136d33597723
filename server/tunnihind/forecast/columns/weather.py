"""Computes columns from weather drivers, using the covariates known when each price forecast was issued.

`target` and `issue` hold the rows of n target days and of their issue days in a `DayGrid`, each of shape (n,).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.columns.table import Columns, DayRows
from tunnihind.known import Floats

TARGET_HOURS_SUFFIX: Final = "_target"
"""The names of columns with a driver's hourly anomalies on the target day end with this text."""

_FADE: Final = 0.6
"""For each day with fewer than six known hours, the anomaly taken from the day before is multiplied by this factor."""
_MIN_HOURS: Final = 6


def anomalies(values: Floats) -> Floats:
    """Return the anomalies of vintages, shape (issue days, ages, 24).

    An anomaly is a value less the mean of all values of the same age in its own vintage and in earlier vintages. If a
    day of a vintage has at least six values, its hours without a value get the mean anomaly of the day. Otherwise,
    these hours get `_FADE` times the anomaly that an hour without a value would get on the day before. Before the first
    day with at least six values, hours without a value get NaN.
    """
    known = np.isfinite(values)
    count = np.cumsum(known.sum(2), axis=0)
    total = np.cumsum(np.where(known, values, 0).sum(2), axis=0)
    out: Floats = values - (total / np.maximum(count, 1))[..., None]
    last = np.full(len(values), np.nan)
    for age in range(values.shape[1]):
        mean = _day_mean(out[:, age])
        last = np.where(np.isnan(mean), _FADE * last, mean)
        out[:, age] = np.where(known[:, age], out[:, age], last[:, None])
    return out


def weather_columns(
    name: str, values: Floats, anomaly: Floats, sun: Floats, target: DayRows, lead: int, issue: DayRows
) -> Columns:
    """Return a driver's columns, computed from the forecasts known on the days `issue`.

    `values` holds the driver's vintages and `anomaly` their anomalies, both of shape (issue days, ages, 24). `sun`
    (days, 24) holds the sine of the sun's elevation. In the returned columns, missing values are 0.

    Let j be the day `target` - `lead`. The hourly columns hold the anomalies of the target day and of day j, their
    difference, the anomalies of the hour before and of the hour after, and the target day's `values` times `sun`, or 0
    at night. If the anomaly of the hour before or after is unknown, the hour's own anomaly is used. The daily columns
    hold the mean anomalies of the target day, of the day before the target day, of day j, of the days between day j and
    the target day, and of the seven days up to day j. One more daily column holds the mean anomaly of the target day
    minus the mean of these seven days. If a day from j on lies before the first day of the issue day's vintage, this
    first day is used instead.
    """
    age, row, newest_age = target - issue, np.arange(len(target)), anomaly.shape[1] - 2
    of_issue = anomaly[issue]

    def at(ages: DayRows) -> Floats:
        picked: Floats = of_issue[row, np.clip(ages, -1, newest_age) + 1]
        return picked

    now, last = at(age), at(age - lead)
    # `path` holds the mean anomalies of the days from `target` - `lead` to `target`.
    path = np.stack([_day_mean(at(age - lead + step)) for step in range(lead + 1)], axis=-1)
    past = [_day_mean(_newest_known_anomalies(anomaly, target - lead - back, issue)) for back in range(1, 7)]
    week = (np.sum(past, axis=0) + path[:, 0]) / 7
    long = np.concatenate([at(age - 1)[:, -1:], now, at(age + 1)[:, :1]], axis=1)
    before, after = (np.where(np.isnan(side), now, side) for side in (long[:, :-2], long[:, 2:]))
    uncentred = values[issue, np.clip(age, -1, newest_age) + 1] * np.maximum(sun[target], 0)
    columns = {
        TARGET_HOURS_SUFFIX: now,
        "_last_day": last,
        "_change": now - last,
        "_target_daily": path[:, -1],
        "_last_day_daily": path[:, 0],
        "_week_daily": week,
        "_against_week_daily": path[:, -1] - week,
        "_day_before_target_daily": path[:, -2],
        "_between_daily": path[:, 1:-1].mean(1) if lead > 1 else np.zeros(len(target)),
        "_hour_before": before,
        "_hour_after": after,
        "_times_sun": uncentred,
    }
    return {f"{name}{ending}": np.nan_to_num(one) for ending, one in columns.items()}


def _day_mean(hours: Floats) -> Floats:
    """Return the mean of each day's known hours, or NaN if fewer than six hours are known, shape (days,)."""
    known = np.isfinite(hours)
    count = known.sum(1)
    mean = np.where(known, hours, 0).sum(1) / np.maximum(count, 1)
    return np.where(count >= _MIN_HOURS, mean, np.nan)


def _newest_known_anomalies(anomaly: Floats, day: DayRows, issue: DayRows) -> Floats:
    """For each day in `day`, return its newest anomalies known on the matching day in `issue`, shape (n, 24)."""
    day = np.maximum(day, 0)
    seen_on = np.minimum(day + 1, issue)
    last: Floats = anomaly[seen_on, day - seen_on + 1]
    return last
