"""Gives the comparison page's scripts the present fees, network hours and public holidays."""

from datetime import date, timedelta
from typing import Any, Final

from tunnihind.api.history import FIRST_MONTH
from tunnihind.core.comparison import NO_PACKAGE, fees_today
from tunnihind.core.market import QUARTERS_SINCE, Market
from tunnihind.core.network_clock import DAY_AND_NIGHT, WITH_PEAKS, NetworkRatePeriod, RateClock
from tunnihind.core.public_holidays import is_holiday
from tunnihind.core.rates import NETWORK_RATES, NetworkRates, Package, Part, nearest_rate, rate_table_of
from tunnihind.web.household import rate_remarks
from tunnihind.web.texts import Texts

_CENTS: Final = 100


def comparison_data(zone: Market, today: date, texts: Texts) -> dict[str, Any]:
    """Return the data that the page gives its scripts (the type `PageData` of `compare.js`)."""
    rates = comparison_rates(zone, today)
    said = texts.comparison_texts()
    return {
        "lang": texts.language,
        "today": today.isoformat(),
        "firstMonth": FIRST_MONTH,
        "quartersSince": f"{QUARTERS_SINCE:%Y-%m}",
        "rates": rates,
        "packageNames": {
            **{
                name: said[NO_PACKAGE] if name == NO_PACKAGE else texts(f"package.{name}") for name in rates["packages"]
            },
            Package.OWN: texts("compare.own"),
        },
        "decimal": texts.decimal_mark,
        "texts": said,
    }


def comparison_remarks(zone: Market, today: date, texts: Texts) -> list[str]:
    """Return what the page says about the fees: which are included, how old the rates are, and which are in doubt."""
    if not rate_table_of(zone).packages:
        return [texts("footer.fees.market")]
    unit = texts.comparison_texts()["cents"]
    return [
        texts("compare.honest.fees"),
        *rate_remarks(
            fees_today(zone, Package.VORK_1, today),
            [today],
            today,
            texts,
            lambda cents: f"{texts.number(cents, 3)} {unit}",
        ),
    ]


def comparison_rates(zone: Market, today: date) -> dict[str, Any]:
    """Return the rates of `today` as the script `contracts.js` needs them (its type `Rates`)."""
    packages = {NO_PACKAGE: {"fees": {NetworkRatePeriod.NIGHT: 0.0}, "clock": []}}
    packages |= {package: _package_fees(zone, package, today) for package in rate_table_of(zone).packages}
    first, last = date.fromisoformat(f"{FIRST_MONTH}-01"), date(today.year, 12, 31)
    days = (first + timedelta(days=n) for n in range((last - first).days + 1))
    return {
        "vat": zone.legal_vat_rate(today),
        "networkVat": zone.legal_vat_rate(today, on_network=True),
        "otherFees": _other_fees(zone, today),
        "packages": packages,
        "holidays": [day.isoformat() for day in days if is_holiday(day, zone.country)],
    }


def _package_fees(zone: Market, package: Package, today: date) -> dict[str, Any]:
    charges = fees_today(zone, package, today).charges(zone.midnight(today)).charges
    [network] = [charge for charge in charges if charge.part is Part.NETWORK]
    others = _other_fees(zone, today)
    rates = nearest_rate(NETWORK_RATES[package], today).rate
    clock = DAY_AND_NIGHT if rates.peak is None else WITH_PEAKS
    fees = {
        period: rates.rate_in(period) / _CENTS * (1 + network.vat_rate) + others
        for period in NetworkRatePeriod
        if _has(rates, period)
    }
    return {"fees": fees, "clock": _clock_document(clock)}


def _other_fees(zone: Market, today: date) -> float:
    """Return the balancing and state fees, which all packages have, in EUR/kWh with VAT. Other countries have none."""
    package = next(iter(rate_table_of(zone).packages), Package.OWN)
    charges = fees_today(zone, package, today).charges(zone.midnight(today)).charges
    return sum(charge.eur_kwh + charge.vat for charge in charges if charge.part is not Part.NETWORK)


def _has(rates: NetworkRates, period: NetworkRatePeriod) -> bool:
    return getattr(rates, period) is not None


def _clock_document(clock: RateClock) -> list[dict[str, Any]]:
    return [
        {
            "period": period,
            "months": sorted(times.months),
            "weekdays": sorted(times.weekdays),
            "starts": times.starts.hour,
            "ends": times.ends.hour,
            "onHolidays": times.on_holidays,
        }
        for period, times in clock
    ]
