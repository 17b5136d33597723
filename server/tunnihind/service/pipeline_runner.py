"""Runs the pipeline in one server only: of several on the same database, the first to claim the lease."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Final

from tunnihind.api.health import Troubles
from tunnihind.clock import Clock
from tunnihind.errors import StoreError, StoreLost
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.service.background import report
from tunnihind.store.lease import Holder
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

CLAIM_EVERY_S: Final = 20.0
LOOK_EVERY_S: Final = 5.0
"""How soon the end of another holder is noticed; looking does not write, a claim does."""


class PipelineRunner:
    """Starts the pipeline while this process holds the lease, and stops it when it doesn't."""

    def __init__(
        self, store: Store, pipeline: Pipeline, clock: Clock, troubles: Troubles, *, on_change: Callable[[], None]
    ) -> None:
        self._store = store
        self._lease = store.lease()
        self._pipeline = pipeline
        self._clock = clock
        self._troubles = troubles
        self._on_change = on_change
        self._work: asyncio.Task[None] | None = None
        self._last_warning: str | None = None
        self.takeovers = 0
        """How often this server has begun to run the pipeline."""
        self._last_beat: tuple[Holder | None, float] | None = None

    @property
    def holder_silent_s(self) -> float | None:
        """Seconds since the holder of the lease, this server or another, was last seen to beat; None without one."""
        return None if self._last_beat is None else monotonic() - self._last_beat[1]

    def _note_beat(self, holder: Holder | None, *, is_ours: bool) -> None:
        """Note when the holder was last seen to beat: now, if the lease is ours or its row is another than before."""
        if is_ours or (holder is not None and (self._last_beat is None or self._last_beat[0] != holder)):
            self._last_beat = holder, monotonic()
        elif holder is None:
            self._last_beat = None

    @property
    def is_running(self) -> bool:
        """Whether this server runs the pipeline."""
        return self._work is not None

    async def run(self) -> None:
        """Claim the lease regularly until cancelled, then release it."""
        try:
            while True:
                is_ours = await self._claim()
                await self._clock.sleep(CLAIM_EVERY_S if is_ours else LOOK_EVERY_S)
        finally:
            await self._stop()
            with suppress(StoreError):
                await asyncio.to_thread(self._lease.release)

    async def _claim(self) -> bool:
        """Start the pipeline if the lease is ours, stop it if not; return whether it is ours.

        A store that could only be opened for reading, as on a full disk, is opened for writing as soon as it can be.
        """
        try:
            if self._store.database.read_only:
                await asyncio.to_thread(self._store.begin_writing)
                _LOG.warning("the database can be written to now")
            is_ours = await asyncio.to_thread(self._lease.claim, int(self._clock.now()))
            holder = None if is_ours else await asyncio.to_thread(self._lease.holder)
        except StoreError as error:
            self._troubles.tell("pipeline", error.reason)
            # That the database is lost, or open for reading only, is in the log already.
            if not isinstance(error, StoreLost) and not self._store.database.read_only:
                self._warn_once(f"{error}; serving goes on from what is known")
            return False
        self._troubles.tell("pipeline", None)
        self._note_beat(holder, is_ours=is_ours)
        if is_ours:
            self._start()
        elif holder is not None:
            await self._stop()
            self._warn_once(
                f"process {holder.pid} on {holder.host} runs the pipeline on this database; serving without one"
            )
        return is_ours

    def _start(self) -> None:
        if self._last_warning is not None:
            _LOG.info("running the pipeline from now on")
        self._last_warning = None
        if self._work is None:
            self.takeovers += 1
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._pipeline.run(self._on_change))
            self._work.add_done_callback(report)

    async def _stop(self) -> None:
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work
            self._work = None

    def _warn_once(self, text: str) -> None:
        if text != self._last_warning:
            _LOG.warning(text)
        self._last_warning = text
