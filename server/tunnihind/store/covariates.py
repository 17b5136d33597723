"""Stores the forecasts of covariates. For each covariate, a weather run is stored only once."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, select, type_coerce
from sqlalchemy.types import NullType

from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.known import CovariateArchive, Instants, IssuedSeries
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.packing import pack_covariate_values, unpack_covariate_values
from tunnihind.store.rows import (
    EARLIEST,
    LATEST,
    Instant,
    PeriodStart,
    StoredRow,
    TableRows,
    TextWithoutNul,
)
from tunnihind.store.schema import covariates as table
from tunnihind.store.scores import delete_past_forecasts_since
from tunnihind.store.state import StateBook

type FindSuperseded = Callable[[Instants, NDArray[np.bool_]], NDArray[np.bool_]]
"""Returns True for each forecast of a covariate that price forecasts no longer use. The arguments are arrays with an
item for each forecast: its instant of issue, and whether it comes from a weather run."""

type FindSuperfluous = Callable[[Mapping[int, int | None]], set[int]]
"""Returns the issue instants of those forecasts of a covariate that need not be kept. The argument maps each forecast's
issue instant to its `IssuedSeries.run_ts`."""

type _Rows = TableRows[_CovariateRow, tuple[str, IssuedSeries]]

FINEST_SCALE: Final = 1000
_HIGHEST_SOUND_VALUE: Final = 1e6
"""A stored value beyond ±`_HIGHEST_SOUND_VALUE` counts as damaged, because all covariates, such as loads in MW, stay
far below."""


class CovariateBook:
    """The stored covariates."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _CovariateRow, _named_forecasts, database)

    def add(self, series: Mapping[str, Iterable[IssuedSeries]]) -> int:
        """Store forecasts of covariates, and return the number of new or changed values. Raises StoreError.

        A forecast is left out if a forecast of the same covariate from the same weather run is already stored. If a
        forecast of the same covariate with the same issue time is stored, the new values other than NaN replace the
        stored values of their hours. All other stored values stay.
        """
        with self._database.writing() as connection:
            return self._add(connection, {name: list(issues) for name, issues in series.items()})

    def add_archived(self, series: Mapping[str, Sequence[IssuedSeries]], superfluous: FindSuperfluous) -> int:
        """Store a source's archived forecasts as `add` does, except forecasts that `delete_superfluous` would delete.

        Raises StoreError.
        """
        with self._database.writing() as connection:
            lasting = {
                name: _without_superfluous(connection, name, issues, superfluous) for name, issues in series.items()
            }
            return self._add(connection, lasting)

    def delete_superfluous(self, superfluous: FindSuperfluous) -> int:
        """For each covariate, delete the forecasts issued at the instants that `superfluous` returns.

        Return the number of deleted forecasts. Raises StoreError.
        """
        issues: dict[str, dict[int, int | None]] = defaultdict(dict)
        with self._database.writing() as connection:
            # `superfluous` is called once for each covariate, because each covariate has its own instants of issue.
            columns = table.c.name, table.c.issued_ts, table.c.run_ts
            is_sound = table.c.issued_ts.between(EARLIEST, LATEST)
            for name, issued_ts, run_ts in connection.execute(select(*columns).where(is_sound)):
                issues[name][issued_ts] = run_ts
            surplus = [{"of": name, "at": at} for name, by_issue in issues.items() for at in superfluous(by_issue)]
            if surplus:
                key = table.c.name == bindparam("of"), table.c.issued_ts == bindparam("at")
                connection.execute(delete(table).where(*key), surplus)
        return len(surplus)

    def _add(self, connection: Connection, series: Mapping[str, Sequence[IssuedSeries]]) -> int:
        added = sum(
            _add(connection, name, _without_known_weather_runs(connection, name, given), self.rows)
            for name, given in series.items()
        )
        if added:
            self._state.record_covariate_change()
        return added

    def read_archive(
        self, since_ts: int | None = None, *, superseded: FindSuperseded | None = None
    ) -> CovariateArchive:
        """Return the forecasts issued from `since_ts` on, or all forecasts if `since_ts` is None. Raises StoreError.

        `superseded` returns True for the forecasts to leave out. To save memory, their values are not unpacked.
        """
        where = table.c.issued_ts.between(EARLIEST if since_ts is None else since_ts, LATEST)
        found: dict[str, tuple[IssuedSeries, ...]] = {}
        with self._database.reading() as connection:
            # One covariate at a time, because the rows and keys of all covariates would take much memory.
            for name in connection.scalars(select(type_coerce(table.c.name, NullType())).where(where).distinct()).all():
                one = where & (table.c.name == name)
                excluded = set() if superseded is None else _superseded_keys(connection, one, superseded)
                found |= _archive_by_covariate(self.rows.read(connection, one, excluded_keys=excluded)).series
        return CovariateArchive(dict(sorted(found.items())))

    def issued_between(self, names: Collection[str], since: int, as_of: int) -> CovariateArchive:
        """Return the forecasts issued in [since, as_of] for the covariates in `names`. Raises StoreError."""
        where = table.c.name.in_(names), table.c.issued_ts.between(since, as_of)
        with self._database.reading() as connection:
            return _archive_by_covariate(self.rows.read(connection, *where))

    def change_and_row_counts(self) -> tuple[int, int]:
        """Return a number that increases with every change to covariates, and the number of stored rows.

        Deletions by `delete_superfluous` don't increase the first number. If two calls return the same numbers, no
        covariate has changed between the calls. Raises StoreError.
        """
        with self._database.one_view(), self._database.reading() as connection:
            rows = connection.execute(select(func.count()).select_from(table)).scalar_one()
            return self._state.covariate_change_count(), rows

    def newest_issues(self, as_of: int) -> dict[str, int]:
        """Return each covariate's newest instant of issue up to `as_of`. Raises StoreError."""
        # `between` leaves out damaged instants, such as text.
        query = select(table.c.name, func.max(table.c.issued_ts)).where(table.c.issued_ts.between(EARLIEST, as_of))
        with self._database.reading() as connection:
            found = connection.execute(query.group_by(table.c.name)).all()
        return {name: issued_ts for name, issued_ts in found if isinstance(name, str)}


