"""Copies a whole database into an empty one, of the same or another database system.

The source is read in one transaction. The target is filled and compared in another: where that is interrupted, or a row
differs, it stays empty.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import date
from hashlib import blake2b
from itertools import batched
from math import isnan
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Date,
    Float,
    Integer,
    LargeBinary,
    Table,
    Text,
    func,
    insert,
    inspect,
    select,
    type_coerce,
)
from sqlalchemy.types import NullType

from tunnihind.errors import SettingsError, StoreError
from tunnihind.store.address import parsed
from tunnihind.store.database import Database
from tunnihind.store.revision import current
from tunnihind.store.rows import Cells, Damaged, DamageLog, key_of
from tunnihind.store.schema import leases, metadata
from tunnihind.store.store import Store
from tunnihind.store.upgrade import upgrade

TABLES: Final = tuple(table for table in metadata.sorted_tables if table is not leases)
"""Those that are copied. Who runs the pipeline on the source doesn't on the copy."""

_ROWS_A_WRITE: Final = 2000
_ROWS_AT_A_TIME: Final = 500
_ALIVE_S: Final = 60
"""A server that runs the pipeline has been seen within this time."""

type Cell = str | int | float | bytes | None
type Show = Callable[[str, int, int], None]
"""Shows what is being done, how many parts of it are done, and of how many."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """What became of a table: how many rows the copy has, and how many damaged ones were left out."""

    rows: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied, table by table."""

    source: str
    target: str
    tables: Mapping[str, CopiedTable]


def copy(source_url: str, target_url: str, show: Show) -> Copied:
    """Fill the target's empty database with what the source's holds, and compare the two.

    Raises SettingsError for an address that is none, SchemaError for a source of another version, StoreError where
    either can't be used, a server runs the pipeline on the source, or the target isn't empty.
    """
    with ExitStack() as stack:
        source = stack.enter_context(Store(source_url, read_only=True))
        if _is_same(source.database, target_url):
            raise SettingsError("to is the address that is copied from: give another one")
        _require_stopped(source)
        target = Database(target_url)
        stack.callback(target.close)
        with target.reading() as connection:
            if current(connection) is not None:
                _require_empty(target, connection)
        upgrade(target)
        with source.database.reading() as snapshot, target.migrating() as connection:
            _require_empty(target, connection)
            digests = {table.name: _fill(table, snapshot, connection, source.database.damage, show) for table in TABLES}
            for step, table in enumerate(TABLES, start=1):
                _compare(table, connection, digests[table.name], target)
                show("comparing both", step, len(TABLES))
            tables = {
                table.name: CopiedTable(copied.count, _count(table, snapshot) - copied.count)
                for table, copied in zip(TABLES, digests.values(), strict=True)
            }
        return Copied(str(source.database), str(target), tables)


