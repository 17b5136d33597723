"""Answers the question: what the past year would cost with each contract and package, and what a battery would save."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from homeassistant.core import HomeAssistant

from ..coordinator import TunnihindCoordinator
from ..core.comparison import Bills, Comparison, compare_contracts, household_today, with_package
from ..core.market import HOUR_S
from ..core.rates import Package, rate_table_of
from .battery import BatteryWorth, battery_worth
from .past_year import PastYear, Report, read_past_year
from .question import Question

# Reading takes about this part of the whole time. The rest is arithmetic.
_READING: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a past year would cost with today's fees, in EUR with VAT.

    `present` has the household's own network rates, and `packages` has the total with each package of the zone, while
    the household's other fees stay. `earned` is what the sold energy would earn in the hours with a market price.
    """

    question: Question
    year: PastYear
    present: Comparison
    packages: Mapping[Package, Bills]
    sold_kwh: float
    earned: float
    battery: BatteryWorth | None


async def answer_question(
    hass: HomeAssistant, coordinator: TunnihindCoordinator, question: Question, report: Report = lambda _: None
) -> Answer:
    """Read the past year and compute the answer. The arithmetic is done outside the event loop, part by part.

    Raises the errors of `read_past_year`.
    """
    year = await read_past_year(hass, coordinator, question, lambda part: report(part * _READING))
    packages = tuple(rate_table_of(coordinator.zone).packages)
    # The comparison with each package takes a part of the work, and so do the present one and the battery.
    parts = len(packages) + 2

    def done(count: int) -> None:
        report(_READING + (1 - _READING) * count / parts)

    present = await hass.async_add_executor_job(contracts_in_year, year, question, None)
    totals = {}
    for count, package in enumerate(packages, 1):
        done(count)
        totals[package] = (await hass.async_add_executor_job(contracts_in_year, year, question, package)).total
    done(parts - 1)
    battery = await hass.async_add_executor_job(battery_in_year, year, question)
    sold_kwh, earned = await hass.async_add_executor_job(_sold, year)
    return Answer(
        question=question,
        year=year,
        present=present,
        packages=totals,
        sold_kwh=sold_kwh,
        earned=earned,
        battery=battery,
    )


def contracts_in_year(year: PastYear, question: Question, package: Package | None) -> Comparison:
    """Compare the contracts with the household's own network rates, or with those of `package`."""
    fees, margin = household_today(year.tariff, year.today)
    if package:
        fees = with_package(fees, package, year.today)
    offer = replace(question.offer, margin=margin)
    return compare_contracts(year.bought, HOUR_S, year.market[year.billed_s], fees, offer, billed_s=year.billed_s)


def battery_in_year(year: PastYear, question: Question) -> BatteryWorth | None:
    """Return what the battery would have saved with the household's own contracts, or None if nobody asks."""
    if question.battery is None:
        return None
    tariff, sold = replace(year.tariff, rates_on=year.today), year.sold
    bought_at = year.market[year.billed_s]

    def prices_at(start: int) -> tuple[float, float] | None:
        eur_mwh, sold_at = bought_at.get(start - start % year.billed_s), year.selling_price_at(start)
        return None if eur_mwh is None or sold_at is None else (tariff.price(eur_mwh, start), sold_at)

    return battery_worth(
        question.battery,
        year.bought if sold is None else {hour: kwh - sold[hour] for hour, kwh in year.bought.items() if hour in sold},
        prices_at,
        min(year.market),
        has_sun=sold is not None,
        sells=year.selling is not None,
    )


def _sold(year: PastYear) -> tuple[float, float]:
    """Return the sold energy in kWh, and what it would earn in EUR."""
    kwh, earned = 0.0, 0.0
    for hour, sold in (year.sold or {}).items():
        starts = range(hour, hour + HOUR_S, min(year.market))
        prices = [price for start in starts if (price := year.selling_price_at(start)) is not None]
        if len(prices) == len(starts):
            kwh += sold
            earned += sold * sum(prices) / len(prices)
    return kwh, earned
