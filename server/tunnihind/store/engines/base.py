"""The interface that a database system offers to the store, and the part that all systems share."""

import logging
import threading
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from tunnihind.errors import StoreError

_LOG: Final = logging.getLogger(__name__)

type Recognise = Callable[[Connection], None]
"""Raises StoreError if a database is neither the one that was opened nor a copy of it."""


class System:
    """A database of some database system. A method does nothing here if only one of the systems needs it."""

    engine: Engine

    path: Path | None = None
    """The database's file. None for a database without a file."""

    is_private = False
    """Whether no other process sees the database, for instance because it is in memory."""

    announces_changes = False
    """Whether `changes` yields announcements by other processes."""

    def __init__(self, name: str) -> None:
        """Remember the database's address, given without its password."""
        self.name = name
        self.copies = 0
        """How often a copy, maybe an older one, has replaced the database since it was opened."""
        self.damage = ""
        """Advice to the operator about unreadable parts, empty if there are none."""
        self._recognise: Recognise | None = None

    def require(self) -> None:
        """Make sure, before each access, that the database is still the one that was opened. Raises StoreLost."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Open a consistent view of the data. Raises SQLAlchemyError, StoreError."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction, and wait until no other one writes. Raises SQLAlchemyError, StoreError."""

    @abstractmethod
    def writing_beside(self) -> AbstractContextManager[Connection]:
        """Open a short transaction beside a writer's, if the system can do that. A power failure may undo it.

        Raises SQLAlchemyError, StoreError.
        """

    def migrating(self) -> AbstractContextManager[Connection]:
        """Open a transaction like `writing`. It may wait and take long. Raises SQLAlchemyError, StoreError."""
        return self.writing()

    @abstractmethod
    def now(self, connection: Connection) -> int:
        """Return the time by the database's clock in unix seconds UTC. All users of the database get the same time."""

    def announce(self, connection: Connection) -> None:
        """Announce to all servers that the served data have changed. They hear it once this transaction is kept."""

    async def changes(self) -> AsyncGenerator[None]:
        """Yield once we listen, and then for each announced change. Raises StoreError."""
        for _ in ():
            yield

    def require_rights(self, tables: Iterable[str]) -> None:
        """Make sure that these tables are writable. Raises StoreError."""

    def look_for_damage(self, connection: Connection) -> None:
        """Set `damage` to what is wrong with the database, or to an empty text. Raises SQLAlchemyError."""

    @abstractmethod
    def size(self) -> int | None:
        """Return the size of the database in bytes, None for one in memory. Raises SQLAlchemyError, StoreError."""

    def continue_only_if(self, recognise: Recognise) -> None:
        """Use `recognise` to check every database that replaces this database. Raises StoreError."""
        self._recognise = recognise

    @abstractmethod
    def error(self, verb: str, error: SQLAlchemyError) -> StoreError:
        """Return an error in plain words, without a password. `verb` is "read" or "write"."""

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


class Outage:
    """The trouble with a database in use. The log gets one line when it begins, and one when it ends."""

    def __init__(self, name: str, what: str) -> None:
        self._name = name
        self._what = what
        self._lock = threading.Lock()
        self.trouble = ""

    def note(self, trouble: str) -> None:
        """Record the trouble. An empty text means that there is no trouble."""
        with self._lock:
            before, self.trouble = self.trouble, trouble
        if trouble and trouble != before:
            advice = "the data read before are still served, and nothing new is stored, until it is back"
            _LOG.error("%s: %s; %s", self._name, trouble, advice)
        elif before and not trouble:
            _LOG.warning("%s: %s is back", self._name, self._what)


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert whole rows. Each row replaces a row with the same key."""
    if not rows:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    others = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    connection.execute(statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=others), rows)
