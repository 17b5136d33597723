"""Chooses steps of time for several devices that share a limit of power, so that all together cost the least.

The jobs are given in the order in which their needs are met: as many steps of the first job as possible come before
those of the second one, and so on. Among the choices that meet the needs equally, the cheapest is taken. If several
cost the same, the choice that the jobs make one after another is taken if it is one of them, and else the one that runs
earlier.

Each job is an automaton whose state tells how many steps and starts are left, and whether a piece or a pause is under
way. From the end backwards, a table has the least cost from each state on, as if the device were alone. The sum of
these costs is a bound for all devices. It becomes close where they compete if each step has a toll for its power
(Lagrangian relaxation; the tolls follow the subgradient with Polyak's step length). The search then goes forwards
through the states of all automata at once. It keeps the cheapest way to each state, and drops a state if its cost and
its bound together reach the cost of a known solution.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

type _Ints = NDArray[np.int64]
type _Runs = NDArray[np.bool_]
"""Whether each job (second axis) runs in each step (first axis)."""
type Steps = tuple[int, ...]
"""The steps in which a device runs, in chronological order."""

_IMPOSSIBLE: Final = 1 << 60
# What a step of a need counts where a job chooses alone. All costs of a job together must be lower.
_NEED: Final = 1 << 50
_MOST_TOLLS: Final = 30
_MOST_WAYS: Final = 45_000
_FEW_WAYS: Final = 20_000
_MOST_WAYS_IN_ALL: Final = 100_000
_FEW_STATES: Final = 200
_SHORTER_STEP: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJob:
    """The need of a device with a constant power, in steps of equal length.

    `costs` are what the device costs in each step, as whole numbers, or None where it must not run. It should run for
    `steps` steps in total, in pieces of at least `min_piece` steps with pauses of at least `min_pause`. At most
    `most_pieces` pieces may start, and each start costs `start_cost`. `power` is a whole number of any unit. If
    `running_until` is not None, a piece runs until that step, which counts neither as need nor as power. It may go on
    from there without a start, and for any time.
    """

    costs: tuple[int | None, ...]
    steps: int
    power: int
    min_piece: int = 1
    min_pause: int = 0
    most_pieces: int | None = None
    start_cost: int = 0
    running_until: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The steps in which each job runs. If `is_best` is false, the search ended before it was known to be the best."""

    runs: tuple[Steps, ...]
    is_best: bool


@lru_cache(maxsize=16)
def chosen_together(jobs: tuple[StepJob, ...], room: tuple[int, ...]) -> Choice:
    """Return the best choice for all jobs.

    `room` is the power that all jobs together may use in each step, in the unit of their powers, 0 or above. If the
    search would take too long, the result is the best choice that was found, or the choices of one job after another.
    """
    search = _Search(jobs, room)
    runs, unmet = search.one_after_another()
    are_needs_met = True
    if unmet != search.unmet_alone():
        better, unmet, are_needs_met = search.with_more_met(unmet)
        runs = runs if better is None else better
    runs, is_cheapest = search.with_less_cost(runs, unmet)
    steps = tuple(tuple(np.flatnonzero(of_job).tolist()) for of_job in runs.T)
    return Choice(steps, are_needs_met and is_cheapest)


@dataclass(frozen=True, slots=True)
class _Automaton:
    """The states of one job. The first state is that of the first step, and the last one stands for what can't be.

    `idle` and `run` are the states after a step without and with the device. `starts` marks states from which running
    is a start. `left` has the steps that are left in each state, or -1 if the job must not end in it.
    """

    idle: _Ints
    run: _Ints
    starts: _Ints
    left: _Ints


