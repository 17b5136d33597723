"""Describes the API's resources and their parameters."""

from collections.abc import Iterable, Mapping
from typing import Final

from tunnihind.api.answers import MAX_HISTORY_DAYS, MIN_HISTORY_DAYS
from tunnihind.api.feeds import PERCENTILES, PRICE_KINDS, VAT_RATE_FIELD, FeedFormat
from tunnihind.api.history import FIRST_MONTH
from tunnihind.api.http.headers import JSON_CONTENT_TYPE, PROBLEM_CONTENT_TYPE
from tunnihind.api.openapi.components import (
    Document,
    answer_content,
    cacheable_answers,
    problem_references,
    schema_reference,
    uncached_answer,
)
from tunnihind.api.parameters import RESOLUTIONS
from tunnihind.api.record_files import CHECKSUMS_CONTENT_TYPE, RECORD_FILE_PATTERN
from tunnihind.api.score_table import ACCURACY_FORMATS, CSV_CONTENT_TYPE, DEFAULT_ISSUE_DAYS, FIRST_YEAR, SCORE_COLUMNS


def _operation(
    name: str, tag: str, summary: str, description: str, *, answers: Document, parameters: Iterable[Document] = ()
) -> Document:
    """Describe one operation. Generated client code calls the operation by its `name`."""
    written = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "description": description,
        "responses": answers,
    }
    return written | ({"parameters": list(parameters)} if parameters else {})


def _parameter(
    name: str,
    description: str,
    *,
    place: str = "query",
    is_required: bool = False,
    example: str | None = None,
    **schema: object,
) -> Document:
    named = {"name": name, "in": place, "required": is_required, "description": description}
    return named | {"schema": {"type": "string", **schema}} | ({} if example is None else {"example": example})


_DAYS_PARAMETER: Final = _parameter(
    "days",
    f"History window in days: one or two digits, clamped into {MIN_HISTORY_DAYS} to {MAX_HISTORY_DAYS}.",
    pattern="^[0-9]{1,2}$",
    default=str(MAX_HISTORY_DAYS),
    example="7",
)
_DAYS_BEFORE_PARAMETER: Final = _parameter(
    "days",
    f"Days of history before the current quarter: one or two digits, clamped into 0 to {MAX_HISTORY_DAYS}.",
    pattern="^[0-9]{1,2}$",
    default="0",
    example="1",
)
_MONTH_PARAMETER: Final = _parameter(
    "month",
    f"A calendar month by the $adjective clock, YYYY-MM, from {FIRST_MONTH} to the current month. Other months get "
    "404.",
    is_required=True,
    pattern="^[0-9]{4}-(0[1-9]|1[0-2])$",
    example="2025-12",
)
_RESOLUTION_PARAMETER: Final = _parameter(
    "resolution",
    "The length of each period: a quarter of an hour or an hour.",
    enum=[*RESOLUTIONS],
    default=next(iter(RESOLUTIONS)),
)
_PRICE_PARAMETER: Final = _parameter(
    "price",
    "`consumer` is with VAT, `market` without. The VAT rate is the legal rate of each date, or the operator's choice. "
    "The header field `Tunnihind-VAT-Rate` has this rate.",
    enum=[*PRICE_KINDS],
    default=PRICE_KINDS[0],
)
_PERCENTILE_PARAMETER: Final = _parameter(
    "percentile",
    "The forecast's median, or its 10th or 90th percentile. If you buy, `p90` makes a cautious plan. Settled prices "
    "stay the same.",
    enum=[*PERCENTILES],
    default=PERCENTILES[0],
)
_FORMAT_PARAMETER: Final = _parameter(
    "format",
    "`json` summarises the last weeks, `csv` is the table.",
    enum=[*ACCURACY_FORMATS],
    default=ACCURACY_FORMATS[0],
)
_YEAR_PARAMETER: Final = _parameter(
    "year",
    f"For the table: the days of issue of a year, from {FIRST_YEAR} to the current year. Other years get 404. Without "
    f"a year, the table has the last {DEFAULT_ISSUE_DAYS} days.",
    pattern="^[0-9]{4}$",
    example="2025",
)
_RECORD_FILE_PARAMETER: Final = _parameter(
    "file",
    "A month's forecasts (`2025-11.csv`), their scores (`2025-11-scores.csv`) or the checksums (`2025-11.sha256`).",
    place="path",
    is_required=True,
    pattern=f"^{RECORD_FILE_PATTERN}$",
    example="2025-11.csv",
)
_KNOWN_TAG_PARAMETER: Final = _parameter(
    "If-None-Match",
    "The `ETag` of the client's last answer. If nothing is new, the answer is 304 without a body.",
    place="header",
    example='W/"0d1c2b3a49586776a5b4c3d2"',
)

