"""Decides what a battery does now, from the cheapest course of the days to come."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from .battery import Battery, Course, Steps, Target


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
class BatteryPlan:
    """A battery's plan as of `made_at` (UTC seconds).

    `action` applies until `until`, with `power_kw` (0 or above) up to `stored_kwh`. `saving` is in EUR, against no
    battery. `saving_beyond_sun` is in EUR, against a battery that only stores the sun's surplus and covers the home's
    use. `end_worth` is in EUR per kWh stored at the end, before the loss of discharging.
    """

    made_at: int
    steps: Steps
    course: Course
    action: Action
    power_kw: float
    stored_kwh: float
    until: int
    saving: float
    saving_beyond_sun: float
    end_worth: float


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
