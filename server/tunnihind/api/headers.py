"""The header fields that every answer carries, errors and 304 included."""

from typing import Final

from multidict import CIMultiDict

METHODS: Final = "GET, HEAD, OPTIONS"

_COMMON: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Allow, ETag, Link, Retry-After",
    "Link": '</docs>; rel="service-doc", </api/openapi.json>; rel="service-desc"',
    "Referrer-Policy": "no-referrer",
    # A name without a version: aiohttp's own value gives away what to attack.
    "Server": "Tunnihind",
    "X-Content-Type-Options": "nosniff",
}

NOTHING_ALLOWED: Final = "default-src 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of everything that isn't a page."""


def headers(
    cache_control: str, *, content_type: str | None = None, content_security_policy: str = NOTHING_ALLOWED
) -> CIMultiDict[str]:
    """Return the fields of an answer; without a content type it has no content."""
    fields = CIMultiDict(_COMMON)
    fields["Cache-Control"] = cache_control
    if content_type is not None:
        fields["Content-Type"] = content_type
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
