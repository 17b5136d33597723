"""The server on real time that answers from a store, whoever keeps that fresh.

It is all that a replica is (`serve --no-pipeline`). So nothing is loaded here that only forecasts need.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tunnihind.api.metrics import Metrics
from tunnihind.api.models.service import Mode
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock, SystemClock
from tunnihind.errors import SchemaError, StoreError
from tunnihind.market import ESTONIA
from tunnihind.service.background import background
from tunnihind.service.operator_metrics import Connections, Lag, PipelineLease
from tunnihind.service.site import open_site, until_stopped
from tunnihind.service.snapshot_updater import SnapshotUpdater
from tunnihind.settings import Settings
from tunnihind.store.address import is_file
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_LOOK_FOR_TABLES_S: Final = 2.0


async def serve_replica(settings: Settings) -> None:
    """Serve what others bring into the store until the process is asked to end. Raises SettingsError, StoreError."""
    clock = SystemClock()
    with open_store(settings) if is_file(settings.store_url) else await open_replica(settings, clock) as store:
        async with answering(settings, store, clock, with_pipeline=False) as (_updater, metrics, stopping):
            metrics.show(PipelineLease(None))
            _LOG.info("serving what is known, without a pipeline")
            await until_stopped(stopping)


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


def _open_to_read(settings: Settings, trouble: StoreError) -> Store:
    """Open the store for reading; where that fails too, raise the error of writing."""
    try:
        return Store(settings.store_url, read_only=True)
    except StoreError:
        raise trouble from None


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


def _readable(store: Store) -> Store:
    """Return the store, unless a newer version has upgraded it past this one's reach. Raises SchemaError."""
    store.require_readable()
    return store


@asynccontextmanager
async def answering(
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
            read_prices=lambda start, end: (
                _readable(store).prices.archive(start, end, zones=(ESTONIA.zone,)).everything()
            ),
            read_scores=lambda first, last: _readable(store).scores.days(first, last),  # noqa: PLW0108  asked anew
            are_confirmed=lambda start, end: not store.unconfirmed(start, end),
            metrics=metrics,
            pipeline_expected=with_pipeline,
            mode=mode,
        ) as stopping,
        background(updater.run()),
    ):
        yield updater, metrics, stopping
