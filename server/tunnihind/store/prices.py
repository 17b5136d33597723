"""Prices: every version, with when it was first seen and from when it counts as known."""

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import chain, groupby
from typing import Final, NamedTuple

import msgspec
import numpy as np
from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from tunnihind.forecast.known import PriceArchive
from tunnihind.market import DAY_S, HOUR_S, QUARTER_S, ZONES, Zone, delivery_day, publication_time
from tunnihind.store.backtests import forget_since
from tunnihind.store.database import Database
from tunnihind.store.rows import EARLIEST, END_HOUR, FIRST_HOUR, LATEST, Cells, Hour, Instant, Rows
from tunnihind.store.schema import prices as table
from tunnihind.store.schema import runs
from tunnihind.store.state import StateBook

AGREED: Final = "agreed"
"""The source of prices that two sources agree on."""
IMPORTED: Final = "import"
"""The source of prices that the operator has given."""
VOUCHED: Final = frozenset({AGREED, IMPORTED})
"""Prices of one source alone never replace prices of these."""

_SPAN_S: Final = 400 * DAY_S
"""How much is compared at a time while adding: a back-fill's chunk, so that memory stays small."""

_HIGHEST_EUR_MWH: Final = 1e6
"""Far beyond any market's cap: a stored price above it is damaged."""

type _Columns = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Price(NamedTuple):
    """A price to be kept, EUR/MWh without VAT, for the `step_s` seconds that begin at `ts`."""

    zone: Zone
    ts: int
    step_s: int
    eur_mwh: float


class Version(NamedTuple):
    """A price as it stood from `seen_ts` on, counting as known from `known_ts` on, and whose it is."""

    seen_ts: int
    known_ts: int
    eur_mwh: float
    source: str


@dataclass(frozen=True, slots=True)
class Added:
    """How many of the given prices were new, corrected or unchanged."""

    new: int = 0
    corrected: int = 0
    unchanged: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(self.new + other.new, self.corrected + other.corrected, self.unchanged + other.unchanged)

    @property
    def stored(self) -> int:
        """How many versions were written."""
        return self.new + self.corrected


