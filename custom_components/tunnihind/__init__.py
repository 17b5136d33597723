"""The Tunnihind integration: a household's electricity prices, their forecast, and plans for devices."""

from datetime import date
from itertools import chain
from typing import Final

from homeassistant.const import CONF_URL, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.typing import ConfigType

# The platforms are imported here, together with the integration. Home Assistant would import them one by one after all
# other integrations of its start, and all prices would wait for that.
from . import binary_sensor, calendar, issues, number, sensor, switch, time  # noqa: F401
from .card import module as card_module
from .card import subscription as card_subscription
from .const import DOMAIN
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .core.market import MARKETS
from .core.public_holidays import is_holiday
from .devices import async_keep_server_device_current, async_rename_devices
from .entity import async_remove_unfitting_entities
from .services import async_setup_services
from .storage import Storage

# The `holidays` library imports a country's rules at their first use, and would then block Home Assistant's event loop.
for _zone in MARKETS.values():
    is_holiday(date(2026, 1, 1), _zone.country)

CONFIG_SCHEMA: Final = cv.config_entry_only_config_schema(DOMAIN)
# The platforms are set up in this order, and the coordinator updates their entities in the same order. The change of a
# binary sensor may trigger an automation that reads other entities. The calendar comes last, because no price and no
# device should wait for Home Assistant's own calendar, which may not be set up yet.
_PLATFORMS_IN_ORDER: Final = (
    (Platform.NUMBER, Platform.SENSOR, Platform.SWITCH, Platform.TIME),
    (Platform.BINARY_SENSOR,),
    (Platform.CALENDAR,),
)
PLATFORMS: Final = tuple(chain.from_iterable(_PLATFORMS_IN_ORDER))


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register the actions and the card's websocket commands, and serve the card's files.

    The actions and commands exist even while no entry is loaded, so that automations get a clear error, and cards can
    show why there are no prices.
    """
    async_setup_services(hass)
    card_subscription.async_register_commands(hass)
    await card_module.async_serve_files(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: TunnihindConfigEntry) -> bool:
    """Set up a config entry, which shows the prices of one zone of a server."""
    # The card is added before the first poll, because the card also shows that a server doesn't answer.
    card_module.async_add_card_to_pages(hass)
    coordinator = TunnihindCoordinator(hass, entry)
    await coordinator.async_start()
    entry.runtime_data = coordinator
    async_keep_server_device_current(hass, entry)
    async_remove_unfitting_entities(hass, entry)
    for platforms in _PLATFORMS_IN_ORDER:
        await hass.config_entries.async_forward_entry_setups(entry, platforms)
    issues.async_keep_notices_current(hass, entry)
    entry.async_on_unload(entry.add_update_listener(_async_entry_changed))
    return True


async def async_unload_entry(hass: HomeAssistant, entry: TunnihindConfigEntry) -> bool:
    """Unload an entry's entities. If this succeeds, store the entry's data and delete the entry's repair notices."""
    unloaded = await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
    if unloaded:
        await entry.runtime_data.async_save()
        issues.async_delete_notices(hass, entry)
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Delete the entry's stored data. If no other entry is left, remove the card from all pages."""
    if not hass.config_entries.async_entries(DOMAIN, include_ignore=False):
        card_module.async_remove_card_from_pages(hass)
    await Storage(hass, entry.entry_id).remove()


async def _async_entry_changed(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """If the entry has another server or address now, reload the entry.

    Otherwise, apply changed options and plans without a reload.
    """
    coordinator = entry.runtime_data
    if (entry.data[CONF_URL], entry.unique_id) != (coordinator.url, coordinator.server_id):
        hass.config_entries.async_schedule_reload(entry.entry_id)
        return
    async_rename_devices(hass, entry)
    async_remove_unfitting_entities(hass, entry)
    coordinator.async_apply_options()
