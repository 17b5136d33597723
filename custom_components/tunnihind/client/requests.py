"""Requests a server's prices, its scores of plans and its description of itself.

This module also parses the addresses that people type, and computes the pauses between requests.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from errno import ECONNREFUSED
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final

import aiohttp
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.util.json import json_loads
from homeassistant.util.network import is_local
from multidict import CIMultiDictProxy
from yarl import URL

from ..const import CONF_INSTANCE_ID, CONF_REHEARSAL
from ..core.market import ESTONIA, HOUR_S, MARKET_OF_CODE, QUARTER_S, Market
from ..errors import (
    AnswerTimeout,
    BrokenTransfer,
    CannotConnect,
    ConnectionRefused,
    ForeignAnswer,
    InvalidAnswer,
    LongAnswer,
    NoHttps,
    NoPastPrices,
    NotTunnihind,
    RateLimited,
    RedirectLoop,
    TunnihindError,
    UnknownHost,
    UnknownPriceZone,
)
from ..prices.zones import CONF_ZONE, id_suffix
from .answers import About, MarketPrices, Mode, PlanScore, server_name
from .documents import (
    MalformedDocument,
    UnknownZoneDocument,
    about_from,
    history_prices_from,
    market_prices_from,
    plan_score_from,
    price_paths_from,
    series_prices_from,
)

POLL_S: Final = 60
# If a server outside the home fails, the pause between requests grows only to this limit, so that Home Assistant soon
# notices when the server works again.
LONGEST_PAUSE_S: Final = 15 * 60
# The limit of this pause for a server at home. Such a server has few clients, so frequent requests do no harm.
LONGEST_PAUSE_AT_HOME_S: Final = 2 * 60
_TIMEOUT: Final = aiohttp.ClientTimeout(total=10)
# The longest accepted answer in bytes. The API's answers are shorter, and an endless answer must not fill the memory.
_MAX_BYTES: Final = 1_000_000
_CHUNK_BYTES: Final = 65_536
# The API's paths for the newest prices, keyed by the length of a price period in seconds.
_NEWEST_PATHS: Final = {HOUR_S: "api/v1/forecast", QUARTER_S: "api/v1/quarters"}
MAX_PAST_DAYS: Final = 14
"""A request for the prices of the last days covers at most this many days, including today."""
# The API's paths for the settled prices of the last 2 to 14 days, with the same keys.
_LAST_DAYS_PATHS: Final = {HOUR_S: "api/series", QUARTER_S: "api/v1/quarters"}
_RESOLUTIONS: Final = {QUARTER_S: "15m", HOUR_S: "60m"}
_HOME_NAMES: Final = (".local", ".lan", ".home", ".home.arpa", ".internal")
# Exceptions that a request can raise, and the integration's error for each of them. The first match is used, so a
# subclass comes before its base class.
_CONNECTION_ERRORS: Final[Mapping[type[Exception], type[CannotConnect]]] = {
    TimeoutError: AnswerTimeout,
    aiohttp.TooManyRedirects: RedirectLoop,
    aiohttp.RedirectClientError: RedirectLoop,
    aiohttp.ClientConnectorDNSError: UnknownHost,
    aiohttp.ClientSSLError: NoHttps,
    aiohttp.ClientConnectorError: ConnectionRefused,
    aiohttp.ClientOSError: BrokenTransfer,
    aiohttp.ServerDisconnectedError: BrokenTransfer,
    aiohttp.ClientPayloadError: BrokenTransfer,
    aiohttp.ClientResponseError: BrokenTransfer,
}
# The paths that `server_url` removes, because people paste addresses from the documentation or the browser.
_OWN_PATHS: Final = re.compile(
    r"(/+(api/(v1/(forecast|quarters|scenarios|history|accuracy)|feeds/\w+|series|about|openapi\.json)|docs|accuracy))*/*$"
)


def server_url(typed: str) -> str:
    """Return the base URL of the server at the address that somebody typed.

    The default scheme is http. A path prefix is kept. The query, the fragment, slashes at the end, and paths such as
    `/docs` are removed. Raises ValueError if the text can't be the address of a web server.
    """
    text = typed.strip()
    url = URL(text if "://" in text else f"http://{text}")
    if url.scheme not in {"http", "https"} or not url.host or re.search(r"\s", url.host):
        raise ValueError("expected http://host:port")
    return str(url.with_host(url.host.lower()).with_path(_OWN_PATHS.sub("", url.path)))


def url_without_password(url: str) -> str:
    """Return the URL without its user name and password, for texts that people see."""
    return str(URL(url).with_user(None))


def is_at_home(url: str) -> bool:
    """Return whether the URL's host is a local IP address or a local name, such as `server.local`."""
    host = (URL(url).host or "").removesuffix(".")
    try:
        return is_local(ip_address(host))
    except ValueError:
        return "." not in host or host.endswith(_HOME_NAMES)


