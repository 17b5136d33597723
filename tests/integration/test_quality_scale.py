"""The claims of quality_scale.yaml are true, and the files that it names exist."""

import ast
import json
import re
import struct
import tomllib
from types import ModuleType
from typing import Any, Final
from unittest.mock import patch

import pytest
import yaml
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import STATE_UNAVAILABLE, EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind import condition, config_flow, coordinator, trigger
from custom_components.tunnihind.client import requests
from custom_components.tunnihind.client.requests import Client
from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.support.household.home import MakeHome
from tests.support.household.translations import INTEGRATION

REPOSITORY: Final = INTEGRATION.parents[1]
# As of Home Assistant 2026.10.
RULES_IN_ORDER: Final = """
action-setup appropriate-polling brands common-modules config-flow-test-coverage config-flow dependency-transparency
docs-actions docs-triggers docs-conditions docs-high-level-description docs-installation-instructions
docs-removal-instructions entity-event-setup entity-unique-id has-entity-name runtime-data test-before-configure
test-before-setup unique-config-entry action-exceptions config-entry-unloading docs-configuration-parameters
docs-installation-parameters entity-unavailable integration-owner log-when-unavailable parallel-updates
reauthentication-flow test-coverage devices diagnostics discovery-update-info discovery docs-data-update
docs-examples docs-known-limitations docs-supported-devices docs-supported-functions docs-troubleshooting
docs-use-cases dynamic-devices entity-category entity-device-class entity-disabled-by-default entity-translations
exception-translations icon-translations reconfiguration-flow repair-issues stale-devices async-dependency
inject-websession strict-typing
"""
RULES: Final = frozenset(RULES_IN_ORDER.split())
# The entities that most households look at.
ENABLED: Final = {
    ("sensor", key)
    for key in (
        *("current_price", "next_price", "price_level", "average_today", "lowest_today", "highest_today"),
        *("average_tomorrow", "lowest_tomorrow", "highest_tomorrow", "forecast", "settled_until"),
        *("window_start", "window_end", "window_average", "window_saving", "window_chance", "status"),
        "last_saving",
    )
} | {
    *(("binary_sensor", key) for key in ("cheap_hour", "negative_price", "tomorrow_known", "data_problem", "window")),
    ("calendar", "plans"),
    ("switch", "enabled"),
}
DIAGNOSTIC: Final = {
    *("settled_until", "forecast_made_at", "data_refreshed", "forecast_error", "forecast_baseline_error"),
    *("forecast_skill", "forecast_saving", "data_problem"),
}
SETTINGS: Final = {"enabled", "duration", "price_cap", "earliest", "deadline"}
INSTANTS: Final = {"settled_until", "forecast_made_at", "data_refreshed", "window_start", "window_end", "next_window"}


def rules() -> dict[str, Any]:
    """Return the rules, each with its status and comment."""
    loaded: dict[str, Any] = yaml.safe_load((INTEGRATION / "quality_scale.yaml").read_text())["rules"]
    return loaded


def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((INTEGRATION / "manifest.json").read_text())
    return loaded


@pytest.fixture
async def entry(make_home: MakeHome, enable_custom_integrations: None) -> MockConfigEntry:
    """Return an entry that is set up."""
    return await (await make_home()).add()


def registered(hass: HomeAssistant, entry: MockConfigEntry) -> list[er.RegistryEntry]:
    return er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)


def test_every_rule_is_answered() -> None:
    assert len(RULES) == 54
    assert rules().keys() == RULES


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_names_its_evidence(rule: str) -> None:
    answer = rules()[rule]
    assert answer["status"] in {"done", "exempt", "todo"}
    assert answer["comment"].strip()
    for path in re.findall(r"(?:tests|docs)/[\w./-]+\w", answer["comment"]):
        assert (REPOSITORY / path).is_file(), path


def test_exempt_features_do_not_exist() -> None:
    exempt = {rule for rule, answer in rules().items() if answer["status"] == "exempt"}
    there = {
        "docs-triggers": (INTEGRATION / "trigger.py").exists(),
        "docs-conditions": (INTEGRATION / "condition.py").exists(),
        "reauthentication-flow": hasattr(config_flow.TunnihindConfigFlow, "async_step_reauth"),
    }
    assert exempt == {rule for rule, exists in there.items() if not exists}


async def test_actions_are_there_without_a_server(hass: HomeAssistant, enable_custom_integrations: None) -> None:
    assert await async_setup_component(hass, DOMAIN, {})
    assert hass.services.async_services()[DOMAIN].keys() == {
        "compare_contracts",
        "find_cheapest_hours",
        "get_prices",
        "import_costs",
        "import_prices",
        "update_plan",
    }


