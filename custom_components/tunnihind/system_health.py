"""Shows the number of loaded entries, their zones and the first entry's server on the system health page."""

from typing import Any

from homeassistant.components.system_health import SystemHealthRegistration, async_check_can_reach_url
from homeassistant.core import HomeAssistant, callback

from .const import DOMAIN
from .coordinator import TunnihindConfigEntry


@callback
def async_register(hass: HomeAssistant, register: SystemHealthRegistration) -> None:
    """Register the function that collects the data for the system health page."""
    register.async_register_info(_health_info)


async def _health_info(hass: HomeAssistant) -> dict[str, Any]:
    entries: list[TunnihindConfigEntry] = hass.config_entries.async_loaded_entries(DOMAIN)
    info: dict[str, Any] = {"servers": len(entries)}
    for coordinator in (entry.runtime_data for entry in entries[:1]):
        info["zones"] = ", ".join(entry.runtime_data.zone.code for entry in entries)
        info["can_reach_server"] = async_check_can_reach_url(hass, f"{coordinator.url}/api/v1/forecast")
        info["server_version"] = coordinator.about.version if coordinator.about else None
    return info
