"""Advises whether to start a device now or later. The device is the one that the page's finder shows at first."""

from collections.abc import Iterator, Mapping
from math import floor
from typing import Final

from tunnihind.core.market import HOUR_S
from tunnihind.core.start import USUAL_HOURS, BestStart, best_start, compare_starts
from tunnihind.web.display import Display, PricedPeriod

_KW: Final = 2
_MINUTE_S: Final = 60
_CENTS: Final = 100
_COST_DECIMALS: Final = 6
"""Costs in cents are rounded to this many decimals first, to remove the errors of binary fractions."""


def start_advice(periods: Mapping[int, PricedPeriod], now: int, display: Display) -> str:
    """Compare the costs of an immediate start and of the cheapest later start, in a sentence.

    `now` is in unix seconds. If a price after an immediate start is unknown, the sentence only names the later start.
    If no later start has known prices, return an empty string. `startAdvice` in `finder.js` writes the same sentences.
    """
    found = compare_starts(lambda ts: _price_at(periods, ts, display), now, USUAL_HOURS * HOUR_S)
    if found is None:
        return ""
    texts = display.texts
    time = display.time_of_day(found.start)
    is_today = display.local_day(found.start) == display.local_day(now)
    later, after_later = _euros(found.later, display), [*_periods_after(periods, found.start, display)]
    gaps = {
        "when": texts("start.when.today", time=time)
        if is_today
        else texts("start.when", day=texts("days.tomorrow").lower(), time=time),
        "later": display.euros_text(later, after_later),
        "device": texts("start.device", hours=USUAL_HOURS, power=_KW),
    }
    if found.at_once is None:
        return texts("start.unknown", **gaps)
    at_once = _euros(found.at_once, display)
    after_now = [*_periods_after(periods, now - now % _MINUTE_S, display)]
    gaps["atOnce"] = display.euros_text(at_once, after_now)
    best = best_start(found.at_once, found.later, display.cent)
    if best is BestStart.EITHER:
        saved = round(at_once - later, 2)
        gaps["saved"] = display.euros_text(saved, [*after_now, *after_later])
        return texts("start.either.little" if saved > 0 else "start.either", **gaps)
    return texts(f"start.{best}", **gaps)


def _price_at(periods: Mapping[int, PricedPeriod], ts: int, display: Display) -> float | None:
    period = periods.get(ts - ts % display.step_s)
    return None if period is None else display.shown_price(period)


def _periods_after(periods: Mapping[int, PricedPeriod], start: int, display: Display) -> Iterator[PricedPeriod]:
    """Yield the periods in which the device runs."""
    for ts in range(start - start % display.step_s, start + USUAL_HOURS * HOUR_S, display.step_s):
        yield periods[ts]


def _euros(mean_price: float, display: Display) -> float:
    """Return the cost of the device's energy in euros, rounded to the cent as in the page's scripts."""
    return floor(round(mean_price / display.cent * USUAL_HOURS * _KW, _COST_DECIMALS) + 0.5) / _CENTS
