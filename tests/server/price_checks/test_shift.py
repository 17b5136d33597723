"""Prices at the wrong time, told apart from corrected ones by the settled prices."""

import math
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.day_quotes import AUTUMN, SPRING
from tests.support.upstreams.elering import csv_quotes
from tunnihind.market import HOUR_S, QUARTER_S, ZONES, Zone, day_end, day_start, hourly_prices
from tunnihind.price_checks.shift import Fit, ZonePrices, answer_prices, fit, in_words
from tunnihind.sources.base import DaySheet, Quote, day_sheets

DAY = date(2025, 12, 15)
SHIFTS = [sign * quarters * QUARTER_S for quarters in range(1, 13) for sign in (1, -1)]


def varied(ts: int) -> float:
    """Return a price that looks like no other one near it."""
    return round(60 + 50 * math.sin(ts / 5000) + 9 * math.sin(ts / 977), 2)


def quarters(first: date, last: date) -> dict[int, float]:
    return {ts: varied(ts) for ts in range(day_start(first), day_end(last), QUARTER_S)}


def late(prices: Mapping[int, float], by_s: int) -> dict[int, float]:
    """Give every period the price of an earlier one; what has none is left out."""
    return {ts: prices[ts - by_s] for ts in prices if ts - by_s in prices}


def ee(prices: dict[int, float]) -> dict[Zone, ZonePrices]:
    return {"ee": ZonePrices(quarters=prices)}


def ee_hours(prices: dict[int, float]) -> dict[Zone, ZonePrices]:
    return {"ee": ZonePrices(whole_hours=prices)}


@pytest.mark.parametrize("shift_s", SHIFTS)
@pytest.mark.parametrize("day", [DAY, SPRING, AUTUMN, date(2024, 2, 29), date(2025, 12, 31)])
def test_every_shift_of_up_to_three_hours_is_found(day: date, shift_s: int) -> None:
    known = quarters(day - timedelta(days=1), day)
    answer = late(quarters(day - timedelta(days=1), day + timedelta(days=1)), shift_s)
    assert fit(ee(known), ee(answer)).shift_s == shift_s


@pytest.mark.parametrize("shift_s", [shift_s for shift_s in SHIFTS if shift_s % HOUR_S == 0])
def test_hours_and_quarters_are_compared_by_the_hour(shift_s: int) -> None:
    known = quarters(DAY, DAY)
    hourly = hourly_prices(known)
    assert fit(ee(known), ee_hours(late(hourly, shift_s))).shift_s == shift_s
    assert fit(ee_hours(hourly), ee(late(known, shift_s))).shift_s == shift_s
    assert fit(ee_hours(hourly), ee_hours(late(hourly, shift_s))).shift_s == shift_s
    assert fit(ee(known), ee_hours(hourly)).agrees
    assert fit(ee_hours(hourly), ee(known)).agrees


def test_quarters_that_are_off_by_quarters_are_told_by_settled_hours_too() -> None:
    known = quarters(DAY, DAY)
    assert fit(ee_hours(hourly_prices(known)), ee(late(known, 3 * QUARTER_S))).shift_s == 3 * QUARTER_S


def test_a_shift_of_only_the_hours_after_a_clock_change_is_found() -> None:
    known = quarters(AUTUMN - timedelta(days=2), AUTUMN)
    change = day_start(AUTUMN) + 3 * HOUR_S
    answer = {ts: known[ts - HOUR_S] if ts >= change else price for ts, price in known.items()}
    assert fit(ee(known), ee(answer)).shift_s == HOUR_S


def test_one_zone_that_has_moved_is_enough() -> None:
    known = quarters(DAY, DAY)
    answer = ee(known) | {"fi": ZonePrices(quarters=late(known, HOUR_S))}
    assert fit(ee(known) | {"fi": ZonePrices(quarters=known)}, answer).shift_s == HOUR_S


def test_a_day_that_has_moved_is_found_beside_a_corrected_one() -> None:
    known = quarters(DAY, DAY + timedelta(days=1))
    corrected = {ts: price + 5 for ts, price in known.items() if ts < day_end(DAY)}
    moved = {ts: price for ts, price in late(known, HOUR_S).items() if ts >= day_end(DAY)}
    assert fit(ee(known), ee(corrected | moved)).shift_s == HOUR_S


def test_what_agrees_or_has_nothing_in_common_is_no_shift() -> None:
    known = quarters(DAY, DAY)
    assert fit(ee(known), ee(known)) == Fit(24, 24, 0)
    later = quarters(DAY + timedelta(days=1), DAY + timedelta(days=1))
    assert fit(ee(known), ee(later)) == Fit(0, 0, 0)
    assert not fit(ee(known), ee(later)).agrees
    assert fit({}, ee(known)).shift_s == 0


@pytest.mark.parametrize("hours", [1, 3])
def test_a_flat_stretch_that_has_grown_is_a_correction_and_no_shift(hours: int) -> None:
    noon = day_start(DAY) + 12 * HOUR_S
    known = {ts: 0.0 if noon - 6 * HOUR_S <= ts < noon else price for ts, price in quarters(DAY, DAY).items()}
    answer = {ts: 0.0 if noon <= ts < noon + hours * HOUR_S else price for ts, price in known.items()}
    assert fit(ee(known), ee(answer)).shift_s == 0


