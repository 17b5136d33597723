"""Fetches prices from all sources in parallel, and settles the prices."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from itertools import chain
from typing import Final

from tunnihind.clock import Clock
from tunnihind.core.market import Market, Zone
from tunnihind.errors import BadAnswer, RateLimited, SourceError
from tunnihind.pipeline.back_fill import YEARS_FILLED_KEY, forget_filled_parts
from tunnihind.pipeline.observer import Observer
from tunnihind.pipeline.settler import PriceSettler
from tunnihind.pipeline.source_calls import SourceCaller
from tunnihind.settings import COMMAND
from tunnihind.sources.base import DaySheet, PriceSource
from tunnihind.store.prices import AddedCounts
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

WAIT_FOR_OTHER_SOURCES_S: Final = 30.0
"""After the first usable answer, `ingest` waits at most this many seconds for the other sources."""

_NOTHING_YET: Final = (
    f". Until then there are no prices to serve; `{COMMAND} serve --demo` serves a simulated market without a network"
)

type _RequestTask = asyncio.Task[SourceError | None]


@dataclass(slots=True)
class _IngestRound:
    """The delivery days that one call of `ingest` requests, and the results so far.

    `added` counts the new, corrected and unchanged prices. `has_usable_answer` is true after the first usable answer.
    `is_over` is true after `ingest` has stopped waiting for answers.
    """

    first: date
    last: date
    on_change: Callable[[], None]
    answers: list[Sequence[DaySheet]] = field(default_factory=list)
    added: AddedCounts = field(default_factory=AddedCounts)
    has_usable_answer: bool = False
    is_over: bool = False


class PriceIngest:
    """Fetches and settles prices. `sources` begins with the most trusted source.

    A call of `ingest` settles together all answers that come while it waits. Each later answer is settled alone. Until
    a request to a source has ended, the source gets no second request.
    """

    def __init__(
        self,
        store: Store,
        markets: Sequence[Market],
        sources: Sequence[PriceSource],
        clock: Clock,
        observer: Observer,
        *,
        patience_s: float = WAIT_FOR_OTHER_SOURCES_S,
    ) -> None:
        self._store = store
        self._zones = [market.zone for market in markets]
        self._sources = sources
        self._clock = clock
        self._patience_s = patience_s
        self._settler = PriceSettler(
            store, markets[0], [source.name for source in sources], observer.day_held, self._forget_filled_years
        )
        self._caller = SourceCaller(store, markets[0], clock, observer)
        self._running_requests: dict[str, _RequestTask] = {}
        self._settling_lock = asyncio.Lock()
        self.withdrawal_count = 0
        """The number of times that wrong prices were withdrawn."""
        self.unreadable_count = 0
        """The number of times that a zone's prices were unreadable in all answers of a call of `ingest`."""

    async def ingest(self, first: date, last: date, on_change: Callable[[], None] = lambda: None) -> AddedCounts:
        """Fetch and settle the prices of the delivery days from `first` to `last`.

        `PriceSettler.days_to_request` may add a day. Sources whose earlier request is still running are left out. If no
        source is left, only wait until one of these requests ends. Call `on_change` whenever the store may have
        changed. Return the numbers of new, corrected and unchanged prices. Prices that are settled after this call do
        not count. Raises StoreError. If no source gives a usable answer, raises the SourceError of the source that may
        be asked again first.
        """
        round_ = _IngestRound(*await asyncio.to_thread(self._settler.days_to_request, first, last), on_change)
        idle = [source for source in self._sources if source.name not in self._running_requests]
        if not idle:
            await asyncio.wait(self._running_requests.values(), return_when=asyncio.FIRST_COMPLETED)
            return AddedCounts()
        requests = {source.name: self._begin_request(source, round_) for source in idle}
        try:
            failures = await self._wait_for_answers(requests.values(), round_)
        except BaseException:
            await self.close()
            raise
        if failures and not round_.has_usable_answer:
            raise min(failures, key=_requested_pause_s)
        self.unreadable_count += any(
            all(_whole_zone_fault(sheets, zone) for sheets in round_.answers) for zone in self._zones
        )
        return round_.added

    async def finish(self) -> None:
        """Wait until all running requests have ended."""
        while self._running_requests:
            await asyncio.wait(self._running_requests.values())

    async def close(self) -> None:
        """Cancel all running requests, and wait until they have ended."""
        for request in self._running_requests.values():
            request.cancel()
        await self.finish()

    def _begin_request(self, source: PriceSource, round_: _IngestRound) -> _RequestTask:
        request = asyncio.create_task(self._ask_source(source, round_))
        self._running_requests[source.name] = request

        def ended(_: _RequestTask) -> None:
            del self._running_requests[source.name]
            if round_.is_over and not request.cancelled() and (error := request.exception()) is not None:
                _LOG.error("%s's late answer could not be stored: %s", source.name, error)

        request.add_done_callback(ended)
        return request

    async def _wait_for_answers(self, requests: Collection[_RequestTask], round_: _IngestRound) -> list[SourceError]:
        """Wait for the answers to `requests`, settle the answers, and return the sources' errors.

        After the first usable answer, wait at most `self._patience_s` seconds for the other answers.
        """
        pending = set(requests)
        deadline: float | None = None
        while pending:
            left_s = None if deadline is None else max(deadline - asyncio.get_running_loop().time(), 0.0)
            done, pending = await asyncio.wait(pending, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
            for request in done:
                request.result()
            if deadline is None and round_.has_usable_answer:
                # The wait is measured by the event loop's clock, because `self._clock` may jump.
                deadline = asyncio.get_running_loop().time() + self._patience_s
        async with self._settling_lock:
            round_.is_over = True
            if round_.answers:
                await self._settle(round_, list(chain.from_iterable(round_.answers)))
        results = (request.result() for request in requests if request.done())
        return [error for error in results if error is not None]

    async def _ask_source(self, source: PriceSource, round_: _IngestRound) -> SourceError | None:
        try:
            await self._caller.send(
                source.name, partial(self._fetch_answer, source, round_), advice=await self._failure_advice()
            )
        except SourceError as error:
            return error
        return None

    async def _fetch_answer(self, source: PriceSource, round_: _IngestRound) -> Sequence[DaySheet]:
        """Fetch the prices of one source, and add them to the answers of `round_`.

        If `round_` is over, settle the prices at once. Raises SourceError, StoreError.
        """
        sheets = await source.fetch_sheets(round_.first, round_.last)
        async with self._settling_lock:
            round_.answers.append(sheets)
            if round_.is_over:
                await self._settle(round_, sheets)
        faults = [_whole_zone_fault(sheets, zone) for zone in self._zones]
        if all(faults):
            raise BadAnswer(source.name, faults[0])
        round_.has_usable_answer = True
        return sheets

    async def _settle(self, round_: _IngestRound, sheets: Sequence[DaySheet]) -> None:
        outcome = await asyncio.to_thread(self._settler.settle, sheets, int(self._clock.now()))
        round_.added += outcome.added
        round_.on_change()

    def _forget_filled_years(self, wrong_since: int) -> None:
        self.withdrawal_count += 1
        forget_filled_parts(self._store.state, YEARS_FILLED_KEY, wrong_since)

    async def _failure_advice(self) -> str:
        has_prices = await asyncio.to_thread(self._store.state.prices_changed_at) is not None
        return "" if has_prices else _NOTHING_YET


def _whole_zone_fault(sheets: Sequence[DaySheet], zone: Zone) -> str:
    """Return a zone's first fault if all sheets of the zone have a fault.

    If a sheet has no fault, or if the zone has no sheet, return an empty string.
    """
    faults = [sheet.fault for sheet in sheets if sheet.zone == zone]
    return faults[0] if faults and all(faults) else ""


def _requested_pause_s(error: SourceError) -> float:
    return error.retry_after_s if isinstance(error, RateLimited) else 0.0
