"""Real Home Assistant with the integration and a real server on the loopback. The test moves their clock."""

import asyncio
import logging
import os
import warnings
from collections.abc import AsyncIterator

# Before all other imports of Home Assistant, because it replaces Home Assistant's clock. As part of this conftest, its
# fixtures and its ban of sockets apply to the tests in this folder only.
with warnings.catch_warnings(action="ignore"):
    from pytest_homeassistant_custom_component.plugins import *  # noqa: F403

import pytest
from aiohttp import web
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from tests.support.api.api_server import Serve, no_prices
from tests.support.household.home import MORNING, PUBLISHED_TODAY, Home, MakeHome, PriceOf, instant, wavy
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.api.history import ReadMonthPrices
from tunnihind.api.models.service import Mode
from tunnihind.settings import Settings

# The plugin logs every statement of the recorder, which no test reads.
logging.getLogger("sqlalchemy.engine").setLevel(logging.WARNING)

# Home Assistant's own web server still uses this deprecated feature, and would not start with warnings as errors.
HOME_ASSISTANT_KEYS = r"ignore:It is recommended to use web\.(App|Request)Key"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let Home Assistant's web server start."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(HOME_ASSISTANT_KEYS))


@pytest.fixture  # type: ignore[no-redef]  # in place of the plugin's
def recorder_db_url(hass_fixture_setup: list[bool]) -> str:
    """Keep the recorder's data in memory, without an option of the plugin that `pytest tests` learns of too late."""
    return "sqlite://"


@pytest.fixture(autouse=True)  # type: ignore[no-redef]  # in place of the plugin's
async def enable_event_loop_debug() -> None:
    """Turn asyncio's debug mode off unless a test asks for it, because it takes a third of the time of most tests.

    Home Assistant's plugin always does. Here it is done on the oldest Home Assistant (PYTHONASYNCIODEBUG).
    """
    asyncio.get_running_loop().set_debug("PYTHONASYNCIODEBUG" in os.environ)


@pytest.fixture
async def make_home(
    socket_enabled: None,
    enable_custom_integrations: None,
    hass: HomeAssistant,
    freezer: FrozenDateTimeFactory,
    serve: Serve,
) -> MakeHome:
    """Return a function that makes a home; by default on a morning with the day's published prices."""

    async def make(
        now: str = MORNING,
        settled_until: str = PUBLISHED_TODAY,
        price_of: PriceOf = wavy,
        ahead_s: int = 0,
        mode: Mode = "live",
        read_prices: ReadMonthPrices = no_prices,
        settings: Settings | None = None,
    ) -> Home:
        return Home(
            hass,
            freezer,
            await serve(settings=settings, mode=mode, read_prices=read_prices),
            now=instant(now),
            settled_until=instant(settled_until),
            price_of=price_of,
            ahead_s=ahead_s,
        )

    return make


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home in the morning, with the integration set up."""
    made = await make_home()
    await made.add()
    return made


@pytest.fixture
async def proxy(socket_enabled: None) -> AsyncIterator[RecordingProxy]:
    """Return a proxy that notes all requests of the household, once the home's server is behind it."""
    proxy = RecordingProxy()
    app = web.Application()
    app.router.add_get("/{path:.*}", proxy.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    proxy.port = runner.addresses[0][1]
    yield proxy
    await runner.cleanup()


@pytest.fixture
async def proxied_home(make_home: MakeHome, proxy: RecordingProxy) -> Home:
    """Return a home in the morning whose household asks through the proxy; the integration is not yet set up."""
    home = await make_home()
    proxy.upstream, home.port = home.server.port, proxy.port
    return home
