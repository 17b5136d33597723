"""Replays a point model over past days, and continues kept replays.

Each era of 16 weeks has its own model, which begins to learn on a fixed day. A model is refitted on fixed days, so a
replay that is continued day by day gives exactly the same forecasts as a new replay of all days.
"""

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.columns.lead import ColumnData
from tunnihind.forecast.point.model import Fit, LearningModel, PointModelFactory
from tunnihind.forecast.replay.learner import WARM_UP_DAYS, Learner, RowBlocks
from tunnihind.forecast.replay.learnt import LearntData, LearntKeeper
from tunnihind.forecast.run import LEAD_DAYS, LEADS
from tunnihind.known import Floats

ERA_DAYS: Final = 112
_REPLAY_DAYS: Final = 896
"""The replay for an era begins this many days before the era, unless the known prices begin later.

Earlier days would count little: after 896 days, 1.6% of a day's weight is left with a half-life of 150 days, and 8.3%
with one of 250 days (see `point.ridge`).
"""
MAX_REPLAY_DAYS: Final = _REPLAY_DAYS + ERA_DAYS
"""The largest number of days in a replay."""

_FREQUENT_REFIT_DAYS: Final = 224
"""From this many days before its era on, a model is refitted every `_REFIT_STEP_DAYS` days.

Before that, a model is refitted only every `_COARSE_REFIT_STEP_DAYS` days, because most of the errors from which
intervals are computed come later.
"""
_REFIT_STEP_DAYS: Final = 5
_COARSE_REFIT_STEP_DAYS: Final = 28
_THOROUGH_STEP_DAYS: Final = 20
"""The number of days between two thorough refits (see `LearningModel.fit`).

More than `_FREQUENT_REFIT_DAYS` days before the era, no refit is thorough.
"""
_KEPT_LEARNERS: Final = 2
"""The number of kept learners of a replayed model, each as it was after one of the last refits.

Replays of later days continue from the newest learner. The forecasts of settled days may need the older learner.
"""
_KEPT_RESULTS: Final = 2
"""The number of kept results of a replayed model: one up to its newest learnt day, and one up to the day before."""
_KEPT_MODELS: Final = 3
"""The number of replayed models that an era may need.

One model forecasts before the publication of tomorrow's prices, one forecasts after it, and one has only lead 1 and
forecasts settled days.
"""
_ERA_VALUES: Final = 2
"""The number of values at the beginning of `_CacheKey.model_key` that identify the era."""


