"""What answers come to by the price checks: prices to store, changes of settled ones, and days to hold back."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from tunnihind.market import Limits, Zone, day_end, day_start, hours_of
from tunnihind.price_checks.correction import is_agreed, split
from tunnihind.price_checks.gate import (
    Refused,
    Ruling,
    Settled,
    Verdict,
    contradiction,
    is_doubtful,
    judge,
    reconcile,
)
from tunnihind.price_checks.shift import ZonePrices
from tunnihind.sources.base import DaySheet
from tunnihind.store.prices import Price

type Day = tuple[Zone, date]
type KnownPrices = Mapping[Zone, ZonePrices]
"""The settled prices of some delivery days by zone."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A sheet and the gate's verdict on it."""

    sheet: DaySheet
    verdict: Verdict


@dataclass(slots=True)
class Outcome:
    """What an answer comes to: prices to store, by source; changes of settled prices; and days that are held back.

    `changed` are the days that the changes come from, `agreed` those whose changes a second source confirms.
    """

    prices: dict[str, list[Price]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[Day, dict[int, float]] = field(default_factory=dict)
    changed: dict[Day, Settled] = field(default_factory=dict)
    agreed: set[Day] = field(default_factory=set)
    refused: list[Refused] = field(default_factory=list)


def judged_by_day(sheets: Iterable[DaySheet], limits: Limits) -> dict[Day, list[Judged]]:
    """Return the verdicts on the sheets of each zone and delivery day, in the order of trust."""
    judged: dict[Day, list[Judged]] = defaultdict(list)
    for sheet in sheets:
        judged[sheet.zone, sheet.day].append(Judged(sheet, judge(sheet, limits)))
    return judged


def outcome_of(judged: Mapping[Day, list[Judged]], known: KnownPrices, sources: Sequence[str]) -> Outcome:
    """Separate what fills gaps from what changes settled prices.

    Only the first of the `sources` may change them, except where the gate would not have believed them from one source.
    """
    rulings = {day: _rule(verdicts) for day, verdicts in judged.items()}
    outcome = Outcome()
    for (zone, day), ruling in rulings.items():
        settled = known[zone].between(day_start(day), day_end(day))
        outcome.refused += [case for case in ruling.refused if not _is_settled(case, settled)]
        if ruling.settled is None:
            continue
        parts = split(ruling.settled, settled)
        outcome.prices[ruling.settled.source] += prices_of(ruling.settled, parts.fills)
        if not parts.changes:
            continue
        if ruling.only_fills:
            outcome.refused += [one.verdict for one in judged[zone, day] if isinstance(one.verdict, Refused)]
        elif ruling.settled.source == sources[0] or is_doubtful(settled):
            outcome.changes[zone, day] = parts.changes
            outcome.changed[zone, day] = ruling.settled
            others = [one.verdict for one in judged[zone, day][:2] if one.verdict is not ruling.settled]
            if any(is_agreed(parts.changes, ruling.settled, other) for other in others if isinstance(other, Settled)):
                outcome.agreed.add((zone, day))
        elif refused := contradiction(ruling.settled, settled.hours(), "what is settled"):
            outcome.refused.append(refused)
    return outcome


def prices_of(day: Settled, prices: Mapping[int, float]) -> list[Price]:
    """Return some prices of a day as they are stored."""
    return [Price(day.zone, ts, day.step_s, price) for ts, price in prices.items()]


def is_whole(known: ZonePrices, day: date) -> bool:
    """Return whether each hour of a delivery day is known."""
    return len(known.between(day_start(day), day_end(day)).hours()) == len(hours_of(day))


def _rule(judged: Sequence[Judged]) -> Ruling:
    first = judged[0].verdict
    if len(judged) > 1:
        return reconcile(first, judged[1].verdict)
    return Ruling(None, (first,)) if isinstance(first, Refused) else Ruling(first, ())


def _is_settled(case: Refused, settled: ZonePrices) -> bool:
    """Return whether a refused day says what is settled: zeros that both sources have agreed on."""
    return case.doubted is not None and is_whole(settled, case.day) and not split(case.doubted, settled).changes
