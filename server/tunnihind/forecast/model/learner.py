"""A model that learns day by day: it forecasts each day from what was known, then takes the day in.

Between the weekly fits of its own past it does not change, and the days since the last of them are taken in anew with
every forecast. So what it says depends on the data alone, never on when it was started or how often it was asked.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Final

import numpy as np

from tunnihind.forecast.calendar import CLOCK_HOURS
from tunnihind.forecast.intervals import LEADS
from tunnihind.forecast.model import kernel
from tunnihind.forecast.model.columns import CALENDAR_COLUMNS, FAR_COLUMNS, OWN_COLUMNS, Rows
from tunnihind.forecast.model.inputs import Inputs
from tunnihind.forecast.model.kernel import KernelFit
from tunnihind.forecast.model.level import LevelTracker
from tunnihind.forecast.model.price_state import to_eur
from tunnihind.forecast.model.ridge import (
    HALF_LIFE_DAYS,
    NEXT_DAY_HALF_LIFE_DAYS,
    Moments,
    Solution,
    robust_weight,
)
from tunnihind.forecast.model.vintages import Singles
from tunnihind.known import Floats

WARM_UP_DAYS: Final = 15
"""Days before the first row: two weeks of lags."""
ALL_LEADS: Final = tuple(range(1, LEADS + 1))
ENOUGH_DAYS: Final = 120

_FEW_DAYS: Final = 60
"""Up to so many days half of the forecast is the 7-day mean; from `ENOUGH_DAYS` on nothing of it."""
_KERNEL_SHARE: Final = (0.5, 0.38, 0.35, 0.35, 0.35, 0.35, 0.35)
"""By lead."""
_KEPT_FITS: Final = 4
_BLOCK_DAYS: Final = 56


@dataclass(frozen=True, slots=True)
class LeadFit:
    """One lead's models."""

    ridge: Solution
    kernel: KernelFit | None


@dataclass(frozen=True, slots=True)
class Fit:
    """Models that have seen the days up to row `through`, `days` of them, by lead."""

    through: int
    days: int
    leads: dict[int, LeadFit]


@dataclass(slots=True)
class LeadState:
    """What is kept of one lead, arrays by row of the grid.

    `raw` is the forecast of each day as issued, asinh scale; `issued` that with its level corrected, EUR/MWh; `shift`
    (days,) the correction; `inputs` (days, k) the kernel's rows, whose groups have the scale `input_scale`.
    """

    moments: Moments
    level: LevelTracker
    raw: Floats
    issued: Floats
    shift: Floats
    inputs: Singles
    input_scale: Singles


@dataclass(frozen=True, slots=True)
class LeadRows:
    """Rows of a lead: `x` (n, 24, p) for the ridges, `inputs` (n, k) for the kernel, `week` (n, 24) the 7-day mean."""

    x: Floats
    inputs: Singles
    input_scale: Singles
    week: Floats

    @classmethod
    def of(cls, inputs: Inputs, target: Rows, lead: int, issue: Rows) -> LeadRows:
        """Take the rows of targets issued on days; columns that not all leads have stand last."""
        shared = inputs.shared_columns(target, lead, issue)
        near = inputs.near_columns(target, lead)
        neighbours = inputs.neighbour_columns(target, lead)
        parts = [shared, *([near] if near is not None else []), *([neighbours] if lead == 1 else [])]
        by_day, scale = kernel.day_inputs(shared, neighbours, near, len(inputs.far), len(inputs.near))
        week = inputs.prices.mean[7][target - lead, :, 0]
        return cls(np.concatenate(parts, axis=-1), by_day, scale, week)

    def pick(self, rows: slice) -> LeadRows:
        """Return some of the rows."""
        return LeadRows(self.x[rows], self.inputs[rows], self.input_scale, self.week[rows])


