"""How good the forecasts of wind and temperature turned out to be, by days ahead. All functions are pure.

A forecast is taken as it was at the model's issue time. It is compared with the newest issue of each hour. That issue
is at most some hours old. It is the closest thing to a measurement in the store.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import numpy as np

from tunnihind.forecast.known import CovariateArchive, Floats
from tunnihind.forecast.run import LEAD_DAYS, LEADS, issue_instant
from tunnihind.forecast.scoring.scores import mean_absolute_error
from tunnihind.market import DAY_S, HOUR_S, Market, day_end, day_start, delivery_day
from tunnihind.weather_points import SCORED, Drives, WeatherVariable, covariate_name, deciding_points

WINDOW_DAYS: Final = 30
_LEAST_DAYS: Final = 7
"""A correlation over fewer days says little."""
_NEWEST_S: Final = 12 * HOUR_S
"""The newest issue of a day's hours was made this long before the day at the earliest."""
_ISSUED_WITHIN_S: Final = 2 * DAY_S
"""An older forecast shows that a source fell silent. It does not show how good the source is."""

MEMORY_S: Final = (WINDOW_DAYS + LEADS) * DAY_S + _ISSUED_WITHIN_S
"""Issues are needed this far back, in seconds."""


@dataclass(frozen=True, slots=True)
class LeadAgreement:
    """How near forecasts came to the newest issue, over the hours of `days` delivery days.

    The forecasts were made `days_ahead` days before their delivery day. `correlation` is Pearson's. `error` is the mean
    absolute error in the variable's unit.
    """

    days_ahead: int
    days: int
    correlation: float
    error: float

    @classmethod
    def of(cls, days_ahead: int, forecast: Floats, newest: Floats) -> Self | None:
        """Compare hours. Unknown values are NaN. Return None if too few are known, or if their values never change."""
        known = np.isfinite(forecast) & np.isfinite(newest)
        days = round(int(known.sum()) * HOUR_S / DAY_S)
        said, came = forecast[known], newest[known]
        if days < _LEAST_DAYS or not np.ptp(said) or not np.ptp(came):
            return None
        return cls(days_ahead, days, float(np.corrcoef(said, came)[0, 1]), mean_absolute_error(came, said))


@dataclass(frozen=True, slots=True)
class VariableScores:
    """How good the forecasts of a variable turned out to be, under its source's name and in its unit."""

    variable: str
    unit: str
    by_days_ahead: tuple[LeadAgreement, ...]


def scored_names(market: Market) -> tuple[str, ...]:
    """Return the covariates that are scored: wind and temperature at the places that move the market's price most."""
    return tuple(name for variable, drives in SCORED for name in _names(variable, drives, market))


def weather_scores(archive: CovariateArchive, market: Market, now: int) -> tuple[VariableScores, ...]:
    """Score the forecasts of the last `WINDOW_DAYS` delivery days before the current one. `now` is in unix seconds.

    A variable is the mean over the places that the archive knows. A variable is left out while nothing can be scored.
    """
    today = delivery_day(now)
    days = [today - timedelta(days=back) for back in range(WINDOW_DAYS, 0, -1)]
    found = []
    for variable, drives in SCORED:
        names = [name for name in _names(variable, drives, market) if name in archive.series]
        if names and (agreements := tuple(_agreements(archive, names, days, now))):
            found.append(VariableScores(variable.name, variable.unit, agreements))
    return tuple(found)


def _names(variable: WeatherVariable, drives: Drives, market: Market) -> Iterator[str]:
    return (covariate_name(variable, point) for point in deciding_points(market.zone, drives))


def _agreements(
    archive: CovariateArchive, names: Sequence[str], days: Sequence[date], now: int
) -> Iterator[LeadAgreement]:
    newest = np.concatenate([_mean(archive, names, day, day_start(day) - _NEWEST_S, now) for day in days])
    for lead in LEAD_DAYS:
        forecast = np.concatenate([_forecast(archive, names, day, lead) for day in days])
        agreement = LeadAgreement.of(lead, forecast, newest)
        if agreement is not None:
            yield agreement


def _forecast(archive: CovariateArchive, names: Sequence[str], day: date, lead: int) -> Floats:
    issued_at = issue_instant(day - timedelta(days=lead))
    return _mean(archive, names, day, issued_at - _ISSUED_WITHIN_S, issued_at)


def _mean(archive: CovariateArchive, names: Sequence[str], day: date, since: int, until: int) -> Floats:
    """Return the mean over the places of a day's hours, as issued last from `since` to `until`.

    An hour is NaN if its value is unknown at any place.
    """
    hours = (day_end(day) - day_start(day)) // HOUR_S
    by_place = [archive.newest(name, day_start(day), hours, since, until) for name in names]
    mean: Floats = np.mean(by_place, axis=0)
    return mean
