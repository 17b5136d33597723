"""Pipelines for tests, with modellers and an observer that note their calls."""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from tests.support.clocks import JumpingClock, TimeIsUp
from tests.support.markets.runs import run_with
from tunnihind.clock import Clock
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, Market, PriceLimits, Zone, delivery_day
from tunnihind.forecast.identity import model_identity
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.quarters.slope import ReplayedForecasts
from tunnihind.forecast.run import Run, Runs, Scenarios
from tunnihind.forecast.scenarios.scenarios import scenarios_of
from tunnihind.forecast.scoring.live_scores import LiveScores
from tunnihind.known import KnownData
from tunnihind.pipeline.modelling import (
    PastForecasts,
    ScoreByStep,
    backtest_scores,
    forecast_past_days,
    live_scores,
    make_runs,
)
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.price_series import PriceSeries
from tunnihind.sources.base import CovariateSource, ObservationSource, PriceSource
from tunnihind.store.store import Store

LIMITS = PriceLimits(-500, 4000)


NO_HISTORY = date(9999, 1, 1)
"""A first day so late that there is no history to fill in."""


class StubModeller:
    """Makes runs of a day's length from nothing, and notes their instants."""

    def __init__(self) -> None:
        self.errors: deque[Exception] = deque()
        self.made_at: list[int] = []
        self.scored_at: list[int] = []
        self.asked_accuracy_at: int | None = None

    async def runs(self, market: Market, as_of: int) -> Runs:
        self.made_at.append(as_of)
        if self.errors:
            raise self.errors.popleft()
        return plain_runs(as_of, market.zone)

    async def forecast_past_days(self, market: Market, as_of: int) -> PastForecasts:
        self.scored_at.append(as_of)
        return PastForecasts((), 0, 0)

    async def backtest_scores(self, market: Market, as_of: int) -> ScoreByStep:
        assert self.scored_at[-1] == as_of
        return {HOUR_S: None, QUARTER_S: None}

    async def live_scores(self, market: Market, as_of: int) -> LiveScores:
        self.asked_accuracy_at = as_of
        return LiveScores()


class InProcessModeller:
    """Runs the real model in the test's own process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def runs(self, market: Market, as_of: int) -> Runs:
        return make_runs(self._store, as_of, market)

    async def forecast_past_days(self, market: Market, as_of: int) -> PastForecasts:
        late = forecast_past_days(self._store, as_of, market, model_identity(market), recent=True)
        return (
            late
            if late.forecasts
            else forecast_past_days(self._store, as_of, market, model_identity(market), recent=False)
        )

    async def backtest_scores(self, market: Market, as_of: int) -> ScoreByStep:
        return backtest_scores(self._store, as_of, market, model_identity(market))

    async def live_scores(self, market: Market, as_of: int) -> LiveScores:
        return live_scores(self._store, as_of, market, model_identity(market))


@dataclass
class RecordingObserver(Observer):
    """Notes the events of the pipeline."""

    refused: list[tuple[str, str]] = field(default_factory=list)
    filled: list[tuple[str, int, int]] = field(default_factory=list)
    answered: list[tuple[str, bool]] = field(default_factory=list)

    def request_ended(self, source: str, *, answered: bool) -> None:
        self.answered.append((source, answered))

    def day_held(self, source: str, reason: str) -> None:
        self.refused.append((source, reason))

    def back_fill_progressed(self, what: str, done: int, total: int) -> None:
        self.filled.append((what, done, total))


def plain_run(made_at: int, *, median: float = 50.0, hours: int = 24) -> Run:
    """Return a run of some hours with the same median, from the next full hour on."""
    percentiles = np.array([[median - 10.0], [median], [median + 10.0]]).repeat(hours, axis=1)
    return run_with(percentiles, made_at=made_at)


def quarters_of(run: Run, within: Sequence[float] = (-3.0, -1.0, 1.0, 3.0)) -> Run:
    """Return the run of quarters that belongs to a run of hours.

    `within` has each quarter's difference from its hour.
    """
    shape = np.tile(within, run.p50.size)
    return Run.of(
        made_at=run.made_at,
        tier=run.tier,
        zone=run.zone,
        step_s=QUARTER_S,
        start_ts=run.start_ts,
        percentiles=np.array([run.p10, run.p50, run.p90]).repeat(len(within), axis=1) + shape,
        inputs=run.inputs,
    )


def plain_runs(made_at: int, zone: Zone = "ee") -> Runs:
    """Return a plain run, and the quarters and scenarios of this run."""
    hours = replace(plain_run(made_at), zone=zone)
    return Runs({HOUR_S: hours, QUARTER_S: quarters_of(hours)}, scenarios_with(hours))


def scenarios_with(run: Run) -> Scenarios:
    """Return the price paths of a run of hours without known past prices."""
    return scenarios_of(
        run, PriceSeries.of("ee", HOUR_S, {}), ReplayedForecasts.empty(delivery_day(run.start_ts)), ESTONIA.limits
    )


class QuickModel(LastWeeksMean):
    """A quick model: the mean of the last weeks.

    Its quarters always differ in the same way from their hour. Its scenarios need no past.
    """

    def forecast_quarters(self, known: KnownData, hourly: Run) -> Run:
        assert hourly.made_at == known.as_of
        return quarters_of(hourly)

    def scenarios(self, known: KnownData, hourly: Run) -> Scenarios:
        assert hourly.made_at == known.as_of
        return scenarios_with(hourly)


def pipeline_of(
    store: Store,
    clock: Clock,
    *,
    prices: Sequence[PriceSource],
    weather: Sequence[CovariateSource] = (),
    observations: Sequence[ObservationSource] = (),
    modeller: StubModeller | InProcessModeller | None = None,
    history_start: date = NO_HISTORY,
    observer: Observer | None = None,
    markets: Sequence[Market] = (ESTONIA,),
) -> Pipeline:
    """Return a pipeline. Without a `history_start` there is no history to fill in."""
    return Pipeline(
        store,
        markets,
        prices,
        weather,
        modeller or StubModeller(),
        clock,
        observation_sources=observations,
        history_start=history_start,
        observer=observer or Observer(),
    )


async def live(
    pipeline: Pipeline, clock: JumpingClock, until: float, on_change: Callable[[], None] | None = None
) -> None:
    """Run a pipeline until an instant."""
    clock.until = until
    with suppress(TimeIsUp):
        await pipeline.run(on_change or (lambda: None))