class RowBlocks:
    """The rows of consecutive days up to row `last` by lead, taken many at a time: each taking has its fixed cost."""

    def __init__(self, inputs: Inputs, last: int) -> None:
        self.inputs = inputs
        self._last = last
        self._taken: dict[int, tuple[range, LeadRows]] = {}

    def of(self, days: range, lead: int) -> LeadRows:
        """Return a lead's rows of days, each as of its own issue."""
        taken, rows = self._taken.get(lead, (range(0), None))
        if rows is None or days.start not in taken or days[-1] not in taken:
            taken = range(days.start, min(max(days.stop, days.start + _BLOCK_DAYS), self._last + 1))
            target = np.arange(taken.start, taken.stop)
            rows = LeadRows.of(self.inputs, target, lead, target - lead - self.inputs.lag)
            self._taken[lead] = taken, rows
        return rows.pick(slice(days.start - taken.start, days.stop - taken.start))


class Learner:
    """Models of some leads, and how they did."""

    def __init__(self, inputs: Inputs, leads: tuple[int, ...], capacity: int) -> None:
        """Begin with no day seen; `capacity` is how many rows the grid may ever have."""
        self.through = WARM_UP_DAYS - 1
        self._fits: list[Fit] = []
        self._states = {lead: _empty_state(inputs, lead, capacity) for lead in leads}

    def copy(self) -> Learner:
        """Return a learner that goes its own way from here.

        Fits never change, and rows past `through` are written before they are read: these both may share.
        """
        rows = (array for one in self._states.values() for array in (one.raw, one.issued, one.shift, one.inputs))
        return deepcopy(self, {id(shared): shared for shared in (*self._fits, *rows)})

    def learn(self, blocks: RowBlocks, through: int) -> None:
        """Forecast the days up to row `through` with the fits of their time, then take them in."""
        days = range(self.through + 1, through + 1)
        block = np.arange(days.start, days.stop)
        for lead, state in self._states.items():
            rows = blocks.of(days, lead)
            linear = self._forecast_block(blocks.inputs, state, rows, block, lead)
            y = blocks.inputs.prices.target[block]
            state.moments.absorb(rows.x, y, rows.week, robust_weight(y - linear))
        self.through = through

    def remember(self, inputs: Inputs, *, with_kernels: bool) -> None:
        """Refit; the days to come are forecast with it until the next time."""
        kernels = {lead: one.kernel for lead, one in self._fits[-1].leads.items()} if self._fits else {}
        fit = self.fit(inputs, tuple(self._states), None if with_kernels else kernels)
        self._fits = [*self._fits, fit][-_KEPT_FITS:]

    def fit(self, inputs: Inputs, leads: tuple[int, ...], kernels: dict[int, KernelFit | None] | None = None) -> Fit:
        """Fit leads, in order from the first, on all days seen; `kernels` are taken over where they are given."""
        shared = OWN_COLUMNS + CALENDAR_COLUMNS + FAR_COLUMNS * len(inputs.far)
        fits: dict[int, LeadFit] = {}
        prior: Floats | None = None
        for lead in leads:
            ridge = self._states[lead].moments.solve(lead, prior, shared)
            prior = ridge.beta[:, :, :shared]
            fits[lead] = LeadFit(ridge, self._kernel(inputs, lead) if kernels is None else kernels.get(lead))
        return Fit(self.through, self._states[leads[0]].moments.days, fits)

    def issued(self, leads: tuple[int, ...]) -> Floats:
        """Return p50 as it was issued for the days seen, EUR/MWh, shape (leads, days, 24), NaN where it was not."""
        return np.stack([self._states[lead].issued[: self.through + 1] for lead in leads])

    def shift(self, lead: int) -> float:
        """Return the correction of the level of the forecast for the day `lead` days after the newest one seen."""
        return float(self._states[lead].shift[self.through + lead])

    def _forecast_block(self, inputs: Inputs, state: LeadState, rows: LeadRows, block: Rows, lead: int) -> Floats:
        """Keep what would have been issued for a block of days; return the ridges' mean, NaN where there was none."""
        linear = np.full((len(block), CLOCK_HOURS), np.nan)
        state.inputs[block] = rows.inputs
        for fit, part in self._by_fit(block, lead):
            linear[part], state.raw[block[part]] = point(fit, rows.pick(part), inputs, block[part], lead)
        errors = (inputs.prices.target[block] - state.raw[block]).mean(axis=1)
        for day, error in zip(block.tolist(), errors.tolist(), strict=True):
            state.shift[day + lead] = state.level.update(error)
        state.issued[block] = to_eur(state.raw[block] + state.shift[block, None])
        return linear

    def _by_fit(self, block: Rows, lead: int) -> list[tuple[Fit, slice]]:
        """Return the newest fit that had seen nothing after each day's last usable one, and the days that it serves."""
        parts: list[tuple[Fit, slice]] = []
        for k, fit in enumerate(self._fits):
            end = self._fits[k + 1].through if k + 1 < len(self._fits) else int(block[-1])
            low, high = np.searchsorted(block - lead, [fit.through, end])
            if low < high:
                parts.append((fit, slice(int(low), int(high) if k + 1 < len(self._fits) else len(block))))
        return parts

    def _kernel(self, inputs: Inputs, lead: int) -> KernelFit | None:
        state = self._states[lead]
        first = max(WARM_UP_DAYS, self.through + 1 - kernel.KERNEL_DAYS)
        if inputs.has_near(lead):
            near_from = _first_known_day(inputs) + 1
            first = max(first, near_from) if self.through - near_from > 2 * kernel.MIN_KERNEL_DAYS else first
        days = slice(first, self.through + 1)
        y = inputs.prices.target[days]
        error = np.sqrt(np.mean((y - state.raw[days]) ** 2, axis=1))
        return KernelFit.of(state.inputs[days], state.input_scale, y, error, lead)


