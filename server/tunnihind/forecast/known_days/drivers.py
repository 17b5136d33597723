"""Combines covariates into drivers.

`Drivers.far` has one driver for each region with forecasts that reach several days ahead: the residual load, which is
load - wind - solar. A load, wind power or solar power that is unknown for all hours of tomorrow is left out. If only
one of the three is known for tomorrow, the driver is that one alone.

`Drivers.near` holds drivers made of forecasts for the next day. These drivers are each region's residual load, the
Baltic wind power and the Baltic solar power. If a region's load, wind power or solar power is unknown for an hour of
tomorrow, `Drivers.near` is computed without this load, wind power or solar power on all days.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known_days.quantities import NOMINAL_GW, Quantity, in_model_units, parse_quantity
from tunnihind.forecast.known_days.vintages import Floats32
from tunnihind.known import Floats

MIN_ISSUE_DAYS: Final = 45
"""A covariate is used only if it is known on at least this many issue days."""
_ENOUGH_HOURS: Final = 24 * MIN_ISSUE_DAYS
_NEAR_REGIONS: Final = ("baltic", "se", "fi", "pl")

_KINDS: Final = ("load", "wind", "solar")
_HALF_A_DAY: Final = 12
_USUAL_DAYS: Final = 14
_LOAD_BAND: Final = 0.45
_LOAD_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class Drivers:
    """The drivers of all regions, by name. Each array in `far` has shape (issue days, ages, 24).

    Each array in `near` has shape (delivery days, 24). In `near`, the row of a delivery day holds the newest forecast
    known at the issue instant of the day before. `members` maps each driver's name to the names of the driver's
    covariates, in `far` and in `near` together. `uses_next_day_covariates` is true if a driver in `near` uses a
    covariate whose forecasts end with the next day. `far_means` maps each region and kind (load, wind or solar) in
    `far` to its `ForecastMeans`.
    """

    far: Mapping[str, Floats]
    near: Mapping[str, Floats]
    members: Mapping[str, tuple[str, ...]]
    uses_next_day_covariates: bool
    far_means: Mapping[tuple[str, str], ForecastMeans]


@dataclass(frozen=True, slots=True)
class ForecastMeans:
    """The daily means of the forecasts of one region's load, wind power or solar power.

    `values` has shape (issue days, ages). A day with fewer than 12 known hours is NaN. `members` names the covariates.
    """

    members: tuple[str, ...]
    values: Floats


def make_drivers(
    far: Iterable[Mapping[str, Floats32]], near: Mapping[str, Floats32], today_row: int, fit_row: int
) -> Drivers:
    """Combine vintages of covariates, `far` (issue days, ages, 24) and `near` (delivery days, 24), into drivers.

    To save memory, `far` yields one group of `grouped_covariate_names` at a time. `today_row` is the row of the day on
    which the forecast is issued. The regressions of power on weather use the days up to row `fit_row`. If those days
    are too few, later days are used too. Callers change `fit_row` only once per era, because a change alters the
    drivers' values on past days.
    """
    next_day = {part.key: part for part in _parts(_without_replaced_weather(near, today_row + 1))}
    live_next_day = {key: part for key, part in next_day.items() if np.isfinite(part.values[today_row + 1]).all()}
    far_drivers: dict[str, _Driver] = {}
    baltic_next_day: dict[tuple[str, str], _Part] = {}
    far_means: dict[tuple[str, str], ForecastMeans] = {}
    parts = (part for part in chain.from_iterable(map(_parts, far)) if np.isfinite(part.values[today_row, 2]).any())
    for _, of_region in groupby(parts, key=lambda part: part.key[0]):
        far_parts = {part.key: part for part in sorted(of_region, key=lambda part: _KINDS.index(part.key[1]))}
        name, driver = _far_driver([*far_parts.values()], next_day, fit_row)
        far_drivers[name] = driver
        far_means |= {key: ForecastMeans(part.members, _daily_means(part.values)) for key, part in far_parts.items()}
        baltic_next_day |= _baltic_next_day_parts(far_parts, next_day, today_row + 1, fit_row)
    near_drivers = _near_drivers(baltic_next_day | live_next_day)
    return Drivers(
        far={name: values for name, (_, values) in far_drivers.items()},
        near={name: values for name, (_, values) in near_drivers.items()},
        members=_members_by_driver(far_drivers, near_drivers),
        uses_next_day_covariates=bool(live_next_day),
        far_means=far_means,
    )


def observed_daily_means(observed: Mapping[str, Floats32]) -> Floats | None:
    """Return the daily means of one region's observed load, wind power or solar power, shape (days,).

    `observed` maps the names of its covariates to their observations, each of shape (days, 24). The means are in the
    unit of `Drivers.far_means`. A day with fewer than 12 observed hours is NaN. If too few days are known, return None.
    """
    parts = _parts(observed)
    return _daily_means(parts[0].values) if parts else None


def _daily_means(hours: Floats) -> Floats:
    """Return the means of each day's known hours, shape (...). `hours` has shape (..., 24).

    Days with fewer than `_HALF_A_DAY` known hours are NaN.
    """
    known = np.isfinite(hours)
    count = known.sum(axis=-1)
    mean: Floats = np.where(known, hours, 0).sum(axis=-1) / np.maximum(count, 1)
    return np.where(count >= _HALF_A_DAY, mean, np.nan)


def grouped_covariate_names(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield groups of covariate names, one group for each region and kind (load, wind or solar).

    Covariates whose names the model doesn't know are left out.
    """
    regions: dict[str, dict[str, list[str]]] = {}
    for name in sorted(names):
        if (meaning := parse_quantity(name)) is not None:
            regions.setdefault(meaning.region, {}).setdefault(meaning.kind, []).append(name)
    for kinds in regions.values():
        yield from kinds.values()