@lru_cache(maxsize=64)
def _automaton(steps: int, min_piece: int, min_pause: int, most_pieces: int, running_until: int | None) -> _Automaton:
    # A state has the steps and the starts that are left, the steps that a piece must still run (-1 without a piece),
    # and the steps that a pause must still last (below 0: that the first piece runs in any case).
    start = (steps, most_pieces, -1, 0) if running_until is None else (steps, most_pieces, 0, -running_until)
    places, found, rows = {start: 0}, [start], []

    def place(state: tuple[int, int, int, int]) -> int:
        if state[0] == 0 and state[2] <= 0:
            state = (0, 0, -1, 0)
        if state not in places:
            places[state] = len(found)
            found.append(state)
        return places[state]

    for left, starts, piece, pause in found:
        idle = run = -1
        if pause < 0:
            idle = place((left, starts, 0, pause + 1))
        elif piece < 0:
            idle = place((left, starts, -1, max(pause - 1, 0)))
            if not pause and starts and left >= min_piece:
                run = place((left - 1, starts - 1, min_piece - 1, 0))
        else:
            if not piece:
                idle = place((left, starts, -1, max(min_pause - 1, 0)))
            if left:
                run = place((left - 1, starts, max(piece - 1, 0), 0))
        rows.append((idle, run, piece < 0 and run >= 0, left if piece <= 0 else -1))
    table = np.array([*rows, (-1, -1, 0, -1)], dtype=np.int64).T
    table[:2] %= len(found) + 1
    return _Automaton(*table)


@dataclass(frozen=True, slots=True)
class _Found:
    runs: _Runs | None = None
    unmet: tuple[int, ...] = ()
    cost: int = 0
    is_over: bool = True


