"""Finds the course of a battery that costs a home the least."""

from collections.abc import Sequence

from .battery import Battery, Course, Steps, Target


def cheapest_course(
    battery: Battery, steps: Steps, stored_kwh: float, *, end_worth: float, targets: Sequence[Target] = ()
) -> Course:
    """Return the course that costs the least from `stored_kwh` on. `end_worth` is in EUR per kWh stored at the end."""
    raise NotImplementedError
