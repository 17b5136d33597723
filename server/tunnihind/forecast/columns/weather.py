"""Columns from weather drivers. These are forecasts for several days, as they were when each row was issued.

`target` and `issue` are rows of the grid, shape (n,).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.columns.table import Columns, DayRows
from tunnihind.forecast.known import Floats

TARGET_HOURS: Final = "_target"
"""The suffix of the name of a column with a driver's hours of the target day."""

_FADE: Final = 0.6
"""Past a forecast's reach, a day-mean anomaly shrinks to this part of itself with every further day."""
_FEWEST_HOURS: Final = 6


def anomalies(values: Floats) -> Floats:
    """Return vintages (issue days, ages, 24) minus the mean of all issues so far at each age.

    The mean moves with the archive. With a fixed mean, the anomalies at the archive's start would mainly show
    whether there is a forecast at all. Hours past a forecast's reach keep its last day mean, and this mean fades.
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
    """Return the columns of a driver's forecast of day `issue`. Missing values are 0.

    `values` and `anomaly` (issue days, ages, 24) are its vintages; `sun` has shape (days, 24). The columns are hours,
    day means, the week's mean and the neighbouring hours. They cover the target day, the last usable day and the days
    between them. The product with the sun is not centred, so old rows without an archive differ from new rows.
    """
    age, row, newest_age = target - issue, np.arange(len(target)), anomaly.shape[1] - 2
    of_issue = anomaly[issue]

    def at(ages: DayRows) -> Floats:
        picked: Floats = of_issue[row, np.clip(ages, -1, newest_age) + 1]
        return picked

    now, last = at(age), at(age - lead)
    # These are the day means from the last usable day to the target.
    path = np.stack([_day_mean(at(age - lead + step)) for step in range(lead + 1)], axis=-1)
    past = [_day_mean(_last_forecast(anomaly, target - lead - back, issue)) for back in range(1, 7)]
    week = (np.sum(past, axis=0) + path[:, 0]) / 7
    long = np.concatenate([at(age - 1)[:, -1:], now, at(age + 1)[:, :1]], axis=1)
    before, after = (np.where(np.isnan(side), now, side) for side in (long[:, :-2], long[:, 2:]))
    uncentred = values[issue, np.clip(age, -1, newest_age) + 1] * np.maximum(sun[target], 0)
    columns = {
        TARGET_HOURS: now,
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
    """Return the mean of a day's known hours, (n, 24) -> (n,). It is NaN if fewer than six hours are known."""
    known = np.isfinite(hours)
    count = known.sum(1)
    mean = np.where(known, hours, 0).sum(1) / np.maximum(count, 1)
    return np.where(count >= _FEWEST_HOURS, mean, np.nan)


def _last_forecast(anomaly: Floats, day: DayRows, issue: DayRows) -> Floats:
    """Return the last forecast for past days that was issued by the issue day, (n, 24)."""
    day = np.maximum(day, 0)
    seen_on = np.minimum(day + 1, issue)
    last: Floats = anomaly[seen_on, day - seen_on + 1]
    return last
