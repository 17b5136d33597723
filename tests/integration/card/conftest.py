"""A card's connection to Home Assistant."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import CLIENT_ID
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket, WebSocketGenerator


class OpenCard:
    """A card that is open: what it has been told, and what it therefore shows."""

    def __init__(self, socket: MockHAClientWebSocket, subscription: int) -> None:
        self.subscription = subscription
        self.shown: dict[str, Any] = {}
        self._socket = socket

    async def events(self) -> list[dict[str, Any]]:
        """Return what has come since the last time."""
        await self._socket.send_json_auto_id({"type": "ping"})
        events = []
        while (message := await self._socket.receive_json())["type"] != "pong":
            assert (message["id"], message["type"]) == (self.subscription, "event")
            events.append(message["event"])
            self.shown |= message["event"]
        return events

    async def close(self) -> None:
        await self._socket.send_json_auto_id({"type": "unsubscribe_events", "subscription": self.subscription})
        assert (await self._socket.receive_json())["success"]


type OpenACard = Callable[..., Awaitable[OpenCard]]


@pytest.fixture
async def open_card(hass: HomeAssistant, hass_ws_client: WebSocketGenerator, hass_admin_user: User) -> OpenACard:
    """Return what opens a card, on a connection of its own: of an entry, of an entity's entry, or of neither."""
    assert await async_setup_component(hass, "websocket_api", {})

    async def open_one(user: User = hass_admin_user, **of: str) -> OpenCard:
        # Made now: the test has set the clock.
        logged_in = await hass.auth.async_create_refresh_token(user, CLIENT_ID)
        socket = await hass_ws_client(hass, hass.auth.async_create_access_token(logged_in))
        await socket.send_json_auto_id({"type": "tunnihind/card/subscribe", **of})
        answer = await socket.receive_json()
        assert answer["success"], answer["error"]
        assert answer["result"] is None
        card = OpenCard(socket, answer["id"])
        await card.events()
        return card

    return open_one
