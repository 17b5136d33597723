"""The operations of the OpenAPI document: what each resource takes and every answer it may give."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tunnihind import __version__
from tunnihind.api.accuracy import accuracy_response
from tunnihind.api.answers import MAX_DAYS, MIN_DAYS, forecast_response, series_response
from tunnihind.api.example import EXAMPLE_NOW, EXAMPLE_VIEW
from tunnihind.api.headers import METHODS
from tunnihind.api.health import as_problem, judge
from tunnihind.api.problems import DETAILS, PROBLEM_JSON, Problems
from tunnihind.api.representation import JSON
from tunnihind.api.service_models import About, Health
from tunnihind.api.view import View
from tunnihind.settings import Settings

type Document = dict[str, Any]

_EXAMPLE_INSTANCE: Final = "4d6bd6f2-6a1c-4a53-9c63-0b0f1f2f9d5e"

_PROBLEM_FIELDS: Final = {405: ("Allow",), 429: ("Retry-After",), 503: ("Retry-After",)}

_DAYS: Final = {
    "name": "days",
    "in": "query",
    "required": False,
    "description": f"History window in days: one or two digits, clamped into {MIN_DAYS} to {MAX_DAYS}.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,2}$", "default": str(MAX_DAYS)},
    "example": "7",
}

_KNOWN_TAG: Final = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The `ETag` of the answer that the client has: with nothing new it gets 304 and no body.",
    "schema": {"type": "string"},
    "example": 'W/"0d1c2b3a49586776a5b4c3d2"',
}


def paths(settings: Settings) -> Document:
    """Return every path with its one operation."""
    return {
        path: {"get": operation} for path, operation in (*_price_operations(settings), *_service_operations(settings))
    }


def _price_operations(settings: Settings) -> Iterable[tuple[str, Document]]:
    forecast = forecast_response(EXAMPLE_VIEW, EXAMPLE_NOW, settings)
    yield (
        "/api/v1/forecast",
        _operation(
            "getForecast",
            "Prices",
            "Settled prices from now on, and the forecast",
            "The integration endpoint; its shape is versioned. It takes no query string. `dayAhead` holds settled "
            "prices from the current hour forward, `forecast` p10/p50/p90 for strictly-future hours up to `freeUntil`.",
            answers=_cached(_content("ForecastResponse", forecast)) | _problems(400, 405, 429, 500, 503),
            parameters=[_KNOWN_TAG],
        ),
    )
    series = series_response(EXAMPLE_VIEW, EXAMPLE_NOW, settings)
    yield (
        "/api/series",
        _operation(
            "getSeries",
            "Prices",
            "Price history and a past-to-future forecast series",
            "The payload behind the dashboard, shaped for its chart and not versioned: integrations should use "
            "`/api/v1/forecast`.",
            answers=_cached(_content("SeriesResponse", series)) | _problems(400, 405, 429, 500, 503),
            parameters=[_DAYS, _KNOWN_TAG],
        ),
    )
    yield (
        "/api/v1/accuracy",
        _operation(
            "getAccuracy",
            "Prices",
            "How good the forecasts were",
            "Forecasts exactly as they were issued, against the prices that came, over 7, 30 and 90 delivery days. Of "
            "each day the last run made before the day-ahead auction counts.",
            answers=_cached(_content("AccuracyResponse", accuracy_response(EXAMPLE_VIEW, EXAMPLE_NOW)))
            | _problems(405, 429, 500, 503),
            parameters=[_KNOWN_TAG],
        ),
    )


def _service_operations(settings: Settings) -> Iterable[tuple[str, Document]]:
    yield (
        "/api/openapi.json",
        _operation(
            "getDescription",
            "Service",
            "This description",
            "The OpenAPI 3.1 description of the API.",
            answers=_cached({JSON: {"schema": {"type": "object"}}}) | _problems(405, 429, 500),
            parameters=[_KNOWN_TAG],
        ),
    )
    yield (
        "/api/about",
        _operation(
            "getAbout",
            "Service",
            "Who serves this API",
            "Name, version and identity of the server, its VAT rate, the credit to give, and whether it is live.",
            answers=_cached(_content("About", _about(settings))) | _problems(405, 429, 500),
            parameters=[_KNOWN_TAG],
        ),
    )
    yield (
        "/healthz",
        _operation(
            "getHealth",
            "Service",
            "Is the process alive?",
            "Answers as long as the process lives; touches nothing else.",
            answers={"200": _fresh("Alive.", _content("Health", Health(status="ok")))} | _problems(405, 500),
        ),
    )
    yield (
        "/readyz",
        _operation(
            "getReadiness",
            "Service",
            "Is the data there and fresh?",
            "Ages of the settled prices, the forecast and the last refresh, by the server's own clock.",
            answers=_readiness(settings) | _problems(405, 500),
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
        mode="live",
    )


def _operation(
    name: str, tag: str, summary: str, description: str, *, answers: Document, parameters: Iterable[Document] = ()
) -> Document:
    operation = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "description": description,
        "responses": answers,
    }
    return operation | ({"parameters": list(parameters)} if parameters else {})


def _cached(content: Document) -> Document:
    return {
        "200": {"description": "The answer.", "headers": _fields("ETag", "Cache-Control", "Vary"), "content": content},
        "304": {"$ref": "#/components/responses/304"},
    }


def _fresh(description: str, content: Document) -> Document:
    return {"description": description, "headers": _fields("Cache-Control"), "content": content}


def _readiness(settings: Settings) -> Document:
    ready = judge(EXAMPLE_VIEW, EXAMPLE_NOW, pipeline_expected=True)
    missing = judge(View("nothing"), EXAMPLE_NOW, pipeline_expected=True)
    not_ready = as_problem(missing, Problems(settings.base_url))
    return {
        "200": _fresh("Nothing is missing or stale.", _content("Readiness", ready)),
        "503": _fresh("Data is missing or stale.", _content("NotReady", not_ready, PROBLEM_JSON)),
    }


def _problems(*statuses: int) -> Document:
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}


def response_components(settings: Settings) -> Document:
    """Return the answers that resources share. A path that isn't described here answers 404."""
    problems = Problems(settings.base_url)
    not_modified = {
        "description": "Nothing has changed since the answer with the given `ETag`.",
        "headers": _fields("ETag", "Cache-Control", "Vary"),
    }
    return {"304": not_modified} | {
        str(status): {
            "description": detail,
            "headers": _fields("Cache-Control", *_PROBLEM_FIELDS.get(status, ())),
            "content": _content("Problem", problems.describe(status), PROBLEM_JSON),
        }
        for status, detail in DETAILS.items()
    }