def pause_s(failures: int, longest_s: int = LONGEST_PAUSE_S) -> int:
    """Return the seconds to wait after a failed request. `failures` is the number of earlier failures in a row.

    The first pause is a minute. Each further failure doubles the pause, up to `longest_s` seconds.
    """
    return int(min(POLL_S * 2**failures, longest_s))


class Client:
    """Sends requests to one server. `url` is the server's base URL, which may have a path prefix."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = URL(url)
        self.shown_url = url_without_password(url)
        self._newest_answers: dict[int, tuple[str | None, MarketPrices]] = {}

    async def about(self) -> About | None:
        """Return the server's description of itself, or None if the server sends no valid description.

        Raises CannotConnect.
        """
        try:
            _, body = await self._get("api/about")
            return self._parse(about_from, body)
        except NotTunnihind, InvalidAnswer:
            return None

    async def newest_prices(self, step_s: int = HOUR_S) -> MarketPrices:
        """Return the newest prices in periods of `step_s` seconds: hours or quarter-hours.

        If the server reports no change, return the same object as the last call with this `step_s`. Raises
        CannotConnect, NotTunnihind and InvalidAnswer.
        """
        etag, newest = self._newest_answers.get(step_s, (None, None))
        headers, body = await self._get(_NEWEST_PATHS[step_s], headers={"If-None-Match": etag} if etag else {})
        if body is None and newest is not None:
            return newest
        newest = self._parse(partial(market_prices_from, step_s=step_s), body)
        self._newest_answers[step_s] = headers.get("ETag"), newest
        return newest

    async def settled_prices_of_last_days(self, days: int, step_s: int) -> dict[int, float]:
        """Return the settled prices (EUR/MWh) from `days` days ago on, keyed by the start of each period.

        A period is `step_s` seconds long. `days` is from 2 to 14, and each day counts as 24 hours. Raises
        CannotConnect, NotTunnihind and InvalidAnswer.
        """
        _, body = await self._get(_LAST_DAYS_PATHS[step_s], query={"days": str(days)})
        if step_s == HOUR_S:
            return self._parse(series_prices_from, body)
        return self._parse(partial(market_prices_from, step_s=step_s), body).settled

    async def plan_score(self) -> PlanScore | None:
        """Return the server's scores of plans, or None if a score other than `PlanScore.week_share` is missing.

        Raises CannotConnect and InvalidAnswer.
        """
        try:
            _, body = await self._get("api/v1/accuracy")
            return self._parse(plan_score_from, body)
        except NotTunnihind:
            return None

    async def price_paths(self, zone: Market) -> dict[int, tuple[float, ...]]:
        """Return the server's equally likely price paths (EUR/MWh).

        The result maps the start of each forecast hour to the hour's price on each path. If the server has no price
        paths, the result is empty. Raises CannotConnect and InvalidAnswer.
        """
        try:
            _, body = await self._get("api/v1/scenarios")
            return self._parse(partial(price_paths_from, zone=zone), body)
        except NotTunnihind:
            return {}

    async def settled_prices_of_month(self, month: date, step_s: int, zone: Market) -> dict[int, float]:
        """Return the settled prices (EUR/MWh) of the month that begins on `month`, keyed by the start of each period.

        A period is `step_s` seconds long. Raises CannotConnect, NoPastPrices and InvalidAnswer.
        """
        query = {"month": f"{month:%Y-%m}", "resolution": _RESOLUTIONS[step_s]}
        try:
            _, body = await self._get("api/v1/history", query=query)
            return self._parse(partial(history_prices_from, zone=zone), body)
        except NotTunnihind as error:
            raise NoPastPrices(self.shown_url) from error

    async def _get(
        self, path: str, *, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[CIMultiDictProxy[str], bytes | None]:
        try:
            async with self._session.get(self._url / path, params=query, headers=headers, timeout=_TIMEOUT) as response:
                self._check_status(response)
                body = await self._read_body(response)
        except (TimeoutError, aiohttp.ClientError) as error:
            raise _connection_error(error, self.shown_url) from error
        return response.headers, None if response.status == HTTPStatus.NOT_MODIFIED else body

    async def _read_body(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            body += chunk
            if len(body) > _MAX_BYTES:
                raise LongAnswer(self.shown_url)
        return bytes(body)

    def _check_status(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if status in {HTTPStatus.OK, HTTPStatus.NOT_MODIFIED}:
            return
        url, reason, retry_after = self.shown_url, f"HTTP {status}", _retry_after(response)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            raise RateLimited(url, retry_after=retry_after)
        # Some servers answer 501, "not implemented", for an unknown path.
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED:
            raise CannotConnect(url, reason, retry_after=retry_after)
        raise NotTunnihind(url, reason)

    def _parse[Answer](self, read: Callable[[object], Answer], body: bytes | None) -> Answer:
        try:
            return read(json_loads(body or b""))
        except UnknownZoneDocument as error:
            raise UnknownPriceZone(self.shown_url, str(error)) from error
        except MalformedDocument as error:
            raise InvalidAnswer(self.shown_url, str(error)) from error
        except ValueError as error:  # the body is not JSON, or it is another program's document
            raise ForeignAnswer(self.shown_url) from error


def _connection_error(error: TimeoutError | aiohttp.ClientError, url: str) -> CannotConnect:
    # The errors in `_CONNECTION_ERRORS` have fixed texts, because the text of an exception may quote the server's
    # answer.
    known = next((failure for kind, failure in _CONNECTION_ERRORS.items() if isinstance(error, kind)), None)
    if known is ConnectionRefused and isinstance(error, OSError) and error.errno != ECONNREFUSED:
        number = error.errno or 0
        return CannotConnect(url, os.strerror(number) if number > 0 else error.strerror or str(error))
    return known(url) if known else CannotConnect(url, str(error) or type(error).__name__)


def _retry_after(response: aiohttp.ClientResponse) -> float | None:
    """Return the seconds in the header Retry-After, or None if the header is missing or not a whole number."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isascii() and value.isdigit() else None


