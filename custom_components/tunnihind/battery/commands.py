"""What an inverter is told to do, and what the battery then does under the home's actual use."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np

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
    for command, use_kw, hours in zip(commands, steps.use_kw.tolist(), steps.hours.tolist(), strict=True):
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
    """Return the commands that follow `course` from `stored_kwh` on, if the home uses what is expected.

    The use may be other than expected. So the worth of stored energy tells whether a surplus is stored, and whether a
    use is covered, where neither is expected. It stays as it is now until the battery is full or empty.
    """
    one_way = math.sqrt(battery.efficiency)
    starts = np.append(stored_kwh, course.stored_kwh[:-1])
    is_empty = course.stored_kwh <= battery.lowest_kwh + _TOLERANCE_KWH
    is_full = course.stored_kwh >= battery.highest_kwh - _TOLERANCE_KWH
    has_same_worth = np.append(True, ~np.logical_or.accumulate(is_empty | is_full)[:-1])
    stores = has_same_worth & (course.worth_now * one_way > steps.selling) & (steps.use_kw < 0).any()
    covers = has_same_worth & (course.worth_now < (steps.buying - battery.wear) * one_way)
    by_step = zip(course.power_kw, steps.use_kw, starts, steps.hours, stores, covers, strict=True)
    return tuple(_command(battery, *map(float, values)) for values in by_step)


def guarded(battery: Battery, command: Command, steps: Steps, stored_kwh: float) -> Command:
    """Return the command for the first step without what would empty the reserve, whatever the home uses."""
    if command.action not in {Action.DISCHARGE, Action.SELL}:
        return command
    left_kw = _left_kw(battery, stored_kwh, float(steps.hours[0]))
    if left_kw > _TOLERANCE_KW:
        return replace(command, power_kw=min(command.power_kw, left_kw))
    if command.action is Action.DISCHARGE and (steps.use_kw < 0).any():
        return Command(Action.STORE_SUN, battery.charge_kw)
    return Command(Action.HOLD, 0.0)


def _command(
    battery: Battery, power_kw: float, use_kw: float, stored_kwh: float, hours: float, stores: float, covers: float
) -> Command:
    surplus, use = max(-use_kw, 0.0), max(use_kw, 0.0)
    if power_kw > surplus + _TOLERANCE_KW:
        return Command(Action.CHARGE, power_kw)
    if power_kw > _TOLERANCE_KW:
        stores_all = power_kw >= min(surplus, _room_kw(battery, stored_kwh, hours)) - _TOLERANCE_KW
        if stores_all and covers:
            return Command(Action.DISCHARGE, battery.discharge_kw)
        return Command(Action.STORE_SUN, battery.charge_kw if stores_all else power_kw)
    if power_kw >= -_TOLERANCE_KW:
        return Command(Action.STORE_SUN, battery.charge_kw) if stores and not surplus else Command(Action.HOLD, 0.0)
    if power_kw < -use - _TOLERANCE_KW:
        return Command(Action.SELL, -power_kw)
    covers_all = -power_kw >= min(use, _left_kw(battery, stored_kwh, hours)) - _TOLERANCE_KW
    return Command(Action.DISCHARGE, battery.discharge_kw if covers_all else -power_kw)


def _room_kw(battery: Battery, stored_kwh: float, hours: float) -> float:
    return max(battery.highest_kwh - stored_kwh, 0.0) / math.sqrt(battery.efficiency) / hours


def _left_kw(battery: Battery, stored_kwh: float, hours: float) -> float:
    return max(stored_kwh - battery.lowest_kwh, 0.0) * math.sqrt(battery.efficiency) / hours
