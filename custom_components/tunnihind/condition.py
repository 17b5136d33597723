"""The conditions, for versions of Home Assistant that support conditions of integrations."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.condition import Condition

from .const import KNOWS_TRIGGERS

if KNOWS_TRIGGERS:
    from .entities.automations import CONDITIONS


async def async_get_conditions(hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the conditions by name."""
    return CONDITIONS if KNOWS_TRIGGERS else {}
