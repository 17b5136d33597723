"""Makes problem answers (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import web

from tunnihind.api.http.headers import PROBLEM_CONTENT_TYPE, headers
from tunnihind.api.models.service import Problem

DEFAULT_DETAILS: Final[Mapping[int, str]] = {
    400: "The request is invalid.",
    404: "Not found. /api/openapi.json lists all resources.",
    405: "This resource is read-only: use GET, HEAD or OPTIONS.",
    413: "The request is too large. None of the resources takes a body.",
    414: "The request's address is too long.",
    417: "The server can't meet the expectation in the Expect field: leave it out.",
    429: "Too many requests from this address. Poll once a minute; nothing fresher comes sooner.",
    500: "Internal error, logged. Try again in a minute.",
    503: "The server has no data to answer from yet. Try again in a moment.",
}
"""The text of a problem by HTTP status, if there is no more specific text."""


class ProblemMaker:
    """Makes problem answers. The `type` of a problem links to the API reference."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def describe(self, status: int, detail: str | None = None) -> Problem:
        """Describe a problem in the words of `detail`.

        If `detail` is None, use the status's text in `DEFAULT_DETAILS`, or else the status's name.
        """
        phrase = HTTPStatus(status).phrase
        return Problem(
            type=f"{self._base_url}/docs#problem-{status}",
            title=phrase,
            status=status,
            detail=detail or DEFAULT_DETAILS.get(status, f"{phrase}."),
        )

    def answer(
        self, status: int, detail: str | None = None, *, fields: Mapping[str, str] | None = None
    ) -> web.Response:
        """Return an answer with the problem that `describe` returns. `fields` are additional header fields."""
        return problem_answer(self.describe(status, detail), fields=fields)


def problem_answer(problem: Problem, *, fields: Mapping[str, str] | None = None) -> web.Response:
    """Return an answer with `problem` and the additional header fields `fields`. The answer must not be cached."""
    all_fields = headers("no-store", content_type=PROBLEM_CONTENT_TYPE)
    all_fields.update(fields or {})
    return web.Response(status=problem.status, body=msgspec.json.encode(problem), headers=all_fields)
