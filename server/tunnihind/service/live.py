"""Starts a live server or a demo server, or does the pipeline's due tasks once."""

import asyncio
import logging
import tempfile
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final, override

from tunnihind.api.metrics import Metrics
from tunnihind.clock import Clock, SystemClock
from tunnihind.core.market import delivery_day
from tunnihind.errors import StoreError
from tunnihind.pipeline.modelling import Modeller, process_modeller
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.pipeline.schedule import TaskKind
from tunnihind.service.background import run_in_background
from tunnihind.service.opening import open_to_write, wait_for_store
from tunnihind.service.operator_metrics import LeaseCollector
from tunnihind.service.pipeline_runner import PipelineRunner
from tunnihind.service.rehearsal import daily_issue_instants
from tunnihind.service.replica import open_store_site
from tunnihind.service.site import wait_until_stopped
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.sources.configured import Sources, configured_sources, demo_sources
from tunnihind.sources.upstream import open_session
from tunnihind.store.copying import ShowProgress
from tunnihind.store.lease import BEAT_EVERY_S, EXPIRES_AFTER_S, LOOK_EVERY_S, Lease
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


class ServerObserver(Observer):
    """Counts the pipeline's events in the server's metrics, and shows the back-fill's progress."""

    def __init__(self, metrics: Metrics, show: ShowProgress) -> None:
        self._metrics = metrics
        self._show = show

    @override
    def request_ended(self, source: str, *, answered: bool) -> None:
        self._metrics.source_outcomes.labels(source, "answered" if answered else "failed").inc()

    @override
    def day_held(self, source: str, reason: str) -> None:
        self._metrics.held_days.labels(source, reason).inc()

    @override
    def back_fill_progressed(self, what: str, done: int, total: int) -> None:
        self._show(f"filling in the history of {what}", done, total)


def _make_pipeline(
    settings: Settings, store: Store, sources: Sources, modeller: Modeller, clock: Clock, observer: Observer
) -> Pipeline:
    return Pipeline(
        store,
        settings.markets,
        sources.prices,
        sources.covariates,
        modeller,
        clock,
        observation_sources=sources.observations,
        history_start=date(settings.history_start, 1, 1),
        observer=observer,
    )


async def serve_live(settings: Settings, show: ShowProgress) -> None:
    """Serve until a stop signal, and run the pipeline while holding the lease. Raises SettingsError, StoreError."""
    clock = SystemClock()
    store = await wait_for_store(settings, open_to_write, clock)
    if store is None:
        return
    with store:
        async with open_store_site(settings, store, clock, with_pipeline=True) as (updater, metrics, stopping):
            observer = ServerObserver(metrics, show)
            async with (
                open_session(settings.contact) as session,
                process_modeller(settings.store_url) as modeller,
            ):
                sources = configured_sources(settings, session, clock)
                pipeline = _make_pipeline(settings, store, sources, modeller, clock, observer)
                runner = PipelineRunner(store, pipeline, clock, updater.troubles, on_change=updater.report_store_change)
                metrics.add_collectors(LeaseCollector(runner))
                async with run_in_background(runner.run()):
                    await wait_until_stopped(stopping)


async def serve_demo(settings: Settings, show: ShowProgress) -> None:
    """Serve a simulated market until a stop signal. Raises SettingsError, StoreError.

    The demo has its own store, so that simulated prices never mix with real prices. At the end, this store is deleted.
    """
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="tunnihind-demo-") as folder:
        url = f"sqlite:///{Path(folder) / 'demo.db'}"
        settings = replace(settings, database_url=url, history_start=delivery_day(clock.now()).year - 1)
        with Store(url) as store:
            async with open_store_site(settings, store, clock, with_pipeline=True, mode="demo") as (
                updater,
                metrics,
                stopping,
            ):
                observer = ServerObserver(metrics, show)
                async with process_modeller(url) as modeller:
                    pipeline = _make_pipeline(settings, store, demo_sources(clock), modeller, clock, observer)
                    async with run_in_background(
                        _run_demo_pipeline(settings, store, pipeline, modeller, clock, updater)
                    ):
                        await wait_until_stopped(stopping)


async def ingest_once(settings: Settings, show: ShowProgress) -> bool:
    """Do the pipeline's due tasks, and return whether they succeeded (see `Pipeline.catch_up`).

    Raises SettingsError, StoreError.
    """
    clock = SystemClock()
    with Store(settings.store_url) as store:
        lease = store.lease_guarding_writes()
        if not await _claim_lease(lease, clock):
            raise StoreError("a running server already keeps this database up to date")
        try:
            observer = ServerObserver(Metrics(), show)
            async with (
                open_session(settings.contact) as session,
                process_modeller(settings.store_url, answers_requests=False) as modeller,
                run_in_background(_keep_renewing_lease(lease, clock)),
            ):
                sources = configured_sources(settings, session, clock)
                return await _make_pipeline(settings, store, sources, modeller, clock, observer).catch_up()
        finally:
            lease.release()


async def _claim_lease(lease: Lease, clock: Clock) -> bool:
    """Claim the lease, and return whether this process holds it. Raises StoreError.

    If another process holds the lease but does not renew it, wait until that process counts as dead.
    """
    first = last = lease.holder()
    ends = clock.now() + EXPIRES_AFTER_S + LOOK_EVERY_S
    while not (is_ours := lease.claim()) and last == first and clock.now() < ends:
        await clock.sleep(LOOK_EVERY_S)
        last = lease.holder()
    return is_ours


async def _keep_renewing_lease(lease: Lease, clock: Clock) -> None:
    """Renew the lease until this task is cancelled, or until another server has taken over the lease."""
    is_ours = True
    while is_ours:
        await clock.sleep(BEAT_EVERY_S)
        with suppress(StoreError):  # if the store can't be written, the pipeline's next write reports it
            is_ours = await asyncio.to_thread(lease.claim)


async def _run_demo_pipeline(
    settings: Settings, store: Store, pipeline: Pipeline, modeller: Modeller, clock: Clock, updater: SnapshotUpdater
) -> None:
    """Fill the demo's store with past data and past forecasts, and run the pipeline."""
    # Scores take minutes, so they are made only after the demo shows forecasts of past days.
    await pipeline.catch_up(updater.report_store_change, without={TaskKind.SCORES})
    for market in settings.markets:
        for instant in daily_issue_instants(int(clock.now())):
            runs = await modeller.runs(market, instant)
            # The scenarios of these runs are not stored, because only the newest run's scenarios are served.
            await asyncio.to_thread(store.runs.add, *runs.by_step.values())
        updater.report_store_change()
    await pipeline.run(updater.report_store_change)
