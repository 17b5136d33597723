"""Finds the course of a battery that costs a home the least, with exact dynamic programming over the stored energy.

What stored energy is worth at an instant depends on how much is stored. It is kept as layers from the full battery
down. A layer is some kWh that are worth equally much. Each step makes offers, in EUR per stored kWh: to sell stored
energy, to cover the home's use with it, to store surplus sun, and to charge from the grid. Before a step, stored energy
is worth what it is worth after the step, or what the step offers for it. So the layers before a step are the layers
after it with the step's offers sorted in, less what would then lie above the full battery or below the empty one.

This holds if lower layers are worth more, and if each of a step's offers is worth more than the one before it. That is
not so if selling pays more than buying costs, or if the price is so negative that the battery should burn energy: then
the battery would sell and buy, or charge and discharge, in the same step. Such a step's offers are divided into runs
that rise, and so are the layers. The worth before the step is then the greatest that any pair of two runs gives.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from math import remainder, sqrt
from typing import Final

import numpy as np

from ..core.market import HOUR_S
from .battery import Battery, Course, Floats, Steps, Target

_LACKING: Final = 1000.0
"""What one kWh costs that a target lacks, in EUR. This is far above all prices, so that targets come before costs."""
_ACTING: Final = 1e-7
"""What acting costs in the first step, in EUR per stored kWh, and up to twice as much later. So among courses that cost
the same, a battery rests rather than acts, and acts early rather than late."""
_LEAST_KWH: Final = 1e-9
_LEAST_EUR: Final = 1e-10
_HUGE: Final = 1e12


@dataclass(frozen=True, slots=True)
class _Layers:
    """The worth of energies in EUR/kWh, and how many kWh each is, from the top down."""

    worths: list[float]
    kwh: list[float]

    @property
    def rises(self) -> bool:
        return all(upper <= lower for upper, lower in pairwise(self.worths))

    def between(self, depth: float, end: float) -> _Layers:
        """Return the layers from `depth` to `end`, in kWh from the top."""
        found = _Layers([], [])
        upper = 0.0
        for worth, kwh in zip(self.worths, self.kwh, strict=True):
            lower = upper + kwh
            if (part := min(lower, end) - max(upper, depth)) > _LEAST_KWH:
                found.worths.append(worth)
                found.kwh.append(part)
            upper = lower
        return found


@dataclass(frozen=True, slots=True)
class _Step:
    """What a step offers, from the greatest discharge to the greatest charge.

    So all that a full battery may lose is on top. The offers for discharging come first.
    """

    discharging: _Layers
    charging: _Layers
    offers: _Layers
    discharge_kwh: float
    charge_kwh: float
    is_concave: bool


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The stored energies in kWh that may occur, and those above or below which the battery only comes back."""

    floor: float
    lowest: float
    highest: float
    top: float


@dataclass(frozen=True, slots=True)
class _Run:
    """Layers below `depth` (kWh from the full battery), and what all energy is worth there in EUR."""

    depth: float
    value: float
    layers: _Layers

    def knots(self) -> tuple[Floats, Floats]:
        """Return the depths between the layers, and what all energy is worth there."""
        steps_down = zip(self.layers.worths, self.layers.kwh, strict=True)
        values = accumulate((-worth * kwh for worth, kwh in steps_down), initial=self.value)
        return np.array([*accumulate(self.layers.kwh, initial=self.depth)]), np.array([*values])

    def with_offers(self, offers: _Run) -> _Run:
        """Return what the energy is worth before a step with `offers`. Both must rise."""
        both = sorted(
            [
                *zip(self.layers.worths, self.layers.kwh, strict=True),
                *zip(offers.layers.worths, offers.layers.kwh, strict=True),
            ]
        )
        layers = _Layers([worth for worth, _ in both], [kwh for _, kwh in both])
        return _Run(self.depth + offers.depth, self.value + offers.value, layers)


