"""Covariates from their sources into the store, as issued."""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta

from tunnihind.clock import Clock
from tunnihind.errors import SourceError
from tunnihind.pipeline.exchange import Exchange
from tunnihind.pipeline.observer import Observer
from tunnihind.sources.base import CovariateSource
from tunnihind.store.store import Store


class CovariateIngest:
    """Takes covariates in; one source's failure does not keep the others' answers out."""

    def __init__(self, store: Store, sources: Sequence[CovariateSource], clock: Clock, observer: Observer) -> None:
        self._store = store
        self._sources = sources
        self._clock = clock
        self._exchange = Exchange(store, clock, observer)

    async def ingest(self) -> None:
        """Keep every source's newest forecast. Raises SourceError if any source failed, StoreError."""
        now = int(self._clock.now())
        failures: list[SourceError] = []
        for source in self._sources:
            try:
                series = await self._exchange.ask(source.name, source.current(now))
            except SourceError as error:
                failures.append(error)
                continue
            await asyncio.to_thread(self._store.covariates.add, {name: (one,) for name, one in series.items()})
        if failures:
            raise failures[0]

    async def fill_month(self, month: date, last: date) -> None:
        """Keep what was forecast for the days of a month, up to `last`. Raises SourceError, StoreError."""
        end = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        for source in self._sources:
            series = await self._exchange.ask(source.name, source.archived(month, min(end, last)))
            await asyncio.to_thread(self._store.covariates.add, series)
