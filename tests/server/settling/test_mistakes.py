"""Which of two versions of a day is likelier, on made-up prices and on real history."""

from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.markets.sample_prices import made_up_quotes
from tests.support.upstreams.elering import csv_quotes
from tunnihind.core.market import QUARTER_S, ZONES, day_end, day_start
from tunnihind.settling.day_prices import DayPrices
from tunnihind.settling.mistakes import DaysAround, is_likelier
from tunnihind.settling.rule import AROUND
from tunnihind.sources.base import days_between

DAY: Final = date(2025, 12, 16)


def days_of(quotes: dict[int, float], first: date, last: date) -> dict[date, DayPrices]:
    days = {day: range(day_start(day), day_end(day), QUARTER_S) for day in days_between(first, last)}
    return {
        day: DayPrices({QUARTER_S: {ts: quotes[ts] for ts in of}})
        for day, of in days.items()
        if all(ts in quotes for ts in of)
    }


MADE_UP: Final = days_of(made_up_quotes(DAY - AROUND, DAY)["ee"], DAY - AROUND, DAY)
BEFORE: Final = {day: prices for day, prices in MADE_UP.items() if day < DAY}


def changed(prices: DayPrices, change: Callable[[int, float], float]) -> DayPrices:
    quarters = prices.by_step[QUARTER_S].items()
    return DayPrices({QUARTER_S: {ts: change(n, price) for n, (ts, price) in enumerate(quarters)}})


@given(st.lists(st.floats(-500, 4000).map(lambda price: round(price, 2)), min_size=96, max_size=96), st.integers(0, 96))
def test_two_versions_are_never_both_likelier(prices: list[float], kept: int) -> None:
    right = MADE_UP[DAY]
    other = changed(right, lambda n, price: price if n < kept else prices[n])
    assert not (is_likelier(right, other, BEFORE) and is_likelier(other, right, BEFORE))


@given(st.floats(0.001, 1000).filter(lambda factor: not 0.9 < factor < 1.1), st.integers(2, 9))
@example(factor=0.25, digits=3)
def test_a_product_is_never_likelier_than_its_original(factor: float, digits: int) -> None:
    right = MADE_UP[DAY]
    product = changed(right, lambda _, price: round(price * factor, digits))
    assert not is_likelier(product, right, BEFORE)


@pytest.mark.parametrize("around", [BEFORE, {}], ids=["four weeks", "no days"])
def test_vat_is_known_by_its_cents_alone(around: DaysAround) -> None:
    right = MADE_UP[DAY]
    assert is_likelier(right, changed(right, lambda _, price: round(price * 1.24, 2)), around)
    assert is_likelier(right, changed(right, lambda _, price: round(price / 1.24, 2)), around)


def test_a_real_spike_is_likelier_than_nothing_only_if_the_weeks_had_such_jumps() -> None:
    spike = changed(MADE_UP[DAY], lambda n, price: 900.0 if n == 70 else price)
    smooth = MADE_UP[DAY]
    assert is_likelier(smooth, spike, BEFORE)
    known = changed(BEFORE[DAY - timedelta(days=9)], lambda n, price: 950.0 if n == 70 else price)
    assert not is_likelier(smooth, spike, BEFORE | {DAY - timedelta(days=9): known})


KINDS: Final[dict[str, tuple[Callable[[list[float], list[float], list[float]], list[float]], float]]] = {
    "an hour late": (lambda before, day, _: before[-4:] + day[:-4], 0.95),
    "an hour early": (lambda _, day, after: day[4:] + after[:4], 0.6),
    "a quarter late": (lambda before, day, _: before[-1:] + day[:-1], 0.95),
    "a quarter early": (lambda _, day, after: day[1:] + after[:1], 0.8),
    "VAT": (lambda _, day, __: [round(price * 1.24, 2) for price in day], 0.98),
    "a thousandth": (lambda _, day, __: [round(price / 1000, 2) for price in day], 0.85),
    "the wrong sign": (lambda _, day, __: [-price for price in day], 0.85),
    "an hour of 4000": (lambda _, day, __: day[:40] + [4000.0] * 4 + day[44:], 0.98),
}
"""How often the right version is likelier than a wrong version, at least."""


@pytest.mark.parametrize("kind", KINDS)
def test_on_real_days_the_mistake_is_almost_never_likelier(shared: Path, kind: str) -> None:
    mistake, share = KINDS[kind]
    quotes, found = csv_quotes(shared / "data" / "prices_15min.csv"), Counter[bool | None]()
    for zone in ZONES:
        days = days_of(quotes[zone], date(2025, 10, 1), date(2025, 12, 31))
        for day in days_between(date(2025, 11, 1), date(2025, 12, 30)):
            before, right, after = (list(days[day + timedelta(days=n)].by_step[QUARTER_S].values()) for n in (-1, 0, 1))
            wrong = dict(zip(days[day].by_step[QUARTER_S], mistake(before, right, after), strict=True))
            around = {other: days[other] for other in days if day - AROUND <= other < day}
            versions = days[day], DayPrices({QUARTER_S: wrong})
            found[True] += is_likelier(*versions, around)
            found[False] += is_likelier(*versions[::-1], around)
            found[None] += 1
    assert found[True] >= share * found[None]
    assert found[False] <= 0.03 * found[None]
