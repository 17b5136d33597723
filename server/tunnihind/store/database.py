"""The connection to the database: opening it, reading and writing transactions, and errors in plain words."""

import logging
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from tunnihind.errors import SettingsError, StoreError, StoreLost
from tunnihind.store.file import OWNER_ONLY, DatabaseFile
from tunnihind.store.rows import DamageLog

_LOG: Final = logging.getLogger(__name__)

_BUSY_TIMEOUT_S: Final = 15
_WRITES: Final = "tunnihind_writes"
_WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"

type Recognise = Callable[[Connection], None]
"""Raises StoreError where a database is not the one that was opened, nor a copy of it."""


class Database:
    """An SQL database; every access is one transaction of `reading` or `writing`.

    An SQLite file that is deleted or replaced is noticed at the next access. SQLite itself would go on with a file that
    has no name any more, and lose all that it writes.
    """

    def __init__(self, url: str, *, read_only: bool = False, damage: DamageLog | None = None) -> None:
        """Prepare to connect. Raises SettingsError for an address that is none, StoreError."""
        self.url = _parsed(url)
        self.read_only = read_only
        path = self.path
        self._file = None if path is None else DatabaseFile(path)
        self.damage = damage or DamageLog()
        self._engine = self._open()
        self._recognise: Recognise | None = None
        self._anchor: sqlite3.Connection | None = None
        self._trouble = ""
        self._lock = threading.Lock()
        self._use = threading.Condition()
        self._users = 0
        self._is_closed = False

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a file of the user's own."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path | None:
        """The SQLite file, None for a database server or one in memory."""
        on_disk = self.is_sqlite and self.url.database not in {None, "", ":memory:"} and "uri" not in self.url.query
        return Path(str(self.url.database)) if on_disk else None

    @property
    def file_mode(self) -> int:
        """The permissions of the SQLite file, the owner's only where there is none: for what is kept beside it."""
        return OWNER_ONLY if self._file is None else self._file.mode()

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a consistent view of the data. Raises StoreError."""
        self._require_file()
        with self._used(), self._plain_errors("read"), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is kept whole or not at all. Raises StoreError."""
        if self.read_only:
            raise StoreError(f"the database {self} was opened for reading only")
        self._require_file()
        engine = self._engine.execution_options(**{_WRITES: True})
        with self._used(), self._plain_errors("write"), engine.begin() as connection:
            yield connection

    def go_on_only_if(self, recognise: Recognise) -> None:
        """Have another file in this one's place looked at before it is used."""
        self._recognise = recognise
        self._hold()

    def replace_by(self, other: Database) -> None:
        """Go on with what another object has opened at the same address, which is not to be used any more."""
        earlier, self._engine = self._engine, other._engine
        self._file, self._anchor, self.read_only = other._file, other._anchor, other.read_only
        earlier.dispose()

    def close(self) -> None:
        """Wait for the transactions that are open in other threads, and give all connections back.

        A task that is cancelled leaves its thread behind, which would open files again in a folder that is about to go.
        """
        with self._use:
            self._is_closed = True
            self._use.wait_for(lambda: not self._users)
        self._engine.dispose()
        if self._anchor is not None:
            self._anchor.close()

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Hold `close` up. Raises StoreError once the database is closed."""
        with self._use:
            if self._is_closed:
                raise StoreError(f"the database {self} is closed")
            self._users += 1
        try:
            yield
        finally:
            with self._use:
                self._users -= 1
                self._use.notify_all()

    def _open(self) -> Engine:
        if not self.is_sqlite:
            return create_engine(self.url)
        if self._file is None:
            return _sqlite_engine(self.url, read_only=self.read_only)
        if self.read_only:
            engine = _reading_engine(self._file)
        else:
            if self._file.make():
                _LOG.info("made a new database: %s", self)
            engine = _writing_engine(self._file, self.url)
        self._file.remember()
        return engine

    def _hold(self) -> None:
        """Hold on to the file that is open, as long as it is: see `_let_go`."""
        if self._file is None or self.read_only:
            return
        try:
            self._anchor = sqlite3.connect(_address(self._file, "rw"), uri=True, check_same_thread=False)
            self._anchor.execute("SELECT 1 FROM sqlite_master LIMIT 1").close()
        except sqlite3.Error as error:
            raise StoreError(f"can't read the database {self}: {error}", reason=f"it can't be read: {error}") from error

    def _let_go(self) -> None:
        """Close a file that is no longer at its path, with all that was written to it.

        SQLite would leave the write-ahead log behind, and read it as the log of the next file at that path. So the log
        is first written into its own file, by a connection that is certain to have that file open.
        """
        if self._anchor is not None:
            with suppress(sqlite3.Error), closing(self._anchor):
                self._anchor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._anchor = None
        self._engine.dispose()

    def _require_file(self) -> None:
        """Make sure that the file is the one that was opened, or a copy of it. Raises StoreLost."""
        if self._file is None or (self._file.is_same() and not self._trouble):
            return
        with self._lock:
            trouble = self._examine(self._file)
            if trouble and trouble != self._trouble:
                advice = "what was read before is served on, and nothing new is stored, until it is back"
                _LOG.error("%s: %s; %s", self._file.path, trouble, advice)
            elif self._trouble and not trouble:
                _LOG.warning("%s: the database file is back", self._file.path)
            self._trouble = trouble
        if trouble:
            raise StoreLost(f"can't use the database {self}: {trouble}", reason=trouble)

    def _examine(self, file: DatabaseFile) -> str:
        """Return what is wrong with the file at the database's path, nothing where it is the one or a copy."""
        # Once a file is deleted and closed, another may get its number.
        if file.is_same() and not self._trouble:
            return ""
        self._let_go()
        if not file.is_there():
            return "the database file has been deleted"
        try:
            self._require_copy(file)
        except StoreError as error:
            return f"the database file has been replaced, and {error.reason}"
        file.remember()
        self._hold()
        return ""

    def _require_copy(self, file: DatabaseFile) -> None:
        """Make sure that another file is whole, and a copy of this database. Raises StoreError."""
        engine = _reading_engine(file)
        try:
            with self._plain_errors("read"), engine.connect() as connection:
                # A copy that is still being made may begin as it should.
                found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one()
                if found != "ok":
                    raise StoreError(f"the database {self} is damaged: {found}", reason="the new one is damaged")
                if self._recognise is not None:
                    self._recognise(connection)
        finally:
            engine.dispose()

    @contextmanager
    def _plain_errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            done = "read" if verb == "read" else "written to"
            reason = f"the database can't be {done}: {error.orig}"
            raise StoreError(f"can't {verb} the database {self}: {error.orig}", reason=reason) from error
        except SQLAlchemyError as error:
            raise StoreError(f"can't {verb} the database {self}: {error}") from error


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        create_engine(parsed)  # connects to nothing yet, and finds what is wrong
    except ImportError as error:
        message = f"database-url names {parsed.drivername}, whose driver is not installed ({error.name})"
        raise SettingsError(message) from error
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        shown = re.sub(r":[^:@]*@", ":***@", url)
        message = f"database-url is {shown!r}: give an address such as sqlite:////var/lib/tunnihind/tunnihind.db"
        raise SettingsError(message) from error
    return parsed


