"""Describes the header fields, answers, schemas and examples of the OpenAPI document."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tunnihind.api.feeds import VAT_RATE_FIELD
from tunnihind.api.http.headers import ALLOWED_METHODS, JSON_CONTENT_TYPE, PROBLEM_CONTENT_TYPE
from tunnihind.api.http.problems import DEFAULT_DETAILS, ProblemMaker
from tunnihind.api.models.accuracy_answer import AccuracyResponse
from tunnihind.api.models.fields import HOUR_EXAMPLE
from tunnihind.api.models.price_answers import (
    Backtest,
    CheapestHours,
    DayAheadHour,
    DayAheadQuarter,
    EosPrices,
    EvccRate,
    ForecastHour,
    ForecastQuarter,
    ForecastResponse,
    HistoryPrice,
    HistoryResponse,
    OctopusRate,
    OctopusRates,
    QuartersResponse,
    ScenariosResponse,
    SeriesActual,
    SeriesForecastPoint,
    SeriesResponse,
)
from tunnihind.api.models.service import About, Health, NotReady, Problem, Readiness, ZoneAddress
from tunnihind.core.market import VatRates, consumer_price, vat_rate_at
from tunnihind.settings import Settings

type Document = dict[str, Any]

_CACHING_FIELDS: Final = ("ETag", "Cache-Control", "Vary")
_PROBLEM_FIELDS: Final = {405: ("Allow",), 429: ("Retry-After",), 503: ("Retry-After",)}


def cacheable_answers(body: Document, *fields: str) -> Document:
    """Describe the answers 200 and 304 of a cacheable resource. `body` describes the content of the answer 200.

    `fields` names the resource's additional header fields.
    """
    return {
        "200": {
            "description": "The answer.",
            "headers": _header_references(*_CACHING_FIELDS, *fields),
            "content": body,
        },
        "304": _not_modified_answer(*fields) if fields else {"$ref": "#/components/responses/304"},
    }


def _not_modified_answer(*fields: str) -> Document:
    return {
        "description": "Nothing has changed since the answer with the given `ETag`.",
        "headers": _header_references(*_CACHING_FIELDS, *fields),
    }


def uncached_answer(description: str, body: Document) -> Document:
    """Describe an answer that must not be cached."""
    return {"description": description, "headers": _header_references("Cache-Control"), "content": body}


def problem_references(*statuses: int) -> Document:
    """Return references to the problem answers with the given HTTP statuses."""
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}


def response_components(settings: Settings) -> Document:
    """Describe the answer 304 and the problem answers, keyed by HTTP status."""
    texts = ProblemMaker(settings.base_url)
    return {"304": _not_modified_answer()} | {
        str(status): {
            "description": detail,
            "headers": _header_references("Cache-Control", *_PROBLEM_FIELDS.get(status, ())),
            "content": {
                PROBLEM_CONTENT_TYPE: {
                    "schema": schema_reference("Problem"),
                    "example": msgspec.to_builtins(texts.describe(status)),
                }
            },
        }
        for status, detail in DEFAULT_DETAILS.items()
    }


def answer_content(schema: str, media_type: str = JSON_CONTENT_TYPE) -> Document:
    """Describe an answer's content by a reference to the schema with the name `schema`."""
    return {media_type: {"schema": schema_reference(schema)}}


def schema_reference(schema: str) -> Document:
    """Return a reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{schema}"}


def _header_references(*names: str) -> Document:
    return {
        name: {"$ref": f"#/components/headers/{name}"}
        for name in ("Access-Control-Allow-Origin", "X-Request-Id", *names)
    }


def header_components() -> Document:
    """Describe the header fields to which the document's answers refer, keyed by name."""
    return {
        "ETag": _header_component(
            "Weak validator of the data and of the UTC hour, or of the quarter for answers by quarters. Send it back "
            "in `If-None-Match`.",
            {"pattern": '^W/"[0-9a-f]+"$'},
        ),
        "Cache-Control": _header_component(
            "How long the answer may be reused. Prices are fresh for a minute, and may then be stale while a cache "
            "revalidates them. Both times end at the full UTC hour, or at the full quarter for answers by quarters. "
            "Errors may not be reused."
        ),
        "Vary": _header_component("The answer comes in gzip and zstd too.", {"const": "Accept-Encoding"}),
        "Access-Control-Allow-Origin": _header_component("Any origin may read the answer.", {"const": "*"}),
        "X-Request-Id": _header_component(
            "The name of this request in the server's log. It is the request's own `X-Request-Id` if that has up to "
            "128 letters, digits and `._:/+=@-`.",
            example="7f9c2ba4e88f827d",
        ),
        VAT_RATE_FIELD: _header_component(
            "The VAT in the prices of a feed, as a fraction; 0 for `price=market`. If the legal rate changes within "
            "the feed, each later rate follows with the instant from which it applies, unix seconds.",
            {"pattern": r"^[0-9.]+(, [0-9.]+;from=[0-9]+)*$"},
            example="0.22, 0.24;from=1751317200",
        ),
        "Allow": _header_component("The methods that this resource takes.", example=ALLOWED_METHODS),
        "Retry-After": _header_component(
            "Seconds to wait before the next request.", {"pattern": "^[0-9]+$"}, example="1"
        ),
    }


