"""Tests whether the errors of two forecasts differ significantly.

The method is the Diebold-Mariano test (Diebold & Mariano 1995, Journal of Business & Economic Statistics 13(3)) in its
multivariate form. Ziel & Weron (2018, Energy Economics 70, 396) proposed this form for day-ahead prices, and Lago et
al. (2021, Applied Energy 293, 116983) use it. The test compares the two forecasts' mean losses of each day, because the
hours of a day are priced in one auction and have correlated errors. Errors also persist from day to day, so the
variance of the mean daily difference is estimated as in Newey & West 1987 (Econometrica 55(3)).
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunnihind.known import Floats, Instants

LAGS: Final = 7
"""Errors are assumed to persist for this many days: a week, because forecasts reach a week ahead."""
ENOUGH_TEST_DAYS: Final = 28
"""The test needs at least this many days. With fewer days, the variance with seven lags is unreliable."""

_ROUNDING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class DieboldMariano:
    """The outcome of a Diebold-Mariano test over `days` delivery days.

    `t` is the test statistic. `t` is negative if the forecast's losses are smaller than the benchmark's on average. `p`
    is the two-sided p-value from the normal distribution. If there are fewer than `ENOUGH_TEST_DAYS` days, or if the
    mean losses of forecast and benchmark differ by the same amount on every day, `t` and `p` are NaN.
    """

    days: int
    t: float
    p: float


def diebold_mariano(loss: Floats, benchmark_loss: Floats, days: Instants, *, lags: int = LAGS) -> DieboldMariano:
    """Compare the losses of a forecast and a benchmark in the same periods. All arrays have shape (periods,).

    `days` holds each period's delivery day as a number. Periods with an unknown loss (NaN) are left out. If a day has
    no known loss, the day before and the day after count as consecutive.
    """
    difference = loss - benchmark_loss
    known = ~np.isnan(difference)
    daily = _daily_means(difference[known], days[known])
    if daily.size < ENOUGH_TEST_DAYS:
        return DieboldMariano(daily.size, math.nan, math.nan)
    variance = long_run_variance(daily, lags) / daily.size
    mean = float(daily.mean())
    if variance <= (_ROUNDING * mean) ** 2:
        return DieboldMariano(daily.size, math.nan, math.nan)
    t = mean / math.sqrt(variance)
    return DieboldMariano(daily.size, t, math.erfc(abs(t) / math.sqrt(2)))


def long_run_variance(series: Floats, lags: int) -> float:
    """Estimate the long-run variance of an autocorrelated series: its length times the variance of its mean.

    The estimate uses the autocovariances up to the lag `lags`. The autocovariance at lag k has Bartlett's weight
    1 - k / (lags + 1).
    """
    centred = series - series.mean()
    covariances = [float(centred[k:] @ centred[: series.size - k]) / series.size for k in range(lags + 1)]
    weighted = sum((1 - k / (lags + 1)) * covariances[k] for k in range(1, lags + 1))
    return max(0.0, covariances[0] + 2 * weighted)


def _daily_means(values: Floats, days: Instants) -> Floats:
    _, rows = np.unique(days, return_inverse=True)
    means: Floats = np.bincount(rows, weights=values) / np.bincount(rows)
    return means
