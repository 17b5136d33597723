"""Lets only one process at a time run the pipeline on a database.

The lease is a row in the table `leases` with the holder's token. Every few seconds, the holder writes the time of the
database's clock into the lease. A process that takes over the lease writes its own token into the lease. A write of the
pipeline is kept only if the lease still contains the writer's token (`Lease.require_held`). So a holder that was frozen
can store nothing after another process has taken over the lease.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from sqlalchemy import Connection, delete, select, text, update

from tunnihind.errors import LeaseLost, StoreError
from tunnihind.store.database import Database
from tunnihind.store.rows import EARLIEST, LATEST, Instant, StoredRow, TableRows, TextWithoutNul
from tunnihind.store.schema import leases as table

BEAT_EVERY_S: Final = 3.0
"""The seconds between two renewals of the lease by its holder."""

LOOK_EVERY_S: Final = 1.0
"""The seconds between two checks of the lease by a process that waits for the lease."""

EXPIRES_AFTER_S: Final = 10
"""After this many seconds without a renewal, another process may take over the lease, unless `CONFIRMED_AFTER_S`
makes it wait longer. In this time, a living holder would have renewed the lease three times."""

CONFIRMED_AFTER_S: Final = 5.0
"""If a holder may be alive, a process waits at least this many seconds for a renewal before it takes over the lease.
So a living holder keeps its lease even if the database's clock is set forward."""

_NAME: Final = "pipeline"
"""The primary key of the lease's row."""
_MAX_WAITED_S: Final = 2.0
_HIGHEST_PID: Final = 2**31 - 1
_INSERT: Final = text(
    "INSERT INTO leases (name, token, host, pid, beat_ts) VALUES (:name, :token, :host, :pid, :beat_ts)"
    " ON CONFLICT (name) DO UPDATE SET token = :token, host = :host, pid = :pid, beat_ts = :beat_ts"
    " WHERE (leases.pid BETWEEN 1 AND :highest_pid AND leases.beat_ts BETWEEN :earliest AND :latest) IS NOT TRUE"
).bindparams(highest_pid=_HIGHEST_PID, earliest=EARLIEST, latest=LATEST)
"""Inserts the row of the lease. Only a damaged row is replaced."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lease.

    `beat_ts` is the time of the holder's last renewal in unix seconds UTC, by the database's clock.
    """

    host: str
    pid: int
    beat_ts: int


class _LeaseRow(StoredRow):
    """A row of the table `leases`. `pid` is at least 1, because `os.kill` takes lower ids as groups of processes."""

    name: TextWithoutNul
    token: TextWithoutNul
    host: TextWithoutNul
    pid: Annotated[int, msgspec.Meta(ge=1, le=_HIGHEST_PID)]
    beat_ts: Instant


