"""The guides name exactly the integration's features, as Home Assistant shows them in their language."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from datetime import date
from functools import cache
from itertools import batched
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import hass_frontend
import pytest
import yaml
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.actions import compare_contracts
from custom_components.tunnihind.actions.call import Direction
from custom_components.tunnihind.actions.get_prices import RESOLUTIONS, PriceFormat
from custom_components.tunnihind.actions.import_past import common_import_fields
from custom_components.tunnihind.battery.plan import Action
from custom_components.tunnihind.battery.settings import METERS
from custom_components.tunnihind.client.polling import Problem
from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.core.comparison import Bills, Comparison
from custom_components.tunnihind.core.levels import Level
from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.core.rates import FEE_RATES, NETWORK_RATES, Package, Part
from custom_components.tunnihind.core.tariff import Tariff
from custom_components.tunnihind.forms.plan_flow import first_plan
from custom_components.tunnihind.household.battery_planner import PlanNote
from custom_components.tunnihind.household.home_energy import NoPlanReason
from custom_components.tunnihind.past.paid_prices import LeftOutHour, LeftOutReason
from custom_components.tunnihind.plans.outcome import NoWindowReason
from custom_components.tunnihind.plans.plan import PlanStatus
from custom_components.tunnihind.plans.settings import Horizon, PlanKind, Preference, Starts
from custom_components.tunnihind.worth.answer import Answer
from custom_components.tunnihind.worth.battery import BatteryWorth
from custom_components.tunnihind.worth.past_year import PastYear
from custom_components.tunnihind.worth.question import Question
from tests.support import documents
from tests.support.household.battery import BATTERY, BATTERY_ID
from tests.support.household.home import DEFAULT_PLAN, PLAN_ID, MakeHome
from tests.support.household.translations import INTEGRATION, Texts, leaves, texts

pytestmark = pytest.mark.usefixtures("enable_custom_integrations")
both_languages = pytest.mark.parametrize("language", documents.LANGUAGES)

DISABLED: Final = {"en": "*Disabled at first*", "et": "*Alguses keelatud*"}
BY_ENERGY: Final = {"energy": 10, "power": 4}
DEAR: Final = {"kind": "dearest", "energy": 5, "power": 2}
# Home Assistant's own button, which the section names first.
CONFIGURE: Final = {"en": "Configure", "et": "Seadista"}
# Words of HACS, which are not translated here.
OF_HACS: Final = {"Custom repositories", "Download", "Integration"}
# Buttons for the reader's own Home Assistant: the page that each opens, and its parameters.
REPOSITORY: Final = "https://github.com/tunnihind/tunnihind"
APP_BUTTON: Final = ("supervisor_add_addon_repository", {"repository_url": REPOSITORY})
HACS_BUTTON: Final = (
    "hacs_repository",
    {"owner": "tunnihind", "repository": "tunnihind", "category": "integration"},
)
FORM_BUTTON: Final = ("config_flow_start", {"domain": DOMAIN})
DOCUMENTS_WITH_BUTTONS: Final = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "packaging/**/*.md")
    for path in documents.PROJECT.glob(pattern)
    if "my.home-assistant.io/" in path.read_text()
)


def bold(document: str) -> set[str]:
    return {" ".join(found.split()) for found in re.findall(r"\*\*([^*]+)\*\*", document)}


def emphasized(document: str) -> set[str]:
    return {" ".join(found.split()) for found in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", document)}


def labels(step: Texts) -> Iterator[str]:
    """Yield the labels of a form's fields, those in its sections too."""
    yield from step.get("data", {}).values()
    for one in step.get("sections", {}).values():
        yield from labels(one)


def named_in(table: documents.Table, known: set[str]) -> list[str]:
    """Return the names in the first column."""
    return [name for row in table for name in documents.names_in(row[0], known)]


