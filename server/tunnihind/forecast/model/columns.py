"""Columns of the regressions: rows (targets, 24 hours, columns) for a lead, from what was known at issue.

Training rows and the live forecast come from the same functions. What is taken from prices lies on or before the last
usable day j = target - lead; what is taken from covariates comes from the vintage of the row's issue day. `target`
and `issue` are rows of the grid, shape (n,).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.calendar import CLOCK_HOURS
from tunnihind.forecast.model.price_state import MEAN_DAYS, PROFILE_DAYS, PriceState
from tunnihind.forecast.model.season import Season
from tunnihind.known import Floats

type Rows = NDArray[np.intp]

OWN_COLUMNS: Final = 17
CALENDAR_COLUMNS: Final = 18
FAR_COLUMNS: Final = 12

_YEAR_DAYS: Final = 364
_AROUND_DAYS: Final = PROFILE_DAYS // 2
_FADE: Final = 0.6
"""Part of a day-mean anomaly that is left with every day past a forecast's reach."""
_FEWEST_HOURS: Final = 6


def all_hours(daily: Floats) -> Floats:
    """Repeat a day's value for its hours, (n,) -> (n, 24)."""
    return np.repeat(daily[:, None], CLOCK_HOURS, axis=1)


def own_columns(prices: PriceState, target: Rows, lead: int) -> Floats:
    """Return Estonian prices around the last usable day, of the same hour and of whole days: (n, 24, 17)."""
    j, week = target - lead, target - 7
    y = prices.y[..., 0]
    means = [prices.mean[days][j, :, 0] for days in MEAN_DAYS]
    hourly = [y[j], y[j - 1], y[j - 2], y[week], y[week - 7], *means]
    daily = [y[j].mean(1), y[j - 1].mean(1), y[week].mean(1), *(mean.mean(1) for mean in means)]
    shape = [y[j].min(1), y[j].max(1), y[j][:, -4:].mean(1)]
    return np.stack([*hourly, *(all_hours(values) for values in daily + shape)], axis=-1)


def neighbour_columns(prices: PriceState, target: Rows, lead: int) -> Floats:
    """Return LV, LT and FI: same hour, day mean, week's mean; the EE-FI spread: (n, 24, 14)."""
    j = target - lead
    columns: list[Floats] = []
    for zone in range(1, prices.y.shape[-1]):
        y, week = prices.y[j, :, zone], prices.mean[7][j, :, zone]
        columns += [y, all_hours(y.mean(1)), week, all_hours(week.mean(1))]
    spread = np.abs(prices.y[j, :, 0] - prices.y[j, :, -1]).mean(1)
    return np.stack([*columns, all_hours(spread), prices.y[target - 7, :, -1]], axis=-1)


def calendar_columns(season: Season, prices: PriceState, target: Rows, lead: int) -> Floats:
    """Return weekday, holidays, sun, season and last year's daily profile at this time (0 = unknown): (n, 24, 18)."""
    j, sun = target - lead, season.sun
    daily = [
        *season.weekday[target].T,
        season.holiday[target],
        season.holiday[j] * (lead == 1),
        season.neighbour_holiday[target],
    ]
    hourly = [sun[target], all_hours(sun[target].mean(1)), sun[target] - sun[j]]
    then = target - _YEAR_DAYS + _AROUND_DAYS
    last_year = np.where((then >= PROFILE_DAYS)[:, None], prices.profile[np.maximum(then, 0)], 0.0)
    phase = [all_hours(values) for values in season.phase[target].T]
    return np.stack([*(all_hours(values) for values in daily), *hourly, *phase, last_year], axis=-1)


def anomalies(values: Floats) -> Floats:
    """Return vintages (issue days, ages, 24) minus the mean of all issues so far at each age.

    The centre moves with the archive: at its start a fixed one would act as a dummy for "there is a forecast". Hours
    past a forecast's reach are held at its last day mean, fading.
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


def far_columns(values: Floats, anomaly: Floats, sun: Floats, target: Rows, lead: int, issue: Rows) -> Floats:
    """Return a driver that reaches several days, as issued on `issue`: (n, 24, 12); missing = 0.

    Target hour, last usable day's hour and the change; day means of the same with the week's mean; the day before the
    target and the path between; neighbouring hours; the product with the sun, which is not centred: so it also tells
    old rows without an archive from new ones.
    """
    age, row, newest_age = target - issue, np.arange(len(target)), anomaly.shape[1] - 2
    of_issue = anomaly[issue]

    def at(ages: Rows) -> Floats:
        picked: Floats = of_issue[row, np.clip(ages, -1, newest_age) + 1]
        return picked

    now, last = at(age), at(age - lead)
    daily = np.stack([_day_mean(at(age - lead + step)) for step in range(lead + 1)], axis=-1)
    past = [_day_mean(_last_word(anomaly, target - lead - back, issue)) for back in range(1, 7)]
    week = (np.sum(past, axis=0) + daily[:, 0]) / 7
    path = daily[:, 1:-1].mean(1) if lead > 1 else np.zeros(len(target))
    long = np.concatenate([at(age - 1)[:, -1:], now, at(age + 1)[:, :1]], axis=1)
    before, after = (np.where(np.isnan(side), now, side) for side in (long[:, :-2], long[:, 2:]))
    days = [daily[:, -1], daily[:, 0], week, daily[:, -1] - week, daily[:, -2], path]
    uncentred = values[issue, np.clip(age, -1, newest_age) + 1] * np.maximum(sun[target], 0)
    hourly = [now, last, now - last, *(all_hours(one) for one in days), before, after, uncentred]
    columns: Floats = np.nan_to_num(np.stack(hourly, axis=-1))
    return columns


def _day_mean(hours: Floats) -> Floats:
    """Return the mean of a day's known hours, (n, 24) -> (n,); NaN where fewer than six are."""
    known = np.isfinite(hours)
    count = known.sum(1)
    mean = np.where(known, hours, 0).sum(1) / np.maximum(count, 1)
    return np.where(count >= _FEWEST_HOURS, mean, np.nan)


def _last_word(anomaly: Floats, day: Rows, issue: Rows) -> Floats:
    """Return what was last forecast for past days by the issue day, (n, 24)."""
    day = np.maximum(day, 0)
    seen_on = np.minimum(day + 1, issue)
    last: Floats = anomaly[seen_on, day - seen_on + 1]
    return last
