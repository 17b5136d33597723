"""Covariates as they were issued.

A run of a weather model is kept once: as it was first known.
"""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import batched
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Row, func, select, type_coerce
from sqlalchemy.types import NullType

from tunnihind.forecast.known import CovariateArchive, Instants, IssuedSeries
from tunnihind.forecast.known_days.vintages import passing_runs, without_passing_runs
from tunnihind.market import DAY_S, HOUR_S
from tunnihind.store.backtests import forget_since
from tunnihind.store.database import Database
from tunnihind.store.engines.upsert import upsert
from tunnihind.store.packing import pack_series, unpack_series
from tunnihind.store.retention import lasting
from tunnihind.store.rows import EARLIEST, END_HOUR, FIRST_HOUR, LATEST, Cells, Hour, Instant, Rows
from tunnihind.store.schema import covariates as table
from tunnihind.store.state import StateBook

type _Rows = Rows[tuple[str, IssuedSeries]]

_LONGEST_LEAD_S: Final = 60 * DAY_S
_FINEST_SCALE: Final = 1000
_TOGETHER: Final = 1000
"""So many rows are unpacked at a time, for memory."""
_KEY: Final = 3
"""A row begins with its key: name, lead and issue."""
_HIGHEST: Final = 1e6
"""No weather and no load of the Baltic states comes near it, in the units that are kept."""


