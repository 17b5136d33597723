"""Random homes with a battery: prices, sun and use by the hour or the quarter, with all that a market may bring."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from custom_components.tunnihind.battery.battery import Battery, Floats, Steps, Target
from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S

START: Final = 1_795_125_600
"""Midnight in Tallinn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What a plan is made from."""

    battery: Battery
    steps: Steps
    stored_kwh: float
    end_worth: float
    targets: list[Target] = field(default_factory=list)

    def ends(self) -> list[int]:
        """Return the end of each step in UTC seconds."""
        return [*self.steps.starts[1:].tolist(), self.steps.end]

    def lacking(self, stored_kwh: Floats) -> float:
        """Return what the targets lack in kWh, if so much is stored at the end of each step."""
        ends = self.ends()
        return sum(max(0.0, target.stored_kwh - float(stored_kwh[ends.index(target.at)])) for target in self.targets)


def random_home(seed: int, count: int | None = None, step_s: int | None = None) -> Home:
    """Return a home with `count` steps. The first may be shorter than `step_s`, as a plan is made at any time.

    One home in six is paid more for selling than it pays for buying, at times. In one in three the network costs next
    to nothing, so that prices are often negative. One in three has a target.
    """
    random = np.random.default_rng(seed)
    step_s = step_s or int(random.choice([HOUR_S, QUARTER_S]))
    count = count or int(random.choice([4, 12, 23, 24, 25, 36, 48] if step_s == HOUR_S else [24, 48, 92, 96, 100]))
    starts = START + np.arange(count) * step_s
    end = START + count * step_s
    starts[0] += random.integers(0, step_s // 60) * 60
    hour = (starts - START) / HOUR_S % 24
    spot = _spot(random, hour, step_s)
    buying = 1.24 * spot + random.choice([0.07, 0.04, 0.0])
    selling = spot - 0.003
    if random.random() < 1 / 6:
        selling = buying + random.normal(0, 0.03, count)
    capacity = float(random.choice([3, 5, 10, 30]))
    lowest, highest = capacity * random.choice([0, 0.1, 0.3]), capacity * random.choice([0.8, 1])
    battery = Battery(
        charge_kw=float(random.choice([2, 3.6, 5])),
        discharge_kw=float(random.choice([2, 3.6, 5])),
        efficiency=float(random.choice([0.7, 0.85, 0.9, 0.95, 1])),
        wear=float(random.choice([0, 0.005, 0.03])),
        lowest_kwh=lowest,
        highest_kwh=highest,
        charges_from_grid=bool(random.random() < 0.8),
        sells=bool(random.random() < 0.8),
    )
    ends = [*starts[1:].tolist(), end]
    return Home(
        battery=battery,
        steps=Steps(starts, end, buying, selling, _use(random, hour)),
        stored_kwh=float(random.choice([lowest, highest, random.uniform(lowest, highest)])),
        end_worth=float(random.choice([0, 0.05, 0.1])),
        targets=[Target(int(random.choice(ends)), float(random.uniform(lowest, highest)))]
        if random.random() < 1 / 3
        else [],
    )


def _spot(random: np.random.Generator, hour: Floats, step_s: int) -> Floats:
    """Return prices in EUR/kWh: two peaks a day, days with much wind, and quarters that differ from their hour."""
    hours = (np.cumsum(hour * 0 + step_s) - step_s) // HOUR_S
    days = hours // 24
    level = random.normal(0.08, 0.05, int(days[-1]) + 1)[days.astype(int)]
    shape = 0.04 * np.sin((hour - 5) * np.pi / 6)
    noise = random.normal(0, 0.025, int(hours[-1]) + 1)[hours.astype(int)]
    spot = level + shape + noise
    if step_s < HOUR_S:
        spot += random.normal(0, 0.01, len(hour))
    return np.asarray(spot)


def _use(random: np.random.Generator, hour: Floats) -> Floats:
    """Return a home's mean use in kW less its sun's power."""
    load = (0.3 + 0.5 * np.exp(-(((hour - 19) / 2.5) ** 2))) * random.gamma(4, 0.25, len(hour))
    clear = np.clip(np.sin((hour - 6) * np.pi / 12), 0, None)
    sun = random.choice([0, 5, 10]) * clear * random.uniform(0.1, 0.8) * random.uniform(0.7, 1, len(hour))
    return np.asarray(load - sun)
