"""How every source is asked: one GET with a deadline, a size limit, and retries that respect the other side.

All that a source says comes in here. Of its text, one line without the secret gets into an error and with it into
logs, tables and pages. Nothing but the errors of `tunnihind.errors` comes out, and none of them holds an answer.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final, NamedTuple

import stamina
import stamina.instrumentation
from aiohttp import (
    ClientConnectionError,
    ClientError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
)
from stamina.instrumentation import RetryDetails
from yarl import URL

from tunnihind import __version__
from tunnihind.clock import Clock, SystemClock
from tunnihind.errors import BadAnswer, RateLimited, SourceError, SourceRefused, SourceUnreachable
from tunnihind.foreign_text import one_line, without

_LOG: Final = logging.getLogger(__name__)

_CHUNK_BYTES: Final = 64 * 1024
_MOST_REDIRECTS: Final = 3
_REFUSAL_BYTES: Final = 64 * 1024
"""How much is read of what a source says when it refuses."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_LONGEST_WAIT_S: Final = 86_400.0


class Answer(NamedTuple):
    """An answer that the caller said it can read."""

    status: int
    body: bytes


class Heard(NamedTuple):
    """What a source said to a question, all without the secret."""

    source: str
    url: str
    status: int
    text: str


def _ignore(_heard: Heard) -> None:
    """Keep nothing."""


listener: ContextVar[Callable[[Heard], None]] = ContextVar("listener", default=_ignore)
"""Who is told of every answer, refusals included, before it is read: `tunnihind check --save` keeps them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How long to wait for a source and how hard to press it.

    `patience_s` is the longest Retry-After that is waited for within a call. `leave_alone_s` is for how long a
    source is left alone that says 429 without saying for how long.
    """

    total_s: float = 30.0
    connect_s: float = 5.0
    attempts: int = 4
    give_up_s: float = 60.0
    patience_s: float = 10.0
    leave_alone_s: float = 60.0
    max_bytes: int = 8 * 1024 * 1024


def user_agent(contact: str) -> str:
    """Return how the server names itself to upstreams, with the operator's contact where one is set."""
    return f"Tunnihind/{__version__} (+{contact})" if contact else f"Tunnihind/{__version__}"


def open_session(contact: str) -> ClientSession:
    """Open the one session that all sources share; proxies are taken from the environment, cookies are not kept.

    Retries are logged in plain words from then on, in place of stamina's own.
    """
    stamina.instrumentation.set_on_retry_hooks([_log_retry])
    return ClientSession(headers={"User-Agent": user_agent(contact)}, cookie_jar=DummyCookieJar(), trust_env=True)


def _log_retry(details: RetryDetails) -> None:
    _LOG.debug("%s; trying again in %.1f s", details.caused_by, details.wait_for)


