"""Covariates from their sources into the store, as issued."""

import asyncio
from datetime import date, timedelta

from tunnihind.clock import Clock
from tunnihind.pipeline.exchange import Exchange
from tunnihind.pipeline.observer import Observer
from tunnihind.sources.base import CovariateSource
from tunnihind.store.store import Store


class CovariateIngest:
    """Takes in the covariates of one source at a time."""

    def __init__(self, store: Store, clock: Clock, observer: Observer) -> None:
        self._store = store
        self._clock = clock
        self._exchange = Exchange(store, clock, observer)

    async def ingest(self, source: CovariateSource) -> None:
        """Keep the source's newest forecast. Raises SourceError, StoreError."""
        now = int(self._clock.now())
        newest = await self._exchange.ask(source.name, lambda: source.current(now))
        await asyncio.to_thread(self._store.covariates.add, {name: (issue,) for name, issue in newest.items()})

    async def fill_month(self, source: CovariateSource, month: date, today: date) -> None:
        """Keep what the source had forecast for the days of a month, up to `today`. Raises SourceError, StoreError."""
        end = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        archived = await self._exchange.ask(source.name, lambda: source.archived(month, min(end, today)))
        await asyncio.to_thread(self._store.covariates.refill, archived, int(self._clock.now()))
