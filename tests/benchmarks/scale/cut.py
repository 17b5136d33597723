"""A network that can be cut: a proxy between a server and its database."""

import asyncio
from pathlib import Path
from typing import Final, Self

_CHUNK: Final = 65_536


class Link:
    """Passes bytes on between a port of this machine and a socket until a test cuts the link.

    While the link is cut, no bytes pass, and neither side is notified. Connections stay open, new connections are
    accepted, and sent bytes wait. When the link is healed, the waiting bytes arrive, as after a short break of a real
    network.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._whole = asyncio.Event()
        self._whole.set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            self._server.close()

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def cut(self) -> None:
        """Stop passing bytes on."""
        self._whole.clear()

    def heal(self) -> None:
        """Pass bytes on again."""
        self._whole.set()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await self._whole.wait()
        try:
            there_reader, there_writer = await asyncio.open_unix_connection(str(self._socket))
        except OSError:
            writer.close()
            return
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass_on(reader, there_writer))
                group.create_task(self._pass_on(there_reader, writer))
        except* OSError:
            pass
        finally:
            writer.close()
            there_writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(_CHUNK):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()
        finally:
            # When one direction ends, the other ends too, as soon as bytes may pass.
            writer.close()
