"""From what the server says to what the household pays."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Final

from .answers import Band, ForecastAnswer
from .prices.tariff import Tariff
from .prices.timeline import HOUR_S, Period, Timeline

# Yesterday's prices are still of use to a window that began before midnight; older ones are not.
KEEP_S: Final = 48 * HOUR_S


def merged(older: ForecastAnswer | None, newer: ForecastAnswer, now: int) -> ForecastAnswer:
    """Return `newer` with the periods that it no longer contains: settled prices are facts, and stay known.

    What is too old to be of use is dropped, by the household's clock: `now` (UTC seconds), whatever the server takes
    for now. Of the older forecasts only those of periods that have begun stay, by either clock: a server forecasts
    strictly future periods, and the current one may not be published. But one whose clock is behind takes none away.
    """
    if older and older.step_s != newer.step_s:
        older = None  # hours and quarters do not mix
    began = max(now, newer.now) if newer.now >= now - HOUR_S else inf
    begun = {start: band for start, band in older.forecast.items() if start <= began} if older else {}
    forecast = {**begun, **newer.forecast}
    known = replace(newer, forecast={start: forecast[start] for start in sorted(forecast) if start >= now - KEEP_S})
    return with_settled(known, {**(older.settled if older else {}), **newer.settled}, now)


def with_settled(known: ForecastAnswer, settled: Mapping[int, float], now: int) -> ForecastAnswer:
    """Return what is known with these settled prices too, without those that are too old at `now`.

    Prices are in EUR/MWh, by the start of their period.
    """
    both = {**known.settled, **settled}
    return replace(known, settled={start: both[start] for start in sorted(both) if start >= now - KEEP_S})


def timeline_of(answer: ForecastAnswer, tariff: Tariff) -> Timeline:
    """Return the household's prices; where a price is settled its forecast does not count."""
    predicted = {start: band for start, band in answer.forecast.items() if start not in answer.settled}
    return Timeline(
        answer.step_s,
        [
            *(
                _settled(start, start + answer.step_s, tariff.price(eur_mwh, start))
                for start, eur_mwh in answer.settled.items()
            ),
            *(_predicted(start, start + answer.step_s, band, tariff) for start, band in predicted.items()),
        ],
    )


def _settled(start: int, end: int, price: float) -> Period:
    return Period(start, end, price, price, price, settled=True)


def _predicted(start: int, end: int, band: Band, tariff: Tariff) -> Period:
    p10, p50, p90 = (tariff.price(eur_mwh, start) for eur_mwh in (band.p10, band.p50, band.p90))
    return Period(start, end, p50, p10, p90, settled=False)