def test_a_shape_that_repeats_every_hour_has_not_moved_where_it_agrees() -> None:
    known = {ts: float(ts // QUARTER_S % 4) for ts in quarters(DAY, DAY)}
    assert fit(ee(known), ee(known)).shift_s == 0


def test_a_flat_day_tells_no_shift() -> None:
    known = dict.fromkeys(quarters(DAY, DAY), 12.5)
    assert fit(ee(known), ee(late(known, HOUR_S))).shift_s == 0


@pytest.mark.parametrize("change", [1.0, 5.0, -20.0])
def test_a_whole_day_at_another_level_is_a_correction_and_no_shift(change: float) -> None:
    known = quarters(DAY, DAY)
    assert fit(ee(known), ee({ts: price + change for ts, price in known.items()})).shift_s == 0


prices_of_a_day = st.lists(st.integers(0, 3).map(float), min_size=24, max_size=24)


@given(known=prices_of_a_day, answer=prices_of_a_day)
def test_a_shift_is_only_ever_told_where_it_fits_clearly_better(known: list[float], answer: list[float]) -> None:
    starts = range(day_start(DAY), day_end(DAY), HOUR_S)
    settled, given_ = dict(zip(starts, known, strict=True)), dict(zip(starts, answer, strict=True))
    shift_s = fit(ee_hours(settled), ee_hours(given_)).shift_s
    if shift_s:
        unmoved = sum(settled[ts] == given_[ts] for ts in starts)
        moved = sum(settled[ts - shift_s] == given_[ts] for ts in starts if ts - shift_s in settled)
        assert abs(shift_s) <= 3 * HOUR_S
        assert moved > 0
        differing = [ts for ts in starts if settled[ts] != given_[ts]]
        stretch = range(min(differing), max(differing) + HOUR_S, HOUR_S)
        still = sum(settled[ts] == given_[ts] for ts in stretch)
        fitting = sum(settled[ts] == given_.get(ts + shift_s) for ts in stretch)
        assert fitting >= still + 4, (unmoved, moved)


@given(known=prices_of_a_day, hours=st.sets(st.integers(0, 23), max_size=3), price=st.floats(-100, 100))
def test_a_correction_of_up_to_three_hours_is_never_a_shift(known: list[float], hours: set[int], price: float) -> None:
    starts = range(day_start(DAY), day_end(DAY), HOUR_S)
    settled = dict(zip(starts, known, strict=True))
    corrected = settled | {starts[hour]: price for hour in hours}
    assert fit(ee_hours(settled), ee_hours(corrected)).shift_s == 0


def test_quotes_that_are_no_prices_of_a_period_are_left_out() -> None:
    start = day_start(DAY)
    sheet = DaySheet("s", "ee", DAY, (Quote(start, 1.0), Quote(start + 900, math.nan), Quote(start + 1000, 2.0)))
    assert answer_prices([sheet])["ee"] == ZonePrices(quarters={start: 1.0})


@pytest.mark.parametrize(
    ("shift_s", "words"),
    [
        (HOUR_S, "an hour too late"),
        (-HOUR_S, "an hour too early"),
        (2 * HOUR_S, "2 hours too late"),
        (-QUARTER_S, "15 minutes too early"),
        (5 * QUARTER_S, "75 minutes too late"),
    ],
)
def test_a_shift_in_words(shift_s: int, words: str) -> None:
    assert in_words(shift_s) == words


@pytest.mark.parametrize("file", ["prices_hourly.csv", "prices_15min.csv"])
def test_in_real_prices_since_2021_every_shift_is_found_and_none_invented(shared: Path, file: str) -> None:
    history = csv_quotes(shared / "data" / file)
    days = sorted({date.fromordinal(738_000 + n) for n in range(900, 2200, 13)})
    seen = 0
    for day in days:
        parts = {
            zone: {ts: p for ts, p in history[zone].items() if day_start(day) <= ts < day_end(day + timedelta(days=2))}
            for zone in ZONES
        }
        if len(parts["ee"]) < 24:
            continue
        seen += 1
        known = sheets_of(parts, day)
        assert fit(known, known).shift_s == 0
        moved = {zone: late(prices, HOUR_S) for zone, prices in parts.items()}
        assert fit(known, sheets_of(moved, day)).shift_s == HOUR_S
        # A day's prices handed out for the next day are wrong, and no shift by hours.
        repeated = {
            zone: {ts: prices.get(ts - 24 * HOUR_S, p) for ts, p in prices.items()} for zone, prices in parts.items()
        }
        assert fit(known, sheets_of(repeated, day)).shift_s == 0
    assert seen > 5


def sheets_of(parts: Mapping[Zone, Mapping[int, float]], day: date) -> dict[Zone, ZonePrices]:
    return answer_prices(
        sheet
        for zone, prices in parts.items()
        for sheet in day_sheets("s", zone, (Quote(*pair) for pair in prices.items()), day, day + timedelta(days=2))
    )
