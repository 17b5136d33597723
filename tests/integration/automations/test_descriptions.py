"""The texts of triggers and conditions in Home Assistant's editor, and the devices for which it offers them."""

from collections.abc import Awaitable, Callable, Mapping
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
from tests.support.household.translations import LANGUAGES, icons, texts

type Describe = Callable[[HomeAssistant], Awaitable[Mapping[str, Mapping[str, Any] | None]]]

KINDS: Final = (
    ("triggers", trigger.async_get_all_descriptions),
    ("conditions", condition.async_get_all_descriptions),
)
OF_A_PLAN: Final = {"tunnihind.window_started", "tunnihind.window_ended", "tunnihind.window_running"}


def own(names: set[str]) -> set[str]:
    return {name for name in names if name.startswith("tunnihind.")}


@pytest.fixture(autouse=True)
async def _automations(hass: HomeAssistant, home: Home) -> None:
    """Let the platforms be there."""
    assert await async_setup_component(hass, "automation", {})
    await hass.async_block_till_done()


@pytest.mark.parametrize(("kind", "describe"), KINDS)
async def test_each_trigger_and_condition_has_its_texts_and_icon(
    hass: HomeAssistant, kind: str, describe: Describe
) -> None:
    described = {name: about for name, about in (await describe(hass)).items() if name.startswith("tunnihind.")}
    names = {name.removeprefix("tunnihind.") for name in described}
    assert names
    assert icons()[kind].keys() == names
    for language in LANGUAGES:
        said = texts(language)[kind]
        assert said.keys() == names
        for name, about in described.items():
            assert about, f"{name} has no description that Home Assistant can load"
            assert said[name.removeprefix("tunnihind.")].get("fields", {}).keys() == about["fields"].keys()


async def test_the_editor_offers_window_triggers_for_plans_only(hass: HomeAssistant) -> None:
    for_plan = own(await async_get_triggers_for_target(hass, the_plan(hass), expand_group=False))
    for_server = own(await async_get_triggers_for_target(hass, the_server(hass), expand_group=False))
    assert for_plan >= {"tunnihind.window_started", "tunnihind.window_ended"}
    assert not for_server & OF_A_PLAN
    assert for_server >= {"tunnihind.prices_published", "tunnihind.price_turned_negative", "tunnihind.price_crossed"}


async def test_the_editor_offers_window_conditions_for_plans_only(hass: HomeAssistant) -> None:
    for_plan = own(await async_get_conditions_for_target(hass, the_plan(hass), expand_group=False))
    for_server = own(await async_get_conditions_for_target(hass, the_server(hass), expand_group=False))
    assert "tunnihind.window_running" in for_plan
    assert not for_server & OF_A_PLAN
    assert for_server >= {"tunnihind.price_cheap", "tunnihind.price_negative", "tunnihind.tomorrow_known"}


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
