"""The price of an hour, and the reason for hours without a price."""

from datetime import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.rates import Part
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from custom_components.tunnihind.past.paid_prices import (
    NO_PRICE,
    NO_READING,
    HourPrice,
    LeftOutHour,
    LeftOutReason,
    hour_price,
    hours_between,
    left_out_ranges,
)
from tunnihind.core.market import HOUR_S, QUARTER_S

HOUR = 1_768_374_000
QUARTERS = [HOUR + i * QUARTER_S for i in range(4)]


# A household without VAT that pays a cent on top of the market's price, and four between 09:15 and 09:30.
CONTRACT = Tariff(
    rows=[TariffRow(vat_rate=0.0, network_day=0.04, network_night=0.01)],
    day_rate_starts=time(9, 15),
    day_rate_ends=time(9, 30),
)


def test_billed_by_the_hour_all_its_quarters_cost_the_same() -> None:
    price = hour_price(HOUR, {HOUR: 100.0}, HOUR_S, CONTRACT)
    assert price == HourPrice((0.11, 0.11, 0.11, 0.11))


def test_billed_by_the_quarter_the_hours_price_is_their_mean() -> None:
    market = dict(zip(QUARTERS, (100.0, 0.0, -20.0, 60.0), strict=True))
    price = hour_price(HOUR, market, QUARTER_S, CONTRACT)
    assert isinstance(price, HourPrice)
    assert price.quarters == pytest.approx((0.11, 0.04, -0.01, 0.07))
    assert price.mean == 0.0525


@pytest.mark.parametrize("known", [[], QUARTERS[:3], QUARTERS[1:]])
def test_an_hour_with_a_missing_price_has_no_price(known: list[int]) -> None:
    assert hour_price(HOUR, dict.fromkeys(known, 50.0), QUARTER_S, CONTRACT) is NO_PRICE


def test_an_hour_without_a_rate_is_not_guessed_and_the_part_is_named() -> None:
    unknown = Tariff(rows=[TariffRow(parts_from_table=frozenset({Part.EXCISE, Part.SECURITY}))])
    before_the_table = HOUR - 24 * 365 * HOUR_S
    expected = LeftOutHour(LeftOutReason.NO_RATE, (Part.SECURITY, Part.EXCISE))
    assert hour_price(before_the_table, {before_the_table: 50.0}, HOUR_S, unknown) == expected


REASONS = st.sampled_from(
    [NO_PRICE, NO_READING, LeftOutHour(LeftOutReason.NO_RATE), LeftOutHour(LeftOutReason.NO_RATE, (Part.EXCISE,))]
)


@given(st.dictionaries(st.integers(0, 60).map(lambda i: HOUR + i * HOUR_S), REASONS))
def test_the_spans_are_exactly_the_hours_that_were_left_out(reasons: dict[int, LeftOutHour]) -> None:
    spans = left_out_ranges(reasons)
    assert {hour: why for start, end, why in spans for hour in range(start, end, HOUR_S)} == reasons
    for (_, end, why), (start, _, other) in pairwise(spans):
        assert end < start or (end == start and why != other)


@given(st.integers(0, 10**9), st.integers(0, 10**5))
def test_only_whole_hours_are_between_two_instants(start: int, length: int) -> None:
    hours = list(hours_between(start, start + length))
    assert all(hour % HOUR_S == 0 and start <= hour and hour + HOUR_S <= start + length for hour in hours)
    assert len(hours) >= (length - HOUR_S + 1) // HOUR_S
