"""The plausibility gate: a delivery day's prices count as settled only when they are whole and plausible.

Sources have answered with status 200 and zeros, half a day, or a day that is shifted by an hour. `judge` checks one
sheet by itself, `reconcile` compares it with a second source's. All of it is pure.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final

from tunnihind.market import (
    HOUR_S,
    QUARTER_S,
    Limits,
    Zone,
    day_end,
    day_start,
    hourly_prices,
    iso_utc,
    market_time_unit,
)
from tunnihind.price_checks.shift import PRICE_TOLERANCE_EUR_MWH, ZonePrices, fit, in_words
from tunnihind.sources.base import DaySheet, Quote

_ZERO_HOURS: Final = 20
_TOLERATED_HOURS: Final = 2


class Reason(StrEnum):
    """Why a delivery day does not count as settled."""

    UNREADABLE = "unreadable"
    NOT_FINITE = "not-finite"
    OUT_OF_BOUNDS = "out-of-bounds"
    OFF_GRID = "off-grid"
    CONTRADICTION = "contradiction"
    MIXED_SPACING = "mixed-spacing"
    INCOMPLETE = "incomplete"
    ZEROS = "zeros"
    FLAT = "flat"
    DISAGREEMENT = "disagreement"
    SHIFTED = "shifted"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class Settled:
    """A delivery day that passed: all its prices (start of period -> EUR/MWh), in order of time, and their step."""

    source: str
    zone: Zone
    day: date
    step_s: int
    prices: dict[int, float]

    def hours(self) -> dict[int, float]:
        """Return the hourly prices, means of quarters where the step is one, in full precision."""
        return hourly_prices(self.prices) if self.step_s == QUARTER_S else self.prices

    def zone_prices(self) -> ZonePrices:
        """Return the prices as quarters or hours, whichever they are."""
        return ZonePrices(quarters=self.prices) if self.step_s == QUARTER_S else ZonePrices(whole_hours=self.prices)


@dataclass(frozen=True, slots=True)
class Refused:
    """A delivery day that did not pass, with a reason for programs and a detail for people.

    `doubted` holds prices that are whole and possible but hard to believe (zeros, a flat day): a second source with the
    same prices can confirm them.
    """

    source: str
    zone: Zone
    day: date
    reason: Reason
    detail: str
    doubted: Settled | None = None


type Verdict = Settled | Refused


@dataclass(frozen=True, slots=True)
class Ruling:
    """The result of two sources' verdicts on one zone and day.

    `only_fills` marks doubted prices that a second source confirms: they may fill a gap, but replace no settled price.
    """

    settled: Settled | None
    refused: tuple[Refused, ...]
    only_fills: bool = False


def judge(sheet: DaySheet, limits: Limits) -> Verdict:
    """Judge one sheet by itself. The step is inferred from its spacing: a whole day of hours passes at any time."""
    if sheet.fault:
        return Refused(sheet.source, sheet.zone, sheet.day, Reason.UNREADABLE, sheet.fault)
    step_s = _step(sheet)
    fault = _impossible(sheet.quotes, limits) or _off_grid(sheet) or _contradiction(sheet.quotes) or _gap(sheet, step_s)
    if fault:
        return Refused(sheet.source, sheet.zone, sheet.day, *fault)
    prices = {quote.ts: quote.eur_mwh for quote in sorted(sheet.quotes)}
    settled = Settled(sheet.source, sheet.zone, sheet.day, step_s, prices)
    doubt = _unbelievable(prices.values(), step_s)
    return Refused(sheet.source, sheet.zone, sheet.day, *doubt, settled) if doubt else settled


def reconcile(first: Verdict, second: Verdict) -> Ruling:
    """Combine two verdicts on the same zone and day, in the order of trust.

    The first source's prices are taken, or the second's where the first's were refused. Prices that contradict the
    taken ones are refused. Zeros and flat days fill a gap where both sources have the same.
    """
    trusted, other = _prices(first), _prices(second)
    if isinstance(first, Settled):
        if isinstance(second, Refused):
            return Ruling(first, (second,))
        contradiction = _contradicts(first, second)
        return Ruling(first, (contradiction,) if contradiction else ())
    if isinstance(second, Settled):
        return Ruling(second, (first,))
    if trusted and other and not _differing(trusted.hours(), other.hours()):
        return Ruling(trusted, (), only_fills=True)
    return Ruling(None, (first, second))


def _prices(verdict: Verdict) -> Settled | None:
    return verdict if isinstance(verdict, Settled) else verdict.doubted


def _step(sheet: DaySheet) -> int:
    """Return the step between the quotes; for a single quote it is the day's market time unit."""
    if len({quote.ts for quote in sheet.quotes}) < 2:  # noqa: PLR2004
        return market_time_unit(sheet.day)
    return HOUR_S if all(quote.ts % HOUR_S == 0 for quote in sheet.quotes) else QUARTER_S