class Upstream:
    """One source's side of the session."""

    def __init__(
        self,
        session: ClientSession,
        source: str,
        *,
        manners: Manners | None = None,
        secret: str = "",
        clock: Clock | None = None,
    ) -> None:
        self.source = source
        self._session = session
        self._manners = manners or Manners()
        self._secret = secret
        self._clock = clock or SystemClock()

    async def get[Content](
        self,
        url: str,
        params: Mapping[str, str],
        read: Callable[[Answer], Content],
        *,
        accept: Collection[int] = (200,),
    ) -> Content:
        """Return what `read` makes of the answer, whose status is one of `accept`.

        What is unreachable, overloaded (408, 5xx) or asks for a short pause (Retry-After) is tried again; another
        4xx never is, nor what `read` refuses. Raises SourceUnreachable, SourceRefused, RateLimited or BadAnswer.
        """
        try:
            return read(await self._fetch(url, params, accept))
        except SourceError as error:
            failure = error
        raise failure.retold(self.told)

    def told(self, text: str) -> str:
        """Return what of the source's text may be told on: one line, without the secret."""
        return one_line(text, self._secret)

    async def _fetch(self, url: str, params: Mapping[str, str], accept: Collection[int]) -> Answer:
        manners = self._manners
        attempts = stamina.retry_context(
            on=self._pause_before_retry,
            attempts=manners.attempts,
            timeout=manners.give_up_s,
            wait_initial=0.5,
            wait_max=8.0,
            wait_jitter=1.0,
        )
        async for attempt in attempts:
            with attempt:
                return await self._get_once(url, params, accept)
        raise AssertionError("stamina re-raises the last error")

    def _pause_before_retry(self, error: Exception) -> bool | float:
        """Return whether to try again, or after how many seconds when the source itself said so."""
        match error:
            case RateLimited(retry_after_s=wait_s):
                return wait_s if wait_s <= self._manners.patience_s else False
            case SourceRefused(status=status):
                return status == HTTPStatus.REQUEST_TIMEOUT or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            case _:
                return isinstance(error, SourceUnreachable)

    async def _get_once(self, url: str, params: Mapping[str, str], accept: Collection[int]) -> Answer:
        # A client's exceptions can carry the URL, and with it the secret: none of them is chained.
        try:
            async with asyncio.timeout(self._manners.total_s):
                return await self._follow(URL(url).update_query(params), accept)
        except TimeoutError:
            raise SourceUnreachable(self.source, f"no answer within {self._manners.total_s:g} s") from None
        except (ClientConnectionError, ClientPayloadError) as error:
            raise SourceUnreachable(self.source, f"the connection failed: {self.told(str(error))}") from None
        except ClientError as error:
            raise BadAnswer(self.source, f"it does not speak proper HTTP ({type(error).__name__})") from None

    async def _follow(self, configured: URL, accept: Collection[int]) -> Answer:
        """Ask, and follow redirects that stay with the source."""
        url = configured
        timeout = ClientTimeout(total=None, connect=self._manners.connect_s)
        for _ in range(1 + _MOST_REDIRECTS):
            async with self._session.get(url, timeout=timeout, allow_redirects=False) as response:
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return await self._answer(response, accept)
                url = self.redirected(configured, url, location)
        raise BadAnswer(self.source, f"it redirects more than {_MOST_REDIRECTS} times")

    def redirected(self, configured: URL, asked: URL, location: str) -> URL:
        """Return where a redirect leads: to the host that the operator named, by its protocol or a safer one.

        Raises BadAnswer on any other.
        """
        try:
            url = asked.join(URL(location))
        except ValueError:
            raise BadAnswer(self.source, f"it redirects to what is no address: {self.told(location)}") from None
        if url.host != configured.host or url.scheme not in {configured.scheme, "https"}:
            target = self.told(f"{url.scheme}://{url.host}{url.path}")
            raise BadAnswer(self.source, f"it redirects to {target}, and only its own host is followed, by https")
        return url

    async def _answer(self, response: ClientResponse, accept: Collection[int]) -> Answer:
        is_accepted = response.status in accept
        most = self._manners.max_bytes if is_accepted else _REFUSAL_BYTES
        body = await _read(response, most)
        self._tell_listener(response, body)
        if not is_accepted:
            raise self._refusal(response, body)
        if len(body) > most:
            raise BadAnswer(self.source, f"the answer is larger than {most} bytes")
        _LOG.debug("%s answered %d with %d bytes", self.source, response.status, len(body))
        return Answer(response.status, body)

    def _tell_listener(self, response: ClientResponse, body: bytes) -> None:
        listen = listener.get()
        if listen is not _ignore:
            # Of other encodings the letters are told, with gaps in which the secret is found too.
            text = body.decode("utf-8", "replace").replace("\0", " ")
            url = without(self._secret, str(response.url))
            listen(Heard(self.source, url, response.status, without(self._secret, text)))

    def _refusal(self, response: ClientResponse, body: bytes) -> SourceRefused:
        status = response.status
        words = self.told(body.decode("utf-8", "replace"))
        problem = f"HTTP {status}" + (f": {words}" if words else "")
        wait_s = self._retry_after(response.headers.get("Retry-After"))
        if wait_s is None and status == HTTPStatus.TOO_MANY_REQUESTS:
            wait_s = self._manners.leave_alone_s
        overloaded = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if overloaded and wait_s is not None:
            return RateLimited(self.source, problem, status=status, retry_after_s=wait_s)
        return SourceRefused(self.source, problem, status=status)

    def _retry_after(self, header: str | None) -> float | None:
        """Read a Retry-After header (RFC 9110, 10.2.3): seconds or a date."""
        if header is None:
            return None
        if header.strip().isdecimal():
            return min(float(header), _LONGEST_WAIT_S)
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        # A date that says "-0000" comes without a zone and is UTC too.
        wait_s = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - self._clock.now()
        return min(max(wait_s, 0.0), _LONGEST_WAIT_S)


async def _read(response: ClientResponse, most: int) -> bytes:
    """Read a body, and stop as soon as it is longer than `most` bytes."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        body += chunk
        if len(body) > most:
            break
    return bytes(body)
