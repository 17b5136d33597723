"""Reads the rows of tables. A damaged row is logged and skipped, so that the server can continue.

SQLite hardly checks the values of columns, and a faulty disk or a person may damage a database file. So `TableRows`
checks each row against a subclass of `StoredRow`, which defines the allowed values of each column.
"""

import json
import logging
import re
import reprlib
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from types import GenericAlias
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, and_, delete, literal, select, type_coerce
from sqlalchemy.types import NullType

from tunnihind.market import DAY_S

_LOG: Final = logging.getLogger(__name__)

EARLIEST: Final = 0
LATEST: Final = 4_102_444_800
"""2100-01-01T00:00:00Z. A stored instant before `EARLIEST` or after `LATEST` counts as damaged. Even a clock that is
decades wrong shows a time between them."""

PLAUSIBLE_YEARS: Final = range(2000, 2060)
"""Stored days and periods outside these years count as damaged, so that an array of all hours from the first to the
last period fits into memory."""

FIRST_PERIOD_TS: Final = 946_684_800
PERIODS_END_TS: Final = 2_840_140_800
"""2060-01-01T00:00:00Z."""

type Instant = Annotated[int, msgspec.Meta(ge=EARLIEST, le=LATEST)]
"""The instant of an event in unix seconds UTC."""

type PeriodStart = Annotated[int, msgspec.Meta(ge=FIRST_PERIOD_TS, lt=PERIODS_END_TS)]
"""The start of a period in unix seconds UTC."""

type Step = Annotated[int, msgspec.Meta(ge=60, le=DAY_S, multiple_of=60)]
"""The length of a period in seconds."""

type TextWithoutNul = Annotated[str, msgspec.Meta(pattern=r"^[^\0]*$")]
"""A string without the character U+0000, because PostgreSQL can't store this character."""

