"""The devices for which Home Assistant's editor offers triggers and conditions, and those that it refuses."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
import voluptuous as vol
from homeassistant.components.websocket_api.automation import (
    async_get_conditions_for_target,
    async_get_triggers_for_target,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import condition, trigger
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component

from tests.support.household.automations import the_plan, the_server
from tests.support.household.home import Home

type Offered = Callable[..., Awaitable[set[str]]]
"""A function of Home Assistant that returns the names that the editor offers for a target."""


@pytest.fixture(autouse=True)
async def _automations(hass: HomeAssistant, home: Home) -> None:
    """Let the platforms be there."""
    assert await async_setup_component(hass, "automation", {})
    await hass.async_block_till_done()


OFFERED: Final = (
    (
        async_get_triggers_for_target,
        {"window_started", "window_ended"},
        {"prices_published", "price_turned_negative", "price_crossed"},
    ),
    (
        async_get_conditions_for_target,
        {"window_running"},
        {"price_cheap", "price_negative", "tomorrow_known"},
    ),
)


@pytest.mark.parametrize(("offered_for", "of_a_plan", "of_a_server"), OFFERED, ids=["triggers", "conditions"])
async def test_the_editor_offers_those_of_windows_for_plans_only(
    hass: HomeAssistant, offered_for: Offered, of_a_plan: set[str], of_a_server: set[str]
) -> None:
    for_plan, for_server = [
        {name.removeprefix("tunnihind.") for name in await offered_for(hass, target(hass), expand_group=False)}
        for target in (the_plan, the_server)
    ]
    assert for_plan >= of_a_plan
    assert for_server >= of_a_server
    assert not for_server & of_a_plan


NEVER_COUNT: Final = (
    ("trigger", "prices_published", the_plan, "Plan.*device of the server"),
    ("trigger", "price_crossed", the_plan, "Plan.*device of the server"),
    ("trigger", "window_started", the_server, "Tunnihind.*device of a plan"),
    ("condition", "price_cheap", the_plan, "Plan.*device of the server"),
    ("condition", "window_running", the_server, "Tunnihind.*device of a plan"),
)


@pytest.mark.parametrize(("kind", "name", "target", "says"), NEVER_COUNT)
@pytest.mark.parametrize("by", ["device", "entity"])
async def test_a_target_that_never_counts_is_refused_when_it_is_saved(
    hass: HomeAssistant, kind: str, name: str, target: Callable[[HomeAssistant], dict[str, str]], says: str, by: str
) -> None:
    named: dict[str, Any] = target(hass)
    if by == "entity":
        entries = er.async_entries_for_device(er.async_get(hass), named["device_id"])
        named = {"entity_id": [entries[0].entity_id]}
        says = f"{entries[0].entity_id}.*{says.partition('.*')[2]}"
    options = {"threshold": {"type": "above", "value": {"number": 0.2}}} if name == "price_crossed" else {}
    validate, as_kind = {
        "trigger": (trigger.async_validate_trigger_config, "platform"),
        "condition": (condition.async_validate_conditions_config, "condition"),
    }[kind]
    config = {as_kind: f"tunnihind.{name}", "target": named, "options": options}
    with pytest.raises(vol.Invalid, match=says):
        await validate(hass, [config])
    # It is also refused beside a target that counts, because it would seem to count.
    both = [*(the_plan(hass)).values(), *(the_server(hass)).values()]
    with pytest.raises(vol.Invalid):
        await validate(hass, [{**config, "target": {"device_id": both}}])
