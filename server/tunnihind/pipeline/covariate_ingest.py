"""Fetches and stores the covariates and observations of all sources."""

import asyncio
import logging
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from tunnihind.clock import Clock
from tunnihind.core.market import DAY_S, Market
from tunnihind.forecast.known_days.quantities import KNOWN_NAMES, unknown_covariate_names
from tunnihind.known import IssuedSeries
from tunnihind.pipeline.back_fill import filled_parts_key, last_day_of_part, record_filled_part
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.retention import superfluous_issues
from tunnihind.pipeline.source_calls import SourceCaller
from tunnihind.sources.base import CovariateSource, ObservationSource
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)


class CovariateIngest:
    """Fetches and stores covariates, and logs once the name of each covariate that the forecast does not use."""

    def __init__(self, store: Store, market: Market, clock: Clock, observer: Observer) -> None:
        self._store = store
        self._clock = clock
        self._caller = SourceCaller(store, market, clock, observer)
        self._warned_of: set[str] = set()

    async def ingest(self, source: CovariateSource) -> None:
        """Fetch and store a source's newest forecasts. If the source can't have newer forecasts yet, do nothing.

        Raises SourceError, StoreError.
        """
        now = int(self._clock.now())
        if not source.has_news(now):
            return
        newest = await self._caller.send(source.name, lambda: source.newest_forecasts(now))
        self._warn_of_unknown(source, newest)
        await asyncio.to_thread(self._store.covariates.add, {name: (issue,) for name, issue in newest.items()})
        if source.back_fill.by == "day":
            await asyncio.to_thread(self._mark_weather_run_days_filled, source, newest.values(), now)

    async def fill_part(self, source: CovariateSource, part: date, today: date) -> bool:
        """Fetch and store a source's archived forecasts of a day or month, and return whether the source had any.

        `part` is the day to fill, or the first day of the month to fill. Days after `today` are not requested.
        Forecasts that `retention.delete_superfluous` would delete are not stored. Raises SourceError, StoreError.
        """
        last = min(last_day_of_part(source, part), today)
        archived = await self._caller.send(source.name, lambda: source.archived_forecasts(part, last))
        self._warn_of_unknown(source, archived)
        superfluous = partial(superfluous_issues, int(self._clock.now()))
        await asyncio.to_thread(self._store.covariates.add_archived, archived, superfluous)
        return bool(archived)

    async def fill_observations(self, source: ObservationSource, month: date, today: date) -> bool:
        """Fetch and store a source's observations of a month, and return whether the source had any.

        `month` is the month's first day. Days after `today` are not requested. Raises SourceError, StoreError.
        """
        last = min(last_day_of_part(source, month), today)
        observed = await self._caller.send(source.name, lambda: source.observations(month, last))
        await asyncio.to_thread(self._store.observations.add, observed)
        return bool(observed)

    def _mark_weather_run_days_filled(self, source: CovariateSource, newest: Iterable[IssuedSeries], now: int) -> None:
        """Mark the days of the weather runs of 00 UTC in `newest` as filled, so that the back-fill skips these days."""
        for run_ts in {issue.run_ts for issue in newest}:
            if run_ts is not None and run_ts % DAY_S == 0:
                day = datetime.fromtimestamp(run_ts, UTC).date()
                record_filled_part(self._store.state, filled_parts_key(source), str(day), now)

    def _warn_of_unknown(self, source: CovariateSource, names: Iterable[str]) -> None:
        unknown = [name for name in unknown_covariate_names(names) if name not in self._warned_of]
        self._warned_of.update(unknown)
        if unknown:
            _LOG.warning(
                "%s gives covariates that the forecast does not use: %s; the forecast uses %s",
                source.name,
                ", ".join(unknown),
                KNOWN_NAMES,
            )
