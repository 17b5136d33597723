"""Covariates as they were known on each past day: the only door through which the model sees them.

A vintage is what had been forecast by a day's issue instant. Training reads the vintages of past days, a live
forecast reads the one of its own instant, so both see forecasts of the same age and neither sees an observation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import is_
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid, bridged, merged
from tunnihind.forecast.run import ISSUE_CLOCK_S
from tunnihind.known import CovariateArchive, Instants, IssuedSeries
from tunnihind.market import DAY_S, HOUR_S

type Singles = NDArray[np.float32]

WEEK_AGES: Final = range(-1, 10)
"""Delivery days of a forecast that reaches several days, counted from the day of issue."""
NEXT_DAY_AGES: Final = range(1, 2)
NEXT_DAY_S: Final = 48 * HOUR_S
"""Forecasts that never reach further are of the next day only."""


def issue_instants(grid: DayGrid, as_of: int, today: int, stale_days: int = 0) -> Instants:
    """Return when each issue day up to row `today` looks at its covariates, shape (today + 1,).

    Past days look at their clock, `stale_days` earlier; today looks at `as_of`.
    """
    midnights = (grid.starts[: today + 1] + 2 * HOUR_S) // DAY_S * DAY_S
    instants = np.minimum(midnights + ISSUE_CLOCK_S - stale_days * DAY_S, as_of)
    instants[today] = as_of
    return instants


def newest_issue(issues: Sequence[IssuedSeries]) -> int | None:
    """Return when the newest forecast among the issues was made; None where none of them forecasts anything."""
    newest: int | None = None
    for issue in sorted(issues, key=_latest_possible, reverse=True):
        if newest is not None and _latest_possible(issue) <= newest:
            break
        if (found := _newest_forecast(issue)) is not None:
            newest = found if newest is None else max(newest, found)
    return newest


def _latest_possible(issue: IssuedSeries) -> int:
    """Return when the last value of a series was issued, be it known or not."""
    return issue.issued_ts + (max(issue.values.size - 1, 0) * HOUR_S if issue.lead_s else 0)


def _newest_forecast(issue: IssuedSeries) -> int | None:
    known = np.flatnonzero(np.isfinite(issue.values))
    if not known.size:
        return None
    last = issue.start_ts + int(known[-1]) * HOUR_S
    issued = last - issue.lead_s if issue.lead_s else issue.issued_ts
    return issued if last >= issued else None


def reach_s(issues: Sequence[IssuedSeries]) -> int:
    """Return how far past their issue the forecasts reach at most, seconds."""
    ends = (
        issue.lead_s or issue.start_ts + (issue.values.size - 1) * HOUR_S - issue.issued_ts
        for issue in issues
        if issue.values.size
    )
    return max(ends, default=0)


@dataclass(frozen=True, slots=True)
class Frame:
    """The hours that vintages of some issue days hold.

    `instants` (rows,) is when each day looks; `slots` (rows, ages, 25) counts hours from `start_ts`, with those
    outside of the grid at `hours`; `is_short` (rows, ages) where a day has 23 of them.
    """

    start_ts: int
    hours: int
    instants: Instants
    slots: NDArray[np.int64]
    is_short: NDArray[np.bool_]

    @classmethod
    def of(cls, grid: DayGrid, instants: Instants, rows: range, ages: range) -> Self:
        """Frame the delivery days `rows[r] + ages[a]`."""
        first, last = np.clip([rows.start + ages[0], rows.stop - 1 + ages[-1]], 0, grid.days - 1).tolist()
        window = DayGrid(grid.day(first), grid.starts[first : last + 2])
        day = np.arange(rows.start, rows.stop)[:, None] + np.arange(ages.start, ages.stop)
        inside = (day >= 0) & (day < grid.days)
        day = np.clip(day - first, 0, window.days - 1)
        slots = np.where(inside[..., None], window.slots()[day], window.hours)
        is_short = inside & (window.lengths() < CLOCK_HOURS)[day]
        return cls(int(window.starts[0]), window.hours, instants[rows.start : rows.stop], slots, is_short)


def vintages(issues: Sequence[IssuedSeries], frame: Frame) -> Singles:
    """Return the newest forecast known at each issue instant of a frame, (rows, ages, 24), NaN where there was none.

    A value whose hour had begun when it was issued is an observation, not a forecast, and is passed over.
    """
    within = [issue for issue in issues if issue.start_ts + issue.values.size * HOUR_S > frame.start_ts]
    at_once = sorted((issue for issue in within if issue.lead_s == 0), key=lambda issue: issue.issued_ts)
    values, issued = _of_issues(at_once, frame)
    if rolling := [issue for issue in within if issue.lead_s > 0]:
        rolling_values, rolling_issued = _of_rolling(rolling, frame)
        values = np.where(rolling_issued > issued, rolling_values, values)
    return bridged(merged(values), frame.is_short)


def _of_issues(issues: Sequence[IssuedSeries], frame: Frame) -> tuple[Singles, Instants]:
    """Return the newest values issued all at once, and when they were: each (rows, ages, 25), NaN and -1 for none.

    Issues, oldest first, overwrite one another on a board of all hours, which each row reads at its instant.
    """
    values, issued = np.full(frame.slots.shape, np.nan, np.float32), np.full(frame.slots.shape, -1, np.int64)
    value_board, issue_board = np.full(frame.hours + 1, np.nan, np.float32), np.full(frame.hours + 1, -1, np.int64)
    done = 0
    for row, instant in enumerate(frame.instants.tolist()):
        while done < len(issues) and issues[done].issued_ts <= instant:
            _post(issues[done], frame, value_board, issue_board)
            done += 1
        if done:
            values[row], issued[row] = value_board[frame.slots[row]], issue_board[frame.slots[row]]
    return values, issued


def _post(issue: IssuedSeries, frame: Frame, value_board: Singles, issue_board: Instants) -> None:
    """Write what an issue forecasts on the board."""
    offset = (issue.start_ts - frame.start_ts) // HOUR_S
    observed = -((issue.start_ts - issue.issued_ts) // HOUR_S)
    low, high = max(0, -offset, observed), min(issue.values.size, frame.hours - offset)
    if low >= high:
        return
    part, at = issue.values[low:high], slice(offset + low, offset + high)
    known = np.isfinite(part)
    value_board[at] = part if known.all() else np.where(known, part, value_board[at])
    issue_board[at] = issue.issued_ts if known.all() else np.where(known, issue.issued_ts, issue_board[at])


def _of_rolling(issues: Sequence[IssuedSeries], frame: Frame) -> tuple[Singles, Instants]:
    """Return the newest values issued a fixed lead before their hours, and when: each (rows, ages, 25)."""
    leads = np.array(sorted({issue.lead_s for issue in issues}), np.int64)
    board = np.full((leads.size + 1, frame.hours + 1), np.nan, np.float32)
    for issue in issues:
        offset = (issue.start_ts - frame.start_ts) // HOUR_S
        low, high = max(0, -offset), min(issue.values.size, frame.hours - offset)
        if low < high:
            line = board[np.searchsorted(leads, issue.lead_s), offset + low : offset + high]
            line[:] = np.where(np.isfinite(issue.values[low:high]), issue.values[low:high], line)
    lead = np.repeat(np.append(leads, 0)[:, None], frame.hours + 1, axis=1)
    for nearer in range(leads.size - 1, -1, -1):  # what is not known at a lead may be at the one before
        hole = np.isnan(board[nearer])
        board[nearer, hole], lead[nearer, hole] = board[nearer + 1, hole], lead[nearer + 1, hole]
    ts = frame.start_ts + HOUR_S * frame.slots
    newest = np.searchsorted(leads, ts - frame.instants[:, None, None])
    values = board[newest, frame.slots]
    return values, np.where(np.isnan(values), -1, ts - lead[newest, frame.slots])


@dataclass(slots=True)
class _Settled:
    """The vintages of one covariate's past issue days, and the forecasts that they rest on."""

    first_instant: int
    ages: range
    until: int
    rows: Singles
    issues: tuple[IssuedSeries, ...]


