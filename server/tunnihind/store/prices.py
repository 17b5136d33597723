"""Prices: every version, with when it was first seen and from when it counts as known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, insert, select

from tunnihind.known import PriceArchive
from tunnihind.market import DAY_S, ZONES, Zone, delivery_day, publication_time
from tunnihind.store.backtests import forget_since
from tunnihind.store.database import Database
from tunnihind.store.journal import Journal
from tunnihind.store.schema import prices as table

_SPAN_S: Final = 400 * DAY_S
"""How much is compared at a time while adding: a back-fill's chunk, so that memory stays small."""


class Price(NamedTuple):
    """A price to be kept, EUR/MWh without VAT, for the `step_s` seconds that begin at `ts`."""

    zone: Zone
    ts: int
    step_s: int
    eur_mwh: float


class _Version(NamedTuple):
    """A price as it stood from `seen_ts` on, counting as known from `known_ts` on."""

    seen_ts: int
    known_ts: int
    eur_mwh: float


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the prices that were handed over."""

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

    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    def add(self, prices: Iterable[Price], *, source: str, seen_ts: int) -> Added:
        """Keep new prices and corrections, each span of time in one transaction. Raises StoreError.

        A price first seen after its delivery began (back-fill, import) counts as known at the publication
        time of its delivery day; a correction never does, it was not to be known then.
        """
        added = Added()
        ordered = sorted(prices, key=lambda price: price.ts)
        for _, span in groupby(ordered, key=lambda price: price.ts // _SPAN_S):
            with self._database.writing() as connection:
                part = _add(connection, list(span), source, seen_ts)
                if part.stored:
                    self._journal.stored_prices(connection, seen_ts)
            added += part
        return added

    def archive(self, since_ts: int | None = None, *, zones: Sequence[Zone] = ZONES) -> PriceArchive:
        """Return every version of the prices from `since_ts` on. Raises StoreError."""
        with self._database.reading() as connection:
            columns = [_read(connection, zone, since_ts) for zone in zones]
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

    def between(self, first_ts: int, last_ts: int) -> dict[tuple[Zone, int, int], float]:
        """Return the newest version of each price that begins from `first_ts` to `last_ts`, EUR/MWh.

        By zone, start and step of its period. Raises StoreError.
        """
        with self._database.reading() as connection:
            found = _newest_versions(connection, first_ts, last_ts)
        return {key: version.eur_mwh for key, version in found.items()}

    def newest(self, zone: Zone) -> int | None:
        """Return the start of the last period that has a price. Raises StoreError."""
        with self._database.reading() as connection:
            newest: int | None = connection.execute(
                select(func.max(table.c.ts)).where(table.c.zone == zone)
            ).scalar_one()
        return newest

    def count(self) -> int:
        """Return how many versions are kept."""
        with self._database.reading() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _read(
    connection: Connection, zone: Zone, since_ts: int | None
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return ts, step_s, known_ts, seen_ts, eur_mwh as columns; doubles hold instants exactly."""
    query = select(table.c.ts, table.c.step_s, table.c.known_ts, table.c.seen_ts, table.c.eur_mwh)
    query = query.where(table.c.zone == zone)
    if since_ts is not None:
        query = query.where(table.c.ts >= since_ts)
    found = connection.execute(query).all()
    # Flattened by hand: numpy is ten times slower at taking rows apart itself.
    return np.fromiter((value for row in found for value in row), np.float64, 5 * len(found)).reshape(-1, 5)


def _add(connection: Connection, prices: Sequence[Price], source: str, seen_ts: int) -> Added:
    newest = _newest_versions(connection, prices[0].ts, prices[-1].ts)
    rows, corrected, unchanged = [], 0, 0
    for zone, ts, step_s, eur_mwh in prices:
        earlier = newest.get((zone, ts, step_s))
        if earlier is not None and earlier.eur_mwh == eur_mwh:
            unchanged += 1
            continue
        if earlier is None:
            known = publication_time(delivery_day(ts)) if seen_ts >= ts else seen_ts
            version = _Version(seen_ts, known, eur_mwh)
        else:
            # A clock that was set back must not make the correction look older than what it corrects.
            version = _Version(max(seen_ts, earlier.seen_ts + 1), max(seen_ts, earlier.known_ts), eur_mwh)
            corrected += 1
        newest[zone, ts, step_s] = version
        rows.append((zone, ts, step_s, *version, source))
    if rows:
        names = [column.name for column in table.columns]
        connection.execute(insert(table), [dict(zip(names, row, strict=True)) for row in rows])
        forget_since(connection, min(newest[zone, ts, step_s].known_ts for zone, ts, step_s, *_ in rows))
    return Added(len(rows) - corrected, corrected, unchanged)


def _newest_versions(connection: Connection, first_ts: int, last_ts: int) -> dict[tuple[Zone, int, int], _Version]:
    """Return the newest version of each price in a span of time."""
    query = (
        select(table.c.zone, table.c.ts, table.c.step_s, table.c.seen_ts, table.c.known_ts, table.c.eur_mwh)
        .where(table.c.zone.in_(ZONES), table.c.ts.between(first_ts, last_ts))
        .order_by(table.c.seen_ts)
    )
    return {(zone, ts, step_s): _Version(*version) for zone, ts, step_s, *version in connection.execute(query)}
