"""What Home Assistant's editor says of triggers and conditions, and for which devices it offers them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import pytest
from homeassistant.components.websocket_api.automation import (
    async_get_conditions_for_target,
    async_get_triggers_for_target,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers import condition, trigger
from homeassistant.setup import async_setup_component

from tests.support.automations import the_plan, the_server
from tests.support.home import Home
from tests.support.translations import LANGUAGES, icons, texts

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
async def test_each_has_its_description_texts_and_icon(hass: HomeAssistant, kind: str, describe: Describe) -> None:
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
