"""How long Home Assistant computes for a comparison of a past year, once readings and prices are there.

    uv run --no-sync python -m tests.benchmarks.bench_past_year

Use, sold energy and prices are made up. The contracts are compared once with the household's own rates and once with
each package. The solar home sells by the quarter-hour.
"""

import math
from collections.abc import Callable
from datetime import date
from functools import partial
from time import process_time
from typing import Final

import click
import numpy as np

from custom_components.tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, hourly_prices
from custom_components.tunnihind.core.rates import FEE_RATES, NETWORK_RATES, Package, Part
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from custom_components.tunnihind.prices.billing import Deductions, Resolution, SellingContract
from custom_components.tunnihind.worth.answer import battery_in_year, contracts_in_year
from custom_components.tunnihind.worth.past_year import PastYear
from custom_components.tunnihind.worth.question import Question

START, END = (ESTONIA.midnight(date(year, 11, 1)) for year in (2025, 2026))
FEES: Final = TariffRow(margin=0.0045, package=Package.VORK_2, parts_from_table=frozenset({Part.NETWORK, *FEE_RATES}))
QUESTION: Final = Question.from_mapping(
    {"energy": "bought", "fixed": 11, "cap": 15, "battery_capacity": 10, "battery_power": 5}
)


def past_year(billed_by: Resolution, sold_by: Resolution | None) -> PastYear:
    """Return a year in which the price has two waves a day, and falls below zero now and then."""
    chance = np.random.default_rng(1)
    quarters = {
        at: 80 + 60 * math.sin(4 * math.pi * at / DAY_S) + float(chance.normal(0, 40))
        for at in range(START, END, QUARTER_S)
    }
    prices = {QUARTER_S: quarters, HOUR_S: hourly_prices(quarters)}
    return PastYear(
        today=date(2026, 11, 29),
        start=START,
        end=END,
        bought={hour: chance.random() for hour in range(START, END, HOUR_S)},
        sold={hour: max(0.0, chance.random() - 0.6) for hour in range(START, END, HOUR_S)} if sold_by else None,
        market={one.step_s: prices[one.step_s] for one in (billed_by, sold_by) if one},
        tariff=Tariff(rows=[FEES]),
        billed_s=billed_by.step_s,
        selling=SellingContract(resolution=sold_by, deductions=(Deductions(margin=0.003),)) if sold_by else None,
    )


def contracts_of(year: PastYear) -> None:
    """Compare the contracts with all packages."""
    for package in (None, *NETWORK_RATES):
        contracts_in_year(year, QUESTION, package)


def seconds(work: Callable[[], object]) -> float:
    """Return the shortest of three times of the processor, so that other programs matter less."""
    times = []
    for _ in range(3):
        begun = process_time()
        work()
        times.append(process_time() - begun)
    return min(times)


@click.command(help=__doc__)
def main() -> None:
    """Print the seconds for each household."""
    for name, billed_by, sold_by in (
        ("by the hour", Resolution.HOUR, None),
        ("by the hour, with sun", Resolution.HOUR, Resolution.QUARTER),
        ("by the quarter, with sun", Resolution.QUARTER, Resolution.QUARTER),
    ):
        year = past_year(billed_by, sold_by)
        contracts = seconds(partial(contracts_of, year))
        battery = seconds(partial(battery_in_year, year, QUESTION))
        click.echo(f"{name:<26} contracts {contracts:6.2f} s   battery {battery:6.2f} s")


if __name__ == "__main__":
    main()
