"""Quotes of whole delivery days, and the days on which clocks change."""

from collections.abc import Callable
from datetime import date

from tunnihind.core.market import day_end, day_start
from tunnihind.sources.base import Quote

SPRING, AUTUMN = date(2026, 3, 29), date(2025, 10, 26)
"""Delivery days of 23 and of 25 hours."""


def whole_day(day: date, step_s: int, price: Callable[[int], float] = lambda n: 40.0 + n % 17) -> list[Quote]:
    starts = range(day_start(day), day_end(day), step_s)
    return [Quote(ts, price(n)) for n, ts in enumerate(starts)]
