"""An optional limit on each client's requests: a token bucket per address, in bounded memory."""

import math
from collections import OrderedDict
from ipaddress import ip_address
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from tunnihind.api.problems import Problems
from tunnihind.clock import Clock
from tunnihind.settings import Settings

_MAX_CLIENTS: Final = 10_000
_UNLIMITED: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_PAGE_FILES: Final = "/static/"
"""One look at a page takes twenty of its files, once for ever."""


class TokenBuckets:
    """Buckets of 2 s worth of tokens, refilled at `rate` a second; the longest unseen client is forgotten first."""

    def __init__(self, rate: float, clock: Clock, *, max_clients: int = _MAX_CLIENTS) -> None:
        self._rate = rate
        self._burst = max(2 * rate, 1.0)
        self._clock = clock
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        now = self._clock.now()
        tokens, since = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + max(now - since, 0.0) * self._rate)
        wait = max(1.0 - tokens, 0.0) / self._rate
        self._buckets[client] = (tokens if wait else tokens - 1.0, now)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        return wait


def client_of(request: web.Request, *, trust_proxy: bool) -> str:
    """Return the client's address: the peer's, or what our own proxy wrote last into X-Forwarded-For."""
    peer = request.remote or ""
    if not trust_proxy:
        return peer
    last = ",".join(request.headers.getall("X-Forwarded-For", ())).rpartition(",")[2].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return peer


def limit_rate(settings: Settings, clock: Clock, problems: Problems) -> Middleware:
    """Return the middleware that answers 429 to clients above `settings.rate_limit` requests a second."""
    buckets = TokenBuckets(settings.rate_limit, clock)

    @web.middleware
    async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path not in _UNLIMITED and not request.path.startswith(_PAGE_FILES):
            wait = buckets.take(client_of(request, trust_proxy=settings.trust_proxy))
            if wait:
                return problems.answer(429, fields={"Retry-After": str(math.ceil(wait))})
        return await handler(request)

    return limited
