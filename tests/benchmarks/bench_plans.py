"""The time of plans in Home Assistant's event loop: all kinds, over seven days, at four instants of an hour.

    uv run --no-sync python -m tests.benchmarks.bench_plans [--rounds 20]

Each plan is solved as if its prices were new. The last line is the cost of a tick without new prices, the usual case.
With `--quarters` prices are by the quarter of an hour. Times are processor times.
"""

import math
import statistics
import time
from typing import Final

import click

from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from custom_components.tunnihind.plans import solver
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.timeline import Period, Timeline

HOURS: Final = 7 * 24
SETTLED: Final = 24
START: Final = 1_795_125_600
"""Midnight in Tallinn on a Friday."""
MINUTES: Final = (0, 15, 30, 45)
FORMS: Final[dict[str, dict[str, object]]] = {
    "the first plan": {"duration": 180},
    "one piece, expected": {"duration": 240, "horizon": "expected"},
    "night, cautious": {"duration": 120, "earliest": "22:00:00", "deadline": "07:00:00", "horizon": "cautious"},
    "split": {"duration": 180, "split": True},
    "split, expected": {"duration": 360, "split": True, "horizon": "expected", "deadline": "07:00:00"},
    "split in quarters": {"duration": 300, "split": True, "min_piece": 15, "horizon": "expected"},
    "split, capped": {"duration": 480, "split": True, "min_piece": 30, "price_cap": 15},
    "three days": {"duration": 600, "days": 3, "weekdays": ["fri"], "horizon": "expected"},
    "three days, split": {"duration": 720, "split": True, "days": 3, "weekdays": ["fri"], "horizon": "expected"},
    "the dearest there is": {
        "duration": 1440,
        "split": True,
        "min_piece": 15,
        "days": 3,
        "weekdays": ["fri"],
        "horizon": "cautious",
    },
    "by energy": {"energy": 40, "power": 7.4, "split": True, "min_piece": 30, "horizon": "expected"},
    "dearest": {"kind": "dearest", "duration": 180, "split": True},
    "below a price": {"kind": "below", "price_cap": 10, "horizon": "expected"},
    "more below a price": {"duration": 180, "split": True, "more_below": 10, "horizon": "expected"},
    "more, in quarters": {"duration": 180, "split": True, "min_piece": 15, "more_below": 10, "max_starts": 4},
    "seven days, more": {
        "duration": 600,
        "split": True,
        "min_piece": 15,
        "more_below": 10,
        "days": 7,
        "weekdays": ["fri"],
        "horizon": "expected",
    },
    "twice a day": {
        "duration": 90,
        "split": True,
        "min_piece": 15,
        "deadline": "06:00:00",
        "deadline_2": "18:00:00",
        "horizon": "expected",
    },
    "earlier": {"duration": 180, "tolerance": 1},
    "later, split": {"duration": 300, "split": True, "tolerance": 1, "prefer": "latest", "horizon": "expected"},
    "three starts": {"duration": 300, "split": True, "min_piece": 15, "max_starts": 3, "horizon": "expected"},
    "seven days, by energy": {
        "energy": 40,
        "power": 2.3,
        "split": True,
        "days": 7,
        "weekdays": ["fri"],
        "horizon": "expected",
    },
    "seven days, all of it": {
        "duration": 1440,
        "split": True,
        "min_piece": 15,
        "max_starts": 4,
        "tolerance": 1,
        "days": 7,
        "weekdays": ["fri"],
        "horizon": "expected",
    },
    "three days, all of it": {
        "duration": 1440,
        "split": True,
        "min_piece": 15,
        "max_starts": 4,
        "tolerance": 1,
        "days": 3,
        "weekdays": ["fri"],
        "horizon": "expected",
    },
}


def wavy(step_s: int) -> Timeline:
    """Return seven days of prices, all different: one settled day, then a forecast."""
    periods = []
    for start in range(START, START + HOURS * HOUR_S, step_s):
        number = (start - START) / HOUR_S
        price = round(0.1 + 0.06 * math.sin(number / 3.8) + 0.03 * math.sin(number * 2.1), 4)
        settled = number < SETTLED
        spread = 0.0 if settled else 0.02 + number / 2000
        periods.append(Period(start, start + step_s, price, price - spread, price + spread, settled=settled))
    return Timeline(step_s, periods)


def cost_ms(plan: PlanSettings, timeline: Timeline, now: int, rounds: int, *, new_prices: bool = True) -> float:
    """Return the median time of a decision."""
    times = []
    for _ in range(rounds):
        if new_prices:
            solver._best_ranges.cache_clear()
        started = time.thread_time()
        next_outcome(plan, timeline, now)
        times.append(time.thread_time() - started)
    return statistics.median(times) * 1000


@click.command(help=__doc__)
@click.option("--rounds", default=20, show_default=True)
@click.option("--quarters", is_flag=True, help="Prices by the quarter of an hour.")
def main(rounds: int, *, quarters: bool) -> None:
    """Print a line for each plan and one for all."""
    timeline = wavy(QUARTER_S if quarters else HOUR_S)
    totals = [0.0] * len(MINUTES)
    click.echo(f"{'ms, at minute':<24}" + "".join(f"{minute:>8}" for minute in MINUTES))
    plans = {name: PlanSettings.from_mapping(form) for name, form in FORMS.items()}
    for name, plan in plans.items():
        costs = [cost_ms(plan, timeline, START + minute * 60, rounds) for minute in MINUTES]
        totals = [total + cost for total, cost in zip(totals, costs, strict=True)]
        outcome = next_outcome(plan, timeline, START)
        pieces = f"{len(outcome.pieces)} pieces" if isinstance(outcome, Window) else outcome.reason
        click.echo(f"{name:<24}" + "".join(f"{cost:8.2f}" for cost in costs) + f"  {pieces}")
    click.echo(f"{f'all {len(plans)}':<24}" + "".join(f"{total:8.2f}" for total in totals))
    for plan in plans.values():
        next_outcome(plan, timeline, START)
    again = sum(cost_ms(plan, timeline, START + 15 * 60, rounds, new_prices=False) for plan in plans.values())
    click.echo(f"all {len(plans)} at minute 15, prices as before: {again:.2f} ms")


if __name__ == "__main__":
    main()
