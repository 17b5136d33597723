"""Finds prices at the wrong time: an answer that fits the settled prices better when it is moved by some periods.

A source with a mistake in a clock change or a time zone gives right prices for the wrong hours. No check of one day by
itself can find that, so an answer is compared with the settled prices. All of it is pure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tunnihind.market import HOUR_S, QUARTER_S, Zone, delivery_day, hourly_prices
from tunnihind.sources.base import DaySheet

LONGEST_SHIFT_S: Final = 3 * HOUR_S

_CLEAR_HOURS: Final = 4.0
"""Moving has to make at least so many more hours fit. It is more than the longest shift: otherwise a flat stretch that
has become longer at one end would look like one that has moved."""

_EXPLAINED: Final = 0.9
"""The share of the differing stretch that has to fit once it is moved."""

PRICE_TOLERANCE_EUR_MWH: Final = 0.01 + 1e-9
"""Prices that differ by no more are equal: a cent of rounding, and the error of floating point."""


class _Period(NamedTuple):
    ts: int
    step_s: int


@dataclass(frozen=True, slots=True)
class ZonePrices:
    """Prices of one zone by the start of their period, EUR/MWh: quarters, and hours that came as hours."""

    quarters: dict[int, float] = field(default_factory=dict)
    whole_hours: dict[int, float] = field(default_factory=dict)

    def hours(self) -> dict[int, float]:
        """Return every hour that has a price, by the mean of its quarters where it has them."""
        return self.whole_hours | hourly_prices(self.quarters)

    def of(self, step_s: int) -> dict[int, float]:
        """Return the prices of one step."""
        return self.quarters if step_s == QUARTER_S else self.whole_hours

    def between(self, start_ts: int, end_ts: int) -> ZonePrices:
        """Return the prices that begin in [start_ts, end_ts)."""
        quarters = {ts: self.quarters[ts] for ts in range(start_ts, end_ts, QUARTER_S) if ts in self.quarters}
        hours = {ts: self.whole_hours[ts] for ts in range(start_ts, end_ts, HOUR_S) if ts in self.whole_hours}
        return ZonePrices(quarters, hours)

    def moved(self, by_s: int) -> ZonePrices:
        """Return the prices at earlier times; hours can be moved by whole hours only."""
        hours = {ts - by_s: price for ts, price in self.whole_hours.items()} if by_s % HOUR_S == 0 else {}
        return ZonePrices({ts - by_s: price for ts, price in self.quarters.items()}, hours)


@dataclass(frozen=True, slots=True)
class Fit:
    """How an answer fits the settled prices: the hours that both have, those with equal prices, and a shift.

    `shift_s` is by how many seconds the prices stand too late (negative: too early); 0 without a shift.
    """

    compared_h: float
    alike_h: float
    shift_s: int

    @property
    def agrees(self) -> bool:
        """Whether there was something to compare, and nearly all of it is equal."""
        return self.compared_h > 0 and self.shift_s == 0 and self.alike_h >= _EXPLAINED * self.compared_h


def answer_prices(sheets: Iterable[DaySheet]) -> dict[Zone, ZonePrices]:
    """Return an answer's prices by zone, without quotes that are off the grid or not finite."""
    zones: dict[Zone, ZonePrices] = defaultdict(ZonePrices)
    for sheet in sheets:
        on_the_hour = all(quote.ts % HOUR_S == 0 for quote in sheet.quotes)
        given = zones[sheet.zone].of(HOUR_S if on_the_hour else QUARTER_S)
        given |= {ts: price for ts, price in sheet.quotes if ts % QUARTER_S == 0 and math.isfinite(price)}
    return dict(zones)


