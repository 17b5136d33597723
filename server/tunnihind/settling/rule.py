"""The rule that decides which prices of a zone are settled. All functions are pure.

`docs/data.md` explains the rule in plain words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cached_property
from itertools import combinations
from typing import Final

from tunnihind.core.market import HOUR_S, iso_utc, market_time_unit
from tunnihind.settling.day_prices import DayPrices
from tunnihind.settling.mistakes import DaysAround, is_likelier, mistake_in_words
from tunnihind.settling.sheet import HeldReason, ReasonCode, reason_to_doubt
from tunnihind.settling.witness import Witness

AROUND: Final = timedelta(weeks=4)
"""The rule compares a day's prices with the settled days that are at most this far away."""

_REPEAT_TOLERANCE_S: Final = 60
"""The times below are this many seconds less than whole hours, because the answers to two hourly requests may come
slightly less than an hour apart."""
_ACCEPT_CORRECTION_AFTER_S: Final = HOUR_S - _REPEAT_TOLERANCE_S
"""Unless a second source gives the same new prices, a source must repeat a correction of its own unconfirmed prices for
this many seconds, or for `ACCEPT_DISPUTED_AFTER_S` seconds if another source's credible prices contradict the
correction. A correction that is clearly less likely than the settled prices takes `_ACCEPT_SUSPECT_AFTER_S`."""
ACCEPT_DISPUTED_AFTER_S: Final = 2 * HOUR_S - _REPEAT_TOLERANCE_S
"""For a day from `waits_from` on, a source must repeat its prices for this many seconds if they contradict another
source's credible or settled prices, and no second source gives the same prices. A claim is not credible if its last
answer is at least this many seconds older than the last answer of another claim that is neither off nor doubtful."""
_ACCEPT_SUSPECT_AFTER_S: Final = 6 * HOUR_S - _REPEAT_TOLERANCE_S
"""If a source's answer contradicts every settled day that it covers, the source must repeat its prices for this many
seconds before the rule settles them without a second source. If two sources change agreed prices, and the change looks
like a mistake, both must repeat the new prices for this many seconds. Until any settled price is this old, two sources
may change agreed prices at once, because nothing speaks for what they said first."""


@dataclass(frozen=True, slots=True)
class SettledDay:
    """The settled prices of a delivery day.

    `first_seen_ts` is the instant at which the first of the prices was seen. `unconfirmed_from` contains the names of
    the sources whose prices are unconfirmed. `imported_ts` is the instant at which the newest of the operator's prices
    was first seen, or 0 if the day has no price from the operator.
    """

    prices: DayPrices
    first_seen_ts: int
    unconfirmed_from: frozenset[str]
    imported_ts: int = 0

    @property
    def is_agreed(self) -> bool:
        """True if none of the prices is unconfirmed."""
        return not self.unconfirmed_from