def _baltic_next_day_parts(
    far_parts: Mapping[tuple[str, str], _Part],
    next_day_parts: Mapping[tuple[str, str], _Part],
    target: int,
    fit_row: int,
) -> dict[tuple[str, str], _Part]:
    """Return the next day's Baltic load, wind power and solar power in GW, from the forecasts in `far_parts`.

    A part is left out if an hour of its row `target` is unknown.
    """
    parts: dict[tuple[str, str], _Part] = {}
    for key, part in far_parts.items():
        if key[0] == "baltic":
            values = shifted_to_delivery_day(_in_gigawatts(part, next_day_parts.get(key), fit_row)[:, 2])
            if np.isfinite(values[target]).all():
                parts[key] = _Part(key, values, part.members, is_weather=False)
    return parts


def shifted_to_delivery_day[Number: np.floating](next_day: NDArray[Number]) -> NDArray[Number]:
    """Move each next-day forecast from the row of its issue day to the row of its delivery day.

    `next_day` has shape (issue days, 24), and the result has shape (issue days + 1, 24).
    """
    return np.concatenate([np.full_like(next_day[:1], np.nan), next_day])


def _members_by_driver(*drivers: Mapping[str, _Driver]) -> dict[str, tuple[str, ...]]:
    members: dict[str, tuple[str, ...]] = {}
    for name, (found, _) in (item for of_reach in drivers for item in of_reach.items()):
        members[name] = tuple(dict.fromkeys((*members.get(name, ()), *found)))
    return members


def _without_replaced_weather(near: Mapping[str, Floats32], target: int) -> dict[str, Floats32]:
    """Return `near` without the weather covariates that forecasts in MW can replace.

    Forecasts in MW are a better input than weather forecasts. For example, if a zone's wind power in MW is known for
    all hours of row `target` and on enough days (see `_has_enough_days`), the zone's wind speeds are left out.
    Covariates whose names the model doesn't know are left out too.
    """
    meanings = {name: meaning for name in near if (meaning := parse_quantity(name)) is not None}
    in_megawatts = {
        (meaning.zone, meaning.kind)
        for name, meaning in meanings.items()
        if not meaning.is_weather and _has_enough_days(near[name]) and np.isfinite(near[name][target]).all()
    }
    return {
        name: near[name]
        for name, meaning in meanings.items()
        if not meaning.is_weather or (meaning.zone, meaning.kind) not in in_megawatts
    }


def _has_enough_days(values: Floats32) -> bool:
    known = np.isfinite(values).reshape(len(values), -1).any(axis=1)
    return int(known.sum()) >= MIN_ISSUE_DAYS


@dataclass(frozen=True, slots=True)
class _Part:
    """The load, the wind power or the solar power of one region.

    If `is_weather` is true, `values` are in the weather units of `in_model_units`. Otherwise, `values` are in GW.
    """

    key: tuple[str, str]
    values: Floats
    members: tuple[str, ...]
    is_weather: bool


type _Driver = tuple[tuple[str, ...], Floats]
"""The names of a driver's covariates, and the driver's values."""


def _members_of(parts: Iterable[_Part]) -> tuple[str, ...]:
    return tuple(member for part in parts for member in part.members)


