"""Known kinds of mistakes in a delivery day's prices, and which of two versions is likelier. All functions are pure.

Two versions of a day may differ by a shift in time, by a factor, in single prices, or because one version gives an
hour's first quarter for the whole hour. Then the prices themselves, or the settled prices of the days around, often
tell which version is the mistake.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise
from math import log, sumprod
from statistics import fmean, median
from typing import Final

import numpy as np

from tunnihind.core.market import HOUR_S, STEPS
from tunnihind.settling.day_prices import TOLERANCE_EUR_MWH, DayPrices, PricePair

type DaysAround = Mapping[date, DayPrices]
"""The settled prices of the delivery days around a day."""

_LONGEST_SHIFT_S: Final = 3 * HOUR_S
_MIN_EXPLAINED_PRICES: Final = 4
"""A mistake must explain at least this many differing prices, because fewer could be a coincidence."""
_MIN_EXPLAINED_SHARE: Final = 0.9
"""A shift must explain at least this share of the differing prices. A shift by n periods may explain n prices fewer,
because n prices come from another day."""
_MAX_SINGLE_SHARE: Final = 1 / 8
"""If at most this share of a day's prices differ, they count as single prices."""

_MIN_DAYS: Final = 7
"""Fewer days around than this have no usual shape or level."""
_CLEAR_SHAPE: Final = 0.3
"""One version's shape is clearly nearer to the days around if its correlation with them is this much higher. Of the
days since 2021, fewer than one in a hundred lose by this much against themselves shifted by an hour."""
_CLEAR_LEVEL: Final = log(10)
"""One version's level is clearly nearer to the days around if the other is this many times farther away. Since 2021,
three days in a hundred were ten times lower than the level around them."""
_REPEATED: Final = 3
"""A repeated price of a neighbouring day says three times as much as a price that repeats none, as a price repeated
within the day, or as a clearly nearer shape."""
_CHANCE: Final = 0.01
"""If chance makes unrelated cents look multiplied with a higher probability, cents tell nothing."""
_ROUNDING_EUR_MWH: Final = 0.005 + 1e-9
_EXACT_EUR_MWH: Final = 1e-6
_CENTS_EUR_MWH: Final = {step_s: 0.01 * STEPS[-1] / step_s for step_s in STEPS}
"""The market's prices are multiples of this, by their step in seconds: whole cents, or means of whole cents."""


def is_likelier(ours: DayPrices, theirs: DayPrices, around: DaysAround) -> bool:
    """Return whether two versions of a day differ by a known kind of mistake, and clearly `theirs` has the mistake."""
    return _evidence(Difference(ours, theirs), around) >= 1


def mistake_in_words(prices: DayPrices, known: DayPrices) -> str:
    """Describe a mistake that would explain why `prices` differ from `known`.

    If no mistake is found, return an empty string. A mistake is a shift in time of up to three hours, or a factor by
    which the differing prices were multiplied.
    """
    difference = Difference(prices, known)
    if difference.shift_s:
        return _shift_in_words(difference.shift_s)
    return f"{difference.factor:.3g} times as high" if difference.factor else ""


