"""The resources in which the server tells of itself."""

from collections.abc import Iterable

from tunnihind.api.http.headers import JSON, PROBLEM_JSON
from tunnihind.api.openapi.operation import operation
from tunnihind.api.openapi.parameters import KNOWN_TAG
from tunnihind.api.openapi.responses import Document, cached, content, fresh, problems


def service_operations() -> Iterable[tuple[str, Document]]:
    """Give the path and the operation of each."""
    yield (
        "/api/openapi.json",
        operation(
            "getDescription",
            "Service",
            "This description",
            "The OpenAPI 3.1 description of the API.",
            answers=cached({JSON: {"schema": {"type": "object", "examples": [{"openapi": "3.1.0"}]}}})
            | problems(405, 429, 500),
            parameters=[KNOWN_TAG],
        ),
    )
    yield (
        "/api/about",
        operation(
            "getAbout",
            "Service",
            "Who serves this API",
            "Name, version and identity of the server, its VAT rate, the credit to give, and whether it is live.",
            answers=cached(content("About")) | problems(405, 429, 500, 503),
            parameters=[KNOWN_TAG],
        ),
    )
    yield (
        "/healthz",
        operation(
            "getHealth",
            "Service",
            "Is the process alive?",
            "Answers as long as the process lives, with 503 where only a restart can help: where its pipeline has not "
            "gone on for fifteen minutes.",
            answers={"200": fresh("Alive.", content("Health"))} | problems(405, 500, 503),
        ),
    )
    yield (
        "/readyz",
        operation(
            "getReadiness",
            "Service",
            "Is the data there and fresh?",
            "Ages of the settled prices, the forecast and the last refresh, by the server's own clock.",
            answers={
                "200": fresh("Nothing is missing or stale.", content("Readiness")),
                "503": fresh("Data is missing or stale.", content("NotReady", PROBLEM_JSON)),
            }
            | problems(405, 500),
        ),
    )
