"""Decides what a battery does now, from the cheapest course of the days to come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core.market import DAY_S
from .battery import Battery, Course, Floats, Steps, Target
from .commands import Action, Command, commands_for, followed, hours_of
from .solver import cheapest_course

__all__ = ["WITHOUT_PLAN", "Action", "BatteryPlan", "battery_plan"]

WITHOUT_PLAN: Final = Action.STORE_SUN
"""What a battery does if no plan is possible, because prices, load or stored energy are unknown."""
_TOLERANCE_KWH: Final = 0.01


@dataclass(frozen=True, slots=True)
class BatteryPlan:
    """A battery's plan as of `made_at` (UTC seconds), with a command for each step.

    `saving` is in EUR, against a battery that does nothing. `saving_beyond_sun` is in EUR, against a battery that only
    stores the sun's surplus and covers the home's use. `end_worth` is in EUR per kWh stored at the end, before the loss
    of discharging. `changed` tells whether the actions differ from those of the plan before.
    """

    made_at: int
    steps: Steps
    course: Course
    commands: tuple[Command, ...]
    saving: float
    saving_beyond_sun: float
    end_worth: float
    changed: bool

    @property
    def action(self) -> Action:
        """What the battery does now."""
        return self.commands[0].action

    @property
    def power_kw(self) -> float:
        """The power of the present command in kW."""
        return self.commands[0].power_kw

    @property
    def until(self) -> int:
        """The end of the present action in UTC seconds."""
        return self.steps.end if self._run == len(self.commands) else int(self.steps.starts[self._run])

    @property
    def stored_kwh(self) -> float:
        """The energy stored at the end of the present action."""
        return float(self.course.stored_kwh[self._run - 1])

    @property
    def _run(self) -> int:
        """The number of steps with the present action."""
        others = (place for place, command in enumerate(self.commands) if command.action is not self.action)
        return next(others, len(self.commands))


def battery_plan(
    battery: Battery,
    steps: Steps,
    stored_kwh: float,
    *,
    end_worth: float,
    targets: Sequence[Target] = (),
    last: BatteryPlan | None = None,
    threshold: float = 0.05,
) -> BatteryPlan:
    """Return the plan from the first step's start on.

    The actions of the `last` plan stay, unless other actions save at least `threshold` EUR more per day. They don't
    stay if the settings no longer allow them, or if they miss a target that other actions reach.
    """
    course = cheapest_course(battery, steps, stored_kwh, end_worth=end_worth, targets=targets)
    commands = commands_for(battery, steps, stored_kwh, course)
    changed = True
    if last is not None and last.steps.starts[0] <= steps.starts[0] < last.steps.end:
        kept, kept_commands = _continued(last, battery, steps, stored_kwh, end_worth, targets, course)
        gain = kept.cost - course.cost
        days = (steps.end - int(steps.starts[0])) / DAY_S
        misses = any(
            kept_at < best_at - _TOLERANCE_KWH for kept_at, best_at in _at_targets(steps, targets, kept, course)
        )
        allowed = all(command.is_allowed(battery) for command in kept_commands)
        if allowed and not misses and gain < threshold * days:
            course, commands, changed = kept, kept_commands, False
    idle = np.zeros(len(steps.starts)), np.full(len(steps.starts), stored_kwh)
    only_sun = [Command(Action.DISCHARGE, battery.discharge_kw)] * len(steps.starts)
    with_only_sun = followed(battery, steps, stored_kwh, only_sun)
    return BatteryPlan(
        int(steps.starts[0]),
        steps,
        course,
        commands,
        cost_of(battery, steps, *idle, end_worth) - course.cost,
        cost_of(battery, steps, *with_only_sun, end_worth) - course.cost,
        end_worth,
        changed,
    )


def cost_of(battery: Battery, steps: Steps, power_kw: Floats, stored_kwh: Floats, end_worth: float) -> float:
    """Return what the home pays for electricity and wear, less the worth of the energy stored at the end, in EUR.

    `power_kw` and `stored_kwh` are those of a `Course`.
    """
    grid_kw = steps.use_kw + power_kw
    prices = np.where(grid_kw > 0, steps.buying, steps.selling)
    paid = hours_of(steps) * (prices * grid_kw + battery.wear * np.maximum(-power_kw, 0))
    return float(paid.sum() - end_worth * stored_kwh[-1])


def _continued(
    last: BatteryPlan,
    battery: Battery,
    steps: Steps,
    stored_kwh: float,
    end_worth: float,
    targets: Sequence[Target],
    best: Course,
) -> tuple[Course, tuple[Command, ...]]:
    """Return the course of the last plan's commands, with the best course after its end."""
    known = int(np.searchsorted(steps.starts, last.steps.end))
    places = np.searchsorted(last.steps.starts, steps.starts[:known], "right") - 1
    commands = tuple(last.commands[place] for place in places)
    power, stored = followed(battery, _part(steps, 0, known), stored_kwh, commands)
    if known < len(steps.starts):
        later, from_kwh = _part(steps, known, len(steps.starts)), float(stored[-1])
        course = cheapest_course(battery, later, from_kwh, end_worth=end_worth, targets=targets)
        commands += commands_for(battery, later, from_kwh, course)
        power, stored = np.append(power, course.power_kw), np.append(stored, course.stored_kwh)
    cost = cost_of(battery, steps, power, stored, end_worth)
    return Course(power, stored, cost, best.worth_now), commands


def _part(steps: Steps, first: int, last: int) -> Steps:
    end = steps.end if last == len(steps.starts) else int(steps.starts[last])
    part = slice(first, last)
    return Steps(steps.starts[part], end, steps.buying[part], steps.selling[part], steps.use_kw[part])


def _at_targets(steps: Steps, targets: Sequence[Target], *courses: Course) -> Iterator[tuple[float, ...]]:
    """Yield the stored energy of the courses at each target, as far as the target asks for it."""
    ends = np.append(steps.starts[1:], steps.end)
    for target in targets:
        place = int(np.searchsorted(ends, target.at, "right")) - 1
        if 0 <= place < len(ends):
            yield tuple(min(float(course.stored_kwh[place]), target.stored_kwh) for course in courses)
