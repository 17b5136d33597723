"""The 20 equally likely values of an hour, computed from the hour's p10, p50 and p90."""

from statistics import NormalDist
from typing import Final

import numpy as np

from tunnihind.core.market import PriceLimits
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.forecast.run import INTERVAL_LEVELS, SCENARIO_COUNT, Run
from tunnihind.known import Floats

_BELOW, _ABOVE = 1.7, 1.9
"""The distances of the lowest and the highest value from p50, on the asinh scale, before `scenario_values` limits them.

The units are the distances of p10 and p90 from p50. The numbers fit the served model's forecasts from September 2024 to
December 2025: on average, the values below p10 and above p90 are as far from p50 as the actual prices below p10 and
above p90 were.
"""
_CENT: Final = 0.01
_P10_POSITION, _P50_POSITION, _P90_POSITION = 2, 9, 17
"""The positions of p10, p50 and p90 among the sorted values. The value after p50 is p50 again."""


def scenario_values(run: Run, lowest: float, limits: PriceLimits) -> Floats:
    """Return the 20 values of each hour in EUR/MWh, in ascending order, shape (20, hours).

    The values include p10 - 0.01, p10, p50 twice, p90 and p90 + 0.01. So by every usual definition, their 10th, 50th
    and 90th percentiles equal p10, p50 and p90 within 0.01 EUR/MWh. The other values between p10 and p90 are
    quantiles of a normal distribution on the asinh scale, with different widths below and above p50. If the smallest
    value is below `lowest`, it is raised to `lowest`, but never above the second value. All values are within `limits`.
    """
    p10, p50, p90 = (to_asinh(percentile) for percentile in (run.p10, run.p50, run.p90))
    steps = _signed_distances()[:, None]
    values = to_eur(p50 + np.where(steps < 0, steps * (p50 - p10), steps * (p90 - p50)))
    values[1], values[-2] = run.p10 - _CENT, run.p90 + _CENT
    values[0] = np.minimum(np.maximum(values[0], lowest), values[1])
    values[-1] = np.maximum(values[-1], values[-2])
    values[_P10_POSITION], values[_P90_POSITION] = run.p10, run.p90
    values[_P50_POSITION] = values[_P50_POSITION + 1] = run.p50
    # Rounding errors of the asinh scale may have moved values slightly below p10 or above p90.
    values[_P10_POSITION : _P90_POSITION + 1] = np.clip(values[_P10_POSITION : _P90_POSITION + 1], run.p10, run.p90)
    within: Floats = np.clip(values, limits.floor, limits.cap)
    return within.round(2) + 0.0


def _signed_distances() -> Floats:
    """Return signed distances from p50 on the asinh scale for 20 values, shape (20,).

    `scenario_values` replaces six of the values: by p10, p10 - 0.01, p90, p90 + 0.01, and twice by p50. The unit is the
    distance from p10 to p50 for values below p50, and the distance from p50 to p90 for values above p50.
    """
    normal = NormalDist()
    levels = (np.arange(SCENARIO_COUNT) + 0.5) / SCENARIO_COUNT
    steps = np.array([normal.inv_cdf(level) for level in levels.tolist()]) / normal.inv_cdf(INTERVAL_LEVELS[1])
    steps[0], steps[-1] = -_BELOW, _ABOVE
    return steps
