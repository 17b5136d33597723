from collections.abc import Callable
from datetime import date

import pytest

from tests.support.day_quotes import AUTUMN, whole_day
from tunnihind.market import ESTONIA, HOUR_S, QUARTER_S
from tunnihind.price_checks.gate import Reason, Refused, Ruling, Settled, Verdict, judge, reconcile
from tunnihind.sources.base import DaySheet, Quote

DAY = date(2025, 12, 15)


def shape(n: int) -> float:
    return 40.0 + (7 * n) % 31


def verdict(source: str, quotes: list[Quote], day: date = DAY) -> Verdict:
    return judge(DaySheet(source, "ee", day, tuple(quotes)), ESTONIA.limits)


def refused(source: str, quotes: list[Quote]) -> Refused:
    judged = verdict(source, quotes)
    assert isinstance(judged, Refused)
    return judged


def settled(source: str, price: Callable[[int], float], step_s: int = HOUR_S, day: date = DAY) -> Settled:
    judged = verdict(source, whole_day(day, step_s, price), day)
    assert isinstance(judged, Settled)
    return judged


def shifted(prices: list[Quote], by_s: int) -> list[Quote]:
    """Move prices in time; what opens at the edge gets a price of its own."""
    known = dict(prices)
    return [Quote(quote.ts, known.get(quote.ts - by_s, 0.0)) for quote in prices]


def test_the_first_source_stands_when_both_agree() -> None:
    first, second = settled("elering", shape), settled("entsoe", shape)
    assert reconcile(first, second) == Ruling(first, ())


def test_a_cent_of_rounding_is_agreement() -> None:
    first, second = settled("elering", shape), settled("entsoe", lambda n: shape(n) + 0.01)
    assert reconcile(first, second) == Ruling(first, ())


def test_two_cents_in_every_hour_are_not() -> None:
    first, second = settled("elering", shape), settled("entsoe", lambda n: shape(n) + 0.02)
    assert [case.reason for case in reconcile(first, second).refused] == [Reason.DISAGREEMENT]


def test_two_differing_hours_are_tolerated() -> None:
    first, second = settled("elering", shape), settled("entsoe", lambda n: shape(n) + (5.0 if n < 2 else 0.0))
    assert reconcile(first, second) == Ruling(first, ())


def test_three_differing_hours_keep_the_first_and_refuse_the_second() -> None:
    first, second = settled("elering", shape), settled("entsoe", lambda n: shape(n) + (5.0 if n < 3 else 0.0))
    ruling = reconcile(first, second)
    assert ruling.settled == first
    (case,) = ruling.refused
    assert (case.source, case.reason) == ("entsoe", Reason.DISAGREEMENT)
    assert case.detail == "3 hours differ from elering, by up to 5.00 EUR/MWh"


def test_quarters_and_hours_are_compared_by_the_hour() -> None:
    first = settled("elering", lambda n: shape(n // 4) + (n % 4 - 1.5), QUARTER_S)
    second = settled("entsoe", shape)
    assert reconcile(first, second) == Ruling(first, ())


@pytest.mark.parametrize(("by_s", "word"), [(HOUR_S, "late"), (-HOUR_S, "early")])
@pytest.mark.parametrize("day", [AUTUMN, DAY])
def test_a_shift_by_an_hour_is_called_by_its_name(day: date, by_s: int, word: str) -> None:
    quotes = whole_day(day, HOUR_S, shape)
    ruling = reconcile(verdict("elering", quotes, day), verdict("entsoe", shifted(quotes, by_s), day))
    assert ruling.settled is not None
    assert ruling.settled.source == "elering"
    (case,) = ruling.refused
    assert (case.source, case.reason) == ("entsoe", Reason.SHIFTED)
    assert case.detail.endswith(f"hold the prices of elering an hour too {word}")


def test_a_shift_of_the_quarters_after_the_clock_change_is_called_by_its_name() -> None:
    # As served on 2025-10-26: zeros in the hour that the change opens, and its prices in the hours after it.
    quotes = whole_day(AUTUMN, QUARTER_S, shape)
    late = quotes[:12] + shifted(quotes, HOUR_S)[12:]
    late[12:16] = [Quote(quote.ts, 0.0) for quote in late[12:16]]
    ruling = reconcile(verdict("elering", quotes, AUTUMN), verdict("entsoe", late, AUTUMN))
    assert [case.reason for case in ruling.refused] == [Reason.SHIFTED]


def test_the_second_settles_what_the_first_garbles() -> None:
    first = refused("elering", whole_day(DAY, QUARTER_S)[:12])
    second = settled("entsoe", shape)
    assert reconcile(first, second) == Ruling(second, (first,))


def test_a_refused_second_changes_nothing() -> None:
    first = settled("elering", shape)
    second = refused("entsoe", whole_day(DAY, QUARTER_S)[:12])
    assert reconcile(first, second) == Ruling(first, (second,))


@pytest.mark.parametrize("price", [0.0, 55.5])
def test_zeros_and_flat_days_fill_a_gap_when_the_second_source_says_the_same(price: float) -> None:
    first = refused("elering", whole_day(DAY, HOUR_S, lambda _: price))
    second = refused("entsoe", whole_day(DAY, QUARTER_S, lambda _: price))
    ruling = reconcile(first, second)
    assert ruling == Ruling(first.doubted, (), only_fills=True)


def test_zeros_that_the_second_source_does_not_confirm_stay_refused() -> None:
    first = refused("elering", whole_day(DAY, HOUR_S, lambda _: 0.0))
    second = refused("entsoe", whole_day(DAY, HOUR_S, lambda _: 55.5))
    assert reconcile(first, second) == Ruling(None, (first, second))


def test_zeros_of_the_first_give_way_to_prices_of_the_second() -> None:
    first = refused("elering", whole_day(DAY, HOUR_S, lambda _: 0.0))
    second = settled("entsoe", shape)
    assert reconcile(first, second) == Ruling(second, (first,))


def test_nothing_settles_when_both_are_incomplete() -> None:
    first = refused("elering", whole_day(DAY, QUARTER_S)[:12])
    second = refused("entsoe", whole_day(DAY, QUARTER_S)[:20])
    assert reconcile(first, second) == Ruling(None, (first, second))