def _impossible(quotes: Iterable[Quote], limits: Limits) -> tuple[Reason, str] | None:
    for ts, eur_mwh in quotes:
        if not math.isfinite(eur_mwh):
            return Reason.NOT_FINITE, f"the price of {iso_utc(ts)} is {eur_mwh}"
        if not limits.floor <= eur_mwh <= limits.cap:
            bounds = f"{limits.floor:g} to {limits.cap:g}"
            return Reason.OUT_OF_BOUNDS, f"{eur_mwh:g} EUR/MWh at {iso_utc(ts)} is outside {bounds}"
    return None


def _off_grid(sheet: DaySheet) -> tuple[Reason, str] | None:
    for ts, _ in sheet.quotes:
        if ts % QUARTER_S:
            return Reason.OFF_GRID, f"{iso_utc(ts)} is not the start of a quarter"
        if not day_start(sheet.day) <= ts < day_end(sheet.day):
            return Reason.OFF_GRID, f"{iso_utc(ts)} is not in delivery day {sheet.day}"
    return None


def _contradiction(quotes: Iterable[Quote]) -> tuple[Reason, str] | None:
    prices: dict[int, float] = {}
    for ts, eur_mwh in quotes:
        if prices.setdefault(ts, eur_mwh) != eur_mwh:
            return Reason.CONTRADICTION, f"{iso_utc(ts)} has two prices, {prices[ts]:g} and {eur_mwh:g}"
    return None


def _gap(sheet: DaySheet, step_s: int) -> tuple[Reason, str] | None:
    starts = {quote.ts for quote in sheet.quotes}
    expected = (day_end(sheet.day) - day_start(sheet.day)) // step_s
    if len(starts) == expected:
        return None
    if step_s == QUARTER_S:
        lone = [
            ts for ts in starts if ts % HOUR_S == 0 and starts.isdisjoint(range(ts + QUARTER_S, ts + HOUR_S, QUARTER_S))
        ]
        if len(lone) > 1:
            return Reason.MIXED_SPACING, f"{len(lone)} hours stand among quarters"
    unit = "quarters" if step_s == QUARTER_S else "hours"
    return Reason.INCOMPLETE, f"{len(starts)} of {expected} {unit}"


def _unbelievable(prices: Iterable[float], step_s: int) -> tuple[Reason, str] | None:
    values = list(prices)
    zero_hours = values.count(0.0) * step_s / HOUR_S
    if zero_hours >= _ZERO_HOURS:
        return Reason.ZEROS, f"{zero_hours:g} hours are exactly 0.00"
    if min(values) == max(values):
        return Reason.FLAT, f"every price is {values[0]:g}"
    return None


def is_doubtful(prices: ZonePrices) -> bool:
    """Return whether a day's prices are such as are believed only when two sources say them: zeros, or a flat day."""
    return any(
        values and _unbelievable(values.values(), step_s) is not None
        for values, step_s in ((prices.quarters, QUARTER_S), (prices.whole_hours, HOUR_S))
    )


def contradiction(day: Settled, hours: dict[int, float], whose: str) -> Refused | None:
    """Refuse a day that differs in too many hours from hourly prices that are trusted more."""
    given = day.hours()
    differing = _differing(hours, given)
    if len(differing) <= _TOLERATED_HOURS:
        return None
    worst = max(abs(hours[hour] - given[hour]) for hour in differing)
    detail = f"{len(differing)} hours differ from {whose}, by up to {worst:.2f} EUR/MWh"
    return Refused(day.source, day.zone, day.day, Reason.DISAGREEMENT, detail)


def _contradicts(first: Settled, second: Settled) -> Refused | None:
    refused = contradiction(second, first.hours(), first.source)
    if refused is None:
        return None
    shift_s = fit({first.zone: first.zone_prices()}, {first.zone: second.zone_prices()}).shift_s
    if not shift_s:
        return refused
    detail = f"its hours hold the prices of {first.source} {in_words(shift_s)}"
    return replace(refused, reason=Reason.SHIFTED, detail=detail)


def _differing(ours: dict[int, float], theirs: dict[int, float]) -> list[int]:
    """Return the hours that both have and whose prices differ by more than rounding."""
    return [hour for hour in ours if hour in theirs and abs(ours[hour] - theirs[hour]) > PRICE_TOLERANCE_EUR_MWH]
