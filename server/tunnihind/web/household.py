"""Lists the parts of a household's price, and makes remarks on the rates."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from tunnihind.core.rates import FEE_RATES, NETWORK_RATES, nearest_rate
from tunnihind.core.tariff import Tariff
from tunnihind.web.display import EUR_MWH_PER_CENT_KWH, Display, PricedPeriod
from tunnihind.web.texts import Texts

_PRICE_LIST_SINCE: Final = max(entries[-1].since for entries in NETWORK_RATES.values())
"""The day from which the newest network rates hold."""

_NEWEST_RATES_READ_SINCE: Final = min(
    entries[-1].source_read_on for entries in (*NETWORK_RATES.values(), *FEE_RATES.values())
)
"""The newest rates of the table were read from their sources on this day or later."""

_CENTS: Final = 100


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
    charges = tariff.charges(period.ts).charges
    yield texts("part.market"), _amount_text(market, display)
    for charge in charges:
        part = f"part.{charge.part}"
        name = texts(f"{part}.{charge.rate_period}" if charge.rate_period else part)
        if charge.eur_kwh:
            yield (
                name if charge.is_known else texts("part.nearest", part=name),
                _amount_text(charge.eur_kwh * _CENTS, display),
            )
    if rate := display.vat.rate_at(period.ts):
        vat = (market + sum(charge.eur_kwh for charge in charges) * _CENTS) * rate
        yield texts("part.vat", vat=texts.vat_percent(rate)), _amount_text(vat, display)


def _amount_text(cents: float, display: Display) -> str:
    """Write an amount in the reader's unit with three decimals.

    With two decimals, the parts would often not add up to the price.
    """
    if display.options.unit == "kwh":
        return display.texts.number(cents, 3)
    return display.texts.number(cents * EUR_MWH_PER_CENT_KWH, 3)


def _rate_remarks(tariff: Tariff, now: int, shown: Iterable[PricedPeriod], display: Display) -> Iterator[str]:
    if display.fee_kind == "own":
        return
    days = sorted({_zone_day(period.ts, display) for period in shown})
    today = _zone_day(now, display)
    yield from rate_remarks(tariff, days, today, display.texts, lambda cents: _amount_text(cents, display))


def rate_remarks(
    tariff: Tariff, days: Iterable[date], today: date, texts: Texts, amount_text: Callable[[float], str]
) -> Iterator[str]:
    """Yield remarks on the rates of a network package: how old they are, which are unknown on a day, which in doubt.

    `amount_text` writes an amount in c/kWh.
    """
    yield texts(
        "household.rates", since=texts.full_date(_PRICE_LIST_SINCE), read=texts.full_date(_NEWEST_RATES_READ_SINCE)
    )
    yield from unknown_rate_remarks(tariff, days, texts)
    for fee, entries in FEE_RATES.items():
        if (other := nearest_rate(entries, today).rate_of_other_source) is not None:
            yield texts("household.disputed", part=texts(f"part.{fee}"), rate=amount_text(other))


def unknown_rate_remarks(tariff: Tariff, days: Iterable[date], texts: Texts) -> Iterator[str]:
    """Yield remarks that name the parts of the price with a rate that is unknown on one of the days."""
    unknown = defaultdict[str, dict[str, None]](dict)
    for day in days:
        for part, entry in tariff.table_rates(day).items():
            if entry.until is not None and entry.until < day:
                unknown[texts("household.until", day=texts.full_date(entry.until))][texts(f"part.{part}")] = None
            elif day < entry.since:
                unknown[texts("household.since", day=texts.full_date(entry.since))][texts(f"part.{part}")] = None
    for bounds, parts in unknown.items():
        yield f"{', '.join(parts)}: {bounds}"


def _zone_day(ts: int, display: Display) -> date:
    """Return the calendar day in the zone's local time, because rates change at local midnight."""
    return display.market.local_time(ts).date()
