"""Own network rates by month, weekday and hour: one table of cases for all that computes a price."""

from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.card.columns import household_columns
from custom_components.tunnihind.core.market import FINLAND, HOUR_S, LITHUANIA, MARKETS, QUARTER_S, Zone
from custom_components.tunnihind.core.network_clock import (
    MONTHS,
    WITH_PEAKS,
    NetworkRatePeriod,
    RateTimes,
    network_rate_period,
)
from custom_components.tunnihind.past.paid_prices import HourPrice, hour_price
from custom_components.tunnihind.prices.billing import selling_contract_from
from custom_components.tunnihind.prices.tariff_options import tariff_from
from tests.support.household.home import MakeHome, instant
from tests.support.markets.time_of_use import CASES, FINNISH, RATES


@pytest.mark.parametrize(("zone", "row", "moment", "cents"), CASES)
def test_a_price_now_or_past_has_the_network_rate_of_its_month_day_and_hour(
    zone: Zone, row: dict[str, Any], moment: str, cents: int
) -> None:
    tariff = tariff_from({"rows": [row]}, zone=MARKETS[zone])
    assert tariff.price(0.0, instant(moment)) == cents / 100
    hour = instant(moment) - instant(moment) % HOUR_S
    past = hour_price(hour, dict.fromkeys(range(hour, hour + HOUR_S, QUARTER_S), 0.0), QUARTER_S, tariff)
    assert isinstance(past, HourPrice)
    assert past.by_step[instant(moment) % HOUR_S // QUARTER_S] == cents / 100


def test_each_row_of_fees_has_times_of_its_own() -> None:
    later = {**RATES, "valid_from": "2026-01-16", "day_rate_starts": "08:00"}
    tariff = tariff_from({"rows": [RATES, later]}, zone=FINLAND)
    assert tariff.price(0.0, instant("2026-01-15T07:30:00+02:00")) == 0.09
    assert tariff.price(0.0, instant("2026-01-16T07:30:00+02:00")) == 0.05


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29T00:00:00+02:00", 23), ("2026-10-25T00:00:00+03:00", 25)])
@pytest.mark.parametrize("in_winter_time", [False, True])
def test_on_days_of_23_and_25_hours_a_day_rate_by_the_clock_has_its_hours(
    day: str, hours: int, in_winter_time: bool
) -> None:
    times = {"day_rate_weekdays": ["sun"], "day_rate_starts": "02:00", "day_rate_ends": "05:00"}
    tariff = tariff_from({"rows": [{**RATES, **times, "day_rate_in_winter_time": in_winter_time}]}, zone=LITHUANIA)
    by_day = [place for place in range(hours) if tariff.price(0.0, instant(day) + place * HOUR_S) == 0.09]
    # On the clock, spring has no hour from 3 to 4, and autumn has this hour twice.
    by_clock = [2, 3] if hours == 23 else [2, 3, 4, 5]
    assert by_day == ([*range(2, 5)] if in_winter_time and hours == 23 else [3, 4, 5] if in_winter_time else by_clock)


rate_times = st.builds(
    RateTimes,
    months=st.frozensets(st.sampled_from(MONTHS)),
    weekdays=st.frozensets(st.integers(0, 6)),
    starts=st.times().map(lambda at: at.replace(second=0, microsecond=0)),
    ends=st.times().map(lambda at: at.replace(second=0, microsecond=0)),
    on_holidays=st.booleans(),
    in_winter_time=st.booleans(),
)


@given(rate_times, st.integers(instant("2026-01-01T00:00:00+02:00"), instant("2027-01-01T00:00:00+02:00") - 1))
def test_at_every_instant_of_a_year_exactly_one_rate_applies(times: RateTimes, start: int) -> None:
    wall = LITHUANIA.local_time(start)
    clock = LITHUANIA.local_time(start - HOUR_S) if times.in_winter_time and wall.dst() else wall
    inside = (
        times.starts <= clock.time() < times.ends
        if times.starts <= times.ends
        else not times.ends <= clock.time() < times.starts
    )
    by_hand = clock.month in times.months and clock.weekday() in times.weekdays and inside
    period = network_rate_period(wall, "LT", [(NetworkRatePeriod.DAY, times)])
    assert period in {NetworkRatePeriod.DAY, NetworkRatePeriod.NIGHT}
    if times.on_holidays or not by_hand:
        assert (period is NetworkRatePeriod.DAY) is by_hand


def test_overlapping_peaks_leave_exactly_one_rate_at_noon_and_in_the_evening() -> None:
    at = {
        hour: network_rate_period(FINLAND.local_time(instant(f"2027-01-12T{hour:02}:00:00+02:00")), "EE", WITH_PEAKS)
        for hour in (8, 9, 16, 23)
    }
    assert [*at.values()] == ["day", "peak", "peak", "night"]


def test_a_contract_may_count_a_negative_market_price_as_zero() -> None:
    start = instant("2026-07-15T12:00:00+03:00")
    row = {"margin": 1.0, "network_day": 2.0, "vat_percent": 20}
    assert tariff_from({"rows": [row]}).price(-100.0, start) == round((-0.1 + 0.03) * 1.2, 4)
    zero = tariff_from({"rows": [{**row, "negative_price_is_zero": True}]})
    assert zero.price(-100.0, start) == zero.price(0.0, start) == round(0.03 * 1.2, 4)
    assert zero.price(100.0, start) == round(0.13 * 1.2, 4)
    charges = zero.charges(start)
    assert charges.vat(-100.0) == pytest.approx(0.03 * 0.2)


def test_a_buyer_may_count_a_negative_market_price_as_zero_from_a_date() -> None:
    rows = [{"margin": 1.0}, {"margin": 1.0, "valid_from": "2026-07-15", "negative_price_is_zero": True}]
    contract = selling_contract_from({"selling": {"rows": rows}}, FINLAND)
    assert contract is not None
    assert contract.price(-100.0, instant("2026-07-14T12:00:00+03:00")) == -0.11
    assert contract.price(-100.0, instant("2026-07-15T12:00:00+03:00")) == -0.01


@pytest.mark.parametrize("day", ["2026-01-17", "2026-01-18", "2026-07-15"])
async def test_the_list_and_the_card_of_a_home_have_the_rate_of_the_hour(
    hass: HomeAssistant, make_home: MakeHome, day: str
) -> None:
    offset = "+03:00" if "-07-" in day else "+02:00"
    home = await make_home(f"{day}T12:20:00{offset}", settled_until=f"{day}T23:00:00{offset}", price_of=lambda _: -50.0)
    options = {"rows": [{**FINNISH, "negative_price_is_zero": True}]}
    await home.add(options=options)
    runtime = home.entry.runtime_data
    start = runtime.prices.today.start
    paid = [period.price for period in runtime.prices.timeline.periods_between(start, start + 12 * HOUR_S)]
    expected = [0.09 if day == "2026-01-17" and hour >= 7 else 0.05 for hour in range(12)]
    assert paid == expected
    columns = household_columns(runtime.prices, runtime.tariff, start, start + 12 * HOUR_S)
    assert columns is not None
    assert columns["price"] == expected
    assert set(columns["market"]) == {0.0}
    assert [columns["charges"][place or 0]["network"] for place in columns["charged"]] == expected
