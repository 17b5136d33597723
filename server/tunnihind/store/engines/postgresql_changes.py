"""PostgreSQL tells its clients of changes (LISTEN and NOTIFY), each on a connection of its own that waits for them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import Engine

CHANNEL: Final = "tunnihind_changed"
"""On which servers tell each other that what they serve has changed."""

_IS_ALIVE_EVERY_S: Final = 10.0


async def changes(engine: Engine, connecting: Mapping[str, Any]) -> AsyncGenerator[None]:
    """Yield as soon as we listen, and whenever a change is told of. Raises psycopg.Error.

    That is one where the connection breaks, and where the server is a standby, which tells of nothing.
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
            # A connection that was cut would be silent for good.
            await connection.execute("SELECT 1")
