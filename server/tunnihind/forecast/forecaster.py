"""The served forecaster. The tier of a run depends on the known data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

import numpy as np

from tunnihind.core.market import (
    HOUR_S,
    QUARTER_S,
    Market,
    day_start,
    delivery_day,
    floor_hour,
    iso_utc,
)
from tunnihind.forecast.columns.lead import ColumnData
from tunnihind.forecast.intervals.conformal import calibrated_percentiles
from tunnihind.forecast.intervals.likeness import CALIBRATION_DAYS
from tunnihind.forecast.known_days.grid import consecutive_hours, days_between
from tunnihind.forecast.known_days.known_days import KnownDays, newest_whole_day
from tunnihind.forecast.known_days.price_state import to_eur
from tunnihind.forecast.known_days.season import SeasonCache
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.point.model import ENOUGH_PRICE_DAYS, PointModelFactory
from tunnihind.forecast.point.ridges_and_kernel import RidgesAndKernel
from tunnihind.forecast.quarters.known_quarters import LEARNT_DAYS, KnownQuarters
from tunnihind.forecast.quarters.quarters import quarters_of
from tunnihind.forecast.quarters.slope import ReplayedForecasts
from tunnihind.forecast.replay.learner import WARM_UP_DAYS
from tunnihind.forecast.replay.learnt import LearntKeeper
from tunnihind.forecast.replay.replay import MAX_REPLAY_DAYS, Replayer, ReplayResult, era_start, history_start
from tunnihind.forecast.run import LEAD_DAYS, LEADS, Run, Scenarios
from tunnihind.forecast.scenarios.scenarios import scenarios_of
from tunnihind.forecast.weather_level import WeatherLevel
from tunnihind.known import Floats, KnownData

_SHORT_HISTORY: Final = "short-history"
_MIN_HISTORY_DAYS: Final = 56
"""With fewer days of prices, `LastWeeksMean` forecasts better than the point model."""
_MIN_PRICED_DAYS: Final = WARM_UP_DAYS + LEADS
"""If fewer days have a known price, for example because of a long gap, the replay may not have learnt any price, so
`LastWeeksMean` forecasts."""
_ALL_LEADS: Final = tuple(LEAD_DAYS)


@dataclass(frozen=True, slots=True)
class _ForecastData:
    """The data for one forecast. The era of the replay begins at row `era_row`."""

    known: KnownData
    days: KnownDays
    columns: ColumnData
    era_row: int
    weather_level: WeatherLevel


@dataclass(slots=True)
class TieredForecaster:
    """Forecasts prices with a point model, and adds calibrated intervals.

    The model's forecast of day i uses the prices up to day j = min(newest day with all prices known, i - 1), so its
    lead is i - j. The model also uses the covariates known at the issue, but if day i is settled, only the covariates
    known on day i - 1. If the known prices are too few or too old for the model, `LastWeeksMean` forecasts instead. If
    the history has fewer than 120 days, the forecasts of the model and of `LastWeeksMean` are averaged. `LastWeeksMean`
    also forecasts the hours after the model's last day. An instance keeps its trained models for the next forecast, and
    a `keeper` keeps them for other processes. Instances with the same `market` and `model` make the same run from the
    same `KnownData`.
    """

    market: Market
    model: PointModelFactory = RidgesAndKernel
    keeper: LearntKeeper | None = field(default=None, repr=False)
    _seasons: SeasonCache = field(init=False, repr=False)
    _replayer: Replayer = field(init=False, repr=False)
    _last_run_and_replay: tuple[Run, ReplayedForecasts] | None = field(default=None, init=False, repr=False)
    """The last run of hours, and the past forecasts from which the run's quarters and scenarios are computed."""

    def __post_init__(self) -> None:
        self._seasons = SeasonCache(self.keeper)
        self._replayer = Replayer(self.model, self.keeper)

    @property
    def history_days(self) -> int:
        """The largest number of past days whose data `forecast` reads."""
        return MAX_REPLAY_DAYS

    def forecast(self, known: KnownData) -> Run | None:
        """Return a run that ends with the 7th delivery day after today.

        If the newest day with a price is after today, the run ends with the 7th delivery day after this newest day.
        The forecast begins with the next hour. If no price of the forecast zone is known for the last 7 days, return
        None.
        """
        data = self._forecast_data(known)
        if data is None:
            return LastWeeksMean(self.market).forecast(known)
        start_ts = floor_hour(known.as_of) + HOUR_S
        first, today = delivery_day(start_ts), delivery_day(known.as_of)
        newest_day = known.prices.series_of(self.market.zone).newest_day
        last = max(newest_day or today, today) + timedelta(days=LEADS)
        days = days_between(first, last)
        by_day = self._percentiles_ahead(data) | self._percentiles_of_settled_days(data, first)
        inside = [day for day in days if day in by_day]
        percentiles = consecutive_hours(np.stack([by_day[day] for day in inside], axis=1), inside)
        percentiles = percentiles[:, (start_ts - day_start(first)) // HOUR_S :]
        if len(inside) < len(days):
            percentiles = self._extended_percentiles(known, percentiles)
        tier = _tier(data.days, data.columns)
        if tier == _SHORT_HISTORY:
            percentiles = (percentiles + self._last_weeks_percentiles(known)) / 2
        run = Run.of(
            made_at=known.as_of,
            tier=tier,
            zone=self.market.zone,
            step_s=HOUR_S,
            start_ts=start_ts,
            percentiles=percentiles,
            inputs={
                **self._inputs(data),
                "errorDays": self._count_error_days(data),
                "observedDays": data.weather_level.days,
            },
        )
        self._last_run_and_replay = run, self._replayed_forecasts(data)
        return run

    def forecast_quarters(self, known: KnownData, hourly: Run) -> Run:
        """Return a run of quarters (900 s) for the hours of `hourly`, as `FullForecaster` describes."""
        hours = known.prices.series_of(self.market.zone)
        if hourly.made_at != known.as_of or hours.newest_day is None:
            raise ValueError("the run of hours was made from other data")
        quarters = KnownQuarters.until(known.prices.series_of(self.market.zone, QUARTER_S), hours.newest_day)
        return quarters_of(hourly, hours, quarters, self._replayed_forecasts_for(known, hourly), self.market)

    def scenarios(self, known: KnownData, hourly: Run) -> Scenarios:
        """Return 20 equally likely price paths for the hours of `hourly`, as `FullForecaster` describes."""
        if hourly.made_at != known.as_of:
            raise ValueError("the run of hours was made from other data")
        hours = known.prices.series_of(self.market.zone)
        return scenarios_of(hourly, hours, self._replayed_forecasts_for(known, hourly), self.market.limits)

    def _replayed_forecasts_for(self, known: KnownData, hourly: Run) -> ReplayedForecasts:
        """Return the past forecasts from which the quarters and the scenarios of `hourly` are computed.

        If `hourly` was made by `LastWeeksMean`, the result is empty.
        """
        if self._last_run_and_replay is None or self._last_run_and_replay[0] is not hourly:
            data = self._forecast_data(known)
            self._last_run_and_replay = (
                hourly,
                ReplayedForecasts.empty(delivery_day(known.as_of)) if data is None else self._replayed_forecasts(data),
            )
        return self._last_run_and_replay[1]

    def _replayed_forecasts(self, data: _ForecastData) -> ReplayedForecasts:
        """Return the replay's forecasts of up to 250 days, ending with the newest settled day.

        `median_error` has not moved these forecasts.
        """
        replayed = self._replayer.replay_up_to(data.columns, data.era_row, data.days.newest_row, _ALL_LEADS)
        first = max(data.days.newest_row + 1 - LEARNT_DAYS, 0)
        return ReplayedForecasts(data.days.grid.day(first), replayed.issued[:, first:].copy())

    def _forecast_data(self, known: KnownData) -> _ForecastData | None:
        """Prepare a forecast. If the known prices are too few or too old for the point model, return None."""
        newest = newest_whole_day(known.prices.series_of(self.market.zone))
        if newest is None:
            return None
        era = era_start(newest)
        days = KnownDays.of(known, self.market, history_start(newest), newest, self._seasons, era)
        if days is None or days.newest_row + 1 < _MIN_HISTORY_DAYS or days.newest_row + LEADS <= days.today_row:
            return None
        if np.isfinite(days.prices.eur_mwh[: days.newest_row + 1]).any(axis=1).sum() < _MIN_PRICED_DAYS:
            return None
        era_row = days.grid.row_of(era)
        level = WeatherLevel.of(known.observations, days, LEADS)
        return _ForecastData(known, days, ColumnData.of(days, days.issue_lag, era_row), era_row, level)

    def _percentiles_ahead(self, data: _ForecastData) -> dict[date, Floats]:
        """For each of the 7 days past the newest settled day, return p10, p50 and p90 in EUR/MWh, shape (3, 24)."""
        days = data.days
        replayed = self._replayer.replay_up_to(data.columns, data.era_row, days.newest_row, _ALL_LEADS)
        p50 = np.concatenate([_p50(replayed, data.columns, lead, days.today_row) for lead in _ALL_LEADS])
        actual = days.prices.eur_mwh[: days.newest_row + 1]
        percentiles = calibrated_percentiles(p50, actual, replayed.issued, self.market.limits)
        percentiles = data.weather_level.moved(percentiles, self.market.limits)
        return {days.grid.day(days.newest_row + lead): percentiles[:, lead - 1] for lead in _ALL_LEADS}

    def _count_error_days(self, data: _ForecastData) -> int:
        """Return how many of the 365 days up to the newest settled day the replay has forecast at lead 1."""
        replayed = self._replayer.replay_up_to(data.columns, data.era_row, data.days.newest_row, _ALL_LEADS)
        return int(np.isfinite(replayed.issued[0, -CALIBRATION_DAYS:]).any(axis=1).sum())

    def _percentiles_of_settled_days(self, data: _ForecastData, first: date) -> dict[date, Floats]:
        """For each settled day from `first` on, return p10, p50 and p90 in EUR/MWh, shape (3, 24).

        The forecast of a day uses the covariates known on the day before, and the prices up to the day before.
        """
        days = data.days
        settled = range(days.grid.row_of(first), days.newest_row + 1)
        columns = data.columns if days.issue_lag == 0 or not settled else ColumnData.of(days, 0, data.era_row)
        by_day: dict[date, Floats] = {}
        for row in settled:
            replayed = self._replayer.replay_up_to(columns, data.era_row, row - 1, (1,))
            p50 = _p50(replayed, columns, 1, min(row - 1, days.today_row))
            actual = days.prices.eur_mwh[:row]
            by_day[days.grid.day(row)] = calibrated_percentiles(p50, actual, replayed.issued, self.market.limits)[:, 0]
        return by_day

    def _last_weeks_percentiles(self, known: KnownData) -> Floats:
        """Return p10, p50 and p90 of the forecast by `LastWeeksMean` in EUR/MWh, shape (3, hours)."""
        run = LastWeeksMean(self.market).forecast(known)
        if run is None:
            raise ValueError("the mean of the last weeks needs a price")
        return np.stack([run.p10, run.p50, run.p90])

    def _extended_percentiles(self, known: KnownData, percentiles: Floats) -> Floats:
        """Append forecasts by `LastWeeksMean` for the hours after the model's last day.

        On each side of p50, an appended interval is at least as wide as the mean of the model's last 24 intervals,
        unless the price limits cut it.
        """
        rest = self._last_weeks_percentiles(known)[:, percentiles.shape[1] :]
        below, above = (
            (percentiles[1, -24:] - percentiles[0, -24:]).mean(),
            (percentiles[2, -24:] - percentiles[1, -24:]).mean(),
        )
        wide = np.stack([np.minimum(rest[0], rest[1] - below), rest[1], np.maximum(rest[2], rest[1] + above)])
        return np.concatenate([percentiles, np.clip(wide, self.market.limits.floor, self.market.limits.cap)], axis=1)

    def _inputs(self, data: _ForecastData) -> Mapping[str, Any]:
        known, days, columns = data.known, data.days, data.columns
        drivers = [*columns.weather, *columns.next_day]
        used = {name for driver in drivers for name in days.drivers.members[driver]}
        return {
            "tier": _tier(days, columns),
            "zones": [zone for zone in self.market.zones if known.prices.series_of(zone)],
            "newestSettledHour": known.prices.series_of(self.market.zone).newest_ts,
            "firstDay": days.grid.first.isoformat(),
            "lastDay": days.grid.day(days.newest_row).isoformat(),
            "historyDays": days.newest_row + 1,
            "drivers": {driver: list(days.drivers.members[driver]) for driver in drivers},
            "covariates": [
                {
                    "name": one.name,
                    "ageH": round((known.as_of - one.issued_ts) / HOUR_S, 1),
                    "reachH": round((one.reaches_ts - known.as_of) / HOUR_S, 1),
                    "imputed": one.is_imputed,
                }
                for one in days.covariates
                if one.name in used
            ],
            "weatherRuns": [iso_utc(run_ts) for run_ts in days.weather_runs],
            "staleDays": days.stale_days if columns.weather else 0,
            "ignored": [*days.ignored, *sorted({one.name for one in days.covariates} - used)],
        }


def _p50(replayed: ReplayResult, columns: ColumnData, lead: int, issue: int) -> Floats:
    """Return the level-corrected forecast of the day `lead` days past the newest replayed day.

    The forecast is in EUR/MWh and has shape (1, 24).
    """
    rows = columns.input_rows(np.array([replayed.through + lead]), lead, np.array([issue]))
    predicted = replayed.fit.predict(lead, rows)[0]
    return to_eur(predicted + replayed.shift[replayed.leads.index(lead)])


def _tier(days: KnownDays, columns: ColumnData) -> str:
    if days.newest_row + 1 < ENOUGH_PRICE_DAYS:
        return _SHORT_HISTORY
    if not columns.weather and not columns.next_day:
        return "prices"
    return "stale-weather" if columns.weather and days.stale_days else "weather"
