"""Finds the course of a battery that costs a home the least, with exact dynamic programming over the stored energy.

What stored energy is worth at an instant depends on how much is stored. It is kept as layers from the full battery
down. A layer is some kWh that are worth equally much. Each step makes offers, in EUR per stored kWh: to sell stored
energy, to cover the home's use with it, to store surplus sun, and to charge from the grid. Before a step, stored energy
is worth what it is worth after the step, or what the step offers for it. So the layers before a step are the layers
after it with the step's offers sorted in, less what would then lie above the full battery or below the empty one.

Sorted offers are right if each is worth at least as much as the one before it, in the order above. That is not so if
selling pays more than buying costs, or if the price is so negative that the battery should burn energy: sorted, these
offers would let the battery sell and buy, or charge and discharge, in the same step. Then what stored energy is worth
is the most of what it is worth in each way to use the step. After this, a lower layer may be worth less than a higher
one, and an offer comes in at several depths.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from math import inf, remainder, sqrt
from operator import le
from typing import Final

import numpy as np

from ..core.market import HOUR_S
from .battery import Battery, Course, Floats, Steps, Target

_LACKING: Final = 1000.0
"""What one kWh costs that a target lacks, in EUR. This is far above all prices, so that targets come before costs."""
_IMPOSSIBLE: Final = 1e5
"""Keeps courses away from energies that a way to use a step can't start from, in EUR/kWh."""
_ACTING: Final = 1e-7
"""What acting costs in the first step, in EUR per stored kWh, and up to twice as much later. So among courses that cost
the same, a battery rests rather than acts, and acts early rather than late."""
_LEAST_KWH: Final = 1e-9
_LEAST_EUR: Final = 1e-10


@dataclass(frozen=True, slots=True)
class _Layers:
    """Energies in kWh from the top down, and their worth in EUR/kWh.

    If they `rise`, each is worth at least as much as the one above it.
    """

    worths: list[float]
    kwh: list[float]
    rise: bool = True

    @property
    def worth(self) -> float:
        """What all of them are worth, in EUR."""
        return sum(worth * kwh for worth, kwh in zip(self.worths, self.kwh, strict=True))

    def between(self, depth: float, end: float) -> _Layers:
        """Return the layers from `depth` to `end`, in kWh from the top."""
        if depth <= 0 and sum(self.kwh) <= end:
            return self
        worths, parts = [], []
        upper = 0.0
        for worth, kwh in zip(self.worths, self.kwh, strict=True):
            lower = upper + kwh
            if (part := min(lower, end) - max(upper, depth)) > _LEAST_KWH:
                worths.append(worth)
                parts.append(part)
            upper = lower
        return _Layers(worths, parts, self.rise)

    def knots(self, depth: float, value: float) -> tuple[list[float], list[float]]:
        """Return where layers meet that begin at `depth`, and the worth of all below, which is `value` at `depth`."""
        steps_down = zip(self.worths, self.kwh, strict=True)
        values = accumulate((-worth * kwh for worth, kwh in steps_down), initial=value)
        return [*accumulate(self.kwh, initial=depth)], [*values]


def _rise(worths: Sequence[float]) -> bool:
    return all(map(le, worths, islice(worths, 1, None), strict=False))


class _Builder:
    """Layers that are put one below another."""

    def __init__(self) -> None:
        self.worths: list[float] = []
        self.kwh: list[float] = []

    def add(self, worth: float, kwh: float) -> None:
        if self.worths and self.worths[-1] == worth:
            self.kwh[-1] += kwh
        elif kwh > 0:
            self.worths.append(worth)
            self.kwh.append(kwh)

    def take(self, kwh: float) -> None:
        """Take some of the lowest layer."""
        self.kwh[-1] -= kwh
        if self.kwh[-1] <= 0:
            self.kwh.pop()
            self.worths.pop()

    def layers(self) -> _Layers:
        return _Layers(self.worths, self.kwh, _rise(self.worths))


