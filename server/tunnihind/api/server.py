"""Serving the application over sockets: what a connection may do before there is a request, and what isn't one.

A request that can't be parsed never reaches the application: aiohttp's protocol answers it in plain text. Here is
the protocol that answers it like the rest of the API. aiohttp also lets a connection be silent for an hour, and
takes as many as come. Here a request's head has to be complete within seconds, and the connections are bounded:
where there are too many, those that never made a request go first, then those that have been idle longest.
"""

import asyncio
import logging
from http import HTTPStatus
from typing import Any, Final, override

from aiohttp import web

from tunnihind.api.app import METRICS, PROBLEMS
from tunnihind.api.manners import with_manners
from tunnihind.api.problems import Problems

_LOG = logging.getLogger(__name__)

HEAD_S: Final = 10.0
"""How long a request's head may take, from the connection's beginning or the head's first byte on."""
MOST_CONNECTIONS: Final = 20_000
"""An idle connection takes some 10 kB of memory."""

_CLOSED_AT_ONCE: Final = 20
"""The part of the connections, one in so many, that is closed where there are too many: looking for them takes time."""


class Runner(web.AppRunner):
    """Runs an application made by `create_app`; takes the options of `web.AppRunner` too."""

    def __init__(
        self,
        app: web.Application,
        *,
        most_connections: int = MOST_CONNECTIONS,
        **options: Any,  # noqa: ANN401  aiohttp's own
    ) -> None:
        super().__init__(app, **options)
        self._most_connections = most_connections

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        problems = self.app[PROBLEMS]
        return _Server(
            with_manners(server.request_handler, problems, self.app[METRICS].requests),
            problems,
            most_connections=self._most_connections,
            request_factory=server.request_factory,
            **self._kwargs,
        )


class _Server(web.Server):
    """Makes a protocol for each connection, and keeps their number within bounds."""

    def __init__(
        self,
        handler: Any,  # noqa: ANN401
        problems: Problems,
        *,
        most_connections: int,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(handler, **options)
        self._problems = problems
        self._most_connections = most_connections
        self._open: set[_Protocol] = set()

    def __call__(self) -> web.RequestHandler:
        return _Protocol(self, self._problems, loop=self._loop, **self._kwargs)

    def opened(self, connection: _Protocol) -> None:
        """Count a connection in, and make room for it."""
        if len(self._open) >= self._most_connections:
            found = sorted(self._open, key=_Protocol.worth)[: 1 + self._most_connections // _CLOSED_AT_ONCE]
            _LOG.debug("%d connections are too many: closing %d", len(self._open), len(found))
            for one in found:
                self._open.remove(one)
                one.abort()
        self._open.add(connection)

    def closed(self, connection: _Protocol) -> None:
        """Count a connection out."""
        self._open.discard(connection)


class _Protocol(web.RequestHandler):
    """Awaits requests for a limited time, and answers what can't be handled with a problem instead of plain text."""

    __slots__ = ("_head_timer", "_problems", "_server")

    def __init__(self, server: _Server, problems: Problems, **options: Any) -> None:  # noqa: ANN401
        super().__init__(server, **options)
        self._server = server
        self._problems = problems
        self._head_timer: asyncio.TimerHandle | None = None

    def worth(self) -> tuple[bool, bool, float]:
        """Return by what connections are kept: at work, of use before, and asked on lately."""
        return self._request_in_progress, self._request_count > 0, self._next_keepalive_close_time

    def abort(self) -> None:
        """Close the connection at once, whatever is still to be sent."""
        if self.transport is not None:
            self.transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._server.opened(self)
        super().connection_made(transport)
        self._head_timer = self._loop.call_later(HEAD_S, self.abort)

    @override
    def connection_lost(self, exc: BaseException | None) -> None:
        self._server.closed(self)
        self._stop_head_timer()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        heads = self._request_count
        super().data_received(data)
        if self._request_count > heads:
            self._stop_head_timer()
        elif self._head_timer is None and self._waiter is not None and not self._waiter.done():
            # No request is being handled: this is part of a head.
            self._head_timer = self._loop.call_later(HEAD_S, self.abort)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer with a problem and close the connection, whose next bytes can't be trusted."""
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun: it can't become an error any more")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            _LOG.error("a request from %s failed: %s", request.remote, message, exc_info=exc)
            response = self._problems.answer(status)
        else:
            # Anybody can send garbage: it is no news for the log.
            _LOG.debug("a malformed request from %s: %s", request.remote, message)
            response = self._problems.answer(status, "The request is not well-formed HTTP/1.1.")
        response.force_close()
        return response