class PriceBook:
    """The prices of a store."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self._rows = Rows(table, _stored, database.damage)

    def add(self, prices: Iterable[Price], *, source: str, seen_ts: int) -> Added:
        """Keep new prices and corrections, each span of time in one transaction. Raises StoreError.

        A price first seen after its delivery began (back-fill, import) counts as known at the publication
        time of its delivery day; a correction never does, it was not to be known then.
        """
        added = Added()
        ordered = sorted(prices, key=lambda price: price.ts)
        for _, span in groupby(ordered, key=lambda price: price.ts // _SPAN_S):
            with self._database.writing() as connection:
                part = self._add(connection, list(span), source, seen_ts)
                if part.stored:
                    self._state.stored_prices(connection, seen_ts)
            added += part
        return added

    def archive(
        self, since_ts: int | None = None, before_ts: int = END_HOUR + 1, *, zones: Sequence[Zone] = ZONES
    ) -> PriceArchive:
        """Return every version of the prices that begin from `since_ts` to before `before_ts`. Raises StoreError."""
        since = FIRST_HOUR if since_ts is None else since_ts
        with self._database.reading() as connection:
            columns = [self._read(connection, *_span(zone, since, before_ts - 1)) for zone in zones]
        zone_of = np.concatenate(
            [np.full(len(c), ZONES.index(z), np.int8) for z, c in zip(zones, columns, strict=True)]
        )
        rows = np.concatenate(columns)
        order = np.lexsort((rows[:, 3], rows[:, 2]))
        rows, zone_of = rows[order], zone_of[order]
        return PriceArchive(
            zone=zone_of,
            ts=rows[:, 0].astype(np.int64),
            step_s=rows[:, 1].astype(np.int32),
            known_ts=rows[:, 2].astype(np.int64),
            eur_mwh=rows[:, 4],
        )

    def between(self, first_ts: int, last_ts: int) -> dict[tuple[Zone, int, int], Version]:
        """Return the newest version of each price that begins from `first_ts` to `last_ts`.

        By zone, start and step of its period. Raises StoreError.
        """
        with self._database.reading() as connection:
            return self._newest_versions(connection, first_ts, last_ts)

    def unconfirmed(self, first_ts: int, last_ts: int) -> dict[tuple[Zone, date], str]:
        """Return the zones and delivery days with a price that one source alone has given, and that source.

        Raises StoreError.
        """
        newest = self.between(first_ts, last_ts).items()
        return {(zone, delivery_day(ts)): of.source for (zone, ts, _), of in newest if of.source not in VOUCHED}

    def withdraw(
        self, zone: Zone, sources: Collection[str], since_ts: int, span: tuple[int, int] | None, at: int
    ) -> None:
        """Delete what `sources` gave of a zone from `since_ts` on, and the forecasts that were made from it.

        Only prices that begin within a `span` go where there is one. They never were the market's: as of no instant
        are they to be seen as if they had been known. Raises StoreError.
        """
        start_ts, end_ts = span or (FIRST_HOUR, END_HOUR)
        given = table.c.zone == zone, table.c.source.in_(sources), table.c.seen_ts >= since_ts
        with self._database.writing() as connection:
            connection.execute(delete(table).where(*given, table.c.ts.between(start_ts, end_ts - 1)))
            connection.execute(delete(runs).where(runs.c.zone == zone, runs.c.made_at >= since_ts))
            forget_since(connection, EARLIEST, zone)
            forget_since(connection, since_ts)
            self._state.stored_prices(connection, at)

    def newest(self, zone: Zone) -> int | None:
        """Return the start of the last period that has a price. Raises StoreError."""
        with self._database.reading() as connection:
            # What is no number lies outside of any span.
            query = select(func.max(table.c.ts)).where(table.c.zone == zone, table.c.ts.between(FIRST_HOUR, END_HOUR))
            newest: int | None = connection.execute(query).scalar_one()
        return newest

    def count(self) -> int:
        """Return how many versions are kept."""
        with self._database.reading() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()

    def remove_damaged(self) -> list[Cells]:
        """Delete the rows that make no sense, and return them. Raises StoreError."""
        with self._database.reading() as connection:
            suspects = [*_suspects(connection)]
        if not suspects:
            return []
        with self._database.writing() as connection:
            removed = [cells for where in suspects for cells in self._rows.remove_damaged(connection, *where)]
            if removed:
                self._state.stored_prices(connection, int(time.time()))
            return removed

    def _add(self, connection: Connection, prices: Sequence[Price], source: str, seen_ts: int) -> Added:
        newest = self._newest_versions(connection, prices[0].ts, prices[-1].ts)
        rows, confirmed, corrected, unchanged = [], [], 0, 0
        for zone, ts, step_s, eur_mwh in prices:
            earlier = newest.get((zone, ts, step_s))
            outranked = earlier is not None and earlier.source in VOUCHED and source not in VOUCHED
            if earlier is not None and (earlier.eur_mwh == eur_mwh or outranked):
                unchanged += 1
                if source in VOUCHED and earlier.source not in VOUCHED:
                    confirmed.append({"of": zone, "at": ts, "step": step_s, "seen": earlier.seen_ts})
                continue
            if earlier is None:
                known = publication_time(delivery_day(ts)) if seen_ts >= ts else seen_ts
                version = Version(seen_ts, known, eur_mwh, source)
            else:
                # A clock that was set back must not make the correction look older than what it corrects.
                version = Version(max(seen_ts, earlier.seen_ts + 1), max(seen_ts, earlier.known_ts), eur_mwh, source)
                corrected += 1
            newest[zone, ts, step_s] = version
            rows.append((zone, ts, step_s, *version))
        if confirmed:
            key = (table.c.zone == bindparam("of"), table.c.ts == bindparam("at"), table.c.step_s == bindparam("step"))
            confirming = update(table).where(*key, table.c.seen_ts == bindparam("seen")).values(source=source)
            connection.execute(confirming, confirmed)
            self._state.advance(connection)
        if rows:
            names = [column.name for column in table.columns]
            connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])
            forget_since(connection, min(newest[zone, ts, step_s].known_ts for zone, ts, step_s, *_ in rows))
        return Added(len(rows) - corrected, corrected, unchanged)

    def _newest_versions(
        self, connection: Connection, first_ts: int, last_ts: int
    ) -> dict[tuple[Zone, int, int], Version]:
        """Return the newest version of each price in a span of time."""
        newest: dict[tuple[Zone, int, int], Version] = {}
        columns = table.c.ts, table.c.step_s, table.c.known_ts, table.c.seen_ts, table.c.eur_mwh, table.c.source
        for zone in ZONES:
            where = _span(zone, first_ts, last_ts)
            query = select(*columns).where(*where).order_by(table.c.seen_ts)
            rows = connection.execute(query).all()
            if _numbers([row[:5] for row in rows]) is None:
                # What the source says now takes its place.
                self._rows.remove_damaged(connection, *where)
                rows = connection.execute(query).all()
            for ts, step_s, known_ts, seen_ts, eur_mwh, source in rows:
                newest[zone, ts, step_s] = Version(seen_ts, known_ts, eur_mwh, str(source))
        return newest

    def _read(self, connection: Connection, *where: ColumnElement[bool]) -> _Columns:
        """Return ts, step_s, known_ts, seen_ts, eur_mwh as columns, one by one only where a row is damaged."""
        rows = _in_bulk(connection, *where)
        if rows is not None:
            return rows
        return np.array([row.columns() for row in self._rows.read(connection, *where)], np.float64).reshape(-1, 5)


def _span(zone: Zone, first_ts: int, last_ts: int = END_HOUR) -> tuple[ColumnElement[bool], ...]:
    """Select a zone's prices of a span of time; those whose instant is no number are in none."""
    return table.c.zone == zone, table.c.ts.between(first_ts, last_ts)


