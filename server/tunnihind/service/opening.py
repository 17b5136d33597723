"""Opens the store when a live server or a replica starts. If this takes long, the server answers requests meanwhile."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Never

from tunnihind.api.health import Troubles
from tunnihind.api.metrics import Metrics
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.errors import SchemaError, StoreError
from tunnihind.service.application import ServedZone
from tunnihind.service.site import open_site, wait_until_stopped
from tunnihind.settings import Settings
from tunnihind.store.address import is_sqlite
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_TRY_AGAIN_S: Final = 2.0
_ANSWER_AFTER_S: Final = 2.0
"""If opening the store takes longer than this many seconds, the server answers requests during the wait."""

type OpenStore = Callable[[Settings], Store]
"""Opens the store. Raises SettingsError, StoreError."""


def open_to_write(settings: Settings) -> Store:
    """Open the store for writing, or only for reading if writing is impossible. Raises SettingsError, StoreError.

    If the tables don't fit this version of Tunnihind, raises SchemaError.
    """
    try:
        return Store(settings.store_url)
    except SchemaError:
        raise
    except StoreError as error:
        try:
            store = Store(settings.store_url, read_only=True)
        except StoreError:
            raise error from None
        _LOG.warning("%s; the database is opened for reading only, and nothing new is fetched", error)
        return store


def open_replica_store(settings: Settings) -> Store:
    """Open a replica's store: a file for writing if possible, and a database on a server only for reading.

    Raises SettingsError, StoreError.
    """
    if is_sqlite(settings.store_url):
        return open_to_write(settings)
    return Store(settings.store_url, read_only=True, is_replica=True)


async def wait_for_store(settings: Settings, open_store: OpenStore, clock: Clock) -> Store | None:
    """Open the store and return it.

    If opening the store takes more than two seconds, the server answers requests meanwhile: `/readyz` gives the reason
    for the wait, and all resources with data answer 503 (Service Unavailable). If a stop signal comes meanwhile, return
    None. Raises SettingsError. Raises StoreError if waiting would not help.
    """
    troubles = Troubles()
    opening = asyncio.create_task(_retry_opening(settings, open_store, clock, troubles))
    await asyncio.wait({opening}, timeout=_ANSWER_AFTER_S)
    if opening.done():
        return await opening
    site = open_site(
        replace(settings, drain_seconds=0),
        [
            ServedZone(
                snapshot=Snapshot(settings.for_zone(zone), clock, troubles),
                read_prices=_refuse_reading,
                read_scores=_refuse_reading,
                find_record=_refuse_reading,
            )
            for zone in settings.zones
        ],
        clock,
        instance_id=None,
        metrics=Metrics(),
        pipeline_expected=False,
    )
    async with site as stopping:
        stopped = asyncio.create_task(wait_until_stopped(stopping))
        await asyncio.wait({opening, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not stopping.is_set():
            return await opening
        opening.cancel()
    return None


async def _retry_opening(settings: Settings, open_store: OpenStore, clock: Clock, troubles: Troubles) -> Store:
    """Try to open the store until it is open. Raises SettingsError. Raises StoreError if waiting would not help."""
    last_error = ""
    troubles.report("store", "the database is being opened")
    while True:
        try:
            store = await asyncio.to_thread(open_store, settings)
        except StoreError as error:
            if not error.may_pass:
                raise
            troubles.report("store", error.reason)
            if str(error) != last_error:
                last_error = str(error)
                _LOG.warning("%s; waiting until the database can be used", last_error)
        else:
            if last_error:
                _LOG.info("the database %s can be used now", store.database)
            return store
        await clock.sleep(_TRY_AGAIN_S)


def _refuse_reading(*_: object) -> Never:
    raise StoreError("the store isn't open yet", reason="the database can't be used yet")
