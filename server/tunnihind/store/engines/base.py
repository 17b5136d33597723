"""The interface of a database system to the store, and the part that all of them share."""

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
"""Raises StoreError if a database is not the one that was opened, nor a copy of it."""


class System:
    """One database of a database system. It does nothing where only another system has anything to do."""

    engine: Engine

    path: Path | None = None
    """Its file; None for a database without one."""

    is_private = False
    """Whether no other process sees it, as one in memory."""

    tells_of_changes = False
    """Whether `changes` yields what other processes announce."""

    def __init__(self, name: str) -> None:
        """Take the database's address without its password."""
        self.name = name
        self.copies = 0
        """How often a copy, maybe an older one, has taken its place since it was opened."""
        self.damage = ""
        """Advice to the operator about parts that were found unreadable, empty where none were."""
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
        """Open a short transaction beside that of a writer, as far as the system can; a power failure may undo it.

        Raises SQLAlchemyError, StoreError.
        """

    def migrating(self) -> AbstractContextManager[Connection]:
        """Open a transaction as `writing` does, which may take long and waits for long. Raises as that does."""
        return self.writing()

    @abstractmethod
    def now(self, connection: Connection) -> int:
        """Return the time by the database's clock, unix seconds UTC: the same for all who use it."""

    def announce(self, connection: Connection) -> None:
        """Tell all servers, once this transaction is kept, that what they serve has changed."""

    async def changes(self) -> AsyncGenerator[None]:
        """Yield as soon as we listen, and whenever a process has announced a change. Raises StoreError."""
        for _ in ():
            yield

    def require_rights(self, tables: Iterable[str]) -> None:
        """Make sure that these tables may be written to. Raises StoreError."""

    def look_for_damage(self, connection: Connection) -> None:
        """Note in `damage` what is wrong with the database, nothing where it is whole. Raises SQLAlchemyError."""

    @abstractmethod
    def size(self) -> int | None:
        """Return how many bytes the database takes, None for one in memory. Raises SQLAlchemyError, StoreError."""

    def go_on_only_if(self, recognise: Recognise) -> None:
        """Have another database in this one's place looked at before it is used. Raises StoreError."""
        self._recognise = recognise

    @abstractmethod
    def error(self, verb: str, error: SQLAlchemyError) -> StoreError:
        """Return what went wrong in plain words, without a password; `verb` is "read" or "write"."""

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


class Outage:
    """What is wrong with a database that was in use; told in the log once, as is its end."""

    def __init__(self, name: str, what: str) -> None:
        self._name = name
        self._what = what
        self._lock = threading.Lock()
        self.trouble = ""

    def note(self, trouble: str) -> None:
        """Note what is wrong, nothing where all is well."""
        with self._lock:
            before, self.trouble = self.trouble, trouble
        if trouble and trouble != before:
            advice = "what was read before is served on, and nothing new is stored, until it is back"
            _LOG.error("%s: %s; %s", self._name, trouble, advice)
        elif before and not trouble:
            _LOG.warning("%s: %s is back", self._name, self._what)


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert whole rows, each in place of the one with its key where there is one."""
    if not rows:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    others = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    connection.execute(statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=others), rows)
