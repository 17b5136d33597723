"""`get_prices`: the household's prices of any time that is known."""

from typing import Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse, callback
from homeassistant.helpers import config_validation as cv
from homeassistant.util.json import JsonObjectType

from ..prices.timeline import Period
from .call import SERVER_FIELD, coordinator_of, range_asked, rehearsal_mark, times

ATTR_START: Final = "start"
ATTR_END: Final = "end"
ATTR_FORECAST: Final = "forecast"

SCHEMA: Final = vol.Schema(
    {
        **SERVER_FIELD,
        vol.Optional(ATTR_START): cv.datetime,
        vol.Optional(ATTR_END): cv.datetime,
        vol.Optional(ATTR_FORECAST, default=True): cv.boolean,
    }
)


@callback
def get_prices(call: ServiceCall) -> ServiceResponse:
    """Return the household's prices, by default from the current period on."""
    coordinator = coordinator_of(call)
    prices = coordinator.prices
    start, end = range_asked(call.data, ATTR_START, ATTR_END, prices)
    periods = (period for period in prices.timeline.between(start, end) if period.settled or call.data[ATTR_FORECAST])
    return {"prices": [_price(period) for period in periods], **rehearsal_mark(coordinator)}


def _price(period: Period) -> JsonObjectType:
    band: JsonObjectType = {} if period.settled else {"p10": period.low, "p90": period.high}
    return {**times(period.start, period.end), "price": period.price, "settled": period.settled, **band}
