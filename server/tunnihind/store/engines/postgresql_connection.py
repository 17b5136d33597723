"""Limits how long a PostgreSQL connection waits for an answer, and receives announcements of changed data.

The database server ends statements that take too long, and TCP closes connections to a dead machine. If a proxy keeps a
connection open but passes nothing on, only the time limit of this module ends the wait.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.abc import PQGen
from sqlalchemy import Engine

_ANSWER_WITHIN_S: Final = 40.0
"""The usual `patience_s`. It is longer than the database server's own time limit for a statement."""

_LOOK_EVERY_S: Final = 0.1


class ImpatientConnection(psycopg.Connection[Any]):
    """A connection that closes itself if it waits more than `patience_s` seconds without exchanging anything."""

    patience_s: float = _ANSWER_WITHIN_S

    @contextmanager
    def limiting_waits_to(self, seconds: float | None) -> Iterator[None]:
        """While this context is open, limit each wait to `seconds`. If `seconds` is None, use the usual limit."""
        if seconds is None:
            yield
            return
        self.patience_s = seconds
        try:
            yield
        finally:
            del self.patience_s  # the usual limit, `patience_s` of the class, applies again

    def wait[Result](self, gen: PQGen[Result], interval: float = _LOOK_EVERY_S, timeout: float | None = None) -> Result:
        """Wait until an exchange of messages with the database server has ended. Raises psycopg.Error."""
        try:
            return super().wait(_with_timeout(gen, self.patience_s), interval, timeout)
        except TimeoutError:
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.patience_s:g} s") from None


def _with_timeout[Result](exchange: PQGen[Result], patience_s: float) -> PQGen[Result]:
    """Exchange messages with the database server. Raises TimeoutError after `patience_s` seconds without progress."""
    try:
        wanted = next(exchange)
        moved_at = monotonic()
        while True:
            ready = yield wanted
            if ready:
                moved_at = monotonic()
            elif monotonic() - moved_at > patience_s:
                raise TimeoutError
            wanted = exchange.send(ready)
    except StopIteration as ended:
        result: Result = ended.value
        return result


CHANNEL: Final = "tunnihind_changed"
"""The channel on which servers announce changed data."""

_LIVENESS_CHECK_INTERVAL_S: Final = 10.0


async def change_announcements(engine: Engine, connecting: Mapping[str, Any]) -> AsyncGenerator[None]:
    """Yield once when the connection is ready, and again after each announced change.

    Raises psycopg.Error if the connection fails, or if the database server is a read replica, because PostgreSQL allows
    LISTEN only on the primary server.
    """
    arguments, parameters = engine.dialect.create_connect_args(engine.url)
    made = psycopg.AsyncConnection.connect(*arguments, **{**connecting, **parameters}, autocommit=True)
    async with await made as connection:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        yield
        while True:
            async with aclosing(connection.notifies(timeout=_LIVENESS_CHECK_INTERVAL_S)) as announcements:
                async for _ in announcements:
                    yield
            # A query reveals a broken connection, but waiting for announcements does not.
            await connection.execute("SELECT 1")
