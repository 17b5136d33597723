"""Computes 80% intervals for each lead and clock hour by conformal calibration on the model's past errors.

On the scale asinh(price / 80 EUR/MWh), the residual of a price y is r = y - m, where m is the model's forecast. The
volatility is V = (a + 0.02)^0.9. Here a is the recent mean of |r|: a moving mean for each hour and lead, averaged with
the mean over all hours, then with the mean over all leads, and smoothed over the clock hours.

On the same scale, p10 = m + 1.01 V q10 and p90 = m + 1.01 V q90, where q10 and q90 are the 10% and 90% quantiles of
past r / V, but q10 is at most 0 and q90 at least 0. A past error has more weight if it is recent, if its clock hour is
near, or if the past forecast was similar to the new one (see `likeness`). If few errors are known, the interval is
wider. The distances of p10 and p90 from m are then changed so that they never shrink as the lead grows (see
`nondecreasing_lead_values`). The lower bound of p10 is the 1% quantile of the last 90 days' prices, or m if m is lower.
Finally, `median_error` moves p50 away from m, but not past p10 or p90.

The method extends that of `error_quantiles`. The division by V follows normalised conformal prediction (Papadopoulos,
Gammerman, Vovk 2008).
"""

from typing import Final

import numpy as np

from tunnihind.core.market import PriceLimits
from tunnihind.forecast.intervals.error_quantiles import pooled_samples, weighted_quantiles
from tunnihind.forecast.intervals.likeness import CALIBRATION_DAYS, ENOUGH_ERROR_DAYS, similarity_weights
from tunnihind.forecast.intervals.median_error import p50_moved_by_error
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.forecast.point.ridge import clock_smoother
from tunnihind.forecast.run import INTERVAL_LEVELS
from tunnihind.known import Floats

_SCALE_EUR_MWH: Final = 80.0
"""Intervals are computed on the scale asinh(price / `_SCALE_EUR_MWH`). The point models use another scale."""
_HALF_LIFE_DAYS: Final = 180.0
"""After this many days, an error has half the weight of a new error."""
_HOUR_WEIGHTS: Final = (0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25)
_VOLATILITY_HALF_LIFE_DAYS: Final = 10.0
_VOLATILITY_DAYS: Final = 60
"""The moving mean of |r| starts up to this many days before the errors that give the quantiles."""
_START_DAYS: Final = 20
"""The moving mean of |r| begins with the mean of a lead's first 24 * `_START_DAYS` known values of |r|."""
_VOLATILITY_FLOOR: Final = 0.02
_VOLATILITY_POWER: Final = 0.9
_MEAN_SHARE: Final = 0.5
"""The weight of the mean over all hours in the volatility of each hour.

The mean over all leads has the same weight in the volatility of each lead. Both means are included because a mean over
more errors varies less.
"""
_WIDTH_FACTOR: Final = 1.01
"""The distances of p10 and p90 from p50 are multiplied by this factor, because the lower bound of p10 costs some
coverage."""
_LOWEST_DAYS: Final = 90
_LOWEST_LEVEL: Final = 0.01
_WIDENING_DAYS: Final = 8.0
"""If the errors of only n days are known, both distances from p50 are multiplied by sqrt(1 + `_WIDENING_DAYS` / n).

From `ENOUGH_ERROR_DAYS` days on, the distances are not widened.
"""
_MIN_DAYS: Final = 5
_UNKNOWN_DISTANCE: Final = 0.7
"""The distance of p10 and of p90 from p50 if the errors of fewer than `_MIN_DAYS` days are known.

If no error of a lead is known, the lead's moving mean of |r| also has this value. The value is on the scale
asinh(price / `_SCALE_EUR_MWH`).
"""
_SMOOTHER: Final = clock_smoother(2.0)


def calibrated_percentiles(p50: Floats, actual: Floats, issued: Floats, limits: PriceLimits) -> Floats:
    """Return p10, p50 and p90 in EUR/MWh, shape (3, leads, 24).

    `p50` (leads, 24) holds the model's forecast. `actual` (days, 24) holds the actual prices of past days. `issued`
    (leads, days, 24) holds the model's forecasts of these prices. All values are in EUR/MWh. `actual` and `issued` end
    with the newest day that a forecast may use. The interval is computed around the model's forecast. The returned p50
    is the model's forecast, moved by `p50_moved_by_error`, but not past p10 or p90.
    """
    low, high = signed_distances(actual, issued, p50)
    percentiles = percentiles_from_distances(
        p50, -nondecreasing_lead_values(-low), nondecreasing_lead_values(high), lowest_likely_price(actual), limits
    )
    percentiles[1] = np.clip(p50_moved_by_error(p50, actual, issued), percentiles[0], percentiles[2])
    return percentiles


