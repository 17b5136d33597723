"""Covariates as they were known on each past day. The model reads covariates only through this module.

A vintage is the forecast that was known at a day's issue instant. Training reads the vintages of past days. A live
forecast reads the vintage of its own instant. So training and live forecasts use covariates of the same age.
Observations are never used.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.known import CovariateArchive, Instants, IssuedSeries
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid, bridged, merged
from tunnihind.forecast.run import ISSUE_CLOCK_S
from tunnihind.market import DAY_S, HOUR_S

type Singles = NDArray[np.float32]

WEEK_AGES: Final = range(-1, 10)
"""The delivery days in a forecast of several days, counted from the day of issue."""
NEXT_DAY_AGES: Final = range(1, 2)
NEXT_DAY_S: Final = 48 * HOUR_S
"""If no forecast of a covariate reaches further, the covariate counts as a next-day covariate."""


def issue_instants(grid: DayGrid, as_of: int, today: int, stale_days: int = 0) -> Instants:
    """Return the instant of each issue day up to row `today`, shape (today + 1,).

    An issue day uses the covariates known at its instant. For past days, the instant is the usual time of issue,
    `stale_days` days before the issue day. For today, the instant is `as_of`.
    """
    midnights = (grid.starts[: today + 1] + 2 * HOUR_S) // DAY_S * DAY_S
    instants = np.minimum(midnights + ISSUE_CLOCK_S - stale_days * DAY_S, as_of)
    instants[today] = as_of
    return instants


def newest_issue(issues: Sequence[IssuedSeries]) -> int | None:
    """Return the instant at which the newest forecast was issued. Return None if no issue is a forecast."""
    newest_first = sorted(issues, key=lambda issue: issue.issued_ts, reverse=True)
    return next((issue.issued_ts for issue in newest_first if _is_forecast(issue)), None)


def _is_forecast(issue: IssuedSeries) -> bool:
    """Return whether an issue has a value for an hour that began at or after the issue."""
    known = np.flatnonzero(np.isfinite(issue.values))
    return known.size > 0 and issue.start_ts + int(known[-1]) * HOUR_S >= issue.issued_ts


def without_passing_runs(issues: tuple[IssuedSeries, ...], as_of: int) -> tuple[IssuedSeries, ...]:
    """Leave out weather runs that were not the newest run at the issue instant of any day.

    Evening runs are deleted after two weeks. If training used evening runs, each deletion would change the model. All
    runs since the last issue instant are kept.
    """
    if all(issue.run_ts is None for issue in issues):
        return issues
    issued = np.array([issue.issued_ts for issue in issues], np.int64)
    is_run = np.array([issue.run_ts is not None for issue in issues])
    passing = passing_runs(np.zeros_like(issued), issued, is_run, as_of)
    return tuple(issue for issue, is_passing in zip(issues, passing.tolist(), strict=True) if not is_passing)


def passing_runs(series: Instants, issued: Instants, is_run: NDArray[np.bool_], as_of: int) -> NDArray[np.bool_]:
    """Return true for each issue that `without_passing_runs` leaves out. All arrays have shape (issues,).

    `series` holds the number of each issue's covariate.
    """
    look = -((ISSUE_CLOCK_S - issued) // DAY_S)  # the first day whose forecast could use the issue
    order = np.lexsort((issued, look, series))
    order = order[is_run[order]]
    one, day, at = series[order], look[order], issued[order]
    is_last = np.append((one[1:] != one[:-1]) | (day[1:] != day[:-1]), np.ones(min(order.size, 1), np.bool_))
    newest = np.repeat(at[is_last], np.diff(np.flatnonzero(is_last), prepend=-1))
    passing = np.zeros(issued.shape, np.bool_)
    passing[order] = (day <= (as_of - ISSUE_CLOCK_S) // DAY_S) & (at < newest)
    return passing


def reach_s(issues: Sequence[IssuedSeries]) -> int:
    """Return the longest time from an issue to the start of its last hour, in seconds."""
    ends = (
        issue.start_ts + (issue.values.size - 1) * HOUR_S - issue.issued_ts for issue in issues if issue.values.size
    )
    return max(ends, default=0)


@dataclass(frozen=True, slots=True)
class Frame:
    """The positions of the hours in the vintages of some issue days.

    `instants` (rows,) holds the instant of each issue day. `slots` (rows, ages, 25) holds the position of each hour,
    counted in hours from `start_ts`. Hours outside the grid have the position `hours`. `is_short` (rows, ages) is true
    for days of 23 hours.
    """

    start_ts: int
    hours: int
    instants: Instants
    slots: NDArray[np.int64]
    is_short: NDArray[np.bool_]

    @classmethod
    def of(cls, grid: DayGrid, instants: Instants, rows: range, ages: range) -> Self:
        """Return the frame of the delivery days that lie `ages` days after the issue days `rows`."""
        first, last = np.clip([rows.start + ages[0], rows.stop - 1 + ages[-1]], 0, grid.days - 1).tolist()
        window = DayGrid(grid.day(first), grid.starts[first : last + 2])
        day = np.arange(rows.start, rows.stop)[:, None] + np.arange(ages.start, ages.stop)
        inside = (day >= 0) & (day < grid.days)
        day = np.clip(day - first, 0, window.days - 1)
        slots = np.where(inside[..., None], window.slots()[day], window.hours)
        is_short = inside & (window.lengths() < CLOCK_HOURS)[day]
        return cls(int(window.starts[0]), window.hours, instants[rows.start : rows.stop], slots, is_short)


def vintages(covariates: Sequence[Sequence[IssuedSeries]], frame: Frame) -> Singles:
    """Return the newest forecast known at each issue instant, shape (covariates, rows, ages, 24).

    Unknown values are NaN. The covariates must have been issued together, at the same instants and for the same hours.
    Values of hours that had begun at the issue are skipped, because they are observations. The array `board` holds the
    newest value of each hour. The issues are written to `board`, oldest first. A row is read from `board` after all
    issues up to the row's instant are written.
    """
    reaching = (
        issues
        for issues in zip(*covariates, strict=True)
        if issues[0].start_ts + issues[0].values.size * HOUR_S > frame.start_ts
    )
    to_come = deque(sorted(reaching, key=lambda issues: issues[0].issued_ts))
    values = np.full((*frame.slots.shape, len(covariates)), np.nan, np.float32)
    board = np.full((frame.hours + 1, len(covariates)), np.nan, np.float32)
    for row, instant in enumerate(frame.instants.tolist()):
        while to_come and to_come[0][0].issued_ts <= instant:
            _post(to_come.popleft(), frame, board)
        values[row] = board[frame.slots[row]]
    return bridged(merged(np.moveaxis(values, -1, 0)), frame.is_short)


def _post(together: Sequence[IssuedSeries], frame: Frame, board: Singles) -> None:
    """Write forecasts that were issued together to `board`."""
    issue = together[0]
    offset = (issue.start_ts - frame.start_ts) // HOUR_S
    observed = -((issue.start_ts - issue.issued_ts) // HOUR_S)
    low, high = max(0, -offset, observed), min(issue.values.size, frame.hours - offset)
    if low < high:
        part = np.array([one.values[low:high] for one in together]).T
        np.copyto(board[offset + low : offset + high], part, where=np.isfinite(part))


def vintages_by_name(names: Iterable[str], archive: CovariateArchive, frame: Frame) -> dict[str, Singles]:
    """Return the vintages of covariates by name, each (rows, ages, 24).

    Covariates that were issued together are processed together. Processing many weather points takes little more time
    than processing one point.
    """
    together: dict[tuple[tuple[int, int, int], ...], list[str]] = {}
    for name in names:
        issued = tuple((one.issued_ts, one.start_ts, one.values.size) for one in archive.series[name])
        together.setdefault(issued, []).append(name)
    return {
        name: values
        for group in together.values()
        for name, values in zip(group, vintages([archive.series[one] for one in group], frame), strict=True)
    }
