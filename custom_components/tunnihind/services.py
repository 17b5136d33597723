"""Registers the actions."""

from typing import Final

from homeassistant.core import HomeAssistant, SupportsResponse, callback

from .actions import compare_contracts, find_cheapest_hours, get_prices, import_past, update_plan
from .const import DOMAIN

_QUERY_ACTIONS: Final = {
    "compare_contracts": (compare_contracts.SCHEMA, compare_contracts.compare_contracts),
    "get_prices": (get_prices.SCHEMA, get_prices.get_prices),
    "find_cheapest_hours": (find_cheapest_hours.SCHEMA, find_cheapest_hours.find_cheapest_hours),
}
# The actions in `_CHANGE_ACTIONS` change data, so an automation may call these actions without using their answers.
_CHANGE_ACTIONS: Final = {
    "import_prices": (import_past.PRICES_SCHEMA, import_past.import_prices),
    "import_costs": (import_past.COSTS_SCHEMA, import_past.import_costs),
    "update_plan": (update_plan.SCHEMA, update_plan.update_plan),
}


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions."""
    for actions, response in ((_QUERY_ACTIONS, SupportsResponse.ONLY), (_CHANGE_ACTIONS, SupportsResponse.OPTIONAL)):
        for name, (schema, answer) in actions.items():
            hass.services.async_register(DOMAIN, name, answer, schema=schema, supports_response=response)
