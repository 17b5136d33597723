"""Sends to the open cards of an entry what they show, whenever it changes and for as long as one is open."""

from typing import Any, Final

from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange, ConfigEntryState
from homeassistant.const import Platform
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..coordinator import TunnihindConfigEntry
from ..entity import SELLING_PRICE
from .contents import WINDOW, CardBeginning, CardContents, Contents, beginning

CURRENT_PRICE: Final = "current_price"
_NEVER: Final = object()
# What only the contents of a loaded entry have.
_PRICES: Final = "prices"


@callback
def async_subscribe(
    hass: HomeAssistant, entry: TunnihindConfigEntry, connection: ActiveConnection, message: int
) -> CALLBACK_TYPE:
    """Send the entry's contents to a card, now and on every change; return what ends that. `message` is its request."""
    feeds = hass.data.setdefault(FEEDS, {})
    if entry.entry_id not in feeds:
        feeds[entry.entry_id] = _Feed(hass, entry)
    feed, card = feeds[entry.entry_id], _Card(hass, connection, message)

    @callback
    def unsubscribe() -> None:
        feed.cards.remove(card)
        if not feed.cards:
            feed.close()
            feeds.pop(entry.entry_id)

    feed.cards.append(card)
    card.show(feed.contents())
    return unsubscribe


class _Feed:
    """Follows one entry, also while it is loaded again. Its contents are made once for all cards."""

    def __init__(self, hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
        self.cards: Final[list[_Card]] = []
        self._hass = hass
        self._entry = entry
        self._is_removed = False
        self._contents: Contents | None = None
        self._unfollow_prices: CALLBACK_TYPE | None = None
        self._unfollow_entry = async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._entry_changed)
        self._follow_prices()

    @callback
    def close(self) -> None:
        """Follow the entry no longer."""
        self._unfollow_entry()
        if self._unfollow_prices:
            self._unfollow_prices()

    def contents(self) -> CardContents | CardBeginning:
        """Return what a card shows now."""
        if self._contents:
            return self._contents.as_of_now()
        return beginning(self._entry, removed=self._is_removed)

    @callback
    def _entry_changed(self, change: ConfigEntryChange, entry: ConfigEntry[Any]) -> None:
        if entry.entry_id != self._entry.entry_id:
            return
        self._is_removed = change is ConfigEntryChange.REMOVED
        self._entry = entry
        if (entry.state is ConfigEntryState.LOADED) is not (self._contents is not None):
            self._follow_prices()
        self._show()

    @callback
    def _follow_prices(self) -> None:
        if self._unfollow_prices:
            self._unfollow_prices()
        self._contents = self._unfollow_prices = None
        if self._entry.state is ConfigEntryState.LOADED:
            coordinator = self._entry.runtime_data
            self._contents = Contents(coordinator)
            self._unfollow_prices = coordinator.async_add_listener(self._show)

    @callback
    def _show(self) -> None:
        contents = self.contents()
        for card in self.cards:
            card.show(contents)


class _Card:
    """An open card, what it shows, and who looks at it."""

    def __init__(self, hass: HomeAssistant, connection: ActiveConnection, message: int) -> None:
        self._hass = hass
        self._connection = connection
        self._message = message
        self._shown: dict[str, Any] = {}

    @callback
    def show(self, contents: CardContents | CardBeginning) -> None:
        """Send what the card doesn't show yet. Rights may have changed since it was opened."""
        readable = self._readable(contents)
        changed = {name: value for name, value in readable.items() if self._shown.get(name, _NEVER) != value}
        if changed:
            self._shown |= changed
            self._connection.send_event(self._message, changed)

    def _readable(self, contents: CardContents | CardBeginning) -> dict[str, Any]:
        """Return the contents without what the user may not read as entities."""
        readable: dict[str, Any] = {**contents}
        if _PRICES not in readable:
            return readable
        entry_id = contents["entry_id"]
        if not self._may_read(Platform.SENSOR, entry_id, CURRENT_PRICE):
            return {}
        if not self._may_read(Platform.SENSOR, entry_id, SELLING_PRICE):
            readable["selling"] = None
            readable["now"] = readable["now"] and {**readable["now"], "selling": None}
        readable["plans"] = [
            plan for plan in readable["plans"] if self._may_read(Platform.BINARY_SENSOR, plan["id"], WINDOW)
        ]
        return readable

    def _may_read(self, platform: Platform, owner: str, key: str) -> bool:
        return may_read(self._hass, self._connection.user, platform, f"{owner}_{key}")


def may_read(hass: HomeAssistant, user: User, platform: Platform, unique_id: str) -> bool:
    """Tell whether a user may read one of the integration's entities."""
    if user.permissions.access_all_entities(POLICY_READ):
        return True
    entity_id = er.async_get(hass).async_get_entity_id(platform, DOMAIN, unique_id)
    return entity_id is not None and user.permissions.check_entity(entity_id, POLICY_READ)


FEEDS: Final[HassKey[dict[str, _Feed]]] = HassKey(f"{DOMAIN}_card_feeds")
