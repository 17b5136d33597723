"""Computes intervals from a forecaster's own past errors, by lead and clock hour.

An 80% interval runs from p50 plus the 10% quantile of past errors to p50 plus the 90% quantile of past errors. Fixed
values are mixed into these quantiles, and have more weight if fewer errors are known. The method is split conformal
prediction with asymmetric sides. Recent errors have more weight (Barber et al. 2023, Conformal prediction beyond
exchangeability, Annals of Statistics 51(2)).
"""

from typing import Final

import numpy as np

from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.run import INTERVAL_LEVELS, LEADS
from tunnihind.known import Floats

ERROR_DAYS: Final = 90
_HALF_LIFE_DAYS: Final = 20.0
_HOUR_WEIGHTS: Final = (1.0,) * 5
"""The weights of errors at five clock hours, from two hours before the forecast hour to two hours after it."""

_PRIOR_EUR_MWH: Final = np.array([-80.0, 90.0])
"""The prior: the offsets of p10 and p90 from p50 at lead 1 if no error is known.

The offsets are about the 8% and 94% quantiles of the errors of forecasts made from three days of prices, in Estonia in
2024 and 2025.
"""
_PRIOR_GROWTH: Final = 0.05
"""With each lead from 2 to 7, the prior grows by this fraction of its value at lead 1."""
_PRIOR_WEIGHT_DAYS: Final = 2.0
"""The prior weighs as much as the errors of this many days."""
_STALE_EXPONENT: Final = 1 / 8
"""At leads above 7, interval widths grow in proportion to this power of lead / 7.

Measured with Estonia's prices of 2024 and 2025, the widths at leads 28, 60 and 120 were 1.13, 1.30 and 1.45 times the
width at lead 7.
"""


def interval_offsets(errors: Floats, leads: int) -> Floats:
    """Return the offsets of p10 and p90 from p50, EUR/MWh, shape (2, leads, 24).

    `errors` (7, days, 24) holds the price minus p50 by lead, with the newest day last. Unknown errors are NaN. The
    lower offsets are at most 0, and the upper offsets are at least 0. Intervals never narrow as the lead grows. A lead
    above 7 occurs only if no price of today or later is known.
    """
    values, weights = pooled_samples(errors[:, -ERROR_DAYS:], _HOUR_WEIGHTS, _HALF_LIFE_DAYS)
    known_days = (weights > 0).sum(axis=-1) / len(_HOUR_WEIGHTS)
    trust = known_days / (known_days + _PRIOR_WEIGHT_DAYS)
    lower, upper = trust * weighted_quantiles(values, weights, INTERVAL_LEVELS) + (1 - trust) * _prior_offsets()
    offsets = np.empty((2, max(leads, LEADS), CLOCK_HOURS))
    offsets[0, :LEADS] = np.minimum.accumulate(np.minimum(lower, 0.0), axis=0)
    offsets[1, :LEADS] = np.maximum.accumulate(np.maximum(upper, 0.0), axis=0)
    stale = np.arange(LEADS + 1, leads + 1)[:, None]
    offsets[:, LEADS:] = offsets[:, LEADS - 1 : LEADS] * (stale / LEADS) ** _STALE_EXPONENT
    return offsets[:, :leads]


def weighted_quantiles(values: Floats, weights: Floats, levels: tuple[float, ...]) -> Floats:
    """Return the weighted quantiles of `values` at `levels`, shape (levels, ...).

    `values` and `weights` have shape (..., samples). A quantile is the smallest value at which the cumulated weight
    reaches the level times the total weight. If all weights of a row of samples are 0, the samples count equally.
    """
    counting = np.where(weights.any(axis=-1, keepdims=True), weights, 1.0)
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    share = np.cumsum(np.take_along_axis(counting, order, axis=-1), axis=-1)
    share /= share[..., -1:].copy()
    # `numpy.quantile` takes five times as long, because it sorts across the rows.
    places = (np.argmax(share >= level, axis=-1, keepdims=True) for level in levels)
    quantiles: Floats = np.stack([np.take_along_axis(ordered, place, axis=-1)[..., 0] for place in places])
    return quantiles


def pooled_samples(errors: Floats, hour_weights: tuple[float, ...], half_life_days: float) -> tuple[Floats, Floats]:
    """For each clock hour, return the errors of the hour and of the hours around it, and the errors' weights.

    Both arrays have shape (n, 24, samples). `errors` has shape (n, days, 24), for n leads or n quarters of an hour,
    with the newest day last. `errors` may hold other values too, such as forecasts. Unknown errors (NaN) become 0 with
    weight 0. The weight of an error halves every `half_life_days` days. `hour_weights` has an odd number of weights,
    and the middle weight belongs to the hour itself. The first and the last hour of a day count as neighbours.
    """
    groups, days, hours = errors.shape
    reach = len(hour_weights) // 2
    around = np.stack([np.roll(errors, shift, axis=2) for shift in range(-reach, reach + 1)], axis=-1)
    values = around.transpose(0, 2, 1, 3).reshape(groups, hours, days * len(hour_weights))
    recency = 0.5 ** (np.arange(days)[::-1] / half_life_days)
    weights = np.outer(recency, hour_weights).ravel()
    known = ~np.isnan(values)
    return np.where(known, values, 0.0), np.where(known, weights, 0.0)


def _prior_offsets() -> Floats:
    growth = 1 + _PRIOR_GROWTH * np.arange(LEADS)
    prior: Floats = _PRIOR_EUR_MWH[:, None, None] * growth[:, None]
    return prior
