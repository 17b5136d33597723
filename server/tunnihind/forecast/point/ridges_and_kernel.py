"""The served point model: a weighted mean of two ridge regressions by hour and a kernel regression for whole days."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.columns.lead import CALENDAR, NEIGHBOURS, NEXT_DAY, OWN_PRICES, WEATHER
from tunnihind.forecast.columns.prices_and_calendar import WEEK_MEAN_COLUMN
from tunnihind.forecast.columns.table import ColumnNames, InputRows
from tunnihind.forecast.known_days.vintages import Floats32
from tunnihind.forecast.point.kernel import KERNEL_DAYS, MIN_KERNEL_DAYS, KernelFit, kernel_inputs
from tunnihind.forecast.point.model import ENOUGH_PRICE_DAYS, Fit
from tunnihind.forecast.point.ridge import (
    HALF_LIFE_DAYS,
    NEXT_DAY_HALF_LIFE_DAYS,
    Moments,
    RidgeFit,
    robust_weight,
)
from tunnihind.known import Floats

_WEEK_MEAN_DAYS: Final = 60
"""With up to this many learnt days, half of the forecast is the column `WEEK_MEAN_COLUMN`.

This share shrinks to 0 at `ENOUGH_PRICE_DAYS` learnt days.
"""
_KERNEL_SHARE: Final = (0.75, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4)
"""The weight of a fitted kernel regression, by lead. The mean of the ridge regressions has the rest of the weight."""


@dataclass(frozen=True, slots=True)
class LeadFit:
    """The fitted ridge regressions and the fitted kernel regression of one lead.

    If no thorough fit has been made yet, or if the last thorough fit had too few days with all prices, `kernel` is
    None.
    """

    ridge: RidgeFit
    kernel: KernelFit | None


@dataclass(frozen=True, slots=True)
class RidgesAndKernelFit:
    """The fitted ridge regressions and kernel regressions of some leads. `days` is the number of learnt days."""

    days: int
    leads: Mapping[int, LeadFit]

    def predict(self, lead: int, rows: InputRows) -> Floats:
        """Return the model's forecast, and the mean forecast of the ridge regressions alone, shape (2, n, 24).

        The forecast of each regression is clipped to the bounds in `rows`. If few days have been learnt, the model's
        forecast contains a share of the column `WEEK_MEAN_COLUMN`.
        """
        models, week = self.leads[lead], rows.hourly(WEEK_MEAN_COLUMN)
        members = models.ridge.predict(_ridge_columns(rows, lead), week)
        linear = np.clip(members, rows.low, rows.high).mean(axis=0)
        combined = linear
        if models.kernel is not None:
            share = _KERNEL_SHARE[lead - 1]
            by_kernel = np.clip(models.kernel.predict(rows.cached_day_values(kernel_inputs, lead)), rows.low, rows.high)
            combined = (1 - share) * linear + share * by_kernel
        trust = float(
            np.clip(0.5 + 0.5 * (self.days - _WEEK_MEAN_DAYS) / (ENOUGH_PRICE_DAYS - _WEEK_MEAN_DAYS), 0.5, 1.0)
        )
        return np.stack([trust * combined + (1 - trust) * week, linear])


@dataclass(slots=True)
class _KernelBlock:
    """Consecutive days to which a kernel regression can be fitted.

    `rows` (n, inputs) holds the `kernel_inputs` of n days. `price` (n, 24) holds the prices. `error` (n,) holds the
    root mean square of each day's forecast errors. `has_next_day` (n,) holds `InputRows.has_next_day_drivers`.
    """

    rows: Floats32
    price: Floats
    error: Floats
    has_next_day: NDArray[np.bool_]


@dataclass(slots=True)
class _LeadState:
    """The data that the model keeps for one lead. Blocks never change, so copies of a `_LeadState` share the blocks."""

    names: ColumnNames
    moments: Moments
    blocks: list[_KernelBlock] = field(default_factory=list)

    @classmethod
    def of(cls, lead: int, rows: InputRows) -> _LeadState:
        """Return the state before any day is learnt, for rows with the same columns as `rows`."""
        half_life = NEXT_DAY_HALF_LIFE_DAYS if rows.names.in_group(NEXT_DAY) else HALF_LIFE_DAYS
        width = _ridge_columns(rows, lead).shape[-1]
        return cls(rows.names, Moments.empty(width, half_life))

    def copy(self) -> _LeadState:
        return _LeadState(self.names, deepcopy(self.moments), list(self.blocks))

    def add_block(self, lead: int, block: _KernelBlock) -> None:
        """Add a block of days, and drop blocks that are too old for the kernel regression."""
        self.blocks.append(block)
        while sum(len(one.rows) for one in self.blocks[1:]) >= KERNEL_DAYS[lead - 1]:
            del self.blocks[0]

    def fit_kernel(self, lead: int) -> KernelFit | None:
        rows, price, error, has_next_day = (
            np.concatenate([getattr(block, name) for block in self.blocks])[-KERNEL_DAYS[lead - 1] :]
            for name in ("rows", "price", "error", "has_next_day")
        )
        first = self._first_row_to_fit(has_next_day)
        return KernelFit.of(rows[first:], price[first:], error[first:], lead)

    def _first_row_to_fit(self, has_next_day: NDArray[np.bool_]) -> int:
        """Return the position of the first row to which the kernel regression is fitted.

        If the lead has columns of next-day drivers, and if more than 2 * `MIN_KERNEL_DAYS` rows follow the first row
        for which `has_next_day` is true, return the position of that row. Otherwise, return 0.
        """
        if not self.names.in_group(NEXT_DAY) or not has_next_day.any():
            return 0
        first = int(np.argmax(has_next_day))
        return first if len(has_next_day) - 1 - first > 2 * MIN_KERNEL_DAYS else 0


@dataclass(slots=True)
class RidgesAndKernel:
    """A `LearningModel` of ridge regressions and kernel regressions."""

    fit_type: ClassVar[type[Fit]] = RidgesAndKernelFit

    _leads: dict[int, _LeadState] = field(default_factory=dict)

    def learn(self, lead: int, rows: InputRows, price: Floats, predicted: Floats) -> None:
        """Learn from consecutive days, oldest day first. Hours and days with a large forecast error get less weight."""
        if lead not in self._leads:
            self._leads[lead] = _LeadState.of(lead, rows)
        state = self._leads[lead]
        combined, linear = predicted[0], predicted[-1]
        state.moments.add_days(
            _ridge_columns(rows, lead), price, rows.hourly(WEEK_MEAN_COLUMN), robust_weight(price - linear)
        )
        error = np.sqrt(np.mean((price - combined) ** 2, axis=1))
        state.add_block(
            lead, _KernelBlock(rows.cached_day_values(kernel_inputs, lead), price, error, rows.has_next_day_drivers)
        )

    def fit(self, leads: Sequence[int], *, thorough: bool = True, last: Fit | None = None) -> RidgesAndKernelFit:
        """Fit the ridge regressions of each lead. If `thorough` is true, fit the kernel regressions too.

        If `thorough` is false, use the kernel regressions of the earlier fit `last`, if it has any.
        """
        kept = last.leads if isinstance(last, RidgesAndKernelFit) else {}
        fits: dict[int, LeadFit] = {}
        prior: Floats | None = None
        for lead in leads:
            state = self._leads[lead]
            shared = sum(len(state.names.in_group(group)) for group in (OWN_PRICES, CALENDAR, WEATHER))
            ridge = state.moments.fit_ridges(lead, prior, shared)
            prior = ridge.beta[:, :, :shared]
            kept_kernel = kept[lead].kernel if lead in kept else None
            fits[lead] = LeadFit(ridge, state.fit_kernel(lead) if thorough else kept_kernel)
        return RidgesAndKernelFit(self._leads[leads[0]].moments.days, fits)

    def copy(self) -> RidgesAndKernel:
        """Return an independent copy of the model."""
        return RidgesAndKernel({lead: state.copy() for lead, state in self._leads.items()})


def _ridge_columns(rows: InputRows, lead: int) -> Floats:
    """Return the columns that the ridge regressions use.

    From lead 2 on, the columns of the neighbours' prices are left out, because these columns do not improve the
    forecast of the ridge regressions.
    """
    if lead == 1:
        return rows.x
    columns: Floats = rows.x[..., : len(rows.names.all) - len(rows.names.in_group(NEIGHBOURS))]
    return columns