@dataclass(frozen=True, slots=True)
class Ruling:
    """The rule's decision on the prices of a delivery day.

    The prices of `settles` become settled. If `settles` is None, no prices become settled. `is_agreed` is true if the
    prices of `settles` count as agreed. `takes_over` is true if the prices of `settles` come from a source whose answer
    contradicts every settled day. If `withdraws` is true, the day's unconfirmed prices are removed. `held` maps the
    names of sources to the reasons why their prices are held back.
    """

    settles: Witness | None = None
    is_agreed: bool = False
    takes_over: bool = False
    withdraws: bool = False
    held: Mapping[str, HeldReason] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A source's prices for a delivery day, with all that speaks for or against them.

    `comparison` compares the source's whole newest answer with the settled prices. `around` has the settled prices of
    the other whole days up to `AROUND` away.
    """

    witness: Witness
    comparison: AnswerComparison
    around: DaysAround

    @property
    def prices(self) -> DayPrices:
        """The claim's prices in EUR/MWh."""
        return self.witness.day_prices

    @cached_property
    def doubt(self) -> HeldReason | None:
        """The reason to doubt the claim's prices, or None if there is no reason."""
        return reason_to_doubt(self.witness.prices, [tuple(day.hours.values()) for day in self.around.values()])

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.witness.source

    def agrees_with(self, other: SettledDay | Claim) -> bool:
        """Return whether this claim and `other` share an hour, and have equal prices in all shared periods."""
        return self.prices.agrees_with(other.prices)

    def is_likelier_than(self, other: SettledDay | Claim) -> bool:
        """Return whether a known kind of mistake explains the difference, and clearly `other` is the mistake."""
        return is_likelier(self.prices, other.prices, self.around)

    def is_unlikelier_than(self, other: SettledDay | Claim) -> bool:
        """Return whether a known kind of mistake explains the difference, and clearly this claim is the mistake."""
        return is_likelier(other.prices, self.prices, self.around)

    def correction_delay_s(self, settled: SettledDay) -> int:
        """Return how long the source must repeat these prices to change the settled prices without a second source."""
        is_own = self.source in settled.unconfirmed_from
        if is_own and self.comparison.has_returned:
            return 0
        if self.is_unlikelier_than(settled):
            return _ACCEPT_SUSPECT_AFTER_S
        return _ACCEPT_CORRECTION_AFTER_S if is_own else ACCEPT_DISPUTED_AFTER_S


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """The comparison of a source's newest answer with the settled prices.

    `has_returned` is true if the source gives again what was settled before it took over. `contradicts_all` is true if
    the answer contradicts a settled day and agrees with none, and the source has not returned. `is_off` is true as long
    as the source has not repeated such prices for `_ACCEPT_SUSPECT_AFTER_S` seconds. `contradicts_agreed_day` is true
    if the answer contradicts an agreed day. `detail` describes the first pair of prices that differ, or is empty if no
    prices differ.
    """

    has_returned: bool = False
    contradicts_all: bool = False
    is_off: bool = False
    contradicts_agreed_day: bool = False
    detail: str = ""


def rule_on_days(
    witnesses: Sequence[Mapping[date, Witness]], settled: Mapping[date, SettledDay], waits_from: date
) -> dict[date, Ruling]:
    """Return a ruling for each delivery day that has a witness.

    Each item of `witnesses` maps delivery days to the witnesses of one source. The most trusted source comes first. If
    sources differ about a day before `waits_from`, the rule decides at once, because the sources are not asked again
    for such a day.
    """
    whole = {day: one.prices for day, one in settled.items() if one.prices.is_whole(day)}
    heard_ts = max((witness.heard_ts for days in witnesses for witness in days.values()), default=0)
    is_new = all(heard_ts - one.first_seen_ts < _ACCEPT_SUSPECT_AFTER_S for one in settled.values())
    answers = [_compare_answer(days, settled) for days in witnesses]
    rulings = {}
    for day in dict.fromkeys(day for days in witnesses for day in days):
        around = {other: prices for other, prices in whole.items() if other != day and abs(other - day) <= AROUND}
        claims = [Claim(of[day], answer, around) for of, answer in zip(witnesses, answers, strict=True) if day in of]
        rulings[day] = _rule_on_day(claims, settled.get(day), may_wait=day >= waits_from, is_new=is_new)
    return rulings


def _compare_answer(days: Mapping[date, Witness], settled: Mapping[date, SettledDay]) -> AnswerComparison:
    heard_ts = max((witness.heard_ts for witness in days.values()), default=0)
    wrong, right, has_returned, detail = [], 0, False, ""
    for day in sorted(settled.keys() & days.keys()):
        prices, known = days[day].day_prices, settled[day].prices
        if days[day].heard_ts < heard_ts or not prices.pairs_with(known):
            continue
        if prices.agrees_with(known):
            right += 1
        else:
            wrong.append(day)
            replaced = days[day].replaced
            has_returned = has_returned or (bool(replaced) and prices.agrees_with(DayPrices.of(day, replaced)))
            detail = detail or _difference_in_words(prices, known, "settled")
    repeated_for_s = heard_ts - max((days[day].since_ts for day in wrong), default=0)
    contradicts_all = bool(wrong) and not right and not has_returned
    is_off = contradicts_all and repeated_for_s < _ACCEPT_SUSPECT_AFTER_S
    contradicts_agreed = any(settled[day].is_agreed for day in wrong)
    return AnswerComparison(has_returned, contradicts_all, is_off, contradicts_agreed, detail)


