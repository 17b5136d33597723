"""Bodies in their content codings, with the fields that tell caches and clients what they have."""

import gzip
from collections.abc import Callable, Mapping
from compression import zstd
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web

from tunnihind.api.http.headers import JSON, NOTHING_ALLOWED, headers
from tunnihind.api.http.messages import PreparedAnswer
from tunnihind.api.http.negotiation import Coding, has_already

_ZSTD_LEVEL: Final = 9
"""Takes as long as gzip and makes prices and pages a tenth smaller than the library's own level does."""

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
    more_fields: Mapping[str, str] | None = None,
) -> Representation:
    """Encode a body and make its header fields; `vary` names the request's fields that the body depends on.

    What isn't `of_api` says nothing about the API. `more_fields` are those of this body alone, which a 304 has too.
    `date` is the Date field of a representation that lives no longer than a second, so that its messages can be
    serialised ahead.
    """
    encoded = encode(body, coding)
    of_both = {"ETag": f"W/{tag}", "Vary": vary} | dict(more_fields or {})
    fields = headers(
        cache_control, content_type=content_type, content_security_policy=content_security_policy, of_api=of_api
    )
    fields.update(of_both)
    fields["Content-Length"] = str(len(encoded))
    if coding != "identity":
        fields["Content-Encoding"] = coding
    not_modified_fields = headers(cache_control, of_api=of_api)
    not_modified_fields.update(of_both)
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


def reply(request: web.Request, representation: Representation) -> web.StreamResponse:
    """Answer 200, or 304 where the client has the representation already."""
    if has_already(request, representation.tag):
        return representation.not_modified.response(request)
    return representation.ok.response(request)
