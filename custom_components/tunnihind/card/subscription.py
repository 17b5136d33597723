"""Sends a card all its contents when the card opens, and the changed fields after every change.

A card subscribes with the websocket command `tunnihind/card/subscribe`. With the command `tunnihind/card/past`, a card
requests the prices of the days before today.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypedDict

import voluptuous as vol
from homeassistant.auth.models import User
from homeassistant.auth.permissions.const import POLICY_READ
from homeassistant.components.websocket_api import async_register_command
from homeassistant.components.websocket_api.connection import ActiveConnection
from homeassistant.components.websocket_api.const import ERR_NOT_FOUND
from homeassistant.components.websocket_api.decorators import async_response, websocket_command
from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED, ConfigEntry, ConfigEntryChange, ConfigEntryState
from homeassistant.const import Platform
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.exceptions import Unauthorized
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util.hass_dict import HassKey

from ..client.requests import MAX_PAST_DAYS
from ..const import CONF_REHEARSAL, DOMAIN
from ..coordinator import TunnihindConfigEntry, TunnihindCoordinator
from ..entity import BATTERY_ACTION, SELLING_PRICE, WINDOW
from ..prices.days import day_at
from ..prices.zones import zone_of
from .columns import HouseholdColumns, PriceColumns, household_columns, price_columns
from .contents import (
    CardContents,
    CardContentsWithoutPrices,
    CardPlanElsewhere,
    ContentsBuilder,
    contents_without_prices,
)

_CURRENT_PRICE: Final = "current_price"
_NOT_SENT: Final = object()
# Contents without the field `prices` show only the entry's state, so they need no check of the user's rights.
_PRICES: Final = "prices"
_ENTRY: Final = "entry_id"
_ENTITY: Final = "entity_id"
_PLANS: Final = "plans"
_ENTRY_FIELDS: Final[dict[str | vol.Marker, Any]] = {
    vol.Optional(_ENTRY): str,
    vol.Optional(_ENTITY): str,
    vol.Optional(_PLANS): [str],
}


@callback
def async_subscribe_card(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    connection: ActiveConnection,
    message: int,
    plans: Sequence[str] = (),
) -> CALLBACK_TYPE:
    """Send a card its contents now, and the changed fields after every change.

    Return a function that ends the subscription. `message` is the id of the card's request. `plans` are the ids of the
    binary sensors of the plans, and of the sensors of the batteries, that the card names.
    """
    broadcasters = hass.data.setdefault(ENTRY_BROADCASTERS, {})
    if entry.entry_id not in broadcasters:
        broadcasters[entry.entry_id] = _EntryBroadcaster(hass, entry)
    broadcaster = broadcasters[entry.entry_id]
    card = _CardSubscription(hass, entry.entry_id, connection, message, plans)

    @callback
    def unsubscribe() -> None:
        broadcaster.cards.remove(card)
        if not broadcaster.cards:
            broadcaster.close()
            broadcasters.pop(entry.entry_id)

    broadcaster.cards.append(card)
    card.send_changes(broadcaster.contents())
    return unsubscribe


class _EntryBroadcaster:
    """Follows a config entry, and sends new contents to all open cards of the entry after each change."""

    def __init__(self, hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
        self.cards: Final[list[_CardSubscription]] = []
        self._hass = hass
        self._entry = entry
        self._is_removed = False
        self._contents: ContentsBuilder | None = None
        self._unfollow_prices: CALLBACK_TYPE | None = None
        self._unfollow_entry = async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._handle_entry_change)
        self._follow_prices()

    @callback
    def close(self) -> None:
        self._unfollow_entry()
        if self._unfollow_prices:
            self._unfollow_prices()

    def contents(self) -> CardContents | CardContentsWithoutPrices:
        if self._contents:
            return self._contents.current_contents()
        return contents_without_prices(self._entry, removed=self._is_removed)

    @callback
    def _handle_entry_change(self, change: ConfigEntryChange, entry: ConfigEntry[Any]) -> None:
        if entry.domain != DOMAIN:
            return
        if entry.entry_id == self._entry.entry_id:
            self._is_removed = change is ConfigEntryChange.REMOVED
            self._entry = entry
            if (entry.state is ConfigEntryState.LOADED) is not (self._contents is not None):
                self._follow_prices()
        self._send_to_cards()

    @callback
    def _follow_prices(self) -> None:
        if self._unfollow_prices:
            self._unfollow_prices()
        self._contents = self._unfollow_prices = None
        if self._entry.state is ConfigEntryState.LOADED:
            coordinator = self._entry.runtime_data
            self._contents = ContentsBuilder(coordinator)
            self._unfollow_prices = coordinator.async_add_listener(self._send_to_cards)

    @callback
    def _send_to_cards(self) -> None:
        contents = self.contents()
        for card in self.cards:
            card.send_changes(contents)


class _CardSubscription:
    """The subscription of one open card. The card gets only the data that the card's user may read."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry_id: str,
        connection: ActiveConnection,
        message: int,
        plans: Sequence[str],
    ) -> None:
        self._hass = hass
        self._entry_id = entry_id
        self._connection = connection
        self._message = message
        self._plans = plans
        self._sent: dict[str, Any] = {}

    @callback
    def send_changes(self, contents: CardContents | CardContentsWithoutPrices) -> None:
        # The user's rights are checked for every event, because an administrator may change the rights at any time.
        readable = self._readable_contents(contents)
        changed = {name: value for name, value in readable.items() if self._sent.get(name, _NOT_SENT) != value}
        if changed:
            self._sent |= changed
            self._connection.send_event(self._message, changed)

    def _readable_contents(self, contents: CardContents | CardContentsWithoutPrices) -> dict[str, Any]:
        readable: dict[str, Any] = {**contents}
        if _PRICES not in readable:
            return readable
        if not self._may_read(Platform.SENSOR, self._entry_id, _CURRENT_PRICE):
            return {}
        if not self._may_read(Platform.SENSOR, self._entry_id, SELLING_PRICE):
            readable["selling"] = None
        readable["plans"] = [
            plan for plan in readable["plans"] if self._may_read(Platform.BINARY_SENSOR, plan["id"], WINDOW)
        ]
        readable["batteries"] = [
            battery
            for battery in readable["batteries"]
            if self._may_read(Platform.SENSOR, battery["id"], BATTERY_ACTION)
        ]
        readable["plans_elsewhere"] = [*self._plans_elsewhere()]
        return readable

    def _plans_elsewhere(self) -> Iterator[CardPlanElsewhere]:
        entities, permissions = er.async_get(self._hass).entities, self._connection.user.permissions
        own_zone = zone_of(self._hass.config_entries.async_get_known_entry(self._entry_id).data)
        for entity_id in self._plans:
            entry = _entry_of(self._hass, entity_id)
            if entry and entry.entry_id != self._entry_id and permissions.check_entity(entity_id, POLICY_READ):
                plan = entry.subentries.get(entities[entity_id].config_subentry_id or "")
                zone = zone_of(entry.data)
                yield CardPlanElsewhere(
                    name=plan.title if plan else entity_id,
                    zone=None if zone is own_zone else zone.code,
                    entry=entry.title,
                )

    def _may_read(self, platform: Platform, owner: str, key: str) -> bool:
        return may_read(self._hass, self._connection.user, platform, f"{owner}_{key}")


