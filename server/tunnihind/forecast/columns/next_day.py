"""Computes supply curves, hinges of the market tightness and other columns from next-day drivers.

`drivers` maps a driver's name to an array of shape (days, 24). The row of a delivery day holds the newest forecast
known at the issue instant of the day before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.columns.table import Columns, DayRows
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS, HOURS_APART
from tunnihind.forecast.known_days.price_state import PriceState
from tunnihind.known import Floats

ALL_HOURS_CURVE: Final = "supply_curve_12h"
"""The name of the supply curve that uses the prices of all clock hours."""

_TIGHTNESS_WEIGHTS: Final = {"residual_baltic": 1.0, "residual_se": 1.0, "residual_fi": 0.5, "residual_pl": 0.5}
_CURVE_AXIS_WEIGHTS: Final = {"residual_baltic": 1.0, "residual_se": 0.5}
"""The weights of the drivers in the sum by which a supply curve compares hours.

If neither driver exists, the market tightness is used instead of this sum.
"""
_CURVE_DAYS: Final = 60
_CURVE_WIDTH: Final = 0.35
_CURVE_PRIOR: Final = 0.05
SUPPLY_CURVES: Final = {"supply_curve_2h": (2, 7.0), ALL_HOURS_CURVE: (12, 25.0)}
"""For each supply curve, how many clock hours a past hour may lie from the forecast hour, and in how many days the
weight of a past hour halves."""
TIGHTNESS_HINGE_PREFIX: Final = "tightness_above"
"""The names of columns with hourly hinges of the market tightness begin with this text."""
_EVENING: Final = slice(18, 24)


@dataclass(frozen=True, slots=True)
class NextDayScale:
    """The mean and the standard deviation of each driver, and the thresholds of the hinges.

    Once enough days are known, a `NextDayScale` of the same covariates changes only when a new era begins. If it
    changed every day, the hinges and the products of drivers would hardly improve the forecast.
    """

    centre: dict[str, float]
    spread: dict[str, float]
    hourly: tuple[float, ...] = ()
    daily: tuple[float, ...] = ()
    axis: tuple[float, ...] = ()

    @classmethod
    def fitted(cls, drivers: Mapping[str, Floats]) -> NextDayScale:
        """Compute the means, standard deviations and thresholds from `drivers`, whose arrays have shape (days, 24).

        At least one driver must be a residual load.
        """
        centre = {name: float(np.nanmean(values)) for name, values in drivers.items()}
        spread = {name: max(float(np.nanstd(values)), 1e-3) for name, values in drivers.items()}
        standard = cls(centre, spread).standardised(drivers)
        index, axis = _weighted_sum(standard, _TIGHTNESS_WEIGHTS), _curve_axis(standard)
        known = np.isfinite(index).all(axis=1)
        return cls(
            centre,
            spread,
            _thresholds(index, (0.2, 0.5, 0.8, 0.9)),
            _thresholds(index[known].mean(axis=1), (0.2, 0.8)),
            _thresholds(axis, (0.1, 0.5, 0.9)),
        )

    def standardised(self, drivers: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return each driver minus its mean, divided by its standard deviation."""
        return {name: (drivers[name] - self.centre[name]) / self.spread[name] for name in self.centre}


def _next_day_column_name(driver: str) -> str:
    """Return the name of the column with a driver's standardised hourly values at lead 1.

    The names of the driver's other columns at lead 1 begin with this name.
    """
    return f"next_day_{driver}"


def next_day_columns(
    scale: NextDayScale, drivers: Mapping[str, Floats], prices: PriceState, target: DayRows
) -> Columns:
    """Return the columns of next-day drivers at lead 1.

    There are linear columns, hinges, squares, products of two drivers, and supply curves. Missing values are 0. Only
    prices of days before the target day are used.
    """
    z = scale.standardised(drivers)
    columns: Columns = {}
    for name in sorted(z):
        columns |= _linear_columns(_next_day_column_name(name), z[name], target)
    index, axis = _weighted_sum(z, _TIGHTNESS_WEIGHTS), _curve_axis(z)
    at, mean, on_axis = index[target], index[target].mean(1), axis[target]
    columns |= {f"{TIGHTNESS_HINGE_PREFIX}_{n}": np.maximum(at - cut, 0) for n, cut in enumerate(scale.hourly)}
    columns |= {f"tightness_daily_above_{n}": np.maximum(mean - cut, 0) for n, cut in enumerate(scale.daily)}
    columns |= {f"curve_axis_above_{n}": np.maximum(on_axis - cut, 0) for n, cut in enumerate(scale.axis)}
    there = [name for name in _CURVE_AXIS_WEIGHTS if name in z]
    columns |= {f"{_next_day_column_name(name)}_squared": z[name][target] ** 2 - 1 for name in there}
    columns |= {
        f"{_next_day_column_name(one)}_times_{other}": z[one][target] * z[other][target]
        for one, other in pairwise(there)
    }
    columns |= _supply_curve_columns(axis, prices, target)
    return {name: np.nan_to_num(values) for name, values in columns.items()}


