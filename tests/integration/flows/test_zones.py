"""Adding a server that has several zones: one entry for each."""

from typing import Any

import pytest
from homeassistant.config_entries import SOURCE_IGNORE, SOURCE_USER, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.selector import SelectSelector
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.core.market import MARKET_OF_CODE
from custom_components.tunnihind.prices.zones import id_suffix
from tests.support.household.flows import (
    FORECAST,
    NOBODY,
    Imitate,
    announce,
    entry_of,
    placeholders_of,
    zones_of,
)
from tests.support.household.translations import fields_of

pytestmark = pytest.mark.usefixtures("setup_entry")


async def type_address(hass: HomeAssistant, url: str, **answers: str) -> ConfigFlowResult:
    flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    return await submit(hass, flow, {"url": url, **answers})


async def submit(hass: HomeAssistant, form: ConfigFlowResult, typed: dict[str, Any]) -> ConfigFlowResult:
    return await hass.config_entries.flow.async_configure(form["flow_id"], typed)


def offered(form: ConfigFlowResult) -> tuple[list[str], str]:
    """Return the zones that a form offers, by name, and the preselected one."""
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "zone")
    assert form["data_schema"] is not None
    [(marker, selector)] = form["data_schema"].schema.items()
    assert isinstance(selector, SelectSelector)
    names = {option["value"]: option["label"] for option in selector.config["options"]}  # type: ignore[index]
    return [*names.values()], names[marker.default()]


def lives_in(zone: str, address: str) -> MockConfigEntry:
    """Return an entry of a zone of the imitated server."""
    return entry_of(address, f"other{id_suffix(MARKET_OF_CODE[zone])}", zone=zone)


