"""Single facts about the store and the pipeline: who we are, how far we are, and that something changed."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from tunnihind.store.database import Database
from tunnihind.store.schema import state as table

type Fact = str | int | float | bool | Sequence[Fact] | Mapping[str, Fact] | None

_VERSION: Final = "version"
_INSTANCE: Final = "instance_id"
_LAST_REFRESH: Final = "last_refresh"
_STORED: Final = "prices_stored"
_COVARIATES: Final = "covariate_changes"
_KNOWLEDGE: Final = "knowledge_changes"


class Journal:
    """Facts by key, each a JSON value."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, key: str) -> Fact:
        """Return a fact, None where it was never written. Raises StoreError."""
        with self._database.reading() as connection:
            return _read(connection, key)

    def write(self, key: str, value: Fact) -> None:
        """Replace a fact. Raises StoreError."""
        with self._database.writing() as connection:
            _write(connection, key, value)

    def write_served(self, key: str, value: Fact) -> None:
        """Replace a fact that is served to clients. Raises StoreError."""
        with self._database.writing() as connection:
            _write(connection, key, value)
            self.advance(connection)

    def put(self, connection: Connection, key: str, value: Fact) -> None:
        """Replace a fact within a transaction."""
        _write(connection, key, value)

    def advance(self, connection: Connection) -> None:
        """Say, within the transaction of a change, that what is served has changed."""
        _write(connection, _VERSION, _count(connection, _VERSION) + 1)

    def version(self) -> int:
        """Return a number that grows with every change to what is served. Raises StoreError."""
        with self._database.reading() as connection:
            return _count(connection, _VERSION)

    def last_refresh(self) -> int | None:
        """Return when the pipeline last got an answer about prices and took it in. Raises StoreError."""
        found = self.read(_LAST_REFRESH)
        return found if isinstance(found, int) else None

    def refreshed(self, at: int) -> None:
        """Note that the pipeline has just taken in an answer about prices. Raises StoreError."""
        self.write(_LAST_REFRESH, at)

    def stored_prices(self, connection: Connection, at: int) -> None:
        """Say, within the transaction that stores them, that there are new prices."""
        _write(connection, _STORED, at)
        _write(connection, _KNOWLEDGE, _count(connection, _KNOWLEDGE) + 1)
        self.advance(connection)

    def prices_stored_at(self) -> int | None:
        """Return when prices were last stored. Raises StoreError."""
        found = self.read(_STORED)
        return found if isinstance(found, int) else None

    def stored_covariates(self, connection: Connection) -> None:
        """Say, within the transaction that stores them, that covariates have changed."""
        _write(connection, _COVARIATES, _count(connection, _COVARIATES) + 1)
        _write(connection, _KNOWLEDGE, _count(connection, _KNOWLEDGE) + 1)

    def covariate_changes(self, connection: Connection) -> int:
        """Return how often covariates have changed."""
        return _count(connection, _COVARIATES)

    def knowledge_changes(self, connection: Connection) -> int:
        """Return how often prices or covariates have changed."""
        return _count(connection, _KNOWLEDGE)

    def instance_id(self) -> str:
        """Return this installation's lasting identity. Raises StoreError."""
        with self._database.reading() as connection:
            return self.instance_id_in(connection)

    def instance_id_in(self, connection: Connection) -> str:
        """Return the identity that another connection's database has."""
        return str(_read(connection, _INSTANCE))

    def make_instance_id(self) -> None:
        """Give this installation an identity unless it has one. Raises StoreError."""
        if self.read(_INSTANCE) is not None:
            return
        with self._database.writing() as connection:
            # Another process may have been quicker.
            if _read(connection, _INSTANCE) is None:
                _write(connection, _INSTANCE, uuid.uuid4().hex)


def _read(connection: Connection, key: str) -> Fact:
    found = connection.execute(select(table.c.value).where(table.c.key == key)).scalar_one_or_none()
    fact: Fact = None if found is None else json.loads(found)
    return fact


def _count(connection: Connection, key: str) -> int:
    found = _read(connection, key)
    return found if isinstance(found, int) else 0


def _write(connection: Connection, key: str, value: Fact) -> None:
    connection.execute(delete(table).where(table.c.key == key))
    connection.execute(insert(table).values(key=key, value=json.dumps(value)))
