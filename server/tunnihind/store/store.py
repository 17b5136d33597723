"""Opens the database, and gives access to its tables."""

from collections.abc import Sequence
from datetime import date
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection

from tunnihind.core.market import Zone
from tunnihind.errors import StoreError, TunnihindError
from tunnihind.known import Archive
from tunnihind.store.covariates import CovariateBook, FindSuperseded
from tunnihind.store.database import Database
from tunnihind.store.health import HealthBook
from tunnihind.store.lease import Lease
from tunnihind.store.observations import ObservationBook
from tunnihind.store.prices import PriceBook
from tunnihind.store.records import RecordBook
from tunnihind.store.revision import (
    VERSION_TABLE,
    has_newest_migration,
    is_readable,
    is_too_new,
    no_tables_error,
    recorded_migration,
    require_readable,
    upgrade,
    upgraded_meanwhile_error,
)
from tunnihind.store.rows import EARLIEST, PERIODS_END_TS, TableRows
from tunnihind.store.runs import RunBook, ScenarioBook
from tunnihind.store.schema import metadata
from tunnihind.store.scores import BacktestBook, ScoreBook
from tunnihind.store.state import StateBook
from tunnihind.store.witnesses import WitnessBook


class Store:
    """The database with all stored data.

    Several threads may use a `Store` at once, and several processes may use the same database.
    """

    def __init__(self, url: str, *, read_only: bool = False, is_replica: bool = False) -> None:
        """Open the database at `url`. If `read_only` is false, create or upgrade the tables.

        If `read_only` and `is_replica` are true, the tables of a newer version of Tunnihind are accepted, as long as
        this version can read them. Raises SettingsError for a malformed address, SchemaError for unsuitable tables, and
        StoreError if the database can't be used.
        """
        self._url = url
        self.database = Database(url, read_only=read_only)
        self.state = StateBook(self.database)
        try:
            self._make_ready(is_replica=is_replica)
        except TunnihindError:
            self.close()
            raise
        self.prices = PriceBook(self.database, self.state)
        self.covariates = CovariateBook(self.database, self.state)
        self.observations = ObservationBook(self.database, self.state)
        self.runs = RunBook(self.database, self.state)
        self.scenarios = ScenarioBook(self.database)
        self.backtests = BacktestBook(self.database, self.state)
        self.scores = ScoreBook(self.database, self.state)
        self.records = RecordBook(self.database, self.state)
        self.witnesses = WitnessBook(self.database, self.state)
        self.health = HealthBook(self.database)

    def read_archive(self, since_ts: int | None = None, *, superseded: FindSuperseded | None = None) -> Archive:
        """Return the prices and observations from `since_ts` on, and the covariate forecasts issued from then on.

        If `since_ts` is None, return all of them. `superseded` returns True for the covariate forecasts to leave out.
        Raises StoreError.
        """
        return Archive(
            self.prices.read_archive(since_ts),
            self.covariates.read_archive(since_ts, superseded=superseded),
            self.observations.read_archive(EARLIEST if since_ts is None else since_ts),
        )

    def unguarded_lease(self) -> Lease:
        """Return a new `Lease` for the pipeline. No write depends on this lease."""
        return Lease(self.database)

    def lease_guarding_writes(self) -> Lease:
        """Return a new `Lease` for the pipeline.

        From now on, a transaction of `Database.writing` is kept only if this process holds the lease, and if this
        version of Tunnihind can read the tables.
        """
        lease = self.unguarded_lease()

        def require(connection: Connection) -> None:
            lease.require_held(connection)
            self._require_readable_in(connection)

        self.database.set_commit_check(require)
        return lease

    def require_readable(self) -> None:
        """Make sure that this version of Tunnihind can read the tables. Raises SchemaError, StoreError."""
        with self.database.reading() as connection:
            self._require_readable_in(connection)

    def _require_readable_in(self, connection: Connection) -> None:
        if not is_readable(connection):
            raise upgraded_meanwhile_error(self.database)

    def reopen_for_writing(self) -> None:
        """Reopen a read-only store for writing. Raises SettingsError, SchemaError, StoreError."""
        self.database.replace_by(Store(self._url).database)

    def tables(self) -> Sequence[TableRows[Any, Any]]:
        """Return the `TableRows` of all tables except `leases`."""
        books = (
            self.prices,
            self.witnesses,
            self.covariates,
            self.observations,
            self.runs,
            self.scenarios,
            self.backtests,
            self.scores,
            self.records,
            self.health,
            self.state,
        )
        return [book.rows for book in books]

    def look_for_damage(self) -> None:
        """Read all tables, and describe any damage in `DatabaseSystem.damage`. Raises StoreError."""
        with self.database.reading() as connection:
            self.database.system.look_for_damage(connection)
            self.database.system.damaged_tables.clear()
            if recorded_migration(connection) is None:
                self.database.system.damaged_tables.add(VERSION_TABLE)
            for rows in self.tables():
                for _ in rows.read(connection):
                    pass

    def unconfirmed_days(self, first_ts: int, end_ts: int = PERIODS_END_TS) -> dict[tuple[Zone, date], str]:
        """Map each zone and delivery day with unconfirmed prices to a source of these prices. Raises StoreError.

        Only periods that begin in [first_ts, end_ts) count. If the pipeline asks fewer than two sources for prices, the
        result is empty, because no second source could confirm the prices.
        """
        return self.prices.unconfirmed_days(first_ts, end_ts - 1) if len(self.state.price_source_names()) > 1 else {}

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _make_ready(self, *, is_replica: bool) -> None:
        if self.database.read_only:
            require_readable(self.database, newer_too=is_replica)
            if is_replica and self.state.lacks_instance_id():
                raise no_tables_error(self.database)
        elif not has_newest_migration(self.database):
            upgrade(self.database)
        if not self.database.read_only:
            self.database.require_rights(metadata.tables)
            self.state.make_instance_id()
        instance_id = self.state.instance_id()

        def recognise(connection: Connection) -> None:
            if is_too_new(connection):
                raise upgraded_meanwhile_error(self.database)
            if not is_readable(connection) or self.state.instance_id_in(connection) != instance_id:
                raise StoreError(f"{self.database} is another database now", reason="the new one is another server's")

        self.database.system.check_replacements_with(recognise)
