import math
from collections.abc import Callable, Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.markets.day_quotes import AUTUMN, SPRING, whole_day
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, PriceLimits, day_end, day_start
from tunnihind.settling.sheet import HeldReason, ReasonCode, reason_to_doubt
from tunnihind.settling.sheet import checked_prices as checked
from tunnihind.sources.base import DaySheet, Quote, inferred_step

DAY = date(2025, 12, 15)


def sheet(day: date, quotes: Iterable[Quote]) -> DaySheet:
    given = tuple(quotes)
    return DaySheet("source", "ee", day, inferred_step(day, given), given)


def refusal(day: date, quotes: Iterable[Quote]) -> tuple[ReasonCode, str]:
    held = checked(sheet(day, quotes), ESTONIA.limits)
    assert isinstance(held, HeldReason)
    return held.reason, held.detail


def believed(quotes: Iterable[Quote]) -> bool:
    prices = checked(sheet(DAY, quotes), ESTONIA.limits)
    assert not isinstance(prices, HeldReason)
    return reason_to_doubt(prices) is None


@pytest.mark.parametrize("step_s", [HOUR_S, QUARTER_S])
@pytest.mark.parametrize("day", [DAY, SPRING, AUTUMN, date(2024, 2, 29)])
def test_a_whole_day_passes_at_the_step_of_its_spacing_in_order_of_time(day: date, step_s: int) -> None:
    quotes = whole_day(day, step_s)
    assert checked(sheet(day, reversed(quotes)), ESTONIA.limits) == tuple(price for _, price in quotes)


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
    assert refusal(day, whole_day(day, step_s)[:kept]) == (ReasonCode.INCOMPLETE, detail)


def test_a_hole_in_the_middle_is_incomplete() -> None:
    quotes = whole_day(DAY, QUARTER_S)
    del quotes[40:43]
    assert refusal(DAY, quotes) == (ReasonCode.INCOMPLETE, "93 of 96 quarters")


def test_hours_among_quarters_are_refused() -> None:
    noon = day_start(DAY) + 12 * HOUR_S
    quotes = [quote for quote in whole_day(DAY, QUARTER_S) if quote.ts < noon or quote.ts % HOUR_S == 0]
    assert refusal(DAY, quotes) == (ReasonCode.MIXED_SPACING, "12 hours are among the quarters")


@pytest.mark.parametrize("price", [math.nan, math.inf, -math.inf])
def test_a_price_that_is_no_number_is_refused(price: float) -> None:
    quotes = whole_day(DAY, HOUR_S)
    quotes[3] = Quote(quotes[3].ts, price)
    assert refusal(DAY, quotes) == (ReasonCode.NOT_FINITE, f"the price of 2025-12-15T02:00:00Z is {price}")


@pytest.mark.parametrize(("price", "passes"), [(-500.0, True), (-500.01, False), (4000.0, True), (4000.01, False)])
def test_the_limits_themselves_are_possible_prices(price: float, passes: bool) -> None:
    quotes = whole_day(DAY, HOUR_S)
    quotes[3] = Quote(quotes[3].ts, price)
    found = checked(sheet(DAY, quotes), ESTONIA.limits)
    assert isinstance(found, tuple) is passes
    if isinstance(found, HeldReason):
        assert found.reason == ReasonCode.OUT_OF_BOUNDS
        assert "2025-12-15T02:00:00Z is outside -500 to 4000" in found.detail


def test_limits_are_the_operators() -> None:
    found = checked(sheet(DAY, whole_day(DAY, HOUR_S)), PriceLimits(0.0, 50.0))
    assert isinstance(found, HeldReason)
    assert found.reason == ReasonCode.OUT_OF_BOUNDS


def test_a_quote_off_the_quarter_grid_is_refused() -> None:
    quotes = whole_day(DAY, QUARTER_S)
    quotes[7] = Quote(quotes[7].ts + 60, 50.0)
    assert refusal(DAY, quotes) == (ReasonCode.OFF_GRID, "2025-12-15T00:46:00Z is not the start of a quarter")


def test_hours_that_begin_off_the_hour_and_half_hours_are_refused() -> None:
    late = [Quote(quote.ts + QUARTER_S, quote.eur_mwh) for quote in whole_day(DAY, HOUR_S)]
    halves = [Quote(day_start(DAY) + n * 1800, 40.0 + n) for n in range(48)]
    for step_s, quotes, detail in (
        (HOUR_S, late, "2025-12-14T23:15:00Z is not the start of an hour"),
        (1800, halves, "each price is for 30 minutes"),
    ):
        found = checked(DaySheet("source", "ee", DAY, step_s, tuple(quotes)), ESTONIA.limits)
        assert found == HeldReason(ReasonCode.OFF_GRID, detail)


def test_a_quote_of_another_delivery_day_is_refused() -> None:
    # 23:00 UTC is still the 15th in UTC, but the 16th on the market.
    quotes = [*whole_day(DAY, HOUR_S), Quote(day_end(DAY), 50.0)]
    assert refusal(DAY, quotes) == (ReasonCode.OFF_GRID, "2025-12-15T23:00:00Z is not in delivery day 2025-12-15")


