"""Prices from the sources through the gate into the store."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from tunnihind.clock import Clock
from tunnihind.errors import SourceError
from tunnihind.market import Zone, day_end, day_start, hours_of
from tunnihind.pipeline.exchange import Exchange
from tunnihind.pipeline.observer import Observer
from tunnihind.sources.base import DaySheet, PriceSource
from tunnihind.sources.gate import Limits, Refused, Ruling, Settled, Verdict, judge, reconcile
from tunnihind.store.prices import Added, Price
from tunnihind.store.quarantine import Quarantined
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

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
        return await asyncio.to_thread(self._keep, answers, first, last)

    async def _ask(self, source: PriceSource, first: date, last: date) -> Sequence[DaySheet] | SourceError:
        try:
            return await self._exchange.ask(source.name, source.prices(first, last))
        except SourceError as error:
            return error

    def _keep(self, answers: Sequence[Sequence[DaySheet]], first: date, last: date) -> Added:
        now = int(self._clock.now())
        judged = self._judge(sheet for answer in answers for sheet in answer)
        rulings = {day: _rule(verdicts) for day, verdicts in judged.items()}
        added = self._keep_settled(rulings, self._settled_already(first, last), now)
        self._keep_refused(judged, rulings, now)
        self._store.journal.refreshed(now)
        return added

    def _judge(self, sheets: Iterable[DaySheet]) -> dict[_Day, list[_Judged]]:
        judged: dict[_Day, list[_Judged]] = defaultdict(list)
        for sheet in sheets:
            judged[sheet.zone, sheet.day].append(_Judged(sheet, judge(sheet, self._limits)))
        return judged

    def _settled_already(self, first: date, last: date) -> set[tuple[Zone, int]]:
        history = self._store.prices.archive(day_start(first)).everything()
        zones: tuple[Zone, ...] = ("ee", "lv", "lt", "fi")
        return {(zone, hour) for zone in zones for hour in history.settled(zone) if hour < day_end(last)}

    def _keep_settled(self, rulings: dict[_Day, Ruling], already: set[tuple[Zone, int]], now: int) -> Added:
        prices: dict[str, list[Price]] = defaultdict(list)
        for (zone, day), ruling in rulings.items():
            settled = ruling.settled
            if settled is None or (
                self._is_second_hand(settled) and all((zone, ts) in already for ts in hours_of(day))
            ):
                continue
            prices[settled.source] += [Price(zone, ts, settled.step_s, price) for ts, price in settled.prices.items()]
        added = Added()
        for source, rows in prices.items():
            added += self._store.prices.add(rows, source=source, seen_ts=now)
        return added

    def _is_second_hand(self, settled: Settled) -> bool:
        """Return whether the prices are a fallback's, which fills gaps but corrects nothing."""
        return settled.source != self._sources[0].name

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
