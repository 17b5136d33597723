"""Sends requests to sources, and logs failures."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from tunnihind.clock import Clock
from tunnihind.core.market import Market
from tunnihind.errors import RateLimited, SourceError
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.schedule import limited_pause_end
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


class SourceCaller:
    """Sends the pipeline's requests to sources. If a source asks for a pause, `limited_pause_end` limits the pause."""

    def __init__(self, store: Store, market: Market, clock: Clock, observer: Observer) -> None:
        self._store = store
        self._market = market
        self._clock = clock
        self._observer = observer
        self._failing: set[str] = set()
        self._paused: dict[str, tuple[int, int, RateLimited]] = {}

    async def send[Answer](self, source: str, request: Callable[[], Awaitable[Answer]], *, advice: str = "") -> Answer:
        """Send a request to a source by calling `request`, and return the answer. Raises SourceError, StoreError.

        If the source fails several times in a row, only the first failure is logged as a warning, and the other
        failures at level DEBUG. `advice` is added to the logged text of a failure. If the source has asked for a pause
        that is not over yet, the call sends no request and raises RateLimited.
        """
        self._raise_if_paused(source)
        try:
            answer = await request()
        except SourceError as error:
            await self._record_failure(source, error, advice)
            raise
        self._failing.discard(source)
        self._observer.request_ended(source, answered=True)
        if await asyncio.to_thread(self._store.health.record_success, source, self._now()):
            _LOG.info("%s answers again", source)
        return answer

    def _raise_if_paused(self, source: str) -> None:
        if source not in self._paused:
            return
        since, until, error = self._paused[source]
        now = self._now()
        # A pause that begins in the future is ignored, because it was recorded before the clock was set back.
        if since <= now < until:
            raise RateLimited(source, error.problem, status=error.status, retry_after_s=until - now)

    async def _record_failure(self, source: str, error: SourceError, advice: str) -> None:
        self._observer.request_ended(source, answered=False)
        if isinstance(error, RateLimited):
            now = self._now()
            self._paused[source] = now, limited_pause_end(self._market, now, error.retry_after_s), error
        await asyncio.to_thread(self._store.health.record_failure, source, self._now(), error)
        # `_failing` is only in memory, so that after a restart the log shows the cause of a failure again.
        level = logging.DEBUG if source in self._failing else logging.WARNING
        self._failing.add(source)
        _LOG.log(level, "%s; the source will be asked again%s", error, advice)

    def _now(self) -> int:
        return int(self._clock.now())
