"""HTTP for all answers: header fields, problems, content codings, conditional requests, and messages made ahead."""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from compression import zstd
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Final, Literal, Self

import msgspec
from aiohttp import HttpVersion11, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict

from tunnihind.api import request_id
from tunnihind.api.models.service import Problem

JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"
PROBLEM_JSON: Final = "application/problem+json"

METHODS: Final = "GET, HEAD, OPTIONS"

_COMMON: Final = {
    "Access-Control-Allow-Origin": "*",
    "Referrer-Policy": "no-referrer",
    # A name without a version: aiohttp's own value gives away what to attack.
    "Server": "Tunnihind",
    "X-Content-Type-Options": "nosniff",
}

_OF_API: Final = {
    "Access-Control-Expose-Headers": "Allow, ETag, Link, Retry-After, X-Request-Id",
    "Link": '</docs>; rel="service-doc", </api/openapi.json>; rel="service-desc"',
}
"""What tells clients about the API; a page's thirty files would carry it for nobody."""

_ZSTD_LEVEL: Final = 9
"""Takes as long as gzip and makes prices and pages a tenth smaller than the library's own level does."""

NOTHING_ALLOWED: Final = "default-src 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of what isn't a page; scripts and style sheets can't be opened as one and need none."""


def headers(
    cache_control: str,
    *,
    content_type: str | None = None,
    content_security_policy: str | None = NOTHING_ALLOWED,
    of_api: bool = True,
) -> CIMultiDict[str]:
    """Return the fields of an answer; without a content type it has no content."""
    fields = CIMultiDict(_COMMON | _OF_API if of_api else _COMMON)
    fields["Cache-Control"] = cache_control
    if content_type is not None:
        fields["Content-Type"] = content_type
        if content_security_policy is not None:
            fields["Content-Security-Policy"] = content_security_policy
    return fields


def preflight_headers() -> CIMultiDict[str]:
    """Return the fields that answer a CORS preflight, and any other OPTIONS request."""
    fields = headers("no-store")
    fields["Allow"] = METHODS
    fields["Access-Control-Allow-Methods"] = METHODS
    fields["Access-Control-Allow-Headers"] = "*"
    fields["Access-Control-Max-Age"] = "86400"
    return fields


DETAILS: Final[Mapping[int, str]] = {
    400: "The request makes no sense as it stands.",
    404: "There is nothing at this path. /api/openapi.json lists what there is.",
    405: "This resource is read-only: use GET, HEAD or OPTIONS.",
    413: "The request is too large. None of the resources takes a body.",
    414: "The request's address is too long.",
    417: "The server can't meet the expectation in the Expect field: leave it out.",
    429: "Too many requests from this address. Poll once a minute; nothing fresher comes sooner.",
    500: "The server made a mistake, and has logged it. Try again in a minute.",
    503: "The server has no data to answer from yet. Try again in a moment.",
}
"""What each status means here, where the answer has nothing more exact to say."""


class Problems:
    """Makes problem answers whose types lead to the API reference."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def describe(self, status: int, detail: str | None = None) -> Problem:
        """Describe a problem; without a detail with what the status means in general."""
        phrase = HTTPStatus(status).phrase
        return Problem(
            type=f"{self._base_url}/docs#problem-{status}",
            title=phrase,
            status=status,
            detail=detail or DETAILS.get(status, f"{phrase}."),
        )

    def answer(
        self, status: int, detail: str | None = None, *, fields: Mapping[str, str] | None = None
    ) -> web.Response:
        """Answer with a problem, and with further header fields where the status wants them."""
        return problem_answer(self.describe(status, detail), fields=fields)


def problem_answer(problem: Problem, *, fields: Mapping[str, str] | None = None) -> web.Response:
    """Answer with a described problem."""
    all_fields = headers("no-store", content_type=PROBLEM_JSON)
    all_fields.update(fields or {})
    return web.Response(status=problem.status, body=msgspec.json.encode(problem), headers=all_fields)


type Coding = Literal["zstd", "gzip", "identity"]

CODINGS: Final[tuple[Coding, ...]] = ("zstd", "gzip", "identity")
"""What the server can send, the smallest first: of codings that a client accepts equally, the first is sent."""

_ALIASES: Final = {"x-gzip": "gzip"}

_UNNAMED_IDENTITY: Final = 0.0005
"""The weight of identity where it isn't named: acceptable, but below 0.001, the least weight that can be named."""


@lru_cache(maxsize=256)
def best_coding(accept_encoding: str) -> Coding:
    """Choose the content coding for an Accept-Encoding field value; identity where nothing is acceptable."""
    weights = {_ALIASES.get(name, name): weight for name, weight in weighted_members(accept_encoding)}
    wildcard = weights.get("*")
    best: Coding = "identity"
    best_weight = 0.0
    for coding in CODINGS:
        unnamed = _UNNAMED_IDENTITY if coding == "identity" else 0.0
        weight = weights.get(coding, unnamed if wildcard is None else wildcard)
        if weight > best_weight:
            best, best_weight = coding, weight
    return best


