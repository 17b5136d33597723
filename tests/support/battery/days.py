"""A battery without losses, and steps of an hour that begin at night."""

from collections.abc import Sequence

import numpy as np

from custom_components.tunnihind.battery.battery import Battery, Steps
from custom_components.tunnihind.core.market import HOUR_S
from tests.support.household.timelines import NIGHT

LOSSLESS = Battery(charge_kw=2, discharge_kw=2, efficiency=1, wear=0, lowest_kwh=1, highest_kwh=10)


def hours(
    buying: Sequence[float],
    *,
    selling: float | Sequence[float] = 0.0,
    use: float | Sequence[float] = 1.0,
    start: int = NIGHT,
    step_s: int = HOUR_S,
) -> Steps:
    """Return steps with these prices (EUR/kWh) and this use (kW). Single figures are the same in all steps."""
    count = len(buying)
    return Steps(
        start + np.arange(count) * step_s,
        start + count * step_s,
        np.array(buying, float),
        np.broadcast_to(np.array(selling, float), count),
        np.broadcast_to(np.array(use, float), count),
    )
