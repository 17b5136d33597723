"""Facts of the market: days, hours, prices and units."""

import math
import os
import subprocess
import sys
from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.store.stores import utc
from tunnihind.core.market import (
    DAY_S,
    ESTONIA,
    HOUR_S,
    QUARTER_S,
    consumer_price,
    day_end,
    day_start,
    delivery_day,
    floor_hour,
    free_until,
    gate_closure,
    hourly_prices,
    hours_of,
    iso_utc,
    market_time_unit,
    publication_time,
    rounded_market_price,
)

SPRING, AUTUMN, PLAIN = date(2025, 3, 30), date(2025, 10, 26), date(2025, 12, 15)

_days = st.dates(date(2010, 1, 1), date(2037, 12, 31))


@pytest.mark.parametrize(
    ("day", "first", "hours"),
    [(PLAIN, "2025-12-14T23:00", 24), (SPRING, "2025-03-29T23:00", 23), (AUTUMN, "2025-10-25T22:00", 25)],
)
def test_a_delivery_day_begins_at_central_european_midnight_and_has_its_hours(
    day: date, first: str, hours: int
) -> None:
    assert hours_of(day)[0] == day_start(day) == utc(first)
    assert len(hours_of(day)) == hours
    assert day_end(day) == utc(first) + hours * HOUR_S


def test_the_first_hour_of_an_estonian_day_belongs_to_the_delivery_day_before() -> None:
    midnight_in_tallinn = utc("2025-12-14T22:00")
    assert delivery_day(midnight_in_tallinn) == date(2025, 12, 14)
    assert delivery_day(midnight_in_tallinn + HOUR_S) == PLAIN


@given(day=_days)
def test_days_follow_one_another_without_gap_or_overlap(day: date) -> None:
    assert day_end(day) == day_start(day + timedelta(days=1))
    assert delivery_day(day_start(day)) == delivery_day(day_end(day) - 1) == day
    assert {later - earlier for earlier, later in pairwise(hours_of(day))} == {HOUR_S}


@pytest.mark.parametrize(
    ("day", "closure", "publication"),
    [
        (PLAIN, "2025-12-14T11:00", "2025-12-14T11:55"),
        (date(2025, 7, 1), "2025-06-30T10:00", "2025-06-30T10:55"),
        (SPRING + timedelta(days=1), "2025-03-30T10:00", "2025-03-30T10:55"),
        (AUTUMN + timedelta(days=1), "2025-10-26T11:00", "2025-10-26T11:55"),
        (date(2026, 1, 1), "2025-12-31T11:00", "2025-12-31T11:55"),
    ],
)
def test_bidding_ends_and_prices_come_by_the_clock_of_brussels_on_the_day_before(
    day: date, closure: str, publication: str
) -> None:
    assert gate_closure(day) == utc(closure)
    assert publication_time(day) == utc(publication)


@pytest.mark.parametrize(
    ("day", "late"),
    [
        (PLAIN, "2025-12-14T13:30"),
        (SPRING, "2025-03-29T13:30"),
        (SPRING + timedelta(days=1), "2025-03-30T12:30"),
    ],
)
def test_prices_are_late_from_half_past_three_by_the_estonian_clock(day: date, late: str) -> None:
    assert ESTONIA.prices_late_from(day) == utc(late)


def test_quarters_are_traded_since_october_2025() -> None:
    assert market_time_unit(date(2025, 9, 30)) == HOUR_S
    assert market_time_unit(date(2025, 10, 1)) == QUARTER_S


def test_an_hour_is_the_mean_of_its_four_quarters() -> None:
    hour = utc("2025-12-15T10:00")
    prices = dict(
        zip(range(hour, hour + 2 * HOUR_S, QUARTER_S), [1.0, -2.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0], strict=True)
    )
    assert hourly_prices(prices) == {hour: 0.75, hour + HOUR_S: 0.0}


@pytest.mark.parametrize("missing", range(4))
def test_an_hour_lacking_a_quarter_has_no_price(missing: int) -> None:
    hour = utc("2025-12-15T10:00")
    quarters = [ts for ts in range(hour, hour + HOUR_S, QUARTER_S) if ts != hour + missing * QUARTER_S]
    assert hourly_prices(dict.fromkeys(quarters, 50.0)) == {}


