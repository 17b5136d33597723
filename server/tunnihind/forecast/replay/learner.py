"""Forecasts past days with a point model, and then trains the model on these days.

All replayed forecasts with issue days between the same two refits of the model use the same fit. For a new forecast, a
copy of the model learns the days since the last refit and is fitted anew. So a forecast does not depend on earlier
forecasts or restarts.
"""

from copy import copy
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from tunnihind.forecast.columns.lead import ColumnData
from tunnihind.forecast.columns.table import DayRows, InputRows
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.price_state import to_eur
from tunnihind.forecast.point.model import Fit, LearningModel, PointModelFactory
from tunnihind.forecast.replay.level import LevelTracker
from tunnihind.forecast.run import LEADS
from tunnihind.known import Floats

WARM_UP_DAYS: Final = 15
"""The first learnt day is this many days after the grid's first day.

The first 14 days can't be learnt, because a day's columns contain prices of the two weeks before it.
"""

_KEPT_FITS: Final = 4
_BLOCK_DAYS: Final = 56


@dataclass(frozen=True, slots=True)
class DatedFit:
    """A model fitted to the days up to row `through` of the grid."""

    through: int
    fit: Fit


@dataclass(slots=True)
class _LeadRecord:
    """The forecasts and level corrections of one lead. Each row of the arrays belongs to a day of the grid.

    `issued` (days, 24) holds the level-corrected forecasts in EUR/MWh. `shift` (days + 7,) holds the level corrections
    (see `replay.level`) on the asinh scale. Copies of a learner share `issued` and `shift`. A copy writes only rows
    that its original has not written.
    """

    level: LevelTracker
    issued: Floats
    shift: Floats

    @classmethod
    def empty(cls, lead: int, capacity: int) -> Self:
        return cls(LevelTracker(lead), np.full((capacity, CLOCK_HOURS), np.nan), np.zeros(capacity + LEADS))


class RowBlocks:
    """Computes the columns of consecutive days in blocks, because each computation has a fixed cost.

    No block goes beyond the grid row `last`.
    """

    def __init__(self, columns: ColumnData, last: int) -> None:
        self.columns = columns
        self._last = last
        self._taken: dict[int, tuple[range, InputRows]] = {}

    def of(self, days: range, lead: int) -> InputRows:
        """Return the input rows at one lead for the target days in the grid rows `days`."""
        taken, rows = self._taken.get(lead, (range(0), None))
        if rows is None or days.start not in taken or days[-1] not in taken:
            taken = range(days.start, min(max(days.stop, days.start + _BLOCK_DAYS), self._last + 1))
            rows = self.columns.input_rows(np.arange(taken.start, taken.stop), lead)
            self._taken[lead] = taken, rows
        return rows.rows_at(slice(days.start - taken.start, days.stop - taken.start))


@dataclass(slots=True)
class Learner:
    """A point model that has learnt the days up to row `through`.

    `records` maps each lead to its forecasts and level corrections. `fits` holds the newest fits of the model, oldest
    first.
    """

    learning: LearningModel
    records: dict[int, _LeadRecord]
    fits: tuple[DatedFit, ...] = ()
    through: int = WARM_UP_DAYS - 1

    @classmethod
    def begin(cls, model: PointModelFactory, leads: tuple[int, ...], capacity: int) -> Self:
        """Return a learner that has not learnt from any day yet.

        The learner can learn only grid rows before row `capacity`.
        """
        return cls(model(), {lead: _LeadRecord.empty(lead, capacity) for lead in leads})

    def copy(self) -> Learner:
        """Return a copy of the learner. If the copy learns or is refitted, this learner's results stay the same."""
        records = {lead: replace(record, level=copy(record.level)) for lead, record in self.records.items()}
        return replace(self, learning=self.learning.copy(), records=records)

    def learn(self, blocks: RowBlocks, through: int) -> None:
        """Forecast the days after the last learnt day up to row `through`, and then learn from them.

        Each day is forecast with the newest fit that was available on the forecast's issue day. If no fit was
        available, the day is learnt without a forecast.
        """
        days = range(self.through + 1, through + 1)
        block = np.arange(days.start, days.stop)
        price = blocks.columns.prices.own_with_gaps[block]
        for lead, record in self.records.items():
            rows = blocks.of(days, lead)
            predicted = self._block_forecasts(rows, block, lead)
            for day, error in zip(block.tolist(), (price - predicted[0]).mean(axis=1).tolist(), strict=True):
                record.shift[day + lead] = record.level.update(error)
            record.issued[block] = to_eur(predicted[0] + record.shift[block, None])
            self.learning.learn(lead, rows, price, predicted)
        self.through = through

    def refit(self, *, thorough: bool) -> None:
        """Fit the model to all learnt days.

        Replayed forecasts with issue days between this refit and the next use this fit.
        """
        last = self.fits[-1].fit if self.fits else None
        fit = self.learning.fit(tuple(self.records), thorough=thorough, last=last)
        self.fits = (*self.fits, DatedFit(self.through, fit))[-_KEPT_FITS:]

    def fit(self, leads: tuple[int, ...]) -> Fit:
        """Return the model fitted to all learnt days, for the leads in `leads`.

        `leads` must be in ascending order and begin with lead 1.
        """
        return self.learning.fit(leads)

    def issued_forecasts(self, leads: tuple[int, ...]) -> Floats:
        """Return the level-corrected forecasts of all days up to row `through`, in EUR/MWh, shape (leads, days, 24).

        Values of hours without a forecast are NaN.
        """
        return np.stack([self.records[lead].issued[: self.through + 1] for lead in leads])

    def level_correction(self, lead: int) -> float:
        """Return the level correction, on the asinh scale, of the day `lead` days past the newest learnt day."""
        return float(self.records[lead].shift[self.through + lead])

    def _block_forecasts(self, rows: InputRows, block: DayRows, lead: int) -> Floats:
        """Return the arrays of `Fit.predict` for a block of days, shape (k, n, 24).

        The forecasts have no level correction. If no fit was available for a day, the values of the day are NaN. If no
        fit was available for any day, k is 1.
        """
        parts = [
            (days, dated.fit.predict(lead, rows.rows_at(days))) for dated, days in self._fits_with_days(block, lead)
        ]
        predicted = np.full((len(parts[0][1]) if parts else 1, len(block), CLOCK_HOURS), np.nan)
        for days, part in parts:
            predicted[:, days] = part
        return predicted

    def _fits_with_days(self, block: DayRows, lead: int) -> list[tuple[DatedFit, slice]]:
        """Return each fit that is used, with the slice of `block` that is forecast with this fit.

        Each day is forecast with the newest fit that learnt only from days at least `lead` days before that day.
        """
        parts: list[tuple[DatedFit, slice]] = []
        for k, fit in enumerate(self.fits):
            end = self.fits[k + 1].through if k + 1 < len(self.fits) else int(block[-1])
            low, high = np.searchsorted(block - lead, [fit.through, end])
            if low < high:
                parts.append((fit, slice(int(low), int(high) if k + 1 < len(self.fits) else len(block))))
        return parts
