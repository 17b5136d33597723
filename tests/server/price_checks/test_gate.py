import math
from collections.abc import Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.day_quotes import AUTUMN, SPRING, whole_day
from tunnihind.market import ESTONIA, HOUR_S, QUARTER_S, Limits, day_end, day_start, hourly_prices
from tunnihind.price_checks.gate import Reason, Refused, Settled, Verdict, judge
from tunnihind.sources.base import DaySheet, Quote

DAY = date(2025, 12, 15)


def sheet(day: date, quotes: Iterable[Quote]) -> DaySheet:
    return DaySheet("source", "ee", day, tuple(quotes))


def refusal(day: date, quotes: Iterable[Quote]) -> tuple[Reason, str]:
    verdict = judge(sheet(day, quotes), ESTONIA.limits)
    assert isinstance(verdict, Refused)
    assert (verdict.source, verdict.zone, verdict.day) == ("source", "ee", day)
    return verdict.reason, verdict.detail


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
@pytest.mark.parametrize("day", [DAY, SPRING, AUTUMN, date(2024, 2, 29)])
def test_a_whole_day_settles_at_the_step_of_its_spacing(day: date, step_s: int) -> None:
    quotes = whole_day(day, step_s)
    verdict = judge(sheet(day, quotes), ESTONIA.limits)
    assert verdict == Settled("source", "ee", day, step_s, dict(quotes))


def test_settled_quarters_make_hours_by_their_mean() -> None:
    quotes = whole_day(AUTUMN, QUARTER_S)
    verdict = judge(sheet(AUTUMN, quotes), ESTONIA.limits)
    assert isinstance(verdict, Settled)
    assert verdict.hours() == hourly_prices(dict(quotes))
    assert len(verdict.hours()) == 25


def test_settled_prices_are_in_order_of_time() -> None:
    verdict = judge(sheet(DAY, reversed(whole_day(DAY, HOUR_S))), ESTONIA.limits)
    assert isinstance(verdict, Settled)
    assert list(verdict.prices) == sorted(verdict.prices)


@pytest.mark.parametrize(
    ("day", "step_s", "kept", "detail"),
    [
        (DAY, QUARTER_S, 12, "12 of 96 quarters"),
        (DAY, QUARTER_S, 95, "95 of 96 quarters"),
        (DAY, QUARTER_S, 5, "5 of 96 quarters"),
        (DAY, QUARTER_S, 1, "1 of 96 quarters"),
        (DAY, QUARTER_S, 0, "0 of 96 quarters"),
        (SPRING, QUARTER_S, 91, "91 of 92 quarters"),
        (AUTUMN, QUARTER_S, 96, "96 of 100 quarters"),
        (date(2025, 3, 30), HOUR_S, 22, "22 of 23 hours"),
        (date(2024, 10, 27), HOUR_S, 24, "24 of 25 hours"),
        (date(2024, 10, 28), HOUR_S, 1, "1 of 24 hours"),
    ],
)
def test_part_of_a_delivery_day_is_incomplete(day: date, step_s: int, kept: int, detail: str) -> None:
    assert refusal(day, whole_day(day, step_s)[:kept]) == (Reason.INCOMPLETE, detail)


def test_a_hole_in_the_middle_is_incomplete() -> None:
    quotes = whole_day(DAY, QUARTER_S)
    del quotes[40:43]
    assert refusal(DAY, quotes) == (Reason.INCOMPLETE, "93 of 96 quarters")


def test_hours_among_quarters_are_refused() -> None:
    noon = day_start(DAY) + 12 * HOUR_S
    quotes = [quote for quote in whole_day(DAY, QUARTER_S) if quote.ts < noon or quote.ts % HOUR_S == 0]
    assert refusal(DAY, quotes) == (Reason.MIXED_SPACING, "12 hours stand among quarters")


@pytest.mark.parametrize("price", [math.nan, math.inf, -math.inf])
def test_a_price_that_is_no_number_is_refused(price: float) -> None:
    quotes = whole_day(DAY, HOUR_S)
    quotes[3] = Quote(quotes[3].ts, price)
    assert refusal(DAY, quotes) == (Reason.NOT_FINITE, f"the price of 2025-12-15T02:00:00Z is {price}")


@pytest.mark.parametrize(("price", "passes"), [(-500.0, True), (-500.01, False), (4000.0, True), (4000.01, False)])
def test_the_limits_themselves_are_possible_prices(price: float, passes: bool) -> None:
    quotes = whole_day(DAY, HOUR_S)
    quotes[3] = Quote(quotes[3].ts, price)
    verdict = judge(sheet(DAY, quotes), ESTONIA.limits)
    assert isinstance(verdict, Settled) is passes
    if isinstance(verdict, Refused):
        assert verdict.reason == Reason.OUT_OF_BOUNDS
        assert "2025-12-15T02:00:00Z is outside -500 to 4000" in verdict.detail


