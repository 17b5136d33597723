"""Makes answers that can be sent many times: encoded bodies with their header fields."""

import gzip
from collections.abc import Callable, Mapping
from compression import zstd
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Final, Self

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict

from tunnihind.api import request_id
from tunnihind.api.http.headers import DENY_ALL_CSP, JSON_CONTENT_TYPE, Coding, client_has_answer, headers

type Message = tuple[bytes, bytes]
"""The first line and the rest of a serialised HTTP message. The request's id is sent between them."""


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """An answer that can be sent to any number of clients.

    `message` is the HTTP message without a request's id, serialised once for all clients. With such messages, the
    server answers 1.7 times as many requests in the same processor time (`tests/benchmarks/bench_requests.py`). If
    `message` is None, aiohttp serialises each response.
    """

    status: HTTPStatus
    fields: CIMultiDict[str]
    body: bytes
    message: Message | None

    @classmethod
    def of(cls, status: HTTPStatus, fields: CIMultiDict[str], body: bytes, *, date: str | None) -> Self:
        """Make an answer. If `date` is given, serialise the message with `date` as the Date field."""
        if date is None:
            return cls(status, fields, body, None)
        fields = CIMultiDict(fields, Date=date)
        return cls(status, fields, body, _message(status, fields, body))

    def response(self, request: web.Request) -> web.StreamResponse:
        """Return a response that sends `message`.

        If `message` is None, or if `_may_send_message(request)` is false, return a response that aiohttp serialises.
        """
        if self.message is not None and _may_send_message(request):
            return _MessageResponse(self, self.message)
        return self.plain_response()

    def plain_response(self) -> web.Response:
        """Return a response that aiohttp serialises."""
        return web.Response(status=self.status, headers=self.fields, body=self.body or None)


def _message(status: HTTPStatus, fields: CIMultiDict[str], body: bytes) -> Message:
    """Serialise an HTTP/1.1 message (RFC 9112, section 2.1)."""
    lines = (f"{name}: {value}" for name, value in fields.items())
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode("latin-1"),
        "\r\n".join((*lines, "", "")).encode("latin-1") + body,
    )


def _may_send_message(request: web.Request) -> bool:
    """Return whether a request is a GET in HTTP/1.1 on a connection that stays open."""
    return request.version == HttpVersion11 and request.method == "GET" and request.keep_alive


class _MessageResponse(web.StreamResponse):
    """Sends a serialised message, and adds the request's id."""

    def __init__(self, answer: PreparedAnswer, message: Message) -> None:
        super().__init__(status=answer.status, headers=answer.fields)
        self.answer = answer
        self._message = message

    @property
    def keep_alive(self) -> bool:
        return True

    @property
    def body_length(self) -> int:
        """The size of the message in bytes without the request's id, for the access log."""
        return sum(map(len, self._message))

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Send the message. If the client reads too slowly, wait."""
        status_line, rest = self._message
        name = self.headers[request_id.HEADER_FIELD].encode("ascii")
        await request.writer.write_eof(b"%bX-Request-Id: %b\r\n%b" % (status_line, name, rest))
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing, because `prepare` has sent everything."""


def closing_response(response: web.StreamResponse) -> web.StreamResponse:
    """Return a response that gives the same answer as `response`, and then closes the connection."""
    closing = response.answer.plain_response() if isinstance(response, _MessageResponse) else response
    closing.force_close()
    return closing


_ZSTD_LEVEL: Final = 9
"""At this level, pages are about 10% smaller than at the library's default level, and the longest answers are about
15% smaller. Compressing the longest answers takes no longer than with gzip."""

_TAG_BYTES: Final = 12
CACHE_FOR_EVER: Final = "public, max-age=31536000, immutable"
_CACHE_FIVE_MINUTES: Final = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class Representation:
    """The answers 200 and 304 for a body in one content coding. `tag` is the body's entity tag in double quotes."""

    tag: str
    ok_answer: PreparedAnswer
    not_modified_answer: PreparedAnswer

    @property
    def body(self) -> bytes:
        """The encoded body."""
        return self.ok_answer.body


def represent(
    body: bytes,
    coding: Coding,
    *,
    tag: str,
    cache_control: str,
    content_type: str = JSON_CONTENT_TYPE,
    content_security_policy: str | None = DENY_ALL_CSP,
    vary: str = hdrs.ACCEPT_ENCODING,
    date: str | None = None,
    with_api_fields: bool = True,
    more_fields: Mapping[str, str] | None = None,
) -> Representation:
    """Encode a body, and make the answers 200 and 304 with their header fields.

    `vary` names the request's header fields on which the body depends. If `with_api_fields` is true, the answers have
    the header fields `_API_FIELDS` of the module `api.http.headers`. If `date` is given, the messages are serialised
    with `date` as their Date field, so they may be sent for at most a second.
    """
    encoded = encode(body, coding)
    of_both = {"ETag": f"W/{tag}", "Vary": vary} | dict(more_fields or {})
    fields = headers(
        cache_control,
        content_type=content_type,
        content_security_policy=content_security_policy,
        with_api_fields=with_api_fields,
    )
    fields.update(of_both)
    fields["Content-Length"] = str(len(encoded))
    if coding != "identity":
        fields["Content-Encoding"] = coding
    not_modified_fields = headers(cache_control, with_api_fields=with_api_fields)
    not_modified_fields.update(of_both)
    return Representation(
        tag,
        PreparedAnswer.of(HTTPStatus.OK, fields, encoded, date=date),
        PreparedAnswer.of(HTTPStatus.NOT_MODIFIED, not_modified_fields, b"", date=date),
    )


def encode(body: bytes, coding: Coding) -> bytes:
    """Compress a body. If `coding` is `identity`, return the body unchanged."""
    match coding:
        case "zstd":
            return zstd.compress(body, level=_ZSTD_LEVEL)
        case "gzip":
            return gzip.compress(body, compresslevel=6, mtime=0)
        case "identity":
            return body


def opaque_tag(*parts: object) -> str:
    """Return a quoted entity tag that changes if any of the `parts` changes."""
    return f'"{blake2b(repr(parts).encode(), digest_size=_TAG_BYTES).hexdigest()}"'


def representation_maker(
    body: bytes,
    *,
    content_type: str = JSON_CONTENT_TYPE,
    content_security_policy: str | None = DENY_ALL_CSP,
    cache_control: str = _CACHE_FIVE_MINUTES,
    with_api_fields: bool = True,
) -> Callable[[Coding], Representation]:
    """Return a function that makes the representation of `body` in a given coding, once for each coding."""

    @cache
    def of(coding: Coding) -> Representation:
        return represent(
            body,
            coding,
            tag=opaque_tag(body),
            cache_control=cache_control,
            content_type=content_type,
            content_security_policy=content_security_policy,
            with_api_fields=with_api_fields,
        )

    return of


def reply(request: web.Request, representation: Representation) -> web.StreamResponse:
    """Answer 200, or 304 if the client already has the representation."""
    if client_has_answer(request, representation.tag):
        return representation.not_modified_answer.response(request)
    return representation.ok_answer.response(request)
