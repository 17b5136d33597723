"""Reads the rows of tables. Damaged rows are left out, so that the server can continue.

SQLite hardly checks the values of columns, and a faulty disk or a person may damage a database file. So `TableRows`
checks each row against a subclass of `StoredRow`, which defines the allowed values of each column.
"""

import json
import logging
import reprlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from types import GenericAlias
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, select, type_coerce
from sqlalchemy.types import NullType

from tunnihind.core.market import DAY_S
from tunnihind.store.database import Database

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

_DAMAGE_ERRORS: Final = (ValueError, OverflowError, TypeError, RecursionError)
_BATCH_ROWS: Final = 4000
_IN_BATCHES: Final = {"stream_results": True}
"""With this option, a database server sends rows in batches rather than all at once."""


class StoredRow(msgspec.Struct, array_like=True, gc=False):
    """A row of a table. A subclass has a field for each column of its table, in the order of the columns."""


def from_json(text: str, shape: Any) -> Any:  # noqa: ANN401  what JSON can hold, and `shape` narrows
    """Return a JSON document as the type `shape`. Raises ValueError or RecursionError if this is impossible."""
    return msgspec.convert(json.loads(text), shape, str_keys=True)


def row_mapper[Row, Found](make: Callable[[Row], Found]) -> Callable[[Sequence[Row]], Iterable[Found]]:
    """Return a function that turns rows into objects by calling `make` for each row."""
    return lambda rows: map(make, rows)


class TableRows[Row: StoredRow, Found]:
    """Reads a table's rows as objects, and leaves damaged rows out.

    Unsorted rows are turned into objects many at a time, because this is much faster than one row at a time.
    """

    def __init__(
        self, table: Table, shape: type[Row], make: Callable[[Sequence[Row]], Iterable[Found]], database: Database
    ) -> None:
        """`make` returns an object for each row.

        If a row is damaged, `make` must raise one of the errors in `_DAMAGE_ERRORS`. When the first damaged row is met,
        it is logged, and the table's name is added to `DatabaseSystem.damaged_tables`.
        """
        self.table = table
        self._shape = GenericAlias(list, (shape,))
        self._make = make
        self._database = database
        # The query reads raw values, because SQLAlchemy's types could raise an error for a damaged value.
        self._query = select(*(type_coerce(column, NullType()).label(column.name) for column in table.columns))

    def read(
        self,
        connection: Connection,
        *where: ColumnElement[bool],
        order_by: tuple[ColumnElement[Any], ...] = (),
        excluded_keys: Collection[tuple[Any, ...]] = (),
    ) -> Generator[Found]:
        """Yield an object for each sound row whose primary key is not in `excluded_keys`.

        Without `order_by`, the order is arbitrary.
        """
        key = len(self.table.primary_key)
        for part in self._batches(connection, where, order_by):
            yield from self._sound_objects(
                [cells for cells in part if cells[:key] not in excluded_keys] if excluded_keys else part
            )

    def first_sound_object(
        self, connection: Connection, *where: ColumnElement[bool], order_by: tuple[ColumnElement[Any], ...] = ()
    ) -> Found | None:
        """Return the object for the first sound row."""
        with closing(self.read(connection, *where, order_by=order_by)) as found:
            return next(found, None)

    def sound_raw_rows(self, connection: Connection) -> Generator[tuple[Any, ...]]:
        """Yield the stored values of each sound row."""
        for part in self._batches(connection):
            is_sound = len(self._sound_objects(part)) == len(part)
            yield from part if is_sound else (cells for cells in part if self._sound_objects([cells]))

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

    def _sound_objects(self, part: Sequence[tuple[Any, ...]]) -> list[Found]:
        try:
            rows: list[Row] = msgspec.convert(part, self._shape)
            return [*self._make(rows)]
        except _DAMAGE_ERRORS as error:
            if len(part) > 1:
                return [one for cells in part for one in self._sound_objects([cells])]
            damaged = self._database.system.damaged_tables
            if self.table.name not in damaged:
                damaged.add(self.table.name)
                found = f"{reprlib.repr(part[0])} ({error})"
                _LOG.warning("the table %s has damaged rows, which are left out; one is %s", self.table.name, found)
            return []
