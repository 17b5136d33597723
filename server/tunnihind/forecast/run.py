"""Forecast runs, their scenarios, and the protocols of forecasters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any, Final, NamedTuple, Protocol, Self

import numpy as np

from tunnihind.core.market import HOUR_S, QUARTER_S, Market, Zone, utc_midnight
from tunnihind.known import Floats, KnownData

LEADS: Final = 7
LEAD_DAYS: Final = range(1, LEADS + 1)
"""The leads of the model's forecasts: 1 to 7 days past the newest delivery day whose prices a forecast may use."""

QUANTILE_LEVELS: Final = (0.1, 0.5, 0.9)
"""Levels of the quantiles p10, p50 and p90."""
INTERVAL_LEVELS: Final = (QUANTILE_LEVELS[0], QUANTILE_LEVELS[-1])

ISSUE_AT: Final = time(9)
"""The default UTC time of issue for forecasts of past days, before gate closure both in winter and in summer."""
ISSUE_AT_S: Final = ISSUE_AT.hour * HOUR_S
"""`ISSUE_AT` in seconds after midnight UTC."""

SCENARIO_COUNT: Final = 20
"""The number of price paths of a run. Each path has a probability of 5%."""

_MEAN_TOLERANCE: Final = 0.0101
"""An hour's p50 and the mean p50 of its quarters must differ by less than this, in EUR/MWh.

`FullForecaster` allows a difference of 0.01. The remaining 0.0001 allows for binary rounding.
"""
_PERCENTILE_TOLERANCE: Final = 0.0101


def issue_instant(day: date) -> int:
    """Return the instant of `ISSUE_AT` on a UTC day."""
    return utc_midnight(day) + ISSUE_AT_S