def cheapest_course(
    battery: Battery, steps: Steps, stored_kwh: float, *, end_worth: float, targets: Sequence[Target] = ()
) -> Course:
    """Return the course that costs the least from `stored_kwh` on. `end_worth` is in EUR per kWh stored at the end.

    Targets come before costs. A target counts at the end of the last step that ends by its time, or of the first step.
    Targets at other times than the steps' count for nothing. A battery that holds less than `lowest_kwh` isn't
    discharged, and one that holds more than `highest_kwh` isn't charged. Both may stay so.
    """
    bounds = _Bounds(
        min(battery.lowest_kwh, stored_kwh),
        battery.lowest_kwh,
        battery.highest_kwh,
        max(battery.highest_kwh, stored_kwh),
    )
    hours = np.diff(steps.starts, append=steps.end) / HOUR_S
    offered = list(_offered(battery, steps, hours))
    wanted = _wanted(steps, targets)
    layers = _Layers([end_worth], [bounds.top - bounds.floor])
    layers_after = []
    for place in reversed(range(len(offered))):
        for level in wanted.get(place, ()):
            layers = _with_target(layers, bounds.top - level)
        layers_after.append(layers)
        layers = _layers_before(layers, offered[place], bounds)
    stored, course = stored_kwh, []
    for step, after in zip(offered, reversed(layers_after), strict=True):
        stored = _stored_after(after, step, stored, bounds)
        course.append(stored)
    changes = np.diff(course, prepend=stored_kwh)
    one_way = sqrt(battery.efficiency)
    power_kw = np.where(changes > 0, changes / one_way, changes * one_way) / hours
    depth = bounds.top - stored_kwh
    above = layers.between(depth - 2 * _LEAST_KWH, depth) if depth else layers
    return Course(
        power_kw=power_kw,
        stored_kwh=np.array(course),
        cost=course_cost(battery, steps, power_kw) - end_worth * stored,
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
    grid_kw = battery.charge_kw - sun_kw if battery.charges_from_grid else np.zeros_like(hours)
    acting = _ACTING * np.linspace(1, 2, len(hours))
    worths = (
        (steps.selling - battery.wear) * one_way - acting,
        (steps.buying - battery.wear) * one_way - acting,
        steps.selling / one_way + acting,
        steps.buying / one_way + acting,
    )
    kwh = (sell_kw * hours / one_way, cover_kw * hours / one_way, sun_kw * hours * one_way, grid_kw * hours * one_way)
    for step_worths, step_kwh in zip(np.stack(worths, 1).tolist(), np.stack(kwh, 1).tolist(), strict=True):
        ways = [
            _Layers(
                [worth for worth, width in zip(step_worths[way], step_kwh[way], strict=True) if width],
                [width for width in step_kwh[way] if width],
            )
            for way in (slice(2), slice(2, 4))
        ]
        discharging, charging = ways
        offers = _Layers(discharging.worths + charging.worths, discharging.kwh + charging.kwh)
        yield _Step(discharging, charging, offers, sum(discharging.kwh), sum(charging.kwh), offers.rises)


def _wanted(steps: Steps, targets: Sequence[Target]) -> dict[int, list[float]]:
    """Return the energies that should be stored, by the place of the step at whose end they should be."""
    wanted: dict[int, list[float]] = {}
    for target in targets:
        if len(steps.starts) and steps.starts[0] < target.at <= steps.end:
            ended = int(np.searchsorted(steps.starts[1:], target.at, "right")) - (target.at < steps.end)
            wanted.setdefault(max(ended, 0), []).append(target.stored_kwh)
    return wanted


def _with_target(layers: _Layers, depth: float) -> _Layers:
    upper, lower = layers.between(0, depth), layers.between(depth, float("inf"))
    return _Layers(upper.worths + [worth + _LACKING for worth in lower.worths], upper.kwh + lower.kwh)


def _layers_before(after: _Layers, step: _Step, bounds: _Bounds) -> _Layers:
    if not (step.is_concave and after.rises and bounds.floor == bounds.lowest and bounds.top == bounds.highest):
        return _greatest(list(_runs_before(after, step, bounds)), bounds.top - bounds.floor)
    worths, kwh = after.worths.copy(), after.kwh.copy()
    for worth, width in zip(step.offers.worths, step.offers.kwh, strict=True):
        place = bisect_left(worths, worth)
        worths.insert(place, worth)
        kwh.insert(place, width)
    _cut(worths, kwh, step.discharge_kwh, 0)
    _cut(worths, kwh, step.charge_kwh, -1)
    return _Layers(worths, kwh)


def _cut(worths: list[float], kwh: list[float], width: float, end: int) -> None:
    """Take `width` (kWh) from the first layers (`end` is 0) or the last ones (-1)."""
    while kwh and kwh[end] <= width:
        width -= kwh.pop(end)
        worths.pop(end)
    if kwh:
        kwh[end] -= width


def _runs_before(after: _Layers, step: _Step, bounds: _Bounds) -> Iterator[_Run]:
    """Yield the worth before a step for each pair of a run of the layers after it and a run of its offers."""
    discharge_worth = _worth(step.discharging)
    if bounds.floor == bounds.lowest and bounds.top == bounds.highest:
        parts = [(0.0, float("inf"), step.offers, -step.discharge_kwh, discharge_worth)]
    else:
        parts = [
            (0.0, bounds.top - bounds.lowest, step.discharging, -step.discharge_kwh, discharge_worth),
            (bounds.top - bounds.highest, float("inf"), step.charging, 0.0, 0.0),
        ]
    for depth, end, offers, offers_depth, offers_value in parts:
        value = -_worth(after.between(0, depth))
        for layers_run, offers_run in product(
            _runs(after.between(depth, end), depth, value), _runs(offers, offers_depth, offers_value)
        ):
            yield layers_run.with_offers(offers_run)


def _worth(layers: _Layers) -> float:
    return sum(worth * kwh for worth, kwh in zip(layers.worths, layers.kwh, strict=True))


def _runs(layers: _Layers, depth: float, value: float) -> Iterator[_Run]:
    """Yield the longest runs of layers that rise. The first begins at `depth`, where the worth of all is `value`."""
    run = _Run(depth, value, _Layers([], []))
    for worth, kwh in zip(layers.worths, layers.kwh, strict=True):
        if run.layers.worths and worth < run.layers.worths[-1]:
            yield run
            run = _Run(depth, value, _Layers([], []))
        run.layers.worths.append(worth)
        run.layers.kwh.append(kwh)
        depth += kwh
        value -= worth * kwh
    yield run


def _greatest(runs: Sequence[_Run], depth: float) -> _Layers:
    """Return the layers of the greatest worth that any of the runs gives, from the full battery down to `depth`."""
    knots = [run.knots() for run in runs]
    grid = np.unique(np.concatenate([[0.0, depth], *(depths for depths, _ in knots)]).clip(0, depth))
    grid = grid[np.diff(grid, prepend=-1) > _LEAST_KWH]
    starts, ends = np.array([[[depths[0]], [depths[-1]]] for depths, _ in knots]).swapaxes(0, 1)
    while True:
        values = np.array([np.interp(grid, depths, values) for depths, values in knots])
        # A run that starts just below a depth of the grid counts from there.
        is_given = (grid[:-1] > starts - 2 * _LEAST_KWH) & (grid[1:] <= ends)
        upper, lower = np.where(is_given, values[:, :-1], -_HUGE), np.where(is_given, values[:, 1:], -_HUGE)
        # Of the runs that are the greatest at an interval's one end, the one that is the greatest at its other end.
        first = np.where(upper >= upper.max(0) - _LEAST_EUR, lower, -np.inf).argmax(0)
        last = np.where(lower >= lower.max(0) - _LEAST_EUR, upper, -np.inf).argmax(0)
        every = np.arange(len(grid) - 1)
        ahead, behind = upper[first, every] - upper[last, every], lower[last, every] - lower[first, every]
        crosses = (ahead > _LEAST_EUR) & (behind > _LEAST_EUR)
        crossings = grid[:-1] + np.diff(grid) * ahead / np.where(crosses, ahead + behind, 1)
        crosses &= (crossings - grid[:-1] > _LEAST_KWH) & (grid[1:] - crossings > _LEAST_KWH)
        if not crosses.any():
            break
        grid = np.sort(np.append(grid, crossings[crosses]))
    found = _Layers([], [])
    middles = (grid[:-1] + grid[1:]) / 2
    for index, middle, kwh in zip(first.tolist(), middles.tolist(), np.diff(grid).tolist(), strict=True):
        place = max(int(knots[index][0].searchsorted(middle)) - 1, 0)
        worth = runs[index].layers.worths[place]
        if found.worths and found.worths[-1] == worth:
            found.kwh[-1] += kwh
        else:
            found.worths.append(worth)
            found.kwh.append(kwh)
    return found


def _stored_after(after: _Layers, step: _Step, stored: float, bounds: _Bounds) -> float:
    """Return what should be stored after a step, if `stored` kWh are before it."""
    if not (step.is_concave and after.rises and bounds.lowest <= stored <= bounds.highest):
        return _best_of_all(after, step, stored, bounds)
    before = stored
    for price, kwh in zip(step.charging.worths, step.charging.kwh, strict=True):
        wanted = bounds.floor + sum(after.kwh[bisect_right(after.worths, price) :])
        stored = max(stored, min(stored + kwh, wanted))
    if stored == before:
        for gain, kwh in zip(reversed(step.discharging.worths), reversed(step.discharging.kwh), strict=True):
            kept = bounds.floor + sum(after.kwh[bisect_left(after.worths, gain) :])
            stored = min(stored, max(stored - kwh, kept))
    return stored


def _best_of_all(after: _Layers, step: _Step, stored: float, bounds: _Bounds) -> float:
    """Return the same for any layers, offers and energy.

    The best is to end where two layers meet or at a bound, or to use some offers wholly and the others not at all.
    """
    depth = bounds.top - stored
    depths, values = _Run(0.0, 0.0, after).knots()
    changes, gains = _Run(-step.discharge_kwh, _worth(step.discharging), step.offers).knots()
    shallowest, deepest = bounds.top - bounds.highest, bounds.top - bounds.lowest
    ends = np.concatenate([[depth, shallowest, deepest], depths, depth - changes]).clip(0, depths[-1])
    change = depth - ends
    is_possible = (change >= changes[0] - _LEAST_KWH) & (change <= changes[-1] + _LEAST_KWH)
    is_possible &= (change <= 0) | (ends >= shallowest)
    is_possible &= (change >= 0) | (ends <= deepest)
    total = np.interp(ends, depths, values) + np.interp(change, changes, gains)
    best = int(np.where(is_possible, total.round(11), -np.inf).argmax())
    return bounds.top - float(ends[best])