@dataclass(frozen=True, slots=True)
class Server:
    """A server that sent valid prices. If the server didn't describe itself, `about` is None."""

    url: str
    answer: MarketPrices
    about: About | None

    @property
    def instance_id(self) -> str | None:
        """The installation's id and the zone's suffix, as the server sent them, or None if the server sent no id."""
        return self.about.instance_id if self.about else None

    @property
    def mode(self) -> Mode:
        """The kind of prices that the server serves. A server without a description counts as live."""
        return self.about.mode if self.about else Mode.LIVE

    @property
    def zone(self) -> Market:
        """The zone of the prices that the server sends at `url`."""
        return MARKET_OF_CODE[self.answer.zone]

    @property
    def addresses(self) -> dict[Market, str]:
        """The base URL of each zone of the server, except zones that the integration doesn't support.

        The host and the path prefix come from `url`, because the server may not know the address that the household
        uses. The zones' own paths come from the server's description. If there is no description, or if it doesn't fit
        `url`, only the zone of `url` is returned.
        """
        url = URL(self.url)
        paths = {MARKET_OF_CODE[code]: path for code, path in self.about.zones.items()} if self.about else {}
        own = paths.get(self.zone)
        if own is None or not url.path.rstrip("/").endswith(own):
            return {self.zone: self.url}
        root = url.path.rstrip("/").removesuffix(own)
        others = {zone: str(url.with_path(f"{root}{path}")).rstrip("/") for zone, path in paths.items()}
        return {**others, self.zone: self.url}

    @property
    def needs_zone_choice(self) -> bool:
        """True if the server has several zones and `url` doesn't name a zone."""
        return len(self.addresses) > 1 and self.about is not None and not self.about.zones[self.zone.code]

    @property
    def host(self) -> str:
        """The host name or the IP address in `url`, in lower case."""
        return URL(self.url).host or ""

    @property
    def host_and_path(self) -> str:
        """The host, port and path of `url`, without a default port. They distinguish servers on one host."""
        url = URL(self.url)
        return f"{url.host_port_subcomponent}{url.path.rstrip('/')}"

    @property
    def is_rehearsal(self) -> bool:
        """True if the server shows a past day instead of today."""
        return self.mode is Mode.REHEARSAL

    @property
    def unique_id(self) -> str:
        """The server's id in Home Assistant.

        The id is the installation's id and the zone's suffix. If the server didn't describe itself, the id begins with
        the host instead. A rehearsal's id also ends with `-rehearsal`, because a rehearsal sends the installation id of
        the live server whose data it shows.
        """
        return self.unique_id_of(self.zone)

    def unique_id_of(self, zone: Market) -> str:
        """Return the server's id in Home Assistant for the zone `zone`."""
        identity = self.about.instance_id_of(zone) if self.about else self.host + id_suffix(zone)
        return f"{identity}-{CONF_REHEARSAL}" if self.is_rehearsal else identity

    def name(self, language: str) -> str:
        """Return the server's display name in `language`. If the server didn't describe itself, return the host."""
        return server_name(self.mode, self.zone, language) if self.instance_id else self.host

    @property
    def entry_data(self) -> dict[str, Any]:
        """The data about the server that its config entry stores."""
        address = {CONF_URL: self.url, CONF_INSTANCE_ID: self.instance_id}
        zone = {} if self.zone is ESTONIA else {CONF_ZONE: self.zone.code}
        return {**address, **zone, CONF_REHEARSAL: True} if self.is_rehearsal else {**address, **zone}


async def fetch_server(hass: HomeAssistant, url: str) -> Server:
    """Request the prices and the description of the server at `url`.

    Raises CannotConnect, NotTunnihind and InvalidAnswer.
    """
    client = Client(async_get_clientsession(hass), url)
    about = await client.about()
    return Server(url, await client.newest_prices(), about)


async def server_with_quarters(hass: HomeAssistant, server: Server) -> Server:
    """Return `server` with its quarter-hour prices. If they can't be fetched, return `server` unchanged."""
    try:
        return replace(server, answer=await Client(async_get_clientsession(hass), server.url).newest_prices(QUARTER_S))
    except TunnihindError:
        return server
