"""A walk-forward backtest: forecasts of past days are compared with the actual prices.

A forecast uses only the data known at its issue (`Archive.as_of`). An hour is scored only if its price was unknown at
the issue.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import HOUR_S, WEEK_S, SeriesKey, Zone, day_end, day_start, delivery_day
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.run import ISSUE_AT, LEADS, Forecaster, Run
from tunnihind.forecast.scoring.naive import seven_day_mean_to_newest_day
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Archive, Floats, Instants, KnownData
from tunnihind.price_series import PriceSeries

type Progress = Callable[[int, int], None]
"""Called once for each issue, with the number of finished issues and the number of all issues."""

SCORE_DAYS: Final = 90
_SCORE_HORIZON_H: Final = 24
_BACKTEST_TIER: Final = "backtest"
MIN_SCORED_HOURS: Final = 28 * 24
"""A `BacktestScore` needs at least this many scored hours: four weeks, in which each weekday occurs four times."""


@dataclass(frozen=True, slots=True)
class BacktestForecasts:
    """The forecasts of a backtest, for periods whose prices were unknown at the issue.

    All arrays have shape (n,), with an item for each forecast of a period. Prices are in EUR/MWh. `lead_days` holds the
    number of days from the newest day settled at the issue to the period's delivery day, but at least 1.
    `seven_day_mean` holds the naive forecasts of the module `naive`. Unknown naive forecasts are NaN.
    """

    issued_ts: Instants
    target_ts: Instants
    lead_days: Instants
    p10: Floats
    p50: Floats
    p90: Floats
    seven_day_mean: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join the forecasts of all `parts` in order."""
        instants, prices = np.empty(0, np.int64), np.empty(0)
        nothing = cls(instants, instants, instants, prices, prices, prices, prices)
        return cls(
            *(np.concatenate([getattr(part, column.name) for part in (nothing, *parts)]) for column in fields(cls))
        )


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """The forecasts of a backtest, and the prices with which they are compared, in EUR/MWh.

    Each period lasts `step_s` seconds. `actual` (n,) holds the actual price for each forecast. `baseline` (n,) holds
    the price one week (168 h) earlier. Unknown prices are NaN.
    """

    forecasts: BacktestForecasts
    actual: Floats
    baseline: Floats
    step_s: int = HOUR_S

    @classmethod
    def of(cls, forecasts: BacktestForecasts, truth: PriceSeries) -> Self:
        """Look up the actual prices and the baseline in `truth`, which must have the same step as the forecasts."""
        targets = forecasts.target_ts
        return cls(forecasts, truth.prices_at(targets), truth.prices_at(targets - WEEK_S), truth.step_s)

    def scores(self, rows: NDArray[np.bool_] | slice = slice(None)) -> Scores:
        """Score the forecasts that `rows` selects. By default, score all forecasts."""
        issued = self.forecasts
        return Scores.of(
            actual=self.actual[rows],
            baseline=self.baseline[rows],
            p10=issued.p10[rows],
            p50=issued.p50[rows],
            p90=issued.p90[rows],
        )

    def scores_by_lead(self) -> dict[int, Scores]:
        """Map each lead to its scores. If no period of a lead can be scored, the lead's `n` is 0."""
        leads = self.forecasts.lead_days
        return {int(lead): self.scores(leads == lead) for lead in np.unique(leads)}


@dataclass(frozen=True, slots=True)
class BacktestScore:
    """The accuracy of the served model in a walk-forward backtest.

    `mae` and `baseline_mae` are in EUR/MWh. Each forecast is scored only on the `horizon_h` hours after the newest hour
    that was settled at the issue.
    """

    mae: float
    baseline_mae: float
    skill: float
    horizon_h: int


def backtest(
    archive: Archive,
    forecaster: Forecaster,
    first: date,
    last: date,
    *,
    issue_at: time = ISSUE_AT,
    horizon_days: int = LEADS,
    step_s: int = HOUR_S,
    progress: Progress | None = None,
) -> BacktestResult:
    """Forecast the delivery days from `first` to `last`, with one issue a day at `issue_at` UTC.

    `forecaster` must make runs of the step `step_s` (see `SingleStepForecaster`). The first issue is `horizon_days`
    days before `first`. A run issued on delivery day D is used for the hours of D+1 to D+`horizon_days` whose price was
    unknown at the issue. If the prices of D+1 were known at the issue, the longest lead is `horizon_days` - 1. Hours
    that a run does not cover are left out.
    """
    zone = forecaster.market.zone

    def targets(known: KnownData) -> Instants:
        issued_on = delivery_day(known.as_of)
        nearest = max(first, issued_on + timedelta(days=1))
        prices = known.prices.series_of(zone)
        return _unpublished_period_starts(prices, nearest, min(last, issued_on + timedelta(days=horizon_days)), step_s)

    instants = _daily_issue_instants(first - timedelta(days=horizon_days), last - timedelta(days=1), issue_at)
    forecasts = _walk_forward(archive, forecaster, instants, targets, progress)
    return BacktestResult.of(forecasts, archive.prices.newest_versions().series_of(zone, step_s))


