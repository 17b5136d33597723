"""The simulated market as a source of prices and covariates, for `serve --demo` and for tests."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

import numpy as np

from tunnihind.clock import Clock, SystemClock
from tunnihind.core.market import (
    DAY_S,
    HOUR_S,
    STEPS,
    day_end,
    day_start,
    market_time_unit,
    publication_time,
    utc_midnight,
)
from tunnihind.known import Floats, IssuedSeries
from tunnihind.sources.base import BackFillPace, Cadence, DaySheet, Quote, days_between
from tunnihind.sources.open_meteo import FORECAST_DAYS, RUN_AVAILABLE_AFTER_S
from tunnihind.sources.simulated_market import SimulatedMarket
from tunnihind.weather_points import POINTS, VARIABLES, WeatherVariable, covariate_name

_COVARIATES: Final = tuple((variable, point) for variable in VARIABLES for point in POINTS)


class SimulatedSource:
    """Publishes simulated prices at the official publication time, and a new weather forecast at every instant."""

    name = "simulated"
    covariate_names = frozenset(covariate_name(variable, point) for variable, point in _COVARIATES)
    cadence = Cadence(every_s=3 * HOUR_S)
    back_fill = BackFillPace(by="month")
    history_since = date(2024, 1, 1)

    def __init__(self, seed: int = 1, *, clock: Clock | None = None) -> None:
        self._market = SimulatedMarket(seed)
        self._clock = clock or SystemClock()

    async def fetch_sheets(self, first: date, last: date) -> list[DaySheet]:
        """Return a complete sheet for each zone and each published delivery day from `first` to `last`."""
        now = self._clock.now()
        published = [day for day in days_between(first, last) if publication_time(day) <= now]
        sheets = []
        for step_s in STEPS:
            sheets += self._sheets([day for day in published if market_time_unit(day) == step_s], step_s)
        return sheets

    def has_news(self, _now: int, /) -> bool:
        """Return True, because the simulation has a new forecast at every instant."""
        return True

    async def newest_forecasts(self, now: int) -> Mapping[str, IssuedSeries]:
        """Return the weather forecast that is issued at `now`. The forecast covers 10 days from today (UTC) on."""
        return {name: issued for name, (issued,) in self._forecasts_issued_at([now]).items()}

    async def archived_forecasts(self, first: date, last: date) -> Mapping[str, Sequence[IssuedSeries]]:
        """Return the past forecasts that were issued at 06 UTC on the days from `first` to `last`."""
        mornings = range(utc_midnight(first) + RUN_AVAILABLE_AFTER_S, utc_midnight(last) + DAY_S, DAY_S)
        now = self._clock.now()
        return self._forecasts_issued_at([ts for ts in mornings if ts <= now])

    def _forecasts_issued_at(self, instants: Sequence[int]) -> dict[str, list[IssuedSeries]]:
        """Return the weather forecasts issued at `instants`, by covariate.

        `instants` must be in chronological order.
        """
        if not instants:
            return {}
        starts = [instant // DAY_S * DAY_S for instant in instants]
        ts = np.arange(starts[0], starts[-1] + FORECAST_DAYS * DAY_S, HOUR_S, dtype=np.float64)
        at = [slice(first := (start - starts[0]) // HOUR_S, first + FORECAST_DAYS * 24) for start in starts]
        weights = [_error_weights(ts[hours] - instant) for instant, hours in zip(instants, at, strict=True)]
        series = {}
        for variable, point in _COVARIATES:
            name = covariate_name(variable, point)
            truth = self._market.weather(variable, point, ts + HOUR_S / 2)
            revisions = self._market.daily_errors(name, ts, FORECAST_DAYS)
            errors = [(weight * revisions[:, hours]).sum(axis=0) for weight, hours in zip(weights, at, strict=True)]
            series[name] = [
                IssuedSeries(instant, start, _forecast_values(variable, truth[hours], error))
                for instant, start, hours, error in zip(instants, starts, at, errors, strict=True)
            ]
        return series

    def _sheets(self, delivery_days: Sequence[date], step_s: int) -> list[DaySheet]:
        if not delivery_days:
            return []
        starts = np.arange(day_start(delivery_days[0]), day_end(delivery_days[-1]), step_s, dtype=np.int64)
        prices = self._market.prices(starts.astype(np.float64) + step_s / 2)
        sheets = []
        for zone, row in prices.items():
            quotes = [Quote(*quote) for quote in zip(starts.tolist(), row.tolist(), strict=True)]
            for day in delivery_days:
                low, high = ((edge - int(starts[0])) // step_s for edge in (day_start(day), day_end(day)))
                sheets.append(DaySheet(self.name, zone, day, step_s, tuple(quotes[low:high])))
        return sheets


def _error_weights(since_issue_s: Floats) -> Floats:
    """Return the weight of each of `SimulatedMarket.daily_errors` in a forecast's error, shape (days, instants).

    `since_issue_s` contains the seconds from the issue of the forecast to each instant. For example, two and a half
    days after the issue, the weights are 1, 1, 0.5, 0, 0 and so on.
    """
    weights: Floats = np.clip(since_issue_s / DAY_S - np.arange(FORECAST_DAYS)[:, np.newaxis], 0.0, 1.0)
    return weights


def _forecast_values(
    variable: WeatherVariable, truth: Floats, error: Floats
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    # Wind and radiation are multiplied by a random factor, so that radiation of zero at night is forecast as zero.
    forecast = truth + 0.8 * error if variable.name == "temperature_2m" else truth * np.exp(0.12 * error)
    return np.clip(forecast, variable.low, variable.high).astype(np.float32)
