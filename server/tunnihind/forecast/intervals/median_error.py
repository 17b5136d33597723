"""Moves p50 by at most the median error of past forecasts at a similar price level.

Many prices are near zero, many prices are high, and few prices lie between. If a price may be either near zero or high,
the model forecasts a price between. The median of the actual prices is often lower than such a forecast. The method is
a local quantile regression (Yu, Jones 1998, Local linear quantile regression, Journal of the American Statistical
Association 93(441)).

While all prices rise or fall, the median error over all price levels differs from zero. Such a rise or fall seldom
continues, so the median error over all price levels is subtracted from the median error at a similar price level.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.intervals.likeness import CALIBRATION_DAYS, ENOUGH_ERROR_DAYS, similarity_weights
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.known import Floats

_HALF_LIFE_DAYS: Final = 75.0
"""After this many days, an error has half the weight of a new error.

This half-life is shorter than the half-life in `conformal`, because the median error changes faster than the size of
errors.
"""


def p50_moved_by_error(p50: Floats, actual: Floats, issued: Floats) -> Floats:
    """Return `p50` (leads, 24), moved by at most the median error of past forecasts at a similar price level.

    For each forecast hour, let a be the median of the lead's past errors on the asinh scale, weighted by
    `similarity_weights`, and let b be the median without these weights. The move is a - b, limited to the range between
    0 and a. In both medians, recent errors have more weight. If the errors of fewer than 24 * `ENOUGH_ERROR_DAYS` hours
    are known for a lead, the lead's p50 is not moved.

    `actual` (days, 24) holds the prices of past days. `issued` (leads, days, 24) holds the model's forecasts of these
    prices. All values are in EUR/MWh. `actual` and `issued` end with the newest day that a forecast may use.
    """
    moved = to_asinh(p50)
    past = issued[:, -CALIBRATION_DAYS:]
    errors = to_asinh(actual[-CALIBRATION_DAYS:]) - to_asinh(past)
    days, hours = errors.shape[1:]
    recency = np.repeat(0.5 ** (np.arange(days)[::-1] / _HALF_LIFE_DAYS), hours)
    for lead, flat in enumerate(errors.reshape(len(errors), -1)):
        known = np.flatnonzero(np.isfinite(flat))
        if len(known) < ENOUGH_ERROR_DAYS * hours:
            continue
        order = known[np.argsort(flat[known])]
        like = similarity_weights(past[lead].ravel()[order], p50[lead][:, None])
        local, overall = (
            flat[order[_weighted_median_position(one)]] for one in (recency[order] * like, recency[None, order])
        )
        moved[lead] += np.clip(local - overall, np.minimum(local, 0), np.maximum(local, 0))
    return to_eur(moved)


def _weighted_median_position(weights: Floats) -> NDArray[np.intp]:
    """Return the position of the weighted median in each row of `weights` (rows, samples), shape (rows,).

    The weights must be in the order of the sorted samples. Because this function does not sort, it is seven times as
    fast as `weighted_quantiles`.
    """
    cumulated = np.cumsum(weights, axis=1)
    middle: NDArray[np.intp] = np.argmax(cumulated >= 0.5 * cumulated[:, -1:], axis=1)
    return middle
