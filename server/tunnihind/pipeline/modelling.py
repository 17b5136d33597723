"""Makes forecast runs from the store, in a process of its own so that serving never stutters."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Final, Protocol

from tunnihind.forecast.backtest import SCORE_DAYS, BacktestScore, recent_score
from tunnihind.forecast.live_scores import MEMORY_DAYS, WindowScores, live_scores
from tunnihind.forecast.model.forecaster import Ridges
from tunnihind.forecast.run import Forecaster, Run
from tunnihind.market import DAY_S, MARKET_LIMITS, WEEK_S, Limits
from tunnihind.pipeline.history import MEMORY_S, History
from tunnihind.pipeline.worker import Worker
from tunnihind.store.store import Store

_HISTORY: Final = History()


class Modeller(Protocol):
    """Puts the model to work on what was known at an instant."""

    async def run(self, as_of: int) -> Run | None:
        """Return the run, None where nothing is known. Raises StoreError, WorkerError."""

    async def score(self, as_of: int) -> BacktestScore | None:
        """Return the model's accuracy over the last 90 days, None where that is too little.

        Raises StoreError, WorkerError.
        """

    async def accuracy(self, as_of: int) -> tuple[WindowScores, ...]:
        """Return how the runs of the last weeks have done, as issued. Raises StoreError, WorkerError."""


def forecaster(floor_eur_mwh: float, cap_eur_mwh: float) -> Forecaster:
    """Return the served model for a market with these price limits."""
    return Ridges(floor_eur_mwh, cap_eur_mwh)


@cache
def _standing_forecaster(floor_eur_mwh: float, cap_eur_mwh: float) -> Forecaster:
    """Return the forecaster of this process, which goes on from what it has learnt; its runs are no different."""
    return forecaster(floor_eur_mwh, cap_eur_mwh)


def make_run(store: Store, as_of: int, limits: Limits = MARKET_LIMITS) -> Run | None:
    """Make a run of what `store` knew at an instant. Raises StoreError."""
    known = _HISTORY.archive(store, as_of).as_of(as_of)
    return _standing_forecaster(limits.floor, limits.cap).forecast(known)


def score(store: Store, as_of: int, limits: Limits = MARKET_LIMITS) -> BacktestScore | None:
    """Backtest the model over the 90 days before an instant. Raises StoreError."""
    archive = store.archive(as_of - SCORE_DAYS * DAY_S - MEMORY_S)
    return recent_score(archive, forecaster(limits.floor, limits.cap), as_of)


def accuracy(store: Store, as_of: int) -> tuple[WindowScores, ...]:
    """Score the runs of the last weeks, exactly as issued. Raises StoreError."""
    since = as_of - (MEMORY_DAYS + 1) * DAY_S
    truth = store.prices.archive(since - WEEK_S, zones=("ee",)).as_of(as_of)
    return live_scores(store.runs.since(since, as_of=as_of), truth)


class ProcessModeller:
    """Puts the model to work in a process of its own."""

    def __init__(self, database_url: str, limits: Limits = MARKET_LIMITS) -> None:
        self._database_url = database_url
        self._limits = limits
        self._worker = Worker()

    async def run(self, as_of: int) -> Run | None:
        """Return the run, None where nothing is known. Raises StoreError."""
        return await self._work(partial(make_run, limits=self._limits), as_of)

    async def score(self, as_of: int) -> BacktestScore | None:
        """Return the model's accuracy over the last 90 days, None where that is too little. Raises StoreError."""
        return await self._work(partial(score, limits=self._limits), as_of)

    async def accuracy(self, as_of: int) -> tuple[WindowScores, ...]:
        """Return how the runs of the last weeks have done, as issued. Raises StoreError."""
        return await self._work(accuracy, as_of)

    async def _work[Result](self, work: Callable[[Store, int], Result], as_of: int) -> Result:
        return await self._worker.do(partial(_with_store, self._database_url, work, as_of))

    def close(self) -> None:
        """Stop the process, whatever it is at: it only reads, and the server's end must not wait for a backtest."""
        self._worker.close()


@asynccontextmanager
async def process_modeller(database_url: str, limits: Limits = MARKET_LIMITS) -> AsyncIterator[ProcessModeller]:
    """Make runs in a process of its own within this context."""
    modeller = ProcessModeller(database_url, limits)
    try:
        yield modeller
    finally:
        modeller.close()


def _with_store[Result](database_url: str, work: Callable[[Store, int], Result], as_of: int) -> Result:
    with Store(database_url, read_only=True) as store:
        return work(store, as_of)
