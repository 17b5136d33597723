"""Answers made ahead of the requests for them, as header fields and body or as the whole serialised message.

aiohttp serialises the fields of every response anew. For an answer that is the same for everybody within a
second, that and what surrounds it is a quarter of the price of a request, the kernel's share included
(`tests/benchmarks/bench_requests.py`).
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict


@dataclass(frozen=True, slots=True)
class Ready:
    """An answer for any number of requests."""

    status: HTTPStatus
    fields: CIMultiDict[str]
    body: bytes
    message: bytes | None

    @classmethod
    def of(cls, status: HTTPStatus, fields: CIMultiDict[str], body: bytes, *, date: str | None) -> Self:
        """Make an answer, serialised where its Date field can be known ahead."""
        if date is None:
            return cls(status, fields, body, None)
        fields = CIMultiDict(fields, Date=date)
        return cls(status, fields, body, _message(status, fields, body))

    def response(self, request: web.Request) -> web.StreamResponse:
        """Answer a request with this."""
        if self.message is not None and _takes_message(request):
            return _MessageResponse(self.message, status=self.status, fields=self.fields)
        return web.Response(status=self.status, headers=self.fields, body=self.body or None)


def _message(status: HTTPStatus, fields: CIMultiDict[str], body: bytes) -> bytes:
    """Serialise an HTTP/1.1 message (RFC 9112, section 2.1)."""
    head = (f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in fields.items()))
    return "\r\n".join((*head, "", "")).encode("latin-1") + body


def _takes_message(request: web.Request) -> bool:
    """Tell whether a serialised message fits: HTTP/1.1, the body wanted, and no `Connection: close` to be added."""
    return request.version == HttpVersion11 and request.method == "GET" and request.keep_alive


class _MessageResponse(web.StreamResponse):
    """Sends a serialised message as it is."""

    def __init__(self, message: bytes, *, status: int, fields: CIMultiDict[str]) -> None:
        super().__init__(status=status, headers=fields)
        self._message = message

    @property
    def keep_alive(self) -> bool:
        """The connection stays open."""
        return True

    @property
    def body_length(self) -> int:
        """What the access log calls the size, which is that of the whole message for aiohttp too."""
        return len(self._message)

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        """Send all of it, and wait for a client that reads too slowly."""
        await request.writer.write_eof(self._message)
        return request.writer

    async def write_eof(self, data: bytes = b"") -> None:
        """Do nothing: all of it has been sent."""
