"""Which of an automation's targets are entities of this integration."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from .const import DOMAIN


def of_this_kind(hass: HomeAssistant, entity_ids: set[str], translation_key: str) -> set[str]:
    """Return those of `entity_ids` that are this integration's, of the kind that `translation_key` names."""
    registry = er.async_get(hass)
    return {
        entity_id
        for entity_id in entity_ids
        if (entry := registry.async_get(entity_id))
        and entry.platform == DOMAIN
        and entry.translation_key == translation_key
    }
