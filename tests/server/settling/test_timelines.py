"""The table of timelines: one of two sources is wrong about tomorrow for two days, and what is settled in the meantime.

`docs/data.md` has a short table of what remains wrong.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from typing import Final

import pytest

from tests.support.clocks import local
from tests.support.markets.sample_prices import made_up_quotes
from tests.support.store.settling_trial import BOTH
from tests.support.upstreams.lies import (
    Lie,
    at_periods,
    copied,
    first_half,
    first_quarters,
    flat_hours,
    in_hours,
    level,
    moved,
    padded,
    plus,
    random,
    right,
    right_at_ends,
    rotated,
    swapped,
    times,
    zeros,
)
from tunnihind.core.market import (
    HARMONISED_LIMITS,
    HOUR_S,
    delivery_day,
    publication_time,
)
from tunnihind.settling.day_prices import DayPrices
from tunnihind.settling.rule import AROUND, Ruling, SettledDay, rule_on_days
from tunnihind.settling.sheet import HeldReason, checked_prices
from tunnihind.settling.witness import Witness
from tunnihind.sources.base import Quote, day_sheets, days_between

DAYS: Final = (date(2025, 12, 15), date(2026, 3, 28), date(2025, 10, 25))
"""An ordinary day, and the days before a change of clocks."""


def lies_about(day: date) -> dict[str, Lie]:
    """Return the kinds of wrong answers about a day, by name."""
    minutes = (15, -15, 30, -30, 60, -60, 120, -120, 180, -180)
    return {
        **{f"{number:+} minutes": moved(number * 60, day) for number in minutes},
        "+60 minutes, the first hour right": right_at_ends(moved(HOUR_S, day), day, first=1),
        "-60 minutes, the last hour right": right_at_ends(moved(-HOUR_S, day), day, last=1),
        "rotated by +60 minutes": rotated(HOUR_S, day),
        "rotated by -60 minutes": rotated(-HOUR_S, day),
        "all days +60 minutes": moved(HOUR_S),
        **{f"times {factor}": times(factor, day) for factor in (1.24, 1.09, 0.806, 10, 0.1, 100, 0.001, -1)},
        "VAT, not rounded": times(1.24, day, digits=9),
        "EUR/kWh, not rounded": times(0.001, day, digits=9),
        "VAT on all days": times(1.24),
        "4000 and -500 in two quarters": at_periods({30: 4000.0, 70: -500.0}, day),
        "4000 in an hour": at_periods(dict.fromkeys(range(40, 44), 4000.0), day),
        "0 in a quarter": at_periods({50: 0.0}, day),
        "a day of zeros": level(0, day),
        "19 hours of zeros": zeros(19, day),
        "16 hours of zeros": zeros(16, day),
        "a flat day": level(55.5, day),
        **{f"a copy of {back} days before": copied(day, back=back) for back in (1, 3, 7, 28)},
        "a copy, a cent off": lambda quotes: plus(0.01, day)(copied(day, back=3)(quotes)),
        "a copy, nearly a euro off": lambda quotes: plus(0.99, day)(copied(day, back=3)(quotes)),
        "a copy, the first hour right": right_at_ends(copied(day, back=7), day, first=1),
        "half a day, padded to midnight": padded(12, day),
        "two thirds of a day, padded to midnight": padded(16, day),
        "half a day": first_half(day),
        "hours with their first quarter's price": first_quarters(day),
        "quarters with their hour's first price": flat_hours(day),
        "right hours": in_hours(day),
        "Finland's prices": swapped("ee", "fi", day),
        "5 EUR/MWh more": plus(5, day),
        "random prices": random(1, day),
    }


type Told = dict[date, tuple[float, ...]]
"""The prices of days, by the quarter or by the hour."""


@cache
def told(today: date, name: str) -> Told:
    """Return Estonia's prices around `today`, as a source gives them that is `right`, or wrong in the named way."""
    first, last = today - AROUND, today + timedelta(days=3)
    truth = made_up_quotes(first, last + timedelta(days=1))
    quotes = ({"right": right} | lies_about(today + timedelta(days=1)))[name](
        {zone: truth[zone] for zone in ("ee", "fi")}
    )
    sheets = day_sheets("a source", "ee", [Quote(*row) for row in quotes["ee"].items()], first, last)
    checked = {sheet.day: checked_prices(sheet, HARMONISED_LIMITS) for sheet in sheets}
    return {day: prices for day, prices in checked.items() if not isinstance(prices, HeldReason)}


