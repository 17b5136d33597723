"""The action `get_prices`, which returns the household's settled and predicted prices in a range of time."""

from enum import StrEnum
from typing import Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType, JsonValueType

from ..choices import one_of
from ..core.market import HOUR_S, QUARTER_S, Market
from ..household.prices_now import emhass_mapping, prices_in_nord_pool_format
from ..prices.timeline import Period
from .call import (
    ATTR_DIRECTION,
    DIRECTION_FIELD,
    ENTRY_FIELD,
    Direction,
    bounds_fields,
    coordinator_of_call,
    rehearsal_field,
    requested_prices,
    requested_range,
)

ATTR_START: Final = "start"
ATTR_END: Final = "end"
ATTR_FORECAST: Final = "forecast"
ATTR_RESOLUTION: Final = "resolution"
ATTR_FORMAT: Final = "shape"

RESOLUTIONS: Final = {"15m": QUARTER_S, "60m": HOUR_S}


class PriceFormat(StrEnum):
    """The form of the prices in an answer of `get_prices`."""

    LIST = "list"
    """A list with the start, the end, the price and `settled` of each period, and p10 and p90 of each forecast."""
    MAPPING = "mapping"
    """A mapping from the start of each period to its price."""
    RATES = "rates"
    """A list with the start, the end and the price of each period."""


SCHEMA: Final = vol.Schema(
    {
        **ENTRY_FIELD,
        **DIRECTION_FIELD,
        vol.Optional(ATTR_START): cv.datetime,
        vol.Optional(ATTR_END): cv.datetime,
        vol.Optional(ATTR_FORECAST, default=True): cv.boolean,
        vol.Optional(ATTR_RESOLUTION): one_of(RESOLUTIONS),
        vol.Optional(ATTR_FORMAT, default=PriceFormat.LIST): one_of(PriceFormat),
    }
)


async def get_prices(call: ServiceCall) -> ServiceResponse:
    """Return the household's prices in the range of time that the call asks for.

    If the call's field `forecast` is false, predicted prices are left out. If the call names no resolution, the periods
    are as long as in the household's contract, or hours if the server sends no quarter-hour prices. Raises Refusal if
    the server's first price is later than the start of the range, and TunnihindError if a request for past prices
    fails.
    """
    coordinator = await coordinator_of_call(call)
    prices = requested_prices(call, coordinator)
    start, end = requested_range(call.data, ATTR_START, ATTR_END, prices)
    answer = await coordinator.async_market_prices_between(start, end)

    def prices_in_range() -> JsonValueType:
        timelines = coordinator.timelines_of(answer)
        timeline = timelines.selling if call.data[ATTR_DIRECTION] == Direction.SELL else timelines.buying
        step_s = RESOLUTIONS.get(call.data.get(ATTR_RESOLUTION, ""), timeline.step_s)
        known = timeline.with_step(step_s).periods_between(start, end)
        periods = [period for period in known if period.settled or call.data[ATTR_FORECAST]]
        return _prices_in_format(coordinator.zone, periods, call.data[ATTR_FORMAT])

    # The prices of some years take seconds, so they are computed outside the event loop.
    found = await call.hass.async_add_executor_job(prices_in_range)
    return {"prices": found, **rehearsal_field(coordinator)}


def _prices_in_format(zone: Market, periods: list[Period], price_format: PriceFormat) -> JsonValueType:
    if price_format == PriceFormat.MAPPING:
        return {**emhass_mapping(periods)}
    if price_format == PriceFormat.RATES:
        return [*prices_in_nord_pool_format(zone, periods)]
    return [_price_answer(zone, period) for period in periods]


def _price_answer(zone: Market, period: Period) -> JsonObjectType:
    band: JsonObjectType = {} if period.settled else {"p10": period.low, "p90": period.high}
    return {**bounds_fields(zone, period.start, period.end), "price": period.price, "settled": period.settled, **band}
