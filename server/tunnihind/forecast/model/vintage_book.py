"""Vintages from forecast to forecast: those of past days are kept for as long as what they rest on stands."""

from dataclasses import dataclass
from operator import is_

import numpy as np

from tunnihind.forecast.calendar import CLOCK_HOURS
from tunnihind.forecast.daily import DayGrid
from tunnihind.forecast.model.vintages import Frame, Singles, vintages
from tunnihind.known import CovariateArchive, Instants, IssuedSeries


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
    """Tell whether vintages were built on the very forecasts that are known now of their time."""
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
