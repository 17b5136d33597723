"""Stores the records of months: the forecasts as they were issued, and their scores. A record never changes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Annotated, Final

import msgspec
from sqlalchemy import insert, select

from tunnihind.core.market import Zone
from tunnihind.store.database import Database
from tunnihind.store.packing import pack_text, unpack_text
from tunnihind.store.rows import StoredRow, TableRows, TextWithoutNul, row_mapper
from tunnihind.store.schema import accuracy_records as table
from tunnihind.store.state import StateBook

_MONTH_PATTERN: Final = "^20[0-5][0-9]-(0[1-9]|1[0-2])$"
_MONTH: Final = re.compile(_MONTH_PATTERN)


@dataclass(frozen=True)
class MonthRecord:
    """The record of one zone's month, such as `2025-11`.

    `forecasts` and `scores` are CSV. `checksums` has the SHA-256 of both files and of the checksums of the record
    before, in the form of the program `sha256sum`.
    """

    zone: Zone
    month: str
    forecasts: str
    scores: str
    checksums: str

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The record's three files by name."""
        texts = _named(self.month, self.forecasts, self.scores) | {_checksums_name(self.month): self.checksums}
        return {name: text.encode() for name, text in texts.items()}


def _named(month: str, forecasts: str, scores: str) -> dict[str, str]:
    return {f"{month}.csv": forecasts, f"{month}-scores.csv": scores}


def _checksums_name(month: str) -> str:
    return f"{month}.sha256"


def _checksums(files: Mapping[str, str]) -> str:
    return "".join(f"{sha256(text.encode()).hexdigest()}  {name}\n" for name, text in files.items())


class RecordBook:
    """The stored records."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, _RecordRow, row_mapper(_record), database)

    def add(self, zone: Zone, month: str, *, forecasts: str, scores: str) -> None:
        """Store the record of a month that has none yet. Raises StoreError."""
        with self._database.writing() as connection:
            files = _named(month, forecasts, scores)
            earlier = max((one for one in self.months(zone) if one < month), default=None)
            before = None if earlier is None else self.find(zone, earlier)
            if before is not None:
                # With the checksums of the record before, the newest checksums vouch for all earlier records.
                files[_checksums_name(before.month)] = before.checksums
            row = {"zone": zone, "month": month, "checksums": _checksums(files)}
            connection.execute(insert(table), [row | {"forecasts": pack_text(forecasts), "scores": pack_text(scores)}])
            self._state.record_served_change()

    def find(self, zone: Zone, month: str) -> MonthRecord | None:
        """Return the record of a month, or None if there is none or if it is damaged. Raises StoreError."""
        with self._database.reading() as connection:
            return self.rows.first_sound_object(connection, table.c.zone == zone, table.c.month == month)

    def months(self, zone: Zone) -> tuple[str, ...]:
        """Return the months with a record, even a damaged one, oldest first. Raises StoreError."""
        # `between` leaves out damaged values that are no text.
        query = select(table.c.month).where(table.c.zone == zone, table.c.month.between("2000-01", "2059-12"))
        with self._database.reading() as connection:
            return tuple(sorted(month for (month,) in connection.execute(query) if _MONTH.fullmatch(month)))


class _RecordRow(StoredRow):
    zone: Zone
    month: Annotated[str, msgspec.Meta(pattern=_MONTH_PATTERN)]
    forecasts: bytes
    scores: bytes
    checksums: TextWithoutNul


def _record(row: _RecordRow) -> MonthRecord:
    forecasts, scores = unpack_text(row.forecasts, "forecasts"), unpack_text(row.scores, "scores")
    if not row.checksums.startswith(_checksums(_named(row.month, forecasts, scores))):
        raise ValueError("its files don't have their checksums")
    return MonthRecord(row.zone, row.month, forecasts, scores, row.checksums)
