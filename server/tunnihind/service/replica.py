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
from tunnihind.service.background import background
from tunnihind.service.opening import open_replica, opened
from tunnihind.service.operator_metrics import Connections, Lag, PipelineLease
from tunnihind.service.site import open_site, until_stopped
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


async def serve_replica(settings: Settings) -> None:
    """Serve the data that another server stores, until a stop signal. Raises SettingsError, StoreError."""
    clock = SystemClock()
    store = await opened(settings, open_replica, clock)
    if store is None:
        return
    with store:
        async with answering(settings, store, clock, with_pipeline=False) as (_updater, metrics, stopping):
            metrics.show(PipelineLease(None))
            _LOG.info("serving the data in the database; another server has to fetch new data")
            await until_stopped(stopping)


def _readable(store: Store) -> Store:
    store.require_readable()
    return store


def _served(store: Store, snapshot: Snapshot, updater: SnapshotUpdater) -> ServedZone:
    zone = snapshot.market.zone
    return ServedZone(
        snapshot=snapshot,
        read_prices=lambda start, end: (
            _readable(store).prices.read_archive(start, end, zones=(zone,)).newest_versions()
        ),
        read_scores=lambda first, last: _readable(store).scores.day_scores(zone, first, last),
        are_confirmed=lambda start, end: zone not in {other for other, _ in store.unconfirmed_days(start, end)},
        page_context=lambda: updater.page_context[zone],
    )


@asynccontextmanager
async def answering(
    settings: Settings, store: Store, clock: Clock, *, with_pipeline: bool, mode: Mode = "live"
) -> AsyncIterator[tuple[SnapshotUpdater, Metrics, asyncio.Event]]:
    """While this context is open, answer requests with data from the store. Raises SettingsError, StoreError.

    Yields the updater, the metrics, and an event. The caller sets the event when the server has to stop, for example
    with `until_stopped`. `with_pipeline` is true if this server can run the pipeline.
    """
    troubles = Troubles()
    snapshots = [Snapshot(settings.at(zone), clock, troubles) for zone in settings.zones]
    metrics = Metrics()
    store.database.count_transactions_with(metrics.count_transaction)
    updater = SnapshotUpdater(store, snapshots, clock)
    metrics.show(Lag(updater), Connections(store.database))
    await updater.refresh()
    async with (
        open_site(
            settings,
            [_served(store, snapshot, updater) for snapshot in snapshots],
            clock,
            instance_id=store.state.instance_id(),
            metrics=metrics,
            pipeline_expected=with_pipeline,
            mode=mode,
        ) as stopping,
        background(updater.run()),
    ):
        yield updater, metrics, stopping
