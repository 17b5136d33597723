"""Reads the server's JSON documents. Refuses documents in which a required field is missing or wrong."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import voluptuous as vol
from yarl import URL

from ..choices import one_of
from ..core.market import HOUR_S, MARKET_OF_CODE, QUARTER_S, Market, ZoneCode
from .answers import About, Backtest, Band, MarketPrices, Mode, PlanScore

# A number above this limit, or below its negative, is refused, because the unit of a price may not be EUR/MWh.
_LARGEST_NUMBER: Final = 100_000
# Whole numbers from this one on, the year 2100, are refused, because the unit of an instant may not be seconds.
_LAST_INSTANT: Final = 4_102_444_800
# The largest accepted number of characters in a string. A server's credit line must be short, because it is an
# attribute of every entity.
_LONGEST_TEXT: Final = 300
_SCORED_DAYS: Final = 30
_SCORED_PLAN_HOURS: Final = 4


class MalformedDocument(ValueError):
    """A document that the integration can't use. The message names the fault."""


class UnknownZoneDocument(ValueError):
    """A document with prices of a zone that the integration doesn't support. The message names the zone."""


def about_from(document: object) -> About:
    """Read the answer of `GET /api/about`. Raises MalformedDocument."""
    fields = _checked_fields(_ABOUT_SCHEMA, document)
    return About(
        version=fields["version"],
        instance_id=fields["instanceId"],
        vat_rate=fields["vatRate"],
        attribution=fields["attribution"],
        zone=fields["zone"],
        zones=_zone_paths_from(fields["zones"]),
        vat_rate_is_chosen=fields["vatRateIsChosen"],
        mode=next((mode for mode in Mode if mode == fields.get("mode")), Mode.LIVE),
        full_horizon=fields.get("fullHorizon") is True,
        price_scale=_price_scale_from(fields.get("priceScale")),
    )


def _price_scale_from(value: object) -> tuple[float, ...]:
    try:
        return tuple(sorted(map(_number, value))) if isinstance(value, list) else ()
    except vol.Invalid:
        return ()


def market_prices_from(document: object, step_s: int = HOUR_S) -> MarketPrices:
    """Read the answer of `GET /api/v1/forecast` or `GET /api/v1/quarters`.

    `step_s` is the length of a period in seconds. Raises ValueError if the document is not an object with `zone`,
    `dayAhead` and `forecast`, because then another program answered. Also raises MalformedDocument or
    UnknownZoneDocument.
    """
    if not isinstance(document, dict) or not {"zone", "dayAhead", "forecast"} <= document.keys():
        raise ValueError("no price document")
    zone = document["zone"]
    if isinstance(zone, str) and zone not in MARKET_OF_CODE and len(zone) <= _LONGEST_TEXT:
        raise UnknownZoneDocument(zone)
    fields = _checked_fields(_PRICES_SCHEMAS[step_s], document)
    backtest = fields["backtest"]
    return MarketPrices(
        now=fields["now"],
        made_at=fields["madeAt"],
        last_refresh=fields["lastRefresh"],
        backtest=Backtest(backtest["mae"], backtest["baselineMae"], backtest["skill"], backtest["horizonH"])
        if backtest
        else None,
        settled={item["ts"]: item["eurMwh"] for item in fields["dayAhead"]},
        forecast={item["ts"]: Band(item["p10"], item["p50"], item["p90"]) for item in fields["forecast"]},
        step_s=step_s,
        zone=fields["zone"],
    )


def series_prices_from(document: object) -> dict[int, float]:
    """Read the settled prices (EUR/MWh) from the answer of `GET /api/series`, keyed by the start of each hour.

    Raises MalformedDocument.
    """
    return {hour["ts"]: hour["eurMwh"] for hour in _checked_fields(_SERIES_SCHEMA, document)["actuals"]}


def price_paths_from(document: object, zone: Market) -> dict[int, tuple[float, ...]]:
    """Read the price paths from the answer of `GET /api/v1/scenarios`.

    The result maps the start of each hour to the hour's price (EUR/MWh) on each path. Raises MalformedDocument if the
    document breaks the API's description or contains the prices of another zone.
    """
    fields = _checked_fields(_SCENARIOS_SCHEMA, document)
    _check_zone(fields, zone)
    starts, paths = fields["ts"], fields["paths"]
    if any(len(path) != len(starts) for path in paths):
        raise MalformedDocument("expected a price on each path for each hour")
    return dict(zip(starts, zip(*paths, strict=True), strict=False))


def plan_score_from(document: object) -> PlanScore | None:
    """Read the savings of plans in the last 30 days from the answer of `GET /api/v1/accuracy`.

    If a score other than `PlanScore.week_share` is missing, return None. Raises MalformedDocument.
    """
    windows = _checked_fields(_ACCURACY_SCHEMA, document)["windows"]
    window = next((window for window in windows if window["days"] == _SCORED_DAYS and "decisions" in window), None)
    decisions = None if window is None else _checked_fields(_DECISIONS_SCHEMA, window["decisions"])
    ahead = next((ahead for ahead in decisions["byDaysAhead"] if ahead["daysAhead"] == 1), None) if decisions else None
    plans = next((plans for plans in ahead["plans"] if plans["hours"] == _SCORED_PLAN_HOURS), None) if ahead else None
    if decisions is None or ahead is None or plans is None:
        return None
    figures = plans["share"], plans["baselineShare"], ahead["boilerEurAYear"], ahead["idealBoilerEurAYear"]
    if None in figures:
        return None
    share, baseline, boiler_eur_a_year, ideal_boiler_eur_a_year = figures
    return PlanScore(
        plans["n"], share, baseline, decisions["week"]["share"], boiler_eur_a_year, ideal_boiler_eur_a_year
    )


