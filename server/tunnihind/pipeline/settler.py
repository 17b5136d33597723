"""Applies the rule to the sources' answers, and stores the settled prices."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final, NamedTuple

from tunnihind.core.market import Market, Zone, day_end, day_start, delivery_day, hours_of
from tunnihind.settling.day_prices import DayPrices
from tunnihind.settling.rule import AROUND, Ruling, SettledDay, rule_on_days
from tunnihind.settling.sheet import HeldReason, ReasonCode, checked_prices
from tunnihind.settling.witness import Witness
from tunnihind.sources.base import DaySheet
from tunnihind.store.prices import AGREED, IMPORTED, VOUCHED, AddedCounts, Price, StoredPrice
from tunnihind.store.store import Store
from tunnihind.store.witnesses import held_back_lines, zones_and_days_in_words

_LOG: Final = logging.getLogger(__name__)

RETRY_HELD_FOR_DAYS: Final = 30
"""Held-back prices are requested again until their delivery day is more than this many days ago."""

_DAY: Final = timedelta(days=1)
_UNSETTLED: Final = SettledDay(DayPrices(), 0, frozenset())

type _Key = tuple[str, Zone, date]
type _Settled = dict[Zone, dict[date, SettledDay]]


@dataclass(frozen=True, slots=True)
class SettlingOutcome:
    """The result of settling sheets.

    `added` counts the new, corrected and unchanged prices. If a zone's unconfirmed prices were withdrawn because the
    new prices contradicted all settled days that they cover, `wrong_since` is the earliest instant at which a price of
    these days was seen. Otherwise, `wrong_since` is None.
    """

    added: AddedCounts = field(default_factory=AddedCounts)
    wrong_since: int | None = None

    def __add__(self, other: SettlingOutcome) -> SettlingOutcome:
        since = [since for since in (self.wrong_since, other.wrong_since) if since is not None]
        return SettlingOutcome(self.added + other.added, min(since, default=None))


class _News(NamedTuple):
    """The witnesses held back for a new reason, and the keys of the witnesses that are now accepted."""

    held: Sequence[Witness] = ()
    passed: Sequence[_Key] = ()


class PriceSettler:
    """Settles prices in the store. The methods wait for the database, so don't call them in the event loop's thread.

    `sources` lists the names of the sources, the most trusted first. Whenever a day's prices are held back for a new
    reason, `on_held` is called with the source's name and the reason. Whenever wrong prices are withdrawn,
    `on_withdrawn` is called with `SettlingOutcome.wrong_since`, and what it writes belongs to the same transaction.
    """

    def __init__(
        self,
        store: Store,
        market: Market,
        sources: Sequence[str],
        on_held: Callable[[str, str], None],
        on_withdrawn: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._market = market
        self._sources = sources
        self._on_held = on_held
        self._on_withdrawn = on_withdrawn

    def days_to_request(self, first: date, last: date) -> tuple[date, date]:
        """Return the first and the last day to request from the sources. Raises StoreError.

        If fewer than two days from `first` to `last` are settled, a settled day just before or just after these days is
        requested too, because an answer about two settled days shows whether the source has corrected one day, or is
        wrong about everything. A day counts only if it is settled in every zone that has settled days.
        """
        zones = [set(days) for days in self._settled_days(first - _DAY, last + _DAY).values() if days]
        known = set.intersection(*zones) if zones else set()
        if sum(first <= day <= last for day in known) > 1:
            return first, last
        if first - _DAY in known:
            return first - _DAY, last
        return first, last + _DAY if last + _DAY in known else last

    def settle(self, sheets: Sequence[DaySheet], now: int) -> SettlingOutcome:
        """Settle the prices that the rule accepts, and record the held-back days, in one transaction.

        Raises StoreError.
        """
        with self._store.database.writing():
            outcome, news = self._settle(sheets, now)
            if outcome.wrong_since is not None:
                self._on_withdrawn(outcome.wrong_since)
        self._report(news)
        return outcome

    def _settle(self, sheets: Sequence[DaySheet], now: int) -> tuple[SettlingOutcome, _News]:
        if not sheets:
            self._store.state.record_refresh(now)
            return SettlingOutcome(), _News()
        first, last = min(sheet.day for sheet in sheets), max(sheet.day for sheet in sheets)
        known = {
            _witness_key(one): one for one in self._store.witnesses.between(first, last) if one.source in self._sources
        }
        witnesses, faults = dict(known), {}
        for sheet in sheets:
            key = sheet.source, sheet.zone, sheet.day
            found = checked_prices(sheet, self._market.limits)
            if isinstance(found, HeldReason):
                faults[key] = found
            witnesses[key] = _updated_witness(
                known.get(key), sheet, () if isinstance(found, HeldReason) else found, now
            )
        waits_from = delivery_day(now) - timedelta(days=RETRY_HELD_FOR_DAYS)
        settled, outcome = self._settled_days(first, last), SettlingOutcome()
        is_news = not all(_is_settled(one, settled[one.zone].get(one.day)) for one in witnesses.values() if one.prices)
        # The days around are many, and needed only to judge other prices than the settled ones.
        around = self._with_days_around(settled, first, last) if is_news else settled
        for zone in settled:
            rulings = rule_on_days(
                [_witnesses_by_day(witnesses, source, zone) for source in self._sources], around[zone], waits_from
            )
            outcome += self._store_rulings(zone, rulings, settled[zone], now)
            witnesses |= {
                key: _witness_with_ruling(one, rulings[key[2]], settled[zone].get(key[2]))
                for key, one in witnesses.items()
                if key[1] == zone and one.prices
            }
        for key, fault in self._faults_to_record(faults, first, last):
            witnesses[key] = replace(witnesses[key], reason=fault.reason, detail=fault.detail)
        news = self._store_witnesses(known, witnesses, waits_from)
        if any(witnesses[sheet.source, sheet.zone, sheet.day].reason != ReasonCode.OFF for sheet in sheets):
            self._store.state.record_refresh(now)
        return outcome, news

    def _settled_days(self, first: date, last: date) -> _Settled:
        found: _Settled = {zone: {} for zone in self._market.zones}
        newest = sorted(self._store.prices.newest_versions(day_start(first), day_end(last) - 1).items())
        by_day = defaultdict[tuple[Zone, date], list[StoredPrice]](list)
        for (zone, ts, _), version in newest:
            by_day[zone, delivery_day(ts)].append(version)
        for (zone, day), versions in by_day.items():
            given = defaultdict[int, dict[int, float]](dict)
            for version in versions:
                given[version.step_s][version.ts] = version.eur_mwh
            since_ts = min(version.seen_ts for version in versions)
            sources = frozenset(version.source for version in versions)
            imported_ts = max((version.seen_ts for version in versions if version.source == IMPORTED), default=0)
            found[zone][day] = SettledDay(DayPrices(given), since_ts, sources - VOUCHED, imported_ts)
        return found

    def _with_days_around(self, settled: _Settled, first: date, last: date) -> _Settled:
        before, after = self._settled_days(first - AROUND, first - _DAY), self._settled_days(last + _DAY, last + AROUND)
        return {zone: before[zone] | days | after[zone] for zone, days in settled.items()}

    def _store_rulings(
        self, zone: Zone, rulings: Mapping[date, Ruling], settled: Mapping[date, SettledDay], now: int
    ) -> SettlingOutcome:
        """Store settled prices, and delete withdrawn prices.

        If at least two days are settled, all unconfirmed, and the new prices contradict all of them, the sources of
        these days count as wrong. Then all unconfirmed prices of the zone that these sources have given since the first
        wrong price are deleted.
        """
        book = self._store.prices
        for day in (day for day, ruling in rulings.items() if ruling.withdraws):
            book.withdraw(
                zone, settled[day].unconfirmed_from, settled[day].first_seen_ts, (day_start(day), day_end(day)), now
            )
        prices: dict[str, list[Price]] = defaultdict(list)
        wrong = []
        for day, ruling in rulings.items():
            if ruling.settles is not None:
                given, there = ruling.settles.day_prices, settled.get(day, _UNSETTLED)
                if not given.repeats(there.prices) or (ruling.is_agreed and not there.is_agreed):
                    rows = (Price(zone, *row) for row in given.rows_replacing(there.prices))
                    prices[AGREED if ruling.is_agreed else ruling.settles.source] += rows
                if not there.is_agreed and not given.agrees_with(there.prices):
                    wrong.append(there)
        wrong_since = None
        # If a single day changes, or if a settled day is agreed or stays the same, the changes are corrections.
        if len(wrong) > 1 and len(wrong) == len(settled):
            wrong_since = min(there.first_seen_ts for there in wrong)
            book.withdraw(zone, frozenset().union(*(there.unconfirmed_from for there in wrong)), wrong_since, None, now)
        added = (book.add(rows, source=source, seen_ts=now) for source, rows in prices.items())
        return SettlingOutcome(sum(added, AddedCounts()), wrong_since)

    def _faults_to_record(
        self, faults: Mapping[_Key, HeldReason], first: date, last: date
    ) -> Iterator[tuple[_Key, HeldReason]]:
        """Yield the faults to record. If all hours of a day are settled, leave out the faults of incomplete sheets."""
        settled = self._settled_days(first, last) if faults else {}
        for (source, zone, day), fault in faults.items():
            hours = settled[zone][day].prices.hours if day in settled[zone] else {}
            if fault.reason is not ReasonCode.INCOMPLETE or len(hours) < len(hours_of(day)):
                yield (source, zone, day), fault

    def _store_witnesses(
        self, known: Mapping[_Key, Witness], witnesses: Mapping[_Key, Witness], waits_from: date
    ) -> _News:
        """Store changed witnesses. Return the days held back for a new reason, and the days that are now accepted."""
        held = [
            one
            for key, one in witnesses.items()
            if one.reason and (key not in known or known[key].reason != one.reason)
        ]
        passed = [key for key, one in witnesses.items() if not one.reason and key in known and known[key].reason]
        # Days before `waits_from` are not requested again, so their new witnesses would never be compared with a later
        # answer. A new witness of these days is stored only to show why its prices are held back.
        kept = [one for key, one in witnesses.items() if one.day >= waits_from or one.reason or key in known]
        self._store.witnesses.put(
            *(one for one in kept if known.get(_witness_key(one)) != one), is_news=bool(held or passed)
        )
        return _News(held, passed)

    def _report(self, news: _News) -> None:
        for one in news.held:
            self._on_held(one.source, one.reason)
        for line in held_back_lines(news.held):
            _LOG.warning(line)
        for source in dict.fromkeys(source for source, _, _ in news.passed):
            days = [(zone, day) for other, zone, day in news.passed if other == source]
            _LOG.info("%s's prices of %s are now accepted", source, zones_and_days_in_words(days))


def _witness_key(one: Witness) -> _Key:
    return one.source, one.zone, one.day


def _is_settled(one: Witness, settled: SettledDay | None) -> bool:
    return settled is not None and one.day_prices.repeats(settled.prices)


def _witnesses_by_day(witnesses: Mapping[_Key, Witness], source: str, zone: Zone) -> dict[date, Witness]:
    return {day: one for (of, at, day), one in witnesses.items() if (of, at) == (source, zone) and one.prices}


def _updated_witness(known: Witness | None, sheet: DaySheet, prices: tuple[float, ...], now: int) -> Witness:
    """Return a source's witness after a new sheet with `prices`.

    `prices` is empty if the sheet has no valid prices. Then the result has the prices of the earlier witness `known`,
    if there is one.
    """
    if known is not None and not prices:
        return known if known.prices else replace(known, heard_ts=now)
    is_same = known is not None and known.prices == prices
    since_ts = min(known.since_ts, now) if known is not None and is_same else now
    replaced = known.replaced if known is not None else ()
    return Witness(sheet.source, sheet.zone, sheet.day, prices, since_ts, now, replaced=replaced)


def _witness_with_ruling(one: Witness, ruling: Ruling, settled: SettledDay | None) -> Witness:
    held, replaced = ruling.held.get(one.source), one.replaced
    if ruling.takes_over and ruling.settles == one and settled is not None and settled.prices.is_whole(one.day):
        replaced = settled.prices.in_order
    return replace(one, replaced=replaced, reason=held.reason if held else "", detail=held.detail if held else "")
