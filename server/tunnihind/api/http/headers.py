"""The header fields of all answers."""

from typing import Final

from multidict import CIMultiDict

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
    "Access-Control-Expose-Headers": "Allow, ETag, Link, Retry-After, Tunnihind-VAT-Rate, X-Request-Id",
    "Link": '</docs>; rel="service-doc", </api/openapi.json>; rel="service-desc"',
}
"""What tells clients about the API; a page's thirty files would carry it for nobody."""

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
