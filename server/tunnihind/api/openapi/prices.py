"""The resources that tell prices and forecasts."""

from collections.abc import Iterable
from typing import Final

from tunnihind.api.openapi.operation import operation
from tunnihind.api.openapi.parameters import DAYS, DAYS_BEFORE, FORMAT, KNOWN_TAG, MONTH, RESOLUTION, YEAR
from tunnihind.api.openapi.responses import Document, cached, content, problems
from tunnihind.api.score_table import COLUMNS, CSV

_TABLE_COLUMNS: Final = (
    "`issuedOn` and `deliveryDay` are delivery days, `madeAt` is when the forecast was made, `n` counts hours. Errors, "
    "`width` and savings are in EUR/MWh without VAT; `coverage80`, `below10` and `above90` are fractions. `baseline…` "
    "is of the price one week earlier, `sevenDayMean…` of the mean of the seven days up to the day of issue, "
    "`ideal…` of perfect foresight. `saving4h` is the mean price of the delivery day less that of its 4 cheapest hours "
    "by p50, and `savingWeek4h` the same of the seven days after the day of issue, given with the seventh. What could "
    "not be scored is empty."
)

_TABLE: Final = (
    f"{','.join(COLUMNS)}\n"
    "2025-12-14,2025-12-15,1,2025-12-14T10:00:00Z,weather,24,31.40,52.30,40.20,0.8020,0.0960,0.1020,10.40,154.30,101.70,"
    "49.20,40.60,45.90,60.03,46.47,39.02,42.10,55.59,44.20,37.49,39.91,52.71,40.15,33.40,36.20,47.68,,,,\n"
)


def price_operations() -> Iterable[tuple[str, Document]]:
    """Give the path and the operation of each."""
    yield (
        "/api/v1/forecast",
        operation(
            "getForecast",
            "Prices",
            "Settled prices from now on, and the forecast",
            "The integration endpoint; its shape is versioned. It takes no query string. `dayAhead` holds settled "
            "prices from the current hour forward, `forecast` p10/p50/p90 for strictly-future hours up to `freeUntil`.",
            answers=cached(content("ForecastResponse")) | problems(400, 405, 429, 500, 503),
            parameters=[KNOWN_TAG],
        ),
    )
    yield (
        "/api/v1/quarters",
        operation(
            "getQuarters",
            "Prices",
            "Settled prices and the forecast by the quarter of an hour",
            "What `/api/v1/forecast` has, for quarters of an hour. The market has traded them since 2025-10-01. The "
            "mean of an hour's four prices is the hour's price, and the mean of its four medians is the hour's p50, "
            "but for rounding. Where only the hour is known, its quarters carry its price and are marked `hourly`. "
            "With `days`, the settled quarters of that many days come first in `dayAhead`, and what had been forecast "
            "for them comes first in `forecast`. Other parameters are ignored.",
            answers=cached(content("QuartersResponse")) | problems(400, 405, 429, 500, 503),
            parameters=[DAYS_BEFORE, KNOWN_TAG],
        ),
    )
    yield (
        "/api/v1/scenarios",
        operation(
            "getScenarios",
            "Prices",
            "Twenty equally likely price paths",
            "For planners that reckon with uncertainty: 20 courses that prices may take over the hours of the forecast."
            " Which hours are off together follows the model's own past errors, so the costs of a plan on the 20 paths "
            "show how sure its cost is. Of an hour's 20 prices two lie below p10, two above p90, and the 10th, "
            "50th and 90th percentiles are those of `/api/v1/forecast`. There are paths of hours only, not of "
            "quarters. It takes no query string.",
            answers=cached(content("ScenariosResponse")) | problems(400, 405, 429, 500, 503),
            parameters=[KNOWN_TAG],
        ),
    )
    yield (
        "/api/series",
        operation(
            "getSeries",
            "Prices",
            "Price history and a past-to-future forecast series",
            "The payload behind the dashboard, shaped for its chart and not versioned: integrations should use "
            "`/api/v1/forecast`.",
            answers=cached(content("SeriesResponse")) | problems(400, 405, 429, 500, 503),
            parameters=[DAYS, KNOWN_TAG],
        ),
    )
    yield (
        "/api/v1/accuracy",
        operation(
            "getAccuracy",
            "Prices",
            "How good the forecasts were",
            "Forecasts exactly as they were issued, against the prices that came, over 7, 30 and 90 delivery days. Of "
            "each day the last run made before the day-ahead auction counts. `decisions` says what plans by these "
            "forecasts would have saved: nothing else tells as well what a forecast is worth. Other parameters than "
            "`format` and `year` are ignored.\n\n"
            "With `format=csv` the answer is a table with a row for each day of issue and number of days ahead, kept "
            f"for ever. {_TABLE_COLUMNS}",
            answers=cached(content("AccuracyResponse") | {CSV: {"schema": {"type": "string", "examples": [_TABLE]}}})
            | problems(400, 404, 405, 429, 500, 503),
            parameters=[FORMAT, YEAR, KNOWN_TAG],
        ),
    )
    yield (
        "/api/v1/history",
        operation(
            "getHistory",
            "Prices",
            "The settled prices of a month",
            "One calendar month by the Estonian clock. A quarter of which only the hour is known has the hour's price "
            "and is marked `hourly`; periods whose price isn't known are left out. A month that has been over for a "
            "week, lacks nothing and isn't waiting for a second source may be cached for good; after a correction its "
            "`ETag` is another. Parameters that aren't known are refused. Only two months are read at a time: 503 with "
            "`Retry-After` asks for patience.",
            answers=cached(content("HistoryResponse")) | problems(400, 404, 405, 429, 500, 503),
            parameters=[MONTH, RESOLUTION, KNOWN_TAG],
        ),
    )