@dataclass(frozen=True, slots=True)
class Next24HoursForecast:
    """The part of a run for the 24 hours after the newest hour that was settled at the issue.

    The arrays have shape (periods,), and are in EUR/MWh. Each period lasts `step_s` seconds. The first period begins at
    `start_ts`. Hours that the run does not cover are left out. If no hour is left, or if no run could be made, the
    arrays are empty.
    """

    issued_ts: int
    start_ts: int
    p10: Floats
    p50: Floats
    p90: Floats
    step_s: int

    @classmethod
    def of(cls, run: Run, known: KnownData) -> Self:
        """Return a run's forecast of the 24 hours after the newest settled hour in `known`."""
        targets = _next_24_hours(known.prices.series_of(run.zone), run.step_s)
        covered = targets[(targets >= run.start_ts) & (targets < run.end_ts)]
        if not covered.size:
            return cls.empty(known.as_of, run.step_s)
        rows = (covered - run.start_ts) // run.step_s
        return cls(known.as_of, int(covered[0]), run.p10[rows], run.p50[rows], run.p90[rows], run.step_s)

    @classmethod
    def empty(cls, issued_ts: int, step_s: int) -> Self:
        """Return a forecast without periods, issued at `issued_ts`."""
        return cls(issued_ts, issued_ts, np.empty(0), np.empty(0), np.empty(0), step_s)

    def as_run(self, zone: Zone) -> Run:
        """Return this forecast as a run of `zone` with the tier `backtest` and without inputs."""
        return Run(self.issued_ts, _BACKTEST_TIER, zone, self.step_s, self.start_ts, self.p10, self.p50, self.p90, {})

    def targets(self) -> Instants:
        """Return the start of each period."""
        return _period_starts(self.start_ts, self.start_ts + self.p50.size * self.step_s, self.step_s)


def scored_issue_instants(truth: PriceSeries, as_of: int) -> list[int]:
    """Return the issue instants of the forecasts of past days that are scored at `as_of`, oldest first.

    The instants are at `ISSUE_AT` on each of the 90 days before the newest settled day. Instants after `as_of` are left
    out. If no price is settled, return an empty list.
    """
    newest = truth.newest_day
    if newest is None:
        return []
    instants = _daily_issue_instants(newest - timedelta(days=SCORE_DAYS), newest - timedelta(days=1), ISSUE_AT)
    return [instant for instant in instants if instant <= as_of]


def backtest_score(forecasts: Iterable[Next24HoursForecast], truth: PriceSeries) -> BacktestScore | None:
    """Return the accuracy of the model's forecasts of past days.

    `truth` holds the actual prices, with the same step as the forecasts. A period is scored if its price and the price
    one week earlier are known. If fewer than `MIN_SCORED_HOURS` hours can be scored, or if the baseline's error is 0,
    return None.
    """
    parts = list(forecasts)
    targets = np.concatenate([np.empty(0, np.int64), *(part.targets() for part in parts)])
    p10, p50, p90 = (
        np.concatenate([np.empty(0), *(getattr(part, name) for part in parts)]) for name in ("p10", "p50", "p90")
    )
    actual, baseline = truth.prices_at(targets), truth.prices_at(targets - WEEK_S)
    scores = Scores.of(actual=actual, baseline=baseline, p10=p10, p50=p50, p90=p90)
    if scores.n * truth.step_s < MIN_SCORED_HOURS * HOUR_S or scores.baseline_mae == 0:
        return None
    return BacktestScore(scores.mae, scores.baseline_mae, scores.skill, _SCORE_HORIZON_H)


def _walk_forward(
    archive: Archive,
    forecaster: Forecaster,
    instants: Sequence[int],
    targets: Callable[[KnownData], Instants],
    progress: Progress | None,
) -> BacktestForecasts:
    issued: list[BacktestForecasts] = []
    for done, instant in enumerate(instants, start=1):
        known = archive.as_of(instant)
        run = forecaster.forecast(known)
        if run is not None:
            issued.append(_covered_forecasts(run, known, targets(known)))
        if progress is not None:
            progress(done, len(instants))
    return BacktestForecasts.joined(issued)


def _covered_forecasts(run: Run, known: KnownData, targets: Instants) -> BacktestForecasts:
    covered = targets[(targets >= run.start_ts) & (targets < run.end_ts)]
    periods = (covered - run.start_ts) // run.step_s
    return BacktestForecasts(
        issued_ts=np.full(covered.shape, known.as_of, np.int64),
        target_ts=covered,
        lead_days=_lead_days(covered, known.prices.series_of(run.zone).newest_day),
        p10=run.p10[periods],
        p50=run.p50[periods],
        p90=run.p90[periods],
        seven_day_mean=seven_day_mean_to_newest_day(known.prices, covered, SeriesKey(run.zone, run.step_s)),
    )


def _lead_days(targets: Instants, newest: date | None) -> Instants:
    days = [delivery_day(int(ts)) for ts in targets]
    return np.array([max(1, (day - newest).days) if newest is not None else 0 for day in days], np.int64)


def _daily_issue_instants(first: date, last: date, issue_at: time) -> list[int]:
    """Return the instants at `issue_at` UTC that lie in the delivery days from `first` to `last`."""
    dates = days_between(first - timedelta(days=1), last)
    instants = [int(datetime.combine(day, issue_at, UTC).timestamp()) for day in dates]
    return [instant for instant in instants if first <= delivery_day(instant) <= last]


def _unpublished_period_starts(prices: PriceSeries, first: date, last: date, step_s: int) -> Instants:
    days = prices.between(day_start(first), day_end(last))
    hours: Instants = days.starts[np.isnan(days.eur_mwh)]
    return (hours[:, None] + np.arange(0, HOUR_S, step_s)).ravel()


def _next_24_hours(prices: PriceSeries, step_s: int) -> Instants:
    newest = prices.newest_ts
    if newest is None:
        return np.empty(0, np.int64)
    return _period_starts(newest + HOUR_S, newest + (1 + _SCORE_HORIZON_H) * HOUR_S, step_s)


def _period_starts(start_ts: int, end_ts: int, step_s: int) -> Instants:
    return np.arange(start_ts, end_ts, step_s, dtype=np.int64)