def may_read(hass: HomeAssistant, user: User, platform: Platform, unique_id: str) -> bool:
    """Return whether a user may read the entity with this platform and unique id.

    If there is no such entity, only a user who may read all entities gets True.
    """
    if user.permissions.access_all_entities(POLICY_READ):
        return True
    entity_id = er.async_get(hass).async_get_entity_id(platform, DOMAIN, unique_id)
    return entity_id is not None and user.permissions.check_entity(entity_id, POLICY_READ)


ENTRY_BROADCASTERS: Final[HassKey[dict[str, _EntryBroadcaster]]] = HassKey(f"{DOMAIN}_entry_broadcasters")


class CardPastPrices(TypedDict):
    """The known settled prices of the 13 days before today.

    `prices` and `selling` have the same format as in `CardContents`. Each household price includes the fees and the VAT
    that applied on its date.
    """

    prices: HouseholdColumns | None
    selling: PriceColumns | None


async def async_card_past_prices(coordinator: TunnihindCoordinator) -> CardPastPrices:
    """Request past market prices from the server, and convert them to the household's prices."""
    answer = await coordinator.async_past_market_prices(MAX_PAST_DAYS)
    lines = coordinator.timelines_of(answer)
    prices = replace(coordinator.prices, answer=answer, timeline=lines.buying, level_prices=lines.level_prices)
    start, end = day_at(prices.zone, prices.now, days_later=1 - MAX_PAST_DAYS).start, prices.today.start
    return CardPastPrices(
        prices=household_columns(prices, coordinator.tariff, start, end),
        selling=price_columns(lines.selling, start, end),
    )