type NonNegativeInt32 = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""A whole number, 0 or higher, that fits into a column of four bytes."""

type DamagedRow = Mapping[str, Any]
"""The values of a damaged row by the name of the column, as the database stores them."""

DAMAGE_ERRORS: Final = (ValueError, OverflowError, TypeError, RecursionError)
_COLUMN_POSITION: Final = re.compile(r"at `\$\[0\]\[(\d+)\]`$")
_BATCH_ROWS: Final = 4000
_IN_BATCHES: Final = {"stream_results": True}
"""With this option, a database server sends rows in batches rather than all at once."""
_MAX_LOGGED: Final = 20
"""At most this many damaged rows of a table are logged, because a broken disk may have damaged all rows."""
_SHORT_REPR: Final = reprlib.Repr(maxstring=60, maxother=60, maxlong=40)


class StoredRow(msgspec.Struct, array_like=True, gc=False):
    """A row of a table. A subclass has a field for each column of its table, in the order of the columns."""


class DamageLog:
    """Lines of text about the damaged rows of a database. Each line is logged once."""

    def __init__(self) -> None:
        self._lines: dict[str, dict[str, None]] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable([*lines] for lines in [*self._lines.values()])

    def note(self, table: str, key: str, problem: str) -> None:
        """Log a damaged row, unless it has been logged already.

        After 20 damaged rows of a table, log once that more rows are damaged.
        """
        line = f"the row of {table} with {key} is damaged: {problem}"
        with self._lock:
            lines = self._lines.setdefault(table, {})
            if line not in lines and len(lines) >= _MAX_LOGGED:
                line = f"more rows of {table} are damaged"
            if line in lines:
                return
            lines[line] = None
        _LOG.warning("%s; damaged rows are skipped", line)


def from_json(text: str, shape: Any) -> Any:  # noqa: ANN401  what JSON can hold, and `shape` narrows
    """Return a JSON document as the type `shape`. Raises ValueError or RecursionError if this is impossible."""
    return msgspec.convert(json.loads(text), shape, str_keys=True)


def row_mapper[Row, Found](make: Callable[[Row], Found]) -> Callable[[Sequence[Row]], Iterable[Found]]:
    """Return a function that turns rows into objects by calling `make` for each row."""
    return lambda rows: map(make, rows)


class TableRows[Row: StoredRow, Found]:
    """Reads a table's rows as objects, and logs or deletes damaged rows.

    Unsorted rows are turned into objects many at a time, because this is much faster than one row at a time.
    """

    def __init__(
        self, table: Table, shape: type[Row], make: Callable[[Sequence[Row]], Iterable[Found]], damage: DamageLog
    ) -> None:
        """`make` returns an object for each row.

        If a row is damaged, `make` must raise one of the errors in `DAMAGE_ERRORS`.
        """
        self.table = table
        self._shape = GenericAlias(list, (shape,))
        self._make = make
        self._damage = damage
        self._columns = [column.name for column in table.columns]
        # The query reads raw values, because SQLAlchemy's types could raise an error for a damaged value.
        self._query = select(*(type_coerce(column, NullType()).label(column.name) for column in table.columns))

    def read(
        self, connection: Connection, *where: ColumnElement[bool], order_by: tuple[ColumnElement[Any], ...] = ()
    ) -> Generator[Found]:
        """Yield an object for each sound row, and log damaged rows. Without `order_by`, the order is arbitrary."""
        for part in self._batches(connection, where, order_by):
            yield from self._objects_and_damaged_rows(part)[0]

    def read_or_raise(
        self, connection: Connection, *where: ColumnElement[bool], excluded_keys: Collection[tuple[Any, ...]]
    ) -> Iterator[Found]:
        """Yield an object for each row whose primary key is not in `excluded_keys`.

        Raises one of the errors in `DAMAGE_ERRORS` if one of these rows is damaged.
        """
        key = len(self.table.primary_key)
        for part in self._batches(connection, where):
            yield from self._objects(
                [cells for cells in part if cells[:key] not in excluded_keys] if excluded_keys else part
            )

    def first_sound_object(
        self, connection: Connection, *where: ColumnElement[bool], order_by: tuple[ColumnElement[Any], ...] = ()
    ) -> Found | None:
        """Return the object for the first sound row. If no row is sound, return None."""
        with closing(self.read(connection, *where, order_by=order_by)) as found:
            return next(found, None)

    def sound_raw_rows(self, connection: Connection) -> Generator[tuple[Any, ...]]:
        """Yield the stored values of each sound row, and log damaged rows."""
        for part in self._batches(connection):
            _, damaged = self._objects_and_damaged_rows(part)
            yield from (cells for cells in part if cells not in damaged) if damaged else part

    def note(self, key: str, problem: str) -> None:
        """Log a damaged row as `DamageLog.note` does. `key` is the row's primary key in words."""
        self._damage.note(self.table.name, key, problem)

    def find_damaged(self, connection: Connection, *where: ColumnElement[bool]) -> list[DamagedRow]:
        """Log the damaged rows, and return them."""
        found = (
            cells for part in self._batches(connection, where) for cells in self._objects_and_damaged_rows(part)[1]
        )
        return [dict(zip(self._columns, cells, strict=True)) for cells in found]

    def remove_damaged(self, connection: Connection, *where: ColumnElement[bool]) -> list[DamagedRow]:
        """Log and delete the damaged rows, and return them."""
        damaged = self.find_damaged(connection, *where)
        for cells in damaged:
            key = (
                type_coerce(column, NullType()) == literal(cells[column.name], NullType())
                for column in self.table.primary_key
            )
            connection.execute(delete(self.table).where(and_(*key)))
        return damaged

    def _batches(
        self,
        connection: Connection,
        where: tuple[ColumnElement[bool], ...] = (),
        order_by: tuple[ColumnElement[Any], ...] = (),
    ) -> Iterator[list[tuple[Any, ...]]]:
        query = self._query.where(*where).order_by(*order_by)
        with connection.execute(query, execution_options=_IN_BATCHES) as result:
            # With `order_by`, rows are read one by one, because the caller often needs only the first sound row.
            for rows in result.partitions(1 if order_by else _BATCH_ROWS):
                yield [*map(tuple, rows)]

    def _objects(self, part: Sequence[tuple[Any, ...]]) -> Iterable[Found]:
        rows: list[Row] = msgspec.convert(part, self._shape)
        return self._make(rows)

    def _objects_and_damaged_rows(self, part: Sequence[tuple[Any, ...]]) -> tuple[list[Found], list[tuple[Any, ...]]]:
        """Log the damaged rows. Return a list of the objects for the sound rows, and a list of the damaged rows."""
        try:
            return [*self._objects(part)], []
        except DAMAGE_ERRORS as error:
            if len(part) > 1:
                each = [self._objects_and_damaged_rows([cells]) for cells in part]
                return [one for found, _ in each for one in found], [one for _, damaged in each for one in damaged]
            self._log_damaged(part[0], error)
            return [], [*part]

    def _log_damaged(self, row: tuple[Any, ...], error: Exception) -> None:
        found = _COLUMN_POSITION.search(str(error))
        problem = str(error)
        if found is not None:
            at = int(found[1])
            problem = f"{self._columns[at]} is {_SHORT_REPR.repr(row[at])}"
        cells = dict(zip(self._columns, row, strict=True))
        key = ", ".join(f"{column.name} {_SHORT_REPR.repr(cells[column.name])}" for column in self.table.primary_key)
        self.note(key, problem)
