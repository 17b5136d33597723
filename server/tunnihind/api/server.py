"""Runs the application, turns errors into problem answers, and limits connections.

By itself, aiohttp refuses some requests in plain text, before any middleware runs. This server answers these requests
with a problem too, gives each request an id, and counts all requests except malformed ones.

By itself, aiohttp accepts any number of connections, and keeps a silent connection for an hour. This server closes a
connection if the client takes too long to send the head of a request. If there are too many connections, this server
closes the least useful ones.

aiohttp has no options for these tasks, so this file overrides undocumented methods of aiohttp's classes
`AppRunner`, `Server` and `web.RequestHandler`. Apart from this file, only `http/representation.py` overrides methods of
aiohttp.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from time import perf_counter
from typing import Any, Final, override

from aiohttp import hdrs, web
from aiohttp.web_log import AccessLogger

from tunnihind.api import request_id
from tunnihind.api.http.problems import ProblemMaker
from tunnihind.api.http.representation import closing_response
from tunnihind.api.metrics import Metrics
from tunnihind.errors import NotServed, ParameterError, StoreError

_LOG = logging.getLogger(__name__)

type HandleRequest = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

METRICS_KEY: Final = web.AppKey("metrics", Metrics)
PROBLEMS_KEY: Final = web.AppKey("problems", ProblemMaker)
STOPPING_KEY: Final = web.AppKey("stopping", asyncio.Event)
"""This event is set when the server has to stop. From then on, each answer closes its connection."""

_HEAD_TIMEOUT_S: Final = 10.0
"""A request's head must arrive within this many seconds. For the first request of a connection, the time begins when
the connection opens. For a later request, the time begins when bytes of the head arrive and no other request of the
connection is being handled."""
MAX_CONNECTIONS: Final = 20_000
"""The default and largest limit on open connections. An idle connection takes some 10 kB of memory."""

_ACCESS_LOG_FORMAT: Final = f"{AccessLogger.LOG_FORMAT} %{{{request_id.HEADER_FIELD}}}o %Tf"
"""The default format of aiohttp, followed by the request's id and the duration in seconds."""

_CLOSE_ONE_IN: Final = 20
"""If there are too many connections, about one in 20 is closed. If only one were closed, each new connection would
need another sort of all connections."""


class Runner(web.AppRunner):
    """Runs an application, which must have the keys `METRICS_KEY`, `PROBLEMS_KEY` and `STOPPING_KEY`."""

    def __init__(
        self,
        app: web.Application,
        *,
        most_connections: int = MAX_CONNECTIONS,
        **options: Any,  # noqa: ANN401  aiohttp's own
    ) -> None:
        super().__init__(app, access_log_format=_ACCESS_LOG_FORMAT, **options)
        self._most_connections = most_connections

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        problems = self.app[PROBLEMS_KEY]
        return _Server(
            _handler_with_problems(server.request_handler, problems, self.app[METRICS_KEY], self.app[STOPPING_KEY]),
            problems,
            most_connections=self._most_connections,
            request_factory=server.request_factory,
            **self._kwargs,
        )


def _handler_with_problems(
    handler: HandleRequest, problems: ProblemMaker, metrics: Metrics, stopping: asyncio.Event
) -> HandleRequest:
    """Return a handler that turns errors into problem answers, counts requests and gives each request an id."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        started = perf_counter()
        name = request_id.set_current_id(request.headers.getall(request_id.HEADER_FIELD, ()))
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = _refusal_answer(problems, error)
        except ParameterError as error:
            response = problems.answer(400, str(error))
        except NotServed as error:
            response = problems.answer(404, str(error))
        except StoreError:
            response = problems.answer(503, fields={"Retry-After": "5"})
        except Exception:  # noqa: BLE001  on any error the client gets a problem and never the traceback
            _LOG.exception("%s %s failed", request.method, request.path)
            response = problems.answer(500)
        if stopping.is_set():
            response = closing_response(response)
        response.headers[request_id.HEADER_FIELD] = name
        metrics.record_request(_route_name(request), response.status, perf_counter() - started)
        return response

    return handle


def _refusal_answer(problems: ProblemMaker, error: web.HTTPException) -> web.Response:
    allowed = error.headers.get(hdrs.ALLOW)
    return problems.answer(error.status, fields={"Allow": ", ".join(allowed.split(","))} if allowed else None)


def _route_name(request: web.BaseRequest) -> str:
    """Return the name of a request's route. All unknown paths share one name, so that the metrics stay small."""
    resource = request.match_info.route.resource if isinstance(request, web.Request) else None
    return "unmatched" if resource is None else resource.canonical


class _Server(web.Server):
    """Makes a `_Protocol` for each connection, and limits the number of connections."""

    def __init__(
        self,
        handler: Any,  # noqa: ANN401
        problems: ProblemMaker,
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

    def add_connection(self, connection: _Protocol) -> None:
        """Add a connection. If the limit is reached, first close the least useful connections, about one in 20."""
        if len(self._open) >= self._most_connections:
            found = sorted(self._open, key=_Protocol.usefulness_key)[: 1 + self._most_connections // _CLOSE_ONE_IN]
            _LOG.debug("%d connections are open, which is too many: closing %d of them", len(self._open), len(found))
            for one in found:
                self._open.remove(one)
                one.abort()
        self._open.add(connection)

    def remove_connection(self, connection: _Protocol) -> None:
        """Remove a connection."""
        self._open.discard(connection)


class _Protocol(web.RequestHandler):
    """Limits the time for a request's head, and answers malformed requests with a problem instead of plain text."""

    __slots__ = ("_head_timer", "_problems", "_server")

    def __init__(self, server: _Server, problems: ProblemMaker, **options: Any) -> None:  # noqa: ANN401
        super().__init__(server, **options)
        self._server = server
        self._problems = problems
        self._head_timer: asyncio.TimerHandle | None = None

    def usefulness_key(self) -> tuple[bool, bool, float]:
        """Return a sort key that puts the least useful connection first.

        Idle connections that never sent a request come first, then other idle connections (the longest idle first),
        then busy connections.
        """
        return self._request_in_progress, self._request_count > 0, self._next_keepalive_close_time

    def abort(self) -> None:
        """Close the connection at once, and drop unsent data."""
        if self.transport is not None:
            self.transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._server.add_connection(self)
        super().connection_made(transport)
        self._head_timer = self._loop.call_later(_HEAD_TIMEOUT_S, self.abort)

    @override
    def connection_lost(self, exc: BaseException | None) -> None:
        self._server.remove_connection(self)
        self._stop_head_timer()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        heads = self._request_count
        super().data_received(data)
        if self._request_count > heads:
            self._stop_head_timer()
        elif self._head_timer is None and self._waiter is not None and not self._waiter.done():
            # No request is being handled, so the received bytes belong to the head of the next request.
            self._head_timer = self._loop.call_later(_HEAD_TIMEOUT_S, self.abort)

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
        """Answer with a problem, and close the connection, because the client's next bytes can't be trusted.

        If an answer has already begun, raise ConnectionError.
        """
        if request.writer.output_size > 0:
            raise ConnectionError("the answer has begun: it can't become an error any more")
        name = request_id.current_id()
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            _LOG.error("a request from %s failed: %s", request.remote, message, exc_info=exc)
            response = self._problems.answer(status)
        else:
            # Anybody can send malformed requests, so they are logged only for debugging.
            _LOG.debug("a malformed request from %s: %s", request.remote, message)
            response = self._problems.answer(status, "The request is not well-formed HTTP/1.1.")
        response.headers[request_id.HEADER_FIELD] = name
        response.force_close()
        return response