_TABLE_COLUMNS: Final = (
    "`issuedOn` and `deliveryDay` are delivery days, `madeAt` is when the forecast was made, `n` counts hours. Errors, "
    "`width` and savings are in EUR/MWh without VAT; `coverage80`, `below10` and `above90` are fractions. `baseline…` "
    "uses the price one week earlier, `sevenDayMean…` the mean of the seven days up to the day of issue, and `ideal…` "
    "perfect foresight. `saving4h` is the mean price of the delivery day less that of its 4 cheapest hours by p50. "
    "`savingWeek4h` is such a saving over the seven days after the day of issue. It is in the row of the seventh day. "
    "Missing figures are empty."
)

_TABLE_EXAMPLE: Final = (
    f"{','.join(SCORE_COLUMNS)}\n"
    "2025-12-14,2025-12-15,1,2025-12-14T10:00:00Z,weather,24,31.40,52.30,40.20,0.8020,0.0960,0.1020,10.40,154.30,101.70,"
    "49.20,40.60,45.90,60.03,46.47,39.02,42.10,55.59,44.20,37.49,39.91,52.71,40.15,33.40,36.20,47.68,,,,\n"
)


_RECORD_EXAMPLE: Final = (
    "zone,deliveryDay,daysAhead,madeAt,startsAt,p10,p50,p90\n"
    "ee,2025-11-01,1,2025-10-31T09:02:11Z,2025-10-31T23:00:00Z,12.40,38.15,71.02\n"
)
_CHECKSUMS_EXAMPLE: Final = f"{'0123456789abcdef' * 4}  2025-11.csv\n"