def fit(settled: Mapping[Zone, ZonePrices], answer: Mapping[Zone, ZonePrices]) -> Fit:
    """Compare an answer with the settled prices.

    There is a shift where a zone's prices, or those of one of its delivery days, differ over a stretch and fit once
    they are moved by a number of quarters, at most three hours either way.
    """
    compared_h = alike_h = 0.0
    shift_s = 0
    for zone in settled:
        if zone not in answer:
            continue
        alike = _alike(settled[zone], answer[zone])
        compared_h += _hours(alike)
        alike_h += _hours(period for period in alike if alike[period])
        # One zone is enough: trying all shifts takes long.
        shift_s = shift_s or _shift(settled[zone], answer[zone], alike)
    return Fit(compared_h, alike_h, shift_s)


def in_words(shift_s: int) -> str:
    """Say how far prices stand from where they belong: `an hour too late`, `15 minutes too early`."""
    hours, rest_s = divmod(abs(shift_s), HOUR_S)
    whole = "an hour" if hours == 1 else f"{hours} hours"
    length = f"{abs(shift_s) // 60} minutes" if rest_s else whole
    return f"{length} too {'late' if shift_s > 0 else 'early'}"


def _alike(settled: ZonePrices, answer: ZonePrices) -> dict[_Period, bool]:
    """Return for each settled period that the answer has too whether the prices are equal.

    Quarters are compared with quarters, and by the hour where only one side has them.
    """
    alike = {
        _Period(ts, QUARTER_S): abs(price - settled.quarters[ts]) <= PRICE_TOLERANCE_EUR_MWH
        for ts, price in answer.quarters.items()
        if ts in settled.quarters
    }
    if settled.whole_hours or answer.whole_hours:
        known = settled.hours()
        alike |= {
            _Period(ts, HOUR_S): abs(price - known[ts]) <= PRICE_TOLERANCE_EUR_MWH
            for ts, price in answer.hours().items()
            if ts in known and (ts, QUARTER_S) not in alike
        }
    return alike


def _shift(settled: ZonePrices, answer: ZonePrices, at_rest: Mapping[_Period, bool]) -> int:
    """Return by how many seconds a zone's prices stand too late, 0 where no shift explains how they differ."""
    stretches = list(_differing_stretches(at_rest))
    best_s, most_h = 0, 0.0
    if stretches:
        for quarters in range(1, LONGEST_SHIFT_S // QUARTER_S + 1):
            for shift_s in (quarters * QUARTER_S, -quarters * QUARTER_S):
                moved = _alike(settled, answer.moved(shift_s))
                gained_h = max(_gained(stretch, moved) for stretch in stretches)
                if gained_h > most_h:
                    best_s, most_h = shift_s, gained_h
    return best_s


def _differing_stretches(at_rest: Mapping[_Period, bool]) -> Iterator[dict[_Period, bool]]:
    """Yield what lies between the first and the last differing period: of all days, and of each delivery day."""
    groups: dict[object, list[_Period]] = defaultdict(list)
    for period, is_alike in at_rest.items():
        if not is_alike:
            groups["all"].append(period)
    if _hours(groups["all"]) < _CLEAR_HOURS:
        return
    for period in groups["all"].copy():
        groups[delivery_day(period.ts)].append(period)
    for differing in groups.values():
        if _hours(differing) >= _CLEAR_HOURS:
            first, last = min(differing), max(differing)
            yield {period: at_rest[period] for period in at_rest if first <= period <= last}


def _gained(stretch: Mapping[_Period, bool], moved: Mapping[_Period, bool]) -> float:
    """Return how many more hours of a stretch fit once they are moved; 0 where moving does not clearly explain it."""
    compared = [period for period in stretch if period in moved]
    fitting_h = _hours(period for period in compared if moved[period])
    gained_h = fitting_h - _hours(period for period in stretch if stretch[period])
    return gained_h if gained_h >= _CLEAR_HOURS and fitting_h >= _EXPLAINED * _hours(compared) else 0.0


def _hours(periods: Iterable[_Period]) -> float:
    return sum(period.step_s for period in periods) / HOUR_S
