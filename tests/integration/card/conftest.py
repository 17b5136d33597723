"""Open cards, and the events that Home Assistant sends them."""

from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web
from homeassistant.auth.models import User
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import CLIENT_ID
from pytest_homeassistant_custom_component.typing import MockHAClientWebSocket, WebSocketGenerator


class OpenCard:
    """An open card: its events, and the contents that result from them."""

    def __init__(self, socket: MockHAClientWebSocket, subscription: int) -> None:
        self.subscription = subscription
        self.shown: dict[str, Any] = {}
        self._socket = socket

    async def events(self) -> list[dict[str, Any]]:
        """Return the events since the last time."""
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


def price_at(card: OpenCard, which: str, instant: int) -> float | None:
    """Return the price of a period in one of the card's tables."""
    columns = card.shown[which]
    price: float | None = columns["price"][(instant - columns["start"]) // columns["step"]]
    return price


class Cards:
    """Opens cards of an entry, of an entity's entry, or of neither, each on a connection of its own."""

    def __init__(self, hass: HomeAssistant, connect: WebSocketGenerator, owner: User) -> None:
        self._hass = hass
        self._connect = connect
        self._owner = owner

    async def open(self, user: User | None = None, **of: object) -> OpenCard:
        """Return a card after its first event."""
        socket, answer = await self._ask(user, of)
        assert answer["success"], answer["error"]
        assert answer["result"] is None
        card = OpenCard(socket, answer["id"])
        await card.events()
        return card

    async def refusal(self, user: User | None = None, **of: object) -> tuple[str, str]:
        """Return the error of a card: code and message."""
        _, answer = await self._ask(user, of)
        assert not answer["success"]
        return answer["error"]["code"], answer["error"]["message"]

    async def past(self, user: User | None = None, **of: object) -> dict[str, Any]:
        """Return the whole answer to a card that asks for the days before today."""
        _, answer = await self._ask(user, of, "past")
        return answer

    async def _ask(
        self, user: User | None, of: Mapping[str, object], what: str = "subscribe"
    ) -> tuple[MockHAClientWebSocket, dict[str, Any]]:
        # The login is now, because the test has set the clock.
        login = await self._hass.auth.async_create_refresh_token(user or self._owner, CLIENT_ID)
        socket = await self._connect(self._hass, self._hass.auth.async_create_access_token(login))
        await socket.send_json_auto_id({"type": f"tunnihind/card/{what}", **of})
        return socket, await socket.receive_json()


@pytest.fixture
async def cards(
    hass: HomeAssistant,
    hass_ws_client: WebSocketGenerator,
    hass_admin_user: User,
    monkeypatch: pytest.MonkeyPatch,
) -> Cards:
    """Return the helper that opens cards, for the home's owner unless another user is given."""
    # A clock that jumps by minutes would look like a browser that no longer answers.
    with_heartbeat = web.WebSocketResponse
    monkeypatch.setattr(web, "WebSocketResponse", lambda **more: with_heartbeat(**more | {"heartbeat": None}))
    assert await async_setup_component(hass, "websocket_api", {})
    return Cards(hass, hass_ws_client, hass_admin_user)
