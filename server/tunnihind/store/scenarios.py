"""The scenarios of each zone's newest run. Those of earlier runs are not kept: they would take 60 MB a year."""

import numpy as np
from sqlalchemy import Connection

from tunnihind.forecast.run import SCENARIOS, Scenarios
from tunnihind.market import Zone
from tunnihind.store.database import Database
from tunnihind.store.engines.upsert import upsert
from tunnihind.store.packing import HIGHEST_PRICE, pack_hundredths, unpack_hundredths
from tunnihind.store.rows import Hour, Instant, Rows, Shape, singly
from tunnihind.store.schema import scenarios as table


class ScenarioBook:
    """Reads the scenarios of a store. `RunArchive.add` writes them with their run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.rows = Rows(table, _Fields, singly(_scenarios), database.damage)

    def newest(self, zone: Zone) -> Scenarios | None:
        """Return the scenarios of a zone that were kept last, None where there are none. Raises StoreError."""
        with self._database.reading() as connection:
            return self.rows.first(connection, table.c.zone == zone)


def replace_scenarios(connection: Connection, scenarios: Scenarios) -> None:
    """Keep scenarios in place of those of their zone that were kept before."""
    row = {
        "zone": scenarios.zone,
        "made_at": scenarios.made_at,
        "start_ts": scenarios.start_ts,
        "paths": pack_hundredths(scenarios.eur_mwh),
    }
    upsert(connection, table, [row])


class _Fields(Shape):
    """A row of the table."""

    zone: Zone
    made_at: Instant
    start_ts: Hour
    paths: bytes


def _scenarios(row: _Fields) -> Scenarios:
    """Return what a row holds. Raises ValueError."""
    paths = unpack_hundredths(row.paths, "paths")
    if not paths.size or not (np.abs(paths) <= HIGHEST_PRICE).all():
        raise ValueError("its paths are no prices")
    return Scenarios(row.made_at, row.zone, row.start_ts, paths.reshape(SCENARIOS, -1))