@both_languages
async def test_every_entity_is_in_the_table_of_its_device(
    hass: HomeAssistant, make_home: MakeHome, language: str
) -> None:
    plans = {"time": DEFAULT_PLAN, "energy": BY_ENERGY, "dear": DEAR}
    entry = await (await make_home()).add(plans=plans, batteries={BATTERY_ID: BATTERY})
    said = texts(language)["entity"]
    registered: tuple[set[tuple[str, str, bool]], ...] = (set(), set(), set())
    for one in er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id):
        name = said[one.domain][one.translation_key]["name"]
        kind = (one.config_subentry_id is not None) + (one.config_subentry_id == BATTERY_ID)
        registered[kind].add((one.domain, name, one.disabled))
    names = {(platform, entity["name"]) for platform, keys in said.items() for entity in keys.values()}
    documented = tuple(
        {
            (platform, name, row[1].endswith(DISABLED[language]))
            for row in table
            for platform, _, cell in [row[0].removeprefix("`").partition("` ")]
            for name in documents.names_in(cell, {name for of, name in names if of == platform})
        }
        for table in documents.tables(documents.section("Sensors", language))
        # The other tables describe attributes and codes.
        if re.match(r"`\w+` ", table[0][0])
    )
    assert documented == registered


@both_languages
def test_every_attribute_level_and_problem_is_in_the_table_of_entities(language: str) -> None:
    said = texts(language)["entity"]
    attributes = {
        name for keys in said.values() for entity in keys.values() for name in entity.get("state_attributes", {})
    }
    codes = set(documents.codes(documents.section("Sensors", language)))
    assert codes == attributes | set(Level) | set(Problem) | set(PlanStatus) | set(Action) | said.keys()


@both_languages
def test_every_reason_is_in_the_troubleshooting_table(language: str) -> None:
    codes = documents.codes(documents.section("Troubleshooting", language))
    assert {code for code in codes if re.fullmatch(r"[a-z]+(_[a-z]+)+", code)} == set(NoWindowReason)


@both_languages
def test_every_field_of_the_options_is_in_their_table(language: str) -> None:
    steps = texts(language)["options"]["step"]
    fields = {label for name in ("edit_row", "add_row", "billing", "cheap", "unit") for label in labels(steps[name])}
    section = documents.section("Your price", language)
    [table] = documents.tables(section)
    assert sorted(named_in(table, fields)) == sorted(fields)
    assert bold(section) - {CONFIGURE[language]} == set(steps["init"]["menu_options"].values())


@both_languages
def test_the_rates_that_are_filled_in_are_those_of_the_code(language: str) -> None:
    said = texts(language)
    labels_of = {
        key: label
        for one in said["options"]["step"]["edit_row"]["sections"].values()
        for key, label in one["data"].items()
    }
    filled_in: dict[str, list[str]] = {}
    for package, lists in NETWORK_RATES.items():
        rates = [astuple(entry.rate) for entry in lists]
        filled_in[said["selector"]["package"]["options"][package]] = [_figure(one) for one in rates]
    for part, entries in FEE_RATES.items():
        figures = [(entry.rate, entry.rate_of_other_source) for entry in entries]
        filled_in[labels_of[part]] = [_figure(one) for one in figures]
    [table] = documents.tables(documents.section("Rates that are filled in", language))
    figure = r"\b\d+\.\d+\b" if language == "en" else r"\b\d+,\d+\b"
    told = {row[0]: " ".join(re.findall(figure, row[1])).replace(",", ".") for row in table}
    assert told == {name: " ".join(figures) for name, figures in filled_in.items()}


def _figure(rates: Iterable[float | None]) -> str:
    """Write rates as the table does: one that is the same all day is there once, and a missing one not at all."""
    return " ".join(f"{rate:g}" for rate in dict.fromkeys(rates) if rate is not None)


@both_languages
def test_every_setting_of_a_plan_is_in_their_table(language: str) -> None:
    said = texts(language)["config_subentries"]["plan"]
    fields = set(labels(said["step"]["plan"]))
    begin, settings = (documents.section(title, language) for title in ("Plans", "The settings of plans"))
    [table] = documents.tables(settings)
    assert sorted(named_in(table, fields)) == sorted(fields)
    assert bold(begin) == {said["initiate_flow"]["user"]}
    choices = texts(language)["selector"]
    offered = [word for field in ("horizon", "plan_kind", "starts") for word in choices[field]["options"].values()]
    assert emphasized(begin + settings) == {*offered, plan_name(language)}