def _rule_on_day(claims: Sequence[Claim], settled: SettledDay | None, *, may_wait: bool, is_new: bool) -> Ruling:
    """Return the ruling on a day. `is_new` is true if nothing was settled `_ACCEPT_SUSPECT_AFTER_S` seconds ago."""
    for pair in combinations(claims, 2):
        if pair[0].agrees_with(pair[1]) and (
            is_new or not all(one.comparison.is_off and one.comparison.contradicts_agreed_day for one in pair)
        ):
            return _ruling_on_agreement(pair, claims, settled, is_new=is_new)
    if settled is None or not settled.is_agreed:
        return _ruling_without_agreement(claims, settled, may_wait=may_wait)
    for one in claims:
        if one.agrees_with(settled) and one.prices.has_periods_missing_from(settled.prices):
            # The quarters of agreed hours are agreed too, but further hours are unconfirmed.
            is_agreed = one.prices.hours.keys() == settled.prices.hours.keys()
            if is_agreed or one.doubt is None:
                return _ruling(claims, settled, one, is_agreed=is_agreed)
    return _ruling(claims, settled, None)


def _ruling_on_agreement(
    pair: tuple[Claim, Claim], claims: Sequence[Claim], settled: SettledDay | None, *, is_new: bool
) -> Ruling:
    """Return the ruling on a day about which the two claims of `pair` agree.

    If these claims would change agreed prices, and the change looks like a mistake (if `is_new`: only if it clearly is
    one), the claims are held back at least until both sources have repeated their prices for `_ACCEPT_SUSPECT_AFTER_S`
    seconds.
    """
    best = max(pair, key=lambda one: len(one.witness.prices))
    changes = settled is not None and not best.agrees_with(settled)
    if settled is not None and changes and max(one.witness.since_ts for one in pair) <= settled.imported_ts:
        # The operator's prices are newer than the sources' prices, so the operator's prices stay.
        return _ruling(claims, settled, None)
    if settled is not None and changes and settled.is_agreed:
        if is_new:
            # The days around may be as wrong as this day.
            looks_wrong = is_likelier(settled.prices, best.prices, {})
        else:
            looks_wrong = bool(mistake_in_words(best.prices, settled.prices))
        repeated_for_s = min(one.witness.heard_ts for one in pair) - max(one.witness.since_ts for one in pair)
        if (best.doubt or looks_wrong) and repeated_for_s < _ACCEPT_SUSPECT_AFTER_S:
            how = (
                f"two sources say {_difference_in_words(best.prices, settled.prices, 'settled')}; "
                "the new prices are accepted if both sources still give them after six hours"
            )
            held = {one.source: HeldReason(ReasonCode.CORRECTION, how) for one in pair}
            return Ruling(held={**_ruling(claims, settled, None).held, **held})
    return _ruling(claims, settled, best, is_agreed=True)


def _ruling_without_agreement(claims: Sequence[Claim], settled: SettledDay | None, *, may_wait: bool) -> Ruling:
    """Return the ruling on a day that is not agreed, and that no pair of claims settles."""
    if settled is not None:
        for one in claims:
            is_second = one.source not in settled.unconfirmed_from
            if is_second and one.agrees_with(settled) and one.prices.hours.keys() <= settled.prices.hours.keys():
                return _ruling(claims, settled, one, is_agreed=True)
    credible = list(_credible_claims(claims))
    if len(credible) < 2:  # noqa: PLR2004
        return _ruling(claims, settled, _acceptable_claim(credible, settled))
    ready = [one for one in credible if one.witness.repeated_for_s >= ACCEPT_DISPUTED_AFTER_S or not may_wait]
    kept = [one for one in ready if settled and one.source in settled.unconfirmed_from and one.agrees_with(settled)]
    if settled is not None and not kept and not may_wait:
        return _ruling(claims, settled, None)
    if not ready:
        return _ruling(claims, None, None, withdraws=settled is not None)
    first = min(kept or ready, key=_preference_key)
    likelier = (one for one in ready if not one.comparison.contradicts_agreed_day and one.is_likelier_than(first))
    return _ruling(claims, settled, next(likelier, first))