@dataclass(frozen=True, slots=True)
class _Step:
    """What a step offers for discharging (to sell, to cover the use), and for charging (by the sun, from the grid)."""

    discharging: _Layers
    charging: _Layers
    discharge_kwh: float
    charge_kwh: float
    is_sorted: bool


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The depths in kWh below the greatest energy that may occur: of the battery's bounds, and of the least energy.

    Above `highest` or below `lowest`, the battery only comes back.
    """

    highest: float
    lowest: float
    floor: float

    @property
    def are_all(self) -> bool:
        return self.highest == 0 and self.lowest == self.floor


def cheapest_course(
    battery: Battery, steps: Steps, stored_kwh: float, *, end_worth: float, targets: Sequence[Target] = ()
) -> Course:
    """Return the course that costs the least from `stored_kwh` on. `end_worth` is in EUR per kWh stored at the end.

    Targets come before costs. A target counts at the end of the last step that ends by its time, or of the first step.
    Targets at other times than the steps' count for nothing. A battery that holds less than `lowest_kwh` isn't
    discharged, and one that holds more than `highest_kwh` isn't charged. Both may stay so.
    """
    top = max(battery.highest_kwh, stored_kwh)
    bounds = _Bounds(
        top - battery.highest_kwh, top - battery.lowest_kwh, max(top - battery.lowest_kwh, top - stored_kwh)
    )
    hours = np.diff(steps.starts, append=steps.end) / HOUR_S
    offered = list(_offered(battery, steps, hours))
    wanted = _wanted(steps, targets)
    layers = _Layers([end_worth], [bounds.floor])
    layers_after = []
    for place in reversed(range(len(offered))):
        for level in wanted.get(place, ()):
            layers = _with_target(layers, top - level)
        layers_after.append(layers)
        layers = _before(layers, offered[place], bounds)
    start = depth = top - stored_kwh
    depths = []
    for step, after in zip(offered, reversed(layers_after), strict=True):
        depth = _depth_after(after, step, depth, bounds)
        depths.append(depth)
    changes = -np.diff(depths, prepend=start)
    one_way = sqrt(battery.efficiency)
    power_kw = np.where(changes > 0, changes / one_way, changes * one_way) / hours
    above = layers.between(start - 2 * _LEAST_KWH, max(start, 2 * _LEAST_KWH))
    return Course(
        power_kw=power_kw,
        stored_kwh=top - np.array(depths),
        cost=course_cost(battery, steps, power_kw) - end_worth * (top - depth),
        worth_now=remainder(above.worths[0], _LACKING) if above.worths else end_worth,
    )


def course_cost(battery: Battery, steps: Steps, power_kw: Floats) -> float:
    """Return what the home pays for electricity and the battery's wear at these powers, in EUR."""
    hours = np.diff(steps.starts, append=steps.end) / HOUR_S
    grid_kw = steps.use_kw + power_kw
    cost = np.where(grid_kw > 0, steps.buying, steps.selling) * grid_kw + battery.wear * np.maximum(-power_kw, 0)
    return float(cost @ hours)


def _offered(battery: Battery, steps: Steps, hours: Floats) -> Iterator[_Step]:
    one_way = sqrt(battery.efficiency)
    cover_kw = np.clip(steps.use_kw, 0, battery.discharge_kw)
    sell_kw = battery.discharge_kw - cover_kw if battery.sells else np.zeros_like(hours)
    sun_kw = np.clip(-steps.use_kw, 0, battery.charge_kw)
    grid_kw = np.zeros_like(hours)
    if battery.charges_from_grid:
        most_kw = battery.charge_kw if steps.room_kw is None else np.minimum(battery.charge_kw, steps.room_kw)
        grid_kw = np.maximum(most_kw - sun_kw, 0.0)
    acting = _ACTING * np.linspace(1, 2, len(hours))
    worths = (
        (steps.selling - battery.wear) * one_way - acting,
        (steps.buying - battery.wear) * one_way - acting,
        steps.selling / one_way + acting,
        steps.buying / one_way + acting,
    )
    kwh = (sell_kw * hours / one_way, cover_kw * hours / one_way, sun_kw * hours * one_way, grid_kw * hours * one_way)
    for step_worths, step_kwh in zip(np.stack(worths, 1).tolist(), np.stack(kwh, 1).tolist(), strict=True):
        discharging, charging = _Builder(), _Builder()
        for way, offers in ((discharging, slice(2)), (charging, slice(2, 4))):
            for worth, width in zip(step_worths[offers], step_kwh[offers], strict=True):
                way.add(worth, width)
        is_sorted = _rise(discharging.worths + charging.worths)
        yield _Step(
            discharging.layers(), charging.layers(), sum(discharging.kwh), sum(charging.kwh), is_sorted=is_sorted
        )


