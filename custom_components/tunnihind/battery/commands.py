"""What an inverter is told to do, and what the battery then does under the home's actual use."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from ..core.market import HOUR_S
from .battery import Battery, Course, Floats, Steps

_TOLERANCE_KW: Final = 0.001
_TOLERANCE_KWH: Final = 0.001


class Action(StrEnum):
    """What a battery does in a step, in the order of an inverter's modes."""

    CHARGE = "charge"
    """Charges with the planned power, from the grid where the sun doesn't suffice."""
    STORE_SUN = "store_sun"
    """Stores surplus sun, and covers no use."""
    HOLD = "hold"
    """Neither charges nor discharges."""
    DISCHARGE = "discharge"
    """Covers the home's use, and stores surplus sun."""
    SELL = "sell"
    """Discharges with the planned power, beyond the home's use."""


@dataclass(frozen=True, slots=True)
class Command:
    """What an inverter is told to do.

    `power_kw` (0 or above) is the power of `CHARGE` and `SELL`, and the greatest power at which `STORE_SUN` stores and
    `DISCHARGE` covers the use.
    """

    action: Action
    power_kw: float

    def is_allowed(self, battery: Battery) -> bool:
        """Return whether the household allows the action."""
        return {Action.CHARGE: battery.charges_from_grid, Action.SELL: battery.sells}.get(self.action, True)


def hours_of(steps: Steps) -> Floats:
    """Return the length of each step in hours."""
    return np.diff(steps.starts, append=steps.end) / HOUR_S


def followed_power(battery: Battery, command: Command, use_kw: float, stored_kwh: float, hours: float) -> float:
    """Return the battery's mean power in kW over a step of some `hours`. It is positive while the battery charges.

    `use_kw` is the home's actual use less the sun's power, and `stored_kwh` the energy stored at the start. The power
    stays within the battery's limits.
    """
    match command.action:
        case Action.CHARGE:
            wanted = command.power_kw
        case Action.STORE_SUN:
            wanted = min(max(-use_kw, 0.0), command.power_kw)
        case Action.HOLD:
            wanted = 0.0
        case Action.DISCHARGE:
            wanted = -min(use_kw, command.power_kw)
        case Action.SELL:
            wanted = -command.power_kw
    if wanted > 0:
        return min(wanted, battery.charge_kw, _room_kw(battery, stored_kwh, hours))
    return -min(-wanted, battery.discharge_kw, _left_kw(battery, stored_kwh, hours))


def followed(battery: Battery, steps: Steps, stored_kwh: float, commands: Sequence[Command]) -> tuple[Floats, Floats]:
    """Return what a battery does if it follows a command in each step: its power, and the energy stored at the end.

    The power in kW is positive while the battery charges, and the energy is in kWh. Both have one value per step.
    """
    powers, course = [], []
    for command, use_kw, hours in zip(commands, steps.use_kw.tolist(), hours_of(steps).tolist(), strict=True):
        power = followed_power(battery, command, use_kw, stored_kwh, hours)
        stored_kwh += stored_by(battery, power) * hours
        powers.append(power)
        course.append(stored_kwh)
    return np.array(powers), np.array(course)


def stored_by(battery: Battery, power_kw: float) -> float:
    """Return the power in kW with which the stored energy grows while the battery has `power_kw` at its terminals."""
    one_way = math.sqrt(battery.efficiency)
    return power_kw * one_way if power_kw > 0 else power_kw / one_way


def commands_for(battery: Battery, steps: Steps, stored_kwh: float, course: Course) -> tuple[Command, ...]:
    """Return the commands that follow `course` if the home uses what is expected.

    Where the use may differ, the worth of stored energy tells what to do with a surplus and whether to cover a use. It
    stays as it is now until the battery is full or empty.
    """
    one_way = math.sqrt(battery.efficiency)
    starts = np.concatenate(([stored_kwh], course.stored_kwh[:-1]))
    bound = (course.stored_kwh <= battery.lowest_kwh + _TOLERANCE_KWH) | (
        course.stored_kwh >= battery.highest_kwh - _TOLERANCE_KWH
    )
    same_worth = int(np.argmax(bound)) if bound.any() else len(bound)
    has_sun = bool((steps.use_kw < 0).any())
    found = []
    for place, hours in enumerate(hours_of(steps).tolist()):
        stored = float(starts[place])
        command = _command(battery, float(course.power_kw[place]), float(steps.use_kw[place]), stored, hours)
        if place <= same_worth:
            covers = stored > battery.lowest_kwh + _TOLERANCE_KWH and course.worth_now < one_way * (
                float(steps.buying[place]) - battery.wear
            )
            stores = has_sun and course.worth_now * one_way > steps.selling[place]
            if command.action is Action.HOLD and stores and steps.use_kw[place] >= 0:
                command = Command(Action.STORE_SUN, battery.charge_kw)
            elif command == Command(Action.STORE_SUN, battery.charge_kw) and covers:
                command = Command(Action.DISCHARGE, min(battery.discharge_kw, _left_kw(battery, stored, hours)))
        found.append(command)
    return tuple(found)


def _command(battery: Battery, power_kw: float, use_kw: float, stored_kwh: float, hours: float) -> Command:
    surplus = max(-use_kw, 0.0)
    if power_kw > surplus + _TOLERANCE_KW:
        return Command(Action.CHARGE, power_kw)
    if power_kw > _TOLERANCE_KW:
        stores_all = power_kw >= min(surplus, _room_kw(battery, stored_kwh, hours)) - _TOLERANCE_KW
        return Command(Action.STORE_SUN, battery.charge_kw if stores_all else power_kw)
    if power_kw >= -_TOLERANCE_KW:
        return Command(Action.HOLD, 0.0)
    if -power_kw > max(use_kw, 0.0) + _TOLERANCE_KW:
        return Command(Action.SELL, -power_kw)
    left = _left_kw(battery, stored_kwh, hours)
    covers_all = -power_kw >= min(use_kw, left) - _TOLERANCE_KW
    return Command(Action.DISCHARGE, min(battery.discharge_kw, left) if covers_all else -power_kw)


def _room_kw(battery: Battery, stored_kwh: float, hours: float) -> float:
    return max(battery.highest_kwh - stored_kwh, 0.0) / math.sqrt(battery.efficiency) / hours


def _left_kw(battery: Battery, stored_kwh: float, hours: float) -> float:
    return max(stored_kwh - battery.lowest_kwh, 0.0) * math.sqrt(battery.efficiency) / hours
