"""Moves the forecasts of far days toward the price level that years of observed weather make likely.

The level of a day is the mean of asinh(price / 50 EUR/MWh) over its hours. A ridge regression explains the levels of
past days by the observed weather of each region (wind power with three bends, the load in the cold, their product, and
the sun), by the weekday and by the season. The regression then forecasts levels from the weather forecasts. The point
model learns only from weather as it was forecast, which seldom includes many winters. Observations reach further back,
so the regression knows more cold weeks.

All hours of a day move equally on the asinh scale, so the shape of the day stays, and p10 and p90 move with p50. If
level and forecast are far apart, p10 and p90 also move apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import PriceLimits
from tunnihind.forecast.columns.table import DayRows
from tunnihind.forecast.known_days.drivers import ForecastMeans, observed_daily_means
from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.known_days import KnownDays
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.forecast.known_days.vintages import WEEK_AGES
from tunnihind.known import Floats, ObservationArchive

_SCALE_EUR_MWH: Final = 50.0
_MIN_DAYS: Final = 365
"""With fewer days of observed weather and prices, the regression would not know every season, so nothing moves."""
_HALF_LIFE_DAYS: Final = 500.0
_PENALTY: Final = 5.0
"""The penalty of the ridge regression, for columns of unit variance and days whose newest has weight 1."""
_BENDS: Final = (0.25, 0.5, 0.75)
"""The quantiles of a region's wind power at which its effect on the level may change."""
_ERROR_SHARE: Final = 0.5
_ERROR_HALF_LIFE_DAYS: Final = 5.0
_ERROR_DAYS: Final = 60
"""`_ERROR_SHARE` times the regression's mean error of the last `_ERROR_DAYS` days is added to its forecasts. Recent
errors have more weight."""
_SHARE: Final = 0.3
_FULL_SHARE_LEAD: Final = 5
"""The share of the distance to the level that a day moves is 0 at lead 1. It rises to `_SHARE` at this lead."""
_AGREEMENT: Final = 0.25
"""p10 and p90 move apart by `_SHARE` times the part of the distance beyond this value, on the scale of the levels."""
_BIAS_DAYS: Final = 365
_MIN_BIAS_DAYS: Final = 30
"""The mean difference of observations and forecasts is computed from the last `_BIAS_DAYS` days, and is 0 if fewer than
`_MIN_BIAS_DAYS` of these days have both."""


@dataclass(frozen=True, slots=True)
class WeatherLevel:
    """The levels that the weather makes likely.

    `levels` (leads,) holds the level of each of the seven days past the newest settled day, or NaN if its weather is
    unknown. `days` is the number of days from which the regression has learnt. If `days` is 0, all levels are NaN.
    """

    levels: Floats
    days: int

    @classmethod
    def of(cls, observations: ObservationArchive, days: KnownDays, leads: int) -> Self:
        """Learn from past days, and forecast the levels of the `leads` days past the newest settled day of `days`."""
        nothing = cls(np.full(leads, np.nan), 0)
        targets = np.arange(days.newest_row + 1, days.newest_row + 1 + leads)
        weather = {
            key: found
            for key, forecasts in days.drivers.far_means.items()
            if (found := _weather(observations, forecasts, days.grid, days.today_row, targets)) is not None
        }
        if not weather:
            return nothing
        last = min(days.newest_row, days.today_row - 1)
        level = to_asinh(days.prices.eur_mwh[: last + 1], _SCALE_EUR_MWH).mean(axis=1)
        rows = np.append(np.arange(last + 1), targets)
        values = {key: np.append(observed[: last + 1], forecast) for key, (observed, forecast) in weather.items()}
        seasons = np.concatenate([days.season.weekday, days.season.phase[:, :2]], axis=1)[rows]
        is_past = np.append(np.isfinite(level), np.zeros(leads, np.bool_))
        is_past &= np.isfinite(np.stack([*values.values()])).all(axis=0)
        if is_past.sum() < _MIN_DAYS:
            return nothing
        columns = np.concatenate([_weather_columns(values, is_past), seasons], axis=1)
        past = np.flatnonzero(is_past)
        predicted = _ridge_predictions(columns, past, level[past], 0.5 ** ((last - past) / _HALF_LIFE_DAYS))
        late = past[past > last - _ERROR_DAYS]
        weight = 0.5 ** ((last - late) / _ERROR_HALF_LIFE_DAYS)
        error = float(weight @ (level[late] - predicted[late]) / weight.sum()) if late.size else 0.0
        return cls(predicted[last + 1 :] + _ERROR_SHARE * error, past.size)

    def moved(self, percentiles: Floats, limits: PriceLimits) -> Floats:
        """Return p10, p50 and p90 in EUR/MWh, shape (3, leads, 24), moved toward the levels.

        Days whose level is unknown stay where they are.
        """
        scaled = to_asinh(percentiles, _SCALE_EUR_MWH)
        distance = np.nan_to_num(self.levels - scaled[1].mean(axis=1))
        share = _SHARE * np.minimum(np.arange(len(distance)) / (_FULL_SHARE_LEAD - 1), 1)
        wider = share * np.maximum(np.abs(distance) - _AGREEMENT, 0)
        moves = np.stack([share * distance - wider, share * distance, share * distance + wider])
        moved = np.clip(to_eur(scaled + moves[..., None], _SCALE_EUR_MWH), limits.floor, limits.cap)
        return np.where(moves[1][:, None] == 0, percentiles, moved)