def weighted_members(field: str) -> Iterator[tuple[str, float]]:
    """Yield each member of an Accept field's value in lower case with its weight; invalid ones are skipped."""
    for member in field.lower().split(","):
        name, *parameters = (part.strip() for part in member.split(";"))
        weight = _weight(parameters)
        if name and weight is not None:
            yield name, weight


def _weight(parameters: list[str]) -> float | None:
    if not parameters:
        return 1.0
    key, _, value = parameters[0].partition("=")
    if key.strip() != "q":
        return None
    try:
        weight = float(value)
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None


def is_current(if_none_match: str, tag: str) -> bool:
    """Return whether an If-None-Match field value contains the opaque tag (given with its quotes), or is `*`.

    The comparison is the weak one. Tags are quoted and contain no quotes, so to find
    ours with its quotes is to find it as a member of the list.
    """
    return tag in if_none_match or if_none_match.strip() == "*"


_TAG_BYTES: Final = 12
_FIVE_MINUTES: Final = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class Representation:
    """A body in one content coding with its opaque tag (quotes included), and what 200 and 304 send of it."""

    tag: str
    ok: PreparedAnswer
    not_modified: PreparedAnswer

    @property
    def body(self) -> bytes:
        """The encoded body."""
        return self.ok.body


def represent(
    body: bytes,
    coding: Coding,
    *,
    tag: str,
    cache_control: str,
    content_type: str = JSON,
    content_security_policy: str | None = NOTHING_ALLOWED,
    vary: str = hdrs.ACCEPT_ENCODING,
    date: str | None = None,
    of_api: bool = True,
) -> Representation:
    """Encode a body and make its header fields; `vary` names the request's fields that the body depends on.

    What isn't `of_api` says nothing about the API. `date` is the Date field of a representation that lives no longer
    than a second, so that its messages can be serialised ahead.
    """
    encoded = encode(body, coding)
    validators = {"ETag": f"W/{tag}", "Vary": vary}
    fields = headers(
        cache_control, content_type=content_type, content_security_policy=content_security_policy, of_api=of_api
    )
    fields.update(validators)
    fields["Content-Length"] = str(len(encoded))
    if coding != "identity":
        fields["Content-Encoding"] = coding
    not_modified_fields = headers(cache_control, of_api=of_api)
    not_modified_fields.update(validators)
    return Representation(
        tag,
        PreparedAnswer.of(HTTPStatus.OK, fields, encoded, date=date),
        PreparedAnswer.of(HTTPStatus.NOT_MODIFIED, not_modified_fields, b"", date=date),
    )


def encode(body: bytes, coding: Coding) -> bytes:
    """Apply a content coding."""
    match coding:
        case "zstd":
            return zstd.compress(body, level=_ZSTD_LEVEL)
        case "gzip":
            return gzip.compress(body, compresslevel=6, mtime=0)
        case "identity":
            return body


def opaque_tag(*parts: object) -> str:
    """Return an entity tag, with its quotes, that differs when any of the parts does."""
    return f'"{blake2b(repr(parts).encode(), digest_size=_TAG_BYTES).hexdigest()}"'


def unchanging(
    body: bytes,
    *,
    content_type: str = JSON,
    content_security_policy: str | None = NOTHING_ALLOWED,
    cache_control: str = _FIVE_MINUTES,
    of_api: bool = True,
) -> Callable[[Coding], Representation]:
    """Return the representations of a body that stays the same while the server runs."""

    @cache
    def of(coding: Coding) -> Representation:
        return represent(
            body,
            coding,
            tag=opaque_tag(body),
            cache_control=cache_control,
            content_type=content_type,
            content_security_policy=content_security_policy,
            of_api=of_api,
        )

    return of


def accepted_coding(request: web.Request) -> Coding:
    """Choose the content coding for a request."""
    return best_coding(_field(request.headers.getall(hdrs.ACCEPT_ENCODING, ())))


def reply(request: web.Request, representation: Representation) -> web.StreamResponse:
    """Answer 200, or 304 where the client has the representation already."""
    if_none_match = request.headers.getall(hdrs.IF_NONE_MATCH, ())
    if if_none_match and is_current(_field(if_none_match), representation.tag):
        return representation.not_modified.response(request)
    return representation.ok.response(request)


def _field(lines: Iterable[str]) -> str:
    """Join the lines of a field that is a list, as RFC 9110 section 5.3 says."""
    return ",".join(lines)


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
