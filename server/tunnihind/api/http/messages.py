"""Answers that are made once and sent many times, as whole messages where they can be."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict

from tunnihind.api import request_id

type Message = tuple[bytes, bytes]
"""A serialised message: its first line, and the rest. Between them goes the field that each request has to itself."""


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """An answer for any number of requests, as header fields and body, and where possible as the whole message.

    aiohttp serialises the fields of every response again. For an answer that is the same for everybody within a
    second, a message serialised once answers 1.7 times as many requests for the same processor time
    (`tests/benchmarks/bench_requests.py`). That is why `_MessageResponse` does aiohttp's work here.
    """

    status: HTTPStatus
    fields: CIMultiDict[str]
    body: bytes
    message: Message | None

    @classmethod
    def of(cls, status: HTTPStatus, fields: CIMultiDict[str], body: bytes, *, date: str | None) -> Self:
        """Make an answer, serialised where its Date field can be known ahead."""
        if date is None:
            return cls(status, fields, body, None)
        fields = CIMultiDict(fields, Date=date)
        return cls(status, fields, body, _message(status, fields, body))

    def response(self, request: web.Request) -> web.StreamResponse:
        """Return the response to one request."""
        if self.message is not None and _takes_message(request):
            return _MessageResponse(self, self.message)
        return self.plain_response()

    def plain_response(self) -> web.Response:
        """Return a response whose head aiohttp makes."""
        return web.Response(status=self.status, headers=self.fields, body=self.body or None)


def _message(status: HTTPStatus, fields: CIMultiDict[str], body: bytes) -> Message:
    """Serialise an HTTP/1.1 message (RFC 9112, section 2.1)."""
    lines = (f"{name}: {value}" for name, value in fields.items())
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode("latin-1"),
        "\r\n".join((*lines, "", "")).encode("latin-1") + body,
    )


def _takes_message(request: web.Request) -> bool:
    """Tell whether a serialised message fits: HTTP/1.1, the body wanted, and no `Connection: close` to be added."""
    return request.version == HttpVersion11 and request.method == "GET" and request.keep_alive


class _MessageResponse(web.StreamResponse):
    """Sends a serialised message, with the request's id."""

    def __init__(self, answer: PreparedAnswer, message: Message) -> None:
        super().__init__(status=answer.status, headers=answer.fields)
        self.answer = answer
        self._message = message

    @property
    def keep_alive(self) -> bool:
        """The connection stays open."""
        return True

    @property
    def body_length(self) -> int:
        """What the access log calls the size, which is that of the whole message for aiohttp too."""
        return sum(map(len, self._message))

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Send all of it, and wait for a client that reads too slowly."""
        status_line, rest = self._message
        name = self.headers[request_id.FIELD].encode("ascii")
        await request.writer.write_eof(b"%bX-Request-Id: %b\r\n%b" % (status_line, name, rest))
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing: all of it has been sent."""


def last_answer(response: web.StreamResponse) -> web.StreamResponse:
    """Return a response after which the connection ends, and which says so (`Connection: close`)."""
    closing = response.answer.plain_response() if isinstance(response, _MessageResponse) else response
    closing.force_close()
    return closing