class CovariateBook:
    """The covariates of a store."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self._rows = Rows(table, _series, database.damage)

    def add(self, series: Mapping[str, Iterable[IssuedSeries]]) -> int:
        """Keep series; one of the same name, lead and issue is merged into. Return how many values were new.

        Raises StoreError.
        """
        with self._database.writing() as connection:
            return self._add(connection, {name: list(issues) for name, issues in series.items()})

    def refill(self, series: Mapping[str, Sequence[IssuedSeries]], now: int) -> int:
        """Keep what a source's archive holds, as `add` does, but for what thinning has deleted or would delete.

        Raises StoreError.
        """
        with self._database.writing() as connection:
            return self._add(
                connection, {name: lasting(connection, name, issues, now) for name, issues in series.items()}
            )

    def _add(self, connection: Connection, series: Mapping[str, Sequence[IssuedSeries]]) -> int:
        added = sum(
            _add(connection, name, _without_known_runs(connection, name, given), self._rows)
            for name, given in series.items()
        )
        if added:
            self._state.stored_covariates(connection)
        return added

    def archive(self, since_ts: int | None = None, *, as_of: int | None = None) -> CovariateArchive:
        """Return the series of which anything was issued from `since_ts` on, oldest first. Raises StoreError.

        With `as_of` the runs of the weather are left out that no forecast looks at, made then or later, or at an
        earlier day's issue instant: every other one of those that are kept.
        """
        where: list[ColumnElement[bool]] = []
        if since_ts is not None:
            where = [(table.c.issued_ts >= since_ts) | (table.c.lead_s > 0)]
        found: dict[str, list[IssuedSeries]] = defaultdict(list)
        with self._database.reading() as connection:
            for name, series in self._read(connection, where, as_of):
                if since_ts is None or _last_issue(series) >= since_ts:
                    found[name].append(series)
        # Sorted here: a database would carry all of the values along.
        for issues in found.values():
            issues.sort(key=lambda issue: (issue.issued_ts, -issue.lead_s))
        by_name = {name: tuple(found.pop(name)) for name in sorted(found)}
        if as_of is not None:
            by_name = {name: without_passing_runs(issues, as_of) for name, issues in by_name.items()}
        return CovariateArchive(by_name)

    def newest(self, names: Collection[str], since: int, as_of: int) -> CovariateArchive:
        """Return what was issued of some covariates from one instant to another, both included. Raises StoreError.

        Previous Runs are left out: they tell what had been forecast of the past.
        """
        found: dict[str, list[IssuedSeries]] = defaultdict(list)
        where = table.c.name.in_(names), table.c.lead_s == 0, table.c.issued_ts.between(since, as_of)
        with self._database.reading() as connection:
            for name, series in self._rows.read_in_bulk(connection, _all_series, *where):
                found[name].append(series)
        return CovariateArchive(
            {name: tuple(sorted(issues, key=lambda issue: issue.issued_ts)) for name, issues in found.items()}
        )

    def _read(
        self, connection: Connection, where: Sequence[ColumnElement[bool]], as_of: int | None
    ) -> Iterable[tuple[str, IssuedSeries]]:
        """Return names and series; with `as_of` some of the runs that no forecast looks at may be missing."""
        if as_of is not None:
            # A damaged run takes no other one's place, so with one among them all are read.
            with suppress(ValueError, TypeError, OverflowError):
                passing = _passing(connection, where, as_of)
                rows = (row for row in self._rows.cells(connection, *where) if row[:_KEY] not in passing)
                return [one for many in batched(rows, _TOGETHER, strict=False) for one in _all_series(many)]
        return self._rows.read_in_bulk(connection, _all_series, *where)

    def changes(self) -> tuple[int, int]:
        """Return how often series have been added to and how many there are: equal only where nothing has changed.

        Raises StoreError.
        """
        with self._database.reading() as connection:
            return self._state.covariate_changes(connection), connection.execute(
                select(func.count()).select_from(table)
            ).scalar_one()

    def newest_issues(self, as_of: int) -> dict[str, int]:
        """Return by name when the newest forecast was issued, at `as_of` or earlier. Raises StoreError."""
        # What is no number lies outside of any span.
        query = select(table.c.name, func.max(table.c.issued_ts)).where(table.c.issued_ts.between(EARLIEST, as_of))
        with self._database.reading() as connection:
            found = connection.execute(query.group_by(table.c.name)).all()
        return {name: issued_ts for name, issued_ts in found if isinstance(name, str)}

    def remove_damaged(self) -> list[Cells]:
        """Delete the rows that make no sense, and return them. Raises StoreError."""
        with self._database.reading() as connection:
            if not self._rows.damaged(connection):
                return []
        with self._database.writing() as connection:
            removed = self._rows.remove_damaged(connection)
            if removed:
                self._state.stored_covariates(connection)
            return removed


class _Row(msgspec.Struct):
    """A row of the table."""

    name: str
    lead_s: Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_LEAD_S)]
    issued_ts: Instant
    start_ts: Hour
    run_ts: Instant | None
    scale: Annotated[int, msgspec.Meta(ge=0, le=_FINEST_SCALE)]
    series: bytes


def _last_issue(series: IssuedSeries) -> int:
    """Return when the last value of a series was issued: those of Previous Runs follow one another."""
    return series.issued_ts + (max(series.values.size - 1, 0) * HOUR_S if series.lead_s else 0)


def _passing(connection: Connection, where: Sequence[ColumnElement[bool]], as_of: int) -> set[tuple[Any, ...]]:
    """Return the keys of the rows that no forecast looks at. Raises TypeError, OverflowError.

    Without the values, which would take most of the memory, and stay in pieces among what is kept.
    """
    columns = table.c.name, table.c.lead_s, table.c.issued_ts, table.c.run_ts
    query = select(*(type_coerce(column, NullType()) for column in columns)).where(*where)
    rows = connection.execute(query).all()
    if not rows:
        return set()
    names, _, issued, runs = zip(*rows, strict=True)
    number = {name: n for n, name in enumerate(set(names))}
    series = np.array([number[name] for name in names], np.int64)
    is_run = np.array([run is not None for run in runs])
    passing = passing_runs(series, _whole(issued), is_run, as_of)
    return {tuple(row[:_KEY]) for row, is_passing in zip(rows, passing.tolist(), strict=True) if is_passing}


def _series(cells: Cells) -> tuple[str, IssuedSeries]:
    """Return a covariate's name and the series that a row holds. Raises ValueError."""
    row = msgspec.convert(cells, _Row)
    [values] = unpack_series([row.series], [row.scale])
    if (np.abs(values) > _HIGHEST).any():
        raise ValueError("its values are no values of hours")
    return row.name, IssuedSeries(row.issued_ts, row.start_ts, values, row.lead_s, row.run_ts)


def _all_series(rows: Sequence[Row[Any]]) -> list[tuple[str, IssuedSeries]]:
    """Return what `_series` does of many rows. Raises ValueError, TypeError, OverflowError where any is damaged."""
    names, leads, issued, starts, runs, scales, packed = zip(*rows, strict=True)
    if {*map(type, names)} != {str} or {*map(type, packed)} != {bytes}:
        raise TypeError("a name or a series is none")
    _require(leads, 0, _LONGEST_LEAD_S)
    _require(issued, EARLIEST, LATEST)
    _require(starts, FIRST_HOUR, END_HOUR - 1)
    _require(scales, 0, _FINEST_SCALE)
    _require([run for run in runs if run is not None], EARLIEST, LATEST)
    values = unpack_series(packed, scales)
    # Short integers, as all others are, can't be so high.
    singles = [some for some, scale in zip(values, scales, strict=True) if scale == 0]
    if singles and (np.abs(np.concatenate(singles)) > _HIGHEST).any():
        raise ValueError("its values are no values of hours")
    series = map(IssuedSeries, issued, starts, values, leads, runs, strict=True)
    return list(zip(names, series, strict=True))


