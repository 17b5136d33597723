"""Makes forecast runs and scores in separate processes, so that requests to the server do not have to wait."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

from tunnihind.core.market import DAY_S, HOUR_S, STEPS, WEEK_S, Market, SeriesKey, Zone, day_start, delivery_day
from tunnihind.errors import NothingToForecast
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.identity import model_identity
from tunnihind.forecast.replay.learnt import LearntKeeper
from tunnihind.forecast.run import LEADS, FullForecaster, Runs
from tunnihind.forecast.scoring.backtest import (
    SCORE_DAYS,
    BacktestScore,
    Next24HoursForecast,
    backtest_score,
    scored_issue_instants,
)
from tunnihind.forecast.scoring.live_scores import (
    SCORED_MONTHS,
    SCORED_RUNS_WITHIN_DAYS,
    LiveScores,
    ScoresByMonth,
    day_scores,
    month_scores,
    window_scores,
)
from tunnihind.known import PriceHistory
from tunnihind.pipeline.history import ArchiveCache
from tunnihind.pipeline.learnt_files import LearntFiles
from tunnihind.pipeline.worker import Worker
from tunnihind.settings import data_folder
from tunnihind.store.rows import EARLIEST
from tunnihind.store.store import Store

_SLICE_S: Final = 1.0
"""After this many seconds, a call of `forecast_past_days` begins no further forecast, so that the server can store the
finished forecasts."""
_RECENT_S: Final = 2 * DAY_S
"""A past day is recent if the issue of its forecast is less than this many seconds before `as_of`."""
_LOWEST_PRIORITY: Final = 19
"""The niceness of the process that forecasts older past days."""


type ScoreByStep = Mapping[int, BacktestScore | None]
"""Maps each step in seconds to the score of the forecasts with this step. If too few hours could be scored, or if the
baseline's error is 0, the score is None."""


class Modeller(Protocol):
    """Makes forecast runs and scores from the data known at an instant."""

    async def runs(self, market: Market, as_of: int) -> Runs:
        """Make a market's runs from the data known at `as_of`. Raises NothingToForecast, StoreError, WorkerError."""

    async def forecast_past_days(self, market: Market, as_of: int) -> PastForecasts:
        """Make and return some of the missing forecasts of past days that the scores need.

        After about a second, no further forecast is begun. If no forecast is missing, the result contains no forecasts.
        Raises StoreError, WorkerError.
        """

    async def backtest_scores(self, market: Market, as_of: int) -> ScoreByStep:
        """For each step, score the model's forecasts for the 90 delivery days up to the newest settled day.

        Raises StoreError, WorkerError.
        """

    async def live_scores(self, market: Market, as_of: int) -> LiveScores:
        """Score the recent issue days' last runs before gate closure, and the stored forecasts of past days.

        Raises StoreError, WorkerError.
        """


def new_forecaster(market: Market, keeper: LearntKeeper | None = None) -> FullForecaster:
    """Return a new forecaster for a market's served forecasts. The `keeper` stores what the forecaster learns."""
    return TieredForecaster(market, keeper=keeper)


_ARCHIVE_CACHE: Final = ArchiveCache()
"""The history that this process has read last. All markets share it."""

_KEPT_FORECASTERS: Final[dict[tuple[Market, Path | None], FullForecaster]] = {}
"""The forecaster that this process used last for an hourly run or a recent day."""


def _kept_forecaster(store: Store, market: Market) -> FullForecaster:
    folder = learnt_folder(store, market.zone)
    if (market, folder) not in _KEPT_FORECASTERS:
        # Only one forecaster is kept, because each forecaster takes as much memory as the history.
        _KEPT_FORECASTERS.clear()
        keeper = None if folder is None else LearntFiles(folder, model_identity(market), mode=store.database.file_mode)
        _KEPT_FORECASTERS[market, folder] = new_forecaster(market, keeper)
    return _KEPT_FORECASTERS[market, folder]


def learnt_folder(store: Store, zone: Zone) -> Path | None:
    """Return the folder for the `LearntFiles` of a zone's model.

    If the database is an SQLite file, the folder is beside the file. If the database is on a server, the folder is in
    the user's data folder. If the database is in memory, return None.
    """
    if store.database.system.path is not None:
        return Path(f"{store.database.system.path}-learnt") / zone
    return None if store.database.system.is_private else data_folder() / "learnt" / zone


def make_runs(store: Store, as_of: int, market: Market) -> Runs:
    """Forecast a market's prices from the data known at `as_of`. Raises NothingToForecast, StoreError."""
    kept = _kept_forecaster(store, market)
    known = _ARCHIVE_CACHE.read_archive(store, kept, as_of).as_of(as_of)
    runs = Runs.made_by(kept, known)
    if runs is None:
        newest = known.prices.series_of(market.zone).newest_day
        if newest is None:
            raise NothingToForecast(f"no price of {market.code} is known")
        raise NothingToForecast(
            f"the newest price is from {newest}, and a forecast reaches {LEADS} delivery days past that day"
        )
    return runs


