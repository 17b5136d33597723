"""Two connections to PostgreSQL: one doesn't wait for ever, and on the other one servers announce changes.

The server's own limits end a statement that takes long. TCP ends a connection whose other end has gone. Neither helps
if something in between, such as a proxy, holds the connection open and passes nothing on.
"""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from time import monotonic
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.abc import PQGen
from sqlalchemy import Engine

ANSWER_WITHIN_S: Final = 40.0
"""The longest wait for an answer, longer than the server's own limit of a statement."""

_LOOK_EVERY_S: Final = 0.1


class WaitingConnection(psycopg.Connection[Any]):
    """A connection that closes if nothing has come for `patience_s` seconds during a wait."""

    patience_s: float = ANSWER_WITHIN_S

    @contextmanager
    def waiting_for(self, seconds: float | None) -> Iterator[None]:
        """Wait for up to `seconds` within the context, or for the usual time if None."""
        if seconds is None:
            yield
            return
        self.patience_s = seconds
        try:
            yield
        finally:
            del self.patience_s  # the class attribute has the usual time

    def wait[Result](self, gen: PQGen[Result], interval: float = _LOOK_EVERY_S, timeout: float | None = None) -> Result:
        """Wait for an exchange with the server. Raises psycopg.Error."""
        try:
            return super().wait(_with_timeout(gen, self.patience_s), interval, timeout)
        except TimeoutError:
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {self.patience_s:g} s") from None


def _with_timeout[Result](exchange: PQGen[Result], patience_s: float) -> PQGen[Result]:
    """Run an exchange as it is. Raises TimeoutError if nothing has been ready for `patience_s`."""
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
"""The channel on which servers announce that the served data have changed."""

_IS_ALIVE_EVERY_S: Final = 10.0


async def changes(engine: Engine, connecting: Mapping[str, Any]) -> AsyncGenerator[None]:
    """Yield once the connection listens, and then at each change. Raises psycopg.Error.

    It also raises psycopg.Error if the connection breaks, and on a standby, because a standby announces no changes.
    """
    arguments, parameters = engine.dialect.create_connect_args(engine.url)
    made = psycopg.AsyncConnection.connect(*arguments, **{**connecting, **parameters}, autocommit=True)
    async with await made as connection:
        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        yield
        while True:
            async with aclosing(connection.notifies(timeout=_IS_ALIVE_EVERY_S)) as told:
                async for _ in told:
                    yield
            # A cut connection would be silent for ever.
            await connection.execute("SELECT 1")
