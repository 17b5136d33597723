"""The rule by which prices are settled, for one zone. All of it is pure.

A witness is the newest answer of a source for a whole delivery day. Settled prices are agreed (two sources said so, or
the operator) or unconfirmed (one source said so). `docs/data.md` has the rule in plain words.

Time counts from first to last hearing: a witness that was heard with the same prices for two hours has stood for two.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import combinations
from typing import Final

from tunnihind.market import HOUR_S, QUARTER_S, iso_utc, market_time_unit
from tunnihind.settling.day_prices import DayPrices, looks_like
from tunnihind.settling.sheet import Held, Reason, doubt
from tunnihind.store.witnesses import Witness

_ASKED_EARLY_S: Final = 60
"""Two hourly questions may be closer than an hour by this much."""
CORRECTED_AFTER_S: Final = HOUR_S - _ASKED_EARLY_S
"""A source's correction of its own unconfirmed prices has to stand for this long."""
DISPUTED_S: Final = 2 * HOUR_S - _ASKED_EARLY_S
"""When two sources differ, one has to say the same for this long. One not heard for this long is silent."""
SUSPECT_S: Final = 6 * HOUR_S - _ASKED_EARLY_S
"""A source that contradicts all settled days waits this long, and so do two whose change looks like a mistake."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The settled prices of a delivery day, since when, and the sources that they rest on while unconfirmed.

    `imported_ts` is when the operator last gave a price of it, 0 for never.
    """

    prices: DayPrices
    since_ts: int
    unconfirmed_from: frozenset[str]
    imported_ts: int = 0

    @property
    def is_agreed(self) -> bool:
        """Whether two sources, or the operator, have said so."""
        return not self.unconfirmed_from


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on a delivery day.

    `settles` are the prices to settle, `is_agreed` if two sources say them; None leaves the day as it is, and
    `withdraws` takes back what is unconfirmed. `held` says by source what is held back, and why.
    """

    settles: Witness | None = None
    is_agreed: bool = False
    withdraws: bool = False
    held: Mapping[str, Held] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """A witness beside what is settled. `answer` is how its source's newest answer compares with all that is."""

    witness: Witness
    answer: Comparison
    doubt: Held | None

    @cached_property
    def prices(self) -> DayPrices:
        """The prices of the day."""
        return DayPrices.of(self.witness.day, self.witness.prices)

    @property
    def source(self) -> str:
        """Who says so."""
        return self.witness.source

    def is_as(self, other: Settled | Said) -> bool:
        """Return whether the prices are the same."""
        return self.prices.is_as(other.prices)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a source's newest answer compares with what is settled.

    It `is_off` where it contradicts every settled day that it covers, and has not stood for six hours. `contradicts`
    says that one of the days that it contradicts is agreed. `detail` names the first difference.
    """

    is_off: bool = False
    contradicts: bool = False
    detail: str = ""


def rule(
    witnesses: Sequence[Mapping[date, Witness]], settled: Mapping[date, Settled], waits_from: date
) -> dict[date, Ruling]:
    """Return the ruling on each day that a source has answered for.

    `witnesses` are by source, in the order of trust, and by day. Days before `waits_from` are not asked for again soon,
    so that two sources that differ on one are not waited for.
    """
    said: dict[date, list[Said]] = {}
    for days in witnesses:
        answer = _answer(days, settled)
        for day, witness in days.items():
            others = [row for other, one in settled.items() if other != day for row in _rows(one.prices)]
            said.setdefault(day, []).append(Said(witness, answer, doubt(witness.prices, others)))
    return {day: _rule_on(said[day], settled.get(day), may_wait=day >= waits_from) for day in said}


def _answer(days: Mapping[date, Witness], settled: Mapping[date, Settled]) -> Comparison:
    """Hold a source's newest answer against all that is settled."""
    heard_ts = max((witness.heard_ts for witness in days.values()), default=0)
    wrong, right, detail = [], 0, ""
    for day in sorted(settled.keys() & days.keys()):
        prices, known = DayPrices.of(day, days[day].prices), settled[day].prices
        if days[day].heard_ts < heard_ts or not prices.beside(known):
            continue
        if prices.is_as(known):
            right += 1
        else:
            wrong.append(day)
            detail = detail or _difference(prices, known, "settled")
    stands_s = heard_ts - max((days[day].since_ts for day in wrong), default=0)
    contradicts = any(settled[day].is_agreed for day in wrong)
    return Comparison(bool(wrong) and not right and stands_s < SUSPECT_S, contradicts, detail)


def _rule_on(said: Sequence[Said], settled: Settled | None, *, may_wait: bool) -> Ruling:
    """Return the ruling on a day from the sources' answers, which come in the order of trust."""
    for pair in combinations(said, 2):
        if pair[0].is_as(pair[1]) and not all(one.answer.is_off and one.answer.contradicts for one in pair):
            return _agreed(pair, said, settled)
    if settled is None or not settled.is_agreed:
        return _unconfirmed(said, settled, may_wait=may_wait)
    same = next((one for one in said if one.is_as(settled) and one.prices.adds_to(settled.prices)), None)
    # The quarters of agreed hours are agreed; hours that nobody had before are not.
    return _ruling(
        said, settled, same, is_agreed=same is not None and same.prices.hours.keys() == settled.prices.hours.keys()
    )


