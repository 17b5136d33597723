"""The network between a server and its database: a socket that passes bytes on until a test cuts it."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

_SOCKET = ".s.PGSQL.5432"
_CHUNK_BYTES = 65_536


@dataclass
class DatabaseLink:
    """The server's connection to its database. `folder` is the host in the server's settings."""

    folder: Path
    _passes: asyncio.Event = field(default_factory=asyncio.Event)

    def cut(self) -> None:
        """Stop passing bytes on in both directions. Connections stay open, and neither side is notified."""
        self._passes.clear()

    def heal(self) -> None:
        """Pass on the bytes that have waited, and all later bytes."""
        self._passes.set()

    async def between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, database: Path) -> None:
        """Pass bytes on between a client and the database until either connection ends."""
        there, here = await asyncio.open_unix_connection(str(database))
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(reader, here))
                both.create_task(self._pass_on(there, writer))
        finally:
            for end in (writer, here):
                end.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(_CHUNK_BYTES):
                await self._passes.wait()
                writer.write(chunk)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()


@asynccontextmanager
async def database_link(database: Path) -> AsyncIterator[DatabaseLink]:
    """Open a link to the socket of a database."""
    folder = Path(tempfile.mkdtemp(prefix="link-"))
    link = DatabaseLink(folder)
    link.heal()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await link.between(reader, writer, database)

    server = await asyncio.start_unix_server(connected, folder / _SOCKET)
    try:
        yield link
    finally:
        link.heal()
        server.close()
        server.close_clients()
        shutil.rmtree(folder)
