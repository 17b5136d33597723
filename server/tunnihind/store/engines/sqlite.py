"""Opens SQLite databases in files or in memory.

Before each transaction, `require_file` checks whether the file was deleted or replaced. SQLite itself would continue to
write to a deleted file, and all new data would be lost.
"""

import logging
import os
import sqlite3
import stat
import threading
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, override
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tunnihind.errors import StoreDamaged, StoreError, StoreLost
from tunnihind.settings import COMMAND
from tunnihind.store.engines.base import DatabaseSystem, OutageLog

_LOG: Final = logging.getLogger(__name__)

OWNER_ONLY: Final = 0o600
_GROUP_READS: Final = 0o640

_BUSY_TIMEOUT_S: Final = 15
_WRITES: Final = "tunnihind_writes"
_IS_LASTING: Final = "tunnihind_is_lasting"
_ENABLE_WRITE_AHEAD_LOG: Final = "PRAGMA journal_mode = WAL"

_PRIMARY_CODE: Final = 0xFF
"""SQLite's extended result codes have the primary code in their lowest byte (https://www.sqlite.org/rescode.html)."""
_MAY_PASS: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
"""Result codes: another connection has locked the file, the disk is full, or the disk had an error."""
_DAMAGED: Final = (
    "the database file is damaged ({}): stop the server, and restore a backup, or save the readable rows with "
    "`sqlite3 tunnihind.db .recover | sqlite3 recovered.db`"
)
_QUICK_CHECK: Final = "PRAGMA quick_check(1)"
"""If the file is sound, SQLite answers "ok"."""


class Sqlite(DatabaseSystem):
    """An SQLite database.

    SQLite can't announce changes, so each server checks the database for changes every few seconds. `require_rights`
    checks nothing, because opening the file or the first write fails if the server may not write to the file.
    """

    def __init__(self, url: URL, *, read_only: bool) -> None:
        """Prepare to connect. If `read_only` is false, create a missing file. Raises StoreError."""
        super().__init__(url.render_as_string())
        on_disk = url.database not in {None, "", ":memory:"}
        self.path = Path(str(url.database)) if on_disk else None
        self.is_private = self.path is None
        self._read_only = read_only
        self._outage = OutageLog(str(self.path), "the database file")
        self._lock = threading.Lock()
        if self.path is None:
            self.engine = _engine(url, read_only=read_only)
        elif read_only:
            self.engine = _reading_engine(self.path)
        else:
            _make_file(self.path)
            # With `mode=rw`, SQLite never makes a new file in place of a deleted file.
            address = url.set(database=f"file:{quote(str(self.path.absolute()))}")
            self.engine = _engine(address.update_query_dict({"mode": "rw", "uri": "true"}), read_only=False)
        self._opened_identity = _file_identity(self.path)

    @override
    def require_file(self) -> None:
        # During an outage, the file is always examined, because a new file may have the deleted file's inode number.
        if self.path is None or (self._opened_identity == _file_identity(self.path) and not self._outage.trouble):
            return
        with self._lock:
            trouble = self._find_file_problem(self.path)
            self._outage.note(trouble)
        if trouble:
            raise StoreLost(f"can't use the database {self.name}: {trouble}", reason=trouble)

    @override
    def reading(self) -> AbstractContextManager[Connection]:
        return self.engine.connect()

    @override
    def writing(self) -> AbstractContextManager[Connection]:
        return self.engine.execution_options(**{_WRITES: True}).begin()

    @override
    def writing_lease_row(self) -> AbstractContextManager[Connection]:
        """Open a transaction for writing. A power failure may undo the transaction after its commit.

        The commit is not flushed to the disk at once, because flushing each renewal of the lease would wear out a
        memory card.
        """
        return self.engine.execution_options(**{_WRITES: True, _IS_LASTING: False}).begin()

    @override
    def now(self, connection: Connection) -> int:
        return int(connection.exec_driver_sql("SELECT strftime('%s')").scalar_one())

    @override
    def look_for_damage(self, connection: Connection) -> None:
        found = connection.exec_driver_sql(_QUICK_CHECK).scalar_one()
        self.file_damage = "" if found == "ok" else _DAMAGED.format(found)

    @override
    def size(self) -> int | None:
        """Return the size of the database file and its write-ahead log in bytes, or None for a database in memory."""
        if self.path is None:
            return None
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @override
    def store_error(self, verb: str, error: SQLAlchemyError) -> StoreError:
        cause = error.orig if isinstance(error, DBAPIError) else None
        if cause is None:
            return StoreError(f"can't {verb} the database {self.name}: {error}")
        code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY_CODE
        if code == sqlite3.SQLITE_CORRUPT:
            self.file_damage = _DAMAGED.format(cause)
            return StoreDamaged(f"can't {verb} the database {self.name}: {self.file_damage}", reason=self.file_damage)
        done = "read" if verb == "read" else "written to"
        reason = f"the database can't be {done}: {cause}"
        return StoreError(f"can't {verb} the database {self.name}: {cause}", reason=reason, may_pass=code in _MAY_PASS)

    @override
    def close(self) -> None:
        if _file_identity(self.path) != self._opened_identity:
            self._close_old_file()
        super().close()

    def _close_old_file(self) -> None:
        """Copy the write-ahead log into a database file that was deleted or replaced, and close the file.

        If the write-ahead log of a replaced file remained, SQLite would apply it to the new file. Each idle connection
        of the pool still has the old file open.
        """
        if isinstance(self.engine.pool, QueuePool) and self.engine.pool.checkedin():
            with suppress(sqlite3.Error), closing(self.engine.raw_connection()) as old:
                old.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.engine.dispose()

    def _find_file_problem(self, path: Path) -> str:
        """Return the problem with the file at `path`, or an empty string if the file can be used.

        If the file is a sound copy of the opened database, the copy is used from now on.
        """
        found = _file_identity(path)
        if found == self._opened_identity and not self._outage.trouble:
            return ""
        # A connection that still has the replaced file open would write into the new file's write-ahead log, because
        # both files have the same path.
        if isinstance(self.engine.pool, QueuePool) and self.engine.pool.checkedout():
            return f"the database file has been {'deleted' if found is None else 'replaced'}, and is still in use"
        self._close_old_file()
        if found is None:
            return "the database file has been deleted"
        try:
            self._require_copy(path)
        except StoreError as error:
            return f"the database file has been replaced, and {error.reason}"
        if found != self._opened_identity:
            self._note_replacement("the database file")
        self._opened_identity = found
        return ""

    def _require_copy(self, path: Path) -> None:
        """Make sure that the file at `path` is a sound copy of this database. Raises StoreError."""
        engine = _reading_engine(path)
        try:
            with engine.connect() as connection:
                # A copy that is still being written fails `quick_check`.
                found = connection.exec_driver_sql(_QUICK_CHECK).scalar_one()
                if found != "ok":
                    raise StoreError(f"the database {self.name} is damaged: {found}", reason="the new one is damaged")
                if self._recognise is not None:
                    self._recognise(connection)
        except DBAPIError as error:
            reason = f"the new one can't be read: {error.orig}"
            raise StoreError(f"can't read the database {self.name}: {error.orig}", reason=reason) from error
        finally:
            engine.dispose()