async def test_two_zones_of_one_server_are_added_one_after_the_other(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(zones=zones_of("EE", "LV", "LT", "FI"))
    form = await type_address(hass, address)
    assert offered(form) == (["Estonia", "Latvia", "Lithuania", "Finland"], "Estonia")
    first = await submit(hass, form, {"zone": "ee"})
    assert (first["title"], first["data"]) == ("Tunnihind", {"url": address, "instance_id": "other"})
    form = await type_address(hass, address)
    assert offered(form) == (["Latvia", "Lithuania", "Finland"], "Latvia")
    second = await submit(hass, form, {"zone": "fi"})
    assert second["title"] == "Tunnihind Finland"
    assert second["data"] == {"url": f"{address}/fi", "instance_id": "other-fi", "zone": "FI"}
    assert second["result"].unique_id == "other-fi"
    plans = [plan.title for entry in (first, second) for plan in entry["result"].subentries.values()]
    assert plans == ["Cheapest 3 hours", "Cheapest 3 hours, Finland"]


async def test_home_assistants_country_is_chosen_at_first(hass: HomeAssistant, imitate: Imitate) -> None:
    hass.config.country = "LT"
    form = await type_address(hass, await imitate(zones=zones_of("EE", "LV", "LT", "FI")))
    assert offered(form)[1] == "Lithuania"


@pytest.mark.parametrize(("language", "countries"), [("et", ["Eesti", "Läti"]), ("ru", ["Эстония", "Латвия"])])
async def test_the_countries_have_their_names_in_the_language_of_the_home(
    hass: HomeAssistant, imitate: Imitate, language: str, countries: list[str]
) -> None:
    hass.config.language = language
    form = await type_address(hass, await imitate(zones=zones_of("EE", "LV")))
    assert offered(form) == (countries, countries[0])
    assert (await submit(hass, form, {"zone": "lv"}))["title"] == f"Tunnihind {countries[1]}"


@pytest.mark.parametrize("pasted", ["", "/accuracy"])
async def test_an_address_that_names_a_zone_adds_it_without_a_question(
    hass: HomeAssistant, imitate: Imitate, pasted: str
) -> None:
    address = await imitate(zones=zones_of("EE", "LV"))
    result = await type_address(hass, f"{address}/lv{pasted}")
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {"url": f"{address}/lv", "instance_id": "other-lv", "zone": "LV"}


async def test_a_server_behind_a_path_has_its_zones_below_it(hass: HomeAssistant, imitate: Imitate) -> None:
    zones = zones_of("FI", "EE", public_url="https://example.com/power")
    address = await imitate(prefix="/prices", zones=zones)
    result = await submit(hass, await type_address(hass, address), {"zone": "ee"})
    assert result["data"] == {"url": f"{address}/ee", "instance_id": "other"}


async def test_a_server_without_zones_is_added_for_the_zone_of_its_answers(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    result = await type_address(hass, await imitate(about=None, forecast=FORECAST.replace("EE", "LT")))
    assert (result["data"]["zone"], result["result"].unique_id) == ("LT", "127.0.0.1-lt")


async def test_prices_of_an_unknown_zone_are_refused_in_plain_words(hass: HomeAssistant, imitate: Imitate) -> None:
    form = await type_address(hass, await imitate(about=None, forecast=FORECAST.replace("EE", "SE3")))
    assert form["errors"] == {"url": "unknown_zone"}
    assert placeholders_of(form)["reason"] == "SE3"


async def test_a_zone_that_does_not_answer_or_whose_path_leads_to_another_is_not_added(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    zones = zones_of("EE", "LV")
    silent, astray = {"": zones[""]}, {"": zones[""], "/lv": zones[""]}
    for answers, error in ((silent, "not_tunnihind"), (astray, "other_zone")):
        form = await submit(hass, await type_address(hass, await imitate(zones=answers)), {"zone": "lv"})
        assert (form["step_id"], form["errors"]) == ("zone", {"zone": error})
    assert (placeholders_of(form)["zone"], placeholders_of(form)["reason"]) == ("Latvia", "Estonia")


@pytest.mark.parametrize(("country", "is_asked"), [(None, True), ("EE", True), ("SE", True), ("FI", False)])
async def test_the_estonian_package_is_asked_for_only_where_it_may_fit(
    hass: HomeAssistant, imitate: Imitate, country: str | None, is_asked: bool
) -> None:
    hass.config.country = country
    typed = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    found = await announce(hass, await imitate(zones=zones_of("EE", "FI")))
    for form in (typed, found):
        assert form["data_schema"] is not None
        assert ("package" in fields_of(form["data_schema"].schema)) is is_asked


async def test_another_zone_is_added_without_the_package_that_was_chosen(hass: HomeAssistant, imitate: Imitate) -> None:
    form = await type_address(hass, await imitate(zones=zones_of("EE", "FI")), package="vork_4")
    result = await submit(hass, form, {"zone": "fi"})
    assert (result["type"], result["options"]) == (FlowResultType.CREATE_ENTRY, {"billed_by": "hour"})


async def test_a_server_that_is_found_offers_its_zones_once_it_is_confirmed(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    address = await imitate(zones=zones_of("EE", "LV"))
    form = await announce(hass, address)
    assert form["step_id"] == "zeroconf_confirm"
    form = await submit(hass, form, {"billed_by": "quarter"})
    result = await submit(hass, form, {"zone": "lv"})
    assert result["data"]["url"] == f"{address}/lv"
    assert result["options"] == {"billed_by": "quarter"}


async def test_a_rehearsal_of_several_zones_is_explained_after_the_zone_is_chosen(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    rehearsed = {
        path: (about.replace("{", '{"mode": "rehearsal", ', 1), prices)
        for path, (about, prices) in zones_of("EE", "LV").items()
    }
    form = await announce(hass, await imitate(zones=rehearsed))
    for zone, title in (("ee", "Tunnihind rehearsal"), ("lv", "Tunnihind Latvia rehearsal")):
        explained = await submit(hass, form, {"zone": zone})
        assert explained["step_id"] == "rehearsal"
        result = await submit(hass, explained, {})
        assert result["title"] == title
        form = await type_address(hass, result["data"]["url"].removesuffix("/lv"))
    assert (form["type"], form["reason"]) == (FlowResultType.ABORT, "already_configured")


async def test_a_server_that_moved_is_followed_by_the_entries_of_all_its_zones(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    entries = [lives_in("EE", NOBODY), lives_in("LV", f"{NOBODY}/lv")]
    for entry in entries:
        entry.add_to_hass(hass)
        await hass.config_entries.async_setup(entry.entry_id)
    address = await imitate(zones=zones_of("EE", "LV"))
    assert (await announce(hass, address))["reason"] == "already_configured"
    assert [entry.data["url"] for entry in entries] == [address, f"{address}/lv"]
    assert [entry.data.get("zone") for entry in entries] == [None, "LV"]


async def test_zones_without_an_entry_are_offered_by_a_discovery_and_others_followed(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    entry = lives_in("EE", NOBODY)
    entry.add_to_hass(hass)
    address = await imitate(zones=zones_of("EE", "LV", "FI"))
    form = await submit(hass, await announce(hass, address), {})
    assert offered(form)[0] == ["Latvia", "Finland"]
    assert entry.data["url"] == address


async def test_ignoring_a_servers_other_zones_takes_one_choice(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(zones=zones_of("EE", "LV", "FI"))
    lives_in("EE", address).add_to_hass(hass)
    form = await announce(hass, address)
    [flow] = hass.config_entries.flow.async_progress()
    ignored = {"unique_id": flow["context"]["unique_id"], "title": "Tunnihind"}
    await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_IGNORE}, data=ignored)
    assert form["step_id"] == "zeroconf_confirm"
    assert (await announce(hass, address))["reason"] == "already_configured"
    assert {entry.unique_id for entry in hass.config_entries.async_entries(DOMAIN)} == {"other", "other-lv"}


async def test_an_entry_keeps_its_zone_when_its_address_changes(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(zones=zones_of("EE", "LV"))
    entry = lives_in("LV", f"{NOBODY}/lv")
    entry.add_to_hass(hass)
    form = await entry.start_reconfigure_flow(hass)
    form = await submit(hass, form, {"url": address})
    assert (form["step_id"], form["errors"]) == ("reconfigure", {"url": "other_zone"})
    assert (placeholders_of(form)["zone"], placeholders_of(form)["reason"]) == ("Latvia", "Estonia")
    result = await submit(hass, form, {"url": f"{address}/lv"})
    assert result["reason"] == "reconfigure_successful"
    assert entry.data == {"url": f"{address}/lv", "instance_id": "other-lv", "zone": "LV"}