@dataclass(frozen=True, slots=True)
class Run:
    """Percentiles of a zone's prices for consecutive periods, in EUR/MWh without VAT.

    `p10`, `p50` and `p90` have shape (periods,). In each period, `p10 <= p50 <= p90`. Each period lasts `step_s`
    seconds. The first period begins at `start_ts`, and `made_at` is the issue, both in unix seconds UTC. Prices are
    rounded to 2 decimals, so that stored, exported and served prices are equal. `inputs` describes the data from which
    the run was made, in values that can be written as JSON.
    """

    made_at: int
    tier: str
    zone: Zone
    step_s: int
    start_ts: int
    p10: Floats
    p50: Floats
    p90: Floats
    inputs: dict[str, Any]

    @property
    def end_ts(self) -> int:
        """The end of the last period, in unix seconds UTC."""
        return self.start_ts + self.p50.size * self.step_s

    def starts(self) -> range:
        """Return the start of each period, in unix seconds UTC."""
        return range(self.start_ts, self.end_ts, self.step_s)

    def goes_with(self, hours: Run) -> bool:
        """Return whether this run and the run of hours `hours` have the same issue, zone, start, end and hourly p50.

        The hourly p50 of this run is the mean p50 of its periods in an hour. It may differ from the p50 of `hours` by
        up to 0.01 EUR/MWh.
        """
        return (
            (self.made_at, self.zone, self.start_ts, self.end_ts)
            == (hours.made_at, hours.zone, hours.start_ts, hours.end_ts)
            and hours.step_s == HOUR_S
            and bool(
                (np.abs(self.p50.reshape(-1, HOUR_S // self.step_s).mean(axis=1) - hours.p50) < _MEAN_TOLERANCE).all()
            )
        )

    def as_flat_run(self, step_s: int) -> Run:
        """Return this run with the shorter step `step_s`.

        Each shorter period gets the percentiles of the longer period that contains it.
        """
        p10, p50, p90 = (np.repeat(values, self.step_s // step_s) for values in (self.p10, self.p50, self.p90))
        return replace(self, step_s=step_s, p10=p10, p50=p50, p90=p90)

    def is_identical_to(self, other: Run) -> bool:
        """Return whether this run and another run are equal in every bit."""
        numbers = zip((self.p10, self.p50, self.p90), (other.p10, other.p50, other.p90), strict=True)
        return (
            (self.made_at, self.tier, self.zone, self.step_s, self.start_ts)
            == (other.made_at, other.tier, other.zone, other.step_s, other.start_ts)
            and json.dumps(self.inputs) == json.dumps(other.inputs)
            and all(mine.tobytes() == theirs.tobytes() for mine, theirs in numbers)
        )

    @classmethod
    def of(
        cls,
        *,
        made_at: int,
        tier: str,
        zone: Zone,
        step_s: int,
        start_ts: int,
        percentiles: Floats,
        inputs: dict[str, Any],
    ) -> Run:
        """Build a run from unrounded p10, p50 and p90 in EUR/MWh, shape (3, periods).

        Raises ValueError if a value is not finite, or if percentiles cross, because such a run must never be served.
        """
        rounded = np.round(percentiles, 2) + 0.0
        if not np.isfinite(rounded).all():
            raise ValueError("a forecast value is not a finite number")
        if (np.diff(rounded, axis=0) < 0).any():
            raise ValueError("the percentiles of a forecast cross")
        return cls(made_at, tier, zone, step_s, start_ts, rounded[0], rounded[1], rounded[2], inputs)


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Equally likely price paths for the hours of a run, in EUR/MWh without VAT.

    `eur_mwh` has shape (20, hours) and is rounded to 2 decimals. The first hour begins at `start_ts`, and `made_at` is
    the issue, both in unix seconds UTC. The 10th, 50th and 90th percentiles of each hour's 20 prices equal the run's
    p10, p50 and p90 within 0.01 EUR/MWh.
    """

    made_at: int
    zone: Zone
    start_ts: int
    eur_mwh: Floats

    def goes_with(self, hours: Run) -> bool:
        """Return whether these paths and the run of hours `hours` have the same issue, zone, hours and percentiles.

        The percentiles may differ by up to 0.01 EUR/MWh.
        """
        if (self.made_at, self.zone, self.start_ts) != (hours.made_at, hours.zone, hours.start_ts):
            return False
        if self.eur_mwh.shape != (SCENARIO_COUNT, hours.p50.size) or hours.step_s != HOUR_S:
            return False
        percentiles = np.quantile(self.eur_mwh, QUANTILE_LEVELS, axis=0)
        return bool((np.abs(percentiles - np.stack([hours.p10, hours.p50, hours.p90])) < _PERCENTILE_TOLERANCE).all())

    def is_identical_to(self, other: Scenarios) -> bool:
        """Return whether two sets of price paths are equal in every bit."""
        return (self.made_at, self.zone, self.start_ts, self.eur_mwh.shape) == (
            other.made_at,
            other.zone,
            other.start_ts,
            other.eur_mwh.shape,
        ) and self.eur_mwh.tobytes() == other.eur_mwh.tobytes()


class Forecaster(Protocol):
    """Makes a market's runs from the known data."""

    @property
    def market(self) -> Market:
        """The market whose prices are forecast."""

    @property
    def history_days(self) -> int:
        """The largest number of past days whose data `forecast` reads."""

    def forecast(self, known: KnownData) -> Run | None:
        """Return a run that ends with the 7th delivery day after today.

        If the newest day with a price is after today, the run ends with the 7th delivery day after this newest day.
        The forecast begins with the first hour that starts after `known.as_of`. The forecast of a delivery day uses no
        price of that day, even if the price is settled. If no price of the market's zone is known for the last 7 days
        or a later day, return None.
        """


class FullForecaster(Forecaster, Protocol):
    """Makes a market's runs of hours, runs of quarters and price paths."""

    def forecast_quarters(self, known: KnownData, hourly: Run) -> Run:
        """Return a run of quarters (900 s) for the hours of `hourly`.

        `hourly` must be the run that `forecast` made from the same `known`. The mean of the p50 of an hour's four
        quarters equals the hour's p50 within 0.01 EUR/MWh. The forecast of a delivery day uses no price of that day.
        Raises ValueError if `hourly.made_at` differs from `known.as_of`, or if no price of the market's zone is known.
        """

    def scenarios(self, known: KnownData, hourly: Run) -> Scenarios:
        """Return 20 equally likely price paths for the hours of `hourly`.

        `hourly` must be the run that `forecast` made from the same `known`. Raises ValueError if `hourly.made_at`
        differs from `known.as_of`.
        """


class Runs(NamedTuple):
    """A run for each step, and the scenarios of the hourly run.

    `by_step` maps each step in seconds to its run. The runs and the scenarios have the same issue, start and end.
    If no scenarios were made, `scenarios` is None.
    """

    by_step: Mapping[int, Run]
    scenarios: Scenarios | None = None

    @classmethod
    def made_by(cls, forecaster: FullForecaster, known: KnownData) -> Self | None:
        """Make a run of hours, a run of quarters and scenarios from the known data.

        If `forecaster.forecast` returns None, return None.
        """
        hours = forecaster.forecast(known)
        if hours is None:
            return None
        return cls(
            {HOUR_S: hours, QUARTER_S: forecaster.forecast_quarters(known, hours)}, forecaster.scenarios(known, hours)
        )

    @property
    def hours(self) -> Run:
        """The run of hours."""
        return self.by_step[HOUR_S]


@dataclass(frozen=True, slots=True)
class SingleStepForecaster:
    """A `Forecaster` whose runs have the step `step_s`."""

    forecaster: FullForecaster
    step_s: int

    @property
    def market(self) -> Market:
        """The market whose prices are forecast."""
        return self.forecaster.market

    @property
    def history_days(self) -> int:
        """The largest number of past days whose data `forecast` reads."""
        return self.forecaster.history_days

    def forecast(self, known: KnownData) -> Run | None:
        """Return the run with the step `step_s`, for the same hours as the hourly run."""
        if self.step_s == HOUR_S:
            return self.forecaster.forecast(known)
        runs = Runs.made_by(self.forecaster, known)
        return None if runs is None else runs.by_step[self.step_s]
