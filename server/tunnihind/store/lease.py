"""Makes sure that of several servers on one database only one runs the pipeline."""

import os
import socket
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import msgspec
from sqlalchemy import Connection, delete, insert, update

from tunnihind.store.database import Database
from tunnihind.store.rows import Instant, Rows
from tunnihind.store.schema import leases as table

EXPIRES_AFTER_S: Final = 120
"""A holder that has not answered for this long counts as dead."""
_HIGHEST_PID: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lease."""

    host: str
    pid: int
    beat_ts: int


class _Row(msgspec.Struct):
    """A row of the table; a process's number is never 0 or less, which would address a group."""

    token: str
    host: str
    pid: Annotated[int, msgspec.Meta(ge=1, le=_HIGHEST_PID)]
    beat_ts: Instant


class Lease:
    """One process's claim to a job; `claim` again at least once a minute to keep it."""

    def __init__(self, database: Database, name: str = "pipeline") -> None:
        self._database = database
        self._name = name
        self._token = uuid.uuid4().hex
        self._host = socket.gethostname()
        self._rows = Rows(table, partial(msgspec.convert, type=_Row), database.damage)

    def claim(self, now: int) -> bool:
        """Take or keep the job; return whether it is ours. Raises StoreError."""
        with self._database.writing() as connection:
            holder = self._read(connection)
            if holder is not None and holder.token == self._token:
                connection.execute(update(table).where(table.c.name == self._name).values(beat_ts=now))
                return True
            if holder is not None and self._is_alive(holder, now):
                return False
            connection.execute(delete(table).where(table.c.name == self._name))
            connection.execute(
                insert(table).values(name=self._name, token=self._token, host=self._host, pid=os.getpid(), beat_ts=now)
            )
            return True

    def release(self) -> None:
        """Give the job up. Raises StoreError."""
        with self._database.writing() as connection:
            connection.execute(delete(table).where(table.c.name == self._name, table.c.token == self._token))

    def holder(self) -> Holder | None:
        """Return who holds the job by the book, alive or not. Raises StoreError."""
        with self._database.reading() as connection:
            row = self._read(connection)
        return None if row is None else Holder(row.host, row.pid, row.beat_ts)

    def _read(self, connection: Connection) -> _Row | None:
        return self._rows.first(connection, table.c.name == self._name)

    def _is_alive(self, holder: _Row, now: int) -> bool:
        # After a kill the next server on this machine need not wait. A beat from the future is a clock set back.
        if holder.host == self._host and not _runs(holder.pid):
            return False
        return abs(now - holder.beat_ts) <= EXPIRES_AFTER_S


def _runs(pid: int) -> bool:
    if pid == os.getpid():
        return False  # a process that had our number before us, as in a restarted container
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