def _credible_claims(claims: Sequence[Claim]) -> Iterator[Claim]:
    """Yield the claims whose prices may be settled without a second source.

    A claim that is off or doubtful is left out. Among the other claims, a claim is left out if its last answer is at
    least `ACCEPT_DISPUTED_AFTER_S` seconds older than the newest answer.
    """
    able = [one for one in claims if not one.comparison.is_off and one.doubt is None]
    heard_ts = max((one.witness.heard_ts for one in able), default=0)
    return (one for one in able if heard_ts - one.witness.heard_ts < ACCEPT_DISPUTED_AFTER_S)


def _acceptable_claim(credible: Sequence[Claim], settled: SettledDay | None) -> Claim | None:
    """Return the claim in `credible` if its prices may be settled now, or else None.

    `credible` has at most one claim.
    """
    if not credible or settled is None or credible[0].agrees_with(settled):
        return next(iter(credible), None)
    is_repeated = credible[0].witness.repeated_for_s >= credible[0].correction_delay_s(settled)
    return credible[0] if is_repeated else None


def _preference_key(one: Claim) -> tuple[bool, bool]:
    """Return a sort key for the claims of a disputed day. The rule settles the first claim that need not wait longer.

    Claims of sources that contradict no agreed day come first. Among equals, claims at the step at which the day was
    traded come first.
    """
    return one.comparison.contradicts_agreed_day, not one.prices.by_step[market_time_unit(one.witness.day)]


def _ruling(
    claims: Sequence[Claim],
    settled: SettledDay | None,
    accepted: Claim | None,
    *,
    is_agreed: bool = False,
    withdraws: bool = False,
) -> Ruling:
    """Return a ruling that settles the prices of the claim `accepted`.

    If `accepted` is None, no prices become settled. Claims that do not agree with `accepted`, or with `settled` if
    `accepted` is None, are held back. If both are None, all claims are held back.
    """
    final = accepted or settled
    held = {
        one.source: _held_reason(one, claims, final) for one in claims if final is None or not one.agrees_with(final)
    }
    takes_over = accepted is not None and accepted.comparison.contradicts_all and not is_agreed
    return Ruling(accepted.witness if accepted else None, is_agreed, takes_over, withdraws, held)


def _held_reason(one: Claim, claims: Sequence[Claim], final: Claim | SettledDay | None) -> HeldReason:
    if one.comparison.is_off:
        return HeldReason(
            ReasonCode.OFF, f"its whole answer contradicts the settled prices, first {one.comparison.detail}"
        )
    if one.doubt is not None:
        return one.doubt
    against = final or next(other for other in claims if other is not one)
    whose = against.source if isinstance(against, Claim) else "settled"
    difference = _difference_in_words(one.prices, against.prices, whose)
    if isinstance(against, SettledDay) and one.source in against.unconfirmed_from:
        after = "an hour" if one.correction_delay_s(against) <= _ACCEPT_CORRECTION_AFTER_S else "six hours"
        taken = f"the new prices are accepted after {after}, unless another source contradicts them"
        return HeldReason(ReasonCode.CORRECTION, f"{difference}; {taken}")
    return HeldReason(
        ReasonCode.DISAGREEMENT, difference if final else f"{difference}; neither is accepted for two hours"
    )


def _difference_in_words(ours: DayPrices, theirs: DayPrices, whose: str) -> str:
    """Describe the first pair of prices that differ. If a mistake explains the difference, describe the mistake too."""
    pair = ours.first_difference(theirs)
    if pair is None:
        return "no price that differs"
    looks = mistake_in_words(ours, theirs)
    than = f"{'the settled price is' if whose == 'settled' else f'{whose} says'} {pair.theirs:.2f}"
    return f"{pair.ours:.2f} EUR/MWh at {iso_utc(pair.ts)} where {than}" + (f" ({looks})" if looks else "")
