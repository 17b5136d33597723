"""A battery's cheapest course beside an independent solver (HiGHS): the same costs, and how much faster.

    uv run --no-sync python -m tests.benchmarks.bench_battery [--homes 2000] [--timed 50]

First, homes of 4 to 100 steps are compared. A home counts as different if the costs differ by more than half a cent and
by more than a thousandth of what the battery saves. Then homes of 672 quarters, a week, are planned by both in turn.
Their batteries may charge from the grid and sell: otherwise the binaries of HiGHS, for charging or discharging and for
buying or selling in each step, decide little. HiGHS stops at a gap of a ten-thousandth, or after 20 seconds. Times are
processor times.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import click
import numpy as np

from custom_components.tunnihind.battery.solver import cheapest_course, course_cost
from custom_components.tunnihind.core.market import QUARTER_S
from tests.support.battery.homes import Home, random_home
from tests.support.battery.independent import LACKING, least_cost

WEEK = 7 * 24 * 4
FIRST_TIMED = 1_000_000
"""The seed of the first week, far from the seeds of the compared homes."""
MOST_SECONDS = 20


def our_cost(home: Home) -> float:
    """Return the cost of our course in EUR, with what targets lack as the independent solver counts it."""
    course = cheapest_course(home.battery, home.steps, home.stored_kwh, end_worth=home.end_worth, targets=home.targets)
    return course.cost + LACKING * home.lacking(course.stored_kwh)


def their_cost(home: Home, **limits: float) -> float:
    """Return the cost by HiGHS in EUR."""
    return least_cost(
        home.battery, home.steps, home.stored_kwh, end_worth=home.end_worth, targets=home.targets, **limits
    )


def cost_of_rest(home: Home) -> float:
    """Return what the home pays if its battery does nothing."""
    rest = np.zeros(len(home.steps.starts))
    cost = course_cost(home.battery, home.steps, rest) - home.end_worth * home.stored_kwh
    return cost + LACKING * home.lacking(rest + home.stored_kwh)


def compare(homes: int) -> None:
    """Print how the costs of random homes differ."""
    differences, different = [], 0
    for seed in range(homes):
        home = random_home(seed)
        ours, theirs = our_cost(home), their_cost(home)
        differences.append(abs(ours - theirs))
        different += differences[-1] > max(0.005, 0.001 * (cost_of_rest(home) - theirs))
    click.echo(f"{homes} homes: {different} different, the greatest difference is {max(differences):.7f} EUR")


def timed_ms(cost: Callable[..., float], home: Home, **limits: float) -> tuple[float, float]:
    """Return a home's cost, and the processor time that it took in ms."""
    started = time.process_time()
    result = cost(home, **limits)
    return result, (time.process_time() - started) * 1000


def race(homes: int) -> None:
    """Print the times of both for weeks by the quarter."""
    our_times, their_times, differences = [], [], []
    for seed in range(FIRST_TIMED, FIRST_TIMED + homes):
        home = random_home(seed, WEEK, QUARTER_S)
        home = replace(home, battery=replace(home.battery, charges_from_grid=True, sells=True))
        ours, our_ms = timed_ms(our_cost, home)
        theirs, their_ms = timed_ms(their_cost, home, gap=1e-4, seconds=MOST_SECONDS)
        our_times.append(our_ms)
        their_times.append(their_ms)
        if np.isfinite(theirs):
            differences.append(ours - theirs)
    ratios = [theirs / ours for ours, theirs in zip(our_times, their_times, strict=True)]
    for name, times in (("ours", our_times), ("HiGHS", their_times)):
        click.echo(f"{name:<8}{statistics.median(times):10.1f} ms in the median, at most {max(times):10.1f} ms")
    click.echo(f"{statistics.median(ratios):.0f} times as fast in the median, at least {min(ratios):.0f} times")
    least, most = min(differences), max(differences)
    click.echo(f"HiGHS found {len(differences)} courses. Ours cost {least:+.5f} to {most:+.5f} EUR more")


@click.command(help=__doc__)
@click.option("--homes", default=2000, show_default=True, help="How many homes are compared.")
@click.option("--timed", default=50, show_default=True, help="How many weeks are timed.")
def main(homes: int, timed: int) -> None:
    """Compare and time."""
    if homes:
        compare(homes)
    if timed:
        race(timed)


if __name__ == "__main__":
    main()
