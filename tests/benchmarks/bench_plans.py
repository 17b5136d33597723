"""What a household's plans cost Home Assistant's event loop: ten of them over 72 hours, at four instants of an hour.

    uv run --no-sync python -m tests.benchmarks.bench_plans [--rounds 20]

A plan is dearer to solve where now is not on the hour, because its windows may then begin on any quarter. Times are of
the processor.
"""

import math
import statistics
import time
from typing import Final

import click

from custom_components.tunnihind.plans.outcome import Decision
from custom_components.tunnihind.plans.plan import decide
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.timeline import HOUR_S, Period, Timeline

HOURS: Final = 72
SETTLED: Final = 24
START: Final = 1_795_125_600
"""Midnight in Tallinn of a Friday."""
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
}


def wavy() -> Timeline:
    """Return three days of prices with no two alike: a settled one, then a forecast."""
    hours = []
    for number in range(HOURS):
        start = START + number * HOUR_S
        price = round(0.1 + 0.06 * math.sin(number / 3.8) + 0.03 * math.sin(number * 2.1), 4)
        spread = 0.0 if number < SETTLED else 0.02 + number / 2000
        hours.append(Period(start, start + HOUR_S, price, price - spread, price + spread, settled=number < SETTLED))
    return Timeline(HOUR_S, hours)


def cost_ms(plan: PlanSettings, timeline: Timeline, now: int, rounds: int) -> float:
    """Return the median of what deciding takes."""
    times = []
    for _ in range(rounds):
        started = time.thread_time()
        decide(plan, timeline, now)
        times.append(time.thread_time() - started)
    return statistics.median(times) * 1000


@click.command(help=__doc__)
@click.option("--rounds", default=20, show_default=True)
def main(rounds: int) -> None:
    """Print a line for each plan and one for all."""
    timeline = wavy()
    totals = [0.0] * len(MINUTES)
    click.echo(f"{'ms, at minute':<24}" + "".join(f"{minute:>8}" for minute in MINUTES))
    for name, form in FORMS.items():
        plan = PlanSettings.from_mapping(form)
        costs = [cost_ms(plan, timeline, START + minute * 60, rounds) for minute in MINUTES]
        totals = [total + cost for total, cost in zip(totals, costs, strict=True)]
        outcome = decide(plan, timeline, START)
        pieces = f"{len(outcome.pieces)} pieces" if isinstance(outcome, Decision) else outcome.reason
        click.echo(f"{name:<24}" + "".join(f"{cost:8.2f}" for cost in costs) + f"  {pieces}")
    click.echo(f"{'all ten':<24}" + "".join(f"{total:8.2f}" for total in totals))


if __name__ == "__main__":
    main()