@both_languages
def test_every_setting_action_reason_and_note_of_a_battery_is_in_its_tables(language: str) -> None:
    said = texts(language)["config_subentries"]["battery"]
    fields = set(labels(said["step"]["user"]))
    [settings] = documents.tables(documents.section("The settings of a battery", language))
    assert sorted(named_in(settings, fields)) == sorted(fields)
    assert bold(documents.section("A home battery", language)) == {said["initiate_flow"]["user"]}
    [actions] = documents.tables(documents.section("What the battery should do", language))
    assert [code for row in actions for code in documents.codes(row[0])] == list(Action)
    reasons, notes = documents.tables(documents.section("If something is missing", language))
    assert {code for row in reasons for code in documents.codes(row[0])} == set(NoPlanReason)
    assert {code for row in notes for code in documents.codes(row[0])} == set(PlanNote)
    assert set(METERS) <= {code for row in reasons for code in documents.codes(row[1])}


def plan_name(language: str) -> str:
    return str(first_plan(language)["title"])


@both_languages
def test_every_trigger_and_condition_is_in_its_table_and_every_field_in_the_text(language: str) -> None:
    section = documents.section("Automations", language)
    for kind, table in zip(("triggers", "conditions"), documents.tables(section), strict=True):
        offered = texts(language)[kind]
        codes = [code for row in table for code in documents.codes(row[0])]
        assert sorted(codes) == sorted(f"{DOMAIN}.{name}" for name in offered)
        assert {field for one in offered.values() for field in one.get("fields", {})} <= set(documents.codes(section))


@both_languages
def test_sensors_that_the_text_points_to_have_their_names(language: str) -> None:
    said = texts(language)["entity"]["binary_sensor"]
    conditions = {said[key]["name"] for key in ("cheap_hour", "negative_price", "tomorrow_known")}
    assert conditions <= bold(documents.section("Automations", language))
    assert said["data_problem"]["name"] in bold(documents.section("Troubleshooting", language))


BILLS: Final = Bills(1.0, 1.0, 1.0, 1.0, 1.0)
COMPARED: Final = Answer(
    question=Question.from_mapping({"energy": "sensor.bought"}),
    year=PastYear(
        today=date(2026, 11, 29),
        start=0,
        end=2 * HOUR_S,
        bought={0: 1.0},
        sold={0: 1.0},
        market={},
        tariff=Tariff(),
        billed_s=HOUR_S,
        selling=None,
    ),
    present=Comparison({"2025-11": BILLS}),
    packages={Package.VORK_1: BILLS},
    sold_kwh=1.0,
    earned=1.0,
    battery=BatteryWorth(ideal=1.0, share=0.98, cycles=1.0, hours=1, price=1.0),
)
"""An answer that has all fields."""


async def answered(hass: HomeAssistant, action: str, **data: Any) -> set[str]:  # noqa: ANN401  an action's own
    """Return the names of all fields of an action's answer."""
    answer = await hass.services.async_call(DOMAIN, action, data, blocking=True, return_response=True)
    return set(keys_of(answer))


def keys_of(answer: object) -> Iterator[str]:
    match answer:
        case dict():
            for key, value in answer.items():
                yield key
                yield from keys_of(value)
        case list():
            for one in answer:
                yield from keys_of(one)


@both_languages
async def test_every_action_is_in_the_table_with_its_fields_and_its_answer(
    hass: HomeAssistant, make_home: MakeHome, language: str
) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: BY_ENERGY})
    section = documents.section("Actions", language)
    [table] = documents.tables(section)
    job: dict[str, Any] = {"duration": {"hours": 1}}
    found, none = [
        await answered(hass, "find_cheapest_hours", **job, price_cap=cap, horizon="expected") for cap in (500, -500)
    ]
    window = home.state("binary_sensor", "window", PLAN_ID).entity_id
    imported = {
        "statistic_id",
        *keys_of(common_import_fields(ESTONIA, {0: 0.1}, 1, {0: LeftOutHour(LeftOutReason.NO_RATE, (Part.EXCISE,))})),
    }
    answers = {
        "get_prices": await answered(hass, "get_prices") | await answered(hass, "get_prices", shape="rates"),
        "find_cheapest_hours": found | none,
        "import_prices": imported,
        "import_costs": imported | {"kwh", "cost"},
        "update_plan": await answered(hass, "update_plan", entity_id=window, horizon="expected") | found | none,
    }
    answers["compare_contracts"] = {"notes", *keys_of(compare_contracts.answer_fields(COMPARED))}
    choices: dict[str, set[str]] = {"get_prices": {*RESOLUTIONS, *PriceFormat, *Direction}}
    choices["update_plan"] = {*Horizon, *Starts}
    choices["find_cheapest_hours"] = {*Horizon, PlanKind.CHEAPEST, PlanKind.MOST_EXPENSIVE, *Preference}
    described: dict[str, Any] = yaml.safe_load((INTEGRATION / "services.yaml").read_text())
    for action, fields, answer in ([set(documents.codes(cell)) for cell in row] for row in table):
        name = action.pop().removeprefix(f"{DOMAIN}.")
        assert fields == described.pop(name)["fields"].keys() - {"config_entry"} | choices.get(name, set())
        # A row that names another action means the fields of that action's answer.
        whole = answer.union(*(answers[other] for other in answer & answers.keys())) - answers.keys()
        # The answer to `get_prices` depends on its format.
        assert whole - set(PriceFormat) == answers[name]
    assert described == {}
    assert "config_entry" in documents.codes(section)