def price_operations() -> Mapping[str, Document]:
    """Return the operations about prices, forecasts and scores, keyed by path."""
    return {
        "/api/v1/forecast": _operation(
            "getForecast",
            "Prices",
            "Settled prices from now on, and the forecast",
            "For integrations: this format is versioned. The resource takes no query string. `dayAhead` has the "
            "settled prices from the current hour on, and `forecast` has p10, p50 and p90 of future hours up to "
            "`freeUntil`.",
            answers=cacheable_answers(answer_content("ForecastResponse")) | problem_references(400, 405, 429, 500, 503),
            parameters=[_KNOWN_TAG_PARAMETER],
        ),
        "/api/v1/quarters": _operation(
            "getQuarters",
            "Prices",
            "Settled prices and the forecast by the quarter of an hour",
            "The content of `/api/v1/forecast`, by quarters of an hour. The market has traded quarters since "
            "2025-10-01. The mean of an hour's four prices is the hour's price, and the mean of its four medians is "
            "the hour's p50, apart from rounding. If only the price of the hour is known, its quarters have this price "
            "and are marked `hourly`. With `days`, the settled prices of that many past days come first in "
            "`dayAhead`, and the forecasts of these days come first in `forecast`. Other parameters are ignored.",
            answers=cacheable_answers(answer_content("QuartersResponse")) | problem_references(400, 405, 429, 500, 503),
            parameters=[_DAYS_BEFORE_PARAMETER, _KNOWN_TAG_PARAMETER],
        ),
        "/api/v1/scenarios": _operation(
            "getScenarios",
            "Prices",
            "Twenty equally likely price paths",
            "For planners that handle uncertainty: 20 price paths over the hours of the forecast. The errors of the "
            "hours are related as in past forecasts. So the costs of a plan on the 20 paths show how certain the "
            "plan's cost is. Two of an hour's 20 prices lie below p10 and two above p90. The 10th, 50th and 90th "
            "percentiles of these prices are the percentiles of `/api/v1/forecast`. There are paths of hours only, not "
            "of quarters. The resource takes no query string.",
            answers=cacheable_answers(answer_content("ScenariosResponse"))
            | problem_references(400, 405, 429, 500, 503),
            parameters=[_KNOWN_TAG_PARAMETER],
        ),
        "/api/series": _operation(
            "getSeries",
            "Prices",
            "Price history and a past-to-future forecast series",
            "The data of the dashboard's chart. This format is not versioned, so integrations should use "
            "`/api/v1/forecast`.",
            answers=cacheable_answers(answer_content("SeriesResponse")) | problem_references(400, 405, 429, 500, 503),
            parameters=[_DAYS_PARAMETER, _KNOWN_TAG_PARAMETER],
        ),
        "/api/v1/accuracy": _operation(
            "getAccuracy",
            "Prices",
            "How good the forecasts were",
            "The scores of forecasts exactly as issued, over 7, 30 and 90 delivery days. For each day, the last run "
            "made before the day-ahead auction counts. `decisions` says how much plans by these forecasts would have "
            "saved. These savings show best what a forecast is worth. Parameters other than `format` and `year` are "
            "ignored.\n\n"
            "With `format=csv` the answer is a table with a row for each day of issue and number of days ahead, kept "
            f"for ever. {_TABLE_COLUMNS}",
            answers=cacheable_answers(
                answer_content("AccuracyResponse")
                | {CSV_CONTENT_TYPE: {"schema": {"type": "string", "examples": [_TABLE_EXAMPLE]}}}
            )
            | problem_references(400, 404, 405, 429, 500, 503),
            parameters=[_FORMAT_PARAMETER, _YEAR_PARAMETER, _KNOWN_TAG_PARAMETER],
        ),
        "/accuracy/{file}": _operation(
            "getRecord",
            "Prices",
            "A month's forecasts exactly as issued, never changed",
            "From a week after a month's end on, three files that are written once. `2025-11.csv` has for each "
            "delivery day and number of days ahead the forecast of the first run made from 09:00 UTC until the "
            "auction's gate closure; if there was none, the cells are empty. `2025-11-scores.csv` has the scores by "
            "days ahead, with the columns of `/api/v1/accuracy`. `hours` counts the month's hours, `forecastHours` "
            "those with a forecast, and `scoredHours` those whose price, and the price one week earlier, were also "
            "known. `2025-11.sha256` has the checksums of both files and of the month before's checksums, for "
            "`sha256sum --check`. Prices are in EUR/MWh without VAT. A delivery day begins at midnight in Brussels. A "
            "query string is ignored.",
            answers=cacheable_answers(
                {
                    CSV_CONTENT_TYPE: {"schema": {"type": "string", "examples": [_RECORD_EXAMPLE]}},
                    CHECKSUMS_CONTENT_TYPE: {"schema": {"type": "string", "examples": [_CHECKSUMS_EXAMPLE]}},
                }
            )
            | problem_references(404, 405, 429, 500, 503),
            parameters=[_RECORD_FILE_PARAMETER, _KNOWN_TAG_PARAMETER],
        ),
        "/api/v1/history": _operation(
            "getHistory",
            "Prices",
            "The settled prices of a month",
            "One calendar month by the $adjective clock. If only the price of the hour is known, its quarters have "
            "this price and are marked `hourly`. Periods with an unknown price are left out. A complete, confirmed "
            "month may be cached for a year, from a week after the end of the month. A correction changes the `ETag`. "
            "Unknown parameters are refused. At most two months of a zone are read at a time. Up to 14 requests wait, "
            "others get 503 with `Retry-After`.",
            answers=cacheable_answers(answer_content("HistoryResponse"))
            | problem_references(400, 404, 405, 429, 500, 503),
            parameters=[_MONTH_PARAMETER, _RESOLUTION_PARAMETER, _KNOWN_TAG_PARAMETER],
        ),
    }


_FEED_DESCRIPTION: Final = (
    "Settled prices, then forecast medians, without a gap. They begin at midnight, $adjective time, and end with the "
    "served data. Unknown parameters are refused. Without a current or future price the answer is 503, so that readers "
    "keep their data."
)

