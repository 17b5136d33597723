"""Covariates as they were issued."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from tunnihind.known import CovariateArchive, IssuedSeries
from tunnihind.market import HOUR_S
from tunnihind.store.database import Database
from tunnihind.store.packing import pack_covariate, unpack_covariate
from tunnihind.store.schema import covariates as table


class CovariateBook:
    """The covariates of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, series: Mapping[str, Iterable[IssuedSeries]]) -> int:
        """Keep series; one of the same name, lead and issue is merged into. Return how many values were new.

        Raises StoreError.
        """
        added = 0
        with self._database.writing() as connection:
            for name, issues in series.items():
                for issue in issues:
                    added += _add(connection, name, issue)
        return added

    def archive(self, since_ts: int | None = None) -> CovariateArchive:
        """Return what was issued from `since_ts` on, oldest first. Raises StoreError."""
        query = select(table).order_by(table.c.name, table.c.issued_ts, table.c.lead_s.desc())
        if since_ts is not None:
            query = query.where(table.c.issued_ts >= since_ts)
        found: dict[str, list[IssuedSeries]] = defaultdict(list)
        with self._database.reading() as connection:
            for row in connection.execute(query):
                found[row.name].append(_series(row.issued_ts, row.start_ts, row.series, row.lead_s))
        return CovariateArchive({name: tuple(issues) for name, issues in found.items()})

    def newest_issues(self) -> dict[str, int]:
        """Return by name when the newest forecast was issued. Raises StoreError."""
        query = select(table.c.name, func.max(table.c.issued_ts)).group_by(table.c.name)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}


def _series(issued_ts: int, start_ts: int, packed: bytes, lead_s: int) -> IssuedSeries:
    return IssuedSeries(issued_ts, start_ts, unpack_covariate(packed), lead_s)


def _add(connection: Connection, name: str, issue: IssuedSeries) -> int:
    key = _key(name, issue)
    row = connection.execute(select(table.c.start_ts, table.c.series).where(*key)).one_or_none()
    earlier = None if row is None else _series(issue.issued_ts, row.start_ts, row.series, issue.lead_s)
    merged, new = (issue, int(np.isfinite(issue.values).sum())) if earlier is None else _merge(earlier, issue)
    if new == 0 and earlier is not None:
        return 0
    connection.execute(delete(table).where(*key))
    connection.execute(
        insert(table).values(
            name=name,
            lead_s=issue.lead_s,
            issued_ts=issue.issued_ts,
            start_ts=merged.start_ts,
            series=pack_covariate(merged.values),
        )
    )
    return new


def _key(name: str, issue: IssuedSeries) -> Sequence[ColumnElement[bool]]:
    return table.c.name == name, table.c.lead_s == issue.lead_s, table.c.issued_ts == issue.issued_ts


def _merge(kept: IssuedSeries, issue: IssuedSeries) -> tuple[IssuedSeries, int]:
    """Lay the newly given values over those kept, and count the ones that differ."""
    start = min(kept.start_ts, issue.start_ts)
    end = max(series.start_ts + series.values.size * HOUR_S for series in (kept, issue))
    merged = np.full((end - start) // HOUR_S, np.nan, np.float32)
    _lay(merged, start, kept)
    before = merged.copy()
    _lay(merged, start, issue)
    new = int((np.isfinite(merged) & (merged != before)).sum())
    return IssuedSeries(issue.issued_ts, start, merged, issue.lead_s), new


def _lay(grid: np.ndarray[tuple[int], np.dtype[np.float32]], start_ts: int, series: IssuedSeries) -> None:
    offset = (series.start_ts - start_ts) // HOUR_S
    window = grid[offset : offset + series.values.size]
    window[:] = np.where(np.isnan(series.values), window, series.values)
