"""Covariates as they were known on each past day: the only door through which the model sees them.

A vintage is what had been forecast by a day's issue instant. Training reads the vintages of past days, a live
forecast reads the one of its own instant, so both see forecasts of the same age and neither sees an observation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tunnihind.forecast.daily import DayGrid
from tunnihind.known import CovariateArchive, Instants, IssuedSeries
from tunnihind.market import DAY_S, HOUR_S

type Singles = NDArray[np.float32]

ISSUE_CLOCK_S: Final = 9 * HOUR_S
"""When past days are looked at, seconds after midnight UTC: before the auction, in winter and in summer."""
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
    at_once = (issue for issue in reversed(issues) if issue.lead_s == 0)
    rolling = [found for issue in issues if issue.lead_s > 0 and (found := _newest_forecast(issue)) is not None]
    first = next((found for issue in at_once if (found := _newest_forecast(issue)) is not None), None)
    return max([*rolling, *([] if first is None else [first])], default=None)


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


def vintages(issues: Sequence[IssuedSeries], grid: DayGrid, instants: Instants, rows: range, ages: range) -> Singles:
    """Return the newest forecast known at each issue instant, shape (rows, ages, 24), NaN where there was none.

    Of issue day `rows[r]` at `instants[rows[r]]`, entry [r, a] holds the delivery day `rows[r] + ages[a]`. A value
    whose hour had begun when it was issued is an observation, not a forecast, and is passed over.
    """
    out = np.full((len(rows), len(ages), 24), np.nan, np.float32)
    low, high = max(0, rows.start + ages.start), min(grid.days, rows.stop + ages.stop - 1)
    if not rows or low >= high:
        return out
    window = DayGrid(grid.day(low), grid.starts[low : high + 1])
    flat = _flat(issues, window, int(instants[rows.stop - 1]))
    day_of_hour = low + np.repeat(np.arange(window.days), np.diff(window.starts) // HOUR_S)
    for column, age in enumerate(ages):
        row = day_of_hour - age
        cut = np.where((row >= rows.start) & (row < rows.stop), instants[np.clip(row, 0, len(instants) - 1)], -1)
        seen = flat.issued <= cut[flat.hour]
        hourly = np.full(window.hours, np.nan, np.float32)
        hourly[flat.hour[seen]] = flat.value[seen]  # of several for an hour the last stands: the newest
        first, last = max(low, rows.start + age), min(high, rows.stop + age)
        if first < last:
            out[first - age - rows.start : last - age - rows.start, column] = window.lay_whole(hourly)[
                first - low : last - low
            ]
    return out


@dataclass(frozen=True, slots=True)
class _Flat:
    """Single forecasts in order of issue, all arrays of shape (n,); `hour` counts from a window's start."""

    issued: Instants
    hour: Instants
    value: Singles


def _flat(issues: Sequence[IssuedSeries], window: DayGrid, until: int) -> _Flat:
    start, end = int(window.starts[0]), int(window.starts[-1])
    parts = [
        _between(issue, start, end)
        for issue in issues
        if start - issue.values.size * HOUR_S < issue.start_ts < end and issue.issued_ts <= until and issue.lead_s >= 0
    ]
    if not parts:
        nothing = np.empty(0, np.int64)
        return _Flat(nothing, nothing, np.empty(0, np.float32))
    sizes = np.array([part.values.size for part in parts])
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    target = np.repeat([part.start_ts for part in parts], sizes) + HOUR_S * within
    lead_s = np.repeat([part.lead_s for part in parts], sizes)
    issued = np.where(lead_s > 0, target - lead_s, np.repeat([part.issued_ts for part in parts], sizes))
    value = np.concatenate([part.values for part in parts])
    use = np.flatnonzero(np.isfinite(value) & (target >= issued) & (issued <= until))
    if (np.diff(issued[use]) < 0).any():
        use = use[np.argsort(issued[use], kind="stable")]
    return _Flat(issued[use], (target[use] - start) // HOUR_S, value[use])


def _between(issue: IssuedSeries, start_ts: int, end_ts: int) -> IssuedSeries:
    """Return the part of a series that falls on the hours from `start_ts` to `end_ts`."""
    low = max(0, (start_ts - issue.start_ts) // HOUR_S)
    high = max(low, (end_ts - issue.start_ts) // HOUR_S)
    if low == 0 and high >= issue.values.size:
        return issue
    return IssuedSeries(issue.issued_ts, issue.start_ts + low * HOUR_S, issue.values[low:high], issue.lead_s)


@dataclass(slots=True)
class _Settled:
    """The vintages of one covariate's past issue days, and the forecasts that they rest on."""

    first_instant: int
    ages: range
    until: int
    rows: Singles
    issues: tuple[IssuedSeries, ...]


class VintageBook:
    """Builds vintages and remembers those of past days, which never change unless the archive's past does."""

    def __init__(self) -> None:
        self._settled: dict[tuple[str, int], _Settled] = {}

    def of(
        self, name: str, archive: CovariateArchive, grid: DayGrid, instants: Instants, ages: range, stale_days: int
    ) -> Singles:
        """Return the vintages of all issue days, shape (issue days, ages, 24), the last one as of its instant."""
        issues = archive.series[name]
        today = len(instants) - 1
        key = (name, stale_days)
        settled = self._settled.get(key)
        if settled is None or not _continues(settled, issues, instants, ages):
            settled = _Settled(int(instants[0]), ages, 0, vintages((), grid, instants, range(0), ages), ())
        rest = vintages(issues, grid, instants, range(len(settled.rows), today + 1), ages)
        rows: Singles = np.concatenate([settled.rows, rest])
        until = int(instants[today - 1]) if today else 0
        self._settled[key] = _Settled(int(instants[0]), ages, until, rows[:today], _issued_until(until, issues))
        return rows


def _continues(settled: _Settled, issues: tuple[IssuedSeries, ...], instants: Instants, ages: range) -> bool:
    """Tell whether vintages were built on the very forecasts that are known now of their time."""
    days = len(settled.rows)
    if settled.first_instant != instants[0] or settled.ages != ages or days >= len(instants):
        return False
    if days and settled.until != instants[days - 1]:
        return False
    now = _issued_until(settled.until, issues)
    return len(now) == len(settled.issues) and all(map(_same, now, settled.issues, strict=True))


def _issued_until(instant: int, issues: tuple[IssuedSeries, ...]) -> tuple[IssuedSeries, ...]:
    return CovariateArchive({"": issues}).as_of(instant).series.get("", ())


def _same(one: IssuedSeries, other: IssuedSeries) -> bool:
    if one is other:
        return True
    header = (one.issued_ts, one.start_ts, one.lead_s) == (other.issued_ts, other.start_ts, other.lead_s)
    return header and np.array_equal(one.values, other.values, equal_nan=True)
