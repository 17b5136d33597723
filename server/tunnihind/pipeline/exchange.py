"""Asking a source, with its health kept and its failures logged once."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Final

from tunnihind.clock import Clock
from tunnihind.errors import SourceError
from tunnihind.pipeline.observer import Observer
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


class Exchange:
    """Asks sources on behalf of the pipeline."""

    def __init__(self, store: Store, clock: Clock, observer: Observer) -> None:
        self._store = store
        self._clock = clock
        self._observer = observer

    async def ask[Answer](self, source: str, question: Awaitable[Answer]) -> Answer:
        """Return the source's answer. Raises SourceError, StoreError."""
        try:
            answer = await question
        except SourceError as error:
            self._observer.source_asked(source, answered=False)
            is_news = await asyncio.to_thread(self._store.health.failed, source, self._now(), str(error))
            _LOG.log(logging.WARNING if is_news else logging.DEBUG, "%s; it will be asked again", error)
            raise
        self._observer.source_asked(source, answered=True)
        if await asyncio.to_thread(self._store.health.succeeded, source, self._now()):
            _LOG.info("%s answers again", source)
        return answer

    def _now(self) -> int:
        return int(self._clock.now())
