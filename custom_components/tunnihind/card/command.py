"""The websocket commands by which a card asks for its contents and for past days: `tunnihind/card/…`."""

from typing import Any, Final

import voluptuous as vol
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.websocket_api import async_register_command
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.const import ERR_NOT_FOUND
from homeassistant.components.websocket_api.decorators import async_response, websocket_command
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import Unauthorized
from homeassistant.helpers import entity_registry as er

from ..const import CONF_REHEARSAL, DOMAIN
from ..coordinator import TunnihindConfigEntry
from ..entity import SELLING_PRICE
from .feed import CURRENT_PRICE, async_subscribe, may_read
from .past import async_past

_ENTRY: Final = "entry_id"
_ENTITY: Final = "entity_id"
_WHICH: Final[dict[str | vol.Marker, Any]] = {vol.Optional(_ENTRY): str, vol.Optional(_ENTITY): str}


@callback
def async_register(hass: HomeAssistant) -> None:
    """Register the commands."""
    async_register_command(hass, _subscribe)
    async_register_command(hass, _past)


@websocket_command({vol.Required("type"): f"{DOMAIN}/card/subscribe", **_WHICH})
@callback
def _subscribe(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Subscribe to the contents of an entry, named by its id or by any of its entities: see `contents.CardContents`.

    Where none is named, it is the entry that was added first, one with today's prices before a rehearsal. The result is
    null, then events follow: one at once, with everything, and one on each change, with the fields that changed. The
    subscription goes on while the entry is loaded again. Errors: `not_found` where there is no such entry, and
    `unauthorized` where the user may not read its current price.
    """
    entry = _readable_entry(hass, connection, msg)
    if entry:
        connection.send_result(msg["id"])
        connection.subscriptions[msg["id"]] = async_subscribe(hass, entry, connection, msg["id"])


@websocket_command({vol.Required("type"): f"{DOMAIN}/card/past", **_WHICH})
@async_response
async def _past(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send the days before today of an entry, named as for `_subscribe`: see `past.CardPast`.

    Its errors are the same; an entry that is not loaded is `not_found` too.
    """
    entry = _readable_entry(hass, connection, msg)
    if entry is None:
        return
    if entry.state is not ConfigEntryState.LOADED:
        connection.send_error(msg["id"], ERR_NOT_FOUND, f"{entry.title} is not loaded")
        return
    past = await async_past(entry.runtime_data)
    if not may_read(hass, connection.user, Platform.SENSOR, f"{entry.entry_id}_{SELLING_PRICE}"):
        past["selling"] = None
    connection.send_result(msg["id"], past)


def _readable_entry(
    hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]
) -> TunnihindConfigEntry | None:
    """Return the entry that is meant; None where that is refused. Raises Unauthorized."""
    entry = _entry(hass, msg)
    if entry is None:
        connection.send_error(msg["id"], ERR_NOT_FOUND, _not_found(msg))
    elif not may_read(hass, connection.user, Platform.SENSOR, f"{entry.entry_id}_{CURRENT_PRICE}"):
        raise Unauthorized(permission=POLICY_READ, config_entry_id=entry.entry_id)
    return entry


def _entry(hass: HomeAssistant, msg: dict[str, Any]) -> TunnihindConfigEntry | None:
    if _ENTRY in msg:
        entry = hass.config_entries.async_get_entry(msg[_ENTRY])
    elif _ENTITY in msg:
        entity = er.async_get(hass).async_get(msg[_ENTITY])
        entry = hass.config_entries.async_get_entry(entity.config_entry_id or "") if entity else None
    else:
        entries = hass.config_entries.async_entries(DOMAIN, include_ignore=False, include_disabled=False)
        return min(entries, key=lambda entry: entry.data.get(CONF_REHEARSAL, False), default=None)
    return entry if entry and entry.domain == DOMAIN else None


def _not_found(msg: dict[str, Any]) -> str:
    if _ENTRY in msg:
        return f"entry_id: {msg[_ENTRY]} is no entry of Tunnihind"
    if _ENTITY in msg:
        return f"entity_id: {msg[_ENTITY]} is no entity of Tunnihind"
    return "Tunnihind has no server yet: add it under Settings → Devices & services"