def _wanted(steps: Steps, targets: Sequence[Target]) -> dict[int, list[float]]:
    """Return the energies that should be stored, by the place of the step at whose end they should be."""
    wanted: dict[int, list[float]] = {}
    for target in targets:
        if len(steps.starts) and steps.starts[0] < target.at <= steps.end:
            ended = int(np.searchsorted(steps.starts[1:], target.at, "right")) - (target.at < steps.end)
            wanted.setdefault(max(ended, 0), []).append(target.stored_kwh)
    return wanted


def _with_target(layers: _Layers, depth: float) -> _Layers:
    upper, lower = layers.between(0, depth), layers.between(depth, inf)
    worths = upper.worths + [worth + _LACKING for worth in lower.worths]
    return _Layers(worths, upper.kwh + lower.kwh, layers.rise)


def _before(after: _Layers, step: _Step, bounds: _Bounds) -> _Layers:
    """Return what stored energy is worth before a step."""
    if not (step.is_sorted and bounds.are_all):
        return _greatest_worth(after, step, bounds)
    return _cut(_with_offers(_with_offers(after, step.discharging), step.charging), step.discharge_kwh, step.charge_kwh)


def _with_offers(layers: _Layers, offers: _Layers) -> _Layers:
    """Return the layers with offers, each of which may be used in part and without the others."""
    if not layers.rise:
        for worth, kwh in zip(offers.worths, offers.kwh, strict=True):
            layers = _with_offer_at_peaks(layers, worth, kwh)
        return layers
    sorted_layers = _Layers(layers.worths.copy(), layers.kwh.copy())
    for worth, kwh in zip(offers.worths, offers.kwh, strict=True):
        place = bisect_left(sorted_layers.worths, worth)
        sorted_layers.worths.insert(place, worth)
        sorted_layers.kwh.insert(place, kwh)
    return sorted_layers


def _with_offer_at_peaks(layers: _Layers, worth: float, kwh: float) -> _Layers:
    """Return the layers with an offer where they pass its worth on the way down, however often.

    Between two such places it is best to go to the one above or to the one below. So much is left out between them, as
    the offer came in too often, that both are equally good there.
    """
    built = _Builder()
    below: list[tuple[float, float]] = []
    has_passed = False
    for layer, width in [*zip(layers.worths, layers.kwh, strict=True), (inf, 0.0)]:
        if layer < worth:
            below.append((layer, width))
            continue
        if below or not has_passed:
            below.append((worth, kwh))
            if has_passed:
                below = _met(built, below, kwh, worth)
            for part in below:
                built.add(*part)
            below = []
            has_passed = True
        built.add(layer, width)
    return built.layers()


def _met(built: _Builder, below: list[tuple[float, float]], kwh: float, worth: float) -> list[tuple[float, float]]:
    """Take `kwh` from the lower end of `built` and the upper end of `below`, and return what is left of `below`.

    From either, so much is taken that both give the same where they then meet.
    """
    rest = below[::-1]
    taken: list[tuple[float, float]] = []
    ahead = 0.0
    while kwh > _LEAST_KWH:
        layer, width = rest.pop()
        part = min(width, kwh)
        if width > part:
            rest.append((layer, width - part))
        taken.append((layer, part))
        ahead += (worth - layer) * part
        kwh -= part
    while taken and ahead > _LEAST_EUR:
        layer, width = taken.pop()
        steepness = built.worths[-1] - layer
        part = min(width, built.kwh[-1])
        if steepness * part > ahead:
            part = ahead / steepness
        ahead -= steepness * part
        built.take(part)
        rest.append((layer, part))
        if width > part:
            taken.append((layer, width - part))
    return rest[::-1]


def _cut(layers: _Layers, upper_kwh: float, lower_kwh: float) -> _Layers:
    """Take energy from the top and from the bottom of the layers, and return them."""
    for end, width in ((0, upper_kwh), (-1, lower_kwh)):
        left = width
        while layers.kwh and layers.kwh[end] <= left:
            left -= layers.kwh.pop(end)
            layers.worths.pop(end)
        if layers.kwh:
            layers.kwh[end] -= left
    return layers


def _greatest_worth(after: _Layers, step: _Step, bounds: _Bounds) -> _Layers:
    """Return what stored energy is worth before a step in the best way to use the step."""
    best, *others = _ways(after, step, bounds)
    for other in others:
        best = _greater(best, other)
    return best[1]


