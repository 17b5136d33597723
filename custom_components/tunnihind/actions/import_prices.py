"""`import_prices`: what the household paid for each past hour, as a statistic."""

from typing import Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse

from ..past.hours import NO_PRICE, HourPrice, hours_between, without_left_out
from ..past.own_statistics import async_price_statistic
from ..past.paid_prices import EARLIEST
from ..past.recorder import check_recorder, stored_prices, write_prices
from .call import SERVER_FIELD, coordinator_of, rehearsal_mark
from .past_hours import START_FIELD, hours_answer, import_lock, start_asked

SCHEMA: Final = vol.Schema({**SERVER_FIELD, **START_FIELD})


async def import_prices(call: ServiceCall) -> ServiceResponse:
    """Write the prices of past hours over what is stored of them, and return what was done."""
    hass, coordinator = call.hass, await coordinator_of(call)
    check_recorder(hass)
    now = coordinator.clock.now()
    start = start_asked(call.data, EARLIEST, now)
    metadata = async_price_statistic(hass, coordinator.config_entry, coordinator.mode)
    async with import_lock(hass):
        prices, left_out = without_left_out(await coordinator.paid_prices.of(hours_between(start, now)))
        stored = await stored_prices(hass, metadata["statistic_id"])
        changed = {hour: price for hour, price in prices.items() if _row(price) != stored.get(hour)}
        outdated = {hour for hour, why in left_out.items() if why != NO_PRICE and hour in stored}
        await write_prices(hass, metadata, {**changed, **dict.fromkeys(outdated)})
    return {
        "statistic_id": metadata["statistic_id"],
        **hours_answer(prices, len(changed) + len(outdated), left_out),
        **rehearsal_mark(coordinator),
    }


def _row(price: HourPrice) -> tuple[float, float, float]:
    return price.mean, min(price.quarters), max(price.quarters)
