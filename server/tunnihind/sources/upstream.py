"""Sends GET requests to the sources, with limits of time and size, and with retries.

All requests to sources use this module. A failed request raises a SourceError. Logs and commands show the error, so its
`problem` is a single line of at most 300 characters, and hides the operator's secret. To save memory, an error does not
keep the whole answer.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
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
from tunnihind.errors import (
    BadAnswer,
    RateLimited,
    SourceError,
    SourceRefused,
    SourceUnreachable,
    TokenRefused,
    hide_secret,
    one_line,
)
from tunnihind.numerals import whole_number

_LOG: Final = logging.getLogger(__name__)

_CHUNK_BYTES: Final = 64 * 1024
_MAX_REDIRECTS: Final = 3
_REFUSAL_BYTES: Final = 64 * 1024
"""A refusal's body is read until it ends or exceeds this many bytes."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_LONGEST_WAIT_S: Final = 86_400.0


class Answer(NamedTuple):
    """An answer with a status that the caller accepts."""

    status: int
    body: bytes


class RecordedAnswer(NamedTuple):
    """An answer in the form that `tunnihind check --save` stores, without the operator's secret."""

    source: str
    url: str
    status: int
    text: str


answer_recorder: ContextVar[Callable[[RecordedAnswer], None] | None] = ContextVar("answer_recorder", default=None)
"""If a function is set here, it is called with every answer before the answer is parsed. Refusals count as answers, but
redirects do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """The limits of requests to a source.

    One attempt takes at most `timeout_s` seconds. If `give_up_after_s` seconds have passed since the first attempt
    began, a failed attempt is not repeated. If an answer with status 429 or 5xx asks for a pause (Retry-After) of more
    than `longest_wait_s` seconds, `Upstream.get` raises RateLimited instead of waiting. An answer with status 429
    and without a valid Retry-After counts as asking for a pause of `wait_without_retry_after_s` seconds.
    """

    timeout_s: float = 30.0
    connect_timeout_s: float = 5.0
    attempts: int = 4
    give_up_after_s: float = 60.0
    longest_wait_s: float = 10.0
    wait_without_retry_after_s: float = 60.0
    max_bytes: int = 8 * 1024 * 1024


def user_agent(contact: str) -> str:
    """Return the User-Agent header, with `contact` (the operator's e-mail address or URL) unless it is empty."""
    return f"Tunnihind/{__version__} (+{contact})" if contact else f"Tunnihind/{__version__}"


def open_session(contact: str) -> ClientSession:
    """Open the HTTP session for all sources, and make the library `stamina` log retries with `_log_retry`.

    The session keeps no cookies, and uses the proxies that environment variables name.
    """
    stamina.instrumentation.set_on_retry_hooks([_log_retry])
    return ClientSession(headers={"User-Agent": user_agent(contact)}, cookie_jar=DummyCookieJar(), trust_env=True)


def _log_retry(details: RetryDetails) -> None:
    _LOG.debug("%s; trying again in %.1f s", details.caused_by, details.wait_for)


class Upstream:
    """Sends requests to one source."""

    def __init__(
        self,
        session: ClientSession,
        source: str,
        *,
        policy: RequestPolicy,
        secret: str = "",
        clock: Clock | None = None,
    ) -> None:
        self.source = source
        self._session = session
        self._policy = policy
        self._secret = secret
        self._clock = clock or SystemClock()

    async def get[Content](
        self,
        url: str,
        params: Mapping[str, str],
        parse: Callable[[Answer], Content],
        *,
        accepted_statuses: Collection[int] = (200,),
    ) -> Content:
        """Send a request, and return the result of `parse` for the answer.

        Within the limits of the policy, the request is retried if the source can't be reached, answers 408, answers 5xx
        without a valid Retry-After, or asks for a short pause with 429 or 5xx. Other failures are not retried. Raises
        SourceUnreachable, SourceRefused, RateLimited, BadAnswer, and each SourceError that `parse` raises.
        """
        try:
            return parse(await self._get_with_retries(url, params, accepted_statuses))
        except SourceError as error:
            failure = error
        raise failure.redact_with(self.redacted_text)

    def redacted_text(self, text: str) -> str:
        """Return the beginning of a source's text on one line, with the operator's secret hidden."""
        return one_line(text, self._secret)

    async def _get_with_retries(
        self, url: str, params: Mapping[str, str], accepted_statuses: Collection[int]
    ) -> Answer:
        policy = self._policy
        attempts = stamina.retry_context(
            on=self._pause_before_retry,
            attempts=policy.attempts,
            timeout=policy.give_up_after_s,
            wait_initial=0.5,
            wait_max=8.0,
            wait_jitter=1.0,
        )
        async for attempt in attempts:
            with attempt:
                return await self._get_once(url, params, accepted_statuses)
        raise AssertionError("stamina re-raises the last error")

    def _pause_before_retry(self, error: Exception) -> bool | float:
        """Return whether to retry after an error, or the pause in seconds if the source asked for a short pause."""
        match error:
            case RateLimited(retry_after_s=wait_s):
                return wait_s if wait_s <= self._policy.longest_wait_s else False
            case SourceRefused(status=status):
                return status == HTTPStatus.REQUEST_TIMEOUT or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            case _:
                return isinstance(error, SourceUnreachable)

    async def _get_once(self, url: str, params: Mapping[str, str], accepted_statuses: Collection[int]) -> Answer:
        # The SourceErrors have no cause, because aiohttp's exceptions can contain the URL with the secret.
        try:
            async with asyncio.timeout(self._policy.timeout_s):
                return await self._follow_redirects(URL(url).update_query(params), accepted_statuses)
        except TimeoutError:
            raise SourceUnreachable(self.source, f"no answer within {self._policy.timeout_s:g} s") from None
        except (ClientConnectionError, ClientPayloadError) as error:
            raise SourceUnreachable(self.source, f"the connection failed: {self.redacted_text(str(error))}") from None
        except ClientError as error:
            raise BadAnswer(self.source, f"its answer is not valid HTTP ({type(error).__name__})") from None

    async def _follow_redirects(self, configured: URL, accepted_statuses: Collection[int]) -> Answer:
        """Send the request, and follow redirects to the same host."""
        url = configured
        timeout = ClientTimeout(total=None, connect=self._policy.connect_timeout_s)
        for _ in range(1 + _MAX_REDIRECTS):
            async with self._session.get(url, timeout=timeout, allow_redirects=False) as response:
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return await self._read_answer(response, accepted_statuses)
                url = self.redirect_target(configured, url, location)
        raise BadAnswer(self.source, f"it redirects more than {_MAX_REDIRECTS} times")

    def redirect_target(self, configured: URL, asked: URL, location: str) -> URL:
        """Return the target address of a redirect.

        Raises BadAnswer if the address is invalid, or has another host than `configured`, or if its protocol is neither
        https nor that of `configured`.
        """
        try:
            url = asked.join(URL(location))
        except ValueError:
            raise BadAnswer(
                self.source, f"it redirects to an invalid address: {self.redacted_text(location)}"
            ) from None
        if url.host != configured.host or url.scheme not in {configured.scheme, "https"}:
            target = self.redacted_text(f"{url.scheme}://{url.host}{url.path}")
            advice = "redirects to another host, or from https to http, are not followed"
            raise BadAnswer(self.source, f"it redirects to {target}; {advice}")
        return url

    async def _read_answer(self, response: ClientResponse, accepted_statuses: Collection[int]) -> Answer:
        is_accepted = response.status in accepted_statuses
        max_bytes = self._policy.max_bytes if is_accepted else _REFUSAL_BYTES
        body = await _read_body(response, max_bytes)
        self._record_answer(response, body)
        if not is_accepted:
            raise self._refusal_error(response, body)
        if len(body) > max_bytes:
            raise BadAnswer(self.source, f"the answer is larger than {max_bytes} bytes")
        _LOG.debug("%s answered %d with %d bytes", self.source, response.status, len(body))
        return Answer(response.status, body)

    def _record_answer(self, response: ClientResponse, body: bytes) -> None:
        record = answer_recorder.get()
        if record is not None:
            # If UTF-16 text is decoded as UTF-8, the letters are separated by characters U+0000. Spaces replace these
            # characters, so that `hide_secret` finds the secret and hides it.
            text = body.decode("utf-8", "replace").replace("\0", " ")
            url = hide_secret(self._secret, str(response.url))
            record(RecordedAnswer(self.source, url, response.status, hide_secret(self._secret, text)))

    def _refusal_error(self, response: ClientResponse, body: bytes) -> SourceRefused:
        status = response.status
        words = self.redacted_text(body.decode("utf-8", "replace"))
        problem = f"HTTP {status}" + (f": {words}" if words else "")
        wait_s = self._retry_after_s(response.headers.get("Retry-After"))
        if wait_s is None and status == HTTPStatus.TOO_MANY_REQUESTS:
            wait_s = self._policy.wait_without_retry_after_s
        overloaded = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
        if overloaded and wait_s is not None:
            return RateLimited(self.source, problem, status=status, retry_after_s=wait_s)
        if self._secret and status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return TokenRefused(self.source, problem, status=status)
        return SourceRefused(self.source, problem, status=status)

    def _retry_after_s(self, header: str | None) -> float | None:
        """Parse a Retry-After header of seconds or a date (RFC 9110, 10.2.3), and return the seconds to wait.

        The result is at most a day. If the header is missing or invalid, return None.
        """
        if header is None:
            return None
        with suppress(ValueError):
            if (asked_s := whole_number(header.strip())) >= 0:
                return min(asked_s, _LONGEST_WAIT_S)
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        # A date with the zone "-0000" means UTC, but is parsed without a zone.
        wait_s = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - self._clock.now()
        return min(max(wait_s, 0.0), _LONGEST_WAIT_S)


async def _read_body(response: ClientResponse, max_bytes: int) -> bytes:
    """Read a body until it ends or exceeds `max_bytes` bytes."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        body += chunk
        if len(body) > max_bytes:
            break
    return bytes(body)
