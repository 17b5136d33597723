"""Copies a database into an empty database, for example from SQLite to PostgreSQL.

One transaction reads the source database. Another transaction fills the target database, and is committed only if each
table has as many rows as were read. If the copying fails or is interrupted, the target keeps no copied row.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import date
from itertools import batched
from typing import Any, Final

from sqlalchemy import Connection, Date, Table, func, insert, inspect, select

from tunnihind.errors import StoreError
from tunnihind.store.address import parse_address
from tunnihind.store.database import Database
from tunnihind.store.revision import current_migration, upgrade
from tunnihind.store.rows import TableRows
from tunnihind.store.schema import metadata
from tunnihind.store.store import Store

_ROWS_A_WRITE: Final = 2000
_HOLDER_ALIVE_S: Final = 60
"""If the lease was renewed less than this many seconds ago, its holder counts as running the pipeline."""

type ShowProgress = Callable[[str, int, int], None]
"""Shows progress: the name of the present work, the number of its finished steps, and the number of all its steps."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """The number of copied rows of a table, and the number of damaged rows that were left out."""

    rows: int
    left_out: int


@dataclass(frozen=True, slots=True)
class CopyResult:
    """The addresses of the source database and the target database, and the copied tables."""

    source: str
    target: str
    tables: Mapping[str, CopiedTable]


def copy(source_url: str, target_url: str, show: ShowProgress) -> CopyResult:
    """Copy all sound rows of a database, except leases, into an empty database. Count the rows of the copy.

    Raises SettingsError for a malformed address, and SchemaError for unsuitable tables. Raises StoreError if a database
    can't be used, if a server runs the pipeline on the source, if the target isn't empty, or if the copy lacks a
    row.
    """
    parse_address(target_url, "to")
    with ExitStack() as stack:
        source = stack.enter_context(Store(source_url, read_only=True))
        _require_pipeline_stopped(source)
        target = Database(target_url)
        stack.callback(target.close)
        with target.reading() as connection:
            if current_migration(connection) is not None:
                _require_empty(target, connection)
        upgrade(target)
        with source.database.reading() as snapshot, target.migrating() as connection:
            _require_empty(target, connection)
            counts = {rows.table: _copy_table(rows, snapshot, connection, show) for rows in source.tables()}
            copied = {
                table.name: CopiedTable(count, _count_rows(table, snapshot) - count) for table, count in counts.items()
            }
        return CopyResult(str(source.database), str(target), copied)


def _copy_table(rows: TableRows[Any, Any], snapshot: Connection, connection: Connection, show: ShowProgress) -> int:
    """Copy a table's sound rows in batches, and return their number. Raises StoreError if the copy lacks a row."""
    copied, steps = 0, -(-_count_rows(rows.table, snapshot) // _ROWS_A_WRITE)
    # If an insert fails, the generator `sound` must be closed before the connection from which it reads.
    with closing(rows.sound_raw_rows(snapshot)) as sound:
        for step, some in enumerate(batched(sound, _ROWS_A_WRITE, strict=False), start=1):
            connection.execute(insert(rows.table), [_values_by_column(rows.table, row) for row in some])
            copied += len(some)
            show(f"copying {rows.table.name}", step, steps)
    found = _count_rows(rows.table, connection)
    if found != copied:
        raise StoreError(f"the copy of {rows.table.name} has {found} rows, not {copied}. Nothing was kept")
    return copied


def _values_by_column(table: Table, row: tuple[Any, ...]) -> dict[str, Any]:
    """Map the names of a table's columns to the values of a row, and parse dates that were read as strings."""
    return {
        column.name: date.fromisoformat(cell) if isinstance(column.type, Date) else cell
        for column, cell in zip(table.columns, row, strict=True)
    }


def _count_rows(table: Table, connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _require_pipeline_stopped(source: Store) -> None:
    holder = source.unguarded_lease().holder()
    with source.database.reading() as connection:
        now = source.database.system.now(connection)
    if holder is not None and abs(now - holder.beat_ts) < _HOLDER_ALIVE_S:
        raise StoreError(f"process {holder.pid} on {holder.host} runs the pipeline on {source.database}: stop it first")


def _require_empty(target: Database, connection: Connection) -> None:
    found = inspect(connection).get_table_names()
    for table in metadata.sorted_tables:
        if table.name in found and _count_rows(table, connection):
            raise StoreError(
                f"the database {target} holds data already, in {table.name}: name an empty database with --to"
            )
