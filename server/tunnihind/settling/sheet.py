"""Checks a single sheet. All functions are pure.

The checks are needed because some answers with HTTP status 200 have contained only half a day, two prices for one
quarter, or zeros.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tunnihind.market import HOUR_S, QUARTER_S, STEPS, PriceLimits, day_end, day_start, iso_utc
from tunnihind.sources.base import DaySheet, Quote

_MIN_ZERO_HOURS: Final = 20
_MAX_DAY_HOURS: Final = 25


class ReasonCode(StrEnum):
    """The reasons why a source's prices of a delivery day are held back."""

    UNREADABLE = "unreadable"
    NOT_FINITE = "not-finite"
    OUT_OF_BOUNDS = "out-of-bounds"
    OFF_GRID = "off-grid"
    CONTRADICTION = "contradiction"
    MIXED_SPACING = "mixed-spacing"
    INCOMPLETE = "incomplete"
    ZEROS = "zeros"
    FLAT = "flat"
    COPY = "copy"
    DISAGREEMENT = "disagreement"
    CORRECTION = "correction"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class HeldReason:
    """The reason why a day's prices are held back. Programs read `reason`, and people read `detail`."""

    reason: ReasonCode
    detail: str


def checked_prices(sheet: DaySheet, limits: PriceLimits) -> tuple[float, ...] | HeldReason:
    """Return a sheet's prices in chronological order.

    If the prices are unreadable, impossible, contradictory or incomplete, or not for hours or quarters of the day,
    return the reason. Hourly prices are accepted even for days that were traded in quarters.
    """
    if sheet.fault:
        return HeldReason(ReasonCode.UNREADABLE, sheet.fault)
    fault = (
        _impossible_price_reason(sheet.quotes, limits)
        or _off_grid_reason(sheet)
        or _contradiction_reason(sheet.quotes)
        or _gap_reason(sheet)
    )
    return fault or tuple({quote.ts: quote.eur_mwh for quote in sorted(sheet.quotes)}.values())


def reason_to_doubt(prices: Sequence[float], other_days: Collection[tuple[float, ...]] = ()) -> HeldReason | None:
    """Return the reason to doubt a complete day's prices, or None if there is no reason.

    Prices are doubtful if they are zero for 20 hours or more, if all are equal, or if they equal the prices of another
    day in `other_days`. Such prices are more likely a mistake of the source than real prices. Doubtful prices are
    settled only if they agree with another source's prices or with settled prices.
    """
    zero_hours = prices.count(0.0) / (1 if len(prices) <= _MAX_DAY_HOURS else HOUR_S // QUARTER_S)
    if zero_hours >= _MIN_ZERO_HOURS:
        return HeldReason(ReasonCode.ZEROS, f"{zero_hours:g} hours are exactly 0.00")
    if min(prices) == max(prices):
        return HeldReason(ReasonCode.FLAT, f"every price is {prices[0]:g}")
    if tuple(prices) in other_days:
        return HeldReason(ReasonCode.COPY, "every price equals another day's")
    return None


def _impossible_price_reason(quotes: Iterable[Quote], limits: PriceLimits) -> HeldReason | None:
    for ts, eur_mwh in quotes:
        if not math.isfinite(eur_mwh):
            return HeldReason(ReasonCode.NOT_FINITE, f"the price of {iso_utc(ts)} is {eur_mwh}")
        if not limits.floor <= eur_mwh <= limits.cap:
            bounds = f"{limits.floor:g} to {limits.cap:g}"
            return HeldReason(ReasonCode.OUT_OF_BOUNDS, f"{eur_mwh:g} EUR/MWh at {iso_utc(ts)} is outside {bounds}")
    return None


def _off_grid_reason(sheet: DaySheet) -> HeldReason | None:
    if sheet.step_s not in STEPS:
        return HeldReason(ReasonCode.OFF_GRID, f"each price is for {sheet.step_s / 60:g} minutes")
    for ts, _ in sheet.quotes:
        if ts % sheet.step_s:
            unit = "a quarter" if sheet.step_s == QUARTER_S else "an hour"
            return HeldReason(ReasonCode.OFF_GRID, f"{iso_utc(ts)} is not the start of {unit}")
        if not day_start(sheet.day) <= ts < day_end(sheet.day):
            return HeldReason(ReasonCode.OFF_GRID, f"{iso_utc(ts)} is not in delivery day {sheet.day}")
    return None


def _contradiction_reason(quotes: Iterable[Quote]) -> HeldReason | None:
    prices: dict[int, float] = {}
    for ts, eur_mwh in quotes:
        if prices.setdefault(ts, eur_mwh) != eur_mwh:
            return HeldReason(ReasonCode.CONTRADICTION, f"{iso_utc(ts)} has two prices, {prices[ts]:g} and {eur_mwh:g}")
    return None


def _gap_reason(sheet: DaySheet) -> HeldReason | None:
    starts = {quote.ts for quote in sheet.quotes}
    step_s = sheet.step_s
    expected = (day_end(sheet.day) - day_start(sheet.day)) // step_s
    if len(starts) == expected:
        return None
    if step_s == QUARTER_S:
        lone = [
            ts for ts in starts if ts % HOUR_S == 0 and starts.isdisjoint(range(ts + QUARTER_S, ts + HOUR_S, QUARTER_S))
        ]
        if len(lone) > 1:
            return HeldReason(ReasonCode.MIXED_SPACING, f"{len(lone)} hours are among the quarters")
    unit = "quarters" if step_s == QUARTER_S else "hours"
    return HeldReason(ReasonCode.INCOMPLETE, f"{len(starts)} of {expected} {unit}")
