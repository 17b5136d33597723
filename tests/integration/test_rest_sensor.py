"""Home Assistant's own REST sensor, configured as the API reference's recipe says, against a running server."""

import json
from typing import Any

import pytest
import yaml
from homeassistant.components.recorder.db_schema import MAX_STATE_ATTRS_BYTES
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers.json import json_bytes
from homeassistant.setup import async_setup_component

from tests.support.api.api_server import HOUR, Serve, make_run, make_view
from tunnihind.core.market import HOUR_S
from tunnihind.web.reference import read_recipe


@pytest.fixture
def expected_lingering_timers() -> bool:
    """Allow timers that outlive a test: the sensor of older Home Assistants leaves the timer of its next request."""
    return True


@pytest.fixture
async def answer(socket_enabled: None, hass: HomeAssistant, serve: Serve) -> dict[str, Any]:
    """Return the largest possible answer, from a server that Home Assistant knows."""
    settled = {HOUR + i * HOUR_S: -1234.56 - i / 7 for i in range(35)}
    server = await serve(make_view(settled, make_run(-1234.56 - i / 7 for i in range(200))))
    config = yaml.safe_load(read_recipe("home-assistant.yaml", f"http://127.0.0.1:{server.port}"))
    assert await async_setup_component(hass, "rest", config)
    await hass.async_block_till_done(wait_background_tasks=True)
    document: dict[str, Any] = json.loads((await server.ask("/api/v1/forecast")).body)
    assert (len(document["dayAhead"]), len(document["forecast"])) == (35, 72)
    return document


def the_sensor(hass: HomeAssistant) -> State:
    state = hass.states.get("sensor.electricity_price")
    assert state is not None
    return state


async def test_the_state_is_the_consumer_price_of_the_current_hour(hass: HomeAssistant, answer: dict[str, Any]) -> None:
    assert float(the_sensor(hass).state) == answer["dayAhead"][0]["eurKwh"]


async def test_the_hours_are_attributes(hass: HomeAssistant, answer: dict[str, Any]) -> None:
    attributes = the_sensor(hass).attributes
    assert attributes["dayAhead"] == answer["dayAhead"]
    assert attributes["forecast"] == answer["forecast"]


@pytest.mark.usefixtures("answer")
async def test_the_recorder_keeps_the_largest_attributes_there_can_be(hass: HomeAssistant) -> None:
    assert len(json_bytes(dict(the_sensor(hass).attributes))) < MAX_STATE_ATTRS_BYTES
