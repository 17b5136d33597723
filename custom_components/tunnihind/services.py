"""Registers the actions."""

from typing import Final

from homeassistant.core import HomeAssistant, SupportsResponse, callback

from .actions import find_cheapest_hours, get_prices, import_costs, import_prices
from .const import DOMAIN

_ACTIONS: Final = {
    "get_prices": (get_prices.SCHEMA, get_prices.get_prices),
    "find_cheapest_hours": (find_cheapest_hours.SCHEMA, find_cheapest_hours.find_cheapest_hours),
    "import_prices": (import_prices.SCHEMA, import_prices.import_prices),
    "import_costs": (import_costs.SCHEMA, import_costs.import_costs),
}


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions."""
    for name, (schema, answer) in _ACTIONS.items():
        hass.services.async_register(DOMAIN, name, answer, schema=schema, supports_response=SupportsResponse.ONLY)
