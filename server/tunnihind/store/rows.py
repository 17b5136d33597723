"""All rows are read here. A damaged row is named and left out; it ends neither a task nor the start.

SQLite keeps any value in any column, and disks and people damage files. One damaged row says nothing about the others.
"""

import json
import logging
import re
import reprlib
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, literal, select, type_coerce
from sqlalchemy.types import NullType

from tunnihind.market import DAY_S

_LOG: Final = logging.getLogger(__name__)

EARLIEST: Final = 0
LATEST: Final = 4_102_444_800
"""2100-01-01T00:00:00Z. A machine's clock may be decades off, but between these."""

YEARS: Final = range(2000, 2060)
"""Delivery days and hours of other years are none: arrays of all hours of these still fit into memory."""

FIRST_HOUR: Final = 946_684_800
END_HOUR: Final = 2_840_140_800
"""2060-01-01T00:00:00Z."""

type Instant = Annotated[int, msgspec.Meta(ge=EARLIEST, le=LATEST)]
"""When something was noted, by the machine's clock; unix seconds UTC."""

type Hour = Annotated[int, msgspec.Meta(ge=FIRST_HOUR, lt=END_HOUR)]
"""The start of a period that something is told of; unix seconds UTC."""

type Step = Annotated[int, msgspec.Meta(ge=60, le=DAY_S, multiple_of=60)]
"""The length of a period, seconds."""

type Cells = Mapping[str, Any]
"""A row's values as the database has them, by column."""

