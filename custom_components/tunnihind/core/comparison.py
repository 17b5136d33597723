"""Computes what past use would cost now under different contracts.

The page's script `contracts.js` computes the same, and tests run both on the same cases.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from .market import HOUR_S, Market
from .rates import FEE_RATES, Package, Part
from .tariff import Charges, Tariff, TariffRow

NO_PACKAGE: Final = "none"
"""Stands for a comparison without fees, where others have the name of a network package."""
_ALL_FEES: Final = frozenset({Part.NETWORK, *FEE_RATES})


def fees_today(zone: Market, package: Package, today: date, *, negative_price_is_zero: bool = False) -> Tariff:
    """Return the fees of `today` for all dates, without a margin.

    With the package `OWN`, there are no fees, only VAT. With any other package, the network, balancing and state fees
    of `rates.json` apply.
    """
    parts = frozenset[Part]() if package is Package.OWN else _ALL_FEES
    row = TariffRow(package=package, parts_from_table=parts, negative_price_is_zero=negative_price_is_zero)
    return Tariff(zone=zone, rows=[row], rates_on=today)


def household_today(tariff: Tariff, today: date) -> tuple[Tariff, float]:
    """Return a household's fees of `today` for all dates, and its margin in EUR/kWh without VAT.

    The fees don't contain the margin, because it belongs to the market price alone.
    """
    charges = replace(tariff, rates_on=today).charges(tariff.zone.midnight(today))
    margin = sum(one.eur_kwh + one.vat for one in charges.charges if one.part is Part.MARGIN)
    rows = [replace(row, margin=0.0) for row in tariff.rows]
    return replace(tariff, rows=rows, rates_on=today), margin / (1 + charges.vat_rate)


def with_package(tariff: Tariff, package: Package, today: date) -> Tariff:
    """Return a household's fees with the network rates of a package in `rates.json`, and all other fees as they are.

    If the household has entered no fees for `today`, the other fees are those of `rates.json` too.
    """
    has_fees = tariff.charges(tariff.zone.midnight(today)).charges
    rows = tariff.rows if has_fees else fees_today(tariff.zone, package, today).rows
    rows = [replace(row, package=package, parts_from_table=row.parts_from_table | {Part.NETWORK}) for row in rows]
    return replace(tariff, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The terms of the compared contracts, in EUR/kWh and EUR a month without VAT.

    `margin` and `spot_monthly` belong to the market price. `fixed` is a fixed price, and `fixed_monthly` its monthly
    fee. `cap` is the highest price, with the margin, of a capped contract. A contract whose `fixed` or `cap` is None is
    not compared. The contract half and half charges half of the use by the market price and half by `fixed`, with the
    monthly fee of the market price. A capped contract has this monthly fee too.
    """

    margin: float = 0.0
    spot_monthly: float = 0.0
    fixed: float | None = None
    fixed_monthly: float = 0.0
    cap: float | None = None


@dataclass(frozen=True, slots=True)
class Bills:
    """The energy in kWh, and the sum in EUR with VAT that each contract charges for it."""

    kwh: float = 0.0
    spot: float = 0.0
    fixed: float | None = None
    half: float | None = None
    capped: float | None = None

    def __add__(self, other: Bills) -> Bills:
        """Add the sums of two periods. A contract that has no sum in one of the periods keeps that of the other."""
        return Bills(
            self.kwh + other.kwh,
            self.spot + other.spot,
            _sum(self.fixed, other.fixed),
            _sum(self.half, other.half),
            _sum(self.capped, other.capped),
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """The bills of each month, such as `2025-03`, in the order of months, and the months that lack a market price."""

    months: Mapping[str, Bills] = field(default_factory=dict)
    months_without_price: tuple[str, ...] = ()

    @property
    def total(self) -> Bills:
        """The sum of all months."""
        return sum(self.months.values(), start=Bills())


def compare_contracts(
    use: Mapping[int, float],
    use_step_s: int,
    prices: Mapping[int, float],
    tariff: Tariff,
    offer: Offer,
    *,
    billed_s: int = HOUR_S,
) -> Comparison:
    """Return what the contracts of `offer` charge for past use, by calendar month in the zone's local time.

    `use` maps starts of periods of `use_step_s` seconds to kWh. `prices` maps starts of periods of `billed_s` seconds
    to market prices in EUR/MWh. Starts are UTC seconds. The steps are 900 or 3600. If a month has use in a period
    without a price, the month is left out. A monthly fee is charged in full for each month that counts.
    """
    months: dict[str, Bills] = {}
    unpriced: set[str] = set()
    part_s = min(use_step_s, billed_s)
    parts = use_step_s // part_s
    for start in sorted(use):
        month = f"{tariff.zone.local_time(start):%Y-%m}"
        for ts in range(start, start + use_step_s, part_s):
            eur_mwh = prices.get(ts - ts % billed_s)
            if eur_mwh is None:
                unpriced.add(month)
                continue
            charges = tariff.charges(ts)
            before = months[month] if month in months else _monthly_fees(charges, offer)
            months[month] = before + _bills(use[start] / parts, eur_mwh, charges, offer)
    whole = {month: bills for month, bills in months.items() if month not in unpriced}
    return Comparison(whole, tuple(sorted(unpriced)))


def _monthly_fees(charges: Charges, offer: Offer) -> Bills:
    spot, fixed = (fee * (1 + charges.vat_rate) for fee in (offer.spot_monthly, offer.fixed_monthly))
    has_fixed = offer.fixed is not None
    return Bills(
        0.0, spot, fixed if has_fixed else None, spot if has_fixed else None, spot if offer.cap is not None else None
    )


def _bills(kwh: float, eur_mwh: float, charges: Charges, offer: Offer) -> Bills:
    def cost(energy: float) -> float:
        return kwh * (energy * (1 + charges.vat_rate) + charges.fees)

    spot = charges.market_part(eur_mwh) + offer.margin
    return Bills(
        kwh,
        cost(spot),
        None if offer.fixed is None else cost(offer.fixed),
        None if offer.fixed is None else cost((spot + offer.fixed) / 2),
        None if offer.cap is None else cost(min(spot, offer.cap)),
    )


def _sum(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other
