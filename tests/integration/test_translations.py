"""Every language has exactly the texts that the code uses."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, Final, cast
from unittest.mock import AsyncMock, patch

import pytest
import yaml
from homeassistant.core import HomeAssistant, State
from homeassistant.data_entry_flow import section
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.config_validation import ensure_list
from homeassistant.helpers.selector import NumberSelector, SelectSelector
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry, get_system_health_info

from custom_components.tunnihind import config_flow, issues
from custom_components.tunnihind.battery.settings import METERS
from custom_components.tunnihind.client.polling import Problem
from custom_components.tunnihind.config_flow import TunnihindConfigFlow
from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.core.levels import Level
from custom_components.tunnihind.core.rates import Package, Part
from custom_components.tunnihind.errors import Refusal, TunnihindError
from custom_components.tunnihind.forms import battery_form, comparison_form, options_flow, plan_form, tariff_step
from custom_components.tunnihind.forms.battery_flow import BatteryFlow
from custom_components.tunnihind.forms.options_flow import TunnihindOptionsFlow
from custom_components.tunnihind.forms.plan_flow import PlanFlow
from custom_components.tunnihind.forms.tariff_form import RowForm
from custom_components.tunnihind.household.battery_planner import PlanNote
from custom_components.tunnihind.household.home_energy import GRID_METERS, NoPlanReason
from custom_components.tunnihind.plans.outcome import NoWindowReason
from custom_components.tunnihind.plans.settings import PlanError
from custom_components.tunnihind.prices.billing import Resolution
from custom_components.tunnihind.prices.units import Unit
from custom_components.tunnihind.worth.text import CONTRACTS
from tests.support.household.home import MakeHome
from tests.support.household.translations import (
    INTEGRATION,
    LANGUAGES,
    Texts,
    fields_of,
    icons,
    leaves,
    placeholders,
    texts,
)

EN: Final = texts("en")
# Attributes that Home Assistant itself adds to entities and translates.
OWN_ATTRIBUTES: Final = {
    "all_day", "attribution", "description", "device_class", "end_time", "friendly_name", "icon", "last_reset",
    "location", "max", "message", "min", "mode", "options", "start_time", "state_class", "step", "unit_of_measurement",
}  # fmt: skip
translated_language: Final = pytest.mark.parametrize("language", sorted({*LANGUAGES} - {"en"}))
# Words that several languages share.
SHARED: Final = {
    "Tunnihind",
    "Server",
    "EUR/kWh",
    "Võrk 1",
    "Võrk 2",
    "Võrk 4",
    "Võrk 5",
    "August",
    "September",
    "November",
}
# The form of prices for each network package and in each unit.
FORMS_OF_PRICES: Final = [
    RowForm(day=date(2026, 11, 20), vat_percent=24, package=package, unit=unit) for package in Package for unit in Unit
]
FLOWS: Final = {
    "config": (TunnihindConfigFlow, EN["config"]),
    "options": (TunnihindOptionsFlow, EN["options"]),
    "plan": (PlanFlow, EN["config_subentries"]["plan"]),
    "battery": (BatteryFlow, EN["config_subentries"]["battery"]),
}
# Steps that only lead to another one.
NO_FORM: Final = {"hassio", "prices", "zeroconf"}


def sources() -> Iterator[ast.Module]:
    for file in INTEGRATION.rglob("*.py"):
        yield ast.parse(file.read_text())


def words_of_the_code() -> set[str]:
    return {
        node.value
        for module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_language_of_the_integration_is_tested() -> None:
    assert {path.stem for path in (INTEGRATION / "translations").iterdir()} == {*LANGUAGES}


@translated_language
def test_each_language_has_the_same_texts(language: str) -> None:
    assert [place for place, _ in leaves(texts(language))] == [place for place, _ in leaves(EN)]


@translated_language
def test_each_text_is_translated_with_the_same_gaps_and_marks(language: str) -> None:
    translated = dict(leaves(texts(language)))
    for place, text in leaves(EN):
        assert placeholders(text) == placeholders(translated[place]), place
        assert re.findall("`[^`]+`", text) == re.findall("`[^`]+`", translated[place]), place
        assert ("**" in text) == ("**" in translated[place]), place
        assert text.strip(), place
        assert translated[place].strip(), place
        assert translated[place] != text or text in SHARED or text.startswith("{"), place


def test_estonian_texts_are_quoted_and_dashed_as_estonian_is() -> None:
    for place, text in leaves(texts("et")):
        assert not re.search(r"[\"'“]\w", text), place
        assert text.count("„") == text.count("“"), place


def test_every_table_of_texts_in_the_code_has_all_languages() -> None:
    keys = [
        {ast.literal_eval(key) for key in node.keys if isinstance(key, ast.Constant)}
        for module in sources()
        for node in ast.walk(module)
        if isinstance(node, ast.Dict)
    ]
    tables = [languages for languages in keys if languages & {*LANGUAGES}]
    assert len(tables) > 5
    assert all(languages | {"en"} == {*LANGUAGES} for languages in tables)


@pytest.mark.parametrize("flow", FLOWS)
def test_every_step_that_shows_something_has_texts_and_no_other_has(flow: str) -> None:
    handler, said = FLOWS[flow]
    steps = {name.removeprefix("async_step_") for name in vars(handler) if name.startswith("async_step_")}
    assert said["step"].keys() == steps - NO_FORM


# Home Assistant's own code gives this error; older versions have no text for it.
OF_HOME_ASSISTANT: Final = {"already_in_progress", "reconfigure_successful"}


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("kind", ["error", "abort"])
def test_every_error_of_a_flow_is_one_that_the_code_knows(flow: str, kind: str) -> None:
    _, said = FLOWS[flow]
    assert said.get(kind, {}).keys() <= words_of_the_code() | OF_HOME_ASSISTANT


def raised() -> dict[str, set[str]]:
    """Return the keys of the exceptions that the code raises, each with what it fills in."""
    found = {error.key: {"url", "reason"} for error in _errors(TunnihindError)}
    for module in sources():
        for node in ast.walk(module):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                if ast.unparse(node.exc.func) == PlanError.__name__:
                    _, named = node.exc.args
                    found[ast.literal_eval(named)] = {"plan", "field", *(f"{one.arg}" for one in node.exc.keywords)}
                if ast.unparse(node.exc.func) == Refusal.__name__ and isinstance(node.exc.args[0], ast.Constant):
                    found[str(node.exc.args[0].value)] = {f"{one.arg}" for one in node.exc.keywords}
    return found


def _errors(base: type[TunnihindError]) -> Iterator[type[TunnihindError]]:
    for error in base.__subclasses__():
        yield error
        yield from _errors(error)


def test_every_exception_has_a_text_with_its_placeholders_and_no_other_has() -> None:
    assert EN["exceptions"].keys() == raised().keys()
    for key, given in raised().items():
        assert placeholders(EN["exceptions"][key]["message"]) <= given, key


async def test_every_repair_has_a_text_with_its_placeholders_and_no_other_has(
    hass: HomeAssistant, household: MockConfigEntry
) -> None:
    assert EN["issues"].keys() == set(issues.NOTICE_KEYS)
    with patch("homeassistant.helpers.issue_registry.async_create_issue") as create:
        for key in issues.NOTICE_KEYS:
            issues._show_notice(hass, household, key)
    for call in create.call_args_list:
        said = EN["issues"][call.kwargs["translation_key"]]
        assert placeholders(said["title"] + said["description"]) <= call.kwargs["translation_placeholders"].keys()


def selectors() -> dict[str, Texts]:
    """Return the translation keys of the fields of all forms."""
    found: dict[str, Texts] = {}
    for selector in _selectors_of(
        options_flow.CHEAP_HOURS_FORM.schema,
        options_flow.BILLING_FORM.schema,
        options_flow.selling_form(Unit.CENTS).schema,
        config_flow._ADDRESS_QUESTION.schema,
        options_flow.UNIT_FORM.schema,
        plan_form.KIND_FORM.schema,
        *(plan_form.plan_form_schema(unit, form).schema for unit in Unit for form in plan_form.PlanForm),
        *(battery_form.battery_form_schema(unit).schema for unit in Unit),
        *(comparison_form.comparison_form(unit).schema for unit in Unit),
        *(form.schema.schema for form in FORMS_OF_PRICES),
    ):
        key = selector.config.get("translation_key")
        if key:
            said = "options" if isinstance(selector, SelectSelector) else "unit_of_measurement"
            values = set(ensure_list(cast("dict[str, Any]", selector.config)[said]))
            found.setdefault(key, {said: set()})[said] |= values
    for action in actions().values():
        for field in action["fields"].values():
            select = field["selector"].get("select", {})
            if "translation_key" in select:
                found[select["translation_key"]] = {"options": set(select["options"])}
    # The other options of a row are dates. Other texts beside the forms are not choices.
    return {
        **found,
        "comparison": {"options": said_of_comparisons()},
        options_flow.ROW: {"options": {"beginning"}},
        "part": {"options": {tariff_step.MARKET, *Part, tariff_step.VAT} - {Part.OTHER}},
        "period": {"options": set(Resolution)},
        "plan_changes": {"options": {"hint"}},
        "tariff_sentence": {"options": {"disputed", "filled_in", "own"}},
    }


def said_of_comparisons() -> set[str]:
    """Return the keys of the texts of a comparison: those that the code says, and the names of the contracts."""
    module = ast.parse((INTEGRATION / "worth" / "text.py").read_text())
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and ast.unparse(node.func) == "self._say"]
    return {ast.literal_eval(call.args[0]) for call in calls if isinstance(call.args[0], ast.Constant)} | {*CONTRACTS}


def _selectors_of(*schemas: Mapping[Any, Any]) -> Iterator[NumberSelector | SelectSelector]:
    for schema in schemas:
        for field in schema.values():
            if isinstance(field, NumberSelector | SelectSelector):
                yield field
            elif isinstance(field, section):
                yield from _selectors_of(field.schema.schema)
            else:
                yield from (one for one in getattr(field, "validators", ()) if isinstance(one, NumberSelector))


def test_every_text_of_the_plan_form_is_one_of_a_field() -> None:
    shown: dict[str, set[str]] = {}
    for form in plan_form.PlanForm:
        fields = fields_of(plan_form.plan_form_schema(Unit.CENTS, form).schema)
        shown.setdefault("", set()).update(name for name, inner in fields.items() if inner is None)
        for name, inner in fields.items():
            if inner is not None:
                shown.setdefault(name, set()).update(inner)
    for step in (EN["config_subentries"]["plan"]["step"][name] for name in ("plan", "reconfigure")):
        said = {"": step["data"].keys(), **{name: inner["data"].keys() for name, inner in step["sections"].items()}}
        assert said == shown


def test_every_text_of_the_battery_form_is_one_of_a_field() -> None:
    fields = fields_of(battery_form.battery_form_schema(Unit.CENTS).schema)
    for step in EN["config_subentries"]["battery"]["step"].values():
        assert step["data"].keys() == {name for name, inner in fields.items() if inner is None}
        assert {name: said["data"].keys() for name, said in step["sections"].items()} == {
            name: inner.keys() for name, inner in fields.items() if inner
        }


def test_every_text_of_the_comparison_form_is_one_of_a_field() -> None:
    fields = fields_of(comparison_form.comparison_form(Unit.CENTS).schema)
    said = EN["options"]["step"]["compare"]
    for kind in ("data", "data_description"):
        assert said[kind].keys() == {name for name, inner in fields.items() if inner is None}
        assert said["sections"]["battery"][kind].keys() == fields["battery"].keys()


def test_every_choice_has_a_text_and_no_other_has() -> None:
    said = {key: {kind: set(names) for kind, names in kinds.items()} for key, kinds in EN["selector"].items()}
    assert said == selectors()


def actions() -> Texts:
    loaded: Texts = yaml.safe_load((INTEGRATION / "services.yaml").read_text())
    return loaded


def test_every_action_and_field_has_a_name_a_description_and_an_icon() -> None:
    said = EN["services"]
    assert said.keys() == actions().keys() == icons()["services"].keys()
    for name, action in actions().items():
        assert said[name].keys() == {"name", "description", "fields"}
        assert said[name]["fields"].keys() == action["fields"].keys()
        for field in said[name]["fields"].values():
            assert field.keys() == {"name", "description"}


BATTERY: Final = {"state_of_charge": "sensor.battery", "capacity": 10, "charge_power": 5, "discharge_power": 5}


@pytest.fixture
async def household(make_home: MakeHome) -> MockConfigEntry:
    """Return an entry with all entities, also those that are disabled by default."""
    plans: dict[str, dict[str, Any]] = {
        "plan": {"duration": 180},
        "dear": {"kind": "dearest", "energy": 5, "power": 2},
        "car": {"energy": 5, "power": 2},
    }
    with patch("homeassistant.helpers.entity.Entity.entity_registry_enabled_default", True):
        return await (await make_home()).add(plans=plans, batteries={"battery": BATTERY})


def entities(hass: HomeAssistant, entry: MockConfigEntry) -> Mapping[tuple[str, str], State]:
    """Return the states of the entities by platform and translation key."""
    registered = er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id)
    found = {(one.domain, one.translation_key or ""): hass.states.get(one.entity_id) for one in registered}
    assert None not in found.values()
    return MappingProxyType({key: state for key, state in found.items() if state})


def translated(said: Texts) -> set[tuple[str, str]]:
    return {(platform, key) for platform, keys in said.items() for key in keys}


EVERYTHING: Final = {"billed_by": "quarter", "selling": {"resolution": "quarter", "rows": [{}]}}
"""Options that add the entities that are missing without them."""


async def test_every_entity_has_a_name_and_an_icon_and_no_other_has(
    hass: HomeAssistant, household: MockConfigEntry
) -> None:
    keys = set(entities(hass, household))
    hass.config_entries.async_update_entry(household, options=EVERYTHING)
    with patch("homeassistant.helpers.entity.Entity.entity_registry_enabled_default", True):
        await hass.config_entries.async_reload(household.entry_id)
        await hass.async_block_till_done(wait_background_tasks=True)
    keys |= set(entities(hass, household))
    assert keys == translated(EN["entity"])
    assert keys == translated(icons()["entity"])


async def test_every_attribute_and_choice_that_is_shown_has_a_text_and_no_other_choice_has(
    hass: HomeAssistant, household: MockConfigEntry
) -> None:
    for (platform, key), state in entities(hass, household).items():
        said = EN["entity"][platform][key]
        assert state.attributes.keys() - OWN_ATTRIBUTES <= said.get("state_attributes", {}).keys(), key
        if platform in {"binary_sensor", "calendar"}:
            assert said.get("state", {}).keys() in (set(), {"on", "off"}), key
        else:
            assert said.get("state", {}).keys() == set(state.attributes.get("options", ())), key


def test_every_attribute_that_has_a_name_is_one_that_the_code_knows() -> None:
    known = words_of_the_code()
    for platform in EN["entity"].values():
        for key, entity in platform.items():
            assert entity.get("state_attributes", {}).keys() <= known, key


@pytest.mark.parametrize(
    ("said", "states"),
    [
        (EN["entity"]["sensor"]["price_level"]["state"], Level),
        (EN["entity"]["sensor"]["price_level_month"]["state"], Level),
        (EN["entity"]["binary_sensor"]["window"]["state_attributes"]["reason"]["state"], NoWindowReason),
        (EN["entity"]["binary_sensor"]["data_problem"]["state_attributes"]["problems"]["state"], Problem),
        (EN["entity"]["sensor"]["action"]["state_attributes"]["reason"]["state"], NoPlanReason),
        (EN["entity"]["sensor"]["action"]["state_attributes"]["notes"]["state"], PlanNote),
        (EN["entity"]["sensor"]["action"]["state_attributes"]["missing"]["state"], METERS),
        (EN["entity"]["sensor"]["saved_total"]["state_attributes"]["missing"]["state"], GRID_METERS),
    ],
    ids=[
        "level",
        "month level",
        "reason",
        "problem",
        "reason without a battery's plan",
        "note",
        "meter",
        "meter of the saving",
    ],
)
def test_the_names_of_states_are_those_of_the_code(said: Texts, states: Iterable[str]) -> None:
    assert said.keys() == set(states)


async def test_every_line_of_system_health_has_a_text_and_no_other_has(
    hass: HomeAssistant, household: MockConfigEntry
) -> None:
    assert await async_setup_component(hass, "system_health", {})
    await hass.async_block_till_done()
    with patch("custom_components.tunnihind.system_health.async_check_can_reach_url", AsyncMock()) as reach:
        info = await get_system_health_info(hass, DOMAIN)
        await info["can_reach_server"]
    reach.assert_called_once()
    assert EN["system_health"]["info"].keys() == info.keys()


@pytest.mark.parametrize("platform", ["trigger", "condition"])
def test_every_trigger_and_condition_and_its_fields_have_texts_and_an_icon(platform: str) -> None:
    loaded: Texts = yaml.safe_load((INTEGRATION / f"{platform}s.yaml").read_text())
    offered = {name: fields for name, fields in loaded.items() if not name.startswith(".")}
    said = EN[f"{platform}s"]
    assert said.keys() == offered.keys() == icons()[f"{platform}s"].keys()
    for name, text in said.items():
        assert text["name"]
        assert text["description"]
        assert text.get("fields", {}).keys() == offered[name].get("fields", {}).keys()


def test_no_label_of_the_form_of_prices_is_without_a_field() -> None:
    fields: Texts = {}
    for form in FORMS_OF_PRICES:
        for name, inner in fields_of(form.schema.schema).items():
            fields.setdefault(name, {}).update(inner or {})
    steps = EN["options"]["step"]["edit_row"], EN["options"]["step"]["add_row"], EN["config"]["step"]["tariff"]
    for step in steps:
        assert {"valid_from", *step["data"], *step["sections"]} == fields.keys()
        assert {name: said["data"].keys() for name, said in step["sections"].items()} == {
            name: inner.keys() for name, inner in fields.items() if inner
        }
