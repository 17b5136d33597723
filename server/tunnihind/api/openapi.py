"""The OpenAPI 3.1 description of the API, built from the same types that make the answers."""

from collections.abc import Iterable, Mapping
from string import Template
from typing import Any, Final

import msgspec

from tunnihind import __version__
from tunnihind.api import models
from tunnihind.api.answers import (
    MAX_DAYS,
    MIN_DAYS,
    accuracy_response,
    forecast_response,
    quarters_response,
    series_response,
)
from tunnihind.api.examples import EXAMPLE_DATA, EXAMPLE_DAY, EXAMPLE_HISTORY, EXAMPLE_NOW
from tunnihind.api.feeds import PRICES, Feed, Reader, feed_body
from tunnihind.api.health import as_problem, judge
from tunnihind.api.history import FIRST, Month, history_response
from tunnihind.api.http import DETAILS, JSON, METHODS, PROBLEM_JSON, Problems
from tunnihind.api.parameters import RESOLUTIONS
from tunnihind.api.scenarios import scenarios_response
from tunnihind.api.score_table import CSV, DEFAULT_DAYS, FIRST_YEAR, FORMATS, table
from tunnihind.api.served_data import ServedData
from tunnihind.api.server_models import About, Health, NotReady, Problem, Readiness
from tunnihind.market import QUARTER_S, consumer_price
from tunnihind.settings import Settings

type Document = dict[str, Any]

API_VERSION: Final = "1.0.0"

_SCHEMAS: Final = (
    models.ForecastResponse,
    models.DayAheadHour,
    models.ForecastHour,
    models.Backtest,
    models.QuartersResponse,
    models.DayAheadQuarter,
    models.ForecastQuarter,
    models.ScenariosResponse,
    models.SeriesResponse,
    models.SeriesActual,
    models.SeriesForecastPoint,
    models.AccuracyResponse,
    models.HistoryResponse,
    models.HistoryPrice,
    models.EvccRate,
    models.OctopusRates,
    models.OctopusRate,
    About,
    Health,
    Readiness,
    Problem,
    NotReady,
)

_CONSUMER_UNITS: Final = {"eurKwh": "eurMwh", "p10Kwh": "p10", "p50Kwh": "p50", "p90Kwh": "p90"}
"""Consumer-unit fields by the market-unit field that they convert."""

