"""Servers of all kinds on the loopback, and a Home Assistant that knows the integration."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from unittest.mock import AsyncMock, Mock, patch

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntry, ConfigSubentryFlow, OptionsFlow
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowHandler, FlowManager, FlowResult

from custom_components.tunnihind.const import DOMAIN
from tests.support.api.api_server import Serve
from tests.support.household.flows import ABOUT, FORECAST, Imitate, json_of
from tests.support.household.translations import LANGUAGES, check_step, texts


@pytest.fixture(autouse=True)
def _integration(socket_enabled: None, enable_custom_integrations: None) -> None:
    """Let Home Assistant find the integration, and reach the loopback."""


@pytest.fixture(autouse=True)
def _every_step_has_its_texts() -> Iterator[None]:
    """Make each test of a flow fail if a step lacks a text or a placeholder's value, in any language."""
    handle_step = FlowManager._async_handle_step

    async def checked(
        self: FlowManager[Any, Any, Any],
        flow: FlowHandler[Any, Any, Any],
        step_id: str,
        user_input: dict[str, Any] | None,
    ) -> FlowResult[Any, Any]:
        result: FlowResult[Any, Any] = await handle_step(self, flow, step_id, user_input)
        for language in LANGUAGES:
            check_step(_texts_of(flow, texts(language)), result)
        return result

    with patch.object(FlowManager, "_async_handle_step", checked):
        yield


def _texts_of(flow: object, language: dict[str, Any]) -> dict[str, Any]:
    match flow:
        case ConfigSubentryFlow():
            chosen: dict[str, Any] = language["config_subentries"][flow.handler[1]]
        case OptionsFlow():
            chosen = language["options"]
        case _:
            chosen = language["config"]
    return chosen


@pytest.fixture
def setup_entry() -> Iterator[AsyncMock]:
    """Prevent the set-up of entries, because these tests are only about flows."""

    async def set_up(_: HomeAssistant, entry: ConfigEntry[Any]) -> bool:
        entry.runtime_data = Mock()
        return True

    with (
        patch(f"custom_components.{DOMAIN}.async_setup_entry", side_effect=set_up) as mock,
        patch(f"custom_components.{DOMAIN}.async_unload_entry", return_value=True),
    ):
        yield mock


@pytest.fixture
async def address(serve: Serve) -> str:
    """Return the address of the project's own server."""
    return f"http://127.0.0.1:{(await serve()).port}"


@pytest.fixture
async def imitate() -> AsyncIterator[Imitate]:
    """Return a function that starts a server with other answers, or none, and returns its address."""
    runners: list[web.AppRunner] = []

    async def start(
        about: str | None = ABOUT,
        forecast: str | web.HTTPException = FORECAST,
        prefix: str = "",
        quarters: str | None = None,
        zones: Mapping[str, tuple[str, str]] | None = None,
    ) -> str:
        async def tell_about(request: web.Request) -> web.Response:
            return json_of(about) if about else web.Response(status=404)

        async def tell_zone(request: web.Request) -> web.Response:
            zone, _, asked = request.path.removeprefix(prefix).partition("/api/")
            return json_of((zones or {})[zone][asked != "about"])

        async def tell_prices(request: web.Request) -> web.Response:
            if isinstance(forecast, web.HTTPFound):
                raise web.HTTPFound(forecast.location)  # one that has been sent can't be sent again
            if isinstance(forecast, web.HTTPException):
                raise forecast
            return json_of(forecast)

        async def tell_quarters(request: web.Request) -> web.Response:
            return json_of(quarters) if quarters else web.Response(status=404)

        app = web.Application()
        for path in zones or ():
            app.router.add_get(f"{prefix}{path}/api/about", tell_zone)
            app.router.add_get(f"{prefix}{path}/api/v1/forecast", tell_zone)
        app.router.add_get(f"{prefix}/api/about", tell_about)
        app.router.add_get(f"{prefix}/api/v1/quarters", tell_quarters)
        app.router.add_get(f"{prefix}/api/v1/forecast", tell_prices)
        runner = web.AppRunner(app)
        runners.append(runner)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}{prefix}"

    yield start
    for runner in runners:
        await runner.cleanup()
