"""A forecast run, and what makes one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any, Final, NamedTuple, Protocol, Self

import numpy as np

from tunnihind.forecast.known import Floats, Known
from tunnihind.market import HOUR_S, QUARTER_S, Market, Zone, utc_midnight

LEADS: Final = 7
LEAD_DAYS: Final = range(1, LEADS + 1)
"""Lead days of a run: 1 to 7 days past the newest delivery day that a forecast may use."""

LEVELS: Final = (0.1, 0.5, 0.9)
"""Levels of the quantiles p10, p50 and p90."""
OUTER_LEVELS: Final = (LEVELS[0], LEVELS[-1])

ISSUE_AT: Final = time(9)
"""UTC; forecasts of past days are made at this time of each day: before the auction, in winter and in summer."""
ISSUE_CLOCK_S: Final = ISSUE_AT.hour * HOUR_S
"""The same in seconds after midnight UTC."""

SCENARIOS: Final = 20
"""How many price paths go with a run; each has a probability of 5%."""

_SAME_MEAN: Final = 0.0101
"""The mean of four medians is the hour's within 0.01 EUR/MWh, as each is rounded; the rest is for binary fractions."""
_SAME_PERCENTILE: Final = 0.0101


def issue_instant(day: date) -> int:
    """Return the instant of a UTC day at which forecasts of past days are made."""
    return utc_midnight(day) + ISSUE_CLOCK_S


@dataclass(frozen=True, slots=True)
class Run:
    """Percentiles of a zone's prices for consecutive periods, EUR/MWh without VAT; always `p10 <= p50 <= p90`.

    Each period lasts `step_s` seconds; the first begins at `start_ts`. Arrays have shape (periods,) and are rounded
    to 2 decimals, so that what is stored, exported and served is one and the same number. `inputs` says in JSON-ready
    values what the numbers rest on.
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
        """The instant at which the last period is over."""
        return self.start_ts + self.p50.size * self.step_s

    def starts(self) -> range:
        """Return the starts of the covered periods."""
        return range(self.start_ts, self.end_ts, self.step_s)

    def repeated(self, made_at: int, start_ts: int) -> Run | None:
        """Return the run that says the same of the periods from `start_ts` on, made later; None where it reaches none.

        Its inputs are the same, only older.
        """
        skipped, rest = divmod(start_ts - self.start_ts, self.step_s)
        if rest or not 0 <= skipped < self.p50.size:
            return None
        p10, p50, p90 = (percentile[skipped:] for percentile in (self.p10, self.p50, self.p90))
        inputs = _aged(self.inputs, (made_at - self.made_at) / HOUR_S)
        return Run(made_at, self.tier, self.zone, self.step_s, start_ts, p10, p50, p90, inputs)

    def goes_with(self, hours: Run) -> bool:
        """Tell whether this run was made with a run of hours: of its instant and span, with its medians."""
        return (
            (self.made_at, self.zone, self.start_ts, self.end_ts)
            == (hours.made_at, hours.zone, hours.start_ts, hours.end_ts)
            and hours.step_s == HOUR_S
            and bool((np.abs(self.p50.reshape(-1, HOUR_S // self.step_s).mean(axis=1) - hours.p50) < _SAME_MEAN).all())
        )

    def flat(self, step_s: int) -> Run:
        """Return the run that says of each shorter period what this one says of the period that holds it."""
        p10, p50, p90 = (np.repeat(values, self.step_s // step_s) for values in (self.p10, self.p50, self.p90))
        return replace(self, step_s=step_s, p10=p10, p50=p50, p90=p90)

    def says_the_same(self, other: Run) -> bool:
        """Tell whether two runs are the same to the last bit."""
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
        """Build a run from unrounded percentiles, shape (3, periods): p10, p50, p90.

        Raises ValueError where a value is not finite or percentiles cross: neither is ever to be served.
        """
        rounded = np.round(percentiles, 2) + 0.0
        if not np.isfinite(rounded).all():
            raise ValueError("a forecast value is not a finite number")
        if (np.diff(rounded, axis=0) < 0).any():
            raise ValueError("the percentiles of a forecast cross")
        return cls(made_at, tier, zone, step_s, start_ts, rounded[0], rounded[1], rounded[2], inputs)


def _aged(inputs: dict[str, Any], hours: float) -> dict[str, Any]:
    """Return the same inputs some hours later: covariates are that much older, and reach that much less far ahead."""
    if "covariates" not in inputs:
        return inputs
    covariates = [
        {**one, "ageH": round(one["ageH"] + hours, 1), "reachH": round(one["reachH"] - hours, 1)}
        for one in inputs["covariates"]
    ]
    return {**inputs, "covariates": covariates}


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Equally likely price paths over the hours of a run, EUR/MWh without VAT.

    `eur_mwh` has shape (20, hours), rounded to 2 decimals; the first hour begins at `start_ts`. The 10, 50 and 90%
    percentiles of each hour's 20 prices are the run's, within 0.01 EUR/MWh.
    """

    made_at: int
    zone: Zone
    start_ts: int
    eur_mwh: Floats

    def goes_with(self, hours: Run) -> bool:
        """Tell whether these are the paths of a run of hours: of its instant and span, with its percentiles."""
        if (self.made_at, self.zone, self.start_ts) != (hours.made_at, hours.zone, hours.start_ts):
            return False
        if self.eur_mwh.shape != (SCENARIOS, hours.p50.size) or hours.step_s != HOUR_S:
            return False
        percentiles = np.quantile(self.eur_mwh, LEVELS, axis=0)
        return bool((np.abs(percentiles - np.stack([hours.p10, hours.p50, hours.p90])) < _SAME_PERCENTILE).all())

    def says_the_same(self, other: Scenarios) -> bool:
        """Tell whether two are the same to the last bit."""
        return (self.made_at, self.zone, self.start_ts, self.eur_mwh.shape) == (
            other.made_at,
            other.zone,
            other.start_ts,
            other.eur_mwh.shape,
        ) and self.eur_mwh.tobytes() == other.eur_mwh.tobytes()


