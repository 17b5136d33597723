"""Stores prices. A price that is corrected stays stored as an older version."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, groupby
from operator import attrgetter
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, select, update

from tunnihind.core.market import DAY_S, ZONES, Zone, delivery_day, publication_time
from tunnihind.known import PriceArchive
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.packing import HIGHEST_PRICE
from tunnihind.store.rows import (
    EARLIEST,
    FIRST_PERIOD_TS,
    PERIODS_END_TS,
    Instant,
    PeriodStart,
    Step,
    StoredRow,
    TableRows,
)
from tunnihind.store.schema import prices as table
from tunnihind.store.schema import runs
from tunnihind.store.scores import delete_past_forecasts_since
from tunnihind.store.state import StateBook

AGREED: Final = "agreed"
"""Recorded as the source of a price that two sources gave."""
IMPORTED: Final = "import"
"""Recorded as the source of a price that the operator gave."""
VOUCHED: Final = frozenset({AGREED, IMPORTED})
"""A price from one source alone never replaces a price that is recorded with one of these sources."""

_TRANSACTION_SPAN_S: Final = 400 * DAY_S
"""One transaction adds the prices of at most this many seconds, so that memory use stays small."""

_numbers: Final = attrgetter("ts", "step_s", "known_ts", "seen_ts", "eur_mwh")


class Price(NamedTuple):
    """A price to store, in EUR/MWh without VAT. The price's period begins at `ts` and lasts `step_s` seconds."""

    zone: Zone
    ts: int
    step_s: int
    eur_mwh: float


class StoredPrice(StoredRow):
    """A version of a price in EUR/MWh without VAT, and the source of this version.

    The server first saw this version of the price at `seen_ts`. Only forecasts issued at `known_ts` or later may use
    this version.
    """

    zone: Zone
    ts: PeriodStart
    step_s: Step
    seen_ts: Instant
    known_ts: Instant
    eur_mwh: Annotated[float, msgspec.Meta(ge=-HIGHEST_PRICE, le=HIGHEST_PRICE)]
    source: str

    def __post_init__(self) -> None:
        if self.ts % self.step_s:
            raise ValueError(f"ts is {self.ts}, at which no period of {self.step_s} s begins")


@dataclass(frozen=True, slots=True)
class AddedCounts:
    """The numbers of new, corrected and unchanged prices.

    `unchanged` includes prices that differ from the stored price, but don't replace it (see `VOUCHED`).
    """

    new: int = 0
    corrected: int = 0
    unchanged: int = 0

    def __add__(self, other: AddedCounts) -> AddedCounts:
        return AddedCounts(self.new + other.new, self.corrected + other.corrected, self.unchanged + other.unchanged)

    @property
    def stored_count(self) -> int:
        """The number of new and corrected prices."""
        return self.new + self.corrected


