"""Settles prices: stores what has passed the price checks, holds back the rest, and says why."""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from tunnihind.errors import BadAnswer
from tunnihind.market import ESTONIA, ZONES, Limits, day_end, day_start, hours_of
from tunnihind.pipeline.back_fill import YEARS_FILLED, forget_filled
from tunnihind.pipeline.judging import Day, Judged, KnownPrices, Outcome, is_whole, judged_by_day, outcome_of, prices_of
from tunnihind.pipeline.observer import Observer
from tunnihind.price_checks.correction import Decision, Pending, decide
from tunnihind.price_checks.gate import (
    Reason,
    Refused,
    Settled,
)
from tunnihind.price_checks.shift import ZonePrices, answer_prices, fit, in_words
from tunnihind.sources.base import DaySheet
from tunnihind.store.confirmation import Doubt
from tunnihind.store.prices import Added
from tunnihind.store.quarantine import Quarantined
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_PENDING: Final = "pending_correction"
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PriceAnswer:
    """A source's prices of some delivery days."""

    source: str
    sheets: Sequence[DaySheet]

    @property
    def has_estonia(self) -> bool:
        """Whether it has any Estonian price."""
        return any(sheet.zone == ESTONIA.zone and sheet.quotes for sheet in self.sheets)

    @property
    def estonian_fault(self) -> str:
        """Why no Estonian day of it can be read; empty where one can be read, or where there is none."""
        estonian = [sheet.fault for sheet in self.sheets if sheet.zone == ESTONIA.zone]
        return estonian[0] if estonian and all(estonian) else ""


@dataclass(frozen=True, slots=True)
class Window:
    """The delivery days to ask for. `is_unknown` says that none of them has a settled price to compare with."""

    first: date
    last: date
    is_unknown: bool