@callback
def async_register_commands(hass: HomeAssistant) -> None:
    """Register the card's websocket commands."""
    async_register_command(hass, _subscribe)
    async_register_command(hass, _send_past_prices)


@websocket_command({vol.Required("type"): f"{DOMAIN}/card/subscribe", **_ENTRY_FIELDS})
@callback
def _subscribe(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Subscribe a card to the `CardContents` of a config entry.

    The message may name the entry by the entry's id, or by the id of one of the entry's entities. Otherwise, the card
    shows the entry of the first of the `plans`, which are ids of entities too. If there is none, the card shows the
    oldest enabled entry that is not a rehearsal. If all enabled entries are rehearsals, the card shows the oldest one.

    The command's result is null, and the first event follows at once. A reload of the entry doesn't end the
    subscription. If the entry does not exist, the error is `not_found`. If the user may not read the entry's current
    price, the error is `unauthorized`.
    """
    entry = _readable_entry(hass, connection, msg)
    if entry:
        connection.send_result(msg["id"])
        connection.subscriptions[msg["id"]] = async_subscribe_card(
            hass, entry, connection, msg["id"], msg.get(_PLANS, ())
        )


@websocket_command({vol.Required("type"): f"{DOMAIN}/card/past", **_ENTRY_FIELDS})
@async_response
async def _send_past_prices(hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]) -> None:
    """Send an entry's prices of the days before today to a card, as `CardPastPrices`.

    The message and the errors are the same as for `_subscribe`, but the error `not_found` may also mean that the entry
    is not loaded.
    """
    entry = _readable_entry(hass, connection, msg)
    if entry is None:
        return
    if entry.state is not ConfigEntryState.LOADED:
        connection.send_error(msg["id"], ERR_NOT_FOUND, f"{entry.title} is not loaded")
        return
    past = await async_card_past_prices(entry.runtime_data)
    if not may_read(hass, connection.user, Platform.SENSOR, f"{entry.entry_id}_{SELLING_PRICE}"):
        past["selling"] = None
    connection.send_result(msg["id"], past)


def _readable_entry(
    hass: HomeAssistant, connection: ActiveConnection, msg: dict[str, Any]
) -> TunnihindConfigEntry | None:
    """Return the entry that `msg` names, or else the default entry.

    If the entry doesn't exist, send an error and return None. Raises Unauthorized if the user may not read the entry's
    current price.
    """
    entry = _requested_entry(hass, msg)
    if entry is None:
        connection.send_error(msg["id"], ERR_NOT_FOUND, _not_found_text(msg))
    elif not may_read(hass, connection.user, Platform.SENSOR, f"{entry.entry_id}_{_CURRENT_PRICE}"):
        raise Unauthorized(permission=POLICY_READ, config_entry_id=entry.entry_id)
    return entry


def _requested_entry(hass: HomeAssistant, msg: dict[str, Any]) -> TunnihindConfigEntry | None:
    if _ENTRY in msg:
        entry = hass.config_entries.async_get_entry(msg[_ENTRY])
        return entry if entry and entry.domain == DOMAIN else None
    if _ENTITY in msg:
        return _entry_of(hass, msg[_ENTITY])
    for plan in msg.get(_PLANS, ()):
        if entry := _entry_of(hass, plan):
            return entry
    entries = hass.config_entries.async_entries(DOMAIN, include_ignore=False, include_disabled=False)
    return min(entries, key=lambda entry: entry.data.get(CONF_REHEARSAL, False), default=None)


def _entry_of(hass: HomeAssistant, entity_id: str) -> TunnihindConfigEntry | None:
    """Return the entry of one of Tunnihind's entities. If there is no such entity, return None."""
    entity = er.async_get(hass).async_get(entity_id)
    if entity is None or entity.platform != DOMAIN:
        return None
    return hass.config_entries.async_get_entry(entity.config_entry_id or "")


def _not_found_text(msg: dict[str, Any]) -> str:
    if _ENTRY in msg:
        return f"entry_id: {msg[_ENTRY]} is no entry of Tunnihind"
    if _ENTITY in msg:
        return f"entity_id: {msg[_ENTITY]} is no entity of Tunnihind"
    return "Tunnihind has no server yet: add it under Settings → Devices & services"