def _weather(
    observations: ObservationArchive, forecasts: ForecastMeans, grid: DayGrid, today_row: int, targets: DayRows
) -> tuple[Floats, Floats] | None:
    """Return the daily means of the observed weather up to yesterday, and the forecast means of the days `targets`.

    If a covariate was not observed on a day, the newest forecasts from before each hour stand in. Both kinds of
    forecasts are corrected by the mean difference of observations and forecasts for the next day. If a covariate has no
    observation, return None.
    """
    if not all(name in observations.series for name in forecasts.members):
        return None
    hourly = {
        name: observations.series[name].between(int(grid.starts[0]), grid.hour_count) for name in forecasts.members
    }
    observed = observed_daily_means({name: grid.arrange_filled(values) for name, values in hourly.items()})
    if observed is None:
        return None
    difference = observed[1:today_row] - forecasts.values[: today_row - 1, _position(1)]
    known = difference[-_BIAS_DAYS:][np.isfinite(difference[-_BIAS_DAYS:])]
    bias = float(known.mean()) if known.size >= _MIN_BIAS_DAYS else 0.0
    stand_in = forecasts.values[1 : today_row + 1, _position(-1)]
    past = np.where(np.isfinite(observed[:today_row]), observed[:today_row], stand_in + bias)
    ages = targets - today_row
    ahead = forecasts.values[today_row, _position(np.maximum(ages, WEEK_AGES.start))]
    return past, np.where(ages >= WEEK_AGES.start, ahead + bias, np.nan)


def _position[Age: (int, DayRows)](age: Age) -> Age:
    """Return the position of an age in `WEEK_AGES`. The age is the number of days from the issue day to the day."""
    return age - WEEK_AGES.start


def _weather_columns(weather: Mapping[tuple[str, str], Floats], is_past: NDArray[np.bool_]) -> Floats:
    """Return the columns of the regression that describe the weather, shape (days, columns).

    `weather` maps regions and kinds to daily means (days,). The bends come from the days that `is_past` selects.
    """
    columns: list[Floats] = []
    for (region, kind), values in weather.items():
        columns.append(values)
        if kind == "wind":
            columns += [np.maximum(values - bend, 0) for bend in np.quantile(values[is_past], _BENDS)]
            if (load := weather.get((region, "load"))) is not None:
                columns.append(values * load)
    return np.stack(columns, axis=1)


def _ridge_predictions(columns: Floats, past: DayRows, level: Floats, weight: Floats) -> Floats:
    """Fit a ridge regression of `level` (n,) on the rows `past` of `columns`, and return the fit of all rows, (days,).

    `weight` (n,) holds the weights of the past days.
    """
    share = weight / weight.sum()
    centred = columns - share @ columns[past]
    scaled = centred / np.maximum(np.sqrt(share @ centred[past] ** 2), 1e-9)
    mean = share @ level
    weighted = scaled[past] * weight[:, None]
    gram = weighted.T @ scaled[past] + _PENALTY * np.eye(columns.shape[1])
    fit: Floats = mean + scaled @ np.linalg.solve(gram, weighted.T @ (level - mean))
    return fit
