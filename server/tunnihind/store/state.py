"""Stores single facts, such as the identity of the installation."""

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from sqlalchemy import Connection, select

from tunnihind.core.market import Zone
from tunnihind.store.database import Database
from tunnihind.store.engines.base import upsert
from tunnihind.store.rows import Instant, StoredRow, TableRows, TextWithoutNul, from_json, row_mapper
from tunnihind.store.schema import state as table

type Fact = str | int | float | bool | Sequence[Fact] | Mapping[str, Fact] | None

_SERVED_VERSION_KEY: Final = "version"
_SERVED_CHANGE_ID_KEY: Final = "change_id"
_INSTANCE_ID_KEY: Final = "instance_id"
_LAST_REFRESH_KEY: Final = "last_refresh"
_PRICES_CHANGED_KEY: Final = "prices_stored"
_COVARIATE_CHANGES_KEY: Final = "covariate_changes"
_OBSERVATION_CHANGES_KEY: Final = "observation_changes"
_DATA_CHANGES_KEY: Final = "knowledge_changes"
_PRICE_SOURCES_KEY: Final = "price_sources"
_SERVED_ZONES_KEY: Final = "served_zones"

type _Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
type _Identity = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]


class _FactRow(StoredRow):
    key: TextWithoutNul
    value: TextWithoutNul


