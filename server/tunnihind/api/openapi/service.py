"""The resources in which the server tells of itself."""

from collections.abc import Iterable
from typing import Final

from tunnihind import __version__
from tunnihind.api.examples import EXAMPLE_DATA, EXAMPLE_NOW
from tunnihind.api.health import as_problem, judge
from tunnihind.api.http.headers import JSON, PROBLEM_JSON
from tunnihind.api.http.problems import Problems
from tunnihind.api.models.service import About, Health
from tunnihind.api.openapi.operation import operation
from tunnihind.api.openapi.parameters import KNOWN_TAG
from tunnihind.api.openapi.responses import Document, cached, content, fresh, problems
from tunnihind.api.served_data import ServedData
from tunnihind.settings import Settings

_EXAMPLE_INSTANCE: Final = "4d6bd6f2-6a1c-4a53-9c63-0b0f1f2f9d5e"


def service_operations(settings: Settings) -> Iterable[tuple[str, Document]]:
    """Give the path and the operation of each."""
    yield (
        "/api/openapi.json",
        operation(
            "getDescription",
            "Service",
            "This description",
            "The OpenAPI 3.1 description of the API.",
            answers=cached({JSON: {"schema": {"type": "object"}}}) | problems(405, 429, 500),
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
            answers=cached(content("About", _about(settings))) | problems(405, 429, 500),
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
            "gone on for ten minutes.",
            answers={"200": fresh("Alive.", content("Health", Health(status="ok")))} | problems(405, 500, 503),
        ),
    )
    yield (
        "/readyz",
        operation(
            "getReadiness",
            "Service",
            "Is the data there and fresh?",
            "Ages of the settled prices, the forecast and the last refresh, by the server's own clock.",
            answers=_readiness(settings) | problems(405, 500),
        ),
    )


def _about(settings: Settings) -> About:
    return About(
        name="Tunnihind",
        version=__version__,
        instance_id=_EXAMPLE_INSTANCE,
        vat_rate=settings.vat_rate,
        attribution=settings.attribution_text,
        public_url=settings.base_url,
        full_horizon=settings.full_horizon,
        mode="live",
    )


def _readiness(settings: Settings) -> Document:
    ready = judge(EXAMPLE_DATA, EXAMPLE_NOW, pipeline_expected=True)
    missing = judge(ServedData("nothing"), EXAMPLE_NOW, pipeline_expected=True)
    not_ready = as_problem(missing, Problems(settings.base_url))
    return {
        "200": fresh("Nothing is missing or stale.", content("Readiness", ready)),
        "503": fresh("Data is missing or stale.", content("NotReady", not_ready, PROBLEM_JSON)),
    }
