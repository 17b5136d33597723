"""Runs the pipeline only while this server holds the lease."""

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
from tunnihind.service.background import log_error
from tunnihind.store.lease import BEAT_EVERY_S, LOOK_EVERY_S, Holder
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

STUCK_AFTER_S: Final = 900.0
"""A pipeline that makes no progress for this many seconds counts as stuck, because even the slowest request takes less
time."""

_DATABASE_TIMEOUT_S: Final = 2.0
"""If the database does not answer within this many seconds, the pipeline continues only while the lease is certainly
held."""


class PipelineRunner:
    """Starts the pipeline when this process gets the lease, and stops the pipeline when the lease may be lost.

    While a server stands by, it checks every second whether the lease's holder is alive. If the holder is dead, one
    server takes over the lease.
    """

    def __init__(
        self, store: Store, pipeline: Pipeline, clock: Clock, troubles: Troubles, *, on_change: Callable[[], None]
    ) -> None:
        self._store = store
        self._lease = store.lease_guarding_writes()
        self._pipeline = pipeline
        self._clock = clock
        self._troubles = troubles
        self._on_change = on_change
        self._work: asyncio.Task[None] | None = None
        self._claim_task: asyncio.Task[bool] | None = None
        self._holder: Holder | None = None
        self._was_ours = False
        self._last_warning: str | None = None
        self._last_beat: tuple[Holder | None, float] | None = None
        self._steps_seen = 0
        self._checks_without_step = 0
        self.pipeline_start_count = 0
        """The number of times that this server has begun to run the pipeline, not counting restarts after an error."""

    @property
    def holder_silent_s(self) -> float | None:
        """The seconds since this server last renewed the lease, or last saw that another server had renewed it.

        The first sight of another server's lease counts as a renewal. None if no holder of the lease is known.
        """
        return None if self._last_beat is None else monotonic() - self._last_beat[1]

    @property
    def is_running(self) -> bool:
        """True while this server runs the pipeline."""
        return self._work is not None

    async def run(self) -> None:
        """Run the pipeline while holding the lease, until this task is cancelled. At the end, release the lease."""
        try:
            while True:
                await self.check_lease()
                await self._clock.sleep(BEAT_EVERY_S if self.is_running else LOOK_EVERY_S)
        except Exception:
            self._troubles.stuck = "the pipeline has ended"
            raise
        finally:
            await self._stop()
            with suppress(StoreError):
                await asyncio.to_thread(self._lease.release)

    async def check_lease(self) -> None:
        """Claim the lease, and start or stop the pipeline.

        If the database can't be used or doesn't answer, the pipeline continues only while the lease is certainly held.
        If the store was opened only for reading, try to open it for writing first.
        """
        self._report_if_stuck()
        try:
            is_ours = await self._claim_in_time()
        except StoreError as error:
            self._troubles.report("pipeline", error.reason)
            # If the database is lost or read-only, the log already says so, and the error is not logged.
            if not isinstance(error, StoreLost) and not self._store.database.read_only:
                self._warn_once(str(error), f"{error}; the known data are still served")
            is_ours = None
        if is_ours is None:
            if not self._lease.is_certainly_held:
                await self._stop()
            return
        self._troubles.report("pipeline", None)
        self._record_beat(is_ours=is_ours)
        if is_ours:
            self._start()
        else:
            await self._stand_by()

    async def _claim_in_time(self) -> bool | None:
        """Claim the lease, and return whether this server holds it. Raises StoreError.

        If the database doesn't answer within `_DATABASE_TIMEOUT_S` seconds, return None.
        """
        if self._claim_task is None:
            self._claim_task = asyncio.create_task(asyncio.to_thread(self._claim_lease))
            self._claim_task.add_done_callback(_retrieve_error)
        # A thread that waits for the network can't be cancelled, so the next call of `_claim_in_time` waits for the
        # same thread.
        await asyncio.wait({self._claim_task}, timeout=_DATABASE_TIMEOUT_S)
        if not self._claim_task.done():
            self._troubles.report("pipeline", "the database does not answer")
            return None
        answered, self._claim_task = self._claim_task, None
        return answered.result()

    def _claim_lease(self) -> bool:
        if self._store.database.read_only:
            self._store.reopen_for_writing()
            _LOG.warning("the database is writable now")
        self._store.require_readable()
        if self._lease.claim():
            self._holder = None
            return True
        self._holder = self._lease.holder()
        return False

    def _record_beat(self, *, is_ours: bool) -> None:
        """If the lease has been renewed or is seen for the first time, record the time of this check.

        If no server holds the lease, remove the recorded time.
        """
        holder = self._holder
        if is_ours or (holder is not None and (self._last_beat is None or self._last_beat[0] != holder)):
            self._last_beat = holder, monotonic()
        elif holder is None:
            self._last_beat = None

    def _report_if_stuck(self) -> None:
        """If the pipeline makes no progress for `STUCK_AFTER_S` seconds, report the pipeline as stuck.

        The runner counts its checks instead of seconds, because a suspended machine or a frozen container makes no
        checks.
        """
        if not self.is_running or self._pipeline.steps != self._steps_seen:
            self._steps_seen, self._checks_without_step = self._pipeline.steps, 0
        else:
            self._checks_without_step += 1
        is_stuck = self._checks_without_step * BEAT_EVERY_S >= STUCK_AFTER_S
        reason = f"the pipeline has made no progress for {STUCK_AFTER_S / 60:g} minutes" if is_stuck else None
        if reason and not self._troubles.stuck:
            _LOG.error("%s: the server must be restarted", reason)
        self._troubles.stuck = reason
        self._troubles.report("steps", reason)

    def _start(self) -> None:
        self._troubles.another_keeps_data_fresh = False
        self._was_ours = True
        if self._last_warning is not None:
            _LOG.info("running the pipeline from now on")
        self._last_warning = None
        if self._work is None:
            self.pipeline_start_count += 1
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._pipeline.run(self._on_change))
            self._work.add_done_callback(log_error)

    async def _stand_by(self) -> None:
        was_ours, self._was_ours = self._was_ours, False
        await self._stop()
        holder = self._holder
        self._troubles.another_keeps_data_fresh = holder is not None
        if holder is None:
            return
        who = f"process {holder.pid} on {holder.host}"
        if was_ours:
            self._warn_once(who, f"{who} has taken over the pipeline; this server still serves, and stands by")
        else:
            self._warn_once(who, f"{who} runs the pipeline on this database; this server only serves, and stands by")

    async def _stop(self) -> None:
        if self._work is not None:
            self._work.cancel()
            # If an error has ended the pipeline, the error is already in the log.
            await asyncio.gather(self._work, return_exceptions=True)
            self._work = None

    def _warn_once(self, about: str, text: str) -> None:
        if about != self._last_warning:
            _LOG.warning(text)
        self._last_warning = about


def _retrieve_error(claim: asyncio.Task[bool]) -> None:
    """Read a task's error, because asyncio would log an unread error when the server ends."""
    if not claim.cancelled():
        claim.exception()
