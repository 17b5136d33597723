"""Computes the rank of each price path in each hour, from errors of past forecasts or from random errors.

The method is the Schaake shuffle (Clark et al. 2004, Journal of Hydrometeorology 5(1)) with errors of past forecasts in
place of past observations.
"""

from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.forecast.known_days.price_state import to_asinh
from tunnihind.forecast.quarters.slope import ReplayedForecasts
from tunnihind.forecast.run import LEADS, SCENARIO_COUNT
from tunnihind.known import Floats
from tunnihind.price_series import PriceSeries

type Ranks = NDArray[np.intp]

_APART_DAYS: Final = 7
"""The smallest number of days between the issues of two chosen forecasts, if enough forecasts are known.

It is 7, because forecasts issued one week apart are issued on the same weekday and have hardly any target days in
common.
"""
_MOST_SETTLED_DAYS: Final = 2
"""The largest number of settled days in a run: today and tomorrow."""

_CORRELATION: Final = ((0.45, 2.5), (0.55, 34.0))
"""The weights and reaches (hours) in the correlation of errors.

If two hours start k hours apart, the correlation of their errors is .45 exp(-k / 2.5) + .55 exp(-k / 34). The Home
Assistant integration uses the same formula, and its `plans/saving.py` describes the fit.
"""
_SEED: Final = 20


def ranks_of_past_errors(issued: ReplayedForecasts, hours: PriceSeries, days: range) -> Ranks | None:
    """Return the ranks of the errors of 20 past forecasts, shape (20, days, 24).

    `hours` holds the known hourly prices. `days` holds the days to forecast, counted from the newest day in `issued`.
    The errors of a past forecast for day n are those of lead n, n days after the newest day known at the forecast's
    issue. If n is less than 1, the forecast of lead 1 is used, and if n is more than 7, the forecast of lead 7. A past
    forecast is used only if all its errors are known. If there are fewer than 20 such forecasts, return None.
    """
    errors = _errors(issued, hours)
    ahead = np.arange(min(days.start, 1 - _MOST_SETTLED_DAYS), max(days.stop, LEADS + 1))
    lead = np.clip(ahead, 1, LEADS)
    newest = np.arange(-ahead[0], errors.shape[1] - ahead[-1])
    if not newest.size:
        return None
    fields = errors[lead - 1, newest[:, None] + ahead]
    chosen = _choose_forecasts(np.flatnonzero(np.isfinite(fields).all(axis=(1, 2))))
    if chosen is None:
        return None
    return ranks_of(fields[chosen][:, (ahead >= days.start) & (ahead < days.stop)])


def ranks_of_random_errors(hours: int) -> Ranks:
    """Return the ranks of random errors with the correlation `_CORRELATION`, shape (20, hours)."""
    shocks = np.random.default_rng(_SEED).standard_normal((len(_CORRELATION), hours, SCENARIO_COUNT))
    errors = np.zeros((hours, SCENARIO_COUNT))
    for (share, reach_h), shock in zip(_CORRELATION, shocks, strict=True):
        keep = np.exp(-1 / reach_h)
        state = shock[0]
        for hour in range(hours):
            state = keep * state + np.sqrt(1 - keep**2) * shock[hour] if hour else state
            errors[hour] += np.sqrt(share) * state
    return ranks_of(errors.T)


def ranks_of(errors: Floats) -> Ranks:
    """Return each element's rank along the first axis, from 0. Among equal elements, the first has the lowest rank."""
    ranks: Ranks = np.argsort(np.argsort(errors, axis=0, kind="stable"), axis=0, kind="stable")
    return ranks


def _errors(issued: ReplayedForecasts, hours: PriceSeries) -> Floats:
    """Return the errors of the replayed forecasts at leads 1 to 7, shape (7, days, 24). Unknown errors are NaN.

    An error is the price minus the replayed p50, both on the asinh scale.
    """
    if not issued.day_count:
        return np.empty(issued.p50.shape)
    grid = DayGrid.between(issued.first, issued.first + timedelta(days=issued.day_count - 1))
    actual = grid.arrange_filled(hours.between(int(grid.starts[0]), int(grid.starts[-1])).eur_mwh)
    return to_asinh(actual) - to_asinh(issued.p50)


def _choose_forecasts(whole: NDArray[np.intp]) -> list[int] | None:
    """Choose 20 past forecasts, and return their numbers, newest first.

    `whole` holds the number of each past forecast whose errors are all known, in ascending order. The numbers of two
    forecasts differ by the days between their issues. If there are enough forecasts, the chosen ones are at least 7
    days apart. Otherwise, the smallest number of days between two of them is as large as possible. If `whole` holds
    fewer than 20 numbers, return None.
    """
    for apart in range(_APART_DAYS, 0, -1):
        chosen: list[int] = []
        for number in reversed(whole.tolist()):
            if not chosen or chosen[-1] - number >= apart:
                chosen.append(number)
            if len(chosen) == SCENARIO_COUNT:
                return chosen
    return None
