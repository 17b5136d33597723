"""What an answer may change of settled prices, and when."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunnihind.market import HOUR_S, QUARTER_S, Zone, day_end, day_start
from tunnihind.price_checks.correction import STANDS_S, Pending, decide, is_agreed, split
from tunnihind.price_checks.gate import Settled
from tunnihind.price_checks.shift import ZonePrices

DAY = date(2025, 12, 15)
NEXT = DAY + timedelta(days=1)
START = day_start(DAY)
NOW = START


def day_of(step_s: int, level: float = 50.0, source: str = "first") -> Settled:
    prices = {ts: level + ts // HOUR_S % 24 for ts in range(START, day_end(DAY), step_s)}
    return Settled(source, "ee", DAY, step_s, prices)


def changes(
    *days: date, zones: tuple[Zone, ...] = ("ee",), price: float = 9.0
) -> dict[tuple[Zone, date], dict[int, float]]:
    return {(zone, day): {day_start(day): price} for zone in zones for day in days}


def test_prices_of_hours_that_are_not_settled_fill_gaps() -> None:
    day = day_of(QUARTER_S)
    half = {ts: price for ts, price in day.prices.items() if ts < START + 12 * HOUR_S}
    parts = split(day, ZonePrices(quarters=half))
    assert (parts.fills, parts.changes) == (day.prices, {})


def test_prices_that_differ_from_settled_ones_are_changes() -> None:
    day = day_of(QUARTER_S)
    parts = split(day, ZonePrices(quarters=day.prices | {START: 1.0}))
    assert parts.changes == {START: day.prices[START]}
    assert parts.fills == {ts: price for ts, price in day.prices.items() if ts != START}


def test_quarters_add_to_settled_hours_of_the_same_price_and_change_others() -> None:
    day = day_of(QUARTER_S)
    hours = day.hours() | {START: 1.0}
    parts = split(day, ZonePrices(whole_hours=hours))
    assert set(parts.changes) == {START + n * QUARTER_S for n in range(4)}
    assert len(parts.fills) == 92


def test_hours_add_nothing_to_settled_quarters() -> None:
    parts = split(day_of(HOUR_S), ZonePrices(quarters=day_of(QUARTER_S).prices))
    assert (parts.fills, parts.changes) == ({}, {})


@given(known=st.dictionaries(st.integers(0, 95), st.floats(0, 100)))
def test_what_fills_never_changes_a_settled_hour(known: dict[int, float]) -> None:
    day = day_of(QUARTER_S)
    settled = ZonePrices(quarters={START + n * QUARTER_S: price for n, price in known.items()})
    parts = split(day, settled)
    assert parts.fills.keys().isdisjoint(parts.changes)
    after = ZonePrices(quarters=settled.quarters | parts.fills).hours()
    assert settled.hours().items() <= after.items()


def test_a_second_source_agrees_where_it_says_the_same_of_the_hours_in_question() -> None:
    ours, theirs = day_of(QUARTER_S), day_of(HOUR_S, source="second")
    assert is_agreed({START: 1.0}, ours, theirs)
    theirs.prices[START + 5 * HOUR_S] = 0.0
    assert is_agreed({START: 1.0}, ours, theirs)
    assert not is_agreed({START + 5 * HOUR_S: 1.0}, ours, theirs)


def test_what_a_second_source_agrees_on_comes_in_at_once_however_much_it_is() -> None:
    many = changes(DAY, NEXT, DAY + timedelta(days=2))
    assert set(decide(many, set(many), {DAY}, None, NOW).allowed) == set(many)


def test_a_day_comes_in_when_the_same_answer_stands_an_hour_later() -> None:
    day = changes(DAY, zones=("ee", "lv"))
    first = decide(day, (), {DAY, NEXT}, None, NOW)
    assert (set(first.allowed), first.pending is None) == (set(), False)
    assert "2 settled prices would change" in first.reason
    early = decide(day, (), {DAY, NEXT}, first.pending, NOW + STANDS_S - 1)
    assert (set(early.allowed), early.pending) == (set(), first.pending)
    late = decide(day, (), {DAY, NEXT}, first.pending, NOW + HOUR_S)
    assert (set(late.allowed), late.pending) == (set(day), None)


def test_another_correction_begins_to_wait_anew() -> None:
    first = decide(changes(DAY), (), {DAY}, None, NOW)
    other = decide(changes(DAY, price=10.0), (), {DAY}, first.pending, NOW + HOUR_S)
    assert not other.allowed
    assert other.pending is not None
    assert other.pending.since_ts == NOW + HOUR_S


def test_only_an_answer_equal_to_the_settled_prices_ends_a_corrections_wait() -> None:
    first = decide(changes(DAY), (), {DAY}, None, NOW)
    assert decide({}, (), {NEXT}, first.pending, NOW + 60).pending == first.pending
    assert decide({}, (), {DAY}, first.pending, NOW + 60).pending is None


def test_a_clock_that_was_set_back_does_not_shorten_the_wait() -> None:
    first = decide(changes(DAY), (), {DAY}, None, NOW)
    again = decide(changes(DAY), (), {DAY}, first.pending, NOW - HOUR_S)
    assert again.pending is not None
    assert again.pending.since_ts == NOW - HOUR_S


def test_more_than_one_day_is_held_back_however_long_it_stands() -> None:
    many = changes(DAY, NEXT)
    pending = None
    for hour in range(50):
        decision = decide(many, (), {DAY, NEXT}, pending, NOW + hour * HOUR_S)
        assert not decision.allowed
        assert "2 days" in decision.reason
        pending = decision.pending


def test_what_is_agreed_comes_in_beside_what_has_to_wait() -> None:
    many = changes(DAY, NEXT)
    decision = decide(many, {("ee", DAY)}, {DAY, NEXT}, None, NOW)
    assert set(decision.allowed) == {("ee", DAY)}
    assert decision.pending is not None
    assert decision.pending.day == NEXT


@given(pending=st.builds(Pending, st.dates(), st.text(), st.integers()))
def test_what_waits_is_kept_as_a_fact(pending: Pending) -> None:
    assert Pending.of(pending.fact()) == pending


@pytest.mark.parametrize("fact", [None, 1, "x", [], {}, {"day": "x", "digest": "", "since": 1}, {"day": "2025-12-15"}])
def test_a_damaged_fact_is_no_correction(fact: object) -> None:
    assert Pending.of(fact) is None
