"""The sum of a household's fees by the hour, for the pages and their scripts. The amounts are without VAT."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from tunnihind.core.market import HOUR_S, floor_hour
from tunnihind.core.network_clock import NetworkRatePeriod
from tunnihind.core.tariff import Tariff

_EUR_MWH_PER_EUR_KWH: Final = 1000
_DECIMALS: Final = 4
"""Amounts in EUR/MWh are rounded to this many decimals. Rounding removes the errors of binary fractions."""


class SurchargeStep(NamedTuple):
    """An amount in EUR/MWh without VAT that is added to the market's price from `since` (unix seconds) on.

    `is_night_rate` is true if the amount contains the network's night rate.
    """

    since: int
    eur_mwh: float
    is_night_rate: bool


@dataclass(frozen=True, slots=True)
class Surcharge:
    """The amount that is added to the market's price. The amount may change from hour to hour.

    If `steps` is empty, nothing is added. The first step also applies before its start.
    """

    steps: tuple[SurchargeStep, ...] = ()

    def amount_at(self, ts: int) -> float:
        """Return the amount that is added to the market's price at an instant, in EUR/MWh without VAT."""
        step = self._step(ts)
        return step.eur_mwh if step else 0.0

    def is_night_rate_at(self, ts: int) -> bool:
        """Return whether the amount at an instant contains the network's night rate."""
        step = self._step(ts)
        return step is not None and step.is_night_rate

    def _step(self, ts: int) -> SurchargeStep | None:
        begun = bisect_right(self.steps, ts, key=attrgetter("since"))
        return self.steps[max(0, begun - 1)] if self.steps else None


NO_SURCHARGE: Final = Surcharge()


def tariff_surcharge(tariff: Tariff, first: int, last: int) -> Surcharge:
    """Return a tariff's surcharge for the hours from `first` to `last` (unix seconds)."""
    return Surcharge(tuple(_surcharge_steps(tariff, range(floor_hour(first), last + 1, HOUR_S))))


def _surcharge_steps(tariff: Tariff, hours: range) -> Iterator[SurchargeStep]:
    by_hour = (_surcharge_step(tariff, hour) for hour in hours)
    for _, same in groupby(by_hour, key=itemgetter(1, 2)):
        yield next(same)


def _surcharge_step(tariff: Tariff, hour: int) -> SurchargeStep:
    charges = tariff.charges(hour).charges
    eur_mwh = round(sum(charge.eur_kwh for charge in charges) * _EUR_MWH_PER_EUR_KWH, _DECIMALS)
    return SurchargeStep(hour, eur_mwh, any(charge.rate_period is NetworkRatePeriod.NIGHT for charge in charges))