@pytest.mark.parametrize(
    ("name", "sides"),
    [("icon", (256, 256)), ("icon@2x", (512, 512)), ("logo", (632, 160)), ("logo@2x", (1264, 320))],
)
@pytest.mark.parametrize("shade", ["", "dark_"])
def test_the_brand_has_its_images_in_the_sizes_that_are_asked_for(
    shade: str, name: str, sides: tuple[int, int]
) -> None:
    header = (INTEGRATION / f"brand/{shade}{name}.png").read_bytes()[:24]
    assert header.startswith(b"\x89PNG")
    assert struct.unpack(">II", header[16:24]) == sides


def test_common_modules_have_their_usual_names() -> None:
    assert {"coordinator.py", "entity.py"} <= {file.name for file in INTEGRATION.glob("*.py")}


def test_the_manifest_names_an_owner_and_the_discoveries() -> None:
    assert manifest()["codeowners"]
    assert manifest()["zeroconf"] == ["_tunnihind._tcp.local."]


def test_the_oldest_home_assistant_that_is_asked_for_is_the_oldest_that_is_tested() -> None:
    oldest = json.loads((REPOSITORY / "hacs.json").read_text())["homeassistant"]
    assert (
        f"homeassistant=={oldest}" in (REPOSITORY / "tests/integration/oldest-home-assistant.txt").read_text().split()
    )
    for readme in ("README.md", "README.et.md"):
        assert re.search(rf"\b{re.escape(oldest.rpartition('.')[0])}\b", (REPOSITORY / readme).read_text())


async def test_an_old_home_assistant_gets_no_triggers_and_conditions(
    hass: HomeAssistant,
) -> None:
    assert bool(await trigger.async_get_triggers(hass)) is KNOWS_TRIGGERS
    assert bool(await condition.async_get_conditions(hass)) is KNOWS_TRIGGERS


async def test_an_entry_that_is_unloaded_leaves_nothing_and_loads_again(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    prices = entry.runtime_data
    assert isinstance(prices, coordinator.TunnihindCoordinator)
    assert await hass.config_entries.async_unload(entry.entry_id)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.NOT_LOADED
    assert not prices._listeners, "an entity listens that is not there"
    assert {state.state for state in hass.states.async_all()} == {STATE_UNAVAILABLE}
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert STATE_UNAVAILABLE not in {state.state for state in hass.states.async_all()}


@pytest.mark.parametrize("platform", ["sensor", "binary_sensor", "calendar", "number", "switch", "time"])
def test_platforms_without_requests_have_no_limit_of_parallel_updates(platform: str) -> None:
    module = ast.parse((INTEGRATION / f"{platform}.py").read_text())
    values = {
        target.id: ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == "PARALLEL_UPDATES"
    }
    assert values == {"PARALLEL_UPDATES": 0}


async def test_the_server_and_each_plan_are_devices(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)
    server, plan = sorted(devices, key=lambda device: device.via_device_id or "")
    assert (server.name, server.entry_type) == ("Tunnihind", dr.DeviceEntryType.SERVICE)
    assert (plan.name, plan.via_device_id) == ("Plan", server.id)


async def test_entities_have_their_ids_names_categories_and_classes_and_few_are_enabled(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    entities = registered(hass, entry)
    assert len({one.unique_id for one in entities}) == len(entities) > 0
    assert all(one.has_entity_name and one.translation_key for one in entities)
    keys: dict[EntityCategory | None, set[str | None]] = {}
    for one in entities:
        keys.setdefault(one.entity_category, set()).add(one.translation_key)
    assert keys.pop(None).isdisjoint(DIAGNOSTIC | SETTINGS)
    assert keys == {EntityCategory.DIAGNOSTIC: DIAGNOSTIC, EntityCategory.CONFIG: SETTINGS}
    classes = {
        **dict.fromkeys(INSTANTS, "timestamp"),
        **dict.fromkeys(("time_until_window", "window_time_left"), "duration"),
        "price_level": "enum",
        "price_level_month": "enum",
        "status": "enum",
        "data_problem": "problem",
        "window": "running",
        "duration": "duration",
    }
    assert {one.translation_key: one.original_device_class for one in entities if one.original_device_class} == classes
    assert {(one.domain, one.translation_key) for one in entities if not one.disabled} == ENABLED


@pytest.mark.parametrize("module", [requests, coordinator])
async def test_home_assistants_own_session_is_used(
    hass: HomeAssistant, make_home: MakeHome, module: ModuleType, enable_custom_integrations: None
) -> None:
    home = await make_home()
    with patch.object(module, "Client", wraps=Client) as made:
        if module is coordinator:
            await home.add()
        else:
            await requests.fetch_server(hass, f"http://127.0.0.1:{home.server.port}")
    assert made.call_args.args[0] is async_get_clientsession(hass)


def test_types_are_strict_for_the_integration() -> None:
    mypy = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["mypy"]
    assert mypy["strict"] is True
    assert "custom_components" in mypy["files"]