def _parts(covariates: Mapping[str, Floats32]) -> list[_Part]:
    groups: dict[tuple[str, str], dict[str, Quantity]] = {}
    for name in sorted(covariates):
        if (meaning := parse_quantity(name)) is not None and _has_enough_days(covariates[name]):
            groups.setdefault((meaning.region, meaning.kind), {})[name] = meaning
    parts: list[_Part] = []
    for key, meanings in groups.items():
        is_weather = all(meaning.is_weather for meaning in meanings.values())
        # To save memory, the covariates are converted one at a time.
        members = (_converted_covariate(key, meanings, name, covariates[name]) for name in meanings)
        parts.append(_Part(key, sum_or_mean(members, total=not is_weather), tuple(meanings), is_weather))
    return parts


def _converted_covariate(
    key: tuple[str, str], meanings: Mapping[str, Quantity], name: str, values: Floats32
) -> Floats32:
    """Return a covariate's values in GW. Loads are clipped by `_without_typing_errors`.

    If `meanings` holds only weather covariates, the values are in the units of `in_model_units` instead, and are not
    clipped.
    """
    values = in_model_units(meanings[name], values)
    weather = sum(meaning.is_weather for meaning in meanings.values())
    if weather == len(meanings):
        return values
    if meanings[name].is_weather:
        # The nominal power is divided equally among the weather covariates.
        values = values * np.float32(NOMINAL_GW.get(key, 1.0) / weather)
    return _without_typing_errors(values) if key[1] == "load" else values


def sum_or_mean(members: Iterable[Floats32], *, total: bool) -> Floats:
    """Return the sum of the covariates if `total` is true, or their mean if `total` is false.

    Each covariate in `members` has shape (days, ...). A missing value is estimated as the covariate's mean up to the
    day, multiplied by the ratio of the known covariates' sum to the sum of their means. Before the day with its first
    known value, a covariate counts as 0. If all covariates are missing, the result is NaN.
    """
    rest = iter(members)
    first = next(rest)
    inner = tuple(range(1, first.ndim))
    known_sum, known_level = np.zeros_like(first), np.zeros(first.shape)
    levels: list[Floats] = []
    for values in chain([first], rest):
        there = np.isfinite(values)
        known = np.where(there, values, np.float32(0))
        count = np.cumsum(there.sum(inner), axis=0)
        mean = np.cumsum(known.sum(inner, dtype=np.float64), axis=0) / np.maximum(count, 1)
        level = np.where(count > 0, np.maximum(mean, 1e-9), 0).reshape(mean.shape + (1,) * len(inner))
        known_sum += known
        known_level += there * level
        levels.append(level)
    unknown = np.full(known_level.shape, np.nan)
    ratio = np.divide(known_sum, known_level, out=unknown, where=known_level > 0)
    level_of_all = np.sum(levels, axis=0)
    whole: Floats = ratio * (level_of_all if total else level_of_all / len(levels))
    return whole


def _without_typing_errors(load: Floats32) -> Floats32:
    """Clip load forecasts to 55% to 145% of the recent load, because load forecasts may contain typing errors.

    The recent load is the median of the daily medians of the next-day forecasts, over the 14 days up to each day.
    """
    days = load.reshape(len(load), -1, load.shape[-1])
    next_day = days[:, min(2, days.shape[1] - 1)]
    known = np.isfinite(next_day).any(axis=1)
    daily = np.full(len(load), np.nan)
    daily[known] = np.nanmedian(next_day[known], axis=1)
    padded = np.concatenate([np.full(_LOAD_DAYS - 1, np.nan), daily])
    windows = np.lib.stride_tricks.sliding_window_view(padded, _LOAD_DAYS)
    seen = np.isfinite(windows).any(axis=1)
    middle = np.full(len(load), np.inf)
    middle[seen] = np.nanmedian(windows[seen], axis=1)
    middle = middle.reshape((-1,) + (1,) * (load.ndim - 1))
    low = np.where(np.isfinite(middle), (1 - _LOAD_BAND) * middle, -np.inf)
    return np.clip(load, low, (1 + _LOAD_BAND) * middle).astype(np.float32)


def _far_driver(parts: list[_Part], next_day: Mapping[tuple[str, str], _Part], fit_row: int) -> tuple[str, _Driver]:
    region, kind = parts[0].key
    if len(parts) == 1:
        return f"{kind}_{region}", (_members_of(parts), parts[0].values)
    gigawatts = [_in_gigawatts(part, next_day.get(part.key), fit_row) for part in parts]
    usual = [usual_values(values[:, 2])[:, None] for values in gigawatts]
    return f"residual_{region}", (_members_of(parts), _residual_load(parts, gigawatts, usual))


