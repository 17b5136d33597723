"""Computes the household price per kilowatt-hour from the market price, the fees and VAT."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final

from .market import ESTONIA, Market, rounded_price
from .network_clock import DAY_AND_NIGHT, DAY_RATE_TIMES, WITH_PEAKS, NetworkRatePeriod, RateTimes, network_rate_period
from .rates import FEE_RATES, NETWORK_RATES, DatedRate, NetworkRates, Package, Part, nearest_rate

_KWH_PER_MWH: Final = 1_000
_CENTS: Final = 100
# The cache has room for the charges of all quarter-hours in two weeks, because the card loads 13 days of past prices.
# If the cache had no limit, an import of past years would use a lot of memory.
_CHARGES_KEPT: Final = 14 * 96
# The supplier bills the margin and the balancing fee, and the network operator bills all other fees.
_BILLED_BY_SUPPLIER: Final = frozenset((Part.MARGIN, Part.BALANCING))


@dataclass(frozen=True, slots=True, kw_only=True)
class TariffRow:
    """The fees in EUR/kWh that are added to the market price from `valid_from` on.

    If `valid_from` is None, the fees have always applied. `vat_rate` is a fraction, or None if the default VAT rate
    applies. `package` determines the hours of each network rate. For the package `OWN`, the day rate applies in
    `day_rate_times`, and the night rate at all other times. If `negative_price_is_zero` is true, the supplier bills a
    negative market price as zero. For the parts in `parts_from_table`, the rates in
    `rates.json` replace the row's figures. `compared_with_invoice_on` is the day on which the household last compared
    the rates of `rates.json` with an invoice, or `valid_from` if the row began only after this comparison.
    """

    valid_from: date | None = None
    vat_rate: float | None = None
    package: Package = Package.OWN
    parts_from_table: frozenset[Part] = frozenset()
    compared_with_invoice_on: date | None = None
    day_rate_times: RateTimes = DAY_RATE_TIMES
    negative_price_is_zero: bool = False
    margin: float = 0.0
    balancing: float = 0.0
    network_day: float = 0.0
    network_night: float = 0.0
    network_peak: float = 0.0
    network_rest_day_peak: float = 0.0
    renewable: float = 0.0
    security: float = 0.0
    excise: float = 0.0
    other: float = 0.0

    @property
    def network_rates(self) -> NetworkRates:
        """The household's own network rates in EUR/kWh."""
        return NetworkRates(
            day=self.network_day,
            night=self.network_night,
            peak=self.network_peak,
            rest_day_peak=self.network_rest_day_peak,
        )

    def own_rate(self, part: Part) -> float:
        """Return the household's own rate in EUR/kWh for a part whose rate doesn't depend on the time of day."""
        figure: float = getattr(self, part)
        return figure


@dataclass(frozen=True, slots=True)
class Charge:
    """One part of the household price at one instant.

    `vat_rate` is the VAT rate on `eur_kwh` as a fraction. If `eur_kwh` already includes VAT, `vat_rate` is 0. If
    `eur_kwh` comes from `rates.json`, but `rates.json` has no rate for the date, `is_known` is false, and `eur_kwh` is
    the nearest known rate. `rate_period` is the class of hours of a network fee that differs by day and by night.
    """

    part: Part
    eur_kwh: float
    vat_rate: float
    is_known: bool = True
    rate_period: NetworkRatePeriod | None = None

    @property
    def vat(self) -> float:
        """The VAT in EUR/kWh that is added to `eur_kwh`."""
        return self.eur_kwh * self.vat_rate