@both_languages
def test_every_reason_for_leaving_out_an_hour_is_in_the_guide(language: str) -> None:
    section = documents.section("Past prices and costs", language)
    assert set(LeftOutReason) <= set(documents.codes(section))


@both_languages
def test_every_option_of_the_card_is_in_its_table_and_in_the_example(language: str) -> None:
    types = (INTEGRATION / "frontend/tunnihind-card.types.d.ts").read_text()
    fields = re.findall(r"(\w+)\?:", types.partition("interface Config {")[2].partition("}")[0])
    section = documents.section("The card", language)
    [table] = documents.tables(section)
    assert sorted(code for row in table for code in documents.codes(row[0])) == sorted(fields)
    [example] = [yaml.safe_load(block) for block in documents.blocks("yaml", language) if "tunnihind-card" in block]
    assert example.keys() - {"type"} == set(fields) - {"entry_id", "entity"}
    [ranges] = re.findall(r"type Range = ([^;]+);", types)
    [row] = [row for row in table if row[0] == "`range`"]
    assert {f'"{code}"' for code in documents.codes(row[1])} == set(ranges.split(" | "))


@both_languages
def test_every_name_in_the_integrations_domain_is_one_of_its_own(language: str) -> None:
    said = texts(language)
    own = {f"{DOMAIN}.{name}" for kind in ("triggers", "conditions", "services") for name in said[kind]}
    # The server's database is a file of this name, not a name of Home Assistant's.
    named = re.findall(rf"(?<![\w/.-]){DOMAIN}\.(?!db\b)[a-z_]+\b", re.sub(r"\]\(\S+\)", "", documents.text(language)))
    assert set(named) == own


@both_languages
def test_messages_that_are_quoted_are_those_of_the_form(language: str) -> None:
    messages = texts(language)["config"]["error"].values()
    quoted = re.findall('["„]([^"“]*…[^"“]*)["“]', documents.section("Troubleshooting", language))
    assert quoted
    for quote in quoted:
        pattern = ".*".join(map(re.escape, quote.split("…")))
        assert any(re.search(pattern, message) for message in messages), quote


def buttons(language: str) -> set[str]:
    """Return the texts that Home Assistant, the integration and HACS show."""
    translations = hass_frontend.where() / "static/translations"
    files = [*translations.rglob(f"{language}-*.json"), INTEGRATION / f"translations/{language}.json"]
    return {text for file in files for _, text in leaves(json.loads(file.read_text()))} | OF_HACS


@both_languages
def test_buttons_in_the_guide_have_home_assistants_names(language: str) -> None:
    instructions = documents.text(language).partition("\n## ")[2]
    assert {step for path in bold(documents.prose(instructions)) for step in path.split(" → ")} <= buttons(language)


def test_buttons_in_the_issue_forms_have_home_assistants_names() -> None:
    forms = "\n".join(path.read_text() for path in (documents.PROJECT / ".github/ISSUE_TEMPLATE").iterdir())
    # In each text of a form, English comes first.
    english, estonian = zip(*batched(re.findall(r"\*\*([^*]+)\*\*", forms), 2, strict=True), strict=True)
    for language, paths in (("en", english), ("et", estonian)):
        assert {step for path in paths for step in path.split(" → ")} <= buttons(language)