def signed_distances(actual: Floats, issued: Floats, p50: Floats) -> tuple[Floats, Floats]:
    """Return the signed distances of p10 and p90 from p50 on the scale asinh(price / 80), each of shape (leads, 24).

    `actual` (days, 24) holds past prices. `issued` (leads, days, 24) holds the model's forecasts of these prices.
    `actual` and `issued` end with the newest day that a forecast may use. `p50` (leads, 24) is the forecast whose
    interval is computed. All three are in EUR/MWh.
    """
    days = CALIBRATION_DAYS + _VOLATILITY_DAYS
    residual = to_asinh(actual[-days:], _SCALE_EUR_MWH) - to_asinh(issued[:, -days:], _SCALE_EUR_MWH)
    known_days = np.isfinite(residual).any(axis=2).sum(axis=1)
    volatility = _volatility(residual)
    scaled = np.stack(
        [_scaled_residual(r, v, lead) for lead, (r, v) in enumerate(zip(residual, volatility, strict=True), start=1)]
    )
    past = zip(scaled[:, -CALIBRATION_DAYS:], issued[:, -CALIBRATION_DAYS:], p50, strict=True)
    low, high = np.stack([_outer_residual_quantiles(*of_lead) for of_lead in past], axis=1)
    grow = np.where(known_days < ENOUGH_ERROR_DAYS, np.sqrt(1 + _WIDENING_DAYS / np.maximum(known_days, 1)), 1.0)
    size = _WIDTH_FACTOR * volatility[:, -1] * grow[:, None]
    unknown = (known_days < _MIN_DAYS)[:, None]
    return (
        np.where(unknown, -_UNKNOWN_DISTANCE, np.minimum(low, 0) * size),
        np.where(unknown, _UNKNOWN_DISTANCE, np.maximum(high, 0) * size),
    )


def lowest_likely_price(actual: Floats) -> float:
    """Return the 1% quantile of the last 90 days' prices, EUR/MWh. This is the lower bound of p10, unless p50 is lower.

    `actual` (days, 24) holds the prices up to the newest day that a forecast may use. If no price of the last 90 days
    is known, return minus infinity. Without a lower bound, the errors of expensive hours would make p10 of cheap hours
    far too low.
    """
    lately = actual[-_LOWEST_DAYS:]
    return float(np.nanquantile(lately, _LOWEST_LEVEL)) if np.isfinite(lately).any() else -np.inf


def percentiles_from_distances(p50: Floats, low: Floats, high: Floats, lowest: float, limits: PriceLimits) -> Floats:
    """Return p10, p50 and p90 in EUR/MWh, shape (3, ...).

    `low` and `high` are the signed distances of p10 and p90 from p50 on the scale asinh(price / 80). The percentiles
    lie within `limits` and never cross. The smaller of `lowest` and p50 is the lower bound of p10.
    """
    centre = to_asinh(p50, _SCALE_EUR_MWH)
    edges = [to_eur(centre + side, _SCALE_EUR_MWH) for side in (low, high)]
    p10, p90 = np.minimum(np.maximum(edges[0], lowest), p50), np.maximum(edges[1], p50)
    return np.clip(np.stack([p10, p50, p90]), limits.floor, limits.cap)


def nondecreasing_lead_values(by_lead: Floats) -> Floats:
    """Return `by_lead` (leads, 24), changed so that no value decreases as the lead grows.

    For each clock hour, the sum of the squared changes is as small as possible (pool-adjacent-violators algorithm).
    """
    out = by_lead.copy()
    for hour in range(by_lead.shape[1]):
        pools: list[tuple[float, int]] = []
        for value in by_lead[:, hour].tolist():
            mean, count = value, 1
            while pools and pools[-1][0] > mean:
                before, n = pools.pop()
                mean, count = (before * n + mean * count) / (n + count), n + count
            pools.append((mean, count))
        out[:, hour] = np.concatenate([np.full(count, mean) for mean, count in pools])
    return out


def _outer_residual_quantiles(scaled: Floats, issued: Floats, p50: Floats) -> Floats:
    """Return the 10% and the 90% quantile of a lead's past residuals in units of volatility, shape (2, 24).

    `scaled` (days, 24) holds these residuals, and `issued` (days, 24) the past forecasts. Residuals of forecasts at a
    price level similar to `p50` (24,) have more weight.
    """
    values, weights = pooled_samples(scaled[None], _HOUR_WEIGHTS, _HALF_LIFE_DAYS)
    levels, _ = pooled_samples(issued[None], _HOUR_WEIGHTS, _HALF_LIFE_DAYS)
    return weighted_quantiles(values[0], weights[0] * similarity_weights(levels[0], p50[:, None]), INTERVAL_LEVELS)


def _scaled_residual(residual: Floats, volatility: Floats, lead: int) -> Floats:
    """Return `residual` (days, 24) in units of volatility.

    Each day's residuals are divided by the volatility that was known when the day's forecast was issued.
    """
    at_issue = np.maximum(np.arange(len(residual)) - lead + 1, 0)
    scaled: Floats = residual / volatility[at_issue]
    return scaled


def _volatility(residual: Floats) -> Floats:
    """Return the volatility V before each day and after the last day, shape (leads, days + 1, 24)."""
    keep = 0.5 ** (1 / _VOLATILITY_HALF_LIFE_DAYS)
    size = np.abs(residual)
    state = np.array([_first_mean_size(one) for one in size])
    out = np.empty((len(residual), residual.shape[1] + 1, CLOCK_HOURS))
    out[:, 0] = state
    known = np.isfinite(size)
    kept, added = np.where(known, keep, 1.0), np.where(known, (1 - keep) * size, 0.0)
    for day in range(residual.shape[1]):
        state = kept[:, day] * state + added[:, day]
        out[:, day + 1] = state
    for axis in (2, 0):
        out = (1 - _MEAN_SHARE) * out + _MEAN_SHARE * out.mean(axis=axis, keepdims=True)
    volatility: Floats = (out @ _SMOOTHER.T + _VOLATILITY_FLOOR) ** _VOLATILITY_POWER
    return volatility


def _first_mean_size(size: Floats) -> Floats:
    seen = size[np.isfinite(size)][: CLOCK_HOURS * _START_DAYS]
    return np.full(CLOCK_HOURS, seen.mean() if seen.size else _UNKNOWN_DISTANCE)
