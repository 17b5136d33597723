"""Reads a household's energy and the market's prices in the last twelve whole months."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from homeassistant.core import HomeAssistant

from ..coordinator import TunnihindCoordinator
from ..core.market import HOUR_S
from ..core.tariff import Tariff
from ..errors import Refusal
from ..past.recorder import check_recorder, energy_statistic_name, measured_energy
from ..prices.billing import SellingContract
from .question import ENERGY, SOLD, Question

_MONTHS: Final = 12

type Report = Callable[[float], None]
"""Takes which part of the work is done, from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastYear:
    """The last twelve whole months before `today`, from `start` to `end` (UTC seconds), and the household's contracts.

    `bought` and `sold` map the starts of hours to kWh. Hours without a reading are left out. If the household named no
    meter of sold energy, `sold` is None. `market` maps the lengths of periods in seconds to the market prices (EUR/MWh)
    by the start of each period. It has the length by which the household buys, and if sold energy or a battery counts,
    the one by which it sells.
    """

    today: date
    start: int
    end: int
    bought: Mapping[int, float]
    sold: Mapping[int, float] | None
    market: Mapping[int, Mapping[int, float]]
    tariff: Tariff
    billed_s: int
    selling: SellingContract | None

    @property
    def first_reading(self) -> int:
        """The start of the first hour with a reading, in UTC seconds."""
        return min(self.bought)

    @property
    def missing_hours(self) -> Mapping[str, int]:
        """The number of hours without a reading after the first one, by month such as `2025-03`."""
        missing: dict[str, int] = {}
        for hour in range(self.first_reading, self.end, HOUR_S):
            if hour not in self.bought:
                month = self.month_of(hour)
                missing[month] = missing.get(month, 0) + 1
        return missing

    @property
    def has_fees(self) -> bool:
        """Whether the household has entered fees that apply today."""
        return bool(self.tariff.charges(self.tariff.zone.midnight(self.today)).charges)

    def selling_price_at(self, start: int) -> float | None:
        """Return what a sold kWh would earn in EUR from `start` (UTC seconds) on, by today's contract.

        A household that sells nothing earns nothing. If the market price is not known, return None.
        """
        if self.selling is None:
            return 0.0
        step_s = self.selling.resolution.step_s
        eur_mwh = self.market[step_s].get(start - start % step_s)
        return None if eur_mwh is None else self.selling.price(eur_mwh, self.tariff.zone.midnight(self.today))

    def month_of(self, instant: int) -> str:
        """Return the month of an instant, such as `2025-03`."""
        return f"{self.tariff.zone.local_time(instant):%Y-%m}"


async def read_past_year(
    hass: HomeAssistant, coordinator: TunnihindCoordinator, question: Question, report: Report
) -> PastYear:
    """Read the meters' statistics and the market prices.

    Raises Refusal if there is no recorder, if a statistic is missing or counts no energy, or if it has no reading in
    these months. Raises TunnihindError if a request for prices fails.
    """
    check_recorder(hass)
    zone = coordinator.zone
    today = zone.local_time(coordinator.clock.now()).date()
    months, this_month = _last_months(today), today.replace(day=1)
    start, end = zone.midnight(months[0]), zone.midnight(this_month)
    energy = {}
    for field, statistic in ((ENERGY, question.energy), (SOLD, question.sold)):
        if statistic is not None:
            await energy_statistic_name(hass, statistic, field=field)
            found = await measured_energy(hass, statistic, start, end, by_quarter=False)
            energy[field] = {hour: kwh for hour, kwh in found.by_hour.items() if start <= hour < end}
            if not energy[field]:
                raise Refusal(
                    "no_reading_in_year", field=field, id=statistic, start=f"{months[0]}", end=f"{this_month}"
                )
    billed_s, selling = coordinator.billing.billed_by.step_s, coordinator.selling_contract
    first = zone.local_time(min(energy[ENERGY])).date().replace(day=1)
    steps = {billed_s} | ({selling.resolution.step_s} if selling and (question.sold or question.battery) else set())
    wanted = [(step_s, month) for step_s in steps for month in months if month >= first]
    market: dict[int, dict[int, float]] = {step_s: {} for step_s, _ in wanted}
    for done, (step_s, month) in enumerate(wanted):
        report(done / len(wanted))
        market[step_s] |= await coordinator.market_history(step_s).prices_of_month(month)
    return PastYear(
        today=today,
        start=start,
        end=end,
        bought=energy[ENERGY],
        sold=energy.get(SOLD),
        market=market,
        tariff=coordinator.tariff,
        billed_s=billed_s,
        selling=selling,
    )


def _last_months(today: date) -> Sequence[date]:
    """Return the first days of the twelve months before that of `today`."""
    months = [divmod(today.year * _MONTHS + today.month - 1 - back, _MONTHS) for back in range(_MONTHS, 0, -1)]
    return [date(year, month + 1, 1) for year, month in months]
