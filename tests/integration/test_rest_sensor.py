"""Home Assistant's own REST sensor, configured as the API reference's recipe says, against a running server."""

import json
from typing import Any

import pytest
import yaml
from homeassistant.components.recorder.db_schema import MAX_STATE_ATTRS_BYTES
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import json_bytes
from homeassistant.setup import async_setup_component

from tests.support.api.api_server import HOUR, Serve, make_run, make_view
from tunnihind.core.market import HOUR_S
from tunnihind.web.reference import read_recipe


@pytest.fixture
def expected_lingering_timers() -> bool:
    """Allow timers that outlive a test: the sensor of older Home Assistants leaves the timer of its next request."""
    return True


async def test_the_sensor_has_the_hours_price_and_all_hours_as_recordable_attributes(
    socket_enabled: None, hass: HomeAssistant, serve: Serve
) -> None:
    """The answer is the largest possible one."""
    settled = {HOUR + i * HOUR_S: -1234.56 - i / 7 for i in range(35)}
    server = await serve(make_view(settled, make_run(-1234.56 - i / 7 for i in range(200))))
    config = yaml.safe_load(read_recipe("home-assistant.yaml", f"http://127.0.0.1:{server.port}"))
    assert await async_setup_component(hass, "rest", config)
    await hass.async_block_till_done(wait_background_tasks=True)
    answer: dict[str, Any] = json.loads((await server.ask("/api/v1/forecast")).body)
    assert (len(answer["dayAhead"]), len(answer["forecast"])) == (35, 72)
    sensor = hass.states.get("sensor.electricity_price")
    assert sensor is not None
    assert float(sensor.state) == answer["dayAhead"][0]["eurKwh"]
    assert sensor.attributes["dayAhead"] == answer["dayAhead"]
    assert sensor.attributes["forecast"] == answer["forecast"]
    assert len(json_bytes(dict(sensor.attributes))) < MAX_STATE_ATTRS_BYTES
