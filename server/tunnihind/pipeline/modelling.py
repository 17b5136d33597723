"""Makes forecast runs from the store, in a process of its own so that serving never stutters."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from time import monotonic
from typing import Final, Protocol

from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.identity import model_identity
from tunnihind.forecast.run import Forecaster, Run
from tunnihind.forecast.scoring.backtest import SCORE_DAYS, BacktestScore, NextDay, recent_score, score_instants
from tunnihind.forecast.scoring.live_scores import MEMORY_DAYS, WindowScores, live_scores
from tunnihind.known import PriceHistory
from tunnihind.market import DAY_S, MARKET_LIMITS, WEEK_S, Limits
from tunnihind.pipeline.history import History
from tunnihind.pipeline.worker import Worker
from tunnihind.store.store import Store

_HISTORY: Final = History()

SLICE_S: Final = 1.0
"""For so long forecasts of past days are made at a time, before they are kept."""
_STANDING_S: Final = 2 * DAY_S
"""Past days so near are forecast by the forecaster of the hourly runs."""
_LEAST: Final = 19
"""The niceness of what has time."""


class Modeller(Protocol):
    """Puts the model to work on what was known at an instant."""

    async def run(self, as_of: int) -> Run | None:
        """Return the run, None where nothing is known. Raises StoreError, WorkerError."""

    async def score_slice(self, as_of: int) -> ScoreSlice:
        """Make some of the forecasts that the score lacks, within a second or so. Raises StoreError, WorkerError."""

    async def score(self, as_of: int) -> BacktestScore | None:
        """Return the model's accuracy over the last 90 days, None where that is too little.

        Raises StoreError, WorkerError.
        """

    async def accuracy(self, as_of: int) -> tuple[WindowScores, ...]:
        """Return how the runs of the last weeks have done, as issued. Raises StoreError, WorkerError."""


def forecaster(floor_eur_mwh: float, cap_eur_mwh: float) -> Forecaster:
    """Return the served model for a market with these price limits."""
    return TieredForecaster(limits=Limits(floor_eur_mwh, cap_eur_mwh))


@cache
def _standing_forecaster(floor_eur_mwh: float, cap_eur_mwh: float) -> Forecaster:
    """Return the forecaster of this process, which goes on from what it has learnt; its runs are no different."""
    return forecaster(floor_eur_mwh, cap_eur_mwh)


def make_run(store: Store, as_of: int, limits: Limits = MARKET_LIMITS) -> Run | None:
    """Make a run of what `store` knew at an instant. Raises StoreError."""
    known = _HISTORY.archive(store, as_of).as_of(as_of)
    return _standing_forecaster(limits.floor, limits.cap).forecast(known)


@dataclass(frozen=True, slots=True)
class ScoreSlice:
    """Forecasts of past days that a model's score lacked, as many as were made in a second or so; `lacking` are left.

    `past` is what `BacktestBook.state_of_past` said before they were made.
    """

    forecasts: tuple[NextDay, ...]
    past: int
    lacking: int


class _Walk:
    """The forecaster that goes through past days, and what it looks at: kept from slice to slice until all are made."""

    def __init__(self, limits: Limits) -> None:
        self.history = History()
        self.make = forecaster(limits.floor, limits.cap)


_WALKS: Final[dict[Limits, _Walk]] = {}


def score_slice(
    store: Store, as_of: int, limits: Limits = MARKET_LIMITS, *, of_late: bool, slice_s: float = SLICE_S
) -> ScoreSlice:
    """Make some of the forecasts that the score of an instant lacks: those `of_late`, or the older ones.

    The oldest come first. At least one is made, if there is one to make, and no other begun after `slice_s`.
    Raises StoreError.
    """
    ends = monotonic() + slice_s
    past = store.backtests.state_of_past()
    kept = store.backtests.kept(model_identity(limits))
    missing = [instant for instant in score_instants(_recent_truth(store, as_of)) if instant not in kept]
    made: list[NextDay] = []
    for instant in missing:
        if (instant > as_of - _STANDING_S) is not of_late:
            continue
        if made and monotonic() >= ends:
            break
        made.append(_next_day(store, instant, as_of if of_late else None, limits))
    lacking = len(missing) - len(made)
    if not lacking:
        _WALKS.clear()
    return ScoreSlice(tuple(made), past, lacking)


def _next_day(store: Store, instant: int, of_late: int | None, limits: Limits) -> NextDay:
    if of_late is not None:
        # The forecaster of the hourly runs has just learnt nearly all that this one needs.
        known = _HISTORY.archive(store, of_late).as_of(instant)
        return NextDay.made_by(_standing_forecaster(limits.floor, limits.cap), known)
    walk = _WALKS.setdefault(limits, _Walk(limits))
    return NextDay.made_by(walk.make, walk.history.archive(store, instant).as_of(instant))


def score(store: Store, as_of: int, limits: Limits = MARKET_LIMITS) -> BacktestScore | None:
    """Score the forecasts of past days that are kept, by the prices known at an instant. Raises StoreError."""
    truth = _recent_truth(store, as_of)
    kept = store.backtests.kept(model_identity(limits))
    return recent_score((kept[instant] for instant in score_instants(truth) if instant in kept), truth)


def _recent_truth(store: Store, as_of: int) -> PriceHistory:
    since = as_of - (SCORE_DAYS + 4) * DAY_S - WEEK_S
    return store.prices.archive(since, zones=("ee",)).as_of(as_of)


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
        self._walker = Worker(niceness=_LEAST)

    async def run(self, as_of: int) -> Run | None:
        """Return the run, None where nothing is known. Raises StoreError."""
        return await self._work(partial(make_run, limits=self._limits), as_of)

    async def score_slice(self, as_of: int) -> ScoreSlice:
        """Make some of the forecasts that the score lacks, within a second or so. Raises StoreError, WorkerError.

        Those of late are made by the process of the hourly runs, which has learnt all that it takes. The older ones
        have a process of their own while there are any: it takes long to learn, and no hourly run waits for that.
        """
        late = await self._work(partial(score_slice, limits=self._limits, of_late=True), as_of)
        if late.forecasts:
            return late
        if not late.lacking:
            self._walker.close()
            return late
        older = partial(score_slice, limits=self._limits, of_late=False)
        return await self._walker.do(partial(_with_store, self._database_url, older, as_of))

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
        self._walker.close()


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