def test_two_prices_for_one_period_are_refused() -> None:
    quotes = [*whole_day(DAY, HOUR_S), Quote(day_start(DAY), 41.0)]
    assert refusal(DAY, quotes) == (ReasonCode.CONTRADICTION, "2025-12-14T23:00:00Z has two prices, 40 and 41")


def test_the_same_price_given_twice_is_no_contradiction() -> None:
    quotes = whole_day(DAY, HOUR_S)
    assert believed(quotes + quotes[:3])


@pytest.mark.parametrize(("step_s", "zeros"), [(HOUR_S, 16), (QUARTER_S, 64), (HOUR_S, 23)])
def test_sixteen_hours_of_exact_zero_are_doubtful(step_s: int, zeros: int) -> None:
    prices = [0.0 if n < zeros else 30.0 + n for n in range(24 * HOUR_S // step_s)]
    assert reason_to_doubt(prices) == HeldReason(ReasonCode.ZEROS, f"{zeros * step_s // HOUR_S} hours are exactly 0.00")


@pytest.mark.parametrize(("step_s", "zeros"), [(HOUR_S, 15), (QUARTER_S, 63)])
def test_fewer_zeros_are_a_sunny_day(step_s: int, zeros: int) -> None:
    assert believed(whole_day(DAY, step_s, lambda n: 0.0 if n < zeros else 30.0 + n))


def test_a_day_of_small_negative_prices_is_believed() -> None:
    assert believed(whole_day(DAY, QUARTER_S, lambda n: -0.01 - n % 3))


def test_a_flat_day_and_a_copy_of_another_day_are_doubtful() -> None:
    assert reason_to_doubt([55.5] * 24) == HeldReason(ReasonCode.FLAT, "every price is 55.5")
    other = tuple(map(float, range(24)))
    assert reason_to_doubt(other, [other[::-1]]) is None
    assert reason_to_doubt(other, [other]) == HeldReason(ReasonCode.COPY, "every price equals another day's")


NEARLY = HeldReason(ReasonCode.COPY, "almost every price equals another day's")
WAVE = [40.0 + 25 * math.sin(n) for n in range(25)]


@pytest.mark.parametrize(
    ("change", "is_copy"),
    [
        (lambda _, price: price + 0.02, True),
        (lambda _, price: price - 1, True),
        (lambda _, price: price + 1.01, False),
        (lambda n, price: price + 50 if n < 1 else price + 1, True),
        (lambda n, price: price + 50 if n < 2 else price, True),
        (lambda n, price: price + 50 if n < 2 else price + 1, False),
        (lambda n, price: price + 50 if n < 3 else price, False),
    ],
)
def test_a_near_copy_of_another_day_is_doubtful(change: Callable[[int, float], float], is_copy: bool) -> None:
    copy = [change(n, price) for n, price in enumerate(WAVE[:24])]
    doubt = NEARLY if is_copy else None
    assert reason_to_doubt(copy, [WAVE[1:], WAVE[:24]]) == doubt
    assert reason_to_doubt([price for price in copy for _ in range(4)], [WAVE[:24]]) == doubt


@pytest.mark.parametrize("hours", [23, 24, 25])
@pytest.mark.parametrize("other_hours", [23, 24, 25])
def test_copies_are_found_by_order_and_by_the_clock(hours: int, other_hours: int) -> None:
    by_clock = {hour: 40.0 + 25 * math.sin(hour) for hour in range(24)}

    def day(count: int) -> list[float]:
        # The clocks change after the second hour: the third hour is missing in spring and comes twice in autumn.
        return [by_clock[hour] for hour in range(24) for _ in range({23: 0, 24: 1, 25: 2}[count] if hour == 2 else 1)]

    assert reason_to_doubt(day(hours), [day(other_hours)]) is not None
    assert reason_to_doubt(WAVE[:hours], [WAVE[:other_hours]]) is not None


@pytest.mark.parametrize(("step_s", "given"), [(HOUR_S, 13), (QUARTER_S, 48), (QUARTER_S, 71)])
def test_part_of_a_day_padded_to_midnight_is_doubtful(step_s: int, given: int) -> None:
    count = 24 * HOUR_S // step_s
    prices = [price for _, price in whole_day(DAY, step_s)]
    doubt = reason_to_doubt(prices[:given] + [prices[given]] * (count - given))
    assert doubt == HeldReason(ReasonCode.FLAT, f"the last {count - given} prices are all {prices[given]:g}")
    last = 10 if step_s == HOUR_S else 24
    assert reason_to_doubt([*prices[:-last], *[77.7] * last]) is None


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
    found = checked(sheet(AUTUMN, quotes), ESTONIA.limits)
    if isinstance(found, tuple):
        assert len(found) in {25, 100}
        assert all(ESTONIA.limits.floor <= price <= ESTONIA.limits.cap for price in found)
    else:
        assert found.detail


@given(dropped=st.sets(st.integers(0, 99), min_size=1))
def test_no_day_with_a_missing_quarter_ever_settles(dropped: set[int]) -> None:
    quotes = [quote for n, quote in enumerate(whole_day(AUTUMN, QUARTER_S)) if n not in dropped]
    whole_hours_left = len(quotes) == 25 and all(quote.ts % HOUR_S == 0 for quote in quotes)
    assert isinstance(checked(sheet(AUTUMN, quotes), ESTONIA.limits), HeldReason) or whole_hours_left
