"""Makes the OpenAPI document, and holds the general description of the API."""

from collections.abc import Callable, Mapping
from string import Template
from typing import Any, Final

from tunnihind.api.openapi.components import (
    Document,
    add_examples,
    header_components,
    response_components,
    schema_components,
)
from tunnihind.api.openapi.operations import feed_operations, price_operations, service_operations
from tunnihind.settings import Settings

_VAT_FOR_ALL_DATES: Final = "$rate $adjective VAT"
_VAT_BY_DATE: Final = "$rate $adjective VAT (hours before $since have the rate of their date)"


def placeholder_values(settings: Settings, translate: Callable[[str], str] = str) -> Mapping[str, str]:
    """Return this server's values for placeholders such as `$vat`.

    `translate` translates the values of `$adjective` and `$vat`.
    """
    market, (newest_since, newest) = settings.market, settings.api_vat_rates[-1]
    adjective = translate(market.adjective)
    vat = Template(translate(_VAT_BY_DATE if newest_since else _VAT_FOR_ALL_DATES))
    return {
        "adjective": adjective,
        "attribution": settings.attribution_text,
        "code": market.code,
        "factor": f"{1 + newest:.6g}",
        "vat": vat.substitute(
            rate=vat_text(newest), adjective=adjective, since=f"{market.local_time(newest_since):%Y-%m-%d}"
        ),
    }


def vat_text(rate: float) -> str:
    """Write a VAT rate (a fraction) as a percentage, such as `22%`."""
    return f"{rate * 100:.4g}%"


API_VERSION: Final = "1.0.0"

_DESCRIPTION: Final = """\
Hourly electricity prices of the $adjective ($code) day-ahead zone: settled market prices and a probabilistic model \
forecast with three percentiles. Free, read-only JSON over HTTP, without a key or a registration.

**Units.** `eurMwh`, `p10`, `p50` and `p90` are EUR/MWh excluding VAT. `eurKwh`, `p10Kwh`, `p50Kwh` and `p90Kwh` are \
EUR/kWh including $vat: the price in EUR/MWh / 1000 × $factor, rounded to 4 decimal places. Network fees \
and excise are never included.

**Time.** `ts` is the start of an hour or of a quarter of an hour, in whole unix seconds. `startsAt` is the same \
instant in ISO 8601, UTC. $adjective local time is UTC+2 or UTC+3.

**Percentiles.** p50 is the model's conditional median; p10 and p90 bound an 80% interval, which is usually wider \
for later days. If an hour has a settled price and a forecast, the settled price counts.

**Public window.** The forecast is served up to `freeUntil`: the newest settled hour + 48 h, at most 72 h after \
`now`. `gated` is true if the model has forecast later hours too; the operator supplies these hours on request.

**Polling.** New settled prices come once a day, at about 14:00 $adjective time. A new forecast is made every hour. \
Answers are cached for about 60 seconds, so polling more often than once a minute returns nothing fresher. Stay well \
under 10 requests per second. Send `If-None-Match` with the last `ETag`: if nothing is new, the answer is 304 without \
a body. Every resource answers HEAD and OPTIONS too. Pages of any origin may read every answer, errors included (CORS).

**Attribution.** Anyone republishing the data must give this credit: $attribution. All data is informational and \
unofficial.
"""

_TAGS: Final = [
    {"name": "Prices", "description": "Settled prices and forecast."},
    {"name": "Feeds", "description": "Prices in the form that other programs read."},
    {"name": "Operation", "description": "About this server and its state."},
]


def openapi_document(settings: Settings) -> Document:
    """Return the OpenAPI 3.1 document, with this server's address, zone, attribution and VAT."""
    words = placeholder_values(settings)
    schemas = schema_components(settings.api_vat_rates)
    operations = {**price_operations(), **feed_operations(), **service_operations()}
    add_examples(operations.values(), schemas)
    document: Document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Tunnihind: hourly electricity prices with a forecast",
            "version": API_VERSION,
            "summary": "Hourly day-ahead electricity prices of the $adjective zone, with a probabilistic forecast.",
            "description": _DESCRIPTION,
        },
        "externalDocs": {"description": "Human-readable description", "url": f"{settings.base_url}/docs"},
        "servers": [{"url": settings.base_url}],
        "security": [],
        "tags": _TAGS,
        "paths": {path: {"get": operation} for path, operation in operations.items()},
        "components": {
            "schemas": schemas,
            "responses": response_components(settings),
            "headers": header_components(),
        },
    }
    filled: Document = _fill_placeholders(document, words)
    return filled


def _fill_placeholders(node: Any, words: Mapping[str, str]) -> Any:  # noqa: ANN401  a JSON document
    """Replace the placeholders in all strings of a document, except keys. The `$` of a regular expression stays."""
    match node:
        case dict():
            return {key: _fill_placeholders(value, words) for key, value in node.items()}
        case list():
            return [_fill_placeholders(value, words) for value in node]
        case str():
            return Template(node).safe_substitute(words)
        case _:
            return node