class Lease:
    """Claims, renews and releases the pipeline's lease. To keep it, call `claim` every `BEAT_EVERY_S` seconds."""

    def __init__(self, database: Database, *, steady: Callable[[], float] = time.monotonic) -> None:
        """`steady` is a monotonic clock in seconds."""
        self._database = database
        self._steady = steady
        self._token = uuid.uuid4().hex
        self._host = socket.gethostname()
        self._rows = TableRows(table, _LeaseRow, list, database)
        self._own_row = table.c.name == _NAME, table.c.token == self._token
        self._watched: _LeaseRow | None = None
        self._watched_since = 0.0
        self._renewed_at: float | None = None
        self._is_given_up = False
        self._lock = threading.Lock()

    @property
    def is_certainly_held(self) -> bool:
        """True if this process certainly still holds the lease.

        If the database is a file, the lease counts as held until `claim` returns False or `release` is called. If the
        database is on a server, the lease counts as held only for `EXPIRES_AFTER_S` seconds after each renewal, because
        another process may reach the server when this process can't.
        """
        if self._renewed_at is None:
            return False
        return self._database.system.path is not None or self._steady() - self._renewed_at <= EXPIRES_AFTER_S

    def claim(self) -> bool:
        """Try to take or renew the lease, and return whether this process holds it. Raises StoreError.

        If `release` has been called, return False.
        """
        with self._lock:
            return not self._is_given_up and self._claim()

    def require_held(self, connection: Connection) -> None:
        """Make sure that this process still holds the lease. Raises LeaseLost.

        Call this method at the end of a transaction. After the call, no process can take over the lease until the
        transaction has ended.
        """
        holds = select(table.c.name).where(*self._own_row).with_for_update(read=True)
        if connection.execute(holds).first() is None:
            raise LeaseLost("another server runs the pipeline, so this server's last write is not kept")

    def release(self) -> None:
        """Give up the lease. After this call, `claim` always returns False. Raises StoreError."""
        with self._lock:
            self._is_given_up, self._renewed_at = True, None
            with self._database.writing_lease_row() as connection:
                connection.execute(delete(table).where(*self._own_row))

    def holder(self) -> Holder | None:
        """Return the recorded holder, even if it is dead. Raises StoreError."""
        with self._database.reading() as connection:
            row = self._read_row(connection)
        return None if row is None else Holder(row.host, row.pid, row.beat_ts)

    def _claim(self) -> bool:
        started = self._steady()
        try:
            with self._database.reading() as connection:
                held, now = self._read_row(connection), self._database.system.now(connection)
        except StoreError:
            # While the database can't be read, the holder's silence does not prove that the holder is dead.
            self._watched = None
            raise
        if held is not None and held.token != self._token and self._is_alive(held, now):
            self._renewed_at = None
            return False
        taken = self._take(held)
        self._renewed_at = started if taken else None
        return taken

    def _read_row(self, connection: Connection) -> _LeaseRow | None:
        return self._rows.first_sound_object(connection, table.c.name == _NAME)

    def _take(self, held: _LeaseRow | None) -> bool:
        """Try to record this process as the lease's holder, and return whether it was recorded.

        If the lease was renewed or taken over after `held` was read, nothing is recorded. If another process holds the
        lease, and writing begins only after more than `_MAX_WAITED_S` seconds, nothing is recorded either.
        """
        asked = self._steady()
        with self._database.writing_lease_row() as connection:
            if held is not None and held.token != self._token and self._steady() - asked > _MAX_WAITED_S:
                # This process had to wait before it could write, so a living holder may be waiting to renew the lease.
                self._watched = None
                return False
            ours = {"token": self._token, "host": self._host, "pid": os.getpid()}
            beat = ours | {"beat_ts": self._database.system.now(connection)}
            if held is not None:
                as_read = table.c.name == _NAME, table.c.token == held.token, table.c.beat_ts == held.beat_ts
                return connection.execute(update(table).where(*as_read).values(beat)).rowcount == 1
            return connection.execute(_INSERT, {"name": _NAME, **beat}).rowcount == 1

    def _is_alive(self, holder: _LeaseRow, now: int) -> bool:
        # The process id is checked only if the database is a file, because several machines with the same name may use
        # one database server.
        if self._database.system.path is not None and holder.host == self._host and not _is_running(holder.pid):
            return False
        silent_s = self._seconds_since_renewal(holder)
        if now - holder.beat_ts > EXPIRES_AFTER_S:
            return silent_s <= CONFIRMED_AFTER_S
        # A recent `beat_ts` does not prove that the holder is alive: the database's clock may have been set back.
        return silent_s <= EXPIRES_AFTER_S

    def _seconds_since_renewal(self, holder: _LeaseRow) -> float:
        if holder != self._watched:
            self._watched, self._watched_since = holder, self._steady()
        return self._steady() - self._watched_since


def _is_running(pid: int) -> bool:
    if pid == os.getpid():
        return False  # an earlier process had this process's id, for example before a restart of the container
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
