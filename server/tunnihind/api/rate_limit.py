"""Limits how many requests a second each client may send, with a token bucket for each client."""

import math
from collections import OrderedDict
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from tunnihind.api.http.problems import ProblemMaker
from tunnihind.clock import Clock
from tunnihind.settings import Settings

_MAX_CLIENTS: Final = 10_000
_UNLIMITED_PATHS: Final = ("/healthz", "/readyz", "/metrics", "/static/{digest}/{name}")
"""Routes that end with one of these paths have no limit. Only ends are compared, because the routes of all zones except
the first begin with the zone's name.

The pages' files have no limit, because a browser's first visit loads up to twenty of them at once.
"""
_SITE_BITS: Final = 64
"""An IPv6 client can freely choose the bits of its address after the first 64."""


class TokenBuckets:
    """A token bucket for each client.

    A bucket gets `rate` tokens a second. A bucket holds at most 2 * `rate` tokens, or one token if 2 * `rate` is less
    than 1. At most `max_clients` buckets are kept, so that the buckets can't fill the memory. The bucket of the client
    that has been inactive the longest is removed first.
    """

    def __init__(self, rate: float, clock: Clock, *, max_clients: int = _MAX_CLIENTS) -> None:
        self._rate = rate
        self._burst = max(2 * rate, 1.0)
        self._clock = clock
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take_token_or_wait_s(self, client: str) -> float:
        """If the client's bucket has a token, take the token, and return 0.

        Otherwise, return the seconds until the next token.
        """
        now = self._clock.now()
        tokens, since = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + max(now - since, 0.0) * self._rate)
        wait = max(1.0 - tokens, 0.0) / self._rate
        self._buckets[client] = (tokens if wait else tokens - 1.0, now)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        return wait


def client_key(request: web.Request, *, trust_proxy: bool) -> str:
    """Return the address that identifies the client of a request.

    If `trust_proxy` is true, return the last address in X-Forwarded-For. If `trust_proxy` is false, or if that address
    is missing or invalid, return the address at the other end of the connection. An IPv4-mapped IPv6 address is
    replaced by the IPv4 address. Any other IPv6 address is replaced by its /64 network, because one client can use all
    addresses of that network.
    """
    peer = request.remote or ""
    last = ",".join(request.headers.getall("X-Forwarded-For", ())).rpartition(",")[2].strip() if trust_proxy else ""
    return _bucket_name(last) or _bucket_name(peer) or peer


def _bucket_name(text: str) -> str | None:
    """Return the name of the token bucket for an IP address, or None if `text` isn't an IP address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if not isinstance(address, IPv6Address):
        return str(address)
    # A socket for both IPv4 and IPv6 reports the IPv4 client 192.0.2.1 as ::ffff:192.0.2.1.
    return str(address.ipv4_mapped or IPv6Network((int(address), _SITE_BITS), strict=False))


def rate_limit_middleware(settings: Settings, clock: Clock, problems: ProblemMaker) -> Middleware:
    """Return the middleware that answers 429 to a client without a token.

    Each client gets `settings.rate_limit` tokens a second. Requests for routes that end with one of `_UNLIMITED_PATHS`
    need no token.
    """
    buckets = TokenBuckets(settings.rate_limit, clock)

    @web.middleware
    async def limited(request: web.Request, handler: Handler) -> web.StreamResponse:
        resource = request.match_info.route.resource
        if resource is None or not resource.canonical.endswith(_UNLIMITED_PATHS):
            wait = buckets.take_token_or_wait_s(client_key(request, trust_proxy=settings.trust_proxy))
            if wait:
                return problems.answer(429, fields={"Retry-After": str(math.ceil(wait))})
        return await handler(request)

    return limited