async def test_the_estonian_guide_has_the_id_that_an_estonian_home_assistant_makes(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    hass.config.language = "et"
    home = await make_home()
    await home.add(plans={plan_name("et"): first_plan("et")["data"]})
    [told] = [
        code for code in documents.codes(documents.section("Automations", "et")) if code.startswith("binary_sensor.")
    ]
    assert home.state("binary_sensor", "window", plan_name("et")).entity_id == told


def test_every_section_that_the_quality_scale_rests_on_is_there() -> None:
    rules: dict[str, Any] = yaml.safe_load((INTEGRATION / "quality_scale.yaml").read_text())["rules"]
    for name in (name for name in rules if name.startswith("docs-")):
        _, *places = re.split(r"([\w/-]+)\.md", rules[name]["comment"])
        for document, comment in batched(places, 2, strict=True):
            named = re.findall('"([^"]+)"', comment)
            assert named
            assert {title for _, title in documents.headings(documents.guide(document))}.issuperset(named)
        assert places


@both_languages
def test_every_blueprint_has_a_button_that_imports_it_from_its_own_address(language: str) -> None:
    imports = [target for name, target in my_buttons(documents.section("Blueprints", language))]
    blueprints = (INTEGRATION.parents[1] / "blueprints").rglob("*.yaml")
    addresses = {re.search(r"source_url: (\S+)", path.read_text()) for path in blueprints}
    wanted = [{"blueprint_url": address[1]} for address in addresses if address]
    assert sorted(map(str, imports)) == sorted(map(str, wanted))
    assert len(imports) == len(addresses) > 0


def my_buttons(document: str) -> list[tuple[str, dict[str, str]]]:
    """Return the buttons that open the reader's own Home Assistant: the page and its parameters."""
    buttons = re.findall(r"\[!\[[^]]+\]\((\S+)\)\]\((https://my\.home-assistant\.io/\S+)\)", document)
    # No such address is outside a button, or in a button that isn't well-formed.
    assert document.count("my.home-assistant.io/") == 2 * len(buttons)
    found = []
    for badge, link in buttons:
        address = urlsplit(link)
        name = address.path.removeprefix("/redirect/").removesuffix("/")
        assert (address.path, badge) == (f"/redirect/{name}/", f"https://my.home-assistant.io/badges/{name}.svg")
        parameters = parse_qsl(address.query, strict_parsing=True)
        assert len(dict(parameters)) == len(parameters)
        found.append((name, dict(parameters)))
    return found


@cache
def parameters_of(button: str) -> dict[str, str]:
    """Return a button's parameters with their kinds. A kind with a question mark may be missing.

    The frontend of Home Assistant has this table.
    """
    scripts = (hass_frontend.where() / "frontend_latest").glob("*.js")
    texts = [text for text in (path.read_text() for path in scripts) if "config_flow_start:{" in text]
    found = {known[1] for text in texts if (known := re.search(rf"\b{button}:{{[^{{}}]*params:{{([^}}]*)}}", text))}
    [table] = found
    return dict(re.findall(r'(\w+):"([^"]+)"', table))


@pytest.mark.parametrize("path", DOCUMENTS_WITH_BUTTONS, ids=lambda path: path.name)
def test_every_button_is_one_that_home_assistant_knows_with_its_parameters(path: Path) -> None:
    for name, given in my_buttons(path.read_text()):
        known = parameters_of(name)
        assert given.keys() <= known.keys(), name
        assert given.keys() >= {key for key, kind in known.items() if not kind.endswith("?")}, name
        assert all(given[key].startswith("https://") for key, kind in known.items() if kind == "url"), name


@pytest.mark.parametrize(
    ("document", "buttons"),
    [
        ("README.md", [APP_BUTTON, HACS_BUTTON, FORM_BUTTON]),
        ("README.et.md", [APP_BUTTON, HACS_BUTTON, FORM_BUTTON]),
        ("docs/server.md", [APP_BUTTON]),
        ("packaging/home-assistant-app/DOCS.md", [APP_BUTTON, HACS_BUTTON]),
    ],
)
def test_buttons_lead_to_the_app_to_hacs_and_to_the_form(
    document: str, buttons: list[tuple[str, dict[str, str]]]
) -> None:
    assert my_buttons((documents.PROJECT / document).read_text()) == buttons


def test_the_repository_of_the_buttons_is_that_of_the_manifest_and_of_the_app() -> None:
    manifest = json.loads((INTEGRATION / "manifest.json").read_text())
    app = yaml.safe_load((documents.PROJECT / "repository.yaml").read_text())
    assert {REPOSITORY} == {manifest["documentation"], app["url"]}
