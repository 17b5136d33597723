"""Checks a single sheet. All functions are pure.

The checks are needed because some answers with HTTP status 200 have contained only half a day, two prices for one
quarter, or zeros.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import batched, takewhile
from typing import Final

from tunnihind.core.market import HOUR_S, QUARTER_S, STEPS, PriceLimits, day_end, day_start, iso_utc
from tunnihind.sources.base import DaySheet, Quote

_MIN_ZERO_HOURS: Final = 16
_MAX_LAST_EQUAL_S: Final = 6 * HOUR_S
_MAX_LAST_EQUAL_HOURS: Final = 10
"""A day may end in at most this many seconds or whole hours of equal prices, because hours are more often equal than
shorter periods. Prices that are missing after noon may be given as a repetition of the last price."""
_MAX_DAY_S: Final = 25 * HOUR_S
_UNITS: Final = {HOUR_S: ("an hour", "hours"), QUARTER_S: ("a quarter", "quarters")}
_COPIED_SHARE: Final = 0.9
_COPIED_EUR_MWH: Final = 0.02 + 1e-9
_NEARLY_COPIED_EUR_MWH: Final = 1.0 + 1e-9
"""A day is a copy of another if 90% of its hours have the other's prices to within two cents, or all hours but one to
within a euro. No two days within four weeks are so alike since 2021, in any of the four zones."""


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


def reason_to_doubt(prices: Sequence[float], other_days: Iterable[Sequence[float]] = ()) -> HeldReason | None:
    """Return the reason to doubt a complete day's prices, or None if there is no reason.

    Prices are doubtful if they are zero for 16 hours or more, if all are equal, if they copy the prices of another
    complete day in `other_days`, or if they repeat one price until midnight for more than 10 hours (6 hours if by the
    quarter). Such prices are more likely a mistake of the source than real prices. Doubtful prices are settled only
    if they agree with another source's prices or with settled prices.
    """
    step_s = _step_of_day(prices)
    zero_hours = prices.count(0.0) * step_s / HOUR_S
    if zero_hours >= _MIN_ZERO_HOURS:
        return HeldReason(ReasonCode.ZEROS, f"{zero_hours:g} hours are exactly 0.00")
    if min(prices) == max(prices):
        return HeldReason(ReasonCode.FLAT, f"every price is {prices[0]:g}")
    hours = _hourly_means(prices)
    for other in map(_hourly_means, other_days):
        if _is_copy(hours, other):
            share = "every" if hours == other else "almost every"
            return HeldReason(ReasonCode.COPY, f"{share} price equals another day's")
    last_equal = sum(1 for _ in takewhile(lambda price: price == prices[-1], reversed(prices)))
    if last_equal * step_s > (_MAX_LAST_EQUAL_HOURS * HOUR_S if step_s == HOUR_S else _MAX_LAST_EQUAL_S):
        return HeldReason(ReasonCode.FLAT, f"the last {last_equal} prices are all {prices[-1]:g}")
    return None


def _step_of_day(prices: Sequence[float]) -> int:
    return next(step_s for step_s in STEPS if len(prices) * step_s <= _MAX_DAY_S)


def _hourly_means(prices: Sequence[float]) -> list[float]:
    return [sum(parts) / len(parts) for parts in batched(prices, HOUR_S // _step_of_day(prices), strict=True)]


def _is_copy(hours: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether a day's hourly prices are a copy of another day's.

    If one of the days has a change of clocks, the hours are compared by their order, and by the clock. On the clock,
    every day has its first 2 and its last 21 hours once.
    """
    if len(hours) == len(other):
        return _are_alike(hours, other)
    return _are_alike(hours, other) or _are_alike([*hours[:2], *hours[-21:]], [*other[:2], *other[-21:]])


def _are_alike(hours: Sequence[float], other: Sequence[float]) -> bool:
    gaps = [abs(one - two) for one, two in zip(hours, other, strict=False)]
    equal, near = (sum(gap <= most for gap in gaps) for most in (_COPIED_EUR_MWH, _NEARLY_COPIED_EUR_MWH))
    return equal >= _COPIED_SHARE * len(gaps) or near >= len(gaps) - 1


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
            unit, _ = _unit_in_words(sheet.step_s)
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
    _, units = _unit_in_words(step_s)
    if step_s < HOUR_S:
        lone = [ts for ts in starts if ts % HOUR_S == 0 and starts.isdisjoint(range(ts + step_s, ts + HOUR_S, step_s))]
        if len(lone) > 1:
            return HeldReason(ReasonCode.MIXED_SPACING, f"{len(lone)} hours are among the {units}")
    return HeldReason(ReasonCode.INCOMPLETE, f"{len(starts)} of {expected} {units}")


def _unit_in_words(step_s: int) -> tuple[str, str]:
    """Return the words for one period of `step_s` seconds, and for several."""
    return _UNITS.get(step_s) or (f"{step_s // 60} minutes", f"periods of {step_s // 60} minutes")