class Forecaster(Protocol):
    """Makes a market's runs from what is known."""

    @property
    def market(self) -> Market:
        """The market whose prices it forecasts."""

    @property
    def history_days(self) -> int:
        """How many days before the newest one it looks at, at most."""

    def forecast(self, known: Known) -> Run | None:
        """Forecast every hour after `known.as_of` up to 7 delivery days past the newest settled one.

        The prices of a delivery day never enter the forecast for that day, settled or not. None where
        no price is known, or where those days are over.
        """


class FullForecaster(Forecaster, Protocol):
    """Makes runs of hours, and a run of quarters and scenarios to go with each."""

    def forecast_quarters(self, known: Known, hourly: Run) -> Run:
        """Return the quarters of a run that `forecast` made from the same `known`: step 900 s, exactly its span.

        The mean of the four medians of an hour is the hour's p50 within 0.01 EUR/MWh. The prices of a delivery day
        never enter the forecast for that day. Raises ValueError where `hourly` was made at another instant.
        """

    def scenarios(self, known: Known, hourly: Run) -> Scenarios:
        """Return 20 equally likely paths over the hours of a run that `forecast` made from the same `known`.

        Raises ValueError where `hourly` was made at another instant.
        """


class Runs(NamedTuple):
    """Forecasts made together: runs of one instant and span by their step, and the scenarios of the hours."""

    by_step: Mapping[int, Run]
    scenarios: Scenarios | None = None

    @classmethod
    def made_by(cls, make: FullForecaster, known: Known) -> Self | None:
        """Forecast all from what is known; None without prices, or with old ones only.

        Hours come first: the shorter periods are shaped within them.
        """
        hours = make.forecast(known)
        if hours is None:
            return None
        return cls({HOUR_S: hours, QUARTER_S: make.forecast_quarters(known, hours)}, make.scenarios(known, hours))

    @property
    def hours(self) -> Run:
        """The run of hours."""
        return self.by_step[HOUR_S]


@dataclass(frozen=True, slots=True)
class OfStep:
    """A forecaster whose runs are of one step, for all that takes a forecaster."""

    make: FullForecaster
    step_s: int

    @property
    def market(self) -> Market:
        """The market whose prices it forecasts."""
        return self.make.market

    @property
    def history_days(self) -> int:
        """How many days before the newest one it looks at, at most."""
        return self.make.history_days

    def forecast(self, known: Known) -> Run | None:
        """Forecast every period of the hours of the hourly run; None where there is none."""
        if self.step_s == HOUR_S:
            return self.make.forecast(known)
        runs = Runs.made_by(self.make, known)
        return None if runs is None else runs.by_step[self.step_s]
