"""Opens and counts transactions on the database, and turns SQLAlchemy's errors into StoreErrors."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal, Protocol

from sqlalchemy import Connection
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from tunnihind.errors import StoreError, StoreLost
from tunnihind.store.address import parse_address
from tunnihind.store.engines.base import DatabaseSystem
from tunnihind.store.engines.sqlite import Sqlite, file_mode

type Verb = Literal["read", "write"]


class TransactionCounter(Protocol):
    """A function that counts finished transactions. Several threads may call it at once."""

    def __call__(self, verb: Verb, seconds: float, /, *, failed: bool) -> None:
        """Count a transaction that was open for `seconds`. `failed` is true if the database caused an error."""


class _OpenTransactions(threading.local):
    """The transactions that are open in one thread, for the contexts within them."""

    reading: Connection | None = None
    writing: Connection | None = None


def _count_nothing(_verb: Verb, _seconds: float, /, *, failed: bool) -> None:
    """Count nothing."""


class Database:
    """An SQL database. If the database is deleted or replaced, the next transaction notices it."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        """Prepare to connect. Raises SettingsError for a malformed address, and StoreError for an unusable file."""
        self.url = parse_address(url)
        self.read_only = read_only
        self.system = _database_system(self.url, read_only=read_only)
        """The connections to SQLite or PostgreSQL. `replace_by` replaces this object."""
        self._count: TransactionCounter = _count_nothing
        self._check_before_commit: Callable[[Connection], None] | None = None
        self._open = _OpenTransactions()
        self._users_condition = threading.Condition()
        self._users = 0
        self._is_closed = False

    @property
    def file_mode(self) -> int:
        """The permissions of the SQLite file and its log files, or `OWNER_ONLY` if there is no file."""
        return file_mode(self.system.path)

    def __str__(self) -> str:
        return self.system.name

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a consistent view of the data. Raises StoreError.

        Within `writing` or `one_view`, use the transaction that this thread has open.
        """
        shared = self._open.reading if self._open.writing is None else self._open.writing
        if shared is not None:
            yield shared
            return
        with self._access("read"), self.system.reading() as connection:
            yield connection

    @contextmanager
    def one_view(self) -> Iterator[None]:
        """Within this context, all reads of this thread share one consistent view of the data. Raises StoreError."""
        with self.reading() as connection:
            self._open.reading = connection
            try:
                yield
            finally:
                self._open.reading = None

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction for writing. Only one such transaction is open at a time. Raises StoreError.

        All reads and writes of this thread within this context belong to the transaction: all writes are kept, or none.
        So an error must leave the outermost of such contexts.
        """
        if self._open.writing is not None:
            yield self._open.writing
            return
        with self._access("write"), self.system.writing() as connection:
            self._open.writing = connection
            try:
                yield connection
            finally:
                self._open.writing = None
            if self._check_before_commit is not None:
                self._check_before_commit(connection)

    @contextmanager
    def writing_lease_row(self) -> Iterator[Connection]:
        """Open a short transaction that changes the lease. Raises StoreError.

        On PostgreSQL, the transaction usually doesn't wait for other writers. On SQLite, a power failure may undo the
        transaction after its commit. The check that `set_commit_check` sets is skipped.
        """
        with self._access("write"), self.system.writing_lease_row() as connection:
            yield connection

    def set_commit_check(self, check: Callable[[Connection], None]) -> None:
        """From now on, call `check` before each commit of `writing`. An error in `check` rolls the transaction back."""
        self._check_before_commit = check

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a transaction for long work, such as an upgrade of the tables. Raises StoreError.

        The check that `set_commit_check` sets is skipped.
        """
        with self._access("write"), self.system.migrating() as connection:
            yield connection

    def require_rights(self, tables: Iterable[str]) -> None:
        """On PostgreSQL, make sure that this process may write to `tables`. Raises StoreError."""
        with self._access("read"):
            self.system.require_rights(tables)

    def size(self) -> int | None:
        """Return the size of the database in bytes, or None if it is in memory. Raises StoreError."""
        with self._access("read"):
            return self.system.size()

    def replace_by(self, other: Database) -> None:
        """Take over the connections of `other`, which has the same address. Do not use `other` again."""
        earlier, self.system = self.system, other.system
        self.read_only = other.read_only
        earlier.close()

    def set_transaction_counter(self, count: TransactionCounter) -> None:
        """From now on, call `count` after each transaction."""
        self._count = count

    def close(self) -> None:
        """Close all connections, as soon as the open transactions of other threads have ended.

        Without this wait, the thread of a cancelled task could still write files into a folder that is being deleted.
        """
        with self._users_condition:
            self._is_closed = True
            self._users_condition.wait_for(lambda: not self._users)
        self.system.close()

    @contextmanager
    def _access(self, verb: Verb) -> Iterator[None]:
        """Make sure that the database can be used, and count and time the transaction of the `with` block.

        Until the block ends, `close` waits. SQLAlchemy's errors become StoreErrors in plain words.
        """
        if verb == "write" and self.read_only:
            raise StoreError(f"the database {self} was opened for reading only")
        with self._users_condition:
            if self._is_closed:
                raise StoreError(f"the database {self} is closed")
            self._users += 1
        system, started, failed = self.system, perf_counter(), True
        try:
            system.require_file()
            yield
            failed = False
        except SQLAlchemyError as error:
            raise system.store_error(verb, error) from error
        except StoreLost:
            raise
        except BaseException:
            failed = False  # the error usually comes from the caller, not from the database
            raise
        finally:
            self._count(verb, perf_counter() - started, failed=failed)
            with self._users_condition:
                self._users -= 1
                self._users_condition.notify_all()


def _database_system(url: URL, *, read_only: bool) -> DatabaseSystem:
    if url.get_backend_name() == "sqlite":
        return Sqlite(url, read_only=read_only)
    from tunnihind.store.engines.postgresql import Postgresql  # noqa: PLC0415  not needed without a database server

    return Postgresql(url)