def file_mode(path: Path | None) -> int:
    """Return the permissions of a database file. If there is no file, return `OWNER_ONLY`."""
    try:
        return OWNER_ONLY if path is None else stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return OWNER_ONLY


def _file_identity(path: Path | None) -> tuple[int, int] | None:
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _make_file(path: Path) -> None:
    """If there is no file, create an empty file. Raises StoreError.

    Only the owner and, in a setgid folder, the folder's group may read the new file. SQLite itself would usually create
    a file that everybody can read. SQLite gives its log files the permissions of the database file.
    """
    file = path.resolve()  # `path` may be a link to a file that does not exist yet
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # Opening and closing an existing file would release SQLite's locks on the file.
        if not file.exists():
            has_group = file.parent.stat().st_mode & stat.S_ISGID
            with suppress(FileExistsError):  # another process has just created the file
                os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, _GROUP_READS if has_group else OWNER_ONLY))
                _LOG.info("made a new database: sqlite:///%s", path)
    except OSError as error:
        raise StoreError(f"can't make the database {file}: {error.strerror}") from error


def _reading_engine(path: Path) -> Engine:
    """Return an SQLAlchemy engine that only reads the database file. Raises StoreError if there is no file."""
    path = path.absolute()
    if not path.exists():
        raise StoreError(
            f"there is no database at {path}: name a database with --database-url, or start `{COMMAND} serve` once"
        )
    query = {"mode": "ro", "uri": "true"}
    log = Path(f"{path}-wal")
    is_written_to = log.exists() and log.stat().st_size > 0
    if not is_written_to and not (os.access(path.parent, os.W_OK) and _can_be_read(path)):
        # Even for reading, SQLite creates log files, but can't do so in a read-only folder or on a full disk. With
        # `immutable`, SQLite creates no files.
        query["immutable"] = "1"
    return _engine(URL.create("sqlite", database=f"file:{quote(str(path))}", query=query), read_only=True)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open an existing file, and never create a file (https://www.sqlite.org/uri.html)."""
    address = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(address, uri=True, check_same_thread=False, timeout=_BUSY_TIMEOUT_S)


def _can_be_read(path: Path) -> bool:
    try:
        with closing(_connect(path, "ro")) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.Error:
        return False
    return True


def _engine(url: URL, *, read_only: bool) -> Engine:
    engine = create_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_S})
    event.listen(engine, "connect", _set_up_reading if read_only else _set_up_writing)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def _set_up_reading(connection: sqlite3.Connection, _record: object) -> None:
    # `_begin_transaction` begins the transactions, so the driver must not begin them.
    connection.isolation_level = None
    # With strict decoding, one string that is not UTF-8 would stop the reading of all rows.
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")


def _set_up_writing(connection: sqlite3.Connection, _record: object) -> None:
    _set_up_reading(connection, _record)
    _enable_write_ahead_log(connection)  # with a write-ahead log, readers never wait for a writer


def _enable_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Make SQLite use a write-ahead log, even if another process switches the log on at the same time."""
    try:
        connection.execute(_ENABLE_WRITE_AHEAD_LOG)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        # While another process switches the write-ahead log on, SQLite raises an error at once instead of waiting.
        # BEGIN IMMEDIATE waits until the other process has finished.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
        connection.execute(_ENABLE_WRITE_AHEAD_LOG)


def _begin_transaction(connection: Connection) -> None:
    options = connection.get_execution_options()
    writes: Any = options.get(_WRITES, False)
    if writes:
        # With `synchronous = FULL`, a commit returns only after its data are on the disk.
        synchronous = "FULL" if options.get(_IS_LASTING, True) else "NORMAL"
        connection.exec_driver_sql(f"PRAGMA synchronous = {synchronous}")
    # After a plain BEGIN, a transaction's first write fails if another connection has written since the first read.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