class _Search:
    """The automata of all jobs, with their states numbered one after another, and the searches in them.

    A table of bounds has the least cost of reaching the end from each state of each job (second axis), if the step of
    the first axis has not begun. A job's cost in the end is given by its last state, as `terminal`.
    """

    def __init__(self, jobs: Sequence[StepJob], room: Sequence[int]) -> None:
        automata = [
            _automaton(
                job.steps,
                job.min_piece,
                job.min_pause,
                # More starts than that never fit.
                min(job.steps if job.most_pieces is None else job.most_pieces, job.steps // job.min_piece),
                job.running_until,
            )
            for job in jobs
        ]
        sizes = [len(one.left) for one in automata]
        self._steps = [job.steps for job in jobs]
        self._first = np.cumsum([0, *sizes[:-1]])
        self._owner = np.repeat(np.arange(len(jobs)), sizes)
        self._idle = np.concatenate([one.idle + first for one, first in zip(automata, self._first, strict=True)])
        self._run = np.concatenate([one.run + first for one, first in zip(automata, self._first, strict=True)])
        self._left = np.concatenate([one.left for one in automata])
        starts = np.concatenate([one.starts for one in automata])
        self._start_costs = starts * np.array([job.start_cost for job in jobs])[self._owner]
        self._costs = np.array([[_IMPOSSIBLE if cost is None else cost for cost in job.costs] for job in jobs]).T
        self._power = np.array([job.power for job in jobs])
        self._room = np.array(room)
        # All ways to let some of the jobs run, the first jobs first, and whether each fits into each step.
        self._ways = np.array([*product((1, 0), repeat=len(jobs))])
        load = self._ways @ self._power
        self._fits = load <= self._room[:, None]
        self._most_load = np.where(self._fits, load, 0).max(axis=1)
        fits_alone = (self._costs < _IMPOSSIBLE) & (self._power <= self._room[:, None])
        self._free = np.where(fits_alone, 0, _IMPOSSIBLE)
        """The costs if only needs count."""
        self._ways_left = _MOST_WAYS_IN_ALL
        self._no_start_costs = np.zeros_like(self._start_costs)

    def unmet_alone(self) -> tuple[int, ...]:
        """Return how many steps of each job can't be met, even if the other jobs didn't run."""
        bounds = self._bounds(self._free, self._no_start_costs, np.where(self._left < 0, _IMPOSSIBLE, self._left))
        return tuple(bounds[0, self._first].tolist())

    def one_after_another(self) -> tuple[_Runs, tuple[int, ...]]:
        """Return the choices of the jobs in their order, and how many steps of each are not met."""
        room, unmet = self._room.copy(), []
        runs = np.zeros(self._costs.shape, dtype=np.bool_)
        terminal = np.where(self._left < 0, _IMPOSSIBLE, self._left * _NEED)
        for job, power in enumerate(self._power):
            costs = np.where(power <= room[:, None], self._costs, _IMPOSSIBLE)
            alone, ends = self._alone(costs, self._start_costs, self._bounds(costs, self._start_costs, terminal))
            runs[:, job] = alone[:, job]
            room -= runs[:, job] * power
            unmet.append(int(self._left[ends[job]]))
        return runs, tuple(unmet)

    def with_more_met(self, unmet: tuple[int, ...]) -> tuple[_Runs | None, tuple[int, ...], bool]:
        """Return a choice that meets the needs best, its unmet steps, and whether the search has come to its end.

        `unmet` are those of a known choice. If the search finds no better one, the first result is None.
        """
        weights = np.cumprod([1, *(steps + 1 for steps in self._steps[:0:-1])])[::-1]
        terminal = np.where(self._left < 0, _IMPOSSIBLE, self._left * weights[self._owner])
        bounds = self._bounds(self._free, self._no_start_costs, terminal)
        no_tolls = np.zeros(len(self._room), dtype=np.int64)
        found = self._search(self._free, self._no_start_costs, bounds, no_tolls, int(weights @ unmet), _MOST_WAYS)
        return found.runs, unmet if found.runs is None else found.unmet, found.is_over

    def with_less_cost(self, runs: _Runs, unmet: tuple[int, ...]) -> tuple[_Runs, bool]:
        """Return the cheapest choice that leaves `unmet`, and whether the search has come to its end.

        `runs` is a known choice. It is the result if no cheaper one is found.
        """
        terminal = np.where(self._left == np.array(unmet)[self._owner], 0, _IMPOSSIBLE)
        known = self._cost(runs)
        for most_tolls, most_ways in ((0, _FEW_WAYS), (_MOST_TOLLS, _MOST_WAYS)):
            bounds, tolls = self._close_bounds(terminal, known, most_tolls)
            found = self._search(self._costs, self._start_costs, bounds, tolls, known, most_ways)
            if found.runs is not None:
                runs, known = found.runs, found.cost
            if found.is_over:
                return runs, True
        return runs, False

    def _bounds(self, costs: _Ints, start_costs: _Ints, terminal: _Ints) -> _Ints:
        """Return the table of bounds."""
        by_state = costs[:, self._owner] + start_costs
        bounds = np.empty((len(costs) + 1, len(terminal)), dtype=np.int64)
        bounds[-1] = terminal
        for step in range(len(costs) - 1, -1, -1):
            after = bounds[step + 1]
            run = by_state[step] + after[self._run]
            np.minimum(np.minimum(run, after[self._idle]), _IMPOSSIBLE, out=bounds[step])
        return bounds

    def _alone(self, costs: _Ints, start_costs: _Ints, bounds: _Ints) -> tuple[_Runs, _Ints]:
        """Return the cheapest choice of each job if it were alone, the earlier one of two, and its last state."""
        states, jobs = self._first, np.arange(len(self._first))
        runs = np.empty(costs.shape, dtype=np.bool_)
        for step in range(len(costs)):
            after = bounds[step + 1, self._run[states]] + costs[step, jobs] + start_costs[states]
            runs[step] = after == bounds[step, states]
            states = np.where(runs[step], self._run[states], self._idle[states])
        return runs, states

    def _cost(self, runs: _Runs) -> int:
        states, cost = self._first, int(self._costs[runs].sum())
        for run in runs:
            cost += int(self._start_costs[states[run]].sum())
            states = np.where(run, self._run[states], self._idle[states])
        return cost

    def _close_bounds(self, terminal: _Ints, known: int, most_tolls: int) -> tuple[_Ints, _Ints]:
        """Return a table of bounds with tolls, and the most that the jobs pay as a toll in each step.

        `known` is the cost of a known choice. A job pays for its power, and the tolls rise where the jobs would use
        more than the room, if each were alone. A step that brings no closer bound is tried again with less length.
        """
        tolls = best_tolls = np.zeros(len(self._room))
        best, closest, part = -_IMPOSSIBLE, (np.empty((0, 0), dtype=np.int64), np.empty(0, dtype=np.int64)), 1.0
        for _ in range(most_tolls + 1):
            paid = (tolls[:, None] * self._power).astype(np.int64)
            most = np.where(self._fits, paid @ self._ways.T, 0).max(axis=1)
            costs = self._costs + paid
            bounds = self._bounds(costs, self._start_costs, terminal)
            bound = int(bounds[0, self._first].sum() - most.sum())
            if bound > best:
                best, closest, best_tolls = bound, (bounds, most), tolls
                alone, _ = self._alone(costs, self._start_costs, bounds)
                excess = alone @ self._power - self._most_load
                excess[(tolls == 0) & (excess < 0)] = 0
            else:
                part *= _SHORTER_STEP
            if bound >= known or not excess.any():
                break
            tolls = np.maximum(best_tolls + part * (known - best) / float(excess @ excess) * excess, 0)
        return closest

    def _search(
        self, costs: _Ints, start_costs: _Ints, bounds: _Ints, tolls: _Ints, known: int, most_ways: int
    ) -> _Found:
        """Return the cheapest choice below the cost `known`.

        `tolls` are the most that the jobs pay in each step in `bounds`. A first search among the most promising states
        often finds a choice that shortens the second one.
        """
        best = _Found()
        for most_states in (_FEW_STATES, most_ways):
            found = self._search_among(costs, start_costs, bounds, tolls, known, most_states, most_ways)
            if found.runs is not None:
                known, best = found.cost, found
            if found.is_over:
                break
        return replace(best, is_over=found.is_over)

    def _search_among(
        self,
        costs: _Ints,
        start_costs: _Ints,
        bounds: _Ints,
        tolls: _Ints,
        known: int,
        most_states: int,
        most_ways: int,
    ) -> _Found:
        relief = np.append(np.cumsum(tolls[::-1])[::-1], 0)
        # Each state of a job has a number below `base`, so a number with one digit for each job is a state of all.
        digits = len(self._left) ** np.arange(len(self._first))
        states, so_far = self._first[None, :], np.zeros(1, dtype=np.int64)
        chosen: list[tuple[_Ints, _Ints]] = []
        left, is_over = most_ways, True
        for step in range(len(costs)):
            ways = self._ways[self._fits[step]]
            left -= len(states) * len(ways)
            self._ways_left -= len(states) * len(ways)
            if left < 0 or self._ways_left < 0:
                return _Found(is_over=False)
            runs = ways[None, :, :] > 0
            after = np.where(runs, self._run[states][:, None, :], self._idle[states][:, None, :])
            paid = (costs[step] + start_costs[states])[:, None, :]
            cost = so_far[:, None] + np.where(runs, paid, 0).sum(axis=2)
            total = np.minimum(cost, _IMPOSSIBLE) + bounds[step + 1][after].sum(axis=2) - relief[step + 1]
            after, cost, total = after.reshape(-1, len(digits)), cost.reshape(-1), total.reshape(-1)
            places = np.flatnonzero(total < known)
            if not len(places):
                return _Found(is_over=is_over)
            numbers = (after[places] * digits).sum(axis=1)
            # The ways are in the order of their steps, so the first of equally cheap ones is the earliest.
            order = np.lexsort((cost[places], numbers))
            places = places[np.sort(order[np.append(True, np.diff(numbers[order]) != 0)])]
            if len(places) > most_states:
                places, is_over = places[np.sort(np.argsort(total[places], kind="stable")[:most_states])], False
            states, so_far = after[places], cost[places]
            chosen.append((places // len(ways), ways[places % len(ways)]))
        place = int(np.argmin(so_far + bounds[-1][states].sum(axis=1)))
        unmet = tuple(self._left[states[place]].tolist())
        cost_of_best = int(so_far[place] + bounds[-1][states[place]].sum())
        found = np.empty(costs.shape, dtype=np.bool_)
        for step in range(len(costs) - 1, -1, -1):
            parents, ways_to = chosen[step]
            found[step], place = ways_to[place] > 0, int(parents[place])
        return _Found(found, unmet, cost_of_best, is_over=is_over)