def test_limits_are_the_operators() -> None:
    verdict = judge(sheet(DAY, whole_day(DAY, HOUR_S)), Limits(0.0, 50.0))
    assert isinstance(verdict, Refused)
    assert verdict.reason == Reason.OUT_OF_BOUNDS


def test_a_quote_off_the_quarter_grid_is_refused() -> None:
    quotes = whole_day(DAY, QUARTER_S)
    quotes[7] = Quote(quotes[7].ts + 60, 50.0)
    assert refusal(DAY, quotes) == (Reason.OFF_GRID, "2025-12-15T00:46:00Z is not the start of a quarter")


def test_a_quote_of_another_delivery_day_is_refused() -> None:
    # 23:00 UTC is still the 15th in UTC, but the 16th on the market.
    quotes = [*whole_day(DAY, HOUR_S), Quote(day_end(DAY), 50.0)]
    assert refusal(DAY, quotes) == (Reason.OFF_GRID, "2025-12-15T23:00:00Z is not in delivery day 2025-12-15")


def test_two_prices_for_one_period_are_refused() -> None:
    quotes = [*whole_day(DAY, HOUR_S), Quote(day_start(DAY), 41.0)]
    assert refusal(DAY, quotes) == (Reason.CONTRADICTION, "2025-12-14T23:00:00Z has two prices, 40 and 41")


def test_the_same_price_given_twice_is_no_contradiction() -> None:
    quotes = whole_day(DAY, HOUR_S)
    assert isinstance(judge(sheet(DAY, quotes + quotes[:3]), ESTONIA.limits), Settled)


@pytest.mark.parametrize(("step_s", "zeros"), [(HOUR_S, 20), (QUARTER_S, 80), (HOUR_S, 23)])
def test_twenty_hours_of_exact_zero_are_not_believed(step_s: int, zeros: int) -> None:
    quotes = whole_day(DAY, step_s, lambda n: 0.0 if n < zeros else 30.0 + n)
    reason, detail = refusal(DAY, quotes)
    assert (reason, detail) == (Reason.ZEROS, f"{zeros * step_s // HOUR_S} hours are exactly 0.00")


@pytest.mark.parametrize(("step_s", "zeros"), [(HOUR_S, 19), (QUARTER_S, 79)])
def test_fewer_zeros_are_a_sunny_day(step_s: int, zeros: int) -> None:
    quotes = whole_day(DAY, step_s, lambda n: 0.0 if n < zeros else 30.0 + n)
    assert isinstance(judge(sheet(DAY, quotes), ESTONIA.limits), Settled)


def test_a_day_of_small_negative_prices_is_believed() -> None:
    assert isinstance(judge(sheet(DAY, whole_day(DAY, QUARTER_S, lambda n: -0.01 - n % 3)), ESTONIA.limits), Settled)


def test_a_flat_day_is_not_believed_and_keeps_its_prices_for_confirmation() -> None:
    quotes = whole_day(DAY, HOUR_S, lambda _: 55.5)
    verdict = judge(sheet(DAY, quotes), ESTONIA.limits)
    assert isinstance(verdict, Refused)
    assert (verdict.reason, verdict.detail) == (Reason.FLAT, "every price is 55.5")
    assert verdict.doubted == Settled("source", "ee", DAY, HOUR_S, dict(quotes))


def test_an_impossible_day_keeps_no_prices_for_confirmation() -> None:
    verdict = judge(sheet(DAY, whole_day(DAY, HOUR_S)[:5]), ESTONIA.limits)
    assert isinstance(verdict, Refused)
    assert verdict.doubted is None


any_quotes = st.lists(
    st.builds(
        Quote,
        st.integers(day_start(AUTUMN) // 900 - 5, day_end(AUTUMN) // 900 + 5).map(lambda n: n * 900)
        | st.integers(day_start(AUTUMN), day_end(AUTUMN)),
        st.floats(),
    ),
    max_size=110,
)


@given(quotes=any_quotes)
def test_any_sheet_gets_a_verdict_and_what_settles_is_whole_and_possible(quotes: list[Quote]) -> None:
    verdict: Verdict = judge(sheet(AUTUMN, quotes), ESTONIA.limits)
    if isinstance(verdict, Settled):
        assert len(verdict.prices) * verdict.step_s == day_end(AUTUMN) - day_start(AUTUMN)
        assert all(ESTONIA.limits.floor <= price <= ESTONIA.limits.cap for price in verdict.prices.values())
    else:
        assert verdict.detail


@given(dropped=st.sets(st.integers(0, 99), min_size=1))
def test_no_day_with_a_missing_quarter_ever_settles(dropped: set[int]) -> None:
    quotes = [quote for n, quote in enumerate(whole_day(AUTUMN, QUARTER_S)) if n not in dropped]
    verdict = judge(sheet(AUTUMN, quotes), ESTONIA.limits)
    whole_hours_left = len(quotes) == 25 and all(quote.ts % HOUR_S == 0 for quote in quotes)
    assert isinstance(verdict, Refused) or whole_hours_left