def history_prices_from(document: object, zone: Market) -> dict[int, float]:
    """Read the settled prices (EUR/MWh) from the answer of `GET /api/v1/history`, keyed by the start of each period.

    Raises MalformedDocument if the document breaks the API's specification or contains the prices of another zone.
    """
    fields = _checked_fields(_HISTORY_SCHEMA, document)
    _check_zone(fields, zone)
    return {period["ts"]: period["eurMwh"] for period in fields["prices"]}


def _check_zone(fields: Mapping[str, Any], zone: Market) -> None:
    if fields["zone"] != zone.code:
        raise MalformedDocument(f"expected zone {zone.code}, not {fields['zone']}")


def _zone_paths_from(addresses: list[dict[str, Any]]) -> dict[ZoneCode, str]:
    paths = {item["zone"]: item["url"].path.rstrip("/") for item in addresses}
    root = next(iter(paths.values()), "")
    return {zone: path.removeprefix(root) for zone, path in paths.items() if zone in MARKET_OF_CODE}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST_NUMBER:
        raise vol.Invalid(f"expected a number of at most {_LARGEST_NUMBER}")
    return float(value)


def _integer(value: object) -> int:
    if type(value) is not int or not 0 <= value < _LAST_INSTANT:
        raise vol.Invalid("expected a whole number, or an instant in unix seconds")
    return value


def _start_check(step_s: int) -> Callable[[object], int]:
    def start(value: object) -> int:
        instant = _integer(value)
        if instant % step_s:
            raise vol.Invalid(f"expected the start of a period of {step_s} seconds in unix seconds")
        return instant

    return start


def _checked_band(item: dict[str, Any]) -> dict[str, Any]:
    if not item["p10"] <= item["p50"] <= item["p90"]:
        raise vol.Invalid("expected p10 <= p50 <= p90")
    return item


def _object_schema(fields: dict[str, Any]) -> Callable[[object], Any]:
    return vol.Schema({vol.Required(name): check for name, check in fields.items()}, extra=vol.ALLOW_EXTRA)


_TEXT_SCHEMA: Final = vol.All(str, vol.Length(max=_LONGEST_TEXT))
_ZONE_SCHEMA: Final = one_of(MARKET_OF_CODE)
_BACKTEST_SCHEMA: Final = _object_schema(
    {"mae": _number, "baselineMae": _number, "skill": _number, "horizonH": _integer}
)
_ABOUT_SCHEMA: Final = _object_schema(
    {
        "version": _TEXT_SCHEMA,
        "instanceId": vol.All(_TEXT_SCHEMA, vol.Length(min=1)),
        "vatRate": vol.All(_number, vol.Range(min=0, max=1, max_included=False)),
        "attribution": _TEXT_SCHEMA,
        "zone": _ZONE_SCHEMA,
        "zones": [_object_schema({"zone": _TEXT_SCHEMA, "url": vol.All(_TEXT_SCHEMA, vol.Coerce(URL))})],
        "vatRateIsChosen": bool,
    }
)


def _settled_price_schema(step_s: int) -> Callable[[object], Any]:
    return _object_schema({"ts": _start_check(step_s), "eurMwh": _number})


def _prices_schema(step_s: int) -> Callable[[object], Any]:
    band = _object_schema({"ts": _start_check(step_s), "p10": _number, "p50": _number, "p90": _number})
    return _object_schema(
        {
            "zone": _ZONE_SCHEMA,
            "currency": "EUR",
            "now": _integer,
            "madeAt": vol.Any(None, _integer),
            "lastRefresh": vol.Any(None, _integer),
            "backtest": vol.Any(None, _BACKTEST_SCHEMA),
            "dayAhead": [_settled_price_schema(step_s)],
            "forecast": [vol.All(band, _checked_band)],
        }
    )


_PRICES_SCHEMAS: Final = {step_s: _prices_schema(step_s) for step_s in (HOUR_S, QUARTER_S)}
_SERIES_SCHEMA: Final = _object_schema({"actuals": [_settled_price_schema(HOUR_S)]})
_HISTORY_SCHEMA: Final = _object_schema(
    {"zone": _ZONE_SCHEMA, "currency": "EUR", "prices": [_settled_price_schema(QUARTER_S)]}
)
_SCENARIOS_SCHEMA: Final = _object_schema({"zone": _ZONE_SCHEMA, "ts": [_start_check(HOUR_S)], "paths": [[_number]]})
_FIGURE_SCHEMA: Final = vol.Any(None, _number)
_PLANS_SCHEMA: Final = _object_schema(
    {"hours": _integer, "n": _integer, "share": _FIGURE_SCHEMA, "baselineShare": _FIGURE_SCHEMA}
)
_DAYS_AHEAD_SCHEMA: Final = _object_schema(
    {
        "daysAhead": _integer,
        "plans": [_PLANS_SCHEMA],
        "boilerEurAYear": _FIGURE_SCHEMA,
        "idealBoilerEurAYear": _FIGURE_SCHEMA,
    }
)
_DECISIONS_SCHEMA: Final = _object_schema({"byDaysAhead": [_DAYS_AHEAD_SCHEMA], "week": _PLANS_SCHEMA})
_ACCURACY_SCHEMA: Final = _object_schema({"windows": [_object_schema({"days": _integer})]})


def _checked_fields(schema: Callable[[object], Any], document: object) -> dict[str, Any]:
    try:
        checked: dict[str, Any] = schema(document)
    except vol.Invalid as error:
        raise MalformedDocument(str(error)) from error
    return checked