def second_day_columns(scale: NextDayScale, drivers: Mapping[str, Floats], target: DayRows) -> Columns:
    """Return the columns of next-day drivers at lead 2, computed from the drivers on the days before the target day.

    For each standardised driver and for the market tightness, there are three columns about the day before the target
    day: the mean, the mean of the evening, and the mean minus the mean of the seven days before that day. Missing
    values are 0. There are no hourly columns, because hourly columns do not improve the forecast at lead 2.
    """
    z = scale.standardised(drivers)
    columns: Columns = {}
    for name, values in [*((name, z[name]) for name in sorted(z)), ("tightness", _weighted_sum(z, _TIGHTNESS_WEIGHTS))]:
        eve = values[target - 1]
        week = np.mean([values[target - 2 - back].mean(1) for back in range(7)], axis=0)
        columns[f"{name}_day_before"] = eve.mean(1)
        columns[f"{name}_evening_before"] = eve[:, _EVENING].mean(1)
        columns[f"{name}_day_before_against_week"] = eve.mean(1) - week
    return {name: np.nan_to_num(values) for name, values in columns.items()}


def _weighted_sum(standard: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return the sum of the standardised drivers, weighted by `weights`.

    The weights of the existing drivers are scaled so that the largest of these weights is 1.
    """
    there = {name: weight for name, weight in weights.items() if name in standard}
    heaviest = max(there.values())
    total: Floats = np.sum([weight / heaviest * standard[name] for name, weight in there.items()], axis=0)
    return total


def _curve_axis(standard: Mapping[str, Floats]) -> Floats:
    return _weighted_sum(
        standard, _CURVE_AXIS_WEIGHTS if standard.keys() & _CURVE_AXIS_WEIGHTS.keys() else _TIGHTNESS_WEIGHTS
    )


def _thresholds(values: Floats, levels: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(cut) for cut in np.nanquantile(values, levels))


def _linear_columns(name: str, values: Floats, target: DayRows) -> Columns:
    """Return three hourly columns of one driver, and three daily columns with the means of the hourly columns.

    The hourly columns hold the driver's standardised `values`, their changes since the day before, and their
    differences from each clock hour's mean over the seven days before the target day.
    """
    now, last = values[target], values[target - 1]
    week = np.mean([values[target - 1 - back] for back in range(7)], axis=0)
    mean = now.mean(1)
    return {
        name: now,
        f"{name}_change": now - last,
        f"{name}_daily": mean,
        f"{name}_daily_change": mean - last.mean(1),
        f"{name}_daily_against_week": mean - week.mean(1),
        f"{name}_against_week": now - week,
    }


def _supply_curve_columns(axis: Floats, prices: PriceState, target: DayRows) -> Columns:
    """Return an hourly column for each supply curve, and a column with the daily means of `ALL_HOURS_CURVE`.

    `axis` (days, 24) holds a weighted sum of standardised residual loads. For each hour of a target day, a supply curve
    gives the mean price of the hours of the last 60 days, with more weight for hours with a similar value of `axis`.
    The hourly columns hold this price minus the clock hour's mean price of the last week, both on the asinh scale. The
    method is Nadaraya-Watson regression: the weight of a past hour falls with its distance on `axis` (Gaussian), in
    clock hours (triangular) and in days (exponential). The clock hour's mean price of the last week also counts, with
    the weight `_CURVE_PRIOR`.
    """
    curves = np.zeros((len(target), CLOCK_HOURS, len(SUPPLY_CURVES)))
    for row, day in enumerate(target.tolist()):
        past = slice(max(0, day - _CURVE_DAYS), day)
        seen = np.isfinite(axis[past])
        if np.isfinite(axis[day]).all() and seen.any():
            base = prices.trailing_means[7][day - 1]
            curves[row] = _curve_prices(axis[day], axis[past], seen, prices.own_filled[past], base) - base[:, None]
    by_name = {name: curves[..., place] for place, name in enumerate(SUPPLY_CURVES)}
    return {**by_name, f"{ALL_HOURS_CURVE}_daily": by_name[ALL_HOURS_CURVE].mean(1)}


def _curve_prices(now: Floats, axis: Floats, seen: NDArray[np.bool_], y: Floats, base: Floats) -> Floats:
    """For each clock hour, return the price that each supply curve gives, shape (24, curves).

    `axis` (days, 24) holds the past days' rows of `axis` in `_supply_curve_columns`, and `now` (24,) the target day's
    row. `seen` (days, 24) is true where `axis` is known. `y` (days, 24) holds the past prices, and `base` (24,) each
    clock hour's mean price of the last week. All prices are on the asinh scale.
    """
    # Single precision halves the computing time. The shape of `near` is (24 target hours, days, 24 past hours).
    near = now.astype(np.float32)[:, None, None] - np.where(seen, axis, 0).astype(np.float32)
    near *= near
    near *= np.float32(-0.5 / _CURVE_WIDTH**2)
    np.exp(near, out=near)
    near *= seen
    age = np.arange(len(axis))[::-1]
    recency = np.array([0.5 ** (age / half_life) for _, half_life in SUPPLY_CURVES.values()], np.float32)
    priced, weight = recency @ (near * y.astype(np.float32)), recency @ near
    by_hour = np.stack([np.maximum(0, 1 - HOURS_APART / (reach + 1)) for reach, _ in SUPPLY_CURVES.values()], axis=1)
    total = (priced * by_hour).sum(-1) + _CURVE_PRIOR * base[:, None]
    curves: Floats = total / ((weight * by_hour).sum(-1) + _CURVE_PRIOR)
    return curves
