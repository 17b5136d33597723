"""The API reference's recipe for EMHASS in Home Assistant: its script asks a running server and sends the prices to
EMHASS."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from aiohttp import web
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.support.api.api_server import HOUR, RunningServer, Serve, make_view
from tests.support.household.price_readers import emhass_steps
from tunnihind.api.served_data import ServedData
from tunnihind.market import ESTONIA, QUARTER_S
from tunnihind.web.reference import read_recipe

PRICES = {HOUR + n * QUARTER_S: -20.5 + 7.3 * n for n in range(12)}

type Sent = list[dict[str, Any]]


@pytest.fixture
async def emhass(socket_enabled: None) -> AsyncIterator[tuple[str, Sent]]:
    """Play EMHASS; give its address and what it is sent."""
    sent: Sent = []

    async def handle(request: web.Request) -> web.Response:
        assert request.content_type == "application/json"
        sent.append(await request.json())
        return web.Response(status=201, text="EMHASS >> Action dayahead-optim executed...")

    app = web.Application()
    app.router.add_post("/action/dayahead-optim", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", sent
    await runner.cleanup()


async def run_script(hass: HomeAssistant, server: RunningServer, emhass_url: str) -> None:
    code = read_recipe("emhass.yaml", f"http://127.0.0.1:{server.port}")
    config = yaml.safe_load(code.replace("http://localhost:5000", emhass_url))
    assert await async_setup_component(hass, "rest_command", config)
    assert await async_setup_component(hass, "script", config)
    await hass.services.async_call("script", "emhass_dayahead", blocking=True)
    await hass.async_block_till_done(wait_background_tasks=True)


async def test_emhass_gets_buying_and_selling_prices(
    hass: HomeAssistant, serve: Serve, emhass: tuple[str, Sent]
) -> None:
    address, sent = emhass
    await run_script(hass, await serve(make_view(quarters=PRICES)), address)
    [body] = sent
    assert body.keys() == {"load_cost_forecast", "prod_price_forecast"}
    paid, got = (
        emhass_steps(json.dumps(body[name]), HOUR, len(PRICES), QUARTER_S)
        for name in ("load_cost_forecast", "prod_price_forecast")
    )
    assert paid == pytest.approx([(price / 1000 + 0.0627) * 1.24 for price in PRICES.values()], abs=1e-5)
    assert got == pytest.approx([price / 1000 - 0.01 for price in PRICES.values()], abs=1e-5)


async def test_emhass_is_left_alone_while_the_server_has_no_prices(
    hass: HomeAssistant, serve: Serve, emhass: tuple[str, Sent]
) -> None:
    address, sent = emhass
    await run_script(hass, await serve(ServedData("empty", ESTONIA)), address)
    assert sent == []
