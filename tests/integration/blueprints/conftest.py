"""A Home Assistant that has the blueprints in its folder."""

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from custom_components.tunnihind.const import KNOWS_TRIGGERS
from tests.support.household.blueprints import BLUEPRINTS

# The tests are left out rather than skipped, because there is nothing to test if Home Assistant is too old for the
# triggers of these blueprints. All other blueprints are for every version.
collect_ignore: Final = [] if KNOWS_TRIGGERS else ["test_native_triggers.py", "test_week.py"]

TOGGLES: Final = ("device", "ready", "boiler", "car", "floor")


@pytest.fixture(autouse=True)
async def _home(hass: HomeAssistant, tmp_path: Path) -> AsyncIterator[None]:
    """Put Home Assistant in Estonia, with the blueprints and some devices to switch."""
    (tmp_path / "blueprints").symlink_to(BLUEPRINTS)
    hass.config.config_dir = str(tmp_path)
    await hass.config.async_set_time_zone("Europe/Tallinn")
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "input_boolean", {"input_boolean": dict.fromkeys(TOGGLES)})
    yield
    if hass.services.has_service("automation", "turn_off"):
        await hass.services.async_call("automation", "turn_off", {"entity_id": "all"}, blocking=True)


@pytest.fixture(autouse=True)
def _nothing_is_deprecated(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if a blueprint uses what a later Home Assistant will lack."""
    yield
    # Below warnings, Home Assistant logs what it stores, such as the name of its notice of a deprecated installation.
    warnings = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert [warning for warning in warnings if "deprecated" in warning] == []
