"""The connection to the database: opening it, reading and writing transactions, and errors in plain words."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from tunnihind.errors import SettingsError, StoreError

_BUSY_TIMEOUT_S: Final = 15
_WRITES: Final = "tunnihind_writes"
_WRITE_AHEAD: Final = "PRAGMA journal_mode = WAL"


class Database:
    """An SQL database; every access is one transaction of `reading` or `writing`."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        """Prepare to connect. Raises SettingsError for an address that is none, StoreError."""
        self.url = _parsed(url)
        self.read_only = read_only
        self._engine = _sqlite_engine(self.url, read_only) if self.is_sqlite else create_engine(self.url)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is a file of the user's own."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def path(self) -> Path | None:
        """The SQLite file, None for a database server or one in memory."""
        on_disk = self.is_sqlite and self.url.database not in {None, "", ":memory:"}
        return Path(str(self.url.database)) if on_disk else None

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a consistent view of the data. Raises StoreError."""
        with self._plain_errors("read"), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is kept whole or not at all. Raises StoreError."""
        if self.read_only:
            raise StoreError(f"the database {self} was opened for reading only")
        with self._plain_errors("write"), self._engine.execution_options(**{_WRITES: True}).begin() as connection:
            yield connection

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    @contextmanager
    def _plain_errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StoreError(f"can't {verb} the database {self}: {error.orig}") from error
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


def _sqlite_engine(url: URL, read_only: bool) -> Engine:
    if url.database and url.database != ":memory:":
        url = _read_only_file(url) if read_only else _with_folder(url)
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up_reading if read_only else _set_up_writing)
    event.listen(engine, "begin", _begin)
    return engine


def _with_folder(url: URL) -> URL:
    folder = Path(str(url.database)).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"can't make the folder {folder} for the database: {error.strerror}") from error
    return url


def _read_only_file(url: URL) -> URL:
    """Address the file so that SQLite neither creates nor changes it."""
    path = Path(str(url.database)).absolute()
    if not path.exists():
        raise StoreError(
            f"there is no database at {path}: name it with --database-url, or start `tunnihind serve` once"
        )
    query = {"mode": "ro", "uri": "true"}
    if not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists():
        # Without a write-ahead log beside it nobody is writing, and SQLite could not make its own to read with.
        query["immutable"] = "1"
    return url.set(database=f"file:{quote(str(path))}", query=query)


def _set_up_reading(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, not at the first write


def _set_up_writing(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
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
