"""Delivery days that failed the plausibility gate, kept with their reason until they pass."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import msgspec
from sqlalchemy import ColumnElement, Connection, update

from tunnihind.store.database import Database
from tunnihind.store.engines.upsert import upsert
from tunnihind.store.rows import YEARS, Cells, Instant, Rows, from_json
from tunnihind.store.schema import quarantine as table


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One source's answer for one zone and delivery day that is not believed; `quotes` as (instant, EUR/MWh)."""

    source: str
    zone: str
    day: date
    reason: str
    detail: str
    quotes: Sequence[tuple[int, float]]
    first_seen_ts: Instant
    last_seen_ts: Instant


class Quarantine:
    """The quarantine of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = Rows(table, _case, database.damage)

    def put(self, *cases: Quarantined) -> list[Quarantined]:
        """Keep cases, all in one transaction; return those that are news. Raises StoreError.

        News is a new day, or another reason than before.
        """
        with self._database.writing() as connection:
            return [case for case in cases if self._put(connection, case)]

    def release(self, keys: Iterable[tuple[str, str, date]], at: int) -> None:
        """Note that days, by source, zone and day, have passed after all. Raises StoreError."""
        with self._database.writing() as connection:
            for source, zone, day in keys:
                held = (*_is(source, zone, day), table.c.released_ts.is_(None))
                connection.execute(update(table).where(*held).values(released_ts=at))

    def held(self) -> list[Quarantined]:
        """Return the cases that are still held, newest delivery day first. Raises StoreError."""
        order = table.c.day.desc(), table.c.zone
        with self._database.reading() as connection:
            return [case for case, released in self._rows.read(connection, order_by=order) if not released]

    def _put(self, connection: Connection, case: Quarantined) -> bool:
        key = _is(case.source, case.zone, case.day)
        earlier, released = self._rows.first(connection, *key) or (None, False)
        first_seen_ts = case.first_seen_ts if earlier is None else earlier.first_seen_ts
        row = {
            "source": case.source,
            "zone": case.zone,
            "day": case.day,
            "reason": case.reason,
            "detail": case.detail,
            "quotes": json.dumps(list(case.quotes)),
            "first_seen_ts": first_seen_ts,
            "last_seen_ts": case.last_seen_ts,
            "released_ts": None,
        }
        upsert(connection, table, [row])
        return earlier is None or released or earlier.reason != case.reason


def _is(source: str, zone: str, day: date) -> tuple[ColumnElement[bool], ...]:
    return table.c.source == source, table.c.zone == zone, table.c.day == day


class _Row(msgspec.Struct):
    """A row of the table."""

    source: str
    zone: str
    day: date
    reason: str
    detail: str
    first_seen_ts: Instant
    last_seen_ts: Instant
    released_ts: Instant | None


def _case(cells: Cells) -> tuple[Quarantined, bool]:
    """Return a case, and whether it has been released. Raises ValueError."""
    row = msgspec.convert(cells, _Row)
    if row.day.year not in YEARS:
        raise ValueError(f"day is {row.day}")
    quotes = from_json(cells, "quotes", tuple[tuple[int, float], ...])
    case = Quarantined(
        row.source, row.zone, row.day, row.reason, row.detail, quotes, row.first_seen_ts, row.last_seen_ts
    )
    return case, row.released_ts is not None
