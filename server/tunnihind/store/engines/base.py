"""The interface between the store and a database system, and code that all database systems share."""

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
"""Raises StoreError if the connection leads neither to the opened database nor to a copy of it, or if this version of
Tunnihind can't read the tables."""


class DatabaseSystem:
    """A database in SQLite or PostgreSQL.

    This class has defaults for the methods that only SQLite or only PostgreSQL needs.
    """

    engine: Engine

    path: Path | None = None
    """The database's file, or None if the database has no file."""

    is_private = False
    """True if no other process can use the database. A database in memory is private."""

    announces_changes = False
    """True if servers that share the database announce changes to each other."""

    def __init__(self, name: str) -> None:
        """`name` is the database's address without the password."""
        self.name = name
        self.replacement_count = 0
        """The number of times that a copy has replaced the open database. A copy may be older than the open database.
        """
        self.file_damage = ""
        """Advice to the operator if a part of the database is unreadable, or else an empty string."""
        self.damaged_tables: set[str] = set()
        """The names of the tables in which a damaged row has been met."""
        self._recognise: Recognise | None = None

    @property
    def damage(self) -> str:
        """Advice to the operator if some of the data can't be read, or else an empty string."""
        if self.file_damage or not self.damaged_tables:
            return self.file_damage
        tables = ", ".join(sorted(self.damaged_tables))
        return f"damaged rows of {tables} are left out: stop the server, and restore a backup"

    def require_file(self) -> None:
        """Make sure that the database's file is still usable. Call this method before each access. Raises StoreLost."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """Open a consistent view of the data. Raises SQLAlchemyError, StoreError."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction for writing as soon as no other transaction writes. Raises SQLAlchemyError, StoreError."""

    @abstractmethod
    def writing_lease_row(self) -> AbstractContextManager[Connection]:
        """Open a short transaction for writing. Raises SQLAlchemyError, StoreError.

        On PostgreSQL, the transaction usually doesn't wait for other writers. On SQLite, a power failure may undo the
        transaction after its commit.
        """

    def migrating(self) -> AbstractContextManager[Connection]:
        """Open a transaction like `writing`, but for long work. Raises SQLAlchemyError, StoreError."""
        return self.writing()

    @abstractmethod
    def now(self, connection: Connection) -> int:
        """Return the time in unix seconds UTC, by the clock that all servers on this database share."""

    def announce(self, connection: Connection) -> None:
        """If `announces_changes` is true, announce a change to all servers when the transaction is committed."""

    async def change_announcements(self) -> AsyncGenerator[None]:
        """Yield once when the connection is ready, and again after each announced change. Raises StoreError.

        If `announces_changes` is false, yield nothing.
        """
        for _ in ():
            yield

    def require_rights(self, tables: Iterable[str]) -> None:
        """On PostgreSQL, make sure that this process may write to `tables`. Raises StoreError."""

    def look_for_damage(self, connection: Connection) -> None:
        """Check an SQLite database for damage, and describe any damage in `file_damage`. Raises SQLAlchemyError."""

    @abstractmethod
    def size(self) -> int | None:
        """Return the size of the database in bytes, or None if it is in memory. Raises SQLAlchemyError, StoreError."""

    def check_replacements_with(self, recognise: Recognise) -> None:
        """From now on, call `recognise` with a connection to any database that may have replaced the open database.

        Raises StoreError.
        """
        self._recognise = recognise

    def _note_replacement(self, what: str) -> None:
        self.replacement_count += 1
        self.file_damage = ""
        self.damaged_tables.clear()
        _LOG.warning("%s: another copy has replaced %s, and this server now uses the copy", self.name, what)

    @abstractmethod
    def store_error(self, verb: str, error: SQLAlchemyError) -> StoreError:
        """Return a StoreError that describes a database error in plain words and without passwords.

        `verb` is "read" or "write".
        """

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


class OutageLog:
    """Logs the beginning and the end of trouble with a database."""

    def __init__(self, name: str, subject: str) -> None:
        self._name = name
        self._subject = subject
        self._lock = threading.Lock()
        self.trouble = ""

    def note(self, trouble: str) -> None:
        """If `trouble` is new, log it. If `trouble` is empty, log the end of the earlier trouble, if there was any."""
        with self._lock:
            before, self.trouble = self.trouble, trouble
        if trouble and trouble != before:
            advice = "until it is back, the data read before are still served, and nothing new is stored"
            _LOG.error("%s: %s; %s", self._name, trouble, advice)
        elif before and not trouble:
            _LOG.warning("%s: %s is back", self._name, self._subject)


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows. A new row replaces a stored row with the same primary key."""
    if not rows:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    others = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    connection.execute(statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=others), rows)
