"""Moves p50 by the median error of past forecasts that were similar to p50.

Many prices are near zero, many prices are high, and few prices lie between. If the model is unsure whether a price will
be near zero or high, it forecasts a price between the two, but the median of the actual prices is often lower. The
method is a local quantile regression (Yu, Jones 1998, Local linear quantile regression, Journal of the American
Statistical Association 93(441)).

The median error over all price levels comes from a past rise or fall of all prices, which seldom continues. So this
median error is subtracted from the move of p50.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.intervals.likeness import BANK_DAYS, ENOUGH_DAYS, likeness
from tunnihind.forecast.known import Floats
from tunnihind.forecast.known_days.price_state import to_eur, to_scale

_HALF_LIFE_DAYS: Final = 75.0
"""The age, in days, at which an error has half of its first weight.

The age is short, because the median error changes faster than the size of errors.
"""


def with_median_error(p50: Floats, actual: Floats, issued: Floats) -> Floats:
    """Return the model's `p50` (leads, 24), moved by the median error of past forecasts that were similar to p50.

    On the asinh scale, let a be the median error of past forecasts similar to p50, and b the median error of all past
    forecasts. The move is a - b, limited to the range between 0 and a. If fewer than `ENOUGH_DAYS` days of errors are
    known for a lead, its p50 is not moved.

    `actual` (days, 24) holds the actual prices. `issued` (leads, days, 24) holds the model's forecasts of these prices.
    All values are in EUR/MWh. `actual` and `issued` end with the newest day that a forecast may use.
    """
    moved = to_scale(p50)
    past = issued[:, -BANK_DAYS:]
    errors = to_scale(actual[-BANK_DAYS:]) - to_scale(past)
    days, hours = errors.shape[1:]
    recency = np.repeat(0.5 ** (np.arange(days)[::-1] / _HALF_LIFE_DAYS), hours)
    for lead, flat in enumerate(errors.reshape(len(errors), -1)):
        known = np.flatnonzero(np.isfinite(flat))
        if len(known) < ENOUGH_DAYS * hours:
            continue
        order = known[np.argsort(flat[known])]
        like = likeness(past[lead].ravel()[order], p50[lead][:, None])
        local, overall = (flat[order[_middle(one)]] for one in (recency[order] * like, recency[None, order]))
        moved[lead] += np.clip(local - overall, np.minimum(local, 0), np.maximum(local, 0))
    return to_eur(moved)


def _middle(weights: Floats) -> NDArray[np.intp]:
    """For each row of `weights` (n, samples), return the position of the weighted median, shape (n,).

    The samples must be in ascending order. With ordered samples, this function is seven times as fast as
    `weighted_quantiles`.
    """
    cumulated = np.cumsum(weights, axis=1)
    middle: NDArray[np.intp] = np.argmax(cumulated >= 0.5 * cumulated[:, -1:], axis=1)
    return middle