class VintageCache:
    """Builds vintages and keeps those of past days, which never change unless the archive's past does."""

    def __init__(self) -> None:
        self._settled: dict[tuple[str, int], _Settled] = {}
        self._last_frame: tuple[tuple[object, ...], Frame] | None = None

    def of(
        self, name: str, archive: CovariateArchive, grid: DayGrid, instants: Instants, ages: range, stale_days: int
    ) -> Singles:
        """Return the vintages of all issue days, shape (issue days, ages, 24), the last one as of its instant."""
        issues = archive.series[name]
        today = len(instants) - 1
        key = (name, stale_days)
        settled = self._settled.get(key)
        if settled is None or not _continues(settled, issues, instants, ages):
            settled = _Settled(int(instants[0]), ages, 0, np.empty((0, len(ages), CLOCK_HOURS), np.float32), ())
        rest = vintages(issues, self._frame(grid, instants, range(len(settled.rows), today + 1), ages))
        rows: Singles = np.concatenate([settled.rows, rest])
        until = int(instants[today - 1]) if today else 0
        self._settled[key] = _Settled(int(instants[0]), ages, until, rows[:today], _issued_until(until, issues))
        return rows

    def _frame(self, grid: DayGrid, instants: Instants, rows: range, ages: range) -> Frame:
        """Return the frame of some rows, the last one again where it is the same: the covariates of a kind share it."""
        key = (grid.first, grid.days, rows, ages, instants[rows.start : rows.stop].tobytes())
        if self._last_frame is None or self._last_frame[0] != key:
            self._last_frame = key, Frame.of(grid, instants, rows, ages)
        return self._last_frame[1]


def _continues(settled: _Settled, issues: tuple[IssuedSeries, ...], instants: Instants, ages: range) -> bool:
    """Tell whether the forecasts that vintages rest on are still what is known of that time."""
    days = len(settled.rows)
    if settled.first_instant != instants[0] or settled.ages != ages or days >= len(instants):
        return False
    if days and settled.until != instants[days - 1]:
        return False
    now = _issued_until(settled.until, issues)
    if len(now) != len(settled.issues):
        return False
    return all(map(is_, now, settled.issues, strict=True)) or all(map(_same, now, settled.issues, strict=True))


def _issued_until(instant: int, issues: tuple[IssuedSeries, ...]) -> tuple[IssuedSeries, ...]:
    return CovariateArchive({"": issues}).as_of(instant).series.get("", ())


def _same(one: IssuedSeries, other: IssuedSeries) -> bool:
    if one is other:
        return True
    header = (one.issued_ts, one.start_ts, one.lead_s) == (other.issued_ts, other.start_ts, other.lead_s)
    return header and np.array_equal(one.values, other.values, equal_nan=True)
