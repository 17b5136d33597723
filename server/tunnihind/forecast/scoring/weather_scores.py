"""Scores wind and temperature forecasts by days ahead.

The store has no measurements of the weather, so earlier forecasts of an hour are compared with the hour's newest
forecast. The earlier forecasts are the newest ones known at the `issue_instant` of each of the 7 days before the
delivery day. An hour's newest forecast is used only if it was issued no earlier than 12 hours before the start of the
delivery day.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Self

import numpy as np

from tunnihind.core.market import DAY_S, HOUR_S, Market, day_end, day_start, delivery_day
from tunnihind.forecast.run import LEAD_DAYS, LEADS, issue_instant
from tunnihind.forecast.scoring.scores import mean_absolute_error
from tunnihind.known import CovariateArchive, Floats
from tunnihind.weather_points import SCORED_VARIABLES, PointKind, WeatherVariable, covariate_name, region_points

SCORED_DAYS: Final = 30
_MIN_DAYS: Final = 7
"""A `LeadAgreement` needs at least this many days. With fewer days, its correlation is unreliable."""
_NEWEST_ISSUED_WITHIN_S: Final = 12 * HOUR_S
"""An hour's newest forecast is not used if it was issued more than this many seconds before the start of the delivery
day."""
_EARLIER_ISSUED_WITHIN_S: Final = 2 * DAY_S
"""The newest forecast known at an `issue_instant` is not scored if it was issued more than this many seconds earlier.
Older forecasts show an outage of the source, not its accuracy."""

USED_FORECASTS_WITHIN_S: Final = (1 + SCORED_DAYS + LEADS) * DAY_S + _EARLIER_ISSUED_WITHIN_S
"""`weather_scores` uses only forecasts issued in this many seconds before `now`. The 1 stands for the part of today
that has passed."""


@dataclass(frozen=True, slots=True)
class LeadAgreement:
    """How well the weather forecasts of `days_ahead` days before the delivery day agree with the newest forecasts.

    `days` is the number of compared hours divided by 24 and rounded. `correlation` is Pearson's correlation
    coefficient. `error` is the mean absolute difference in the variable's unit.
    """

    days_ahead: int
    days: int
    correlation: float
    error: float

    @classmethod
    def of(cls, days_ahead: int, forecast: Floats, newest: Floats) -> Self | None:
        """Compare earlier weather forecasts with the newest forecasts of the same hours. Both have shape (hours,).

        Unknown forecasts are NaN. If `days` would be less than `_MIN_DAYS`, or if one of the two has the same value in
        all hours for which both are known, return None.
        """
        known = np.isfinite(forecast) & np.isfinite(newest)
        days = round(int(known.sum()) * HOUR_S / DAY_S)
        earlier, latest = forecast[known], newest[known]
        if days < _MIN_DAYS or not np.ptp(earlier) or not np.ptp(latest):
            return None
        return cls(days_ahead, days, float(np.corrcoef(earlier, latest)[0, 1]), mean_absolute_error(latest, earlier))


@dataclass(frozen=True, slots=True)
class VariableScores:
    """The accuracy of a weather variable's forecasts. `variable` is the variable's name at the weather source."""

    variable: str
    unit: str
    by_days_ahead: tuple[LeadAgreement, ...]


def scored_covariate_names(market: Market) -> tuple[str, ...]:
    """Return the names of the covariates that `weather_scores` uses for a market."""
    return tuple(name for variable, kind in SCORED_VARIABLES for name in _covariate_names(variable, kind, market))


def weather_scores(archive: CovariateArchive, market: Market, now: int) -> tuple[VariableScores, ...]:
    """Score the weather forecasts for the last `SCORED_DAYS` delivery days before today. `now` is in unix seconds.

    A variable's forecast is the mean of the forecasts of its covariates in `scored_covariate_names`. Covariates that
    `archive` lacks, and variables that can't be scored, are left out.
    """
    today = delivery_day(now)
    days = [today - timedelta(days=back) for back in range(SCORED_DAYS, 0, -1)]
    found = []
    for variable, kind in SCORED_VARIABLES:
        names = [name for name in _covariate_names(variable, kind, market) if name in archive.series]
        if names and (agreements := tuple(_agreements(archive, names, days, now))):
            found.append(VariableScores(variable.name, variable.unit, agreements))
    return tuple(found)


def _covariate_names(variable: WeatherVariable, kind: PointKind, market: Market) -> Iterator[str]:
    return (covariate_name(variable, point) for point in region_points(market.zone, kind))


def _agreements(
    archive: CovariateArchive, names: Sequence[str], days: Sequence[date], now: int
) -> Iterator[LeadAgreement]:
    newest = np.concatenate(
        [_mean_forecast(archive, names, day, day_start(day) - _NEWEST_ISSUED_WITHIN_S, now) for day in days]
    )
    for lead in LEAD_DAYS:
        forecast = np.concatenate([_earlier_forecast(archive, names, day, lead) for day in days])
        agreement = LeadAgreement.of(lead, forecast, newest)
        if agreement is not None:
            yield agreement


def _earlier_forecast(archive: CovariateArchive, names: Sequence[str], day: date, lead: int) -> Floats:
    issued_at = issue_instant(day - timedelta(days=lead))
    return _mean_forecast(archive, names, day, issued_at - _EARLIER_ISSUED_WITHIN_S, issued_at)


def _mean_forecast(archive: CovariateArchive, names: Sequence[str], day: date, since: int, until: int) -> Floats:
    """For each hour of a day, return the mean of the newest forecasts of the covariates in `names`.

    Only forecasts issued from `since` to `until` count. If a covariate has no such forecast for an hour, the hour's
    mean is NaN.
    """
    hours = (day_end(day) - day_start(day)) // HOUR_S
    by_place = [archive.newest_values(name, day_start(day), hours, since, until) for name in names]
    mean: Floats = np.mean(by_place, axis=0)
    return mean