_FEED_OPERATIONS: Final[Mapping[FeedFormat, tuple[str, str, str, Document]]] = {
    "evcc": (
        "getEvccFeed",
        "Prices for evcc",
        (
            "A list for a tariff of `type: custom`, EUR/kWh. evcc adds `charges` to a price, and `tax` to the sum. So "
            "use `price=market`, enter margin and fees without VAT as `charges`, and the legal VAT rate as `tax`. For "
            "`feedin`, use `price=market`, and enter what the buyer keeps as `charges`, with a minus sign."
        ),
        {"type": "array", "items": schema_reference("EvccRate")},
    ),
    "emhass": (
        "getEmhassFeed",
        "Prices for EMHASS",
        (
            "A mapping of times to EUR/kWh for `load_cost_forecast` and `prod_price_forecast`. EMHASS adds nothing, so "
            "use `price=market`. Before you send the prices to EMHASS, add margin, fees and VAT to the load cost, and "
            "subtract what the buyer keeps from the production price."
        ),
        {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "examples": [{"2025-12-15T10:00:00Z": 0.1046, "2025-12-15T10:15:00Z": 0.0962}],
        },
    ),
    "octopus": (
        "getOctopusFeed",
        "Prices for Predbat, in Octopus's form",
        (
            "For `rates_import_octopus_url`, cents per kWh. Predbat adds no VAT, so keep `price=consumer`. Margin "
            "and fees with VAT go into `rates_import_override` as `rate_increment`. For `rates_export_octopus_url`, "
            "use `price=market`."
        ),
        schema_reference("OctopusRates"),
    ),
    "eos": (
        "getEosFeed",
        "Prices for EOS",
        (
            "For EOS's `ElecPriceImport`, EUR per Wh. EOS adds nothing to imported prices, "
            "so keep `price=consumer`, and add margin and fees with VAT. For `FeedInTariffImport`, use `price=market`, "
            "and give the prices the name `feed_in_tariff_wh`."
        ),
        schema_reference("EosPrices"),
    ),
}
"""The operation of each feed: its name, summary, advice on VAT and fees, and schema."""


def feed_operations() -> Mapping[str, Document]:
    """Return the operations of the feeds, keyed by path."""
    return {
        f"/api/feeds/{feed_format}": _operation(
            name,
            "Feeds",
            summary,
            f"{_FEED_DESCRIPTION} {advice}",
            answers=cacheable_answers({JSON_CONTENT_TYPE: {"schema": schema}}, VAT_RATE_FIELD)
            | problem_references(400, 405, 429, 500, 503),
            parameters=[_RESOLUTION_PARAMETER, _PRICE_PARAMETER, _PERCENTILE_PARAMETER, _KNOWN_TAG_PARAMETER],
        )
        for feed_format, (name, summary, advice, schema) in _FEED_OPERATIONS.items()
    }


def service_operations() -> Mapping[str, Document]:
    """Return the operations about the server itself, keyed by path."""
    return {
        "/api/openapi.json": _operation(
            "getDescription",
            "Operation",
            "This description",
            "The OpenAPI 3.1 description of the API.",
            answers=cacheable_answers(
                {JSON_CONTENT_TYPE: {"schema": {"type": "object", "examples": [{"openapi": "3.1.0"}]}}}
            )
            | problem_references(405, 429, 500),
            parameters=[_KNOWN_TAG_PARAMETER],
        ),
        "/api/about": _operation(
            "getAbout",
            "Operation",
            "Who serves this API",
            "Name, version and identity of the server, its VAT rate, the credit to give, and whether it is live.",
            answers=cacheable_answers(answer_content("About")) | problem_references(405, 429, 500, 503),
            parameters=[_KNOWN_TAG_PARAMETER],
        ),
        "/healthz": _operation(
            "getHealth",
            "Operation",
            "Is the process alive?",
            "Answers while the process lives. 503 means that only a restart can help: the pipeline has ended with an "
            "error, or has made no progress for fifteen minutes.",
            answers={"200": uncached_answer("Alive.", answer_content("Health"))} | problem_references(405, 500, 503),
        ),
        "/readyz": _operation(
            "getReadiness",
            "Operation",
            "Is the data there and fresh?",
            "Ages of the settled prices, the forecast and the last refresh, by the server's own clock.",
            answers={
                "200": uncached_answer("The server is ready.", answer_content("Readiness")),
                "503": uncached_answer(
                    "Data is missing or stale, or the server can't do its work or is stopping.",
                    answer_content("NotReady", PROBLEM_CONTENT_TYPE),
                ),
            }
            | problem_references(405, 500),
        ),
    }