def _ways(after: _Layers, step: _Step, bounds: _Bounds) -> Iterator[tuple[float, _Layers]]:
    """Yield what stored energy is worth before a step in each way to use it: of the full battery, and the layers."""
    for used, offers in _uses(step.discharging, nearest=-1):
        kwh = sum(used.kwh)
        kept = after.between(0, bounds.lowest)
        layers = _with_offers(_joined(kept, _Layers([_IMPOSSIBLE], [bounds.floor - bounds.lowest + kwh])), offers)
        lost = kwh + sum(offers.kwh)
        yield used.worth + offers.worth - layers.between(0, lost).worth, layers.between(lost, inf)
    upper = after.between(0, bounds.highest)
    for used, offers in _uses(step.charging, nearest=0):
        kwh = sum(used.kwh)
        unreachable = _Layers([-_IMPOSSIBLE], [bounds.highest + kwh])
        layers = _with_offers(_joined(unreachable, after.between(bounds.highest, inf)), offers)
        yield unreachable.worth - upper.worth - used.worth, layers.between(0, bounds.floor)


def _uses(offers: _Layers, *, nearest: int) -> list[tuple[_Layers, _Layers]]:
    """Return the ways to use a step's offers for one direction: those used wholly, and those used in part or not."""
    if offers.rise:
        return [(_Layers([], []), offers)]
    near, far = (_Layers([offers.worths[place]], [offers.kwh[place]]) for place in (nearest, nearest + 1))
    return [(_Layers([], []), near), (near, far)]


def _joined(upper: _Layers, lower: _Layers) -> _Layers:
    worths = upper.worths + lower.worths
    return _Layers(worths, upper.kwh + lower.kwh, _rise(worths))


def _greater(first: tuple[float, _Layers], second: tuple[float, _Layers]) -> tuple[float, _Layers]:
    """Return the greater of two worths at each depth, both given as the worth of the full battery and the layers."""
    built = _Builder()
    ahead = first[0] - second[0]
    ours, theirs = (list(zip(layers.worths, layers.kwh, strict=True))[::-1] for _, layers in (first, second))
    while ours and theirs:
        (worth, kwh), (other, other_kwh) = ours.pop(), theirs.pop()
        part = min(kwh, other_kwh)
        ahead_below = ahead - (worth - other) * part
        if kwh > part:
            ours.append((worth, kwh - part))
        if other_kwh > part:
            theirs.append((other, other_kwh - part))
        if ahead > -_LEAST_EUR and ahead_below > -_LEAST_EUR:
            built.add(worth, part)
        elif ahead < _LEAST_EUR and ahead_below < _LEAST_EUR:
            built.add(other, part)
        else:
            crossing = part * ahead / (ahead - ahead_below)
            built.add(worth if ahead > 0 else other, crossing)
            built.add(other if ahead > 0 else worth, part - crossing)
        ahead = ahead_below
    return max(first[0], second[0]), built.layers()


def _depth_after(after: _Layers, step: _Step, depth: float, bounds: _Bounds) -> float:
    """Return the depth at which a step should end, if it begins at `depth`."""
    if not (step.is_sorted and bounds.are_all and after.rise):
        return _best_depth(after, step, depth, bounds)
    best = depth + step.discharge_kwh
    for offers in (step.discharging, step.charging):
        for price, kwh in zip(offers.worths, offers.kwh, strict=True):
            best = min(best, max(best - kwh, sum(after.kwh[: bisect_right(after.worths, price)])))
    return depth if abs(best - depth) < _LEAST_KWH else max(best, 0.0)


def _best_depth(after: _Layers, step: _Step, depth: float, bounds: _Bounds) -> float:
    """Return the same for any layers, offers and depth.

    The best is to end where two layers meet, or to use some offers wholly and the others not at all.
    """
    depths, values = after.knots(0, 0)
    discharge, discharge_worths = step.discharging.knots(-step.discharge_kwh, step.discharging.worth)
    charge, charge_worths = step.charging.knots(0, 0)
    changes, worths = discharge[:-1] + charge, discharge_worths[:-1] + charge_worths
    ends = np.array([depth, bounds.highest, bounds.lowest, *depths, *(depth - change for change in changes)])
    ends = ends.clip(0, bounds.floor)
    change = depth - ends
    is_possible = (change > changes[0] - _LEAST_KWH) & (change < changes[-1] + _LEAST_KWH)
    is_possible &= (change <= 0) | (ends >= bounds.highest)
    is_possible &= (change >= 0) | (ends <= bounds.lowest)
    total = np.interp(ends, depths, values) + np.interp(change, changes, worths)
    return float(ends[np.where(is_possible, total.round(11), -np.inf).argmax()])