@dataclass(slots=True)
class Digest:
    """The number of rows, and a sum that differs when any cell of any of them does.

    It does not depend on the rows' order, which database systems sort by rules of their own.
    """

    count: int = 0
    total: int = 0

    def passing(self, rows: Iterator[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
        """Yield rows, each counted in."""
        for row in rows:
            self.count += 1
            self.total += int.from_bytes(blake2b(repr(row).encode(), digest_size=16).digest())
            yield row


def _fill(table: Table, snapshot: Connection, connection: Connection, damage: DamageLog, show: Show) -> Digest:
    """Insert a table's rows, a few in memory at a time; return their digest."""
    digest, steps = Digest(), -(-_count(table, snapshot) // _ROWS_A_WRITE)
    # Closed here, so that no cursor is left when the writing fails: its connection would be gone before it.
    with closing(_rows(table, snapshot, damage)) as rows:
        for step, some in enumerate(batched(digest.passing(rows), _ROWS_A_WRITE, strict=False), start=1):
            connection.execute(insert(table), [_values(table, row) for row in some])
            show(f"copying {table.name}", step, steps)
    return digest


def _compare(table: Table, connection: Connection, wanted: Digest, target: Database) -> None:
    """Read all of a table of the copy, and compare it with what was read from the source. Raises StoreError."""
    found = Digest()
    with closing(_rows(table, connection, DamageLog())) as rows:
        for _ in found.passing(rows):
            pass
    if found != wanted:
        raise StoreError(
            f"{table.name} in {target} is not what was copied: {found.count} rows instead of {wanted.count}, or other "
            "ones. Nothing was kept"
        )


def _is_same(source: Database, target_url: str) -> bool:
    """Return whether two addresses lead to one database, as far as they tell."""
    target = parsed(target_url, "to")
    if source.path is None or target.get_backend_name() != "sqlite":
        where = ("drivername", "host", "port", "database", "query")
        return all(getattr(source.url, name) == getattr(target, name) for name in where)
    path = Path(str(target.database))
    return path.exists() and path.samefile(source.path)


def _require_stopped(source: Store) -> None:
    """Make sure that no server runs the pipeline, which would go on writing. Raises StoreError."""
    holder = source.lease().holder()
    with source.database.reading() as connection:
        now = source.database.now(connection)
    if holder is not None and abs(now - holder.beat_ts) < _ALIVE_S:
        raise StoreError(f"process {holder.pid} on {holder.host} runs the pipeline on {source.database}: stop it first")


def _require_empty(target: Database, connection: Connection) -> None:
    """Make sure that a database holds nothing. Raises StoreError."""
    found = inspect(connection).get_table_names()
    for table in metadata.sorted_tables:
        if table.name in found and _count(table, connection):
            raise StoreError(f"the database {target} holds data already, in {table.name}: name an empty one with --to")


def _count(table: Table, connection: Connection) -> int:
    """Return how many rows there are, damaged or not."""
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _rows(table: Table, connection: Connection, damage: DamageLog) -> Generator[tuple[Cell, ...]]:
    """Yield rows as every system gives them; one with a cell not of its column's type is noted and left out."""
    columns = [*table.columns]
    fitting = [_fitting(column) for column in columns]
    # As the database has them: see `rows.Rows`.
    query = select(*(type_coerce(column, NullType()).label(column.name) for column in columns))
    streamed = {"stream_results": True, "yield_per": _ROWS_AT_A_TIME}
    with connection.execute(query, execution_options=streamed) as result:
        for row in result:
            try:
                yield tuple([fits(cell) for fits, cell in zip(fitting, row, strict=True)])
            except ValueError as error:
                cells: Cells = row._asdict()
                damage.note(Damaged(table.name, key_of(table, cells), str(error)))


def _values(table: Table, row: tuple[Cell, ...]) -> dict[str, Any]:
    """Return a row as it is inserted: days as dates."""
    return {
        column.name: date.fromisoformat(str(cell)) if isinstance(column.type, Date) else cell
        for column, cell in zip(table.columns, row, strict=True)
    }


def _fitting(column: Column[Any]) -> Callable[[Any], Cell]:
    """Return what gives a column's cell as every system gives it, and raises ValueError for one that doesn't fit."""
    fits = _fits(column)
    is_float, is_nullable = isinstance(column.type, Float), column.nullable

    def fitting(cell: Any) -> Cell:  # noqa: ANN401  whatever SQLite holds
        if cell is None and is_nullable:
            return None
        if not fits(cell):
            raise ValueError(f"{column.name} is {cell!r:.60}")
        found: Cell = float(cell) if is_float else cell
        return found

    return fitting


def _fits(column: Column[Any]) -> Callable[[Any], bool]:
    """Return what tells whether a column has room for a cell."""
    match column.type:
        case Text():
            return lambda cell: isinstance(cell, str) and "\0" not in cell
        case BigInteger():
            return lambda cell: isinstance(cell, int) and -(2**63) <= cell < 2**63
        case Integer():
            return lambda cell: isinstance(cell, int) and -(2**31) <= cell < 2**31
        case Float():
            # SQLite keeps what is no number as NULL.
            return lambda cell: isinstance(cell, float | int) and not isnan(cell)
        case LargeBinary():
            return lambda cell: isinstance(cell, bytes)
        case Date():
            return lambda cell: isinstance(cell, str) and date.fromisoformat(cell).isoformat() == cell
    raise TypeError(f"columns of type {column.type} are not copied yet")
