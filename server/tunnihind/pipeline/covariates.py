"""Covariates from their sources into the store, as issued."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial

from tunnihind.clock import Clock
from tunnihind.errors import SourceError
from tunnihind.known import IssuedSeries
from tunnihind.pipeline.exchange import Exchange
from tunnihind.pipeline.observer import Observer
from tunnihind.sources.base import CovariateSource
from tunnihind.store.store import Store

type _Question = Callable[[CovariateSource], Awaitable[Mapping[str, Sequence[IssuedSeries]]]]


class CovariateIngest:
    """Takes covariates in; one source's failure does not keep the others' answers out."""

    def __init__(self, store: Store, sources: Sequence[CovariateSource], clock: Clock, observer: Observer) -> None:
        self._store = store
        self._sources = sources
        self._clock = clock
        self._exchange = Exchange(store, clock, observer)
        self._filled_by: dict[date, set[str]] = defaultdict(set)

    async def ingest(self) -> None:
        """Keep every source's newest forecast. Raises SourceError if any source failed, StoreError."""
        now = int(self._clock.now())

        async def newest(source: CovariateSource) -> Mapping[str, Sequence[IssuedSeries]]:
            return {name: (series,) for name, series in (await source.current(now)).items()}

        await self._keep(newest, set())

    async def fill_month(self, month: date, last: date) -> None:
        """Keep what was forecast for the days of a month, up to `last`.

        Raises SourceError if any source failed, StoreError. Asked for that month again, only those that failed are
        asked: it is a lot to answer.
        """
        end = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        await self._keep(lambda source: source.archived(month, min(end, last)), self._filled_by[month])
        del self._filled_by[month]

    async def _keep(self, question: _Question, done: set[str]) -> None:
        failures: list[SourceError] = []
        for source in self._sources:
            if source.name in done:
                continue
            try:
                series = await self._exchange.ask(source.name, partial(question, source))
            except SourceError as error:
                failures.append(error)
            else:
                await asyncio.to_thread(self._store.covariates.add, series)
                done.add(source.name)
        if failures:
            raise failures[0]
