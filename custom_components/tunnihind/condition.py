"""Provides the integration's conditions to versions of Home Assistant that support them."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.condition import Condition

from .const import KNOWS_TRIGGERS

if KNOWS_TRIGGERS:
    from .entities.automations import CONDITIONS


async def async_get_conditions(hass: HomeAssistant) -> dict[str, type[Condition]]:
    """Return the class of each condition, keyed by the condition's name.

    If Home Assistant is older than 2026.7, return no conditions.
    """
    return CONDITIONS if KNOWS_TRIGGERS else {}
