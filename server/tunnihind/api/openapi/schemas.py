"""The schemas of the answers, from their types."""

from collections.abc import Mapping
from string import Template
from typing import Any, Final

import msgspec

from tunnihind.api.models.accuracy import AccuracyResponse
from tunnihind.api.models.feeds import EvccRate, OctopusRate, OctopusRates
from tunnihind.api.models.forecast import Backtest, DayAheadHour, ForecastHour, ForecastResponse
from tunnihind.api.models.history import HistoryPrice, HistoryResponse
from tunnihind.api.models.quarters import DayAheadQuarter, ForecastQuarter, QuartersResponse
from tunnihind.api.models.scenarios import ScenariosResponse
from tunnihind.api.models.series import SeriesActual, SeriesForecastPoint, SeriesResponse
from tunnihind.api.models.service import About, Health, NotReady, Problem, Readiness
from tunnihind.api.openapi.responses import Document
from tunnihind.market import consumer_price

_SCHEMAS: Final = (
    ForecastResponse,
    DayAheadHour,
    ForecastHour,
    Backtest,
    QuartersResponse,
    DayAheadQuarter,
    ForecastQuarter,
    ScenariosResponse,
    SeriesResponse,
    SeriesActual,
    SeriesForecastPoint,
    AccuracyResponse,
    HistoryResponse,
    HistoryPrice,
    EvccRate,
    OctopusRates,
    OctopusRate,
    About,
    Health,
    Readiness,
    Problem,
    NotReady,
)

_CONSUMER_UNITS: Final = {"eurKwh": "eurMwh", "p10Kwh": "p10", "p50Kwh": "p50", "p90Kwh": "p90", "pathsKwh": "paths"}
"""Consumer-unit fields by the market-unit field that they convert."""


def schema_components(vat_rate: float, words: Mapping[str, str]) -> Document:
    """Return the schemas by name, with `words` filled into their descriptions and examples that fit `vat_rate`."""
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
            properties[consumer_field]["examples"] = [_converted(market_example, vat_rate)]


def _converted(price: Any, vat_rate: float) -> Any:  # noqa: ANN401  a price, or lists of prices
    """Convert a market-unit price, EUR/MWh, or each of those in lists."""
    if isinstance(price, list):
        return [_converted(one, vat_rate) for one in price]
    return consumer_price(price, vat_rate)


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
