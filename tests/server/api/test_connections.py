"""Connections without a request, with slow requests, and too many connections."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from tests.support.api.api_server import RunningServer, Serve
from tunnihind.service.site import max_connections_within

type PassBy = Callable[[float], None]

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n"


class Client:
    """A connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def answered(self) -> bool:
        """Return whether the server answers a request for `/healthz` before it closes the connection."""
        try:
            return b"200" in await self._reader.readuntil(b'{"status":"ok"}')
        except asyncio.IncompleteReadError, ConnectionError:
            return False

    async def closed(self) -> bool:
        """Wait until the connection is closed, and return whether no bytes came before."""
        try:
            return not await self._reader.read()
        except ConnectionError:
            return True


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


@pytest.fixture
async def pass_by(monkeypatch: pytest.MonkeyPatch) -> PassBy:
    """Return a function that puts the time of the running loop forward by some seconds."""
    loop, passed = asyncio.get_running_loop(), list[float]()
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + sum(passed))
    return passed.append


async def test_a_silent_connection_is_closed_after_ten_seconds(server: RunningServer, pass_by: PassBy) -> None:
    async with connected(server) as patient, connected(server) as client:
        patient.send(REQUEST)
        assert await patient.answered()
        pass_by(10)
        assert await client.closed()


@pytest.mark.parametrize("drop", [b"X: y\r\n", b"x"])
async def test_a_dripped_head_has_no_longer(server: RunningServer, pass_by: PassBy, drop: bytes) -> None:
    async with connected(server) as client, connected(server) as other:
        client.send(b"GET /healthz HTTP/1.1\r\nHost: test\r\n")
        for _ in range(11):
            client.send(drop)
            # When the server has answered the other connection, it has also read the earlier bytes of this one.
            other.send(REQUEST)
            assert await other.answered()
            pass_by(1)
        assert await client.closed()


async def test_nor_has_a_later_head(server: RunningServer, pass_by: PassBy) -> None:
    async with connected(server) as client, connected(server) as other:
        client.send(REQUEST + REQUEST[:10])
        assert await client.answered()
        client.send(REQUEST[10:12])
        other.send(REQUEST)
        assert await other.answered()
        pass_by(10)
        assert await client.closed()


async def test_a_connection_that_was_of_use_may_be_idle_for_half_an_hour(
    server: RunningServer, pass_by: PassBy
) -> None:
    async with connected(server) as client:
        for _ in range(3):
            client.send(REQUEST)
            assert await client.answered()
            pass_by(1_800)


async def test_a_head_in_pieces_leaves_no_limit_behind(server: RunningServer, pass_by: PassBy) -> None:
    async with connected(server) as client, connected(server) as other:
        for _ in range(3):
            client.send(REQUEST[:10])
            other.send(REQUEST)
            assert await other.answered()
            pass_by(5)
            client.send(REQUEST[10:])
            assert await client.answered()
            pass_by(1_800)


async def test_too_many_silent_connections_make_room_for_others(serve: Serve) -> None:
    server = await serve(most_connections=20)
    async with AsyncExitStack() as stack:
        useful = await stack.enter_async_context(connected(server))
        useful.send(REQUEST)
        assert await useful.answered()
        silent = [await stack.enter_async_context(connected(server)) for _ in range(60)]
        newcomer = await stack.enter_async_context(connected(server))
        for client in (newcomer, useful):
            client.send(REQUEST)
            assert await client.answered()
        assert await silent[0].closed()


async def test_of_idle_connections_the_longest_idle_goes_first(serve: Serve) -> None:
    server = await serve(most_connections=5)
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected(server)) for _ in range(5)]
        for client in (*clients, clients[0]):
            client.send(REQUEST)
            assert await client.answered()
        newcomer = await stack.enter_async_context(connected(server))
        newcomer.send(REQUEST)
        assert await newcomer.answered()
        assert await clients[1].closed()
        clients[0].send(REQUEST)
        assert await clients[0].answered()


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(64, 32), (256, 128), (1_024, 768), (4_096, 3_840), (65_536, 20_000)]
)
def test_connections_leave_descriptors_for_the_database_and_the_sources(descriptors: int, connections: int) -> None:
    assert max_connections_within(descriptors) == connections