def _require(values: Sequence[int], lowest: int, highest: int) -> None:
    """Raise ValueError, TypeError or OverflowError where a value is no whole number between two others."""
    numbers = _whole(values)
    if numbers.size and not lowest <= numbers.min() <= numbers.max() <= highest:
        raise ValueError("a number is out of range")


def _whole(values: Sequence[int]) -> Instants:
    """Return whole numbers as an array. Raises TypeError or OverflowError where one is none."""
    return np.frombuffer(array("q", values), np.int64)


def _without_known_runs(connection: Connection, name: str, issues: Sequence[IssuedSeries]) -> list[IssuedSeries]:
    """Return the issues but for runs that are kept already: what was known of them first stays."""
    runs = {issue.run_ts for issue in issues if issue.run_ts is not None}
    if not runs:
        return list(issues)
    query = select(table.c.run_ts).where(
        table.c.name == name, table.c.lead_s == 0, table.c.issued_ts >= min(runs), table.c.run_ts.between(*_ends(runs))
    )
    kept = set(connection.execute(query).scalars())
    return [issue for issue in issues if issue.run_ts is None or issue.run_ts not in kept]


def _ends(instants: Iterable[int]) -> tuple[int, int]:
    return min(instants), max(instants)


def _add(connection: Connection, name: str, issues: Sequence[IssuedSeries], rows: _Rows) -> int:
    if not issues:
        return 0
    kept = _kept(connection, name, issues, rows)
    changed: dict[tuple[int, int], IssuedSeries] = {}
    added, told_from = 0, []
    for issue in issues:
        key = issue.lead_s, issue.issued_ts
        earlier = changed.get(key) or kept.get(key)
        merged, is_new = (issue, np.isfinite(issue.values)) if earlier is None else _merge(earlier, issue)
        if is_new.any() or earlier is None:
            changed[key] = merged
            added += int(is_new.sum())
        if is_new.any():
            told_from.append(_told_from(merged, is_new))
    _replace(connection, name, changed)
    if told_from:
        forget_since(connection, min(told_from))
    return added


def _told_from(series: IssuedSeries, is_new: NDArray[np.bool_]) -> int:
    """Return from which instant on the new values of a series make a past forecast another one.

    Those of a Previous Run count from their own hour on, not from their issue: no source tells them much sooner, so a
    forecast made before could not have had them either.
    """
    if series.lead_s == 0:
        return series.issued_ts
    return series.start_ts + int(np.flatnonzero(is_new)[0]) * HOUR_S


def _kept(
    connection: Connection, name: str, issues: Sequence[IssuedSeries], rows: _Rows
) -> dict[tuple[int, int], IssuedSeries]:
    """Return by lead and issue what is kept already of a covariate in a span of issues."""
    first, last = min(issue.issued_ts for issue in issues), max(issue.issued_ts for issue in issues)
    found = rows.read(connection, table.c.name == name, table.c.issued_ts.between(first, last))
    return {(series.lead_s, series.issued_ts): series for _, series in found}


def _replace(connection: Connection, name: str, changed: Mapping[tuple[int, int], IssuedSeries]) -> None:
    rows = []
    for (lead_s, issued_ts), series in changed.items():
        packed, scale = pack_series(series.values)
        issue = {"name": name, "lead_s": lead_s, "issued_ts": issued_ts, "run_ts": series.run_ts}
        rows.append({**issue, "start_ts": series.start_ts, "series": packed, "scale": scale})
    upsert(connection, table, rows)


def _merge(kept: IssuedSeries, issue: IssuedSeries) -> tuple[IssuedSeries, NDArray[np.bool_]]:
    """Lay the newly given values over those kept, and tell which differ."""
    start = min(kept.start_ts, issue.start_ts)
    end = max(series.start_ts + series.values.size * HOUR_S for series in (kept, issue))
    merged = np.full((end - start) // HOUR_S, np.nan, np.float32)
    _lay(merged, start, kept)
    before = merged.copy()
    _lay(merged, start, issue)
    run_ts = issue.run_ts if kept.run_ts is None else kept.run_ts
    return IssuedSeries(issue.issued_ts, start, merged, issue.lead_s, run_ts), np.isfinite(merged) & (merged != before)


def _lay(grid: np.ndarray[tuple[int], np.dtype[np.float32]], start_ts: int, series: IssuedSeries) -> None:
    offset = (series.start_ts - start_ts) // HOUR_S
    window = grid[offset : offset + series.values.size]
    window[:] = np.where(np.isnan(series.values), window, series.values)