def era_start(newest: date) -> date:
    """Return the first day of the 16-week era to which a day belongs."""
    return date.fromordinal(newest.toordinal() // ERA_DAYS * ERA_DAYS)


def history_start(newest: date) -> date:
    """Return the day on which a replay up to the day `newest` begins, unless the known prices begin later."""
    return era_start(newest) - timedelta(days=_REPLAY_DAYS)


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of a replay up to row `through`.

    `fit` is the model fitted to all learnt days. `issued` (leads, days, 24) holds the level-corrected forecasts of past
    days in EUR/MWh. `shift` (leads,) holds the level correction (see `replay.level`) of the next forecast at each lead,
    on the asinh scale.
    """

    through: int
    leads: tuple[int, ...]
    fit: Fit
    issued: Floats
    shift: Floats

    def of_first_leads(self, leads: int) -> ReplayResult:
        """Return this result with only the first `leads` leads. `fit` keeps all leads.

        The values of a lead do not depend on later leads.
        """
        return replace(self, leads=self.leads[:leads], issued=self.issued[:leads], shift=self.shift[:leads])


class Replayer:
    """Replays a point model, or continues a kept replay of the same era if its past data are unchanged.

    The name of a kept replay contains a digest of its prices and drivers, so a replay is never continued with changed
    past data.
    """

    def __init__(self, model: PointModelFactory, keeper: LearntKeeper | None) -> None:
        """Prepare to replay the point models that `model` creates. A `keeper` keeps the replays for other processes."""
        self._model = model
        self._learners = _ReplayCache(Learner, model, keeper, most=_KEPT_LEARNERS)
        self._replayed = _ReplayCache(ReplayResult, model, keeper, most=_KEPT_RESULTS)

    def replay_up_to(self, columns: ColumnData, era_row: int, through: int, leads: tuple[int, ...]) -> ReplayResult:
        """Replay the given leads up to row `through`, and return the result.

        The era begins at row `era_row`. `leads` must hold consecutive leads and begin with lead 1.
        """
        names = [_CacheKey("replayed", columns, era_row, through, wide) for wide in _sufficient_leads(leads)]
        replayed = self._replayed.find_first(names)
        if replayed is None:
            replayed = _finish_replay(
                self._learner_after_last_refit(columns, era_row, through, leads), columns, through, leads
            )
            self._replayed.keep(names[0], replayed)
        return replayed.of_first_leads(len(leads))

    def _learner_after_last_refit(
        self, columns: ColumnData, era_row: int, through: int, leads: tuple[int, ...]
    ) -> Learner:
        """Return the learner as it was after its last refit on or before row `through`.

        Callers must not change the learner, because other replays continue from it.
        """
        refits = _refit_rows(WARM_UP_DAYS - 1, through, era_row)
        last = refits[-_KEPT_LEARNERS:]
        names = (
            _CacheKey("learner", columns, era_row, row, wide)
            for row in reversed(last)
            for wide in _sufficient_leads(leads)
        )
        found = self._learners.find_first(names)
        learner = Learner.begin(self._model, leads, era_row + ERA_DAYS + 2 * LEADS) if found is None else found
        is_kept = found is not None
        blocks = RowBlocks(columns, through)
        for row in refits:
            if row <= learner.through:
                continue
            learner = learner.copy() if is_kept else learner
            learner.learn(blocks, row)
            learner.refit(thorough=_is_thorough_refit(row, era_row))
            is_kept = row in last
            if is_kept:
                self._learners.keep(_CacheKey("learner", columns, era_row, row, tuple(learner.records)), learner)
        return learner


@dataclass(frozen=True, slots=True)
class _CacheKey:
    """The name under which a learner or a replay's result is kept."""

    kind: str
    columns: ColumnData
    era_row: int
    through: int
    leads: tuple[int, ...]

    @property
    def model_key(self) -> tuple[object, ...]:
        """The values that identify the replayed model. The first `_ERA_VALUES` of them identify its era."""
        return self.columns.grid.first, self.era_row, self.columns.issue_lag, self.leads

    def __str__(self) -> str:
        digest = self.columns.digest_until(self.through)
        return f"{self.kind}-{self.era_row}-{self.through}-{len(self.leads)}-{digest}"


class _ReplayCache[Kept]:
    """Keeps objects of type `kept_type` (`Learner` or `ReplayResult`) under their names.

    At most `_KEPT_MODELS` replayed models of one era stay in memory, with at most `most` objects of each model. The
    models and objects that were used last stay. Objects that are not in memory are loaded from the `keeper`, if given.
    """

    def __init__(
        self, kept_type: type[Kept], model: PointModelFactory, keeper: LearntKeeper | None, *, most: int
    ) -> None:
        self._kept_type = kept_type
        self._model = model
        self._keeper = keeper
        self._most = most
        self._by_model: OrderedDict[tuple[object, ...], OrderedDict[str, Kept]] = OrderedDict()

    def find_first(self, names: Iterable[_CacheKey]) -> Kept | None:
        """Return the first object that is kept under one of `names`, or None if there is none."""
        return next((kept for name in names if (kept := self._find(name)) is not None), None)

    def keep(self, name: _CacheKey, kept: Kept) -> None:
        """Keep a `Learner` or `ReplayResult` under a name. The caller must not change the object afterwards."""
        self._keep_in_memory(name, kept)
        if self._keeper is not None:
            self._keeper.keep(str(name), LearntData.from_dataclass(kept))

    def _find(self, name: _CacheKey) -> Kept | None:
        of_model = self._by_model.get(name.model_key)
        kept = None if of_model is None else of_model.get(str(name))
        if kept is None and self._keeper is not None and (learnt := self._keeper.find(str(name))) is not None:
            kept = self._restore(learnt)
        if kept is not None:
            self._keep_in_memory(name, kept)
        return kept

    def _restore(self, learnt: LearntData) -> Kept | None:
        learning = self._model()
        # If the kept data do not match the model's types, the past is replayed instead.
        with suppress(ValueError):
            return learnt.restore(self._kept_type, {LearningModel: type(learning), Fit: learning.fit_type})
        return None

    def _keep_in_memory(self, name: _CacheKey, kept: Kept) -> None:
        of_model = self._by_model.setdefault(name.model_key, OrderedDict())
        of_model[str(name)] = kept
        of_model.move_to_end(str(name))
        self._by_model.move_to_end(name.model_key)
        for other in [key for key in self._by_model if key[:_ERA_VALUES] != name.model_key[:_ERA_VALUES]]:
            del self._by_model[other]
        _trim(of_model, self._most)
        _trim(self._by_model, _KEPT_MODELS)


def _trim[Key, Value](kept: OrderedDict[Key, Value], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)


def _sufficient_leads(leads: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    """Return the tuples of leads whose results contain the result for `leads`: `leads` itself, and all leads."""
    return dict.fromkeys((leads, tuple(LEAD_DAYS)))


def _refit_rows(after: int, through: int, era_row: int) -> list[int]:
    return [row for row in range(after + 1, through + 1) if _is_refit(row, era_row)]


def _is_refit(row: int, era_row: int) -> bool:
    step = _REFIT_STEP_DAYS if row >= era_row - _FREQUENT_REFIT_DAYS else _COARSE_REFIT_STEP_DAYS
    return (row - era_row) % step == 0


def _is_thorough_refit(row: int, era_row: int) -> bool:
    return row >= era_row - _FREQUENT_REFIT_DAYS and (row - era_row) % _THOROUGH_STEP_DAYS == 0


def _finish_replay(learner: Learner, columns: ColumnData, through: int, leads: tuple[int, ...]) -> ReplayResult:
    """Learn from the days after the last refit, up to row `through`, and return the result of the replay."""
    if learner.through < through:
        learner = learner.copy()
        learner.learn(RowBlocks(columns, through), through)
    shift = np.array([learner.level_correction(lead) for lead in leads])
    return ReplayResult(through, leads, learner.fit(leads), learner.issued_forecasts(leads).copy(), shift)
