"""Homes whose contracts are compared: cases for Python and for the page's script, which must give the same bills."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from typing import Final

from tunnihind.core.comparison import Offer, fees_today
from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from tunnihind.core.network_clock import RateTimes
from tunnihind.core.rates import FEE_RATES, Package
from tunnihind.core.tariff import Tariff, TariffRow

TODAY: Final = date(2026, 11, 29)
"""The day whose fees count in all cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedHome:
    """Use, market prices and the terms of contracts. The period lasts from `first` to before `last`."""

    first: date
    last: date
    use_step_s: int = HOUR_S
    billed_s: int = HOUR_S
    package: Package = Package.OWN
    negative_price_is_zero: bool = False
    own_rates: TariffRow | None = None
    """The household's own network rates, in place of a package's."""
    offer: Offer = field(default_factory=Offer)
    unpriced: frozenset[date] = frozenset()

    @property
    def fees(self) -> Tariff:
        """The fees of `TODAY` for all dates."""
        fees = fees_today(ESTONIA, self.package, TODAY, negative_price_is_zero=self.negative_price_is_zero)
        return fees if self.own_rates is None else replace(fees, rows=[self.own_rates])

    def _starts(self, step_s: int) -> range:
        return range(ESTONIA.midnight(self.first), ESTONIA.midnight(self.last), step_s)

    @property
    def use(self) -> Mapping[int, float]:
        """The kWh of each period, from 0.05 to 1."""
        per_hour = HOUR_S // self.use_step_s
        return {ts: (1 + ts // self.use_step_s * 7919 % 20) / 20 / per_hour for ts in self._starts(self.use_step_s)}

    @property
    def prices(self) -> Mapping[int, float]:
        """The market's prices, from -30 to 250 EUR/MWh."""
        return {
            ts: round(-30 + ts // self.billed_s * 104_729 % 28_000 / 100, 2)
            for ts in self._starts(self.billed_s)
            if ESTONIA.local_time(ts).date() not in self.unpriced
        }


_ALL: Final = Offer(margin=0.0045, spot_monthly=1.5, fixed=0.112, fixed_monthly=2.41, cap=0.15)

COMPARED_HOMES: Final[Mapping[str, ComparedHome]] = {
    "the market price alone": ComparedHome(first=date(2025, 3, 1), last=date(2025, 5, 1)),
    "all contracts over a change of clocks": ComparedHome(
        first=date(2025, 10, 1), last=date(2025, 12, 1), package=Package.VORK_2, offer=_ALL
    ),
    "quarters billed by the quarter": ComparedHome(
        first=date(2026, 3, 20),
        last=date(2026, 4, 10),
        use_step_s=QUARTER_S,
        billed_s=QUARTER_S,
        package=Package.VORK_4,
        offer=_ALL,
    ),
    "hours billed by the quarter": ComparedHome(
        first=date(2026, 1, 1), last=date(2026, 2, 1), billed_s=QUARTER_S, offer=_ALL, negative_price_is_zero=True
    ),
    "quarters billed by the hour, with peaks and Christmas": ComparedHome(
        first=date(2025, 12, 20), last=date(2026, 1, 10), use_step_s=QUARTER_S, package=Package.VORK_5, offer=_ALL
    ),
    "own network rates of a winter, in the evening and at night": ComparedHome(
        first=date(2025, 10, 20),
        last=date(2026, 1, 10),
        own_rates=TariffRow(
            network_day=0.061,
            network_night=0.024,
            day_rate_times=RateTimes(
                months=frozenset({11, 12, 1}),
                weekdays=frozenset(range(7)),
                starts=time(17),
                ends=time(1),
                on_holidays=True,
            ),
            parts_from_table=frozenset(FEE_RATES),
        ),
        offer=_ALL,
    ),
    "own network rates on working days": ComparedHome(
        first=date(2025, 12, 1),
        last=date(2026, 1, 2),
        own_rates=TariffRow(network_day=0.05, network_night=0.03, parts_from_table=frozenset(FEE_RATES)),
    ),
    "holidays of a summer": ComparedHome(
        first=date(2024, 6, 1), last=date(2024, 9, 1), package=Package.VORK_1, negative_price_is_zero=True
    ),
    "a month that lacks a day of prices": ComparedHome(
        first=date(2025, 1, 15), last=date(2025, 4, 2), unpriced=frozenset({date(2025, 2, 11)}), offer=_ALL
    ),
}
