"""Home Assistant with the integration, in a world whose clock the test moves."""

from collections.abc import Awaitable, Callable

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from tests.integration.world import PriceOf, World, instant, wavy
from tests.server.api.conftest import Serve

type MakeWorld = Callable[..., Awaitable[World]]

MORNING = "2026-01-14T10:20:00+02:00"
"""A Wednesday in winter, before the auction."""
PUBLISHED_TODAY = "2026-01-15T01:00:00+02:00"
"""What is settled then: the CET delivery day ends an hour after Tallinn's."""
PUBLISHED_TOMORROW = "2026-01-16T01:00:00+02:00"


@pytest.fixture(autouse=True)
def _custom_integrations(enable_custom_integrations: None) -> None:
    """Let Home Assistant load the integration from this repository."""


@pytest.fixture
async def make_world(
    socket_enabled: None, hass: HomeAssistant, freezer: FrozenDateTimeFactory, serve: Serve
) -> MakeWorld:
    """Return what makes a world; by default a morning whose day's prices are published."""

    async def make(now: str = MORNING, settled_until: str = PUBLISHED_TODAY, price_of: PriceOf = wavy) -> World:
        server = await serve()
        return World(hass, freezer, server, now=instant(now), settled_until=instant(settled_until), price_of=price_of)

    return make


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """Return a world in the morning, with the integration set up."""
    made = await make_world()
    await made.add()
    return made
