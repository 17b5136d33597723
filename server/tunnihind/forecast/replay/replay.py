"""When the model's past is replayed from, in which steps, and how a running state is continued.

Time is cut into eras of 16 weeks. A state belongs to one era: it is replayed from a fixed day before it and refitted
on fixed days, so that a state continued day by day and one replayed from nothing are the same, bit by bit.
"""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.columns.lead import LeadColumns
from tunnihind.forecast.point.model import Fit, PointModel
from tunnihind.forecast.replay.learner import Learner, RowBlocks
from tunnihind.forecast.run import LEADS
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
_THOROUGH_STEP_DAYS: Final = 20
"""Between them refits of the past need not be thorough."""
_KEPT_REFITS: Final = 2
"""The days of an unfinished step, and today's and tomorrow's forecasts without their own prices, go on from these."""
_KEPT_STATES: Final = 3
_KEPT_REPLAYED: Final = 4


def era_start(newest: date) -> date:
    """Return the first day of the era that a day belongs to."""
    return date.fromordinal(newest.toordinal() // ERA_DAYS * ERA_DAYS)


def history_start(newest: date) -> date:
    """Return the first day that a state whose newest settled day is `newest` looks at."""
    return era_start(newest) - timedelta(days=REPLAY_DAYS)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A learner as it stands after the day `through`: models, and by lead what was issued and the level's shift.

    `issued` has shape (leads, days, 24), EUR/MWh; `shift` (leads,), asinh scale.
    """

    through: int
    leads: tuple[int, ...]
    fit: Fit
    issued: Floats
    shift: Floats

    def of_first(self, leads: int) -> Replayed:
        """Return the same of the first leads, whose models know nothing of the others."""
        return replace(self, leads=self.leads[:leads], issued=self.issued[:leads], shift=self.shift[:leads])


@dataclass(slots=True)
class _State:
    """A learner at its last refits, what it was replayed to past them, and the columns that all of it has `seen`."""

    era_row: int
    leads: tuple[int, ...]
    seen: LeadColumns
    refits: list[Learner] = field(default_factory=list)
    replayed: OrderedDict[int, Replayed] = field(default_factory=OrderedDict)

    def stands(self, columns: LeadColumns) -> bool:
        """Tell whether the past that the learner has seen is that of other columns."""
        return columns.same_until(self.seen, max((learner.through for learner in self.refits), default=0))

    def go_on(self, columns: LeadColumns) -> None:
        """Go on from other columns of the same past; drop what lies past the point where they part."""
        for through in list(self.replayed):
            if not columns.same_until(self.seen, through):
                del self.replayed[through]
        self.seen = columns


class Replays:
    """Running states of a point model by what they look at, each continued as long as the past has not changed."""

    def __init__(self, model: PointModel) -> None:
        self._model = model
        self._states: OrderedDict[tuple[object, ...], _State] = OrderedDict()

    def up_to(self, columns: LeadColumns, era_row: int, through: int, leads: tuple[int, ...]) -> Replayed:
        """Return the learner of the first `leads` as it stands after row `through`."""
        state = self._state(columns, era_row, leads)
        kept = state.replayed.get(through)
        if kept is None or len(kept.leads) < len(leads):
            kept = _finished(self._continued(state, columns, through), columns, through, leads)
            state.replayed[through] = kept
            _trim(state.replayed, _KEPT_REPLAYED)
        return kept.of_first(len(leads))

    def _state(self, columns: LeadColumns, era_row: int, leads: tuple[int, ...]) -> _State:
        """Return the running state for these columns, a new one where the past that it has seen is not theirs."""
        key = (columns.grid.first, era_row, columns.lag, tuple(columns.weather), tuple(columns.next_day))
        state = self._states.get(key)
        if state is None or len(state.leads) < len(leads) or not state.stands(columns):
            state = self._states[key] = _State(era_row, leads, columns)
        state.go_on(columns)
        self._states.move_to_end(key)
        _trim(self._states, _KEPT_STATES)
        return state

    def _continued(self, state: _State, columns: LeadColumns, through: int) -> Learner:
        """Return the learner at its last refit on or before row `through`; not to be changed."""
        done = [learner for learner in state.refits if learner.through <= through]
        if done:
            learner = done[-1].copy()
        else:
            state.refits = []
            learner = Learner.begin(self._model, state.leads, state.era_row + ERA_DAYS + 2 * LEADS)
        blocks = RowBlocks(columns, through)
        for row in _refit_rows(learner.through, through, state.era_row):
            learner.learn(blocks, row)
            learner.refit(thorough=_is_thorough(row, state.era_row))
            if row > through - _KEPT_REFITS * _STEP_DAYS:
                state.refits = [*state.refits, learner.copy()][-_KEPT_REFITS:]
        return learner


def _trim[Key, Value](kept: OrderedDict[Key, Value], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)


def _refit_rows(after: int, through: int, era_row: int) -> list[int]:
    """Return the rows past `after`, up to `through`, at which a state is refitted."""
    return [row for row in range(after + 1, through + 1) if _is_refit(row, era_row)]


def _is_refit(row: int, era_row: int) -> bool:
    step = _STEP_DAYS if row >= era_row - _BANK_DAYS else _COARSE_STEP_DAYS
    return (row - era_row) % step == 0


def _is_thorough(row: int, era_row: int) -> bool:
    return row >= era_row - _BANK_DAYS and (row - era_row) % _THOROUGH_STEP_DAYS == 0


def _finished(learner: Learner, columns: LeadColumns, through: int, leads: tuple[int, ...]) -> Replayed:
    """Take in the days since the last refit, and fit."""
    if learner.through < through:
        learner = learner.copy()
        learner.learn(RowBlocks(columns, through), through)
    shift = np.array([learner.shift(lead) for lead in leads])
    return Replayed(through, leads, learner.fit(leads), learner.issued(leads).copy(), shift)
