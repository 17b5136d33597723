"""Takes covariates from their sources into the store, as they were issued."""

import asyncio
import logging
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final

from tunnihind.clock import Clock
from tunnihind.forecast.known_days.quantities import KNOWN_NAMES, unknown_names
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.source_calls import SourceCaller
from tunnihind.sources.base import CovariateSource
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


class CovariateIngest:
    """Takes in the covariates of one source at a time. Logs once each name that the forecast does not use."""

    def __init__(self, store: Store, clock: Clock, observer: Observer) -> None:
        self._store = store
        self._clock = clock
        self._caller = SourceCaller(store, clock, observer)
        self._warned_of: set[str] = set()

    async def ingest(self, source: CovariateSource) -> None:
        """Store the source's newest forecast. Raises SourceError, StoreError."""
        now = int(self._clock.now())
        newest = await self._caller.call(source.name, lambda: source.current(now))
        self._warn_of_unknown(source, newest)
        await asyncio.to_thread(self._store.covariates.add, {name: (issue,) for name, issue in newest.items()})

    async def fill_month(self, source: CovariateSource, month: date, today: date) -> None:
        """Store what the source had forecast for the days of a month, up to `today`. Raises SourceError, StoreError."""
        end = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        archived = await self._caller.call(source.name, lambda: source.archived(month, min(end, today)))
        self._warn_of_unknown(source, archived)
        await asyncio.to_thread(self._store.covariates.refill, archived, int(self._clock.now()))

    def _warn_of_unknown(self, source: CovariateSource, names: Iterable[str]) -> None:
        unknown = [name for name in unknown_names(names) if name not in self._warned_of]
        self._warned_of.update(unknown)
        if unknown:
            _LOG.warning(
                "%s gives covariates that the forecast does not use: %s; it uses %s",
                source.name,
                ", ".join(unknown),
                KNOWN_NAMES,
            )
