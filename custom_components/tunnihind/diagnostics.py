"""Collects the data for a bug report, such as the entry's settings, the known prices and the plans."""

from dataclasses import asdict
from typing import Any, Final

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_URL
from homeassistant.core import HomeAssistant

from .const import CONF_INSTANCE_ID
from .coordinator import TunnihindConfigEntry
from .household.problems import problems

# A bug report hides the values of the fields in `_REDACTED_FIELDS`, because the URL may contain a password or reveal
# the household's network, and the other fields may identify the server or the household.
_REDACTED_FIELDS: Final = {CONF_URL, CONF_INSTANCE_ID, "unique_id", "title", "attribution"}


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: TunnihindConfigEntry) -> dict[str, Any]:
    """Return the data for a bug report about one entry. The values of `_REDACTED_FIELDS` are hidden."""
    coordinator = entry.runtime_data
    prices, ledger = coordinator.prices, coordinator.ledger.as_dict()
    return async_redact_data(
        {
            "entry": entry.as_dict(),
            "zone": coordinator.zone.code,
            "about": asdict(coordinator.about) if coordinator.about else None,
            "contact": asdict(coordinator.server_status),
            "last_update_success": coordinator.last_update_success,
            "problems": problems(prices, coordinator.server_status),
            "now": prices.now,
            "answer": asdict(prices.answer),
            "household": [asdict(period) for period in prices.timeline.periods],
            "sold": [asdict(period) for period in coordinator.selling_prices.timeline.periods],
            "steered": {plan: asdict(steered) for plan, steered in coordinator.planner.plans.items()},
            "batteries": coordinator.battery_planner.diagnostics(),
            "surplus_kw": coordinator.surplus_reader.surplus_kw,
            "ledger": {**ledger["plans"], **ledger["batteries"]},
            "plans": {
                plan: {"kind": type(outcome).__name__, **asdict(outcome)} for plan, outcome in prices.outcomes.items()
            },
        },
        _REDACTED_FIELDS,
    )
