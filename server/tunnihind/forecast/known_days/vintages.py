"""Finds the forecasts of covariates that were known when each day's price forecast was issued.

The model reads covariates only through this module. A vintage is a covariate's newest known forecast at the issue
instant of a day. Training uses the vintages of past days, so that the covariates in training are as old as in a live
forecast. Observations are never used.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.forecast.known_days.calendar import CLOCK_HOURS
from tunnihind.forecast.known_days.grid import DayGrid, fill_missing_hour, merge_repeated_hour
from tunnihind.forecast.run import ISSUE_AT_S
from tunnihind.known import CovariateArchive, Instants, IssuedSeries

type Floats32 = NDArray[np.float32]

WEEK_AGES: Final = range(-1, 10)
"""The ages in the vintages of covariates that reach several days ahead."""
NEXT_DAY_AGES: Final = range(1, 2)
NEXT_DAY_REACH_S: Final = 48 * HOUR_S
"""If no forecast of a covariate reaches further than this after its issue, the covariate is a next-day covariate."""


def issue_instants(grid: DayGrid, as_of: int, today_row: int, stale_days: int = 0) -> Instants:
    """Return the issue instants of the days up to row `today_row`, shape (today_row + 1,).

    A forecast uses the covariates known at its issue instant. Today's issue instant is `as_of`. A past day's issue
    instant is `ISSUE_AT` on that day, minus `stale_days` days, so that past vintages are as stale as today's.
    """
    midnights = (grid.starts[: today_row + 1] + 2 * HOUR_S) // DAY_S * DAY_S
    instants = np.minimum(midnights + ISSUE_AT_S - stale_days * DAY_S, as_of)
    instants[today_row] = as_of
    return instants


def newest_issue_instant(issues: Sequence[IssuedSeries]) -> int | None:
    """Return the issue instant of the newest forecast that reaches past its issue, or None if no forecast does."""
    newest_first = sorted(issues, key=lambda issue: issue.issued_ts, reverse=True)
    return next((issue.issued_ts for issue in newest_first if _reaches_past_its_issue(issue)), None)


def _reaches_past_its_issue(issue: IssuedSeries) -> bool:
    """Return whether `issue` holds a known value for an hour that begins at `issued_ts` or later."""
    known = np.flatnonzero(np.isfinite(issue.values))
    return known.size > 0 and issue.start_ts + int(known[-1]) * HOUR_S >= issue.issued_ts


def without_superseded_weather_runs(issues: tuple[IssuedSeries, ...], as_of: int) -> tuple[IssuedSeries, ...]:
    """Return a covariate's forecasts without the superseded weather runs.

    A weather run is superseded if the next `ISSUE_AT` is not after `as_of`, and if a newer weather run was issued by
    that `ISSUE_AT`. Two weeks after their issue, the pipeline deletes many weather runs. If training used weather runs
    that are deleted later, each deletion would change the model.
    """
    if all(issue.run_ts is None for issue in issues):
        return issues
    issued = np.array([issue.issued_ts for issue in issues], np.int64)
    is_run = np.array([issue.run_ts is not None for issue in issues])
    superseded = superseded_forecast_mask(issued, is_run, as_of)
    return tuple(issue for issue, is_superseded in zip(issues, superseded.tolist(), strict=True) if not is_superseded)


def superseded_forecast_mask(issued: Instants, is_run: NDArray[np.bool_], as_of: int) -> NDArray[np.bool_]:
    """Return true for each forecast of a covariate that `without_superseded_weather_runs` leaves out.

    All arrays have shape (forecasts,).
    """
    issue_day = -((ISSUE_AT_S - issued) // DAY_S)  # the day of the first issue instant at or after `issued`
    order = np.lexsort((issued, issue_day))
    order = order[is_run[order]]
    day, at = issue_day[order], issued[order]
    is_last = np.append(day[1:] != day[:-1], np.ones(min(order.size, 1), np.bool_))
    newest = np.repeat(at[is_last], np.diff(np.flatnonzero(is_last), prepend=-1))
    superseded = np.zeros(issued.shape, np.bool_)
    superseded[order] = (day <= (as_of - ISSUE_AT_S) // DAY_S) & (at < newest)
    return superseded


def longest_reach_s(issues: Sequence[IssuedSeries]) -> int:
    """Return the longest time, in seconds, from the issue of a forecast to the start of its last hour."""
    ends = (
        issue.start_ts + (issue.values.size - 1) * HOUR_S - issue.issued_ts for issue in issues if issue.values.size
    )
    return max(ends, default=0)


@dataclass(frozen=True, slots=True)
class VintageFrame:
    """Maps the hours of vintages to their positions in an array of consecutive hours.

    `instants` (rows,) holds the issue instant of each issue day. `hour_positions` (rows, ages, 25) holds the position
    of each hour (see `DayGrid.hour_positions`), counted in hours from `start_ts`. Hours outside the grid have the
    position `hours`, which is one past the last hour. `is_short` (rows, ages) is true for days of 23 hours.
    """

    start_ts: int
    hours: int
    instants: Instants
    hour_positions: NDArray[np.int64]
    is_short: NDArray[np.bool_]

    @classmethod
    def of(cls, grid: DayGrid, instants: Instants, rows: range, ages: range) -> Self:
        """Return the frame of the vintages of the issue days in `rows`, for delivery days of the ages in `ages`.

        `instants` holds the issue instants of all days of `grid` up to today (see `issue_instants`).
        """
        first, last = np.clip([rows.start + ages[0], rows.stop - 1 + ages[-1]], 0, grid.day_count - 1).tolist()
        window = DayGrid(grid.day(first), grid.starts[first : last + 2])
        day = np.arange(rows.start, rows.stop)[:, None] + np.arange(ages.start, ages.stop)
        inside = (day >= 0) & (day < grid.day_count)
        day = np.clip(day - first, 0, window.day_count - 1)
        positions = np.where(inside[..., None], window.hour_positions()[day], window.hour_count)
        is_short = inside & (window.lengths() < CLOCK_HOURS)[day]
        return cls(int(window.starts[0]), window.hour_count, instants[rows.start : rows.stop], positions, is_short)


def vintages(covariates: Sequence[Sequence[IssuedSeries]], frame: VintageFrame) -> Floats32:
    """Return the newest known value of each hour at each issue instant, shape (covariates, rows, ages, 24).

    Unknown values are NaN. All covariates must have been issued at the same instants and for the same hours. Values of
    hours that began before the issue are observations, and are skipped.
    """
    reaching = (
        issues
        for issues in zip(*covariates, strict=True)
        if issues[0].start_ts + issues[0].values.size * HOUR_S > frame.start_ts
    )
    to_come = deque(sorted(reaching, key=lambda issues: issues[0].issued_ts))
    values = np.full((*frame.hour_positions.shape, len(covariates)), np.nan, np.float32)
    # At each issue instant, `newest` holds the newest known value of each hour.
    newest = np.full((frame.hours + 1, len(covariates)), np.nan, np.float32)
    for row, instant in enumerate(frame.instants.tolist()):
        while to_come and to_come[0][0].issued_ts <= instant:
            _overwrite_newest(to_come.popleft(), frame, newest)
        values[row] = newest[frame.hour_positions[row]]
    return fill_missing_hour(merge_repeated_hour(np.moveaxis(values, -1, 0)), frame.is_short)


def _overwrite_newest(together: Sequence[IssuedSeries], frame: VintageFrame, newest: Floats32) -> None:
    """Overwrite values in `newest` with the known values of forecasts issued together, one for each covariate."""
    issue = together[0]
    offset = (issue.start_ts - frame.start_ts) // HOUR_S
    observed = -((issue.start_ts - issue.issued_ts) // HOUR_S)
    low, high = max(0, -offset, observed), min(issue.values.size, frame.hours - offset)
    if low < high:
        part = np.array([one.values[low:high] for one in together]).T
        np.copyto(newest[offset + low : offset + high], part, where=np.isfinite(part))


def vintages_by_name(names: Iterable[str], archive: CovariateArchive, frame: VintageFrame) -> dict[str, Floats32]:
    """Return the vintages of the named covariates, each of shape (rows, ages, 24).

    To save time, covariates that were issued at the same instants for the same hours are processed together.
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