@dataclass(frozen=True)
class Difference:
    """The difference between two versions of a delivery day's prices."""

    ours: DayPrices
    theirs: DayPrices

    @cached_property
    def pairs(self) -> list[PricePair]:
        """The pairs of prices for the same period, in chronological order."""
        return self.ours.pairs_with(self.theirs)

    @cached_property
    def differing(self) -> list[PricePair]:
        """The pairs whose prices differ."""
        return [pair for pair in self.pairs if pair.differs]

    @property
    def step_s(self) -> int:
        """The seconds from one pair to the next."""
        steps = (step_s for step_s in STEPS if len(self.pairs) <= len(self.ours.by_step[step_s]))
        return next(steps, STEPS[-1])

    @property
    def is_in_single_prices(self) -> bool:
        """True if only single prices differ."""
        return len(self.differing) <= _MAX_SINGLE_SHARE * len(self.pairs)

    @cached_property
    def shift_s(self) -> int:
        """The seconds by which our prices are late, negative if they are early, or 0 if no shift explains the rest."""
        by_ts = {pair.ts: pair.theirs for pair in self.pairs}
        for late_s in range(self.step_s, _LONGEST_SHIFT_S + 1, self.step_s):
            needed = max(_MIN_EXPLAINED_PRICES, _MIN_EXPLAINED_SHARE * len(self.differing) - late_s // self.step_s)
            for by_s in (late_s, -late_s):
                moved = [PricePair(ts, ours, by_ts[ts - by_s]) for ts, ours, _ in self.differing if ts - by_s in by_ts]
                if sum(not pair.differs for pair in moved) >= needed:
                    return by_s
        return 0

    @cached_property
    def sizes(self) -> tuple[list[float], list[float]]:
        """The differing prices of the version with the larger prices, and those of the other version."""
        ours, theirs = [pair.ours for pair in self.differing], [pair.theirs for pair in self.differing]
        return (ours, theirs) if self.is_larger else (theirs, ours)

    @cached_property
    def is_larger(self) -> bool:
        """True if our differing prices are larger than theirs."""
        return sum(abs(pair.ours) - abs(pair.theirs) for pair in self.differing) > 0

    @cached_property
    def factor(self) -> float:
        """The factor by which their differing prices give ours, or 0 if no factor does."""
        large, small = self.sizes
        share = sumprod(large, small) / (sumprod(large, large) or 1)
        fits = all(abs(low - share * high) <= TOLERANCE_EUR_MWH for high, low in zip(large, small, strict=True))
        # Prices near zero fit every factor.
        if not fits or sum(abs(price) > 2 * TOLERANCE_EUR_MWH for price in small) < _MIN_EXPLAINED_PRICES:
            return 0.0
        return 1 / share if self.is_larger else share


def _evidence(difference: Difference, around: DaysAround) -> float:
    """Return how much likelier our version is: at least 1 if clearly ours is right, at most -1 if clearly theirs is."""
    if difference.is_in_single_prices:
        return _evidence_of_jumps(difference, around)
    if evidence := _evidence_of_first_parts(difference):
        return evidence
    if difference.shift_s:
        step_s = max(step_s for step_s in STEPS if difference.shift_s % step_s == 0)
        return _evidence_of_repeats(difference, around) + _evidence_of_shape(difference, around, step_s)
    if difference.factor:
        return _evidence_of_cents(difference) or (
            _evidence_of_shape(difference, around, HOUR_S) + _evidence_of_level(difference, around)
        )
    return 0


def _evidence_of_jumps(difference: Difference, around: DaysAround) -> int:
    """Compare outliers: prices that are farther from the prices beside them than the days around ever jump."""
    agreed = {pair.ts: pair.ours for pair in difference.pairs if not pair.differs}
    courses = [agreed, *(day.by_step[difference.step_s] for day in around.values())]
    highest = max((abs(later - price) for course in courses for price, later in pairwise(course.values())), default=0)

    def is_outlier(ts: int, price: float) -> bool:
        sides = max((at for at in agreed if at < ts), default=None), min((at for at in agreed if at > ts), default=None)
        beside = [agreed[at] for at in sides if at is not None]
        return bool(beside) and max(min(beside) - price, price - max(beside)) > highest

    ours, theirs = (
        any(is_outlier(pair.ts, getattr(pair, whose)) for pair in difference.differing) for whose in ("ours", "theirs")
    )
    return theirs - ours


def _evidence_of_first_parts(difference: Difference) -> int:
    """Compare hours: a version is wrong if each of its hours has the price of the other version's first quarter."""

    def has_first_parts(one: DayPrices, other: DayPrices) -> bool:
        starts = other.by_step[STEPS[-1]]
        pairs = [PricePair(hour, price, starts[hour]) for hour, price in one.hours.items() if hour in starts]
        return bool(pairs) and not any(pair.differs for pair in pairs)

    ours, theirs = difference.ours, difference.theirs
    return has_first_parts(theirs, ours) - has_first_parts(ours, theirs)


def _evidence_of_repeats(difference: Difference, around: DaysAround) -> int:
    """Compare the ends of a shifted day.

    If the later version is wrong, its first prices repeat the prices just before them; if the earlier version is wrong,
    its last prices repeat the prices just after them.
    """
    by_s = abs(difference.shift_s)
    count, is_late = by_s // difference.step_s, difference.shift_s > 0
    first = {ts: ours if is_late else theirs for ts, ours, theirs in difference.differing[:count]}
    last = {ts: theirs if is_late else ours for ts, ours, theirs in difference.differing[-count:]}
    if list(first.values()) == list(last.values()):
        # One version is the other turned round, which tells nothing.
        return 0
    neighbours = {ts: price for day in around.values() for ts, price in day.by_step[difference.step_s].items()}
    agreed = {pair.ts: pair.ours for pair in difference.pairs if not pair.differs}

    def score(prices: Mapping[int, float], by_s: int) -> int:
        pairs = [PricePair(ts, price, known[ts + by_s]) for ts, price in prices.items() if ts + by_s in known]
        if not pairs:
            return 0
        if any(pair.differs for pair in pairs):
            return -1
        # Equal prices in a row are common within a day.
        return 1 if pairs[0].ts + by_s in agreed else _REPEATED

    known = neighbours | agreed
    is_late_wrong = score(first, -by_s) - score(last, by_s)
    return -is_late_wrong if is_late else is_late_wrong


def _evidence_of_cents(difference: Difference) -> int:
    """Compare cents: the original has whole cents, and skips none."""
    versions = difference.ours, difference.theirs
    if any(prices.by_step[step_s] for prices in versions for step_s in STEPS if step_s < difference.step_s):
        # Means of rounded prices skip no cents.
        return 0
    large, small = difference.sizes
    for_large, cents = 1 if difference.is_larger else -1, _CENTS_EUR_MWH[difference.step_s]
    is_large_whole, is_small_whole = (
        all(abs(price - round(price / cents) * cents) < _EXACT_EUR_MWH for price in prices) for prices in (large, small)
    )
    if is_large_whole != is_small_whole:
        return for_large if is_large_whole else -for_large
    if not is_small_whole and _is_multiplied(large, small, _EXACT_EUR_MWH):
        return 0
    if not _is_multiplied(large, small, _ROUNDING_EUR_MWH):
        return for_large
    skips = max(abs(difference.factor), 1 / abs(difference.factor))
    return -for_large if skips ** -len(set(small)) <= _CHANCE else 0


def _is_multiplied(products: list[float], prices: list[float], tolerance: float) -> bool:
    """Return whether one factor gives all products, each to the tolerance in EUR/MWh."""
    bounds = [
        sorted(((product - tolerance) / price, (product + tolerance) / price))
        for product, price in zip(products, prices, strict=True)
        if price
    ]
    return max(low for low, _ in bounds) <= min(high for _, high in bounds)


def _evidence_of_shape(difference: Difference, around: DaysAround, step_s: int) -> float:
    """Compare the correlations of the steps from price to price with the mean steps of the days around."""
    ours, theirs, *days = (
        _clock_prices(prices, step_s) for prices in (difference.ours, difference.theirs, *around.values())
    )
    courses = [prices for prices in days if prices]
    if len(courses) < _MIN_DAYS or not ours or not theirs:
        return 0
    usual = (np.diff(courses) / (np.std(courses, axis=1, keepdims=True) + 1)).mean(axis=0)
    return (_correlation(np.diff(ours), usual) - _correlation(np.diff(theirs), usual)) / _CLEAR_SHAPE


def _correlation(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size else 0.0


def _clock_prices(prices: DayPrices, step_s: int) -> list[float]:
    """Return a whole day's prices of the 23 clock hours that every day has once; empty if prices are missing."""
    values, count = list(prices.by_step[step_s].values()), HOUR_S // step_s
    return values[: 2 * count] + values[-21 * count :] if len(values) >= 23 * count else []


def _evidence_of_level(difference: Difference, around: DaysAround) -> float:
    """Compare the distances of the mean prices from the usual level of the days around."""
    levels = [_level(day) for day in around.values()]
    if len(levels) < _MIN_DAYS:
        return 0
    ours, theirs = (abs(log(_level(prices) / median(levels))) for prices in (difference.ours, difference.theirs))
    return (theirs - ours) / _CLEAR_LEVEL


def _level(prices: DayPrices) -> float:
    return max(abs(fmean(prices.hours.values())), TOLERANCE_EUR_MWH)


def _shift_in_words(shift_s: int) -> str:
    hours, rest_s = divmod(abs(shift_s), HOUR_S)
    whole = "an hour" if hours == 1 else f"{hours} hours"
    length = f"{abs(shift_s) // 60} minutes" if rest_s else whole
    return f"{length} too {'late' if shift_s > 0 else 'early'}"
