"""The triggers, for versions of Home Assistant that support triggers of integrations."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.trigger import Trigger

from .const import KNOWS_TRIGGERS

if KNOWS_TRIGGERS:
    from .entities.automations import TRIGGERS


async def async_get_triggers(hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the triggers by name."""
    return TRIGGERS if KNOWS_TRIGGERS else {}
