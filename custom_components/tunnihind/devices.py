"""The devices of a config entry: one device for the server, and one device for each plan and each battery."""

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo

from .client.answers import server_name
from .client.requests import url_without_password
from .const import DOMAIN, KNOWS_VIA_DEVICE_ID
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .household.battery_planner import batteries_of
from .household.planner import plans_of


def server_device_info(coordinator: TunnihindCoordinator) -> DeviceInfo:
    """Return the description of the server's device. The device stays the same if the entry gets another server.

    Blueprints read the entry's id from the device's identifier, because every version of Home Assistant has it.
    """
    about = coordinator.about
    return DeviceInfo(
        identifiers={(DOMAIN, coordinator.config_entry.entry_id)},
        name=coordinator.config_entry.title,
        manufacturer="Tunnihind",
        model=_model(coordinator),
        sw_version=about.version if about else None,
        configuration_url=url_without_password(coordinator.url),
        entry_type=DeviceEntryType.SERVICE,
    )


def subentry_device_info(subentry: ConfigSubentry, coordinator: TunnihindCoordinator) -> DeviceInfo:
    """Return the description of the device of a plan or a battery. The server's device is the parent of this device."""
    device = DeviceInfo(
        identifiers={(DOMAIN, subentry.subentry_id)},
        name=subentry.title,
        model=_model(coordinator),
        entry_type=DeviceEntryType.SERVICE,
    )
    if KNOWS_VIA_DEVICE_ID:
        device["via_device_id"] = coordinator.server_device_id
    else:
        device["via_device"] = DOMAIN, coordinator.config_entry.entry_id  # type: ignore[typeddict-unknown-key]
    return device


def _model(coordinator: TunnihindCoordinator) -> str:
    """Return a device's model, which names a demo or a rehearsal even after a user has renamed the device."""
    return server_name(coordinator.mode, coordinator.zone, coordinator.hass.config.language)


@callback
def async_keep_server_device_current(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Create the server's device, and keep the device's data up to date.

    The server's device is the parent of all other devices, so it must exist before their entities are added.
    """
    coordinator = entry.runtime_data

    @callback
    def update_device() -> None:
        device = dr.async_get(hass).async_get_or_create(
            config_entry_id=entry.entry_id, **server_device_info(coordinator)
        )
        coordinator.server_device_id = device.id

    coordinator.async_call_at_updates(update_device)


@callback
def async_rename_devices(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Rename the devices of renamed plans and batteries."""
    registry = dr.async_get(hass)
    subentries = plans_of(entry) | batteries_of(entry)
    titles = {(DOMAIN, subentry_id): one.title for subentry_id, one in subentries.items()}
    for device in dr.async_entries_for_config_entry(registry, entry.entry_id):
        title = next((titles[one] for one in device.identifiers if one in titles), device.name)
        if device.name != title:
            registry.async_update_device(device.id, name=title)
