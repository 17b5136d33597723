"""Decides what a battery does now, from the cheapest course of the days to come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np

from .battery import Battery, Course, Steps, Target
from .commands import Action, Command, commands_for, followed, guarded
from .solver import cheapest_course, course_cost

__all__ = ["WITHOUT_PLAN", "Action", "BatteryPlan", "battery_plan"]

WITHOUT_PLAN: Final = Action.STORE_SUN
"""What a battery does if no plan is possible, because prices, load or stored energy are unknown."""
_TOLERANCE_KWH: Final = 0.01
_TOLERANCE_KW: Final = 1e-6
_LEAST_EUR: Final = 1e-6
"""A smaller gain is an error of rounding, and changes no plan."""


@dataclass(frozen=True, slots=True)
class Run:
    """Steps of a plan that follow one another and have the same action, from `start` to `end` (UTC seconds).

    `power_kw` is the mean power, negative while the battery discharges. `stored_kwh` is the energy stored at the end.
    """

    action: Action
    start: int
    end: int
    power_kw: float
    stored_kwh: float


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
        return next(self.runs).end

    @property
    def stored_kwh(self) -> float:
        """The energy stored at the end of the present action."""
        return next(self.runs).stored_kwh

    @property
    def runs(self) -> Iterator[Run]:
        """The plan in as few runs as possible."""
        times = [*map(int, self.steps.starts), self.steps.end]
        first = 0
        for action, same in groupby(command.action for command in self.commands):
            last = first + len(tuple(same))
            power_kw = np.average(self.course.power_kw[first:last], weights=self.steps.hours[first:last])
            yield Run(action, times[first], times[last], float(power_kw), float(self.course.stored_kwh[last - 1]))
            first = last


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

    The actions of the `last` plan stay, unless other actions save at least `threshold` EUR more. As plans are made
    anew all day, this costs up to about `threshold` a day. It is not multiplied by the days ahead: with a longer
    forecast, a plan would then follow new prices less. The actions don't stay if the settings no longer allow them, or
    if other actions come nearer to a target.
    """
    ahead = _Ahead(battery, steps, stored_kwh, end_worth, targets)
    commands, course = ahead.best()
    changed = True
    if last is not None and last.steps.starts[0] <= steps.starts[0] < last.steps.end:
        kept_commands, kept = ahead.continued(last, course.worth_now)
        if (
            all(command.is_allowed(battery) for command in kept_commands)
            and ahead.has_room(kept_commands)
            and ahead.lacking_kwh(kept) <= ahead.lacking_kwh(course) + _TOLERANCE_KWH
            and kept.cost - course.cost < max(threshold, _LEAST_EUR)
        ):
            commands, course, changed = kept_commands, kept, False
    nothing = [Command(Action.HOLD, 0.0)] * len(commands)
    only_sun = [Command(Action.DISCHARGE, battery.discharge_kw)] * len(commands)
    return BatteryPlan(
        made_at=int(steps.starts[0]),
        steps=steps,
        course=course,
        commands=(guarded(battery, commands[0], steps, stored_kwh), *commands[1:]),
        saving=ahead.followed(nothing, course.worth_now).cost - course.cost,
        saving_beyond_sun=ahead.followed(only_sun, course.worth_now).cost - course.cost,
        end_worth=end_worth,
        changed=changed,
    )


@dataclass(frozen=True, slots=True)
class _Ahead:
    """All that a plan knows."""

    battery: Battery
    steps: Steps
    stored_kwh: float
    end_worth: float
    targets: Sequence[Target]

    def best(self) -> tuple[tuple[Command, ...], Course]:
        course = cheapest_course(
            self.battery, self.steps, self.stored_kwh, end_worth=self.end_worth, targets=self.targets
        )
        return commands_for(self.battery, self.steps, self.stored_kwh, course), course

    def followed(self, commands: Sequence[Command], worth_now: float) -> Course:
        power_kw, stored_kwh = followed(self.battery, self.steps, self.stored_kwh, commands)
        cost = course_cost(self.battery, self.steps, power_kw) - self.end_worth * float(stored_kwh[-1])
        return Course(power_kw, stored_kwh, cost, worth_now)

    def continued(self, last: BatteryPlan, worth_now: float) -> tuple[tuple[Command, ...], Course]:
        """Return the last plan's commands from now on, and then the best ones."""
        known = int(np.searchsorted(self.steps.starts, last.steps.end))
        places = np.searchsorted(last.steps.starts, self.steps.starts[:known], "right") - 1
        commands = tuple(last.commands[place] for place in places)
        if known < len(self.steps.starts):
            _, stored = followed(self.battery, self.steps.part(0, known), self.stored_kwh, commands)
            rest = replace(self, steps=self.steps.part(known, len(self.steps.starts)), stored_kwh=float(stored[-1]))
            commands += rest.best()[0]
        return commands, self.followed(commands, worth_now)

    def has_room(self, commands: Sequence[Command]) -> bool:
        """Return whether the commands charge from the grid only as far as the plans of devices leave room."""
        charging = np.array([one.power_kw if one.action is Action.CHARGE else 0.0 for one in commands])
        return self.steps.room_kw is None or bool((charging <= self.steps.room_kw + _TOLERANCE_KW).all())

    def lacking_kwh(self, course: Course) -> float:
        """Return the energy by which the course misses its targets."""
        ends = np.append(self.steps.starts[1:], self.steps.end)
        lacking = 0.0
        for target in self.targets:
            if self.steps.starts[0] < target.at <= self.steps.end:
                place = max(int(np.searchsorted(ends, target.at, "right")) - 1, 0)
                lacking += max(target.stored_kwh - float(course.stored_kwh[place]), 0.0)
        return lacking
