"""Stores each source's last success, and its last failure since then."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Annotated

import msgspec
from msgspec.structs import astuple
from sqlalchemy import delete

from tunnihind.errors import SourceError
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.rows import Instant, NonNegativeInt32, StoredRow, TableRows, TextWithoutNul, row_mapper
from tunnihind.store.schema import source_health as table


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """The times of a source's last request and last success, and the last failure since that success.

    Times are in unix seconds UTC. Before the first success, `ok_ts` is None. `failures` counts the failures since the
    last success. If the last request succeeded, `error` is empty, and `fault` and `status` are None. If a newer version
    of Tunnihind wrote the row, `fault` may have a value that `errors.SourceFault` lacks.
    """

    source: str
    tried_ts: int
    ok_ts: int | None
    failures: int
    error: str
    fault: str | None = None
    status: int | None = None


class _HealthRow(StoredRow):
    source: TextWithoutNul
    tried_ts: Instant
    ok_ts: Instant | None
    failures: NonNegativeInt32
    error: TextWithoutNul
    fault: TextWithoutNul | None
    status: Annotated[int, msgspec.Meta(ge=0, le=999)] | None


class HealthBook:
    """The stored health of each source."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.rows = TableRows(table, _HealthRow, row_mapper(lambda row: SourceHealth(*astuple(row))), database)

    def record_success(self, source: str, at: int) -> bool:
        """Record a successful request to a source. Return whether the previous request failed. Raises StoreError."""
        with self._database.writing() as connection:
            earlier = self.rows.first_sound_object(connection, table.c.source == source)
            upsert(connection, table, [asdict(SourceHealth(source, at, at, 0, ""))])
        return earlier is not None and earlier.failures > 0

    def record_failure(self, source: str, at: int, error: SourceError) -> None:
        """Record that a request to a source failed with `error`. Raises StoreError."""
        with self._database.writing() as connection:
            earlier = self.rows.first_sound_object(connection, table.c.source == source)
            failures = earlier.failures + 1 if earlier else 1
            ok_ts = earlier.ok_ts if earlier else None
            health = SourceHealth(source, at, ok_ts, failures, str(error), error.fault, error.status)
            upsert(connection, table, [asdict(health)])

    def keep_only(self, sources: Collection[str]) -> None:
        """Delete the health records of all sources whose names are not in `sources`. Raises StoreError."""
        with self._database.writing() as connection:
            connection.execute(delete(table).where(table.c.source.not_in(sources)))

    def by_source(self) -> dict[str, SourceHealth]:
        """Map each source's name to its health. Raises StoreError."""
        with self._database.reading() as connection:
            return {health.source: health for health in self.rows.read(connection, order_by=(table.c.source,))}
