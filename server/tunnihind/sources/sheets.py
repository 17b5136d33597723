"""From a source's loose quotes to one sheet per delivery day."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final, NamedTuple

from tunnihind.market import Zone, day_end, day_start, delivery_day
from tunnihind.sources.base import DaySheet, Quote

_MOST_QUOTES: Final = 500
"""The longest day has 100 quarters. With so many quotes some contradict each other, and more of them tell no more."""


class Fault(NamedTuple):
    """Something of a zone that can't be read: the start of its period where that much can, and what is wrong."""

    ts: int | None
    problem: str


def days(first: date, last: date) -> Iterator[date]:
    """Yield every day from `first` to `last`, both included."""
    for offset in range((last - first).days + 1):
        yield first + timedelta(days=offset)


def spans(first: date, last: date, max_days: int) -> Iterator[tuple[date, date]]:
    """Cut a range of days into consecutive ranges of at most `max_days`."""
    start = first
    while start <= last:
        end = min(last, start + timedelta(days=max_days - 1))
        yield start, end
        start = end + timedelta(days=1)


def day_sheets(source: str, zone: Zone, quotes: Iterable[Quote], first: date, last: date) -> list[DaySheet]:
    """Lay quotes, in any order, on sheets for the delivery days from `first` to `last`; others are dropped.

    A quote that was given twice stands once; two prices for one period are both kept, for the gate to refuse.
    Of a day with far too many quotes only the first are kept.
    """
    ordered = sorted(set(quotes))
    sheets = []
    for day in days(first, last):
        low = bisect_left(ordered, (day_start(day),))
        high = bisect_left(ordered, (day_end(day),))
        if low < high:
            sheets.append(DaySheet(source, zone, day, tuple(ordered[low : min(high, low + _MOST_QUOTES)])))
    return sheets


def with_faults(
    sheets: Sequence[DaySheet], faults: Sequence[Fault], source: str, zone: Zone, first: date, last: date
) -> list[DaySheet]:
    """Return a zone's sheets of the days from `first` to `last` with what can't be read noted on them.

    A fault whose period is known counts against its delivery day alone, another one against all of the zone.
    """
    by_day = {sheet.day: sheet for sheet in sheets}
    for fault in faults:
        for day in _doubtful_days(fault, first, last):
            sheet = by_day.get(day) or DaySheet(source, zone, day, ())
            by_day[day] = replace(sheet, fault=sheet.fault or fault.problem)
    return [by_day[day] for day in sorted(by_day)]


def _doubtful_days(fault: Fault, first: date, last: date) -> Iterable[date]:
    if fault.ts is None:
        return days(first, last)
    day = delivery_day(fault.ts)
    return [day] if first <= day <= last else []
