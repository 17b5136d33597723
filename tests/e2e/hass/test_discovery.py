"""A server on the network, found by a real Home Assistant and added with one click."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.hass.api import HassApi, Json
from tests.support.hass.running import fresh_hass
from tests.support.machine.processes import Launch, until
from tunnihind.service.announce import reachable_addresses

EVERYWHERE = "0.0.0.0"  # noqa: S104  the default; there is nothing of anybody's on the server of this test


@pytest.fixture
async def hass(tmp_path: Path) -> AsyncIterator[HassApi]:
    """Return a Home Assistant that looks for servers on the network."""
    if not reachable_addresses([EVERYWHERE]):
        pytest.skip("needs a network, if only one of this machine alone")
    (folder := tmp_path / "hass").mkdir()
    async with fresh_hass(folder, discovery=True) as api:
        yield api


async def test_a_server_is_found_and_added_by_a_confirmation(hass: HassApi, launch: Launch) -> None:
    server = launch("--demo", "--host", EVERYWHERE)
    await server.until_ready()
    instance_id = (await server.get("/api/about")).json()["instanceId"]

    async def look() -> Json:
        flows = await hass.command("config_entries/flow/progress")
        return next((flow for flow in flows if flow["context"].get("unique_id") == instance_id), None)

    found = await until(look)
    assert found is not None, "nothing was discovered"
    assert found["context"]["title_placeholders"]["name"] == "Tunnihind demo"
    assert (found["handler"], found["context"]["source"], found["step_id"]) == (
        "tunnihind",
        "zeroconf",
        "zeroconf_confirm",
    )
    assert (await hass.post(f"/api/config/config_entries/flow/{found['flow_id']}", {}))["type"] == "create_entry"
    await hass.until_state(
        "sensor.tunnihind_demo_current_price", lambda state: state.state not in {"unavailable", "unknown"}
    )
