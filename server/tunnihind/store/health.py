"""How the last exchange with each source went."""

from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from tunnihind.store.database import Database
from tunnihind.store.schema import source_health as table


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """A source's last try and success (unix seconds), its failures in a row and the last one's text."""

    source: str
    tried_ts: int
    ok_ts: int | None
    failures: int
    error: str


class HealthBook:
    """The sources' health in a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def succeeded(self, source: str, at: int) -> bool:
        """Note a good answer; return whether it ends a row of failures. Raises StoreError."""
        earlier = self.all().get(source)
        self._put(SourceHealth(source, at, at, 0, ""))
        return earlier is not None and earlier.failures > 0

    def failed(self, source: str, at: int, error: str) -> bool:
        """Note a failure; return whether it is the first in a row. Raises StoreError."""
        earlier = self.all().get(source)
        failures = earlier.failures + 1 if earlier else 1
        self._put(SourceHealth(source, at, earlier.ok_ts if earlier else None, failures, error))
        return failures == 1

    def all(self) -> dict[str, SourceHealth]:
        """Return every source's health by name. Raises StoreError."""
        with self._database.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.source)).all()
        return {row.source: SourceHealth(row.source, row.tried_ts, row.ok_ts, row.failures, row.error) for row in rows}

    def _put(self, health: SourceHealth) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(table).where(table.c.source == health.source))
            connection.execute(
                insert(table).values(
                    source=health.source,
                    tried_ts=health.tried_ts,
                    ok_ts=health.ok_ts,
                    failures=health.failures,
                    error=health.error,
                )
            )
