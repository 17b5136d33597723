"""The server on real time: over a store, with or without a pipeline of its own."""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from tunnihind.api.metrics import Metrics
from tunnihind.api.server_models import Mode
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock, SystemClock
from tunnihind.errors import SchemaError, StoreError
from tunnihind.market import ESTONIA, delivery_day
from tunnihind.pipeline.modelling import Modeller, process_modeller
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.pipeline.schedule import Job
from tunnihind.rehearsal import backcast_instants
from tunnihind.service.background import background
from tunnihind.service.observing import Progress, ServerObserver
from tunnihind.service.operator_metrics import Connections, Lag, PipelineLease
from tunnihind.service.pipeline_runner import PipelineRunner
from tunnihind.service.site import open_site, until_stopped
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.sources.configured import Sources, configured, demo
from tunnihind.sources.upstream import open_session
from tunnihind.store.address import is_file
from tunnihind.store.lease import EXPIRES_AFTER_S, LOOK_EVERY_S, Lease
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_LOOK_FOR_TABLES_S: Final = 2.0


def open_store(settings: Settings) -> Store:
    """Open the store for writing, and where that can't be for reading only. Raises SettingsError, StoreError."""
    try:
        return Store(settings.store_url)
    except SchemaError:
        raise
    except StoreError as error:
        store = _open_to_read(settings, error)
        _LOG.warning("%s; it is opened for reading only, and nothing new is fetched while that lasts", error)
        return store


async def open_replica(settings: Settings, clock: Clock) -> Store:
    """Open the store for one that never writes to it, once it has tables. Raises SettingsError, StoreError.

    An account that may only read will do, and a server that only repeats another one.
    """
    is_told = False
    while True:
        try:
            return Store(settings.store_url, read_only=True, is_replica=True)
        except SchemaError as error:
            if not error.is_empty:
                raise
            if not is_told:
                _LOG.warning("%s; waiting for that", error)
            is_told = True
        await clock.sleep(_LOOK_FOR_TABLES_S)


def _open_to_read(settings: Settings, trouble: StoreError) -> Store:
    """Open the store for reading; where that fails too, raise the error of writing."""
    try:
        return Store(settings.store_url, read_only=True)
    except StoreError:
        raise trouble from None


def make_pipeline(
    settings: Settings, store: Store, sources: Sources, modeller: Modeller, clock: Clock, observer: Observer
) -> Pipeline:
    """Put a pipeline together as the settings say."""
    return Pipeline(
        store,
        sources.prices,
        sources.covariates,
        modeller,
        clock,
        history_start=date(settings.history_start, 1, 1),
        limits=settings.limits,
        observer=observer,
    )


async def serve_live(settings: Settings, progress: Progress, *, with_pipeline: bool = True) -> None:
    """Serve until the process is asked to end. Raises SettingsError, StoreError."""
    clock = SystemClock()
    writes = with_pipeline or is_file(settings.store_url)
    with open_store(settings) if writes else await open_replica(settings, clock) as store:
        async with _served(settings, store, clock, with_pipeline=with_pipeline) as (updater, metrics, stopping):
            if not with_pipeline:
                metrics.show(PipelineLease(None))
                _LOG.info("serving what is known, without a pipeline")
                await until_stopped(stopping)
                return
            observer = ServerObserver(metrics, progress)
            async with (
                open_session(settings.contact) as session,
                process_modeller(settings.store_url, settings.limits) as modeller,
            ):
                sources = configured(settings, session, clock)
                pipeline = make_pipeline(settings, store, sources, modeller, clock, observer)
                runner = PipelineRunner(store, pipeline, clock, updater.troubles, on_change=updater.store_changed)
                metrics.show(PipelineLease(runner))
                async with background(runner.run()):
                    await until_stopped(stopping)


async def serve_demo(settings: Settings, progress: Progress) -> None:
    """Serve a simulated market until the process is asked to end. Raises SettingsError, StoreError.

    Its store is always one that is thrown away at the end: made-up prices never get among real ones.
    """
    clock = SystemClock()
    with tempfile.TemporaryDirectory(prefix="tunnihind-demo-") as folder:
        url = f"sqlite:///{Path(folder) / 'demo.db'}"
        settings = replace(settings, database_url=url, history_start=delivery_day(clock.now()).year - 1)
        with Store(url) as store:
            async with _served(settings, store, clock, with_pipeline=True, mode="demo") as (updater, metrics, stopping):
                observer = ServerObserver(metrics, progress)
                async with process_modeller(url, settings.limits) as modeller:
                    pipeline = make_pipeline(settings, store, demo(clock), modeller, clock, observer)
                    async with background(_simulate(store, pipeline, modeller, clock, updater)):
                        await until_stopped(stopping)


async def ingest_once(settings: Settings, progress: Progress) -> bool:
    """Do one pass of the pipeline; return whether all went well. Raises SettingsError, StoreError."""
    clock = SystemClock()
    with Store(settings.store_url) as store:
        lease = store.writing_lease()
        if not await _claimed(lease, clock):
            raise StoreError("a running server keeps this database up to date already")
        try:
            observer = ServerObserver(Metrics(), progress)
            async with (
                open_session(settings.contact) as session,
                process_modeller(settings.store_url, settings.limits) as modeller,
            ):
                sources = configured(settings, session, clock)
                return await make_pipeline(settings, store, sources, modeller, clock, observer).catch_up()
        finally:
            lease.release()


async def _claimed(lease: Lease, clock: Clock) -> bool:
    """Claim the lease; where its holder doesn't beat, wait until it is certain that it is dead. Raises StoreError."""
    first = last = lease.holder()
    ends = clock.now() + EXPIRES_AFTER_S + LOOK_EVERY_S
    while not (is_ours := lease.claim()) and last == first and clock.now() < ends:
        await clock.sleep(LOOK_EVERY_S)
        last = lease.holder()
    return is_ours


async def _simulate(
    store: Store, pipeline: Pipeline, modeller: Modeller, clock: Clock, updater: SnapshotUpdater
) -> None:
    """Fill the store, add the forecasts that a server would have made these two weeks, and go on."""
    # A demo should show its past within seconds; the scores can wait.
    await pipeline.catch_up(updater.store_changed, without={Job.SCORES})
    for instant in backcast_instants(int(clock.now())):
        runs = await modeller.runs(instant)
        if runs is not None:
            # Without their scenarios: those of the newest run are served.
            await asyncio.to_thread(store.runs.add, runs.hours, runs.quarters)
    updater.store_changed()
    await pipeline.run(updater.store_changed)


@asynccontextmanager
async def _served(
    settings: Settings, store: Store, clock: Clock, *, with_pipeline: bool, mode: Mode = "live"
) -> AsyncIterator[tuple[SnapshotUpdater, Metrics, asyncio.Event]]:
    """Answer from the store within this context."""
    snapshot = Snapshot(settings, clock)
    metrics = Metrics()
    store.database.count_by(metrics.count_transaction)
    updater = SnapshotUpdater(store, snapshot, clock)
    metrics.show(Lag(updater), Connections(store.database))
    await updater.refresh()
    async with (
        open_site(
            settings,
            snapshot,
            clock,
            instance_id=store.state.instance_id(),
            read_prices=lambda start, end: store.prices.archive(start, end, zones=(ESTONIA.zone,)).everything(),
            read_scores=store.scores.days,
            are_confirmed=lambda: store.confirmation.doubt() is None,
            metrics=metrics,
            pipeline_expected=with_pipeline,
            mode=mode,
        ) as stopping,
        background(updater.run()),
    ):
        yield updater, metrics, stopping
