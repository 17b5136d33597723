"""Serving the application over sockets, so that even answers to what isn't HTTP keep the API's manners.

A request that can't be parsed never reaches the application: aiohttp's protocol answers it in plain text.
Here is the protocol that answers it like the rest of the API.
"""

import logging
from http import HTTPStatus
from typing import Any

from aiohttp import web

from tunnihind.api.app import METRICS, PROBLEMS
from tunnihind.api.manners import with_manners
from tunnihind.api.problems import Problems

_LOG = logging.getLogger(__name__)


class Runner(web.AppRunner):
    """Runs an application made by `create_app`; takes the options of `web.AppRunner`."""

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        problems = self.app[PROBLEMS]
        handler = with_manners(server.request_handler, problems, self.app[METRICS].requests)
        return _Server(handler, problems, request_factory=server.request_factory, **self._kwargs)


class _Server(web.Server):
    """Makes a protocol for each connection."""

    def __init__(self, handler: Any, problems: Problems, **options: Any) -> None:  # noqa: ANN401
        super().__init__(handler, **options)
        self._problems = problems

    def __call__(self) -> web.RequestHandler:
        return _Protocol(self, self._problems, loop=self._loop, **self._kwargs)


class _Protocol(web.RequestHandler):
    """Answers what can't be handled with a problem instead of aiohttp's plain text."""

    __slots__ = ("_problems",)

    def __init__(self, manager: web.Server, problems: Problems, **options: Any) -> None:  # noqa: ANN401
        super().__init__(manager, **options)
        self._problems = problems

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
