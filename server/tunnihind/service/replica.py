"""Serves the data of the store, whether this server or another server runs the pipeline.

To save a replica's memory, this module imports neither the model nor the pipeline nor the sources.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tunnihind.api.health import Troubles
from tunnihind.api.metrics import Metrics
from tunnihind.api.models.service import Mode
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock, SystemClock
from tunnihind.service.application import ServedZone
from tunnihind.service.background import run_in_background
from tunnihind.service.opening import open_replica_store, wait_for_store
from tunnihind.service.operator_metrics import DatabaseConnectionsCollector, LagCollector, LeaseCollector
from tunnihind.service.site import open_site, wait_until_stopped
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


async def serve_replica(settings: Settings) -> None:
    """Serve the data that another server stores, until a stop signal. Raises SettingsError, StoreError."""
    clock = SystemClock()
    store = await wait_for_store(settings, open_replica_store, clock)
    if store is None:
        return
    with store:
        async with open_store_site(settings, store, clock, with_pipeline=False) as (_updater, metrics, stopping):
            metrics.add_collectors(LeaseCollector(None))
            _LOG.info("serving the data in the database; another server has to fetch new data")
            await wait_until_stopped(stopping)


def _readable_store(store: Store) -> Store:
    store.require_readable()
    return store


def _served_zone(store: Store, snapshot: Snapshot, updater: SnapshotUpdater) -> ServedZone:
    zone = snapshot.market.zone
    return ServedZone(
        snapshot=snapshot,
        read_prices=lambda start, end: (
            _readable_store(store).prices.read_archive(start, end, zones=(zone,)).newest_versions()
        ),
        read_scores=lambda first, last: _readable_store(store).scores.day_scores(zone, first, last),
        find_record=lambda month: _readable_store(store).records.find(zone, month),
        are_confirmed=lambda start, end: zone not in {other for other, _ in store.unconfirmed_days(start, end)},
        page_context=lambda: updater.page_contexts[zone],
    )


@asynccontextmanager
async def open_store_site(
    settings: Settings, store: Store, clock: Clock, *, with_pipeline: bool, mode: Mode = "live"
) -> AsyncIterator[tuple[SnapshotUpdater, Metrics, asyncio.Event]]:
    """While this context is open, answer requests with data from the store. Raises SettingsError, StoreError.

    Yields the updater, the metrics, and an event. The caller sets the event when the server has to stop, for example
    with `wait_until_stopped`. `with_pipeline` is true if this server can run the pipeline.
    """
    troubles = Troubles()
    snapshots = [Snapshot(settings.for_zone(zone), clock, troubles) for zone in settings.zones]
    metrics = Metrics()
    store.database.set_transaction_counter(metrics.record_transaction)
    updater = SnapshotUpdater(store, snapshots, clock)
    metrics.add_collectors(LagCollector(updater), DatabaseConnectionsCollector(store.database))
    await updater.refresh()
    async with (
        open_site(
            settings,
            [_served_zone(store, snapshot, updater) for snapshot in snapshots],
            clock,
            instance_id=store.state.instance_id(),
            metrics=metrics,
            pipeline_expected=with_pipeline,
            mode=mode,
        ) as stopping,
        run_in_background(updater.run()),
    ):
        yield updater, metrics, stopping