def _header_component(description: str, constraint: Document | None = None, *, example: str | None = None) -> Document:
    field = {"description": description, "required": True, "schema": {"type": "string", **(constraint or {})}}
    return field | ({} if example is None else {"example": example})


_SCHEMAS: Final = (
    ForecastResponse,
    DayAheadHour,
    ForecastHour,
    Backtest,
    QuartersResponse,
    DayAheadQuarter,
    ForecastQuarter,
    ScenariosResponse,
    CheapestHours,
    SeriesResponse,
    SeriesActual,
    SeriesForecastPoint,
    AccuracyResponse,
    HistoryResponse,
    HistoryPrice,
    EvccRate,
    OctopusRates,
    OctopusRate,
    EosPrices,
    About,
    ZoneAddress,
    Health,
    Readiness,
    Problem,
    NotReady,
)

_MARKET_FIELD_OF: Final = {"eurKwh": "eurMwh", "p10Kwh": "p10", "p50Kwh": "p50", "p90Kwh": "p90", "pathsKwh": "paths"}
"""Maps a field in EUR/kWh with VAT to the field with the same price in EUR/MWh without VAT."""


def schema_components(vat: VatRates) -> Document:
    """Return the schemas of the answers, keyed by name.

    The examples of the fields that are keys of `_MARKET_FIELD_OF` include VAT at the rate that applies at the instant
    `HOUR_EXAMPLE`. The examples of feeds are fixed.
    """
    vat_rate = vat_rate_at(vat, HOUR_EXAMPLE)
    _, schemas = msgspec.json.schema_components(_SCHEMAS, ref_template="#/components/schemas/{name}")
    for schema in schemas.values():
        _convert_examples(schema["properties"], vat_rate)
    return schemas


def _convert_examples(properties: Document, vat_rate: float) -> None:
    """Compute the examples of prices in EUR/kWh from the examples of prices in EUR/MWh."""
    for consumer_field, market_field in _MARKET_FIELD_OF.items():
        if consumer_field in properties:
            market_example = properties[market_field]["examples"][0]
            properties[consumer_field]["examples"] = [_converted_price(market_example, vat_rate)]


def _converted_price(price: Any, vat_rate: float) -> Any:  # noqa: ANN401  a price, or lists of prices
    """Convert a price, or each price in nested lists, from EUR/MWh to EUR/kWh with VAT."""
    if isinstance(price, list):
        return [_converted_price(one, vat_rate) for one in price]
    return consumer_price(price, vat_rate)


def add_examples(operations: Iterable[Document], schemas: Document) -> None:
    """If the content of an answer has no example, add an example made from the examples in the content's schema."""
    answers = (answer for operation in operations for answer in operation["responses"].values())
    for answer in answers:
        for content in answer.get("content", {}).values():
            content.setdefault("example", _example(content["schema"], schemas))


def _example(schema: Document, schemas: Document) -> Any:  # noqa: ANN401  a JSON document
    match schema:
        case {"$ref": reference}:
            return _example(schemas[reference.rpartition("/")[2]], schemas)
        case {"examples": [first, *_]}:
            return first
        case {"anyOf": [first, *_]}:
            return _example(first, schemas)
        case {"items": items}:
            return [_example(items, schemas)]
        case _:
            return {name: _example(field, schemas) for name, field in schema["properties"].items()}
