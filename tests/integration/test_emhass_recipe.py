"""The API reference's recipe for EMHASS in Home Assistant: its script asks a running server and sends the prices to
EMHASS."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from aiohttp import web
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.support.api.api_server import HOUR, Serve, make_view
from tests.support.household.price_readers import emhass_steps
from tunnihind.core.market import QUARTER_S
from tunnihind.web.reference import read_recipe


def prices_for(quarters: int) -> dict[int, float]:
    return {HOUR + n * QUARTER_S: -20.5 + 0.73 * n for n in range(quarters)}


@dataclass
class Emhass:
    """Plays EMHASS, and collects what it is sent."""

    hass: HomeAssistant
    serve: Serve
    freezer: FrozenDateTimeFactory
    sent: list[dict[str, Any]] = field(default_factory=list)
    address: str = ""

    async def handle(self, request: web.Request) -> web.Response:
        assert request.content_type == "application/json"
        self.sent.append(await request.json())
        return web.Response(status=201, text="EMHASS >> Action naive-mpc-optim executed...")

    async def is_sent(self, quarters: int, *, minutes: int = 0) -> list[dict[str, Any]]:
        """Run the recipe's script some minutes after the hour, with the prices of some quarters from the hour on."""
        now = HOUR + minutes * 60
        self.freezer.move_to(datetime.fromtimestamp(now, UTC))
        server = await self.serve(make_view({}, quarters=prices_for(quarters)), now=now)
        code = read_recipe("emhass.yaml", f"http://127.0.0.1:{server.port}")
        config = yaml.safe_load(code.replace("http://localhost:5000", self.address))
        assert await async_setup_component(self.hass, "rest_command", config)
        assert await async_setup_component(self.hass, "script", config)
        await self.hass.services.async_call("script", "emhass_dayahead", blocking=True)
        await self.hass.async_block_till_done(wait_background_tasks=True)
        return self.sent


@pytest.fixture
async def emhass(
    socket_enabled: None, hass: HomeAssistant, serve: Serve, freezer: FrozenDateTimeFactory
) -> AsyncIterator[Emhass]:
    played = Emhass(hass, serve, freezer)
    app = web.Application()
    app.router.add_post("/action/naive-mpc-optim", played.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    played.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield played
    await runner.cleanup()


async def test_emhass_gets_buying_and_selling_prices(emhass: Emhass) -> None:
    [body] = await emhass.is_sent(60)
    prices = prices_for(60).values()
    assert body.keys() == {"prediction_horizon", "load_cost_forecast", "prod_price_forecast"}
    paid, got = (
        emhass_steps(json.dumps(body[name]), HOUR, body["prediction_horizon"], QUARTER_S)
        for name in ("load_cost_forecast", "prod_price_forecast")
    )
    assert paid == pytest.approx([(price / 1000 + 0.0627) * 1.24 for price in prices], abs=1e-5)
    assert got == pytest.approx([price / 1000 - 0.01 for price in prices], abs=1e-5)


@pytest.mark.parametrize(
    ("known", "minutes", "planned"),
    [
        (48, 0, [48]),
        (60, 0, [60]),
        (60, 7, [60]),
        (60, 8, [59]),
        (60, 22, [59]),
        (60, 179, [48]),
        (96, 0, [96]),
        (200, 0, [96]),
        # With less than twelve hours of prices, EMHASS is left alone.
        (0, 0, []),
        (12, 0, []),
        (47, 0, []),
        (48, 1, []),
        (60, 181, []),
    ],
)
async def test_emhass_plans_the_known_quarters_from_the_nearest_on_and_at_least_12_hours(
    emhass: Emhass, known: int, minutes: int, planned: list[int]
) -> None:
    sent = await emhass.is_sent(known, minutes=minutes)
    assert [body["prediction_horizon"] for body in sent] == planned
