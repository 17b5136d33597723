"""Provides the integration's triggers to versions of Home Assistant that support them."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.trigger import Trigger

from .const import KNOWS_TRIGGERS

if KNOWS_TRIGGERS:
    from .entities.automations import TRIGGERS


async def async_get_triggers(hass: HomeAssistant) -> dict[str, type[Trigger]]:
    """Return the class of each trigger, keyed by the trigger's name.

    If Home Assistant is older than 2026.7, return no triggers.
    """
    return TRIGGERS if KNOWS_TRIGGERS else {}
