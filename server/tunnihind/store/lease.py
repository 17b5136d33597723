"""Makes sure that only one of several servers on a database runs the pipeline.

The lease is a row with its holder's token. The holder renews it every few seconds, by the database's clock. A process
that takes the lease over writes another token. A write of the pipeline is kept only if the row still has the writer's
token (`Lease.require`). So a holder that was frozen or cut off writes nothing any more when it comes back.
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
from tunnihind.store.rows import Instant, Plain, Shape, TableRows
from tunnihind.store.schema import leases as table

BEAT_EVERY_S: Final = 3.0
"""A holder renews its claim this often."""

LOOK_EVERY_S: Final = 1.0
"""The other servers check this often whether the holder beats. Checking does not write."""

EXPIRES_AFTER_S: Final = 10
"""A holder that has been silent for longer counts as dead. It has missed three beats."""

CONFIRMED_AFTER_S: Final = 5.0
"""A process that takes the lease over has itself seen no beat for this long. So a holder survives if a clock is set
forward."""

_INSERT_NEW: Final = text(
    "INSERT INTO leases (name, token, host, pid, beat_ts) VALUES (:name, :token, :host, :pid, :beat_ts)"
    " ON CONFLICT DO NOTHING"
)
_MOST_WAITED_S: Final = 2.0
_HIGHEST_PID: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lease. `beat_ts` is its last beat by the database's clock, unix seconds UTC."""

    host: str
    pid: int
    beat_ts: int


class _LeaseRow(Shape):
    """A row of the table. A process's number is never 0 or less, because that would address a group."""

    name: Plain
    token: Plain
    host: Plain
    pid: Annotated[int, msgspec.Meta(ge=1, le=_HIGHEST_PID)]
    beat_ts: Instant


class Lease:
    """One process's claim to a job. `claim` it again every `BEAT_EVERY_S` to keep it."""

    def __init__(
        self, database: Database, name: str = "pipeline", *, steady: Callable[[], float] = time.monotonic
    ) -> None:
        """Make a claim. `steady` returns the seconds of a clock that is never set."""
        self._database = database
        self._name = name
        self._steady = steady
        self._token = uuid.uuid4().hex
        self._host = socket.gethostname()
        self._rows = TableRows(table, _LeaseRow, list, database.damage)
        self._is_ours = table.c.name == name, table.c.token == self._token
        self._watched: _LeaseRow | None = None
        self._watched_since = 0.0
        self._beaten_at: float | None = None
        self._is_given_up = False
        self._turn = threading.Lock()

    @property
    def is_safe(self) -> bool:
        """Whether no other process can have taken over the lease since this one's last beat.

        If we can't write to a shared file, no other process can either. But a database server may be out of reach for
        us alone.
        """
        if self._beaten_at is None:
            return False
        return self._database.system.path is not None or self._steady() - self._beaten_at <= EXPIRES_AFTER_S

    def claim(self) -> bool:
        """Take or keep the lease, and return whether it is ours. After `release` it never is. Raises StoreError."""
        with self._turn:
            return not self._is_given_up and self._claim()

    def require(self, connection: Connection) -> None:
        """Make sure, as the last act of a transaction, that the lease is still ours. Raises LeaseLost.

        Nobody can take it over until the transaction has ended.
        """
        holds = select(table.c.name).where(*self._is_ours).with_for_update(read=True)
        if connection.execute(holds).first() is None:
            raise LeaseLost("another server runs the pipeline: this one's last write is not kept")

    def release(self) -> None:
        """Give up the lease for good. Raises StoreError."""
        with self._turn:
            self._is_given_up, self._beaten_at = True, None
            with self._database.writing_beside() as connection:
                connection.execute(delete(table).where(*self._is_ours))

    def holder(self) -> Holder | None:
        """Return the recorded holder of the lease, alive or not. Raises StoreError."""
        with self._database.reading() as connection:
            row = self._read(connection)
        return None if row is None else Holder(row.host, row.pid, row.beat_ts)

    def _claim(self) -> bool:
        started = self._steady()
        try:
            with self._database.reading() as connection:
                held, now = self._read(connection), self._database.system.now(connection)
        except StoreError:
            # While we can't read, the holder may be unable to write.
            self._watched = None
            raise
        if held is not None and held.token != self._token and self._is_alive(held, now):
            self._beaten_at = None
            return False
        taken = self._take(held)
        self._beaten_at = started if taken else None
        return taken

    def _read(self, connection: Connection) -> _LeaseRow | None:
        return self._rows.first(connection, table.c.name == self._name)

    def _take(self, held: _LeaseRow | None) -> bool:
        """Write our token and a beat into the row. If the row has changed since it was read, only return False."""
        asked = self._steady()
        with self._database.writing_beside() as connection:
            if held is not None and held.token != self._token and self._steady() - asked > _MOST_WAITED_S:
                # Another transaction has written for a long time. The holder may have waited too.
                self._watched = None
                return False
            ours = {"token": self._token, "host": self._host, "pid": os.getpid()}
            beat = ours | {"beat_ts": self._database.system.now(connection)}
            if held is not None:
                as_read = table.c.name == self._name, table.c.token == held.token, table.c.beat_ts == held.beat_ts
                return connection.execute(update(table).where(*as_read).values(beat)).rowcount == 1
            self._rows.remove_damaged(connection, table.c.name == self._name)
            return connection.execute(_INSERT_NEW, {"name": self._name, **beat}).rowcount == 1

    def _is_alive(self, holder: _LeaseRow, now: int) -> bool:
        # After a kill, the next server on this machine need not wait. With a database server, two hosts may have the
        # same name.
        if self._database.system.path is not None and holder.host == self._host and not _runs(holder.pid):
            return False
        silent_s = self._silence_of(holder)
        if now - holder.beat_ts > EXPIRES_AFTER_S:
            return silent_s <= CONFIRMED_AFTER_S
        # If the clock was set back, a dead holder would seem alive. So only our own observation counts.
        return silent_s <= EXPIRES_AFTER_S

    def _silence_of(self, holder: _LeaseRow) -> float:
        """Return for how many seconds this process has watched a holder without a beat."""
        if holder != self._watched:
            self._watched, self._watched_since = holder, self._steady()
        return self._steady() - self._watched_since


def _runs(pid: int) -> bool:
    if pid == os.getpid():
        return False  # an earlier process had our number, as in a restarted container
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
