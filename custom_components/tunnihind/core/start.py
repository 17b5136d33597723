"""Compares two starts of a device: an immediate start, and the cheapest later start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .market import DAY_S, HOUR_S, QUARTER_S

USUAL_HOURS: Final = 3
"""The running time in hours, unless a reader chooses another one."""
_LEAST_SAVING_SHARE: Final = 0.1
_ROUNDING_ERROR: Final = 1e-9
_MINUTE_S: Final = 60


class BestStart(StrEnum):
    """When to start a device. If the prices hardly differ, the start doesn't matter."""

    NOW = "now"
    LATER = "later"
    EITHER = "either"


def best_start(at_once: float, later: float, cent: float) -> BestStart:
    """Compare the mean price after an immediate start with the mean price after a later start.

    A difference matters if it is at least `cent`, which is 1 c/kWh in the unit of the prices, and at least a tenth of
    `at_once`. `chart.js` has the same rule.
    """
    matters = max(cent, _LEAST_SAVING_SHARE * abs(at_once)) - _ROUNDING_ERROR
    if at_once - later >= matters:
        return BestStart.LATER
    return BestStart.NOW if later - at_once >= matters else BestStart.EITHER


@dataclass(frozen=True, slots=True)
class Starts:
    """The cheapest later start (unix seconds), and the mean prices after this start and after an immediate start.

    If a price after an immediate start is unknown, `at_once` is None.
    """

    start: int
    later: float
    at_once: float | None


def compare_starts(price_at: Callable[[int], float | None], now: int, length_s: int) -> Starts | None:
    """Find the cheapest later start of a device that runs `length_s` seconds without a pause, a multiple of 900.

    `price_at` returns the price at the start of a quarter-hour (unix seconds), or None if the price is unknown. An
    immediate start is at the start of the present minute. Later starts are at quarter-hours. The device is done at most
    24 hours after the next quarter-hour, rounded up to a full hour. Of equally cheap starts, the earliest counts. If
    there is no later start with known prices, return None. `finder.js` has the same rules.
    """
    present = now - now % QUARTER_S
    deadline = -(-(present + QUARTER_S + DAY_S) // HOUR_S) * HOUR_S
    prices = [price_at(ts) for ts in range(present, deadline, QUARTER_S)]
    count = length_s // QUARTER_S
    best: tuple[float, int] | None = None
    for place in range(1, len(prices) - count + 1):
        mean = _mean_price(prices[place : place + count])
        if mean is not None and (best is None or mean < best[0] - _ROUNDING_ERROR):
            best = mean, present + place * QUARTER_S
    if best is None:
        return None
    # The part of the present quarter-hour that has passed falls into the quarter-hour in which the device is done.
    passed = (now % QUARTER_S // _MINUTE_S * _MINUTE_S) / QUARTER_S
    whole, shifted = _mean_price(prices[:count]), _mean_price(prices[bool(passed) : count + bool(passed)])
    at_once = None if whole is None or shifted is None else whole + (shifted - whole) * passed
    return Starts(best[1], best[0], at_once)


def _mean_price(prices: Sequence[float | None]) -> float | None:
    known = [price for price in prices if price is not None]
    return sum(known) / len(prices) if len(known) == len(prices) else None
