"""The price of an hour, and the reason for hours without a price."""

from datetime import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA
from custom_components.tunnihind.core.network_clock import RateTimes
from custom_components.tunnihind.core.rates import Part
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from custom_components.tunnihind.ledger import settled_prices
from custom_components.tunnihind.past import paid_prices
from custom_components.tunnihind.past.paid_prices import (
    FIVE_MIN_S,
    NO_PRICE,
    NO_READING,
    HourPrice,
    LeftOutHour,
    LeftOutReason,
    MeasuredEnergy,
    hour_price,
    hourly_costs,
    hours_between,
    left_out_ranges,
)
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tunnihind.core.market import HOUR_S, QUARTER_S

HOUR = 1_768_374_000
QUARTERS = [HOUR + i * QUARTER_S for i in range(4)]


# A household without VAT that pays a cent on top of the market's price, and four between 09:15 and 09:30.
CONTRACT = Tariff(
    rows=[
        TariffRow(
            vat_rate=0.0,
            network_day=0.04,
            network_night=0.01,
            day_rate_times=RateTimes(starts=time(9, 15), ends=time(9, 30)),
        )
    ]
)


def test_billed_by_the_hour_all_its_quarters_cost_the_same() -> None:
    price = hour_price(HOUR, {HOUR: 100.0}, HOUR_S, CONTRACT)
    assert price == HourPrice((0.11, 0.11, 0.11, 0.11))


def test_billed_by_the_quarter_the_hours_price_is_their_mean() -> None:
    market = dict(zip(QUARTERS, (100.0, 0.0, -20.0, 60.0), strict=True))
    price = hour_price(HOUR, market, QUARTER_S, CONTRACT)
    assert isinstance(price, HourPrice)
    assert price.by_step == pytest.approx((0.11, 0.04, -0.01, 0.07))
    assert price.mean == 0.0525


def test_an_hour_of_five_minute_prices_needs_other_facts_but_no_other_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paid_prices, "_STEPS_PER_HOUR", 12)
    monkeypatch.setattr(paid_prices, "_READINGS_PER_STEP", 1)
    monkeypatch.setattr(settled_prices, "SHORTEST_STEP_S", FIVE_MIN_S)
    starts = range(HOUR, HOUR + HOUR_S, FIVE_MIN_S)
    price = hour_price(HOUR, {start: 10.0 * place for place, start in enumerate(starts)}, FIVE_MIN_S, CONTRACT)
    assert isinstance(price, HourPrice)
    used = MeasuredEnergy({HOUR: 3.0}, dict.fromkeys(starts, 0.25))
    assert hourly_costs(used, {HOUR: price}) == {HOUR: pytest.approx(3.0 * sum(price.by_step) / 12)}
    ledger = settled_prices.SettledPrices(ESTONIA)
    ledger.add_hour_prices({HOUR: price.by_step})
    assert ledger.mean(HOUR + FIVE_MIN_S, HOUR + 2 * FIVE_MIN_S) == price.by_step[1]
    assert ledger.mean(HOUR, HOUR + HOUR_S) == pytest.approx(price.mean, abs=1e-4)
    line = Timeline(FIVE_MIN_S, [Period(start, start + FIVE_MIN_S, 1.0, 1.0, 1.0, settled=True) for start in starts])
    assert line.with_step(HOUR_S).periods == (Period(HOUR, HOUR + HOUR_S, 1.0, 1.0, 1.0, settled=True),)


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
