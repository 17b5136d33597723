"""Prices from the sources through the gate into the store."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final

from tunnihind.clock import Clock
from tunnihind.errors import SourceError
from tunnihind.market import ZONES, Limits, Zone, day_start, floor_hour
from tunnihind.pipeline.exchange import Exchange
from tunnihind.pipeline.observer import Observer
from tunnihind.sources.base import DaySheet, PriceSource
from tunnihind.sources.gate import Refused, Ruling, Settled, Verdict, judge, reconcile
from tunnihind.store.prices import Added, Price
from tunnihind.store.quarantine import Quarantined
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_NOTHING_YET: Final = (
    ". Until then there are no prices to serve; `tunnihind serve --demo` serves a simulated market without a network"
)

type _Day = tuple[Zone, date]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A sheet and what the gate says of it."""

    sheet: DaySheet
    verdict: Verdict


class PriceIngest:
    """Takes prices in; `sources` in the order of trust, of which at most the first two are compared."""

    def __init__(
        self, store: Store, sources: Sequence[PriceSource], limits: Limits, clock: Clock, observer: Observer
    ) -> None:
        self._store = store
        self._sources = sources
        self._limits = limits
        self._clock = clock
        self._observer = observer
        self._exchange = Exchange(store, clock, observer)

    async def ingest(self, first: date, last: date) -> Added:
        """Ask all sources for the delivery days from `first` to `last` and keep what passes the gate.

        Raises SourceError when none answers, StoreError.
        """
        asked = await asyncio.gather(*(self._ask(source, first, last) for source in self._sources))
        answers = [answer for answer in asked if not isinstance(answer, SourceError)]
        if not answers:
            raise next(answer for answer in asked if isinstance(answer, SourceError))
        return await asyncio.to_thread(self._keep, answers)

    async def _ask(self, source: PriceSource, first: date, last: date) -> Sequence[DaySheet] | SourceError:
        try:
            question = partial(source.prices, first, last)
            return await self._exchange.ask(source.name, question, advice=await self._advice())
        except SourceError as error:
            return error

    async def _advice(self) -> str:
        has_prices = await asyncio.to_thread(self._store.journal.prices_stored_at) is not None
        return "" if has_prices else _NOTHING_YET

    def _keep(self, answers: Sequence[Sequence[DaySheet]]) -> Added:
        now = int(self._clock.now())
        judged = self._judge(sheet for answer in answers for sheet in answer)
        rulings = {day: _rule(verdicts) for day, verdicts in judged.items()}
        added = self._keep_settled((ruling.settled for ruling in rulings.values() if ruling.settled), now)
        self._keep_refused(judged, rulings, now)
        self._store.journal.refreshed(now)
        return added

    def _judge(self, sheets: Iterable[DaySheet]) -> dict[_Day, list[_Judged]]:
        judged: dict[_Day, list[_Judged]] = defaultdict(list)
        for sheet in sheets:
            judged[sheet.zone, sheet.day].append(_Judged(sheet, judge(sheet, self._limits)))
        return judged

    def _keep_settled(self, days: Iterable[Settled], now: int) -> Added:
        """Keep the prices of settled days; those of a fallback fill gaps and correct nothing."""
        by_source: dict[str, list[Settled]] = defaultdict(list)
        for day in days:
            by_source[day.source].append(day)
        added = Added()
        for source, given in by_source.items():
            is_fallback = source != self._sources[0].name
            taken = self._hours_since(min(day.day for day in given)) if is_fallback else frozenset()
            prices = (
                Price(day.zone, ts, day.step_s, price)
                for day in given
                for ts, price in day.prices.items()
                if (day.zone, floor_hour(ts)) not in taken
            )
            added += self._store.prices.add(prices, source=source, seen_ts=now)
        return added

    def _hours_since(self, day: date) -> frozenset[tuple[Zone, int]]:
        """Return the hours of all zones that are settled already."""
        history = self._store.prices.archive(day_start(day)).everything()
        return frozenset((zone, hour) for zone in ZONES for hour in history.settled(zone))

    def _keep_refused(self, judged: dict[_Day, list[_Judged]], rulings: dict[_Day, Ruling], now: int) -> None:
        held = {(case.source, case.zone, case.day) for case in self._store.quarantine.held()}
        for (zone, day), verdicts in judged.items():
            refused = {case.source: case for case in rulings[zone, day].refused}
            for sheet in (one.sheet for one in verdicts):
                if sheet.source in refused:
                    self._quarantine(sheet, refused[sheet.source], now)
                elif (sheet.source, zone, day) in held:
                    self._store.quarantine.release(sheet.source, zone, day, now)
                    _LOG.info("%s's prices of %s for %s have passed after all", sheet.source, zone.upper(), day)

    def _quarantine(self, sheet: DaySheet, case: Refused, now: int) -> None:
        quotes = tuple((quote.ts, quote.eur_mwh) for quote in sheet.quotes)
        kept = Quarantined(sheet.source, sheet.zone, sheet.day, case.reason, case.detail, quotes, now, now)
        if self._store.quarantine.put(kept):
            self._observer.gate_refused(case.source, case.reason)
            _LOG.warning(
                "%s's prices of %s for %s are held back: %s", case.source, case.zone.upper(), case.day, case.detail
            )


def _rule(judged: Sequence[_Judged]) -> Ruling:
    first = judged[0].verdict
    if len(judged) > 1:
        return reconcile(first, judged[1].verdict)
    return Ruling(None, (first,)) if isinstance(first, Refused) else Ruling(first, ())
