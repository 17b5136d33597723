"""Representations ready to be sent: encoded bytes with their header fields (RFC 9110, section 3.2)."""

import gzip
from collections.abc import Callable, Iterable
from compression import zstd
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web

from tunnihind.api.headers import NOTHING_ALLOWED, headers
from tunnihind.api.negotiation import Coding, best_coding, is_current
from tunnihind.api.ready import Ready

JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"

_TAG_BYTES: Final = 12
_FIVE_MINUTES: Final = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class Representation:
    """A body in one content coding with its opaque tag (quotes included), and what 200 and 304 send of it."""

    tag: str
    ok: Ready
    not_modified: Ready

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
    content_security_policy: str = NOTHING_ALLOWED,
    vary: str = hdrs.ACCEPT_ENCODING,
    date: str | None = None,
) -> Representation:
    """Encode a body and make its header fields; `vary` names the request's fields that the body depends on.

    `date` is the Date field of a representation that lives no longer than a second, so that its messages can be
    serialised ahead.
    """
    encoded = encode(body, coding)
    validators = {"ETag": f"W/{tag}", "Vary": vary}
    fields = headers(cache_control, content_type=content_type, content_security_policy=content_security_policy)
    fields.update(validators)
    fields["Content-Length"] = str(len(encoded))
    if coding != "identity":
        fields["Content-Encoding"] = coding
    not_modified_fields = headers(cache_control)
    not_modified_fields.update(validators)
    return Representation(
        tag,
        Ready.of(HTTPStatus.OK, fields, encoded, date=date),
        Ready.of(HTTPStatus.NOT_MODIFIED, not_modified_fields, b"", date=date),
    )


def encode(body: bytes, coding: Coding) -> bytes:
    """Apply a content coding."""
    match coding:
        case "zstd":
            return zstd.compress(body)
        case "gzip":
            return gzip.compress(body, compresslevel=6, mtime=0)
        case "identity":
            return body


def opaque_tag(*parts: object) -> str:
    """Return an entity tag, with its quotes, that differs when any of the parts does."""
    return f'"{blake2b(repr(parts).encode(), digest_size=_TAG_BYTES).hexdigest()}"'


def unchanging(
    body: bytes, *, content_type: str = JSON, cache_control: str = _FIVE_MINUTES
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
