"""From covariates by name to a few drivers of price by region, whatever set of points and zones is there.

Forecasts that reach several days (`far`) become one driver per region: its residual load, load - wind - solar, of the
parts that are there. Those that reach the next day only (`near`) become residual loads, and the Baltic wind and solar.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunnihind.forecast.known_days.quantities import NOMINAL_GW, Quantity, in_units, quantity
from tunnihind.forecast.known_days.vintages import Singles
from tunnihind.known import Floats

MIN_ISSUE_DAYS: Final = 45
"""A covariate is used once so many issue days hold it."""
FEW_PAIRS: Final = 24 * MIN_ISSUE_DAYS
NEAR_REGIONS: Final = ("baltic", "se", "fi", "pl")

_LOAD_BAND: Final = 0.45
_LOAD_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class Drivers:
    """`far` (issue days, ages, 24) and `near` (delivery days, 24) by name; `members` which covariates make each.

    A near driver holds for each delivery day what had been issued the day before.
    """

    far: Mapping[str, Floats]
    near: Mapping[str, Floats]
    members: Mapping[str, tuple[str, ...]]


def make_drivers(far: Mapping[str, Singles], near: Mapping[str, Singles]) -> Drivers:
    """Combine the vintages of covariates that the model can read; names that mean nothing to it are passed over."""
    next_day = {part.key: part for part in _parts(near)}
    week = {part.key: part for part in _parts(far)}
    far_drivers = _far_drivers(week, next_day)
    near_drivers = _near_drivers(next_day)
    both = far_drivers | near_drivers
    return Drivers(
        far={name: values for name, (_, values) in far_drivers.items()},
        near={name: values for name, (_, values) in near_drivers.items()},
        members={name: tuple(member for part in parts for member in part.members) for name, (parts, _) in both.items()},
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """One kind of quantity of one region; `is_weather` where `values` aren't in GW."""

    key: tuple[str, str]
    values: Floats
    members: tuple[str, ...]
    is_weather: bool


def _parts(covariates: Mapping[str, Singles]) -> list[_Part]:
    groups: dict[tuple[str, str], dict[str, Quantity]] = {}
    for name in sorted(covariates):
        known_days = np.isfinite(covariates[name]).reshape(len(covariates[name]), -1).any(axis=1).sum()
        if (meaning := quantity(name)) is not None and known_days >= MIN_ISSUE_DAYS:
            groups.setdefault((meaning.region, meaning.kind), {})[name] = meaning
    parts: list[_Part] = []
    for key, meanings in groups.items():
        values = [in_units(meaning, covariates[name]) for name, meaning in meanings.items()]
        is_weather = all(meaning.is_weather for meaning in meanings.values())
        if key[1] == "load" and not is_weather:
            values = [_without_typing_errors(one) for one in values]
        parts.append(_Part(key, joined(values, total=not is_weather), tuple(meanings), is_weather))
    return parts


def joined(members: list[Singles], *, total: bool) -> Floats:
    """Return the sum, or the mean, of members of shape (days, ...); a missing one moves with those that are there.

    It keeps its ratio to them by the means of all days so far.
    """
    inner = tuple(range(1, members[0].ndim))
    known_sum, known_level = np.zeros_like(members[0]), np.zeros(members[0].shape)
    levels: list[Floats] = []
    for values in members:
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
    whole: Floats = ratio * (level_of_all if total else level_of_all / len(members))
    return whole


def _without_typing_errors(load: Singles) -> Singles:
    """Hold forecasts of load that leave 45 % around the median of the last 14 days at that bound."""
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


def _far_drivers(
    week: Mapping[tuple[str, str], _Part], next_day: Mapping[tuple[str, str], _Part]
) -> dict[str, tuple[list[_Part], Floats]]:
    drivers: dict[str, tuple[list[_Part], Floats]] = {}
    for region in dict.fromkeys(region for region, _ in week):
        parts = [week[region, kind] for kind in ("load", "wind", "solar") if (region, kind) in week]
        if len(parts) == 1:
            drivers[f"{parts[0].key[1]}_{region}"] = parts, parts[0].values
        else:
            signed = [_gigawatts(part, next_day.get(part.key)) for part in parts]
            drivers[f"residual_{region}"] = parts, _residual(parts, signed)
    return drivers


def _residual(parts: list[_Part], gigawatts: list[Floats]) -> Floats:
    signs = [1.0 if part.key[1] == "load" else -1.0 for part in parts]
    signed = [sign * values for sign, values in zip(signs, gigawatts, strict=True)]
    residual: Floats = np.sum(signed, axis=0, dtype=np.float64)
    return residual


def _gigawatts(part: _Part, measured: _Part | None) -> Floats:
    """Return a quantity in GW; weather by its regression on the next day's known GW, by the nominal figure else."""
    if not part.is_weather:
        return part.values
    gain = None
    if measured is not None and not measured.is_weather:
        day_ahead = part.values[:-1, 2]  # for the day after each issue
        gain = _slope(day_ahead, measured.values[1 : 1 + len(day_ahead)])
    return part.values * (NOMINAL_GW.get(part.key, 1.0) if gain is None else gain)


def _slope(weather: Floats, gigawatts: Floats) -> float | None:
    """Return by how much GW rise with a unit of weather, None with too few hours or the wrong sign."""
    both = np.isfinite(weather) & np.isfinite(gigawatts)
    if both.sum() < FEW_PAIRS:
        return None
    x, y = weather[both] - weather[both].mean(), gigawatts[both] - gigawatts[both].mean()
    slope = float(x @ y / max(float(x @ x), 1e-9))
    return slope if slope > 0 else None


def _near_drivers(parts: Mapping[tuple[str, str], _Part]) -> dict[str, tuple[list[_Part], Floats]]:
    drivers: dict[str, tuple[list[_Part], Floats]] = {}
    for region in NEAR_REGIONS:
        if (region, "load") in parts:
            there = [parts[region, kind] for kind in ("load", "wind", "solar") if (region, kind) in parts]
            drivers[f"residual_{region}"] = there, _residual(there, [part.values for part in there])
    for kind in ("wind", "solar"):
        if ("baltic", kind) in parts:
            drivers[f"{kind}_baltic"] = [parts["baltic", kind]], parts["baltic", kind].values
    return drivers