class _CovariateRow(StoredRow):
    name: TextWithoutNul
    issued_ts: Instant
    start_ts: PeriodStart
    run_ts: Instant | None
    scale: Annotated[int, msgspec.Meta(ge=0, le=FINEST_SCALE)]
    series: bytes


def _superseded_keys(
    connection: Connection, where: ColumnElement[bool], superseded: FindSuperseded
) -> set[tuple[Any, ...]]:
    columns = table.c.name, table.c.issued_ts, table.c.run_ts
    keys = connection.execute(select(*(type_coerce(column, NullType()) for column in columns)).where(where)).all()
    issued = np.fromiter((row[1] for row in keys), np.int64, len(keys))
    is_superseded = superseded(issued, np.array([row[2] is not None for row in keys], np.bool_))
    return {tuple(row[:2]) for row, one in zip(keys, is_superseded.tolist(), strict=True) if one}


def _without_superfluous(
    connection: Connection, name: str, issues: Sequence[IssuedSeries], superfluous: FindSuperfluous
) -> list[IssuedSeries]:
    if not issues:
        return []
    given = {issue.issued_ts: issue.run_ts for issue in issues}
    beside = table.c.issued_ts.between(min(given) - DAY_S, max(given) + DAY_S)
    kept = select(table.c.issued_ts, table.c.run_ts).where(table.c.name == name, beside)
    surplus = superfluous(dict(connection.execute(kept).tuples().all()) | given)
    return [issue for issue in issues if issue.issued_ts not in surplus]


def _named_forecasts(rows: Sequence[_CovariateRow]) -> list[tuple[str, IssuedSeries]]:
    """For each row, return the covariate's name and the forecast. Raises ValueError if a row is damaged."""
    values = unpack_sound_values([row.series for row in rows], [row.scale for row in rows])
    return [
        (row.name, IssuedSeries(row.issued_ts, row.start_ts, some, row.run_ts))
        for row, some in zip(rows, values, strict=True)
    ]