@dataclass(frozen=True, slots=True)
class PastForecasts:
    """The forecasts that one call of `forecast_past_days` made.

    `missing_count` is the number of past days that are still to be forecast, recent or not. `data_change_count` is the
    result of `StateBook.data_change_count` before the forecasts were made.
    """

    forecasts: tuple[Next24HoursForecast, ...]
    data_change_count: int
    missing_count: int


_PAST_FORECASTERS: Final[dict[Market, FullForecaster]] = {}
"""The forecaster of each market's older past days. All forecasters are dropped when all forecasts of one market's past
days have been made."""


def forecast_past_days(
    store: Store, as_of: int, market: Market, model: str, *, recent: bool, slice_s: float = _SLICE_S
) -> PastForecasts:
    """Make some of the missing forecasts of past days that the scores at `as_of` need, oldest first. Raises StoreError.

    If `recent` is true, make only forecasts whose issue is less than two days before `as_of`. If `recent` is false,
    make only older forecasts. If such forecasts are missing, make at least one of them, and begin no further forecast
    after `slice_s` seconds. `model` is the identity of the server's model. This process doesn't compute the identity
    itself, because after an upgrade it may run newer code than the server.
    """
    ends = monotonic() + slice_s
    past = store.state.data_change_count()
    kept = set.intersection(*({*store.backtests.forecasts(model, SeriesKey(market.zone, step_s))} for step_s in STEPS))
    wanted = scored_issue_instants(_recent_prices(store, as_of, market.zone).series_of(market.zone), as_of)
    missing = [instant for instant in wanted if instant not in kept]
    made: dict[int, tuple[Next24HoursForecast, ...]] = {}
    for instant in missing:
        if (instant > as_of - _RECENT_S) is not recent:
            continue
        if made and monotonic() >= ends:
            break
        made[instant] = _forecast_next_24_hours(store, instant, as_of if recent else None, market)
    missing_count = len(missing) - len(made)
    if not missing_count:
        _PAST_FORECASTERS.clear()
    return PastForecasts(tuple(chain.from_iterable(made.values())), past, missing_count)


def _forecast_next_24_hours(
    store: Store, instant: int, run_at: int | None, market: Market
) -> tuple[Next24HoursForecast, ...]:
    """Forecast the 24 hours after the newest settled hour known at `instant`, once for each step in `STEPS`.

    If `run_at` is given, use the forecaster of the hourly runs, and the history that this forecaster needs at `run_at`.
    """
    if run_at is not None:
        # The forecaster of the hourly runs has already learnt nearly everything that a recent day's forecast needs.
        kept = _kept_forecaster(store, market)
    else:
        kept = _PAST_FORECASTERS.setdefault(market, new_forecaster(market))
    known = _ARCHIVE_CACHE.read_archive(store, kept, instant if run_at is None else run_at).as_of(instant)
    runs = Runs.made_by(kept, known)
    if runs is None:
        return tuple(Next24HoursForecast.empty(instant, step_s) for step_s in STEPS)
    return tuple(Next24HoursForecast.of(run, known) for run in runs.by_step.values())


def backtest_scores(store: Store, as_of: int, market: Market, model: str) -> ScoreByStep:
    """Score a model's stored forecasts of past days with the prices known at `as_of`. Raises StoreError."""
    prices = _recent_prices(store, as_of, market.zone)
    instants = scored_issue_instants(prices.series_of(market.zone), as_of)
    by_step: dict[int, BacktestScore | None] = {}
    for step_s in STEPS:
        kept = store.backtests.forecasts(model, SeriesKey(market.zone, step_s))
        forecasts = (kept[instant] for instant in instants if instant in kept)
        by_step[step_s] = backtest_score(forecasts, prices.series_of(market.zone, step_s))
    return by_step


def _recent_prices(store: Store, as_of: int, zone: Zone) -> PriceHistory:
    return _prices_since(store, as_of, zone, as_of - (SCORE_DAYS + 4) * DAY_S - WEEK_S)


def _prices_since(store: Store, as_of: int, zone: Zone, since: int) -> PriceHistory:
    return store.prices.read_archive(since, zones=(zone,)).as_of(as_of)


