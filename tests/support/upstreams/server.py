"""The common parts of the fake upstreams: they record requests, and fail on a test's order."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from aiohttp import web
from aiohttp.test_utils import TestServer
from multidict import CIMultiDict

type _Act = Callable[[], Awaitable[web.Response]]


class FakeUpstream(ABC):
    """An HTTP server on a free local port, for `async with FakeElering(...) as server`.

    `requests` holds every request's query in order, and `headers` every request's headers. `fail`, `say` and `hang` set
    the answers to the next requests. After these requests the server answers properly again.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, str]] = []
        self.headers: list[CIMultiDict[str]] = []
        self._script: deque[_Act] = deque()
        self._released = asyncio.Event()
        app = web.Application()
        app.router.add_get("/{path:.*}", self._handle)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        # The access log would have secrets, which our log must not have.
        await self._server.start_server(access_log=None)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._released.set()
        await self._server.close()

    @property
    def url(self) -> str:
        """The server's address without a slash at its end."""
        return str(self._server.make_url("")).rstrip("/")

    @abstractmethod
    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        """Answer as the real upstream does."""

    def fail(self, *, times: int = 1, status: int = 503, headers: Mapping[str, str] | None = None) -> None:
        """Answer the next `times` requests with an error status."""
        self.say(b"error", times=times, status=status, headers=headers)

    def say(self, body: bytes, *, times: int = 1, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Answer the next `times` requests with this body, whatever their path."""

        async def act() -> web.Response:
            return web.Response(body=body, status=status, headers=dict(headers or {}))

        self._script.extend([act] * times)

    def hang(self, *, times: int = 1) -> None:
        """Accept the next `times` requests, and never answer them."""

        async def act() -> web.Response:
            await self._released.wait()
            return web.Response()

        self._script.extend([act] * times)

    async def _handle(self, request: web.Request) -> web.Response:
        self.requests.append(dict(request.query))
        self.headers.append(CIMultiDict(request.headers))
        if self._script:
            return await self._script.popleft()()
        return self.answer(request.path, request.query)