_AT: Final = re.compile(r"at `\$\.(\w+)")
_MANY: Final = 4000
_AS_THEY_COME: Final = {"stream_results": True}
"""A database server sends rows as they are asked for, rather than all of them at once. SQLite always does."""
_MOST_NAMED: Final = 20
"""So many rows of a table are named in the log; a broken disk may have damaged all."""
_SHOW: Final = reprlib.Repr(maxstring=60, maxother=60, maxlong=40)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged row: its table, the values of its primary key, and what is wrong with it."""

    table: str
    key: str
    problem: str

    def __str__(self) -> str:
        return f"the row of {self.table} with {self.key} is damaged: {self.problem}"


class DamageLog:
    """The damaged rows that were met since a database was first opened, each named once."""

    def __init__(self) -> None:
        self._met: dict[Damaged, None] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Damaged]:
        return iter(tuple(self._met))

    def note(self, damaged: Damaged) -> None:
        """Name a row in the log unless that was done before."""
        with self._lock:
            named = sum(met.table == damaged.table for met in self._met)
            if damaged in self._met or named > _MOST_NAMED:
                return
            self._met[damaged] = None
        if named < _MOST_NAMED:
            _LOG.warning("%s; it is left out", damaged)
        else:
            _LOG.warning("more rows of %s are damaged; they are left out", damaged.table)


def from_json(cells: Cells, column: str, shape: Any) -> Any:  # noqa: ANN401  what JSON can hold, and `shape` narrows
    """Return the JSON document in a column. Raises ValueError where it is none, or of another shape."""
    try:
        return msgspec.convert(json.loads(msgspec.convert(cells[column], str)), shape, str_keys=True)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{column} is {_SHOW.repr(cells[column])}") from error


def key_of(table: Table, cells: Cells) -> str:
    """Name a row of a table by its primary key."""
    return ", ".join(f"{column.name} {_SHOW.repr(cells[column.name])}" for column in table.primary_key)


class Rows[Found]:
    """A table's rows, each made into what it stands for."""

    def __init__(self, table: Table, make: Callable[[Cells], Found], damage: DamageLog) -> None:
        """Read rows of `table` by `make`, which raises ValueError, OverflowError or TypeError for a damaged one."""
        self._table = table
        self._make = make
        self._damage = damage
        self._columns = [str(column.name) for column in table.columns]
        # Without the columns' types, whose conversions would end the reading of all rows at the first damaged one.
        self._query = select(*(type_coerce(column, NullType()).label(column.name) for column in table.columns))

    def read(
        self, connection: Connection, *where: ColumnElement[bool], order_by: tuple[ColumnElement[Any], ...] = ()
    ) -> Iterator[Found]:
        """Yield what the rows stand for; damaged ones are noted and left out."""
        yield from self._read(connection, where, order_by)

    def read_in_bulk(
        self,
        connection: Connection,
        make_all: Callable[[Sequence[Row[Any]]], Sequence[Found]],
        *where: ColumnElement[bool],
    ) -> Iterator[Found]:
        """Yield what `read` does in any order, made many rows at a time.

        Where `make_all` raises ValueError, OverflowError or TypeError because one of them is damaged, they are made one
        by one. Their cells are in the order of the table's columns.
        """
        with connection.execute(self._query.where(*where), execution_options=_AS_THEY_COME) as result:
            for rows in result.partitions(_MANY):
                try:
                    yield from make_all(rows)
                except ValueError, OverflowError, TypeError:
                    found = (self._sound(dict(zip(self._columns, row, strict=True))) for row in rows)
                    yield from (one for one in found if one is not None)

    def cells(self, connection: Connection, *where: ColumnElement[bool]) -> Iterator[Row[Any]]:
        """Yield the rows as they are kept, damaged or not, with cells in the order of the table's columns."""
        with connection.execute(self._query.where(*where), execution_options=_AS_THEY_COME) as result:
            yield from result

    def first(
        self, connection: Connection, *where: ColumnElement[bool], order_by: tuple[ColumnElement[Any], ...] = ()
    ) -> Found | None:
        """Return what the first row stands for that is not damaged, None where there is none."""
        with closing(self._read(connection, where, order_by)) as found:
            return next(found, None)

    def note(self, key: str, problem: str) -> None:
        """Note a row that contradicts others."""
        self._damage.note(Damaged(self._table.name, key, problem))

    def damaged(self, connection: Connection, *where: ColumnElement[bool]) -> list[Cells]:
        """Return the damaged rows, noted with what is wrong with them."""
        return [cells for cells in self._cells(connection, where, ()) if self._sound(cells) is None]

    def remove_damaged(self, connection: Connection, *where: ColumnElement[bool]) -> list[Cells]:
        """Delete the damaged rows, and return them."""
        damaged = self.damaged(connection, *where)
        for cells in damaged:
            key = (
                type_coerce(column, NullType()) == literal(cells[column.name], NullType())
                for column in self._table.primary_key
            )
            connection.execute(delete(self._table).where(and_(*key)))
        return damaged

    def _read(
        self, connection: Connection, where: tuple[ColumnElement[bool], ...], order_by: tuple[ColumnElement[Any], ...]
    ) -> Generator[Found]:
        for cells in self._cells(connection, where, order_by):
            found = self._sound(cells)
            if found is not None:
                yield found

    def _sound(self, cells: Cells) -> Found | None:
        try:
            return self._make(cells)
        except (ValueError, OverflowError, TypeError, RecursionError) as error:
            self._damage.note(self._name(cells, error))
            return None

    def _cells(
        self,
        connection: Connection,
        where: tuple[ColumnElement[bool], ...],
        order_by: tuple[ColumnElement[Any], ...],
    ) -> Iterator[Cells]:
        # One by one, because whoever wants the newest takes only the first that is sound.
        options = _AS_THEY_COME if order_by else {}
        with connection.execute(self._query.where(*where).order_by(*order_by), execution_options=options) as result:
            for row in result:
                yield dict(zip(self._columns, row, strict=True))

    def _name(self, cells: Cells, error: Exception) -> Damaged:
        found = _AT.search(str(error))
        column = found[1] if found else ""
        problem = f"{column} is {_SHOW.repr(cells[column])}" if column in cells else str(error)
        return Damaged(self._table.name, key_of(self._table, cells), problem)