def _agreed(pair: tuple[Said, Said], said: Sequence[Said], settled: Settled | None) -> Ruling:
    """Settle what two sources say, at once unless it changes what is agreed by what looks like a mistake."""
    best = max(pair, key=lambda one: len(one.witness.prices))
    changes = settled is not None and not best.is_as(settled)
    if settled is not None and changes and max(one.witness.since_ts for one in pair) <= settled.imported_ts:
        # The operator knew what they say, and knows better: only something new counts.
        return _ruling(said, settled, None)
    if settled is not None and changes and settled.is_agreed:
        looks = best.doubt.detail if best.doubt else looks_like(best.prices, settled.prices)
        stands_s = min(one.witness.heard_ts for one in pair) - max(one.witness.since_ts for one in pair)
        if looks and stands_s < SUSPECT_S:
            how = f"two sources say {_difference(best.prices, settled.prices, 'settled')}; they have to for six hours"
            waiting = {one.source: Held(Reason.CORRECTION, how) for one in pair}
            return Ruling(held={**_ruling(said, settled, None).held, **waiting})
    return _ruling(said, settled, best, is_agreed=True)


def _unconfirmed(said: Sequence[Said], settled: Settled | None, *, may_wait: bool) -> Ruling:
    """Settle a day on which no two sources agree, and that is not agreed."""
    if settled is not None:
        for one in said:
            is_second = one.source not in settled.unconfirmed_from
            if is_second and one.is_as(settled) and one.prices.hours.keys() <= settled.prices.hours.keys():
                return _ruling(said, settled, one, is_agreed=True)
    speaking = list(_speaking(said))
    if len(speaking) < 2:  # noqa: PLR2004
        return _ruling(said, settled, _alone(speaking, settled))
    ready = [one for one in speaking if one.witness.stands_s >= DISPUTED_S or not may_wait]
    if settled is not None:
        kept = [one for one in ready if one.source in settled.unconfirmed_from and one.is_as(settled)]
        if kept or not may_wait:
            return _ruling(said, settled, kept[0] if kept else None)
    if not ready:
        return _ruling(said, None, None, withdraws=settled is not None)
    return _ruling(said, settled, min(ready, key=_distrust))


def _speaking(said: Sequence[Said]) -> Iterator[Said]:
    """Yield those that count alone: neither off nor doubtful, and not silent while another was heard."""
    able = [one for one in said if not one.answer.is_off and one.doubt is None]
    heard_ts = max((one.witness.heard_ts for one in able), default=0)
    return (one for one in able if heard_ts - one.witness.heard_ts < DISPUTED_S)


def _alone(speaking: Sequence[Said], settled: Settled | None) -> Said | None:
    """Return the only one that speaks, if that is enough to settle or to change an unconfirmed day."""
    if not speaking or settled is None or speaking[0].is_as(settled):
        return next(iter(speaking), None)
    is_own = speaking[0].source in settled.unconfirmed_from
    return speaking[0] if speaking[0].witness.stands_s >= (CORRECTED_AFTER_S if is_own else DISPUTED_S) else None


def _distrust(one: Said) -> tuple[bool, bool]:
    """Rank those that differ: by whether they contradict an agreed day, then whether they lack the traded quarters."""
    lacks_quarters = market_time_unit(one.witness.day) == QUARTER_S and not one.prices.quarters
    return one.answer.contradicts, lacks_quarters


def _ruling(
    said: Sequence[Said],
    settled: Settled | None,
    settles: Said | None,
    *,
    is_agreed: bool = False,
    withdraws: bool = False,
) -> Ruling:
    """Hold back all that differs from what is settled in the end."""
    final = settles or settled
    held = {one.source: _held(one, said, final) for one in said if final is None or not one.is_as(final)}
    return Ruling(settles.witness if settles else None, is_agreed, withdraws, held)


def _held(one: Said, said: Sequence[Said], final: Said | Settled | None) -> Held:
    """Return why a source's prices are not those that are settled in the end, if any are."""
    if one.answer.is_off:
        return Held(Reason.OFF, f"all that it says contradicts what is settled, first {one.answer.detail}")
    if one.doubt is not None:
        return one.doubt
    against = final or next(other for other in said if other is not one)
    whose = against.source if isinstance(against, Said) else "settled"
    difference = _difference(one.prices, against.prices, whose)
    is_own = isinstance(against, Settled) and one.source in against.unconfirmed_from
    if is_own:
        taken = "it is taken when it stands for an hour, unless another source contradicts it"
        return Held(Reason.CORRECTION, f"{difference}; {taken}")
    return Held(Reason.DISAGREEMENT, difference if final else f"{difference}; neither is believed for two hours")


def _difference(ours: DayPrices, theirs: DayPrices, whose: str) -> str:
    """Name the first prices that differ, and what the difference looks like."""
    pair = ours.first_difference(theirs)
    if pair is None:
        return "no price that differs"
    looks = looks_like(ours, theirs)
    than = f"{whose} {'is' if whose == 'settled' else 'says'} {pair.theirs:.2f}"
    return f"{pair.ours:.2f} EUR/MWh at {iso_utc(pair.ts)} where {than}" + (f" ({looks})" if looks else "")


def _rows(prices: DayPrices) -> Iterator[tuple[float, ...]]:
    """Yield a day's prices by the quarter and by the hour, as far as they are known."""
    return (tuple(rows.values()) for rows in (prices.quarters, prices.hours) if rows)
