"""Does the pipeline's tasks when they are due. If a task fails, the pipeline continues with the other tasks."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from tunnihind.clock import Clock
from tunnihind.core.market import DAY_S, Market, SeriesKey, Zone, delivery_day, iso_utc
from tunnihind.errors import (
    BadAnswer,
    LeaseLost,
    NothingToForecast,
    RateLimited,
    SourceError,
    StoreDamaged,
    StoreError,
    StoreLost,
    TunnihindError,
)
from tunnihind.forecast.identity import model_identity
from tunnihind.forecast.known_days.drivers import MIN_ISSUE_DAYS
from tunnihind.pipeline.accuracy_record import write_due_records
from tunnihind.pipeline.back_fill import (
    FORECAST_WANTED_KEY,
    YEARS_FILLED_KEY,
    day_ranges_of_year,
    filled_parts_key,
    first_part,
    record_filled_part,
    record_progress,
    record_unavailable_day,
)
from tunnihind.pipeline.covariate_ingest import CovariateIngest
from tunnihind.pipeline.modelling import Modeller
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.price_ingest import PriceIngest
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.pipeline.schedule import (
    ZONE_TASK_KINDS,
    Situation,
    Task,
    TaskKind,
    Tries,
    due_tasks,
    limited_pause_end,
    next_delivery_day,
    next_due_at,
    price_request_days,
)
from tunnihind.pipeline.situation import read_situation
from tunnihind.sources.base import CovariateSource, HistorySource, ObservationSource, PriceSource
from tunnihind.store.prices import AddedCounts
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

WAIT_FOR_MODEL_S: Final = 1.0
"""Other tasks wait at most this many seconds for a forecast or for scores."""

_LONGEST_NAP_S: Final = 10.0
"""The pipeline sleeps for at most this many seconds, because meanwhile the clock may jump, or `tunnihind import` may
store prices."""

WAIT_FOR_COVARIATES_S: Final = 30.0
"""Other tasks wait for a covariate source, because its answer improves the forecast, but at most this many seconds."""


_MAX_BAD_ANSWERS: Final = 3
_FIRST_RETRY_PAUSE_S: Final = 15 * 60
"""After the first failed request for a day of the history, the day is put off for this many seconds. Each further
failure makes the pause four times as long, up to 24 hours. If the source limits requests (`RateLimited`), the day is
not put off."""


class Pipeline:
    """Keeps the store's prices, covariates, forecasts and scores up to date."""

    def __init__(
        self,
        store: Store,
        markets: Sequence[Market],
        price_sources: Sequence[PriceSource],
        covariate_sources: Sequence[CovariateSource],
        modeller: Modeller,
        clock: Clock,
        *,
        observation_sources: Sequence[ObservationSource] = (),
        history_start: date,
        observer: Observer,
    ) -> None:
        self._store = store
        self._markets = {market.zone: market for market in markets}
        self._modeller = modeller
        self._models = {market.zone: model_identity(market) for market in markets}
        self._clock = clock
        self._history_start = history_start
        self._covariate_sources = {source.name: source for source in covariate_sources}
        self._observation_sources = {source.name: source for source in observation_sources}
        self._price_names = [source.name for source in price_sources]
        self._has_deleted_unused_sources = False
        self._observer = observer
        self._prices = PriceIngest(store, markets, price_sources, clock, self._observer)
        self._covariates = CovariateIngest(store, markets[0], clock, self._observer)
        self._tries: dict[Task, Tries] = {}
        self._put_off_days: dict[tuple[str, date], Tries] = {}
        self._running: dict[Task, asyncio.Task[None]] = {}
        self._cannot_read_store = False
        self._replacements_seen = 0
        self._no_forecast_reasons: dict[Zone, str] = {}
        self._on_change: Callable[[], None] = lambda: None
        self.steps = 0
        """While the pipeline runs, this number keeps increasing unless the pipeline is stuck."""

    async def run(self, on_change: Callable[[], None]) -> None:
        """Do tasks when they are due, until cancelled. Call `on_change` whenever the store may have changed."""
        self._on_change = on_change
        # Since the last call of `run`, another server may have stored data of sources that this server lacks.
        self._has_deleted_unused_sources = False
        try:
            while True:
                if await self.step():
                    on_change()
                else:
                    await self._sleep_until_due()
        finally:
            await self._cancel_running()
            await self._prices.close()

    async def catch_up(
        self, on_change: Callable[[], None] = lambda: None, *, without: Collection[TaskKind] = frozenset()
    ) -> bool:
        """Do tasks until none is due or running. Skip tasks whose kind is in `without`.

        If the last attempt at a task failed, if the store can't be read, or if a zone lacks the prices for a forecast,
        return False. Otherwise, return True.
        """
        self._on_change = on_change
        try:
            while await self._begin_or_await_task(without):
                on_change()
            await self._prices.finish()
        finally:
            await self._cancel_running()
        has_failed = self._cannot_read_store or any(tries.failures for tries in self._tries.values())
        return not has_failed and not self._no_forecast_reasons

    async def step(self, without: Collection[TaskKind] = frozenset()) -> bool:
        """Begin the first due task whose kind is not in `without`, and return True.

        If no such task is due, or if the store can't be read, return False.
        """
        self.steps += 1
        now = self._now()
        try:
            situation = await self._read_situation(now)
            if self._replacements_seen != self._store.database.system.replacement_count:
                self._forget_tries()
                situation = await self._read_situation(now)
        except TunnihindError as error:
            if not self._cannot_read_store and not isinstance(error, StoreLost):
                _LOG.error("the pipeline can't read the store: %s; it will try again", error)
            self._cannot_read_store = True
            return False
        self._cannot_read_store = False
        await self._delete_unused_sources()
        due = [task for task in due_tasks(situation, now) if task.kind not in without]
        if due:
            await self._begin_task(due[0], situation, now)
        return bool(due)

    def _forget_tries(self) -> None:
        """Forget all past attempts, because the copy that has replaced the database may lack what they stored."""
        self._replacements_seen = self._store.database.system.replacement_count
        self._tries.clear()
        self._put_off_days.clear()
        _LOG.info("a copy has replaced the database: the sources are asked again for data that the copy may lack")

    async def _delete_unused_sources(self) -> None:
        """Record the price sources and the served zones.

        Delete the health and witnesses of sources that this server does not use.

        After a success, do nothing until the next call of `run`.
        """
        if not self._has_deleted_unused_sources:
            # If the store can't be written, the next task that writes reports the error, and the next step tries again.
            with suppress(StoreError):
                names = {*self._price_names, *self._covariate_sources, *self._observation_sources}
                await asyncio.to_thread(self._store.health.keep_only, names)
                await asyncio.to_thread(self._store.witnesses.keep_only, self._price_names)
                await asyncio.to_thread(self._store.state.record_price_source_names, self._price_names)
                await asyncio.to_thread(self._store.state.record_served_zones, tuple(self._markets))
                self._has_deleted_unused_sources = True

    async def _begin_task(self, task: Task, situation: Situation, now: int) -> None:
        """Do a task. If a covariate source or the model takes long, return while the task is still running."""
        if not task.source and task.kind not in ZONE_TASK_KINDS:
            await self._try_task(task, situation, now)
            return
        doing = asyncio.create_task(self._try_task(task, situation, now))
        self._running[task] = doing
        doing.add_done_callback(lambda _: self._running.pop(task))
        patience_s = WAIT_FOR_COVARIATES_S if task.source else WAIT_FOR_MODEL_S
        _, pending = await asyncio.wait([doing], timeout=patience_s)
        if pending:
            doing.add_done_callback(lambda _: self._on_change())

    async def _begin_or_await_task(self, without: Collection[TaskKind]) -> bool:
        """Begin a due task, or else wait until a running task ends. If neither is possible, return False."""
        running = tuple(self._running.values())
        if await self.step(without):
            return True
        if running:
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        return bool(running)

    async def _cancel_running(self) -> None:
        running = tuple(self._running.values())
        for doing in running:
            doing.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _sleep_until_due(self) -> None:
        """Sleep until a task is due, but at least 1 and at most `_LONGEST_NAP_S` seconds.

        If a running task ends, return at once.
        """
        # List the running tasks before reading the situation, because a task that ends meanwhile must end the sleep.
        running = tuple(self._running.values())
        now = self._now()
        try:
            wait = next_due_at(await self._read_situation(now), now) - now
        except TunnihindError:
            wait = _LONGEST_NAP_S
        sleep = asyncio.create_task(self._clock.sleep(max(1.0, min(wait, _LONGEST_NAP_S))))
        try:
            await asyncio.wait([sleep, *running], return_when=asyncio.FIRST_COMPLETED)
            if sleep.done():
                sleep.result()
        finally:
            sleep.cancel()

    async def _read_situation(self, now: int) -> Situation:
        return await asyncio.to_thread(
            read_situation,
            self._store,
            tuple(self._markets.values()),
            tuple(self._covariate_sources.values()),
            self._history_start,
            self._models,
            dict(self._tries),
            now,
            {part for part, tries in self._put_off_days.items() if now < tries.not_before_ts},
            self._blocked_tasks(),
            tuple(self._observation_sources.values()),
        )

    def _blocked_tasks(self) -> set[Task]:
        """Return the tasks that must not begin now.

        While a task of a covariate source is running, no other task of this source begins. Only one zone is scored at a
        time, so that the modelling processes do not have to change from zone to zone.
        """
        asked = {Task(kind, task.source) for task in self._running if task.source for kind in TaskKind}
        is_scoring = any(task.kind is TaskKind.SCORES for task in self._running)
        scored = {Task(TaskKind.SCORES, zone=zone) for zone in self._markets} if is_scoring else set[Task]()
        return asked | scored | self._running.keys()

    async def _try_task(self, task: Task, situation: Situation, now: int) -> None:
        before = self._tries.get(task, Tries())
        try:
            await self._do_task(task, situation, now)
        except TunnihindError as error:
            if isinstance(error, StoreDamaged):
                # The database is checked again, because the task may have read the file while a copy replaced it.
                with suppress(StoreError):
                    await asyncio.to_thread(self._store.look_for_damage)
            self._record_failure(task, before, error)
        except Exception as error:  # noqa: BLE001  a bug in one task must stop neither the others nor the serving
            _LOG.exception("%s failed", task)
            self._record_failure(task, before, error)
        else:
            self._tries[task] = Tries(tried_ts=now, succeeded_ts=now)

    def _record_failure(self, task: Task, before: Tries, error: Exception) -> None:
        now = self._now()
        market = next(iter(self._markets.values()))
        not_before = limited_pause_end(market, now, error.retry_after_s) if isinstance(error, RateLimited) else 0
        self._tries[task] = replace(before, tried_ts=now, failures=before.failures + 1, not_before_ts=not_before)
        # Failures of sources and the loss of the database are already in the log. `PipelineRunner` logs the loss of the
        # lease.
        logged = not isinstance(error, TunnihindError) or isinstance(error, SourceError | StoreLost | LeaseLost)
        if not logged and before.failures == 0:
            _LOG.error("%s failed and will be tried again: %s", task, error)

    async def _do_task(self, task: Task, situation: Situation, now: int) -> None:
        match task.kind:
            case TaskKind.PRICES:
                await self._fetch_prices(price_request_days(situation, now))
            case TaskKind.COVARIATES:
                await self._fetch_covariates(self._covariate_sources[task.source], now)
            case TaskKind.FORECAST:
                await self._make_forecast(self._market_of(task), now)
            case TaskKind.HELD_DAYS:
                # All held-back days are requested together, because many requests to a slow source would delay urgent
                # tasks.
                await self._fetch_prices((situation.held_days[0], situation.held_days[-1]))
            case TaskKind.PRICE_HISTORY:
                await self._fill_year(
                    _next_missing_period(situation.missing_years, situation.tries_of(task)), situation, now
                )
            case TaskKind.COVARIATE_HISTORY:
                await self._fill_covariate_history(task, situation, now)
            case TaskKind.SCORES:
                await self._continue_scoring(self._market_of(task), now)
            case TaskKind.RECORDS:
                await asyncio.to_thread(
                    write_due_records, self._store, tuple(self._markets), now, situation.missing_years
                )
            case TaskKind.CLEAN_UP:
                await asyncio.to_thread(delete_superfluous, self._store, now)
                await asyncio.to_thread(self._store.look_for_damage)

    async def _fetch_prices(self, *ranges: tuple[date, date]) -> None:
        """Fetch and settle prices. Each item of `ranges` is (first delivery day, last delivery day)."""
        added = AddedCounts()
        for first, last in ranges:
            self.steps += 1
            added += await self._prices.ingest(first, last, self._on_change)
        if added.stored_count:
            first, last = min(ranges)[0], max(ranges)[1]
            _LOG.info("prices from %s to %s: %d new, %d corrected", first, last, added.new, added.corrected)

    async def _fetch_covariates(self, source: CovariateSource, now: int) -> None:
        await self._covariates.ingest(source)
        if source.back_fill.by == "day":
            await asyncio.to_thread(record_progress, self._store.state, source, self._history_start, now)

    def _market_of(self, task: Task) -> Market:
        return next(market for zone, market in self._markets.items() if zone == task.zone)

    async def _make_forecast(self, market: Market, now: int) -> None:
        try:
            runs = await self._modeller.runs(market, now)
        except NothingToForecast as error:
            # The error is not raised, because a further attempt is useless until new prices arrive.
            if str(error) != self._no_forecast_reasons.get(market.zone):
                _LOG.warning("no forecast is made: %s", error)
            self._no_forecast_reasons[market.zone] = str(error)
            return
        self._no_forecast_reasons.pop(market.zone, None)
        await asyncio.to_thread(self._store.runs.add_forecast, runs)
        _LOG.info("made a forecast of %d hours of %s from tier %s", runs.hours.p50.size, market.code, runs.hours.tier)

    async def _continue_scoring(self, market: Market, now: int) -> None:
        """Make and store some missing forecasts of past days. If no forecast is missing, make and store the scores."""
        zone, model = market.zone, self._models[market.zone]
        part = await self._modeller.forecast_past_days(market, now)
        if part.forecasts:
            await asyncio.to_thread(
                self._store.backtests.add, model, zone, part.forecasts, data_change_count=part.data_change_count
            )
            return
        for step_s, score in (await self._modeller.backtest_scores(market, now)).items():
            await asyncio.to_thread(self._store.runs.store_backtest_score, SeriesKey(zone, step_s), score)
        await asyncio.to_thread(
            self._store.scores.store_live_scores, zone, await self._modeller.live_scores(market, now)
        )
        await asyncio.to_thread(self._store.backtests.record_scored, model, zone, now)

    async def _fill_year(self, year: int, situation: Situation, now: int) -> None:
        withdrawal_count, unreadable_count = self._prices.withdrawal_count, self._prices.unreadable_count
        await self._fetch_prices(*day_ranges_of_year(year, next_delivery_day(now)))
        if self._prices.unreadable_count > unreadable_count:
            raise BadAnswer("all sources", f"a zone's prices of {year} can't be read")
        await asyncio.to_thread(self._record_filled_year, year, withdrawal_count)
        total = delivery_day(now).year - self._history_start.year + 1
        self._observer.back_fill_progressed("prices", total - len(situation.missing_years) + 1, total)

    def _record_filled_year(self, year: int, withdrawal_count: int) -> None:
        """Record a year as filled, unless prices were withdrawn since `PriceIngest.withdrawal_count` was read.

        Prices of the year may be among the withdrawn prices, so the year is then filled once more.
        """
        with self._store.database.writing():
            if self._prices.withdrawal_count == withdrawal_count:
                record_filled_part(self._store.state, YEARS_FILLED_KEY, str(year), self._now())

    async def _fill_covariate_history(self, task: Task, situation: Situation, now: int) -> None:
        source: HistorySource
        if (observed := self._observation_sources.get(task.source)) is not None:
            source, fill = observed, partial(self._covariates.fill_observations, observed)
        else:
            covariates = self._covariate_sources[task.source]
            source, fill = covariates, partial(self._covariates.fill_part, covariates)
        missing = situation.covariates[task.source].missing_parts
        part = _next_missing_period(missing, situation.tries_of(task)) if source.back_fill.by == "month" else missing[0]
        today = datetime.fromtimestamp(now, UTC).date()
        try:
            there = await fill(part, today)
        except SourceError as error:
            if source.back_fill.by == "day" and not isinstance(error, RateLimited):
                await asyncio.to_thread(self._put_off_day, source.name, part, error)
            raise
        self._put_off_days.pop((source.name, part), None)
        if source.back_fill.by == "day":
            await asyncio.to_thread(self._record_day, source, part, now, there=there)
            total = (today - first_part(source, self._history_start)).days + 1
        else:
            await asyncio.to_thread(record_filled_part, self._store.state, filled_parts_key(source), str(part), now)
            first = first_part(source, self._history_start)
            total = (today.year - first.year) * 12 + today.month - first.month + 1
        self._observer.back_fill_progressed(source.name, total - len(missing) + 1, total)

    def _record_day(self, source: HistorySource, day: date, now: int, *, there: bool) -> None:
        """Record whether a source had archived forecasts of a day.

        If the back-fill pauses or ends, or if exactly `MIN_ISSUE_DAYS` days are stored now, make new forecasts due by
        recording `now` under `FORECAST_WANTED_KEY`.
        """
        state = self._store.state
        with self._store.database.writing():
            if there:
                record_filled_part(state, filled_parts_key(source), str(day), now)
            else:
                record_unavailable_day(state, source.name, day, now)
            progress = record_progress(state, source, self._history_start, now)
            pauses = progress.goes_on_at > now
            if pauses or not progress.goes_on_at or progress.done == MIN_ISSUE_DAYS:
                state.write(FORECAST_WANTED_KEY, now)
        if pauses:
            _LOG.info(
                "%s: %d of %d days of weather are stored, back to %s; requests are limited, so more days follow at %s",
                *(source.name, progress.done, progress.total, day, iso_utc(progress.goes_on_at)),
            )

    def _put_off_day(self, source: str, day: date, error: SourceError) -> None:
        """Put off a day that could not be fetched, so that other days are fetched first.

        If the answer was invalid, and the day has failed three times or more, record the day as unavailable.
        """
        failures = self._put_off_days.get((source, day), Tries()).failures + 1
        wait_s = min(_FIRST_RETRY_PAUSE_S * 4 ** (failures - 1), DAY_S)
        self._put_off_days[source, day] = Tries(failures=failures, not_before_ts=self._now() + wait_s)
        if isinstance(error, BadAnswer) and failures >= _MAX_BAD_ANSWERS:
            record_unavailable_day(self._store.state, source, day, self._now())

    def _now(self) -> int:
        return int(self._clock.now())


def _next_missing_period[Part](missing: Sequence[Part], tries: Tries) -> Part:
    """Return the year or month in `missing` to fill next.

    Each failure in a row moves the choice on by one item, so that one failing request does not stop the back-fill.
    """
    return missing[tries.failures % len(missing)]
