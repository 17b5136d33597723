"""Covariates as they were known on each past day: the only door through which the model sees them.

A vintage is what had been forecast by a day's issue instant. Training reads the vintages of past days, a live
forecast reads the one of its own instant, so both see forecasts of the same age and neither sees an observation.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import batched
from operator import is_
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known import CovariateArchive, Instants, IssuedSeries
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid, bridged, merged
from tunnihind.forecast.run import ISSUE_CLOCK_S
from tunnihind.market import DAY_S, HOUR_S

type Singles = NDArray[np.float32]
type _Since = NDArray[np.int32]
"""Seconds since the start of a frame."""

_NEVER: Final = np.int32(-(2**31))
_TOGETHER: Final = 14

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


def without_passing_runs(issues: tuple[IssuedSeries, ...], as_of: int) -> tuple[IssuedSeries, ...]:
    """Return the issues but for runs of a weather model that were no day's newest when it looked.

    The runs of an evening are deleted after two weeks. If past days saw them, what a model has learnt would change with
    each that goes. Runs since the last look are all there.
    """
    if all(issue.run_ts is None for issue in issues):
        return issues
    issued = np.array([issue.issued_ts for issue in issues], np.int64)
    is_run = np.array([issue.run_ts is not None for issue in issues])
    passing = passing_runs(np.zeros_like(issued), issued, is_run, as_of)
    return tuple(issue for issue, is_passing in zip(issues, passing.tolist(), strict=True) if not is_passing)


def passing_runs(series: Instants, issued: Instants, is_run: NDArray[np.bool_], as_of: int) -> NDArray[np.bool_]:
    """Tell which issues are runs that `without_passing_runs` leaves out; all arrays have the shape (issues,).

    `series` tells by a number of which covariate each is.
    """
    look = -((ISSUE_CLOCK_S - issued) // DAY_S)  # the day that was the first to look at it, in the morning
    order = np.lexsort((issued, look, series))
    order = order[is_run[order]]
    one, day, at = series[order], look[order], issued[order]
    is_last = np.append((one[1:] != one[:-1]) | (day[1:] != day[:-1]), np.ones(min(order.size, 1), np.bool_))
    newest = np.repeat(at[is_last], np.diff(np.flatnonzero(is_last), prepend=-1))
    passing = np.zeros(issued.shape, np.bool_)
    passing[order] = (day <= (as_of - ISSUE_CLOCK_S) // DAY_S) & (at < newest)
    return passing


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


def vintages(covariates: Sequence[Sequence[IssuedSeries]], frame: Frame) -> Singles:
    """Return the newest forecast known at each issue instant, (covariates, rows, ages, 24), NaN where there was none.

    The covariates were issued together: the issues of all have the same instants, hours and leads, one by one. A value
    whose hour had begun when it was issued is an observation, not a forecast, and is passed over.
    """
    together = [
        issues
        for issues in zip(*covariates, strict=True)
        if issues[0].start_ts + issues[0].values.size * HOUR_S > frame.start_ts
    ]
    at_once = sorted((issues for issues in together if issues[0].lead_s == 0), key=lambda issues: issues[0].issued_ts)
    rolling = [issues for issues in together if issues[0].lead_s > 0]
    values, issued = _of_issues(at_once, frame, len(covariates), dated=bool(rolling))
    if rolling:
        rolling_values, rolling_issued = _of_rolling(rolling, frame, len(covariates))
        np.copyto(values, rolling_values, where=rolling_issued > issued)
    return bridged(merged(np.moveaxis(values, -1, 0)), frame.is_short)


def _of_issues(
    issues: Sequence[Sequence[IssuedSeries]], frame: Frame, covariates: int, *, dated: bool
) -> tuple[Singles, _Since]:
    """Return the newest values issued all at once, and if `dated` when: each (rows, ages, 25, covariates).

    Instants are in seconds since the frame's start; NaN and `_NEVER` for none. Issues, oldest first, overwrite one
    another on a board of all hours, which each row reads at its instant.
    """
    values = np.full((*frame.slots.shape, covariates), np.nan, np.float32)
    issued = np.full(values.shape if dated else (1,), _NEVER, np.int32)
    value_board = np.full((frame.hours + 1, covariates), np.nan, np.float32)
    issue_board = np.full(value_board.shape if dated else (0,), _NEVER, np.int32)
    done = 0
    for row, instant in enumerate(frame.instants.tolist()):
        while done < len(issues) and issues[done][0].issued_ts <= instant:
            _post(issues[done], frame, value_board, issue_board)
            done += 1
        if done:
            values[row] = value_board[frame.slots[row]]
            if dated:
                issued[row] = issue_board[frame.slots[row]]
    return values, issued


def _post(together: Sequence[IssuedSeries], frame: Frame, value_board: Singles, issue_board: _Since) -> None:
    """Write what an issue of all covariates forecasts on the boards, of which the second may be empty."""
    issue = together[0]
    offset = (issue.start_ts - frame.start_ts) // HOUR_S
    observed = -((issue.start_ts - issue.issued_ts) // HOUR_S)
    low, high = max(0, -offset, observed), min(issue.values.size, frame.hours - offset)
    if low >= high:
        return
    part, at = np.array([one.values[low:high] for one in together]).T, slice(offset + low, offset + high)
    known = np.isfinite(part)
    np.copyto(value_board[at], part, where=known)
    if issue_board.size:
        np.copyto(issue_board[at], np.int32(issue.issued_ts - frame.start_ts), where=known)


def _of_rolling(issues: Sequence[Sequence[IssuedSeries]], frame: Frame, covariates: int) -> tuple[Singles, _Since]:
    """Return the newest values issued a fixed lead before their hours, and when, as `_of_issues` does."""
    leads = np.array(sorted({together[0].lead_s for together in issues}), np.int32)
    board = np.full((leads.size + 1, frame.hours + 1, covariates), np.nan, np.float32)
    for together in issues:
        issue = together[0]
        offset = (issue.start_ts - frame.start_ts) // HOUR_S
        low, high = max(0, -offset), min(issue.values.size, frame.hours - offset)
        if low < high:
            line = board[np.searchsorted(leads, issue.lead_s), offset + low : offset + high]
            part = np.array([one.values[low:high] for one in together]).T
            np.copyto(line, part, where=np.isfinite(part))
    lead = np.empty(board.shape, np.int32)
    lead[:] = np.append(leads, np.int32(0))[:, None, None]
    for nearer in range(leads.size - 1, -1, -1):  # what is not known at a lead may be at the one before
        hole = np.isnan(board[nearer])
        np.copyto(board[nearer], board[nearer + 1], where=hole)
        np.copyto(lead[nearer], lead[nearer + 1], where=hole)
    since = HOUR_S * frame.slots
    newest = np.searchsorted(leads, since - (frame.instants - frame.start_ts)[:, None, None])
    values = board[newest, frame.slots]
    issued = since[..., None].astype(np.int32) - lead[newest, frame.slots]
    return values, np.where(np.isnan(values), _NEVER, issued)


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
        self,
        names: Iterable[str],
        archive: CovariateArchive,
        grid: DayGrid,
        instants: Instants,
        ages: range,
        stale_days: int,
    ) -> dict[str, Singles]:
        """Return by name the vintages of all issue days, shape (issue days, ages, 24), the last one as of its instant.

        Covariates that were issued together are swept together: the weather of all points takes little more time than
        that of one.
        """
        today = len(instants) - 1
        until = int(instants[today - 1]) if today else 0
        found: dict[str, Singles] = {}
        for group in self._groups(names, archive, instants, ages, stale_days):
            done = len(self._settled[group[0], stale_days].rows)
            frame = self._frame(grid, instants, range(done, today + 1), ages)
            rest = vintages([archive.series[name] for name in group], frame)
            for name, rows in zip(group, rest, strict=True):
                key = name, stale_days
                whole = np.concatenate([self._settled[key].rows, rows]) if done else rows
                issues = _issued_until(until, archive.series[name])
                self._settled[key] = _Settled(int(instants[0]), ages, until, whole[:today], issues)
                found[name] = whole
        return found

    def _groups(
        self, names: Iterable[str], archive: CovariateArchive, instants: Instants, ages: range, stale_days: int
    ) -> list[list[str]]:
        """Return the names of covariates that were issued together, and of which the same rows are kept."""
        groups: dict[tuple[object, ...], list[str]] = {}
        for name in names:
            issues = archive.series[name]
            settled = self._settled.get((name, stale_days))
            if settled is None or not _continues(settled, issues, instants, ages):
                settled = _Settled(int(instants[0]), ages, 0, np.empty((0, len(ages), CLOCK_HOURS), np.float32), ())
                self._settled[name, stale_days] = settled
            issued = tuple((one.issued_ts, one.start_ts, one.values.size, one.lead_s) for one in issues)
            groups.setdefault((len(settled.rows), issued), []).append(name)
        # A few at a time, for memory.
        return [list(part) for group in groups.values() for part in batched(group, _TOGETHER, strict=False)]

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