class Timeline:
    """What the rule settles for a zone from the answers of two sources, which agreed on the weeks up to today."""

    def __init__(self, today: date, truth: Told) -> None:
        self.today, self.truth = today, truth
        self.heard: dict[str, dict[date, Witness]] = {source: {} for source in BOTH}
        self.settled = {
            day: SettledDay(DayPrices.of(day, prices), publication_time(day), frozenset())
            for day, prices in truth.items()
            if day <= today
        }

    def served(self, *times: str, **said: Told) -> str:
        """Let sources answer at some times, such as `1 09:00` for tomorrow, 09:00.

        Return what is settled for tomorrow then: R for the right prices, w for wrong prices, - for none.
        """
        return "".join(self._served(_instant(self.today, at), said) for at in times)

    def _served(self, now: int, said: Mapping[str, Told]) -> str:
        last = delivery_day(now) + timedelta(days=1)
        days = list(days_between(last - timedelta(days=3), last))
        for source, told in said.items():
            for day in (day for day in days if day in told):
                before = self.heard[source].get(day)
                since_ts = before.since_ts if before is not None and before.prices == told[day] else now
                self.heard[source][day] = Witness(source, "ee", day, told[day], since_ts, now)
        heard = [{day: one for day, one in of.items() if day in days} for of in self.heard.values()]
        for day, ruling in rule_on_days(heard, self.settled, days[0]).items():
            if ruling.withdraws:
                del self.settled[day]
            if ruling.settles is not None:
                self.settled[day] = self._settled(day, ruling.settles, ruling, now)
        tomorrow = self.today + timedelta(days=1)
        if tomorrow not in self.settled:
            return "-"
        truth = DayPrices.of(tomorrow, self.truth[tomorrow])
        return "R" if self.settled[tomorrow].prices.agrees_with(truth) else "w"

    def _settled(self, day: date, witness: Witness, ruling: Ruling, now: int) -> SettledDay:
        prices, there = witness.day_prices, self.settled.get(day)
        unconfirmed = frozenset[str]() if ruling.is_agreed else frozenset({witness.source})
        if there is None or not prices.agrees_with(there.prices):
            return SettledDay(prices, now, unconfirmed)
        return replace(there, unconfirmed_from=there.unconfirmed_from & unconfirmed)


def _instant(today: date, at: str) -> int:
    day, _, time = at.rpartition(" ")
    return local(f"{today + timedelta(days=int(day or 0))} {time}")


LATER: Final = ("20:00", "1 09:00", "1 14:00", "1 18:00", "2 14:00")


def timelines(today: date, liar: str, name: str) -> str:
    """Return what is served in three timelines: at once, when it was wrong for two hours, in the evening, in two days.

    Both sources answer at publication; or the wrong source answers then, and the right one at 16:30; or both are right
    at publication, and one is wrong from 18:00.
    """
    truth, lie = told(today, "right"), told(today, name)
    honest = next(source for source in BOTH if source != liar)
    both = Timeline(today, truth).served("13:55", "14:55", "15:55", *LATER, **{liar: lie, honest: truth})
    first = Timeline(today, truth)
    alone = first.served("13:55", "14:55", **{liar: lie})
    late = first.served("16:30", "17:30", "18:30", *LATER, **{liar: lie, honest: truth})
    changed = Timeline(today, truth)
    before = changed.served("13:55", **dict.fromkeys(BOTH, truth))
    after = changed.served("18:00", "19:00", *LATER, **{liar: lie, honest: truth})
    rows = (
        both[0] + both[2:4] + both[-1],
        alone[0] + late[0] + late[2] + late[-1],
        before + after[0] + after[2] + after[-1],
    )
    return " ".join(rows)


RIGHT: Final = dict.fromkeys(BOTH, "RRRR RRRR RRRR")
DOUBTED: Final = dict.fromkeys(BOTH, "RRRR -RRR RRRR")
"""The wrong prices are doubtful, or the source is off: they are never served."""
UNLIKELY: Final = dict.fromkeys(BOTH, "-RRR wwRR RRRR")
"""When the sources have differed for two hours, the right prices win."""
UNTOLD: Final = {"elering": "-www wwww RRRR", "entsoe": "-RRR wwww RRRR"}
"""Nothing tells which source is right: prices that were alone for two hours stay, and otherwise Elering wins."""

OUTCOMES: Final = {
    "right hours": RIGHT,
    **dict.fromkeys(("copy", "zeros", "flat", "padded", "half a day", "all days", "times 100"), DOUBTED),
    **dict.fromkeys(("rotated", "Finland", "5 EUR/MWh", "random"), UNTOLD),
}
CLOCK_KINDS: Final = ("+60 minutes", "-60 minutes", "a copy of 1 days before", "a copy of 7 days before", "times 1.24")


@pytest.mark.parametrize("liar", BOTH)
@pytest.mark.parametrize(
    ("today", "name"),
    [*((DAYS[0], name) for name in lies_about(DAYS[0])), *((day, name) for day in DAYS[1:] for name in CLOCK_KINDS)],
)
def test_what_is_served_while_one_source_is_wrong(today: date, name: str, liar: str) -> None:
    outcome = next((shown for words, shown in OUTCOMES.items() if words in name), UNLIKELY)
    assert timelines(today, liar, name) == outcome[liar]