_DESCRIPTION: Final = Template("""\
Hourly electricity prices of the Estonian (EE) day-ahead zone: settled market prices and a probabilistic model \
forecast with three percentiles. Free, read-only JSON over HTTP, without a key or a registration.

**Units.** `eurMwh`, `p10`, `p50` and `p90` are EUR/MWh excluding VAT. `eurKwh`, `p10Kwh`, `p50Kwh` and `p90Kwh` are \
EUR/kWh including $vat Estonian VAT: the market-unit price / 1000 × $factor, rounded to 4 decimal places. Grid fees \
and excise are never included.

**Time.** `ts` is an integer count of unix seconds at the top of a UTC hour, or at the start of a quarter of one, \
`startsAt` the same instant in ISO 8601. Estonian local time is UTC+2 or UTC+3.

**Percentiles.** p50 is the model's conditional median; p10 and p90 bound an 80% interval that widens with the \
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
    """Write a VAT rate as people do, `22%`."""
    return f"{rate * 100:.4g}%"


_TAGS: Final = [
    {"name": "Prices", "description": "Settled prices and forecast."},
    {"name": "Feeds", "description": "Prices in the form that other programs read."},
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

_DAYS_BEFORE: Final = _DAYS | {
    "description": f"Days of history before the current quarter: one or two digits, clamped into 0 to {MAX_DAYS}.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,2}$", "default": "0"},
    "example": "1",
}

_MONTH: Final = {
    "name": "month",
    "in": "query",
    "required": True,
    "description": f"A calendar month by the Estonian clock, YYYY-MM, from {FIRST} to the running one.",
    "schema": {"type": "string", "pattern": "^20(2[1-9]|[3-9][0-9])-(0[1-9]|1[0-2])$"},
    "example": "2025-12",
}

_RESOLUTION: Final = {
    "name": "resolution",
    "in": "query",
    "required": False,
    "description": "How long each period is: a quarter of an hour or an hour.",
    "schema": {"type": "string", "enum": [*RESOLUTIONS], "default": next(iter(RESOLUTIONS))},
}

_PRICE: Final = {
    "name": "price",
    "in": "query",
    "required": False,
    "description": "`consumer` is with VAT at this server's rate, `market` without.",
    "schema": {"type": "string", "enum": [*PRICES], "default": PRICES[0]},
}

_FORMAT: Final = {
    "name": "format",
    "in": "query",
    "required": False,
    "description": "`json` sums the last weeks up, `csv` is the table.",
    "schema": {"type": "string", "enum": [*FORMATS], "default": FORMATS[0]},
}

_YEAR: Final = {
    "name": "year",
    "in": "query",
    "required": False,
    "description": f"For the table: the days of issue of a year, from {FIRST_YEAR} to the running one. Without it the "
    f"last {DEFAULT_DAYS} days.",
    "schema": {"type": "string", "pattern": "^20(2[1-9]|[3-9][0-9])$"},
    "example": "2025",
}

_TABLE_COLUMNS: Final = (
    "`issuedOn` and `deliveryDay` are delivery days, `madeAt` is when the forecast was made, `n` counts hours. Errors, "
    "`width` and savings are in EUR/MWh without VAT; `coverage80`, `below10` and `above90` are fractions. `baseline…` "
    "is of the price one week earlier, `sevenDayMean…` of the mean of the seven days up to the day of issue, "
    "`ideal…` of perfect foresight. `saving4h` is the mean price of the delivery day less that of its 4 cheapest hours "
    "by p50, and `savingWeek4h` the same of the seven days after the day of issue, given with the seventh. What could "
    "not be scored is empty."
)

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
        path: {"get": operation}
        for path, operation in (
            *_price_operations(settings),
            *_feed_operations(settings),
            *_service_operations(settings),
        )
    }


def _price_operations(settings: Settings) -> Iterable[tuple[str, Document]]:
    forecast = forecast_response(EXAMPLE_DATA, EXAMPLE_NOW, settings)
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
    quarters = quarters_response(EXAMPLE_DATA, EXAMPLE_NOW, settings)
    yield (
        "/api/v1/quarters",
        _operation(
            "getQuarters",
            "Prices",
            "Settled prices and the forecast by the quarter of an hour",
            "What `/api/v1/forecast` has, for quarters of an hour. The market has traded them since 2025-10-01. The "
            "mean of an hour's four prices is the hour's price, and the mean of its four medians is the hour's p50, "
            "but for rounding. Where only the hour is known, its quarters carry its price and are marked `hourly`. "
            "With `days`, the settled quarters of that many days come first in `dayAhead`, and what had been forecast "
            "for them comes first in `forecast`. Other parameters are ignored.",
            answers=_cached(_content("QuartersResponse", quarters)) | _problems(400, 405, 429, 500, 503),
            parameters=[_DAYS_BEFORE, _KNOWN_TAG],
        ),
    )
    scenarios = scenarios_response(EXAMPLE_DATA, EXAMPLE_NOW, settings)
    yield (
        "/api/v1/scenarios",
        _operation(
            "getScenarios",
            "Prices",
            "Twenty equally likely price paths",
            "For planners that reckon with uncertainty: 20 courses that prices may take over the hours of the forecast."
            " Which hours are off together follows the model's own past errors, so the costs of a plan on the 20 paths "
            "show how sure its cost is. Of an hour's 20 prices two lie below p10, two above p90, and the 10th, "
            "50th and 90th percentiles are those of `/api/v1/forecast`. There are paths of hours only, not of "
            "quarters. It takes no query string.",
            answers=_cached(_content("ScenariosResponse", scenarios)) | _problems(400, 405, 429, 500, 503),
            parameters=[_KNOWN_TAG],
        ),
    )
    series = series_response(EXAMPLE_DATA, EXAMPLE_NOW, settings)
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
            "each day the last run made before the day-ahead auction counts. `decisions` says what plans by these "
            "forecasts would have saved: nothing else tells as well what a forecast is worth. Other parameters than "
            "`format` and `year` are ignored.\n\n"
            "With `format=csv` the answer is a table with a row for each day of issue and number of days ahead, kept "
            f"for ever. {_TABLE_COLUMNS}",
            answers=_cached(
                _content("AccuracyResponse", accuracy_response(EXAMPLE_DATA, EXAMPLE_NOW))
                | {CSV: {"schema": {"type": "string"}, "example": table([EXAMPLE_DAY]).decode()}}
            )
            | _problems(400, 405, 429, 500, 503),
            parameters=[_FORMAT, _YEAR, _KNOWN_TAG],
        ),
    )
    history = history_response(EXAMPLE_HISTORY, Month.parse("2025-12", EXAMPLE_NOW), "15m")
    yield (
        "/api/v1/history",
        _operation(
            "getHistory",
            "Prices",
            "The settled prices of a month",
            "One calendar month by the Estonian clock. A quarter of which only the hour is known has the hour's price "
            "and is marked `hourly`; periods whose price isn't known are left out. A month that has been over for a "
            "week, lacks nothing and isn't waiting for a second source may be cached for good; after a correction its "
            "`ETag` is another. Parameters that aren't known are refused. Only two months are read at a time: 503 with "
            "`Retry-After` asks for patience.",
            answers=_cached(_content("HistoryResponse", history)) | _problems(400, 405, 429, 500, 503),
            parameters=[_MONTH, _RESOLUTION, _KNOWN_TAG],
        ),
    )


def _feed_operations(settings: Settings) -> Iterable[tuple[str, Document]]:
    for reader, (name, summary, advice, schema) in _FEEDS.items():
        example = feed_body(EXAMPLE_DATA, EXAMPLE_NOW, settings, Feed(reader, QUARTER_S, "consumer"))
        content = {JSON: {"schema": schema, "example": msgspec.to_builtins(example)}}
        yield (
            f"/api/feeds/{reader}",
            _operation(
                name,
                "Feeds",
                summary,
                f"{_FEED} {Template(advice).substitute(description_words(settings))}",
                answers=_cached(content) | _problems(400, 405, 429, 500, 503),
                parameters=[_RESOLUTION, _PRICE, _KNOWN_TAG],
            ),
        )


def _reference(schema: str) -> Document:
    return {"$ref": f"#/components/schemas/{schema}"}


_FEED: Final = (
    "From Estonian midnight of today to the end of what is served, without a gap: settled prices, and the median after "
    "them. Parameters that aren't known are refused. With no price from now on the answer is 503, so that readers keep "
    "what they have."
)

_FEEDS: Final[Mapping[Reader, tuple[str, str, str, Document]]] = {
    "evcc": (
        "getEvccFeed",
        "Prices for evcc",
        (
            "A list for a tariff of `type: custom`, EUR/kWh. evcc adds `charges` to a price, and `tax` on both: give "
            "it `price=market`, margin and fees without VAT as `charges`, and the law's VAT as `tax`. For `feedin` "
            "give it `price=market`, and as `charges` what the buyer keeps, below zero."
        ),
        {"type": "array", "items": _reference("EvccRate")},
    ),
    "emhass": (
        "getEmhassFeed",
        "Prices for EMHASS",
        (
            "A mapping of times to EUR/kWh for `load_cost_forecast` and `prod_price_forecast`. EMHASS adds nothing: "
            "take `price=market`, and before you send it add margin, fees and VAT to the first, and take what the "
            "buyer keeps off the second."
        ),
        {"type": "object", "additionalProperties": {"type": "number"}},
    ),
    "octopus": (
        "getOctopusFeed",
        "Prices for Predbat, in Octopus's form",
        (
            "For `rates_import_octopus_url`, cents per kWh. Predbat adds no VAT: `price=consumer` has this server's "
            "rate, $vat. Margin and fees with VAT go into `rates_import_override` as `rate_increment`. Give "
            "`rates_export_octopus_url` `price=market`."
        ),
        _reference("OctopusRates"),
    ),
}
"""For each feed the name of its operation, a summary, where VAT and fees go in that program, and the schema."""


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
        full_horizon=settings.full_horizon,
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
    ready = judge(EXAMPLE_DATA, EXAMPLE_NOW, pipeline_expected=True)
    missing = judge(ServedData("nothing"), EXAMPLE_NOW, pipeline_expected=True)
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
    return {media_type: {"schema": _reference(schema), "example": msgspec.to_builtins(example)}}


def _fields(*names: str) -> Document:
    return {
        name: {"$ref": f"#/components/headers/{name}"}
        for name in ("Access-Control-Allow-Origin", "X-Request-Id", *names)
    }


def header_components() -> Document:
    """Return the header fields that answers carry."""
    return {
        "ETag": _field(
            "Weak validator of the data and the UTC hour (of quarters: the quarter); send it back in `If-None-Match`.",
            {"pattern": '^W/"[0-9a-f]+"$'},
        ),
        "Cache-Control": _field(
            "How long the answer may be reused. Of prices: a minute fresh, then stale while revalidating, both ending "
            "at the full UTC hour, those of quarters at the full quarter. Of errors: not at all."
        ),
        "Vary": _field("The answer comes in gzip and zstd too.", {"const": "Accept-Encoding"}),
        "Access-Control-Allow-Origin": _field("Any origin may read the answer.", {"const": "*"}),
        "X-Request-Id": _field(
            "Names this request in the server's log. It is the request's own `X-Request-Id` if that has up to 128 "
            "letters, digits and `._:/+=@-`.",
            example="7f9c2ba4e88f827d",
        ),
        "Allow": _field("The methods that this resource takes.", example=METHODS),
        "Retry-After": _field("Seconds to wait before the next request.", {"pattern": "^[0-9]+$"}, example="1"),
    }


def _field(description: str, constraint: Document | None = None, *, example: str | None = None) -> Document:
    field = {"description": description, "required": True, "schema": {"type": "string", **(constraint or {})}}
    return field | ({} if example is None else {"example": example})
