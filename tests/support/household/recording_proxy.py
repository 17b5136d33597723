"""A proxy between Home Assistant and the server that records requests, and gives other answers on a test's order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from aiohttp import web

FORECAST: Final = "/api/v1/forecast"
QUARTERS: Final = "/api/v1/quarters"
ABOUT: Final = "/api/about"
SERIES: Final = "/api/series"
ACCURACY: Final = "/api/v1/accuracy"
SCENARIOS: Final = "/api/v1/scenarios"
_PASSED_ON: Final = ("ETag", "Content-Type", "Retry-After")

type Instead = Callable[[web.Request], web.StreamResponse | None]
"""A function that returns another answer to a request, or None for the server's own answer."""


@dataclass(frozen=True)
class Asked:
    """A request with its query, its condition, and the status of its answer."""

    path: str
    query: str
    if_none_match: str | None
    status: int


@dataclass
class RecordingProxy:
    """The proxy at `port`, which the household uses, in front of the server at `upstream`."""

    port: int = 0
    upstream: int = 0
    asked: list[Asked] = field(default_factory=list)
    instead: Instead = lambda _: None
    conditional: bool = True
    """If true, the server knows conditional requests. The specification does not require them."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        answer = self.instead(request) or await self._pass_on(request)
        self.asked.append(
            Asked(request.path, request.query_string, request.headers.get("If-None-Match"), answer.status)
        )
        return answer

    def polls(self) -> list[Asked]:
        """Return the polls since the previous call."""
        polls = [asked for asked in self.asked if asked.path == FORECAST]
        self.asked.clear()
        return polls

    def answer(self, path: str, **response: Any) -> None:  # noqa: ANN401  what `web.json_response` takes
        """From now on, give this answer to requests for `path`. Other requests get the server's answers."""

        def told(request: web.Request) -> web.Response | None:
            if request.path != path:
                return None
            return web.json_response(**response) if "data" in response else web.Response(**response)

        self.instead = told

    def refuse(self, status: int, **headers: str) -> None:
        """Refuse all requests from now on."""
        self.instead = lambda _: web.Response(status=status, headers=headers)

    def pass_on(self) -> None:
        """From now on, give the server's answers again."""
        self.instead = lambda _: None

    async def _pass_on(self, request: web.Request) -> web.Response:
        kept = ("If-None-Match",) if self.conditional else ()
        condition = {name: value for name, value in request.headers.items() if name in kept}
        async with (
            aiohttp.ClientSession(f"http://127.0.0.1:{self.upstream}") as session,
            session.get(request.path_qs, headers=condition) as response,
        ):
            passed_on = _PASSED_ON if self.conditional else _PASSED_ON[1:]
            headers = {name: response.headers[name] for name in passed_on if name in response.headers}
            return web.Response(status=response.status, body=await response.read(), headers=headers)
