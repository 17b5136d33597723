"""Delivery days that failed the plausibility gate, kept with their reason until they pass."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from tunnihind.store.database import Database
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
    first_seen_ts: int
    last_seen_ts: int


class Quarantine:
    """The quarantine of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, *cases: Quarantined) -> list[Quarantined]:
        """Keep cases, all in one transaction; return those that are news. Raises StoreError.

        News is a new day, or another reason than before.
        """
        with self._database.writing() as connection:
            return [case for case in cases if _put(connection, case)]

    def release(self, keys: Iterable[tuple[str, str, date]], at: int) -> None:
        """Note that days, by source, zone and day, have passed after all. Raises StoreError."""
        with self._database.writing() as connection:
            for source, zone, day in keys:
                held = (*_is(source, zone, day), table.c.released_ts.is_(None))
                connection.execute(update(table).where(*held).values(released_ts=at))

    def held(self) -> list[Quarantined]:
        """Return the cases that are still held, newest delivery day first. Raises StoreError."""
        query = select(table).where(table.c.released_ts.is_(None)).order_by(table.c.day.desc(), table.c.zone)
        with self._database.reading() as connection:
            return [
                Quarantined(
                    source=row.source,
                    zone=row.zone,
                    day=row.day,
                    reason=row.reason,
                    detail=row.detail,
                    quotes=tuple((int(ts), price) for ts, price in json.loads(row.quotes)),
                    first_seen_ts=row.first_seen_ts,
                    last_seen_ts=row.last_seen_ts,
                )
                for row in connection.execute(query)
            ]


def _put(connection: Connection, case: Quarantined) -> bool:
    key = _is(case.source, case.zone, case.day)
    earlier = connection.execute(select(table).where(*key)).one_or_none()
    connection.execute(delete(table).where(*key))
    connection.execute(
        insert(table).values(
            source=case.source,
            zone=case.zone,
            day=case.day,
            reason=case.reason,
            detail=case.detail,
            quotes=json.dumps(list(case.quotes)),
            first_seen_ts=case.first_seen_ts if earlier is None else earlier.first_seen_ts,
            last_seen_ts=case.last_seen_ts,
        )
    )
    return earlier is None or earlier.released_ts is not None or earlier.reason != case.reason


def _is(source: str, zone: str, day: date) -> tuple[ColumnElement[bool], ...]:
    return table.c.source == source, table.c.zone == zone, table.c.day == day
