"""Decides what a battery does now, from the cheapest course of the days to come."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .battery import Battery, Course, Floats, Steps, Target


class Action(StrEnum):
    """What a battery does in a step, in the order of an inverter's modes."""

    CHARGE = "charge"
    """Charges with the planned power, from the grid where the sun doesn't suffice."""
    STORE_SUN = "store_sun"
    """Stores surplus sun, and covers no use. It buys nothing and sells nothing that was stored."""
    HOLD = "hold"
    """Neither charges nor discharges."""
    DISCHARGE = "discharge"
    """Covers the home's use, and stores surplus sun."""
    SELL = "sell"
    """Discharges with the planned power, beyond the home's use."""


WITHOUT_PLAN: Final = Action.STORE_SUN
"""What a battery does if no plan is possible, because prices, load or stored energy are unknown."""


@dataclass(frozen=True, slots=True)
class Command:
    """What an inverter is told to do.

    `power_kw` (0 or above) is the power of `CHARGE` and `SELL`, and the greatest power of `STORE_SUN` and `DISCHARGE`.
    """

    action: Action
    power_kw: float


@dataclass(frozen=True, slots=True)
class BatteryPlan:
    """A battery's plan as of `made_at` (UTC seconds), with a command for each step.

    `action` applies until `until`, with `power_kw` (see `Command`) up to `stored_kwh`. `saving` is in EUR, against a
    battery that does nothing. `saving_beyond_sun` is in EUR, against a battery that only stores the sun's surplus and
    covers the home's use. `end_worth` is in EUR per kWh stored at the end, before the loss of discharging. `changed` is
    true if the plan has other actions than the plan before it.
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
        """The power of the present command."""
        return self.commands[0].power_kw

    @property
    def until(self) -> int:
        """The end of the present action."""
        raise NotImplementedError

    @property
    def stored_kwh(self) -> float:
        """The energy stored at the end of the present action."""
        raise NotImplementedError


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

    The actions of the `last` plan stay, unless other actions save at least `threshold` EUR more per day.
    """
    raise NotImplementedError


def followed(battery: Battery, steps: Steps, stored_kwh: float, commands: Sequence[Command]) -> tuple[Floats, Floats]:
    """Return what a battery does if it follows `commands`, one per step: its power and the energy stored at the end.

    The power in kW is positive while the battery charges. The stored energy (kWh) never leaves its limits by a command.
    """
    raise NotImplementedError
