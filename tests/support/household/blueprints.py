"""Automations made from the blueprints, in a real Home Assistant, and the devices that they switch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from homeassistant.core import CoreState, Event, EventStateChangedData, callback
from homeassistant.setup import async_setup_component

from custom_components.tunnihind.const import KNOWS_TRIGGERS
from tests.support.household.home import PLAN_ID, Home

BLUEPRINTS: Final = Path(__file__).parents[3] / "blueprints"
DEVICE: Final = "input_boolean.device"

rings_between_steps: Final = pytest.mark.skipif(
    not KNOWS_TRIGGERS,
    reason="timers that are set between two steps of the clock do not ring in this version's tests",
)

type Switching = tuple[str, int]
"""The new state of a device, and its time in UTC seconds."""


def switched(home: Home, entity_id: str = DEVICE) -> list[Switching]:
    """Return a list that collects the switchings of the device."""
    switchings: list[Switching] = []

    @callback
    def changed(event: Event[EventStateChangedData]) -> None:
        if event.data["entity_id"] == entity_id and event.data["new_state"]:
            switchings.append((event.data["new_state"].state, home.now))

    home.hass.bus.async_listen("state_changed", changed)
    return switchings


def automation_of(blueprint: str, inputs: Mapping[str, Any], *, alias: str = "Home") -> dict[str, Any]:
    """Return the configuration of an automation made from a blueprint."""
    return {"alias": alias, "use_blueprint": {"path": f"tunnihind/{blueprint}.yaml", "input": dict(inputs)}}


async def use(home: Home, blueprint: str, inputs: Mapping[str, Any]) -> None:
    """Make an automation from a blueprint."""
    assert await async_setup_component(home.hass, "automation", {"automation": automation_of(blueprint, inputs)})
    await home.hass.async_block_till_done()
    assert home.hass.states.is_state("automation.home", "on")


async def use_from_a_start_on(home: Home, blueprint: str, inputs: Mapping[str, Any]) -> None:
    """Start Home Assistant with an automation that was made from a blueprint."""
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.hass.set_state(CoreState.not_running)
    await use(home, blueprint, inputs)
    await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.hass.async_start()
    await home.settle()


async def turn(home: Home, entity_id: str, how: str) -> None:
    """Turn a toggle helper `on` or `off`, as on a dashboard."""
    await home.hass.services.async_call("input_boolean", f"turn_{how}", {"entity_id": entity_id}, blocking=True)
    await home.settle()


def window_of(home: Home, plan: str = PLAN_ID) -> str:
    """Return the entity id of a plan's window."""
    return home.state("binary_sensor", "window", plan).entity_id
