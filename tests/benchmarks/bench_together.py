"""The time in Home Assistant's event loop of choosing the hours of plans together, over two days.

    uv run --no-sync python -m tests.benchmarks.bench_together [--homes 200]

Homes are random: two to four devices of 2 to 11 kW that need 2 to 16 hours each, behind one fuse or one at a time. For
half of the devices only the nights count. The second part decides about whole groups of plans by the quarter of an
hour, each as if its prices were new. Times are processor times.
"""

import math
import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final

import click

from custom_components.tunnihind.core.market import QUARTER_S
from custom_components.tunnihind.plans import group, solver
from custom_components.tunnihind.plans.group import Member, decided_together
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.together import StepJob, chosen_together
from tests.benchmarks.bench_plans import START, wavy

HOURS: Final = 48
POWERS: Final = (2_000, 2_300, 3_000, 3_700, 7_400, 11_000)
GROUP: Final[tuple[dict[str, Any], ...]] = (
    {"energy": 30, "power": 7.4, "split": True, "min_piece": 30, "deadline": "07:00:00"},
    {"energy": 12, "power": 3.7, "split": True, "deadline": "08:00:00"},
    {"duration": 180, "split": True, "power": 2},
    {"duration": 150, "power": 2.2, "earliest": "20:00:00", "deadline": "07:00:00"},
)


def random_home(random: Random, count: int) -> tuple[tuple[StepJob, ...], tuple[int, ...]]:
    """Return the jobs of a home, and its room in each hour."""
    prices = [0.1 + 0.06 * math.sin(hour / 3.8) + 0.03 * random.gauss(0, 1) for hour in range(HOURS)]
    is_one_at_a_time = random.random() < 0.5
    jobs = []
    for _ in range(count):
        watts, steps = random.choice(POWERS), random.randint(2, 16)
        least = min(random.choice([1, 1, 1, 2, 3, steps]), steps)
        is_night, ends = random.random() < 0.5, random.choice([24, HOURS])
        jobs.append(
            StepJob(
                costs=tuple(
                    round(price * watts * 1_000) if hour < ends and (not is_night or hour % 24 < 8) else None
                    for hour, price in enumerate(prices)
                ),
                steps=steps,
                power=1 if is_one_at_a_time else watts,
                min_piece=least,
                min_pause=random.choice([0, 0, 0, 2]),
                most_pieces=1 if least == steps else random.choice([None, None, 2, 3]),
                start_cost=random.choice([0, 0, 20_000]),
            )
        )
    limit = 1 if is_one_at_a_time else random.choice([11_000, 14_000, 17_000])
    return tuple(jobs), (limit,) * HOURS


def ms(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return (time.thread_time() - started) * 1000


@click.command(help=__doc__)
@click.option("--homes", default=200, show_default=True)
def main(homes: int) -> None:
    """Print a line for each number of devices, and one for whole groups."""
    random = Random(1)  # noqa: S311  not for secrets
    for count in (2, 3, 4):
        chosen = [random_home(random, count) for _ in range(homes)]
        times = sorted(ms(lambda home=home: chosen_together(*home)) for home in chosen)  # type: ignore[misc]
        best = sum(chosen_together(*home).is_best for home in chosen)
        click.echo(
            f"{count} devices: median {statistics.median(times):.1f} ms, 90 % {times[int(0.9 * homes)]:.1f} ms,"
            f" most {times[-1]:.1f} ms; known to be the best in {best} of {homes}"
        )
    prices = wavy(QUARTER_S)
    for limit_kw in (None, 11.0):
        times = []
        for minute in (0, 15, 30, 45) * 3:
            solver._best_ranges.cache_clear()
            chosen_together.cache_clear()
            group._decided_together.cache_clear()
            members = {
                place: Member(PlanSettings.from_mapping({**form, "group": "fuse"}), prices, None)
                for place, form in enumerate(GROUP)
            }
            times.append(ms(lambda: decided_together(members, limit_kw, START + minute * 60)))  # noqa: B023
        click.echo(f"a group of {len(GROUP)}, limit {limit_kw}: median {statistics.median(times):.1f} ms")


if __name__ == "__main__":
    main()
