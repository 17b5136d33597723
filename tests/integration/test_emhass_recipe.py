"""The API reference's recipe for EMHASS in Home Assistant: its script asks a running server and sends the prices to
EMHASS."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from aiohttp import web
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.support.api.api_server import HOUR, RunningServer, Serve, make_view
from tests.support.household.price_readers import emhass_steps
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA, QUARTER_S
from tunnihind.web.reference import read_recipe


def prices_for(quarters: int) -> dict[int, float]:
    return {HOUR + n * QUARTER_S: -20.5 + 0.73 * n for n in range(quarters)}


type Sent = list[dict[str, Any]]


@pytest.fixture
async def emhass(socket_enabled: None) -> AsyncIterator[tuple[str, Sent]]:
    """Play EMHASS; give its address and what it is sent."""
    sent: Sent = []

    async def handle(request: web.Request) -> web.Response:
        assert request.content_type == "application/json"
        sent.append(await request.json())
        return web.Response(status=201, text="EMHASS >> Action naive-mpc-optim executed...")

    app = web.Application()
    app.router.add_post("/action/naive-mpc-optim", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", sent
    await runner.cleanup()


@pytest.fixture(autouse=True)
def _at_the_hour(freezer: FrozenDateTimeFactory) -> None:
    freezer.move_to(datetime.fromtimestamp(HOUR, UTC))


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
    prices = prices_for(60)
    await run_script(hass, await serve(make_view(quarters=prices)), address)
    [body] = sent
    assert body.keys() == {"prediction_horizon", "load_cost_forecast", "prod_price_forecast"}
    paid, got = (
        emhass_steps(json.dumps(body[name]), HOUR, body["prediction_horizon"], QUARTER_S)
        for name in ("load_cost_forecast", "prod_price_forecast")
    )
    assert paid == pytest.approx([(price / 1000 + 0.0627) * 1.24 for price in prices.values()], abs=1e-5)
    assert got == pytest.approx([price / 1000 - 0.01 for price in prices.values()], abs=1e-5)


@pytest.mark.parametrize(
    ("known", "minutes", "planned"),
    [(48, 0, 48), (60, 0, 60), (60, 7, 60), (60, 8, 59), (60, 22, 59), (60, 179, 48), (96, 0, 96), (200, 0, 96)],
)
async def test_emhass_plans_the_known_quarters_from_the_nearest_on(
    hass: HomeAssistant,
    serve: Serve,
    emhass: tuple[str, Sent],
    freezer: FrozenDateTimeFactory,
    known: int,
    minutes: int,
    planned: int,
) -> None:
    address, sent = emhass
    now = HOUR + minutes * 60
    freezer.move_to(datetime.fromtimestamp(now, UTC))
    await run_script(hass, await serve(make_view(quarters=prices_for(known)), now=now), address)
    [body] = sent
    assert body["prediction_horizon"] == planned


@pytest.mark.parametrize(("known", "minutes"), [(12, 0), (47, 0), (48, 1), (60, 181)])
async def test_emhass_is_left_alone_with_less_than_12_hours_of_prices(
    hass: HomeAssistant,
    serve: Serve,
    emhass: tuple[str, Sent],
    freezer: FrozenDateTimeFactory,
    known: int,
    minutes: int,
) -> None:
    address, sent = emhass
    now = HOUR + minutes * 60
    freezer.move_to(datetime.fromtimestamp(now, UTC))
    await run_script(hass, await serve(make_view(quarters=prices_for(known)), now=now), address)
    assert sent == []


async def test_emhass_is_left_alone_while_the_server_has_no_prices(
    hass: HomeAssistant, serve: Serve, emhass: tuple[str, Sent]
) -> None:
    address, sent = emhass
    await run_script(hass, await serve(ServedData("empty", ESTONIA)), address)
    assert sent == []
