"""The OpenAPI 3.1 description of the API, built from the same types that make the answers."""

from collections.abc import Mapping
from string import Template
from typing import Any, Final

import msgspec

from tunnihind.api import accuracy, models, service_models
from tunnihind.api.openapi_operations import Document, header_components, paths, response_components
from tunnihind.market import consumer_price
from tunnihind.settings import Settings

API_VERSION: Final = "1.0.0"

_SCHEMAS: Final = (
    models.ForecastResponse,
    models.DayAheadHour,
    models.ForecastHour,
    models.Backtest,
    models.SeriesResponse,
    models.SeriesActual,
    models.SeriesForecastPoint,
    accuracy.AccuracyResponse,
    service_models.About,
    service_models.Health,
    service_models.Readiness,
    service_models.Problem,
    service_models.NotReady,
)

_CONSUMER_UNITS: Final = {"eurKwh": "eurMwh", "p10Kwh": "p10", "p50Kwh": "p50", "p90Kwh": "p90"}
"""Consumer-unit fields by the market-unit field that they convert."""

_DESCRIPTION: Final = Template("""\
Hourly electricity prices of the Estonian (EE) day-ahead zone: settled market prices and a probabilistic model \
forecast with three percentiles. Free, read-only JSON over HTTP, without a key or a registration.

**Units.** `eurMwh`, `p10`, `p50` and `p90` are EUR/MWh excluding VAT. `eurKwh`, `p10Kwh`, `p50Kwh` and `p90Kwh` are \
EUR/kWh including $vat Estonian VAT: the market-unit price / 1000 × $factor, rounded to 4 decimal places. Grid fees \
and excise are never included.

**Time.** `ts` is an integer count of unix seconds at the top of a UTC hour, `startsAt` the same instant in ISO 8601. \
Estonian local time is UTC+2 or UTC+3.

**Percentiles.** p50 is the model's conditional median; p10 and p90 bound an 80 % interval that widens with the \
horizon. Where a settled price and a forecast both cover an hour, the settled price is authoritative.

**Public window.** Forecast hours are served up to `freeUntil`, the newest settled hour + 48 h, at most 72 h after \
`now`. `gated` is true when the model holds more; the operator supplies it on request.

**Polling.** Settled prices move once a day, at about 14:00 Estonian time; the forecast is refreshed hourly. Answers \
are cached for about 60 seconds, so polling more often than once a minute returns nothing fresher; stay well under 10 \
requests per second. Send `If-None-Match` with the last `ETag`: a poll with nothing new costs a 304 without a body. \
Every resource answers HEAD and OPTIONS too, and every answer, errors included, may be read from any origin (CORS).

**Attribution.** Anyone republishing the data must give this credit: $attribution. All data is informational and \
unofficial.
""")


def openapi_document(settings: Settings) -> Document:
    """Return the OpenAPI 3.1 document, with this server's address, attribution and VAT rate in it."""
    words = description_words(settings)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tunnihind: hourly electricity prices with a forecast",
            "version": API_VERSION,
            "summary": "Hourly day-ahead electricity prices of the Estonian zone, with a probabilistic forecast.",
            "description": _DESCRIPTION.substitute(words),
        },
        "externalDocs": {"description": "Human-readable description", "url": f"{settings.base_url}/docs"},
        "servers": [{"url": settings.base_url}],
        "security": [],
        "tags": _TAGS,
        "paths": paths(settings),
        "components": {
            "schemas": _schemas(settings.vat_rate, words),
            "responses": response_components(settings),
            "headers": header_components(),
        },
    }


def description_words(settings: Settings) -> Mapping[str, str]:
    """Return what stands for the `$words` of descriptions on this server."""
    return {
        "vat": vat_text(settings.vat_rate),
        "factor": f"{1 + settings.vat_rate:.6g}",
        "attribution": settings.attribution_text,
    }


def vat_text(rate: float) -> str:
    """Write a VAT rate as people do, `22 %`."""
    return f"{rate * 100:.4g} %"


_TAGS: Final = [
    {"name": "Prices", "description": "Settled prices and forecast."},
    {"name": "Service", "description": "About this server and its state."},
]


def _schemas(vat_rate: float, words: Mapping[str, str]) -> Document:
    _, schemas = msgspec.json.schema_components(_SCHEMAS, ref_template="#/components/schemas/{name}")
    for schema in schemas.values():
        _convert_examples(schema["properties"], vat_rate)
    filled: Document = _fill_in(schemas, words)
    return filled


def _convert_examples(properties: Document, vat_rate: float) -> None:
    """Make the examples of consumer-unit fields follow from those of the market-unit ones."""
    for consumer_field, market_field in _CONSUMER_UNITS.items():
        if consumer_field in properties:
            market_example = properties[market_field]["examples"][0]
            properties[consumer_field]["examples"] = [consumer_price(market_example, vat_rate)]


def _fill_in(node: Any, words: Mapping[str, str]) -> Any:  # noqa: ANN401  a JSON document
    """Fill the words into every description of a schema."""
    if isinstance(node, dict):
        return {
            key: Template(value).substitute(words)
            if key == "description" and isinstance(value, str)
            else _fill_in(value, words)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_fill_in(value, words) for value in node]
    return node