def _suspects(connection: Connection) -> Iterator[tuple[ColumnElement[bool], ...]]:
    """Yield the spans in which a row makes no sense, and what lies in none."""
    for zone in ZONES:
        for first_ts in range(FIRST_HOUR, END_HOUR, _SPAN_S):
            where = _span(zone, first_ts, min(first_ts + _SPAN_S, END_HOUR) - 1)
            if _in_bulk(connection, *where) is None:
                yield where
    astray = table.c.zone.not_in(ZONES) | ~table.c.ts.between(FIRST_HOUR, END_HOUR - 1)
    if connection.execute(select(table.c.ts).where(astray).limit(1)).first() is not None:
        yield (astray,)


def _in_bulk(connection: Connection, *where: ColumnElement[bool]) -> _Columns | None:
    """Return ts, step_s, known_ts, seen_ts, eur_mwh as columns, None where a row makes no sense.

    Doubles hold instants exactly.
    """
    query = select(table.c.ts, table.c.step_s, table.c.known_ts, table.c.seen_ts, table.c.eur_mwh)
    return _numbers(connection.execute(query.where(*where)).all())


def _numbers(found: Sequence[Sequence[object]]) -> _Columns | None:
    """Return rows of numbers as columns, None where one makes no sense."""
    # Flattened by hand: numpy is ten times slower at taking rows apart itself.
    with suppress(ValueError, TypeError, OverflowError):
        rows = np.fromiter(chain.from_iterable(found), np.float64, 5 * len(found)).reshape(-1, 5)
        if _are_sound(rows):
            return rows
    return None


class _Row(msgspec.Struct):
    """A row of the table."""

    zone: Zone
    ts: Hour
    step_s: int
    known_ts: Instant
    seen_ts: Instant
    eur_mwh: float

    def columns(self) -> tuple[float, ...]:
        return self.ts, self.step_s, self.known_ts, self.seen_ts, self.eur_mwh


def _stored(cells: Cells) -> _Row:
    """Return the price that a row holds. Raises ValueError."""
    row = msgspec.convert(cells, _Row)
    if not _are_sound(np.array([row.columns()], np.float64)):
        raise ValueError(f"step_s is {row.step_s}, eur_mwh is {row.eur_mwh}")
    return row


def _are_sound(rows: _Columns) -> bool:
    """Return whether all rows of ts, step_s, known_ts, seen_ts, eur_mwh make sense."""
    instants, steps, prices = rows[:, (0, 2, 3)], rows[:, 1], rows[:, 4]
    return bool(
        ((instants >= EARLIEST) & (instants <= LATEST) & (instants == np.floor(instants))).all()
        and ((rows[:, 0] >= FIRST_HOUR) & (rows[:, 0] < END_HOUR)).all()
        and ((steps == QUARTER_S) | (steps == HOUR_S)).all()
        and (rows[:, 0] % steps == 0).all()
        and (np.abs(prices) <= _HIGHEST_EUR_MWH).all()
    )
