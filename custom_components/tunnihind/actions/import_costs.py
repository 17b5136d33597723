"""`import_costs`: what the energy of past hours cost, as a statistic for the Energy dashboard."""

from typing import Final

import voluptuous as vol
from homeassistant.core import ServiceCall, ServiceResponse
from homeassistant.helpers import config_validation as cv

from ..past.costs import costs, sum_rows
from ..past.hours import without_left_out
from ..past.own_statistics import async_cost_statistic
from ..past.paid_prices import EARLIEST
from ..past.recorder import check_recorder, energy_of, name_of_energy, stored_costs, write_costs
from ..prices.timeline import HOUR_S, QUARTER_S
from .call import SERVER_FIELD, coordinator_of, rehearsal_mark
from .past_hours import START_FIELD, hours_answer, import_lock, start_asked

ATTR_ENERGY: Final = "energy"
SCHEMA: Final = vol.Schema({**SERVER_FIELD, vol.Required(ATTR_ENERGY): cv.string, **START_FIELD})


async def import_costs(call: ServiceCall) -> ServiceResponse:
    """Write what past hours cost over what is stored of it, and return what was done."""
    hass, coordinator = call.hass, await coordinator_of(call)
    check_recorder(hass)
    now, entry, paid = coordinator.clock.now(), coordinator.config_entry, coordinator.paid_prices
    start = start_asked(call.data, EARLIEST, now)
    energy_id = call.data[ATTR_ENERGY]
    name = await name_of_energy(hass, energy_id, field=ATTR_ENERGY)
    metadata = async_cost_statistic(hass, entry, coordinator.mode, energy_id=energy_id, energy=name)
    async with import_lock(hass):
        energy = await energy_of(hass, energy_id, start, now - now % HOUR_S, by_quarter=paid.step_s == QUARTER_S)
        found = costs(energy, await paid.of(sorted(energy.hours)))
        stored = await stored_costs(hass, metadata["statistic_id"])
        rows = sum_rows(stored, found, start)
        changed = {hour: row for hour, row in rows.items() if row != stored.get(hour)}
        await write_costs(hass, metadata, changed)
    charged, left_out = without_left_out(found)
    return {
        "statistic_id": metadata["statistic_id"],
        **hours_answer(charged, len(changed), left_out),
        "kwh": round(sum(energy.hours[hour] for hour in charged), 3),
        "cost": round(sum(charged.values()), 2),
        **rehearsal_mark(coordinator),
    }