class Settling:
    """Settles prices. `sources` are names in the order of trust; at most the first two are compared.

    All of it works on the store and asks no source. It is meant for a thread.
    """

    def __init__(self, store: Store, sources: Sequence[str], limits: Limits, observer: Observer) -> None:
        self._store = store
        self._sources = sources
        self._limits = limits
        self._observer = observer
        self._logged_dispute = ""

    def window(self, first: date, last: date) -> Window:
        """Return the days to ask for. One more day is added where only that one is settled, so that a shift is seen.

        Raises StoreError.
        """
        known = {day for _, day in _days_known(self._known(first - _DAY, last + _DAY), first - _DAY, last + _DAY)}
        if any(first <= day <= last for day in known):
            return Window(first, last, is_unknown=False)
        if first - _DAY in known:
            return Window(first - _DAY, last, is_unknown=False)
        if last + _DAY in known:
            return Window(first, last + _DAY, is_unknown=False)
        return Window(first, last, is_unknown=True)

    def examine(self, answer: PriceAnswer, now: int) -> None:
        """Hold back the whole answer where its prices are shifted, compared with the settled ones.

        Settled prices that another source gave and nobody has confirmed yet are withdrawn too. An answer that agrees
        with them confirms them. Raises BadAnswer for an answer that is held back, StoreError.
        """
        result = fit(self._known_of([answer]), answer_prices(answer.sheets))
        doubt = self._store.confirmation.doubt()
        is_second = doubt is not None and doubt.kind == "unconfirmed" and doubt.source != answer.source
        if result.shift_s == 0:
            if is_second and result.agrees:
                self._store.confirmation.doubted(None)
            return
        how = in_words(result.shift_s)
        if doubt is not None and is_second:
            dispute = Doubt("disputed", doubt.source, now, answer.source, how)
            self._hold(answer, str(dispute), now)
            self._store.confirmation.withdraw(dispute, doubt.since_ts, now)
            forget_filled(self._store.state, YEARS_FILLED, doubt.since_ts)
            raise BadAnswer(answer.source, str(dispute))
        problem = f"its prices stand {how}, compared with what is settled; the whole answer is held back"
        self._hold(answer, problem, now)
        raise BadAnswer(answer.source, problem)

    def keep(self, answers: Sequence[PriceAnswer], now: int) -> Added:
        """Store what passes the checks. The answers are about the same days, in the order of trust.

        Raises BadAnswer where nothing is settled yet and two answers differ by a shift, StoreError.
        """
        known = self._known_of(answers)
        speaking = [answer for answer in answers if answer.has_estonia]
        is_unknown = not any(prices.quarters or prices.whole_hours for prices in known.values())
        if is_unknown:
            self._require_agreement(speaking, now)
        judged = judged_by_day((sheet for answer in answers for sheet in answer.sheets), self._limits)
        outcome = outcome_of(judged, known, self._sources)
        self._correct(judged, outcome, now)
        added = Added()
        for source, prices in outcome.prices.items():
            added += self._store.prices.add(prices, source=source, seen_ts=now)
        self._keep_refused(judged, outcome.refused, known, now)
        self._note_doubt(speaking, added, is_unknown=is_unknown, now=now)
        self._store.state.refreshed(now)
        return added

    def _known(self, first: date, last: date) -> KnownPrices:
        """Return the settled prices of some delivery days by zone."""
        zones = {zone: ZonePrices() for zone in ZONES}
        for (zone, ts, step_s), price in self._store.prices.between(day_start(first), day_end(last) - 1).items():
            zones[zone].of(step_s)[ts] = price
        return zones

    def _known_of(self, answers: Iterable[PriceAnswer]) -> KnownPrices:
        days = {sheet.day for answer in answers for sheet in answer.sheets}
        return self._known(min(days), max(days)) if days else {}

    def _require_agreement(self, answers: Sequence[PriceAnswer], now: int) -> None:
        """Refuse two answers that differ by a shift, and later any answer of one of the two sources alone."""
        doubt = self._store.confirmation.doubt()
        if len(answers) > 1:
            first, second = answers[:2]
            shift_s = fit(answer_prices(first.sheets), answer_prices(second.sheets)).shift_s
            if shift_s == 0:
                self._store.confirmation.doubted(None)
                self._logged_dispute = ""
                return
            dispute = Doubt("disputed", first.source, now, second.source, in_words(shift_s))
            self._store.confirmation.doubted(dispute)
            # Neither source has failed, so that nobody else logs this.
            if str(dispute) != self._logged_dispute:
                self._logged_dispute = str(dispute)
                _LOG.warning("%s; both will be asked again", dispute)
        elif answers and doubt is not None and doubt.kind == "disputed":
            dispute = doubt
            if not {doubt.source, doubt.other} <= set(self._sources):
                return
        else:
            return
        for answer in answers:
            self._hold(answer, str(dispute), now)
        raise BadAnswer(answers[-1].source, str(dispute))

    def _note_doubt(self, answers: Sequence[PriceAnswer], added: Added, *, is_unknown: bool, now: int) -> None:
        """Note whether the prices are unconfirmed: one of two sources gave them. Settled prices end a dispute."""
        doubt = self._store.confirmation.doubt()
        if len(self._sources) < 2:  # noqa: PLR2004  a single source can't be confirmed
            self._store.confirmation.doubted(None)
        elif is_unknown and len(answers) == 1 and added.stored:
            if doubt is None or doubt.kind == "disputed":
                self._store.confirmation.doubted(Doubt("unconfirmed", answers[0].source, now))
        elif doubt is not None and doubt.kind == "disputed" and not is_unknown:
            self._store.confirmation.doubted(None)

    def _correct(self, judged: Mapping[Day, list[Judged]], outcome: Outcome, now: int) -> None:
        """Add the corrections that are allowed now to the outcome's prices, and hold back the others."""
        answered = {
            day
            for (_, day), verdicts in judged.items()
            if isinstance(verdicts[0].verdict, Settled) and verdicts[0].sheet.source == self._sources[0]
        }
        pending = Pending.of(self._store.state.read(_PENDING))
        decision = decide(outcome.changes, outcome.agreed, answered, pending, now)
        for key, changes in outcome.changes.items():
            day = outcome.changed[key]
            if key in decision.allowed:
                outcome.prices[day.source] += prices_of(day, changes)
            else:
                outcome.refused.append(_held_correction(day, decision))
        if decision.pending != pending:
            self._store.state.write(_PENDING, None if decision.pending is None else decision.pending.fact())

    def _hold(self, answer: PriceAnswer, problem: str, now: int) -> None:
        """Put a whole answer into quarantine. The caller raises the error that says why."""
        self._quarantine(
            [
                _case(sheet, Refused(sheet.source, sheet.zone, sheet.day, Reason.SHIFTED, problem), now)
                for sheet in answer.sheets
            ]
        )

    def _keep_refused(
        self, judged: Mapping[Day, list[Judged]], refused: Iterable[Refused], known: KnownPrices, now: int
    ) -> None:
        reasons = {(case.source, case.zone, case.day): case for case in refused}
        held = {(case.source, case.zone, case.day) for case in self._store.quarantine.held()}
        cases, passed = [], []
        for (zone, day), verdicts in judged.items():
            for sheet in (one.sheet for one in verdicts):
                key = sheet.source, zone, day
                case = reasons.get(key)
                if case is None:
                    if key in held:
                        passed.append(key)
                # An incomplete answer does not matter where the whole day is settled.
                elif case.reason is not Reason.INCOMPLETE or not is_whole(known[zone], day):
                    cases.append(_case(sheet, case, now))
        for line in _log_lines(self._quarantine(cases)):
            _LOG.warning(line)
        if passed:
            self._store.quarantine.release(passed, now)
            for source in dict.fromkeys(source for source, _, _ in passed):
                days = [(zone, day) for other, zone, day in passed if other == source]
                _LOG.info("%s's prices of %s have passed after all", source, _days_in_words(days))

    def _quarantine(self, cases: Sequence[Quarantined]) -> list[Quarantined]:
        """Store cases, and return those that are new."""
        news = self._store.quarantine.put(*cases) if cases else []
        for case in news:
            self._observer.gate_refused(case.source, case.reason)
        return news