def _reading_engine(file: DatabaseFile) -> Engine:
    """Return an engine that neither creates nor changes the file. Raises StoreError."""
    path = file.path.absolute()
    if not path.exists():
        raise StoreError(
            f"there is no database at {path}: name it with --database-url, or start `tunnihind serve` once"
        )
    query = {"mode": "ro", "uri": "true"}
    if not file.has_log() and not (os.access(path.parent, os.W_OK) and _opens(_address(file, "ro"))):
        # In a folder that can't be written to, or on a full disk, SQLite could not make a write-ahead log to read with.
        # Without one nobody is writing.
        query["immutable"] = "1"
    return _sqlite_engine(URL.create("sqlite", database=f"file:{quote(str(path))}", query=query), read_only=True)


def _writing_engine(file: DatabaseFile, url: URL) -> Engine:
    """Return an engine that writes to the file, and never makes another where it has been deleted."""
    address = url.set(database=f"file:{quote(str(file.path.absolute()))}")
    return _sqlite_engine(address.update_query_dict({"mode": "rw", "uri": "true"}), read_only=False)


def _address(file: DatabaseFile, mode: str) -> str:
    """Return the URI by which SQLite opens a file, and makes none (https://www.sqlite.org/uri.html)."""
    return f"file:{quote(str(file.path.absolute()))}?mode={mode}"


def _opens(address: str) -> bool:
    """Return whether SQLite can read a file as it is."""
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.Error:
        return False
    return True


def _sqlite_engine(url: URL, *, read_only: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up_reading if read_only else _set_up_writing)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up_reading(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, not at the first write
    # A text that is not UTF-8 would end the reading of all rows.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")


def _set_up_writing(connection: sqlite3.Connection, _record: object) -> None:
    _set_up_reading(connection, _record)
    # Readers never wait for the writer; a commit is on the disk before it is called done.
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = FULL")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn to the write-ahead log, in turn with other processes that have just opened the same new file."""
    try:
        connection.execute(_WRITE_AHEAD)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        # Unlike a transaction, this one is refused at once where another process is at it.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
        connection.execute(_WRITE_AHEAD)


def _begin(connection: Connection) -> None:
    writes: Any = connection.get_execution_options().get(_WRITES, False)
    # A transaction that reads first and then writes would fail at once if another process wrote in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