class PriceBook:
    """The stored prices."""

    def __init__(self, database: Database, state: StateBook) -> None:
        self._database = database
        self._state = state
        self.rows = TableRows(table, StoredPrice, list, database)

    def add(self, prices: Iterable[Price], *, source: str, seen_ts: int) -> AddedCounts:
        """Store new prices and corrections.

        Each transaction stores the prices of at most 400 days. `seen_ts` is the instant at which the server first saw
        the prices. If the period of a new price has begun by `seen_ts`, the price counts as known from the publication
        time of its delivery day. All other new prices count as known from `seen_ts`, and so do corrections, unless the
        clock was set back. Raises StoreError.
        """
        added = AddedCounts()
        ordered = sorted(prices, key=lambda price: price.ts)
        for _, span in groupby(ordered, key=lambda price: price.ts // _TRANSACTION_SPAN_S):
            with self._database.writing() as connection:
                part = self._add(connection, list(span), source, seen_ts)
                if part.stored_count:
                    self._state.record_price_change(seen_ts)
            added += part
        return added

    def read_archive(
        self, since_ts: int | None = None, before_ts: int = PERIODS_END_TS + 1, *, zones: Sequence[Zone] = ZONES
    ) -> PriceArchive:
        """Return all versions of the prices of `zones` for periods that begin in [since_ts, before_ts).

        If `since_ts` is None, the periods have no lower bound. Raises StoreError.
        """
        since = FIRST_PERIOD_TS if since_ts is None else since_ts
        number = {zone: number for number, zone in enumerate(ZONES)}
        with self._database.reading() as connection:
            where = table.c.zone.in_(zones), table.c.ts.between(since, before_ts - 1)
            found = ((number[row.zone], *_numbers(row)) for row in self.rows.read(connection, *where))
            # One array of doubles can hold all columns, because doubles represent instants exactly.
            rows = np.fromiter(chain.from_iterable(found), np.float64).reshape(-1, 6)
        rows = rows[np.lexsort((rows[:, 4], rows[:, 3]))]
        return PriceArchive(
            zone=rows[:, 0].astype(np.int8),
            ts=rows[:, 1].astype(np.int64),
            step_s=rows[:, 2].astype(np.int32),
            known_ts=rows[:, 3].astype(np.int64),
            # Without `copy`, all six columns of `rows` would stay in memory.
            eur_mwh=rows[:, 5].copy(),
        )

    def newest_versions(self, first_ts: int, last_ts: int) -> dict[tuple[Zone, int, int], StoredPrice]:
        """Map (zone, start of a period, step) to the newest version of the period's price. Raises StoreError.

        Only periods that begin in [first_ts, last_ts] are included.
        """
        with self._database.reading() as connection:
            return self._newest_versions(connection, first_ts, last_ts)

    def unconfirmed_days(self, first_ts: int, last_ts: int) -> dict[tuple[Zone, date], str]:
        """Map each zone and delivery day with unconfirmed prices to a source of these prices. Raises StoreError.

        Only periods that begin in [first_ts, last_ts] count.
        """
        newest = self.newest_versions(first_ts, last_ts).items()
        return {(zone, delivery_day(ts)): of.source for (zone, ts, _), of in newest if of.source not in VOUCHED}

    def withdraw(
        self, zone: Zone, sources: Collection[str], since_ts: int, bounds: tuple[int, int] | None, at: int
    ) -> None:
        """Delete a zone's price versions that come from `sources` and that the server first saw at `since_ts` or later.

        If `bounds` (start, end) is given, delete only prices whose periods begin in [start, end). Also delete the
        zone's runs made at `since_ts` or later, and all zones' forecasts of past days. `at` is recorded as the instant
        of the change. Raises StoreError.
        """
        start_ts, end_ts = bounds or (FIRST_PERIOD_TS, PERIODS_END_TS)
        given = table.c.zone == zone, table.c.source.in_(sources), table.c.seen_ts >= since_ts
        with self._database.writing() as connection:
            connection.execute(delete(table).where(*given, table.c.ts.between(start_ts, end_ts - 1)))
            connection.execute(delete(runs).where(runs.c.zone == zone, runs.c.made_at >= since_ts))
            # A deleted price may have counted as known long before `since_ts`, and any zone's forecast may have used
            # the price.
            delete_past_forecasts_since(connection, EARLIEST)
            self._state.record_price_change(at)

    def newest_ts(self, zone: Zone) -> int | None:
        """Return the start of a zone's last period with a price. Raises StoreError."""
        with self._database.reading() as connection:
            # `between` leaves out damaged instants, such as text.
            query = select(func.max(table.c.ts)).where(
                table.c.zone == zone, table.c.ts.between(FIRST_PERIOD_TS, PERIODS_END_TS)
            )
            newest: int | None = connection.execute(query).scalar_one()
        return newest

    def count(self) -> int:
        """Return the number of stored versions of prices. Raises StoreError."""
        with self._database.reading() as connection:
            return connection.execute(select(func.count()).select_from(table)).scalar_one()

    def _add(self, connection: Connection, prices: Sequence[Price], source: str, seen_ts: int) -> AddedCounts:
        newest = self._newest_versions(connection, prices[0].ts, prices[-1].ts)
        versions, confirmed, corrected, unchanged = list[StoredPrice](), [], 0, 0
        for zone, ts, step_s, eur_mwh in prices:
            earlier = newest.get((zone, ts, step_s))
            outranked = earlier is not None and earlier.source in VOUCHED and source not in VOUCHED
            if earlier is not None and (earlier.eur_mwh == eur_mwh or outranked):
                unchanged += 1
                if source in VOUCHED and earlier.source not in VOUCHED:
                    confirmed.append({"of": zone, "at": ts, "step": step_s, "seen": earlier.seen_ts})
                continue
            if earlier is None:
                seen, known = seen_ts, publication_time(delivery_day(ts)) if seen_ts >= ts else seen_ts
            else:
                # Even if the clock was set back, a correction must be newer than the corrected price.
                seen, known = max(seen_ts, earlier.seen_ts + 1), max(seen_ts, earlier.known_ts)
                corrected += 1
            version = newest[zone, ts, step_s] = StoredPrice(zone, ts, step_s, seen, known, eur_mwh, source)
            versions.append(version)
        if confirmed:
            key = (table.c.zone == bindparam("of"), table.c.ts == bindparam("at"), table.c.step_s == bindparam("step"))
            confirming = update(table).where(*key, table.c.seen_ts == bindparam("seen")).values(source=source)
            connection.execute(confirming, confirmed)
            self._state.record_served_change()
        if versions:
            # If a damaged row has the key of a new row, the upsert replaces the damaged row.
            upsert(connection, table, [msgspec.structs.asdict(version) for version in versions])
            delete_past_forecasts_since(connection, min(version.known_ts for version in versions))
        return AddedCounts(len(versions) - corrected, corrected, unchanged)

    def _newest_versions(
        self, connection: Connection, first_ts: int, last_ts: int
    ) -> dict[tuple[Zone, int, int], StoredPrice]:
        where = table.c.zone.in_(ZONES), table.c.ts.between(first_ts, last_ts)
        found = sorted(self.rows.read(connection, *where), key=attrgetter("seen_ts"))
        return {(version.zone, version.ts, version.step_s): version for version in found}
