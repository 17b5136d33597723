"""What every request gets, whatever becomes of it: an answer in the API's form, and its place in the metrics.

This wraps the whole application rather than being one of its middlewares: so it also catches what aiohttp
refuses before any middleware runs, and a request is spared the price of theirs.
"""

import logging
from collections.abc import Awaitable, Callable
from time import perf_counter

from aiohttp import hdrs, web

from tunnihind.api.headers import preflight_headers
from tunnihind.api.metrics import RequestTally
from tunnihind.api.problems import Problems
from tunnihind.errors import StoreError

type Application = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

_LOG = logging.getLogger(__name__)


def with_manners(application: Application, problems: Problems, tally: RequestTally) -> Application:
    """Return the application with every error turned into a problem answer, and every request counted."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        started = perf_counter()
        try:
            response = await application(request)
        except web.HTTPException as error:
            response = _refusal(problems, error)
        except StoreError:
            response = problems.answer(503, fields={"Retry-After": "5"})
        except Exception:  # noqa: BLE001  whatever it is, the client gets a problem and never the traceback
            _LOG.exception("%s %s failed", request.method, request.path)
            response = problems.answer(500)
        tally.count(_route(request), response.status, perf_counter() - started)
        return response

    return handle


def _refusal(problems: Problems, error: web.HTTPException) -> web.Response:
    """Give a refusal of aiohttp's own (no such path, wrong method, unknown expectation) the API's form."""
    allowed = error.headers.get(hdrs.ALLOW)
    return problems.answer(error.status, fields={"Allow": ", ".join(allowed.split(","))} if allowed else None)


def _route(request: web.BaseRequest) -> str:
    """Name the matched route; paths that don't exist share one name, so that they can't fill the memory."""
    resource = request.match_info.route.resource if isinstance(request, web.Request) else None
    return "unmatched" if resource is None else resource.canonical


async def preflight(_request: web.Request) -> web.Response:
    """Answer OPTIONS: any origin may read everything."""
    return web.Response(status=204, headers=preflight_headers())