def live_scores(store: Store, as_of: int, market: Market, model: str) -> LiveScores:
    """Score each issue day's last run before gate closure, and the stored forecasts of past days. Raises StoreError.

    Runs issued more than 14 weeks before the issue day of the newest stored scores are not scored again.
    """
    newest = store.scores.newest_issue_day(market.zone)
    since = EARLIEST if newest is None else min(day_start(newest), as_of) - (SCORED_RUNS_WITHIN_DAYS + 1) * DAY_S
    hours = SeriesKey(market.zone, HOUR_S)
    prices = _prices_since(store, as_of, market.zone, since - 2 * WEEK_S).series_of(*hours)
    days = day_scores(store.runs.made_since(hours, since, as_of), prices)
    first = min((day.issued_on for day in days), default=delivery_day(as_of))
    earlier = store.scores.day_scores(
        market.zone, first - timedelta(days=31 * SCORED_MONTHS), first - timedelta(days=1)
    )
    backtest = (one.as_run(market.zone) for one in store.backtests.forecasts(model, hours).values())
    return LiveScores(
        days=tuple(days),
        windows=window_scores(days, prices.newest_day),
        months=ScoresByMonth(
            issued=month_scores([*earlier, *days]), backtest=month_scores(day_scores(backtest, prices))
        ),
    )


class ProcessModeller:
    """Makes forecast runs and scores in separate processes, of which at most one runs at a time.

    A process ends soon after its work, so that it takes no memory between two hourly runs.
    """

    def __init__(self, database_url: str, *, answers_requests: bool = True) -> None:
        """Prepare the processes. If this process `answers_requests`, they have a lower priority."""
        self._database_url = database_url
        self._worker = Worker() if answers_requests else Worker(niceness=0)
        self._past_worker = Worker(niceness=_LOWEST_PRIORITY if answers_requests else 0, is_thrifty=True)
        self._lock = asyncio.Lock()
        self._zones_with_recent_forecasts = set[Zone]()

    async def runs(self, market: Market, as_of: int) -> Runs:
        """Make a market's runs from the data known at `as_of`. Raises NothingToForecast, StoreError, WorkerError."""
        return await self._call_in_process(partial(make_runs, market=market), as_of)

    async def forecast_past_days(self, market: Market, as_of: int) -> PastForecasts:
        """Make and return some of the missing forecasts of past days that the scores need.

        The process of the hourly runs makes the forecasts of recent days, because its model has already learnt nearly
        everything that these forecasts need. Forecasts of older days need much learning, so a separate process with the
        lowest priority makes them. Raises StoreError, WorkerError.
        """
        model = model_identity(market)
        if market.zone not in self._zones_with_recent_forecasts:
            recent = await self._call_in_process(
                partial(forecast_past_days, market=market, model=model, recent=True), as_of
            )
            if recent.forecasts or not recent.missing_count:
                return recent
            self._zones_with_recent_forecasts.add(market.zone)
        older = await self._call_in_process(
            partial(forecast_past_days, market=market, model=model, recent=False), as_of, self._past_worker
        )
        if not older.forecasts:
            self._past_worker.close()
            self._zones_with_recent_forecasts.discard(market.zone)
            return await self.forecast_past_days(market, as_of) if older.missing_count else older
        return older

    async def backtest_scores(self, market: Market, as_of: int) -> ScoreByStep:
        """For each step, score the model's forecasts for the 90 delivery days up to the newest settled day.

        Raises StoreError, WorkerError.
        """
        return await self._call_in_process(partial(backtest_scores, market=market, model=model_identity(market)), as_of)

    async def live_scores(self, market: Market, as_of: int) -> LiveScores:
        """Score the issued runs and the stored forecasts of past days. Raises StoreError, WorkerError."""
        return await self._call_in_process(partial(live_scores, market=market, model=model_identity(market)), as_of)

    async def _call_in_process[Result](
        self, work: Callable[[Store, int], Result], as_of: int, worker: Worker | None = None
    ) -> Result:
        """End the other worker's process to free its memory, and call `work` in the process of `worker`.

        By default, call `work` in the process of the hourly runs.
        """
        chosen = self._worker if worker is None else worker
        async with self._lock:
            for other in {self._worker, self._past_worker} - {chosen}:
                other.close()
            return await chosen.do(partial(_call_with_store, self._database_url, work, as_of))

    def close(self) -> None:
        """End the processes at once, even if they are working. This is safe, because they never write to the store."""
        self._worker.close()
        self._past_worker.close()


@asynccontextmanager
async def process_modeller(database_url: str, *, answers_requests: bool = True) -> AsyncIterator[ProcessModeller]:
    """Provide a `ProcessModeller`. When the context closes, end the modeller's processes."""
    modeller = ProcessModeller(database_url, answers_requests=answers_requests)
    try:
        yield modeller
    finally:
        modeller.close()


def _call_with_store[Result](database_url: str, work: Callable[[Store, int], Result], as_of: int) -> Result:
    with Store(database_url, read_only=True, is_replica=True) as store:
        return work(store, as_of)