class StateBook:
    """The stored facts. Each fact has a key and a JSON value."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.rows = TableRows(table, _FactRow, row_mapper(partial(_fact_value, Any)), database)

    def read(self, key: str, shape: Any = Any) -> Any:  # noqa: ANN401  any JSON value; `shape` narrows it
        """Return the value of `key` as the type `shape`, or None if it is missing or damaged. Raises StoreError."""
        with self._database.reading() as connection:
            return self._read(connection, key, shape)

    def write(self, key: str, value: Fact) -> None:
        """Store the value of `key` in place of an earlier value. Raises StoreError."""
        with self._database.writing() as connection:
            upsert(connection, table, [{"key": key, "value": json.dumps(value)}])

    def change(self, key: str, shape: Any, make: Callable[[Any], Fact]) -> None:  # noqa: ANN401  as `read`
        """Replace the value of `key` by the result of `make`, in one transaction. Raises StoreError.

        `make` gets the earlier value as `read` returns it.
        """
        with self._database.writing():
            self.write(key, make(self.read(key, shape)))

    def write_served_fact(self, key: str, value: Fact) -> None:
        """Store the value of `key`, and record that the served data have changed. Raises StoreError."""
        with self._database.writing():
            self.write(key, value)
            self.record_served_change()

    def record_served_change(self) -> None:
        """Record and announce a change to the served data, in the transaction that makes the change."""
        with self._database.writing() as connection:
            self._count_up(_SERVED_VERSION_KEY)
            self.write(_SERVED_CHANGE_ID_KEY, uuid.uuid4().hex)
            self._database.system.announce(connection)

    def served_version(self) -> int:
        """Return a number that increases with every change to the served data. Raises StoreError.

        A new `last_refresh` doesn't count as a change.
        """
        return self._count(_SERVED_VERSION_KEY)

    def served_change_id(self) -> str:
        """Return the random id of the last change to the served data.

        After a backup is restored, two changes may have the same version, but never the same id. If no id is stored,
        or if the stored id is damaged, return an empty string. Raises StoreError.
        """
        return self.read(_SERVED_CHANGE_ID_KEY, _Identity) or ""

    def last_refresh(self) -> int | None:
        """Return the instant at which the pipeline last processed a price source's answer. Raises StoreError.

        An answer doesn't count if all its prices are held back because the source is off.
        """
        found: int | None = self.read(_LAST_REFRESH_KEY, Instant)
        return found

    def record_refresh(self, at: int) -> None:
        """Record `at` as the instant at which the pipeline processed a price source's answer. Raises StoreError."""
        with self._database.writing() as connection:
            self.write(_LAST_REFRESH_KEY, at)
            self._database.system.announce(connection)

    def record_price_source_names(self, names: Sequence[str]) -> None:
        """Record the names of the sources that the pipeline asks for prices. Raises StoreError."""
        if self.price_source_names() != list(names):
            self.write_served_fact(_PRICE_SOURCES_KEY, list(names))

    def price_source_names(self) -> list[str]:
        """Return the recorded names of the sources that the pipeline asks for prices. Raises StoreError."""
        return self.read(_PRICE_SOURCES_KEY, list[str]) or []

    def record_served_zones(self, zones: Sequence[Zone]) -> None:
        """Record the zones for which the pipeline makes forecasts. Raises StoreError."""
        if self.served_zones() != list(zones):
            self.write(_SERVED_ZONES_KEY, list(zones))

    def served_zones(self) -> list[Zone]:
        """Return the recorded zones for which the pipeline makes forecasts. Raises StoreError."""
        return self.read(_SERVED_ZONES_KEY, list[Zone]) or []

    def record_price_change(self, at: int) -> None:
        """Record a change to prices, in the transaction that makes it. `at` is the instant of the change."""
        self.write(_PRICES_CHANGED_KEY, at)
        self._count_up(_DATA_CHANGES_KEY)
        self.record_served_change()

    def prices_changed_at(self) -> int | None:
        """Return the instant of the last change to prices. Raises StoreError."""
        found: int | None = self.read(_PRICES_CHANGED_KEY, Instant)
        return found

    def record_covariate_change(self) -> None:
        """Record a change to covariates, in the transaction that makes it."""
        self._count_up(_COVARIATE_CHANGES_KEY)
        self._count_up(_DATA_CHANGES_KEY)

    def covariate_change_count(self) -> int:
        """Return a number that increases with every change to covariates. Raises StoreError.

        Deletions by `CovariateBook.delete_superfluous` don't count.
        """
        return self._count(_COVARIATE_CHANGES_KEY)

    def record_observation_change(self) -> None:
        """Record a change to observations, in the transaction that makes it."""
        self._count_up(_OBSERVATION_CHANGES_KEY)

    def observation_change_count(self) -> int:
        """Return a number that increases with every change to observations. Raises StoreError."""
        return self._count(_OBSERVATION_CHANGES_KEY)

    def data_change_count(self) -> int:
        """Return a number that increases with every change to prices or covariates. Raises StoreError.

        Deletions by `CovariateBook.delete_superfluous` don't count.
        """
        return self._count(_DATA_CHANGES_KEY)

    def instance_id(self) -> str:
        """Return this installation's identity, as `instance_id_in` does. Raises StoreError."""
        with self._database.reading() as connection:
            return self.instance_id_in(connection)

    def instance_id_in(self, connection: Connection) -> str:
        """Return the installation's identity from the database of `connection`.

        If the database has no sound identity, return an identity that is derived from the database's address.
        """
        return (
            self._read(connection, _INSTANCE_ID_KEY, _Identity)
            or uuid.uuid5(uuid.NAMESPACE_URL, str(self._database)).hex
        )

    def lacks_instance_id(self) -> bool:
        """Return whether the database has no identity. A damaged identity counts as an identity. Raises StoreError."""
        return not self._has(_INSTANCE_ID_KEY)

    def make_instance_id(self) -> None:
        """Give this installation an identity if it has no sound identity. Raises StoreError."""
        if self.read(_INSTANCE_ID_KEY, _Identity) is not None:
            return
        with self._database.writing():
            # Another process may have written an identity since this method's first check.
            if self.read(_INSTANCE_ID_KEY, _Identity) is None:
                self.write(_INSTANCE_ID_KEY, uuid.uuid4().hex)

    def _read(self, connection: Connection, key: str, shape: Any) -> Any:  # noqa: ANN401  as `read`
        make = row_mapper(partial(_fact_value, shape))
        return TableRows(table, _FactRow, make, self._database).first_sound_object(connection, table.c.key == key)

    def _count(self, key: str) -> int:
        return self.read(key, _Count) or 0

    def _count_up(self, key: str) -> None:
        with self._database.writing():
            found: int | None = self.read(key, _Count)
            if found is None and self._has(key):
                # Counts are compared to notice changes, so no count may occur twice. The unix time in seconds replaces
                # a damaged count, because this time is higher than any earlier count.
                found = int(time.time())
            self.write(key, (found or 0) + 1)

    def _has(self, key: str) -> bool:
        with self._database.reading() as connection:
            return connection.execute(select(table.c.key).where(table.c.key == key)).first() is not None


def _fact_value(shape: Any, fact: _FactRow) -> Any:  # noqa: ANN401  as `StateBook.read`
    return from_json(fact.value, shape)