def _near_drivers(parts: Mapping[tuple[str, str], _Part]) -> dict[str, _Driver]:
    drivers: dict[str, _Driver] = {}
    for region in _NEAR_REGIONS:
        there = [parts[region, kind] for kind in _KINDS if (region, kind) in parts]
        if there:
            gigawatts = [part.values * _nominal_factor_to_gw(part) for part in there]
            residual = _residual_load(there, gigawatts, [usual_values(one) for one in gigawatts])
            drivers[f"residual_{region}"] = _members_of(there), residual
    for kind in ("wind", "solar"):
        if ("baltic", kind) in parts and sum(region == "baltic" for region, _ in parts) > 1:
            part = parts["baltic", kind]
            drivers[f"{kind}_baltic"] = part.members, part.values
    return drivers


def _residual_load(parts: list[_Part], gigawatts: list[Floats], usual: list[Floats]) -> Floats:
    """Return the residual load, load - wind - solar, in GW. A kind that is missing from `parts` counts as 0.

    An unknown value of a part is replaced by the part's value in `usual`. If all parts are unknown for an hour, the
    residual load is NaN.
    """
    known = np.logical_or.reduce([np.isfinite(values) for values in gigawatts])
    signs = [1.0 if part.key[1] == "load" else -1.0 for part in parts]
    residual = np.full(known.shape, np.nan)
    residual[known] = 0.0
    for sign, values, other in zip(signs, gigawatts, usual, strict=True):
        residual += sign * np.where(np.isfinite(values), values, other)
    return residual


def usual_values(days: Floats) -> Floats:
    """Return the usual value of each clock hour on each day, shape (days, 24).

    The usual value is the mean of the known values in the 14 days up to the day. If these days have no known value, the
    usual value of the day before is used. Before the first known value, the usual value is the mean of the first 45
    known values (`MIN_ISSUE_DAYS`), or 0 if there are fewer. Later data never change this mean.
    """
    there = np.isfinite(days)
    total, count = np.cumsum(np.where(there, days, 0.0), axis=0), np.cumsum(there, axis=0)
    begun = np.argmax(count >= MIN_ISSUE_DAYS, axis=0)
    clock = np.arange(days.shape[1])
    first = total[begun, clock] / np.maximum(count[begun, clock], 1)
    total[_USUAL_DAYS:] = total[_USUAL_DAYS:] - total[:-_USUAL_DAYS]
    count[_USUAL_DAYS:] = count[_USUAL_DAYS:] - count[:-_USUAL_DAYS]
    mean = total / np.maximum(count, 1)
    newest = np.maximum.accumulate(np.where(count > 0, np.arange(len(days))[:, None], -1), axis=0)
    usual: Floats = np.where(newest >= 0, mean[np.maximum(newest, 0), clock], first)
    return usual


def _nominal_factor_to_gw(part: _Part) -> float:
    return NOMINAL_GW.get(part.key, 1.0) if part.is_weather else 1.0


def _in_gigawatts(part: _Part, next_day_part: _Part | None, fit_row: int) -> Floats:
    """Return the values of `part` in GW.

    If `part` describes the weather, its values are multiplied by a factor. The factor is the slope with which the
    next-day forecasts in `next_day_part` (GW) follow the forecasts in `part` for the day after the issue day. If there
    are no such next-day forecasts or no slope, the factor is the region's nominal power.
    """
    gain = None
    if part.is_weather and next_day_part is not None and not next_day_part.is_weather:
        day_ahead = part.values[:-1, 2]  # the forecast for the day after each issue day
        gain = _regression_slope(day_ahead, next_day_part.values[1 : 1 + len(day_ahead)], fit_row)
    return part.values * (_nominal_factor_to_gw(part) if gain is None else gain)


def _regression_slope(weather: Floats, gigawatts: Floats, fit_row: int) -> float | None:
    """Return the slope of a regression of `gigawatts` on `weather`.

    The regression uses the days up to row `fit_row`. If these days have fewer than `_ENOUGH_HOURS` known hours, later
    days are added until this number is reached. If all days together have fewer, or if the slope is not positive,
    return None.
    """
    both = np.isfinite(weather) & np.isfinite(gigawatts)
    enough = np.flatnonzero(np.cumsum(both.sum(axis=1)) >= _ENOUGH_HOURS)
    if not enough.size:
        return None
    both[max(fit_row, int(enough[0])) + 1 :] = False
    x, y = weather[both] - weather[both].mean(), gigawatts[both] - gigawatts[both].mean()
    slope = float(x @ y / max(float(x @ x), 1e-9))
    return slope if slope > 0 else None