@given(price=st.floats(-500, 4000))
def test_a_served_price_has_two_decimals_and_no_negative_zero(price: float) -> None:
    served = rounded_market_price(price)
    assert abs(served - price) <= 0.005 + 1e-9
    assert round(served, 2) == served
    assert math.copysign(1, served) == 1 or served < 0


@given(price=st.floats(-500, 4000).map(rounded_market_price), vat_rate=st.sampled_from([0.0, 0.22, 0.24]))
def test_a_consumer_price_has_four_decimals_and_no_negative_zero(price: float, vat_rate: float) -> None:
    served = consumer_price(price, vat_rate)
    assert abs(served - price / 1000 * (1 + vat_rate)) <= 0.00005 + 1e-12
    assert len(f"{served!r}".partition(".")[2]) <= 4
    assert math.copysign(1, served) == 1 or served < 0


@pytest.mark.parametrize(
    ("eur_mwh", "eur_kwh"),
    [(100.0, 0.122), (0.0, 0.0), (-0.03, 0.0), (-1.0, -0.0012), (85.37, 0.1042), (4000.0, 4.88), (-500.0, -0.61)],
)
def test_the_consumer_pays_a_thousandth_and_vat(eur_mwh: float, eur_kwh: float) -> None:
    assert f"{consumer_price(eur_mwh, 0.22)}" == f"{eur_kwh}"


def test_the_public_window_ends_48_hours_after_the_newest_settled_hour() -> None:
    now = utc("2025-12-15T10:20")
    newest = utc("2025-12-15T22:00")
    assert free_until(newest, now) == newest + 48 * HOUR_S


def test_the_public_window_is_capped_72_hours_from_now_to_the_second() -> None:
    now = utc("2025-12-15T10:20:07")
    newest = utc("2025-12-16T22:00")
    assert free_until(newest, now) == now + 72 * HOUR_S
    assert free_until(now + 24 * HOUR_S, now) == now + 72 * HOUR_S


def test_with_nothing_settled_the_current_hour_counts_as_the_newest() -> None:
    assert free_until(None, utc("2025-12-15T10:59:59")) == utc("2025-12-17T10:00")


def test_a_settled_price_at_the_epoch_is_not_taken_for_none() -> None:
    assert free_until(0, utc("2025-12-15T10:00")) == 48 * HOUR_S


@given(ts=st.floats(0, 4e9, allow_nan=False))
def test_an_instant_lies_within_its_hour(ts: float) -> None:
    assert floor_hour(ts) <= ts < floor_hour(ts) + HOUR_S
    assert floor_hour(ts) % HOUR_S == 0


def test_instants_are_written_in_utc() -> None:
    assert iso_utc(utc("2025-12-15T10:00")) == "2025-12-15T10:00:00Z"
    assert iso_utc(utc("2025-10-26T01:00")) == "2025-10-26T01:00:00Z"


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/St_Johns"])
def test_the_machine_s_own_zone_plays_no_part(zone: str) -> None:
    code = (
        "from datetime import date; from tunnihind.core.market import *;"
        "print(iso_utc(day_start(date(2025, 10, 26))), delivery_day(1761436800), publication_time(date(2025, 7, 1)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["2025-10-25T22:00:00Z", "2025-10-26", str(utc("2025-06-30T10:55"))]


def test_a_day_of_24_hours_is_no_calendar_day() -> None:
    assert day_start(SPRING) + DAY_S == day_end(SPRING) + HOUR_S
    assert day_start(AUTUMN) + DAY_S == day_end(AUTUMN) - HOUR_S


@pytest.mark.parametrize(
    ("at", "is_late"),
    [
        ("2026-01-14T14:05:00+02:00", False),
        ("2026-01-14T15:29:59+02:00", False),
        ("2026-01-14T15:30:00+02:00", True),
        ("2026-01-14T23:30:00+02:00", True),
        ("2026-07-15T15:29:59+03:00", False),
        ("2026-07-15T15:30:00+03:00", True),
    ],
)
def test_prices_of_tomorrow_are_late_from_half_past_three(at: str, *, is_late: bool) -> None:
    now = datetime.fromisoformat(at)
    assert (now.timestamp() >= ESTONIA.prices_late_from(now.date() + timedelta(days=1))) is is_late
