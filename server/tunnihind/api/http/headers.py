"""Makes the header fields of answers, and reads the fields Accept, Accept-Encoding and If-None-Match of requests."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, Literal

from aiohttp import hdrs, web
from multidict import CIMultiDict

from tunnihind.numerals import decimal_number

JSON_CONTENT_TYPE: Final = "application/json"
HTML_CONTENT_TYPE: Final = "text/html; charset=utf-8"
PROBLEM_CONTENT_TYPE: Final = "application/problem+json"

ALLOWED_METHODS: Final = "GET, HEAD, OPTIONS"

_COMMON_FIELDS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Referrer-Policy": "no-referrer",
    # aiohttp's own Server field would reveal the versions of aiohttp and Python to attackers.
    "Server": "Tunnihind",
    "X-Content-Type-Options": "nosniff",
}

_API_FIELDS: Final = {
    "Access-Control-Expose-Headers": "Allow, ETag, Link, Retry-After, Tunnihind-VAT-Rate, X-Request-Id",
    "Link": '</docs>; rel="service-doc", </api/openapi.json>; rel="service-desc"',
}
"""Additional header fields of the API's answers, and of all pages except the 404 page. Redirects and the pages' files
lack these fields."""

DENY_ALL_CSP: Final = "default-src 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of SVG pictures, and of the API's answers with content."""


def headers(
    cache_control: str,
    *,
    content_type: str | None = None,
    content_security_policy: str | None = DENY_ALL_CSP,
    with_api_fields: bool = True,
) -> CIMultiDict[str]:
    """Return the header fields of an answer.

    If `content_type` is None, the answer has no content, and gets no Content-Security-Policy.
    """
    fields = CIMultiDict(_COMMON_FIELDS | _API_FIELDS if with_api_fields else _COMMON_FIELDS)
    fields["Cache-Control"] = cache_control
    if content_type is not None:
        fields["Content-Type"] = content_type
        if content_security_policy is not None:
            fields["Content-Security-Policy"] = content_security_policy
    return fields


def preflight_headers() -> CIMultiDict[str]:
    """Return the header fields of the answer to an OPTIONS request, such as a CORS preflight."""
    fields = headers("no-store")
    fields["Allow"] = ALLOWED_METHODS
    fields["Access-Control-Allow-Methods"] = ALLOWED_METHODS
    fields["Access-Control-Allow-Headers"] = "*"
    fields["Access-Control-Max-Age"] = "86400"
    return fields


def wants_page(request: web.Request) -> bool:
    """Return whether the client asks for `text/html` by name, as a browser does when it opens a page."""
    return any(
        name == "text/html" and weight > 0
        for name, weight in names_with_weights(_joined_field(request.headers.getall(hdrs.ACCEPT, ())))
    )


type Coding = Literal["zstd", "gzip", "identity"]

CODINGS: Final[tuple[Coding, ...]] = ("zstd", "gzip", "identity")
"""The supported content codings, from the smallest bodies to the largest. If a client accepts several codings equally,
the first of them is chosen."""

_CODING_ALIASES: Final = {"x-gzip": "gzip"}

_UNNAMED_IDENTITY_WEIGHT: Final = 0.0005
"""The weight of `identity` if a client names neither `identity` nor `*`. In RFC 9110, the lowest weight above 0 is
0.001, so each coding that the client accepts by name is preferred."""


def coding_for_request(request: web.Request) -> Coding:
    """Choose the content coding for a request by its Accept-Encoding fields."""
    return coding_for_field(_joined_field(request.headers.getall(hdrs.ACCEPT_ENCODING, ())))


@lru_cache(maxsize=256)
def coding_for_field(accept_encoding: str) -> Coding:
    """Choose the content coding for an Accept-Encoding value. If no coding is acceptable, choose `identity`."""
    weights = {_CODING_ALIASES.get(name, name): weight for name, weight in names_with_weights(accept_encoding)}
    wildcard = weights.get("*")
    best: Coding = "identity"
    best_weight = 0.0
    for coding in CODINGS:
        unnamed = _UNNAMED_IDENTITY_WEIGHT if coding == "identity" else 0.0
        weight = weights.get(coding, unnamed if wildcard is None else wildcard)
        if weight > best_weight:
            best, best_weight = coding, weight
    return best


def names_with_weights(field: str) -> Iterator[tuple[str, float]]:
    """Yield the name, in lower case, and the weight of each member of an Accept or Accept-Encoding value.

    The default weight is 1. Members without a name, and members with an invalid weight, are skipped.
    """
    for member in field.lower().split(","):
        name, *parameters = (part.strip() for part in member.split(";"))
        weight = _weight(parameters)
        if name and weight is not None:
            yield name, weight


def _weight(parameters: list[str]) -> float | None:
    named = (parameter.partition("=") for parameter in parameters)
    try:
        weight = decimal_number(next((value for key, _, value in named if key.strip() == "q"), "1").strip())
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None


def client_has_answer(request: web.Request, tag: str) -> bool:
    """Return whether the client has the answer with the entity tag `tag`, as the request's If-None-Match fields say."""
    if_none_match = request.headers.getall(hdrs.IF_NONE_MATCH, ())
    return bool(if_none_match) and has_matching_tag(_joined_field(if_none_match), tag)


def has_matching_tag(if_none_match: str, tag: str) -> bool:
    """Return whether the value of an If-None-Match field is `*` or contains `tag`.

    `tag` must include its double quotes, so that `tag` is not found inside a longer tag. The comparison is weak: `W/`
    before a tag is ignored (RFC 9110, section 8.8.3.2).
    """
    return tag in if_none_match or if_none_match.strip() == "*"


def _joined_field(lines: Iterable[str]) -> str:
    """Join the values of a repeated header field into one value (RFC 9110, section 5.3)."""
    return ",".join(lines)
