"""Updates the served data and the pages' data when the store or the hour changes."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from random import uniform
from time import monotonic
from typing import Final, NamedTuple

from tunnihind.api.health import Troubles
from tunnihind.api.served_data import ServedData, read_served_data
from tunnihind.api.snapshot import Snapshot
from tunnihind.clock import Clock
from tunnihind.core.market import Zone, floor_hour
from tunnihind.errors import StoreError, StoreLost
from tunnihind.service.background import run_in_background
from tunnihind.service.page_context import context_with_weather, read_source_states
from tunnihind.store.store import Store
from tunnihind.store.witnesses import zones_without_prices_text
from tunnihind.web.summary import PageContext

_LOG: Final = logging.getLogger(__name__)

CHECK_STORE_EVERY_S: Final = 5.0
"""The longest pause in seconds between checks of the store. The checks find changes by other processes, such as an
import."""

CHECK_UNANNOUNCED_EVERY_S: Final = 1.0
"""The pause in seconds between checks of a PostgreSQL database while the connection for announcements has brought none.
Perhaps the connection never brings any, because a standby database announces no changes, and a connection pooler may
not pass announcements on."""

_RETRY_PAUSE_RANGE_S: Final = 0.5, 1.5
"""The shortest and longest pause in seconds after a failed check of a database that announces changes.

The pause is random, so that not all servers connect to the database again at the same moment.
"""

_LISTEN_PAUSE_RANGE_S: Final = 2.0, 6.0


class _StoreState(NamedTuple):
    """The state of the store, and the current hour. If any value changes, data are read again.

    If only `covariates` has changed, prices and runs are not read again.
    """

    version: int
    change_id: str
    last_refresh: int
    hour: int
    covariates: int

    def has_same_data(self, other: _StoreState) -> bool:
        """Return whether this state and `other` are the same, apart from `covariates`."""
        return self[:-1] == other[:-1]


class SnapshotUpdater:
    """Checks the store, and gives new data to the zones' snapshots and to the pages."""

    def __init__(self, store: Store, snapshots: Sequence[Snapshot], clock: Clock) -> None:
        self._store = store
        self._snapshots = snapshots
        self._clock = clock
        self._changed = asyncio.Event()
        self._shown: _StoreState | None = None
        self.page_contexts = {snapshot.market.zone: PageContext() for snapshot in snapshots}
        """For each zone, the data that pages need besides the snapshot."""
        self._is_failing = False
        self._is_notified = False
        self._caught_up_at: float | None = None

    @property
    def lag_s(self) -> float | None:
        """The seconds since the last successful check of the store began, or None before the first such check."""
        return None if self._caught_up_at is None else monotonic() - self._caught_up_at

    @property
    def troubles(self) -> Troubles:
        """The server's problems. All snapshots share this object."""
        return self._snapshots[0].troubles

    def report_store_change(self) -> None:
        """Report that the store may have changed, so that `run` checks it soon."""
        self._changed.set()

    async def refresh(self) -> None:
        """Check the store, and serve changed data. If an error occurs, keep serving the earlier data."""
        now, started = int(self._clock.now()), monotonic()
        try:
            seen, data, page_contexts = await asyncio.to_thread(self._read_store, now)
        except StoreError as error:
            if not self._is_failing and not isinstance(error, StoreLost):
                _LOG.error("%s; the data in memory are still served", error)
            self._is_failing = True
            self.troubles.report("store", error.reason)
            return
        except Exception:  # noqa: BLE001  a bug must not leave clients with old prices for ever
            if not self._is_failing:
                _LOG.exception("the data in the database can't be shown. The data in memory are still served")
            self._is_failing = True
            self.troubles.report("store", "the data in the database can't be shown")
            return
        self._is_failing = False
        self.troubles.report("store", None)
        self._set_warning("damage", self._store.database.system.damage)
        self._shown, self.page_contexts = seen, page_contexts
        for snapshot in self._snapshots:
            if data is not None:
                snapshot.replace_data(data[snapshot.market.zone])
        self._set_warning("no price", self._zones_without_prices_text())
        self._caught_up_at = started

    async def run(self) -> None:
        """Update the snapshots until this task is cancelled."""
        async with run_in_background(self._listen_for_changes()):
            while True:
                self._changed.clear()
                await self.refresh()
                # The pause does not use `_clock`, because other processes don't follow a test's clock.
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pause_s()):
                        await self._changed.wait()

    def _pause_s(self) -> float:
        if not self._store.database.system.announces_changes:
            return CHECK_STORE_EVERY_S
        if self._is_failing:
            return uniform(*_RETRY_PAUSE_RANGE_S)  # noqa: S311  to spread servers, not for secrecy
        return CHECK_STORE_EVERY_S if self._is_notified else CHECK_UNANNOUNCED_EVERY_S

    async def _listen_for_changes(self) -> None:
        """Wake `run` at each announced change, and when the connection for announcements opens or fails."""
        while self._store.database.system.announces_changes:
            try:
                async with aclosing(self._store.database.system.change_announcements()) as changes:
                    is_listening = False
                    async for _ in changes:
                        # The first item of `changes` is not an announcement, but means that the connection is ready.
                        self._is_notified, is_listening = is_listening, True
                        self._changed.set()
            except StoreError as error:
                _LOG.debug("%s; the store is checked every second instead", error)
            self._is_notified = False
            self._changed.set()
            await asyncio.sleep(uniform(*_LISTEN_PAUSE_RANGE_S))  # noqa: S311  to spread servers, not for secrecy

    def _read_store(self, now: int) -> tuple[_StoreState, dict[Zone, ServedData] | None, dict[Zone, PageContext]]:
        """Return the `_StoreState`, and the `ServedData` and the `PageContext` of each zone.

        If the served data are unchanged, return None in place of `ServedData`. The sources' states are always read,
        because they may change while the `_StoreState` stays the same.
        """
        # All data are read from the same state of the database, so that the version matches the data.
        with self._store.database.one_view():
            self._store.require_readable()
            seen = self._store_state(now)
            markets = {snapshot.market.zone: snapshot.market for snapshot in self._snapshots}
            data = None
            if self._shown is None or not seen.has_same_data(self._shown):
                data = {zone: read_served_data(self._store, market, now) for zone, market in markets.items()}
            sources = read_source_states(self._store)
            contexts = {zone: replace(one, sources=sources) for zone, one in self.page_contexts.items()}
            if seen != self._shown:
                is_new_hour = self._shown is None or seen.hour != self._shown.hour
                contexts = {
                    zone: context_with_weather(one, self._store, markets[zone], now, is_new_hour=is_new_hour)
                    for zone, one in contexts.items()
                }
            return seen, data, contexts

    def _store_state(self, now: int) -> _StoreState:
        state = self._store.state
        return _StoreState(
            state.served_version(),
            state.served_change_id(),
            state.last_refresh() or 0,
            floor_hour(now),
            state.covariate_change_count(),
        )

    def _zones_without_prices_text(self) -> str:
        """Return a warning that names the served zones without any price, if other zones have prices."""
        lacking = [one.market.code for one in self._snapshots if one.data_or_empty.newest_settled_ts is None]
        if len(lacking) == len(self._snapshots):
            return ""
        return zones_without_prices_text(lacking)

    def _set_warning(self, about: str, warning: str) -> None:
        if warning:
            self.troubles.warnings[about] = warning
        else:
            self.troubles.warnings.pop(about, None)
