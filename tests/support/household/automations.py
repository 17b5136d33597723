"""Real automations, and their runs."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, Final

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_capture_events

from tests.support.household.home import PLAN_ID, Home, PriceOf
from tunnihind.core.market import HOUR_S

ONE_PIECE: Final = {"duration": 180, "split": False}

type Run = tuple[str, int]
"""The text of an automation's run, by default the id of its trigger, and its time in UTC seconds."""


def cheap_in(hours: Collection[int], *, cheap: float = 10.0, dear: float = 100.0) -> PriceOf:
    """Return a market that is cheap in the hours with these starts, EUR/MWh."""
    return lambda start: cheap if start in hours else dear


def hours_from(start: int, count: int) -> range:
    """Return the starts of a number of hours."""
    return range(start, start + count * HOUR_S, HOUR_S)


def device_of(hass: HomeAssistant, platform: str, key: str, owner: str = "entry") -> str:
    """Return the id of the device whose entity has that key."""
    registry = er.async_get(hass)
    entity_id = registry.async_get_entity_id(platform, "tunnihind", f"{owner}_{key}")
    entry = registry.async_get(entity_id or "")
    assert entry is not None
    assert entry.device_id is not None
    return entry.device_id


def the_plan(hass: HomeAssistant) -> dict[str, str]:
    """Return the plan's device as a target."""
    return {"device_id": device_of(hass, "binary_sensor", "window", PLAN_ID)}


def the_server(hass: HomeAssistant) -> dict[str, str]:
    """Return the server's device as a target."""
    return {"device_id": device_of(hass, "sensor", "current_price")}


def put_into_one_area(hass: HomeAssistant, area_id: str) -> None:
    """Put all devices of the integration into the area."""
    registry = dr.async_get(hass)
    for device in dr.async_entries_for_config_entry(registry, "entry"):
        registry.async_update_device(device.id, area_id=area_id)


async def automate(
    hass: HomeAssistant,
    triggers: Mapping[str, Mapping[str, Any]],
    *,
    say: str = "{{ trigger.id }}",
    beside: Iterable[Mapping[str, Any]] = (),
) -> list[Run]:
    """Set up an automation with these triggers, by id, and return a list that collects its runs.

    `beside` has the configurations of other automations, because all are set up at once.
    """
    runs: list[Run] = []

    @callback
    def ran(event: Event[dict[str, str]]) -> None:
        runs.append((event.data["said"], int(dt_util.utcnow().timestamp())))

    hass.bus.async_listen("ran", ran)
    config = {
        "alias": "Runs",
        "mode": "parallel",
        "triggers": [{"id": name, **trigger} for name, trigger in triggers.items()],
        "actions": [{"event": "ran", "event_data": {"said": say}}],
    }
    assert await async_setup_component(hass, "automation", {"automation": [config, *beside]})
    await hass.async_block_till_done()
    assert hass.states.is_state("automation.runs", "on")
    return runs


async def ask(hass: HomeAssistant, condition: Mapping[str, Any]) -> Callable[[], Awaitable[bool]]:
    """Set up an automation with the condition, and return a function that checks it."""
    runs = async_capture_events(hass, "ran")
    config = {
        "alias": "Asks",
        "triggers": [{"trigger": "event", "event_type": "asked"}],
        "conditions": [condition],
        "actions": [{"event": "ran"}],
    }
    assert await async_setup_component(hass, "automation", {"automation": config})
    await hass.async_block_till_done()
    assert hass.states.is_state("automation.asks", "on")

    async def holds() -> bool:
        runs.clear()
        hass.bus.async_fire("asked")
        await hass.async_block_till_done()
        return bool(runs)

    return holds


async def restart(home: Home, *, at: int | None = None) -> None:
    """Unload and load the integration, as at a restart or a reload, at the instant `at`."""
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    await home.settle()
    if at is not None:
        home.set_clock(at)
    await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
