"""When the model's past is replayed from, in which steps, and how a running state is continued.

Time is cut into eras of 16 weeks. A state belongs to one era: it is replayed from a fixed day before it and refitted
on fixed days, so that a state continued day by day and one replayed from nothing are the same, bit by bit.
"""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.intervals import LEADS
from tunnihind.forecast.model.inputs import Inputs
from tunnihind.forecast.model.learner import Fit, Learner, RowBlocks
from tunnihind.known import Floats

ERA_DAYS: Final = 112
REPLAY_DAYS: Final = 896
"""How far before its era a state begins: six half-lives, after which 1.6 % of a row's weight is left."""
HISTORY_DAYS: Final = REPLAY_DAYS + ERA_DAYS
"""How much history a state may look at."""

_BANK_DAYS: Final = 224
"""Days before the era that fill the bank of errors, and are therefore replayed in finer steps."""
_STEP_DAYS: Final = 5
_COARSE_STEP_DAYS: Final = 28
_KERNEL_STEP_DAYS: Final = 20
_KEPT_REFITS: Final = 2
"""The days of an unfinished step, and today's and tomorrow's forecasts without their own prices, go on from these."""
_KEPT_STATES: Final = 3
_KEPT_VIEWS: Final = 4


def era_start(newest: date) -> date:
    """Return the first day of the era that a day belongs to."""
    return date.fromordinal(newest.toordinal() // ERA_DAYS * ERA_DAYS)


def history_start(newest: date) -> date:
    """Return the first day that a state whose newest settled day is `newest` looks at."""
    return era_start(newest) - timedelta(days=REPLAY_DAYS)


@dataclass(frozen=True, slots=True)
class View:
    """A learner as it stands after the day `through`: models, and by lead what was issued and the level's shift.

    `issued` has shape (leads, days, 24), EUR/MWh; `shift` (leads,), asinh scale.
    """

    through: int
    leads: tuple[int, ...]
    fit: Fit
    issued: Floats
    shift: Floats

    def of_first(self, leads: int) -> View:
        """Return the view of its first leads, whose models know nothing of the others."""
        return replace(self, leads=self.leads[:leads], issued=self.issued[:leads], shift=self.shift[:leads])


@dataclass(slots=True)
class _State:
    """A learner at its last refits, views past them, and the inputs that they have `seen`."""

    era_row: int
    leads: tuple[int, ...]
    seen: Inputs
    refits: list[Learner] = field(default_factory=list)
    views: OrderedDict[int, View] = field(default_factory=OrderedDict)

    def stands(self, inputs: Inputs) -> bool:
        """Tell whether the past that the learner has seen is that of other inputs."""
        return inputs.same_until(self.seen, max((learner.through for learner in self.refits), default=0))

    def go_on(self, inputs: Inputs) -> None:
        """Go on from other inputs of the same past, without the views past the point where they part."""
        for through in list(self.views):
            if not inputs.same_until(self.seen, through):
                del self.views[through]
        self.seen = inputs


class Replays:
    """Running states by what they look at, each continued as far as the data it was built on still stands."""

    def __init__(self) -> None:
        self._states: OrderedDict[tuple[object, ...], _State] = OrderedDict()

    def view(self, inputs: Inputs, era_row: int, through: int, leads: tuple[int, ...]) -> View:
        """Return the learner of the first `leads` as it stands after row `through`."""
        state = self._state(inputs, era_row, leads)
        kept = state.views.get(through)
        if kept is None or len(kept.leads) < len(leads):
            kept = state.views[through] = _viewed(_continued(state, inputs, through), inputs, through, leads)
            _trim(state.views, _KEPT_VIEWS)
        return kept.of_first(len(leads))

    def _state(self, inputs: Inputs, era_row: int, leads: tuple[int, ...]) -> _State:
        """Return the running state for these inputs, a new one where the past that it has seen is not theirs."""
        key = (inputs.grid.first, era_row, inputs.lag, tuple(inputs.far), tuple(inputs.near))
        state = self._states.get(key)
        if state is None or len(state.leads) < len(leads) or not state.stands(inputs):
            state = self._states[key] = _State(era_row, leads, inputs)
        state.go_on(inputs)
        self._states.move_to_end(key)
        _trim(self._states, _KEPT_STATES)
        return state


def _trim[Key, Value](kept: OrderedDict[Key, Value], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)


def _continued(state: _State, inputs: Inputs, through: int) -> Learner:
    """Return the learner at its last refit on or before row `through`; not to be changed."""
    done = [learner for learner in state.refits if learner.through <= through]
    if not done:
        state.refits = []
    learner = done[-1].copy() if done else Learner(inputs, state.leads, state.era_row + ERA_DAYS + 2 * LEADS)
    blocks = RowBlocks(inputs, through)
    for row in _refit_rows(learner.through, through, state.era_row):
        learner.learn(blocks, row)
        learner.remember(inputs, with_kernels=_has_kernels(row, state.era_row))
        if row > through - _KEPT_REFITS * _STEP_DAYS:
            state.refits = [*state.refits, learner.copy()][-_KEPT_REFITS:]
    return learner


def _refit_rows(after: int, through: int, era_row: int) -> list[int]:
    """Return the rows past `after`, up to `through`, at which a state is refitted."""
    return [row for row in range(after + 1, through + 1) if _is_refit(row, era_row)]


def _is_refit(row: int, era_row: int) -> bool:
    step = _STEP_DAYS if row >= era_row - _BANK_DAYS else _COARSE_STEP_DAYS
    return (row - era_row) % step == 0


def _has_kernels(row: int, era_row: int) -> bool:
    return row >= era_row - _BANK_DAYS and (row - era_row) % _KERNEL_STEP_DAYS == 0


def _viewed(learner: Learner, inputs: Inputs, through: int, leads: tuple[int, ...]) -> View:
    if learner.through < through:
        learner = learner.copy()
        learner.learn(RowBlocks(inputs, through), through)
    shift = np.array([learner.shift(lead) for lead in leads])
    return View(through, leads, learner.fit(inputs, leads), learner.issued(leads).copy(), shift)
