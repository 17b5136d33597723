"""Makes sure that of several servers on one database only one runs the pipeline."""

import os
import socket
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row, delete, insert, select, update

from tunnihind.store.database import Database
from tunnihind.store.schema import leases as table

EXPIRES_AFTER_S: Final = 120
"""A holder that has been silent for so long is taken for dead."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lease."""

    host: str
    pid: int
    beat_ts: int


class Lease:
    """One process's claim to a job; `claim` again at least once a minute to keep it."""

    def __init__(self, database: Database, name: str = "pipeline") -> None:
        self._database = database
        self._name = name
        self._token = uuid.uuid4().hex
        self._host = socket.gethostname()

    def claim(self, now: int) -> bool:
        """Take or keep the job; return whether it is ours. Raises StoreError."""
        with self._database.writing() as connection:
            row = connection.execute(select(table).where(table.c.name == self._name)).one_or_none()
            if row is not None and row.token == self._token:
                connection.execute(update(table).where(table.c.name == self._name).values(beat_ts=now))
                return True
            if row is not None and self._is_alive(row, now):
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
            row = connection.execute(select(table).where(table.c.name == self._name)).one_or_none()
        return None if row is None else Holder(row.host, row.pid, row.beat_ts)

    def _is_alive(self, row: Row[Any], now: int) -> bool:
        # After a kill the next server on this machine need not wait. A beat from the future is a clock set back.
        if row.host == self._host and not _runs(row.pid):
            return False
        return abs(now - int(row.beat_ts)) <= EXPIRES_AFTER_S


def _runs(pid: int) -> bool:
    if pid == os.getpid():
        return False  # a process that had our number before us, as in a restarted container
    with suppress(PermissionError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
