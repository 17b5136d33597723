"""Home Assistant with the integration, in a world whose clock the test moves."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from tests.support.api_server import Serve
from tests.support.home import PriceOf, World, instant, wavy
from tests.support.recording_proxy import Relay
from tunnihind.api.models import Mode

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

    async def make(
        now: str = MORNING,
        settled_until: str = PUBLISHED_TODAY,
        price_of: PriceOf = wavy,
        ahead_s: int = 0,
        mode: Mode = "live",
    ) -> World:
        known = {"settled_until": instant(settled_until), "price_of": price_of}
        return World(hass, freezer, await serve(mode=mode), now=instant(now), ahead_s=ahead_s, **known)  # type: ignore[arg-type]

    return make


@pytest.fixture
async def world(make_world: MakeWorld) -> World:
    """Return a world in the morning, with the integration set up."""
    made = await make_world()
    await made.add()
    return made


@pytest.fixture
async def relay(socket_enabled: None) -> AsyncIterator[Relay]:
    """Return what notes all that the household asks, once the world's server is behind it."""
    relay = Relay()
    app = web.Application()
    app.router.add_get("/{path:.*}", relay.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    relay.port = runner.addresses[0][1]
    yield relay
    await runner.cleanup()


@pytest.fixture
async def relayed(make_world: MakeWorld, relay: Relay) -> World:
    """Return a world in the morning whose household asks through the relay; the integration is not yet set up."""
    world = await make_world()
    relay.upstream, world.port = world.server.port, relay.port
    return world
