"""What a table holds, in a form that is the same in every database system, and digests to compare two of them by."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import date
from hashlib import blake2b
from math import isnan
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Date,
    Float,
    Integer,
    LargeBinary,
    Row,
    Table,
    Text,
    func,
    select,
    true,
    type_coerce,
)
from sqlalchemy.types import NullType

from tunnihind.market import DAY_S
from tunnihind.store.rows import Cells, Damaged, DamageLog, key_of

type Cell = str | int | float | bytes | None
type Part = tuple[str | int, ...]
"""A share of a table's rows: those with the same text, and a number of the same span."""

_SPAN_S: Final = 60 * DAY_S
_SPLIT: Final[Mapping[str, tuple[str | None, str, int]]] = {
    "prices": ("zone", "ts", _SPAN_S),
    "covariates": ("name", "issued_ts", _SPAN_S),
    "backtest_forecasts": ("model", "issued_ts", _SPAN_S),
    "runs": (None, "id", 1000),
}
"""Columns that large tables are divided by: a text, and a number with its span. Others are one part."""

_ROWS_AT_A_TIME: Final = 500
_DIGEST_BYTES: Final = 16


class Content:
    """The rows of one table, of which `where` tells those that count."""

    def __init__(self, table: Table, where: ColumnElement[bool] | None = None) -> None:
        self.table = table
        self.where = true() if where is None else where
        self._names = [str(column.name) for column in table.columns]
        self._fitting = [_fitting(column) for column in table.columns]
        self._split = _split(table)
        # As the database has them: see `rows.Rows`.
        self._query = select(*(type_coerce(column, NullType()).label(column.name) for column in table.columns))

    def count(self, connection: Connection) -> int:
        """Return how many rows there are, damaged or not."""
        return connection.execute(select(func.count()).select_from(self.table).where(self.where)).scalar_one()

    def rows(self, connection: Connection, damage: DamageLog) -> Generator[tuple[Cell, ...]]:
        """Yield the rows, a few in memory at a time; one with a cell not of its column's type is noted, left out."""
        streamed = {"stream_results": True, "yield_per": _ROWS_AT_A_TIME}
        with connection.execute(self._query.where(self.where), execution_options=streamed) as result:
            for row in result:
                cells = self._cells(row, damage)
                if cells is not None:
                    yield cells

    def part_of(self, row: tuple[Cell, ...]) -> Part:
        """Return the part that a row is in."""
        if self._split is None:
            return ()
        text, number, span = self._split
        bucket = int(row[number] or 0) // span
        return (bucket,) if text is None else (str(row[text]), bucket)

    def within(self, part: Part) -> ColumnElement[bool]:
        """Return the condition that tells the rows of a part."""
        if self._split is None:
            return self.where
        text, number, span = self._split
        columns, bucket = [*self.table.c], int(part[-1])
        inside: ColumnElement[bool] = columns[number].between(bucket * span, (bucket + 1) * span - 1)
        return inside if text is None else (columns[text] == part[0]) & inside

    def values(self, row: tuple[Cell, ...]) -> dict[str, Any]:
        """Return a row as it is inserted: days as dates."""
        return {
            column.name: date.fromisoformat(str(cell)) if isinstance(column.type, Date) else cell
            for column, cell in zip(self.table.columns, row, strict=True)
        }

    def _cells(self, row: Row[Any], damage: DamageLog) -> tuple[Cell, ...] | None:
        try:
            return tuple([fitting(cell) for fitting, cell in zip(self._fitting, row, strict=True)])
        except ValueError as error:
            cells: Cells = dict(zip(self._names, row, strict=True))
            damage.note(Damaged(self.table.name, key_of(self.table, cells), str(error)))
            return None


class Digest:
    """The number of rows in each part of a table, and a sum that differs when any cell of any row does.

    It does not depend on the rows' order, which database systems sort by rules of their own.
    """

    def __init__(self, content: Content, rows: Iterable[tuple[Cell, ...]] = ()) -> None:
        self._content = content
        self._sums: dict[Part, tuple[int, int]] = {}
        for row in rows:
            self.add(row)

    def add(self, row: tuple[Cell, ...]) -> None:
        """Count a row in."""
        part = self._content.part_of(row)
        count, total = self._sums.get(part, (0, 0))
        seal = blake2b(repr(row).encode(), digest_size=_DIGEST_BYTES).digest()
        self._sums[part] = count + 1, (total + int.from_bytes(seal)) % (1 << 8 * _DIGEST_BYTES)

    def passing(self, rows: Iterable[tuple[Cell, ...]]) -> Iterator[tuple[Cell, ...]]:
        """Yield rows, each counted in."""
        for row in rows:
            self.add(row)
            yield row

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.count_in(self._sums)

    def count_in(self, parts: Iterable[Part]) -> int:
        """Return how many rows some parts have."""
        return sum(self._sums[part][0] for part in parts if part in self._sums)

    def differing(self, other: Digest) -> set[Part]:
        """Return the parts in which two tables differ."""
        parts = self._sums.keys() | other._sums.keys()
        return {part for part in parts if self._sums.get(part) != other._sums.get(part)}


def _split(table: Table) -> tuple[int | None, int, int] | None:
    """Return the positions of the columns that a table is divided by, and the span of the number."""
    if table.name not in _SPLIT:
        return None
    text, number, span = _SPLIT[table.name]
    names = table.c.keys()
    return None if text is None else names.index(text), names.index(number), span


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
