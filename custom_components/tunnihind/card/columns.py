"""Prices of many periods in a compact form, with one list for each kind of value.

All lists except `charges` contain one item for each period. Period `i` begins `i * step` seconds after `start` (UTC
seconds). An unknown value is None.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles
from typing import Final, TypedDict

from ..core.levels import COLOURS, Level, colour, levels
from ..core.market import Market
from ..core.tariff import Charges, Tariff
from ..household.prices_now import PricesNow
from ..prices.days import day_at
from ..prices.scale import household_scale
from ..prices.timeline import Timeline, is_day_covered

_MARKET_DECIMALS: Final = 5
_PART_DECIMALS: Final = 6
_LEVEL_NUMBERS: Final = {level: place for place, level in enumerate(Level)}


class PriceColumns(TypedDict):
    """The prices of consecutive periods. Prices are in EUR/kWh.

    `step` is the length of a period in seconds: 3600 or 900. Each item of `price` is a settled price, the median of a
    forecast, or None. `low` and `high` are the 10th and the 90th percentile of a forecast. For a settled or unknown
    price, `low` and `high` are None.
    """

    start: int
    step: int
    price: list[float | None]
    low: list[float | None]
    high: list[float | None]


class HouseholdColumns(PriceColumns):
    """The household's prices with VAT for each hour or each quarter-hour.

    `level` is the level of a price, from 0 for very_low to 4 for very_high. If the household chose levels by the hour,
    all four quarters of an hour have the same level. If any price of a day is unknown, all levels of the day are None.

    `tint` is the number of a price's colour: from 0 for cheap to 4 for expensive, and 5 for a price below zero. The
    bounds between the colours are computed from market prices that the server sends. If the server sends no such
    prices, `has_scale` is false, and the bounds divide the values of `price` into five groups of about equal size.
    Only with `has_scale`, the card calls prices cheap or expensive.

    `market` is the market price in EUR/kWh without VAT, as it is billed: the settled price or the forecast's median.

    `charges` lists each set of fees once, even if the set applies in several periods. Each set in `charges` maps the
    names of fees to their amounts in EUR/kWh. The names of fees are margin, balancing, network, renewable, security and
    excise. Fees of zero are left out. A fee includes VAT only if the household entered the fee with VAT. For each
    period, `charged` contains the index of the period's set in `charges`. The part of `price` that is neither in
    `market` nor in a fee is VAT.
    """

    level: list[int | None]
    tint: list[int | None]
    has_scale: bool
    market: list[float | None]
    charged: list[int | None]
    charges: list[dict[str, float]]


def household_columns(prices: PricesNow, tariff: Tariff, start: int, end: int) -> HouseholdColumns | None:
    """Return the household's prices from `start` to `end` (UTC seconds), or None if none of them is known."""
    paid = price_columns(prices.timeline, start, end)
    if paid is None:
        return None
    charges: list[dict[str, float]] = []
    charged: list[int | None] = []
    market: list[float | None] = []
    answer = prices.answer if prices.answer.step_s == paid["step"] else prices.answer.with_hourly_prices()
    level_of = _level_lookup(prices.zone, prices.level_prices, start, end)
    for instant, price in _starts_and_prices(paid):
        added, eur_mwh = tariff.charges(instant), None if price is None else answer.market_price(instant)
        market.append(None if eur_mwh is None else round(added.market_part(eur_mwh), _MARKET_DECIMALS))
        charged.append(None if price is None else _index_or_append(charges, _fee_amounts(added)))
    return HouseholdColumns(
        **paid,
        level=[None if price is None else level_of(instant) for instant, price in _starts_and_prices(paid)],
        tint=_tints(paid, prices.price_scale, tariff),
        has_scale=bool(prices.price_scale),
        market=market,
        charged=charged,
        charges=charges,
    )


def price_columns(timeline: Timeline, start: int, end: int) -> PriceColumns | None:
    """Return the prices from `start` to the last known price before `end` (UTC seconds).

    If no price from `start` to `end` is known, return None.
    """
    periods = timeline.periods_between(start, end)
    if not periods:
        return None
    by_start = {period.start: period for period in periods}
    known = [by_start.get(instant) for instant in range(start, periods[-1].end, timeline.step_s)]
    return PriceColumns(
        start=start,
        step=timeline.step_s,
        price=[period.price if period else None for period in known],
        low=[period.low if period and not period.settled else None for period in known],
        high=[period.high if period and not period.settled else None for period in known],
    )


def _level_lookup(zone: Market, timeline: Timeline, start: int, end: int) -> Callable[[int], int | None]:
    """Return a function that returns the price level (0 to 4) at an instant from `start` to `end` (UTC seconds).

    If any price of the instant's day is unknown, the price level is None.
    """
    places: dict[int, int] = {}
    day = day_at(zone, start)
    while day.start < end:
        periods = timeline.periods_between(day.start, day.end)
        if is_day_covered(day, periods):
            places |= {
                period.start: _LEVEL_NUMBERS[level]
                for period, level in zip(periods, levels([period.price for period in periods]), strict=True)
            }
        day = day_at(zone, day.end)
    return lambda instant: places.get(instant - instant % timeline.step_s)


def _tints(paid: PriceColumns, scale: Sequence[float], tariff: Tariff) -> list[int | None]:
    """Return the number of each price's colour, as described in `HouseholdColumns`.

    `scale` contains the market prices in EUR/MWh from which the bounds between the colours are computed. Fees change
    over time, so a market price may have a different household price in each period. `household_scale` says how the
    bounds take this into account.
    """
    known = {instant: price for instant, price in _starts_and_prices(paid) if price is not None}
    bounds: Sequence[float] = household_scale(scale, tariff, known)
    if not bounds and len(known) > 1:
        bounds = quantiles(known.values(), n=COLOURS)
    return [None if price is None else colour(price, bounds) for price in paid["price"]]


def _starts_and_prices(columns: PriceColumns) -> Iterator[tuple[int, float | None]]:
    for place, price in enumerate(columns["price"]):
        yield columns["start"] + place * columns["step"], price


def _fee_amounts(charges: Charges) -> dict[str, float]:
    return {charge.part.value: round(charge.eur_kwh, _PART_DECIMALS) for charge in charges.charges if charge.eur_kwh}


def _index_or_append(charges: list[dict[str, float]], parts: dict[str, float]) -> int:
    if parts not in charges:
        charges.append(parts)
    return charges.index(parts)