def point(fit: Fit, rows: LeadRows, inputs: Inputs, target: Rows, lead: int) -> tuple[Floats, Floats]:
    """Return the ridges' mean and the combined forecast, each (n, 24), asinh scale, within the range of 90 days."""
    models = fit.leads[lead]
    low, high = inputs.prices.low[target - lead, None], inputs.prices.high[target - lead, None]
    linear = np.clip(models.ridge.predict(rows.x, rows.week), low, high).mean(axis=0)
    combined = linear
    if models.kernel is not None:
        share = _KERNEL_SHARE[lead - 1]
        combined = (1 - share) * linear + share * np.clip(models.kernel.predict(rows.inputs), low, high)
    trust = float(np.clip(0.5 + 0.5 * (fit.days - _FEW_DAYS) / (ENOUGH_DAYS - _FEW_DAYS), 0.5, 1.0))
    return linear, trust * combined + (1 - trust) * rows.week


def _first_known_day(inputs: Inputs) -> int:
    known = np.isfinite(np.stack(list(inputs.near.values()))).all(axis=(0, 2))
    return int(np.argmax(known))


def _empty_state(inputs: Inputs, lead: int, capacity: int) -> LeadState:
    probe = np.array([WARM_UP_DAYS])
    rows = LeadRows.of(inputs, probe, lead, probe - lead - inputs.lag)
    half_life = NEXT_DAY_HALF_LIFE_DAYS if inputs.has_near(lead) else HALF_LIFE_DAYS
    return LeadState(
        moments=Moments.empty(rows.x.shape[-1], half_life),
        level=LevelTracker(lead),
        raw=np.full((capacity, CLOCK_HOURS), np.nan),
        issued=np.full((capacity, CLOCK_HOURS), np.nan),
        shift=np.zeros(capacity + LEADS),
        inputs=np.full((capacity, rows.inputs.shape[1]), np.nan, np.float32),
        input_scale=rows.input_scale,
    )
