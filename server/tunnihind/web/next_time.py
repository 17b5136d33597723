"""Finds the cheapest three consecutive hours of the next 24 hours, and compares their price with the present price."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.web.display import Display, PricedPeriod

_LENGTH_S: Final = 3 * HOUR_S
"""The page's finder of cheap times (`static/finder.js`) has the same default length."""
_MIN_SAVING_EUR_MWH: Final = 10.0
"""Waiting is worthwhile only if it saves at least this amount plus the VAT in the shown prices."""
_MIN_SAVING_SHARE: Final = 0.1
"""Waiting is worthwhile only if it saves at least this fraction of the present price."""
_EVENING_H: Final = 21
_MORNING_H: Final = 6


def cheapest_time_sentence(periods: Mapping[int, PricedPeriod], current_ts: int, display: Display) -> str:
    """Name the cheapest three consecutive hours of the next 24 hours, and compare their price with the present price.

    `current_ts` is the start of the present period in unix seconds. If `periods` lacks the present period, make no
    comparison. If `periods` has no three consecutive hours among the 24, return an empty string.
    """
    step_s = display.step_s
    ahead = [ts for ts in range(current_ts + step_s, current_ts + step_s + DAY_S, step_s) if ts in periods]
    length = _LENGTH_S // step_s
    runs = [ahead[i : i + length] for i in range(len(ahead) - length + 1)]
    found = [[periods[ts] for ts in run] for run in runs if run[-1] - run[0] == _LENGTH_S - step_s]
    if not found:
        return ""
    best = min(found, key=display.mean_price)
    start, texts = best[0].ts, display.texts
    sentence = texts(
        "now.cheapest",
        day=_day_word(start, current_ts, display),
        start=display.time_of_day(start),
        end=display.time_of_day(start + _LENGTH_S),
        price=display.mean_price_with_about(best),
        unit=display.unit,
    )
    current = periods.get(current_ts)
    if current is None:
        return sentence
    advice = _waiting_advice(display.mean_price(best), display.shown_price(current), start, display)
    return f"{sentence} {advice}"


def _day_word(start: int, now: int, display: Display) -> str:
    """Write an instant's day as a word for use within a sentence: "today", "tomorrow" or "tonight".

    From 21:00 today to 06:00 tomorrow, the word is "tonight".
    """
    day, today, hour = display.local_day(start), display.local_day(now), int(display.time_of_day(start)[:2])
    is_tomorrow = day == today + timedelta(days=1)
    if (is_tomorrow and hour < _MORNING_H) or (day == today and hour >= _EVENING_H):
        return display.texts("now.tonight")
    return display.texts("days.tomorrow" if is_tomorrow else "days.today").lower()


def _waiting_advice(cheapest_price: float, present_price: float, cheapest_ts: int, display: Display) -> str:
    """Write whether it is worth waiting for the cheapest price.

    The prices are in the reader's unit.
    """
    min_saving = display.shown_amount(_MIN_SAVING_EUR_MWH, cheapest_ts) - display.shown_amount(0.0, cheapest_ts)
    if present_price - cheapest_price < max(min_saving, _MIN_SAVING_SHARE * abs(present_price)):
        return display.texts("now.same" if cheapest_price <= present_price else "now.dearer")
    # If the cheapest price is below zero, a saving in percent has no meaning.
    if cheapest_price < 0:
        return display.texts("now.wait")
    return display.texts("now.wait.less", percent=display.texts.percent(1 - cheapest_price / present_price))