def _held_correction(day: Settled, decision: Decision) -> Refused:
    return Refused(day.source, day.zone, day.day, Reason.CORRECTION, decision.reason)


def _case(sheet: DaySheet, case: Refused, now: int) -> Quarantined:
    quotes = tuple((quote.ts, quote.eur_mwh) for quote in sheet.quotes)
    return Quarantined(sheet.source, sheet.zone, sheet.day, case.reason, case.detail, quotes, now, now)


def _days_known(known: KnownPrices, first: date, last: date) -> Iterator[Day]:
    for zone, prices in known.items():
        starts = prices.quarters.keys() | prices.whole_hours.keys()
        for offset in range((last - first).days + 1):
            day = first + timedelta(days=offset)
            if not starts.isdisjoint(hours_of(day)):
                yield zone, day


def _log_lines(cases: Iterable[Quarantined]) -> Iterator[str]:
    """Return a line of the log for each source and reason."""
    groups: dict[tuple[str, str], list[Quarantined]] = defaultdict(list)
    for case in cases:
        groups[case.source, case.reason].append(case)
    for (source, _), group in groups.items():
        details = list(dict.fromkeys(case.detail for case in group))
        more = f", and {len(details) - 1} more like it" if len(details) > 1 else ""
        days = _days_in_words([(case.zone, case.day) for case in group])
        yield f"{source}'s prices of {days} are held back: {details[0]}{more}"


def _days_in_words(held: Collection[tuple[str, date]]) -> str:
    """Return zones and days in short: `EE, LV for 2025-12-15 to 2025-12-16`."""
    zones = ", ".join(zone.upper() for zone in ZONES if zone in {zone for zone, _ in held})
    first, last = min(day for _, day in held), max(day for _, day in held)
    return f"{zones} for {first}" + ("" if first == last else f" to {last}")
