"""The actions `import_prices` and `import_costs`, which store the prices and costs of past hours as statistics."""

import asyncio
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant, ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv
from homeassistant.util.hass_dict import HassKey
from homeassistant.util.json import JsonObjectType

from ..const import DOMAIN
from ..core.market import HOUR_S, Market
from ..errors import Refusal
from ..past.history import EARLIEST_DAY
from ..past.paid_prices import (
    NO_PRICE,
    HourPrice,
    LeftOutHour,
    cost_rows,
    hourly_costs,
    hours_between,
    left_out_ranges,
    split_left_out,
)
from ..past.recorder import (
    async_cost_metadata,
    async_price_metadata,
    check_recorder,
    energy_statistic_name,
    measured_energy,
    stored_costs,
    stored_prices,
    write_costs,
    write_prices,
)
from .call import ENTRY_FIELD, bounds_fields, coordinator_of_call, rehearsal_field

ATTR_START: Final = "start"
ATTR_ENERGY: Final = "energy"
PRICES_SCHEMA: Final = vol.Schema({**ENTRY_FIELD, vol.Optional(ATTR_START): cv.date})
COSTS_SCHEMA: Final = PRICES_SCHEMA.extend({vol.Required(ATTR_ENERGY): cv.string})
_LOCK: Final[HassKey[asyncio.Lock]] = HassKey(f"{DOMAIN}_import")


def _import_lock(hass: HomeAssistant) -> asyncio.Lock:
    """Return the lock that prevents two imports at the same time."""
    return hass.data.setdefault(_LOCK, asyncio.Lock())


def _requested_start(data: Mapping[str, Any], now: int, zone: Market) -> int:
    """Return the start of the first day to import, in UTC seconds.

    The first day is the day that the call names, but not before `EARLIEST_DAY`, which is also the default. Raises
    Refusal if the first hour of the first day has not passed at `now` (UTC seconds).
    """
    day: date = max(data.get(ATTR_START, EARLIEST_DAY), EARLIEST_DAY)
    start = zone.midnight(day)
    if start + HOUR_S > now:
        raise Refusal("start_not_past", field=ATTR_START, given=day.isoformat())
    return start


def common_import_fields(
    zone: Market, values: Mapping[int, Any], changed: int, left_out: Mapping[int, LeftOutHour]
) -> JsonObjectType:
    """Return the fields about hours in an import's answer: range, number, changes and left-out hours.

    `values` maps the start (UTC seconds) of each hour with a known price or cost to this price or cost. `changed` is
    the number of rows that the import wrote. `left_out` maps the start of each left-out hour to the reason.
    """
    bounds = bounds_fields(zone, min(values), max(values) + HOUR_S) if values else {}
    return {
        **bounds,
        "hours": len(values),
        "changed": changed,
        "left_out": [
            {
                **bounds_fields(zone, start, end),
                "hours": (end - start) // HOUR_S,
                "reason": why.reason,
                **({"parts": [*why.parts]} if why.parts else {}),
            }
            for start, end, why in left_out_ranges(left_out)
        ],
    }


async def import_prices(call: ServiceCall) -> ServiceResponse:
    """Compute the prices of past hours, store them as a statistic, and return a summary.

    If the server has no price for an hour, the hour's stored price stays. If a fee of an hour is unknown, the hour's
    stored price is removed.
    """
    hass, coordinator = call.hass, await coordinator_of_call(call)
    check_recorder(hass)
    now = coordinator.clock.now()
    start = _requested_start(call.data, now, coordinator.zone)
    metadata = async_price_metadata(hass, coordinator.config_entry, coordinator.mode)
    async with _import_lock(hass):
        prices, left_out = split_left_out(await coordinator.paid_price_calculator.prices_of(hours_between(start, now)))
        stored = await stored_prices(hass, metadata["statistic_id"])
        changed = {hour: price for hour, price in prices.items() if _figures_to_store(price) != stored.get(hour)}
        outdated = {hour for hour, why in left_out.items() if why != NO_PRICE and hour in stored}
        await write_prices(hass, metadata, {**changed, **dict.fromkeys(outdated)})
    return {
        "statistic_id": metadata["statistic_id"],
        **common_import_fields(coordinator.zone, prices, len(changed) + len(outdated), left_out),
        **rehearsal_field(coordinator),
    }


def _figures_to_store(price: HourPrice) -> tuple[float, float, float]:
    return price.mean, min(price.by_step), max(price.by_step)


async def import_costs(call: ServiceCall) -> ServiceResponse:
    """Compute the costs of the energy used in past hours, store them as a statistic, and return a summary.

    If the server has no price for an hour, the hour's stored cost stays. If a fee or the energy of an hour is unknown,
    the hour's stored cost is removed.
    """
    hass, coordinator = call.hass, await coordinator_of_call(call)
    check_recorder(hass)
    now, entry, calculator = coordinator.clock.now(), coordinator.config_entry, coordinator.paid_price_calculator
    start = _requested_start(call.data, now, coordinator.zone)
    energy_id = call.data[ATTR_ENERGY]
    name = await energy_statistic_name(hass, energy_id, field=ATTR_ENERGY)
    metadata = async_cost_metadata(hass, entry, coordinator.mode, energy_id=energy_id, energy=name)
    async with _import_lock(hass):
        energy = await measured_energy(
            hass, energy_id, start, now - now % HOUR_S, by_quarter=calculator.step_s < HOUR_S
        )
        found = hourly_costs(energy, await calculator.prices_of(sorted(energy.by_hour)))
        stored = await stored_costs(hass, metadata["statistic_id"])
        rows = cost_rows(stored, found, start)
        changed = {hour: row for hour, row in rows.items() if row != stored.get(hour)}
        await write_costs(hass, metadata, changed)
    charged, left_out = split_left_out(found)
    return {
        "statistic_id": metadata["statistic_id"],
        **common_import_fields(coordinator.zone, charged, len(changed), left_out),
        "kwh": round(sum(energy.by_hour[hour] for hour in charged), 3),
        "cost": round(sum(charged.values()), 2),
        **rehearsal_field(coordinator),
    }