@dataclass(frozen=True, slots=True)
class Charges:
    """All charges that are added to the market price at one instant.

    `vat_rate` is the VAT rate on the market price, as a fraction. `are_fees_entered` is false if the household's first
    row of fees applies only from a later date on. If `negative_price_is_zero` is true, a negative market price counts
    as zero.
    """

    vat_rate: float
    charges: tuple[Charge, ...]
    are_fees_entered: bool = True
    negative_price_is_zero: bool = False

    def market_part(self, eur_mwh: float) -> float:
        """Return the part of the household price that is the market price `eur_mwh` (EUR/MWh), in EUR/kWh."""
        return (max(eur_mwh, 0.0) if self.negative_price_is_zero else eur_mwh) / _KWH_PER_MWH

    def price(self, eur_mwh: float) -> float:
        """Return the household price in EUR/kWh for a market price in EUR/MWh. The result has 4 decimals."""
        return rounded_price(self.market_part(eur_mwh) * (1 + self.vat_rate) + self.fees)

    @property
    def fees(self) -> float:
        """The sum of all charges, with VAT, in EUR/kWh."""
        return sum(charge.eur_kwh + charge.vat for charge in self.charges)

    def vat(self, eur_mwh: float) -> float:
        """Return the VAT on the market price `eur_mwh` (EUR/MWh) and on the charges, in EUR/kWh.

        The result doesn't contain VAT that a charge already includes.
        """
        return self.market_part(eur_mwh) * self.vat_rate + sum(charge.vat for charge in self.charges)

    @property
    def unknown_parts(self) -> tuple[Part, ...]:
        """The parts that follow `rates.json`, but have no rate there for the date of the charges."""
        return tuple(charge.part for charge in self.charges if not charge.is_known)

    @property
    def are_known(self) -> bool:
        """True if no fee is missing at this instant, neither in the household's rows nor in `rates.json`."""
        return self.are_fees_entered and not self.unknown_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The fees and the VAT that a household pays on each date.

    `rows` are in the order of their dates. `zone` is the zone whose clock, VAT law and public holidays apply.
    `chosen_vat_rate` is the VAT rate that the server's operator chose for all dates, as a fraction. On dates without a
    row of fees, and for rows without a VAT rate, `chosen_vat_rate` applies, or the legal rate if `chosen_vat_rate` is
    None. If `fees_include_vat` is true, the figures of the rows include VAT. If `rates_on` is a day, the fees and the
    VAT of this day apply on all dates; each date still has its own day, night and peak hours.
    """

    zone: Market = ESTONIA
    chosen_vat_rate: float | None = None
    rows: Sequence[TariffRow] = ()
    fees_include_vat: bool = False
    rates_on: date | None = None
    # The charges of a period are cached, because the same charges are added to all three percentiles of a forecast.
    _charges_at: dict[int, Charges] = field(default_factory=dict, init=False, repr=False, compare=False)

    def price(self, eur_mwh: float, start: int) -> float:
        """Return the household price in EUR/kWh for the period that starts at `start` (UTC seconds).

        `eur_mwh` is the market price. The result has 4 decimals. If `rates.json` has no rate for the date, the nearest
        known rate applies, so that devices always get a price.
        """
        return self.charges(start).price(eur_mwh)

    def known_price(self, eur_mwh: float, start: int) -> float | None:
        """Return the household price in EUR/kWh for the period that starts at `start` (UTC seconds).

        If `charges(start).are_known` is false, return None, because statistics contain only known prices.
        """
        charges = self.charges(start)
        return charges.price(eur_mwh) if charges.are_known else None

    def charges(self, start: int) -> Charges:
        """Return the charges for the period that starts at `start` (UTC seconds)."""
        if start not in self._charges_at:
            if len(self._charges_at) >= _CHARGES_KEPT:
                self._charges_at.clear()
            self._charges_at[start] = self._compute_charges(start)
        return self._charges_at[start]

    def _compute_charges(self, start: int) -> Charges:
        wall = self.zone.local_time(start)
        day = self.rates_on or wall.date()
        row = self._row_on(day)
        vat_rate = self._vat_rate(row, day)
        if row is None:
            return Charges(vat_rate, (), are_fees_entered=not self.rows)
        network_vat_rate = self._vat_rate(row, day, on_network=True)
        rates = {part: vat_rate if part in _BILLED_BY_SUPPLIER else network_vat_rate for part in Part}
        return Charges(
            vat_rate,
            tuple(self._charge(part, row, wall, day, rates[part]) for part in Part),
            negative_price_is_zero=row.negative_price_is_zero,
        )

    def table_rates(self, day: date) -> dict[Part, DatedRate[NetworkRates] | DatedRate[float]]:
        """Return the rate of `rates.json` that is used on `day` for each part of the price that follows the table.

        If the table has no rate of a part for `day`, the nearest rate is used.
        """
        row = self._row_on(day)
        if row is None:
            return {}
        return {
            part: nearest_rate(NETWORK_RATES[row.package], day)
            if part is Part.NETWORK
            else nearest_rate(FEE_RATES[part], day)
            for part in Part
            if part in row.parts_from_table
        }

    def outdated_parts(self, day: date) -> tuple[Part, ...]:
        """Return the parts of the price that use an outdated rate of `rates.json` on `day`."""
        row = self._row_on(day)
        compared_on = row.compared_with_invoice_on if row else None
        return tuple(
            part
            for part, entry in self.table_rates(day).items()
            if entry.is_outdated_on(day, compared_with_invoice_on=compared_on)
        )

    def _row_on(self, day: date) -> TariffRow | None:
        """Return the row of fees that applies on `day`, or None if no row applies."""
        begun = [row for row in self.rows if row.valid_from is None or row.valid_from <= day]
        return begun[-1] if begun else None

    def default_vat_rate(self, day: date, *, on_network: bool = False) -> float:
        """Return the VAT rate, as a fraction, that applies on `day` if the row of fees states no VAT rate.

        `on_network` selects the rate on network and state fees, which may differ from the rate on electricity.
        """
        if self.chosen_vat_rate is not None:
            return self.chosen_vat_rate
        return self.zone.legal_vat_rate(day, on_network=on_network)

    def _vat_rate(self, row: TariffRow | None, day: date, *, on_network: bool = False) -> float:
        if row is not None and row.vat_rate is not None:
            return row.vat_rate
        return self.default_vat_rate(day, on_network=on_network)

    def _charge(self, part: Part, row: TariffRow, wall: datetime, day: date, vat_rate: float) -> Charge:
        if part is Part.NETWORK:
            return self._network_charge(row, wall, day, vat_rate)
        if part not in row.parts_from_table:
            return Charge(part, row.own_rate(part), self._added_vat_rate(vat_rate))
        entry = nearest_rate(FEE_RATES[part], day)
        return Charge(part, entry.rate / _CENTS, vat_rate, is_known=entry.applies_on(day))

    def _added_vat_rate(self, vat_rate: float) -> float:
        return 0.0 if self.fees_include_vat else vat_rate

    def _network_charge(self, row: TariffRow, wall: datetime, day: date, vat_rate: float) -> Charge:
        if row.package is Package.OWN:
            own_times = ((NetworkRatePeriod.DAY, row.day_rate_times),)
            period = network_rate_period(wall, self.zone.country, own_times)
        else:
            entry = nearest_rate(NETWORK_RATES[row.package], day)
            times = DAY_AND_NIGHT if entry.rate.peak is None else WITH_PEAKS
            period = network_rate_period(wall, self.zone.country, times)
            if Part.NETWORK in row.parts_from_table:
                return _network_charge(entry.rate, period, vat_rate, _CENTS, is_known=entry.applies_on(day))
        return _network_charge(row.network_rates, period, self._added_vat_rate(vat_rate))


def _network_charge(
    rates: NetworkRates, period: NetworkRatePeriod, vat_rate: float, per_euro: int = 1, *, is_known: bool = True
) -> Charge:
    """Return the network fee at a time in `period`. `rates` are in units of which a euro has `per_euro`."""
    named = None if rates.day == rates.night else period
    return Charge(Part.NETWORK, rates.rate_in(period) / per_euro, vat_rate, is_known=is_known, rate_period=named)