def _content(schema: str, example: msgspec.Struct, media_type: str = JSON) -> Document:
    return {
        media_type: {
            "schema": {"$ref": f"#/components/schemas/{schema}"},
            "example": msgspec.to_builtins(example),
        }
    }


def _fields(*names: str) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("Access-Control-Allow-Origin", *names)}


def header_components() -> Document:
    """Return the header fields that answers carry."""
    return {
        "ETag": _field(
            "Weak validator of the data and the UTC hour; send it back in `If-None-Match`.",
            {"pattern": '^W/"[0-9a-f]+"$'},
        ),
        "Cache-Control": _field(
            "How long the answer may be reused. Of prices: a minute fresh, then stale while revalidating, both ending "
            "at the full UTC hour. Of errors: not at all."
        ),
        "Vary": _field("The answer comes in gzip and zstd too.", {"const": "Accept-Encoding"}),
        "Access-Control-Allow-Origin": _field("Any origin may read the answer.", {"const": "*"}),
        "Allow": _field("The methods that this resource takes.", example=METHODS),
        "Retry-After": _field("Seconds to wait before the next request.", {"pattern": "^[0-9]+$"}, example="1"),
    }


def _field(description: str, constraint: Document | None = None, *, example: str | None = None) -> Document:
    field = {"description": description, "required": True, "schema": {"type": "string", **(constraint or {})}}
    return field | ({} if example is None else {"example": example})
