"""Lists the parts of a household's price, and makes remarks on the rates."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from tunnihind.web.display import Display, PricedPeriod
from tunnihind.web.tariff import (
    EUR_MWH_PER_CENT_KWH,
    FEE_RATES,
    NEWEST_RATES_READ_SINCE,
    PRICE_LIST_SINCE,
    OwnTariff,
    Tariff,
    nearest_rate,
)


@dataclass(frozen=True, slots=True)
class HouseholdPrice:
    """The parts of the household price in the present period, and remarks on the rates.

    `parts` lists the name of each part and its amount in the reader's unit. Fees and VAT of zero are left out. Apart
    from rounding, the amounts add up to `total`.
    """

    when: str
    total: str
    parts: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]


def household_price(
    tariff: Tariff | None, current: PricedPeriod | None, shown: Iterable[PricedPeriod], now: int, display: Display
) -> HouseholdPrice | None:
    """Return the parts of a household's present price, and remarks on the rates.

    The remarks name the price list, the rates that are disputed at `now` (unix seconds), and the rates that are unknown
    on a day of `shown`. A household's own rates get no remarks. If `current` is None, return only the remarks. If
    `tariff` is None, return None.
    """
    if tariff is None:
        return None
    return HouseholdPrice(
        when=display.period_times(current.ts) if current else "",
        total=display.price_with_about(current) if current else "",
        parts=tuple(_price_parts(tariff, current, display)) if current else (),
        remarks=tuple(_rate_remarks(tariff, now, shown, display)),
    )


def _price_parts(tariff: Tariff, period: PricedPeriod, display: Display) -> Iterator[tuple[str, str]]:
    texts = display.texts
    market = period.eur_mwh / EUR_MWH_PER_CENT_KWH
    fees = tariff.part_amounts(period.ts)
    unknown = {rate.part for rate in tariff.unknown_rates(_zone_day(period.ts, display))}
    yield texts("part.market"), _amount_text(market, display)
    for part, cents in fees.items():
        rate_period = tariff.network_rate_period(period.ts) if part == "network" else None
        name = texts(f"part.{part}.{rate_period}" if rate_period else f"part.{part}")
        if cents:
            yield texts("part.nearest", part=name) if part in unknown else name, _amount_text(cents, display)
    if rate := display.vat.rate_at(period.ts):
        vat = (market + sum(fees.values())) * rate
        yield texts("part.vat", vat=texts.vat_percent(rate)), _amount_text(vat, display)


def _amount_text(cents: float, display: Display) -> str:
    """Write an amount in the reader's unit with three decimals.

    With two decimals, the parts would often not add up to the price.
    """
    if display.options.unit == "kwh":
        return display.texts.number(cents, 3)
    return display.texts.number(cents * EUR_MWH_PER_CENT_KWH, 3)


def _rate_remarks(tariff: Tariff, now: int, shown: Iterable[PricedPeriod], display: Display) -> Iterator[str]:
    texts = display.texts
    if isinstance(tariff, OwnTariff):
        return
    yield texts(
        "household.rates", since=texts.full_date(PRICE_LIST_SINCE), read=texts.full_date(NEWEST_RATES_READ_SINCE)
    )
    unknown = defaultdict[str, list[str]](list)
    days = sorted({_zone_day(period.ts, display) for period in shown})
    for rate in dict.fromkeys(rate for day in days for rate in tariff.unknown_rates(day)):
        bounds = texts(f"household.{'until' if rate.is_after_bound else 'since'}", day=texts.full_date(rate.bound))
        unknown[bounds].append(texts(f"part.{rate.part}"))
    for bounds, parts in unknown.items():
        yield f"{', '.join(parts)}: {bounds}"
    for fee, entries in FEE_RATES.items():
        if (other := nearest_rate(entries, _zone_day(now, display)).disputed) is not None:
            yield texts("household.disputed", part=texts(f"part.{fee}"), rate=_amount_text(other, display))


def _zone_day(ts: int, display: Display) -> date:
    """Return the calendar day in the zone's local time, because rates change at local midnight."""
    return display.market.local_time(ts).date()