def unpack_sound_values(packed: Sequence[bytes], scales: Sequence[int]) -> list[NDArray[np.float32]]:
    """Unpack the values of many rows. Raises ValueError if one row is damaged, or has a value that is too high."""
    values = unpack_covariate_values(packed, scales)
    # If the scale isn't 0, values are packed as short integers, which are always below `_HIGHEST_SOUND_VALUE`.
    if any(
        not scale and (np.abs(some) > _HIGHEST_SOUND_VALUE).any() for scale, some in zip(scales, values, strict=True)
    ):
        raise ValueError("its values are too high")
    return values


def _archive_by_covariate(named: Iterable[tuple[str, IssuedSeries]]) -> CovariateArchive:
    """Group forecasts by the name of the covariate, and sort each group by instant of issue.

    The database does not sort the rows, because it would copy the packed values of all rows to do so.
    """
    found: dict[str, list[IssuedSeries]] = defaultdict(list)
    for name, series in named:
        found[name].append(series)
    for issues in found.values():
        issues.sort(key=lambda issue: issue.issued_ts)
    return CovariateArchive({name: tuple(found.pop(name)) for name in sorted(found)})


def _without_known_weather_runs(
    connection: Connection, name: str, issues: Sequence[IssuedSeries]
) -> list[IssuedSeries]:
    runs = {issue.run_ts for issue in issues if issue.run_ts is not None}
    if not runs:
        return list(issues)
    query = select(table.c.run_ts).where(
        table.c.name == name, table.c.issued_ts >= min(runs), table.c.run_ts.between(min(runs), max(runs))
    )
    kept = set(connection.execute(query).scalars())
    return [issue for issue in issues if issue.run_ts is None or issue.run_ts not in kept]


def _add(connection: Connection, name: str, issues: Sequence[IssuedSeries], rows: _Rows) -> int:
    if not issues:
        return 0
    kept = _stored_forecasts(connection, name, issues, rows)
    changed: dict[int, IssuedSeries] = {}
    added, changed_at = 0, []
    for issue in issues:
        earlier = changed.get(issue.issued_ts) or kept.get(issue.issued_ts)
        merged, is_new = (issue, np.isfinite(issue.values)) if earlier is None else _merged_forecast(earlier, issue)
        if is_new.any() or earlier is None:
            changed[issue.issued_ts] = merged
            added += int(is_new.sum())
        if is_new.any():
            changed_at.append(issue.issued_ts)
    _upsert_forecasts(connection, name, changed.values())
    if changed_at:
        delete_past_forecasts_since(connection, min(changed_at))
    return added


def _stored_forecasts(
    connection: Connection, name: str, issues: Sequence[IssuedSeries], rows: _Rows
) -> dict[int, IssuedSeries]:
    first, last = min(issue.issued_ts for issue in issues), max(issue.issued_ts for issue in issues)
    found = rows.read(connection, table.c.name == name, table.c.issued_ts.between(first, last))
    return {series.issued_ts: series for _, series in found}


def _upsert_forecasts(connection: Connection, name: str, changed: Iterable[IssuedSeries]) -> None:
    rows = []
    for series in changed:
        packed, scale = pack_covariate_values(series.values)
        issue = {"name": name, "issued_ts": series.issued_ts, "run_ts": series.run_ts}
        rows.append({**issue, "start_ts": series.start_ts, "series": packed, "scale": scale})
    upsert(connection, table, rows)


def _merged_forecast(kept: IssuedSeries, issue: IssuedSeries) -> tuple[IssuedSeries, NDArray[np.bool_]]:
    """Return `kept` overwritten with the values of `issue` other than NaN, and a mask of the changed values."""
    start = min(kept.start_ts, issue.start_ts)
    end = max(series.start_ts + series.values.size * HOUR_S for series in (kept, issue))
    merged = np.full((end - start) // HOUR_S, np.nan, np.float32)
    _write_known_values(merged, start, kept)
    before = merged.copy()
    _write_known_values(merged, start, issue)
    run_ts = issue.run_ts if kept.run_ts is None else kept.run_ts
    return IssuedSeries(issue.issued_ts, start, merged, run_ts), np.isfinite(merged) & (merged != before)


def _write_known_values(
    grid: np.ndarray[tuple[int], np.dtype[np.float32]], start_ts: int, series: IssuedSeries
) -> None:
    offset = (series.start_ts - start_ts) // HOUR_S
    window = grid[offset : offset + series.values.size]
    window[:] = np.where(np.isnan(series.values), window, series.values)
