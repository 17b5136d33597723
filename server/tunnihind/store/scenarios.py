"""The scenarios of the newest run. Those of earlier runs are not kept: they would take 60 MB a year."""

import msgspec
from sqlalchemy import Connection, delete, insert

from tunnihind.forecast.run import SCENARIOS, Scenarios
from tunnihind.market import Zone
from tunnihind.store.database import Database
from tunnihind.store.packing import pack_paths, unpack_paths
from tunnihind.store.rows import Cells, Hour, Instant, Rows
from tunnihind.store.schema import scenarios as table


class ScenarioBook:
    """Reads the scenarios of a store. `RunArchive.add` writes them with their run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.rows = Rows(table, _scenarios, database.damage)

    def newest(self) -> Scenarios | None:
        """Return the scenarios that were kept last, None where there are none. Raises StoreError."""
        with self._database.reading() as connection:
            return max(self.rows.read(connection), key=lambda found: found.made_at, default=None)


def replace_scenarios(connection: Connection, scenarios: Scenarios) -> None:
    """Keep scenarios in place of those kept before."""
    connection.execute(delete(table))
    connection.execute(
        insert(table).values(
            made_at=scenarios.made_at,
            zone=scenarios.zone,
            start_ts=scenarios.start_ts,
            paths=pack_paths(scenarios.eur_mwh),
        )
    )


class _Fields(msgspec.Struct):
    """A row's columns."""

    made_at: Instant
    zone: Zone
    start_ts: Hour
    paths: bytes


def _scenarios(cells: Cells) -> Scenarios:
    """Return what a row holds. Raises ValueError."""
    one = msgspec.convert(cells, _Fields)
    return Scenarios(one.made_at, one.zone, one.start_ts, unpack_paths(one.paths, SCENARIOS))
