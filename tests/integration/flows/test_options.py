"""What the household pays, and which hours it calls cheap."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.prices.tariff import tariff_from
from tests.support.flows import NOBODY, Imitate, entry_of, placeholders_of, shown

NO_FEES = {"margin": 0.0, "network_day": 0.0, "network_night": 0.0, "excise": 0.0, "renewable": 0.0}
BASE = {**NO_FEES, "margin": 0.5}
NEW_YEAR = {**NO_FEES, "margin": 0.7, "valid_from": "2027-01-01"}
CONTRACT = {
    "fees_include_vat": False,
    "day_rate_starts": "07:00:00",
    "day_rate_ends": "22:00:00",
    "weekends_at_night_rate": True,
    "holidays_at_night_rate": True,
}
NETWORK = {key: value for key, value in CONTRACT.items() if key != "fees_include_vat"}
BLANK: dict[str, Any] = {"supply": {"fees_include_vat": False}, "network": NETWORK, "levies": {}}
BLANK_ROW: dict[str, Any] = {"supply": {}, "network": {}, "levies": {}}
FILLED: dict[str, Any] = {
    "supply": {"vat_percent": 24, "margin": 0.5, "fees_include_vat": True},
    "network": {**NETWORK, "network_day": 4.1, "network_night": 2.3, "day_rate_starts": "08:00:00"},
    "levies": {"excise": 0.2, "renewable": 0.8},
}


async def choose(
    hass: HomeAssistant, choice: str, options: Mapping[str, Any] | None = None, entry: MockConfigEntry | None = None
) -> ConfigFlowResult:
    """Open the options of an entry and choose one."""
    entry = entry or entry_of(NOBODY, options=options)
    if entry.entry_id not in hass.config_entries.async_entry_ids():
        entry.add_to_hass(hass)
    menu = await hass.config_entries.options.async_init(entry.entry_id)
    assert menu["type"] is FlowResultType.MENU
    return await hass.config_entries.options.async_configure(menu["flow_id"], {"next_step_id": choice})


async def submit(hass: HomeAssistant, form: ConfigFlowResult, user_input: Mapping[str, Any]) -> ConfigFlowResult:
    return await hass.config_entries.options.async_configure(form["flow_id"], dict(user_input))


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ({}, ["prices", "add_row", "billing", "cheap"]),
        ({"rows": [BASE]}, ["prices", "add_row", "remove_row", "billing", "cheap"]),
    ],
)
async def test_the_menu_offers_to_remove_prices_only_where_there_are_some(
    hass: HomeAssistant, options: dict[str, Any], choices: list[str]
) -> None:
    entry = entry_of(NOBODY, options=options)
    entry.add_to_hass(hass)
    menu = await hass.config_entries.options.async_init(entry.entry_id)
    assert menu["menu_options"] == choices


async def test_with_nothing_configured_the_form_starts_at_the_rate_of_the_specification(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices")
    assert form["step_id"] == "edit_row"
    assert shown(form) == {"supply": {"vat_percent": 22.0, "fees_include_vat": False}, "network": NETWORK, "levies": {}}
    assert placeholders_of(form) == {"server_vat": "22", "legal_vat": "24"}


async def test_the_vat_rate_starts_at_that_of_the_running_server(hass: HomeAssistant, imitate: Imitate) -> None:
    entry = entry_of(await imitate(), "other")
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    form = await choose(hass, "prices", entry=entry)
    assert shown(form)["supply"]["vat_percent"] == 24
    assert placeholders_of(form)["server_vat"] == "24"


async def test_saving_the_form_as_it_stands_adds_nothing_to_the_price_of_the_server(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices")
    result = await submit(hass, form, shown(form))
    assert result["data"] == {**CONTRACT, "rows": [NO_FEES]}
    assert tariff_from(result["data"], server_vat_rate=0.22).price(100, 1_765_792_800) == 0.124


async def test_what_is_typed_is_kept_in_cents_and_percent(hass: HomeAssistant) -> None:
    result = await submit(hass, await choose(hass, "prices"), FILLED)
    assert result["data"] == {
        **CONTRACT,
        "fees_include_vat": True,
        "day_rate_starts": "08:00:00",
        "rows": [
            {
                "vat_percent": 24,
                "margin": 0.5,
                "network_day": 4.1,
                "network_night": 2.3,
                "excise": 0.2,
                "renewable": 0.8,
            }
        ],
    }


async def test_what_was_saved_is_shown_again(hass: HomeAssistant) -> None:
    entry = entry_of(NOBODY)
    await submit(hass, await choose(hass, "prices", entry=entry), {**FILLED, "valid_from": "2026-01-01"})
    assert shown(await choose(hass, "prices", entry=entry)) == {**FILLED, "valid_from": "2026-01-01"}


async def test_a_rate_other_than_the_server_s_stays_when_the_server_s_changes(hass: HomeAssistant) -> None:
    typed = {**BLANK, "supply": {**BLANK["supply"], "vat_percent": 9}}
    result = await submit(hass, await choose(hass, "prices"), typed)
    assert result["data"]["rows"] == [{**NO_FEES, "vat_percent": 9}]


@pytest.mark.parametrize("supply", [BLANK["supply"], {**BLANK["supply"], "vat_percent": 22}])
async def test_a_blank_rate_or_the_server_s_own_follows_the_server(hass: HomeAssistant, supply: dict[str, Any]) -> None:
    result = await submit(hass, await choose(hass, "prices"), {**BLANK, "supply": supply})
    assert result["data"]["rows"] == [NO_FEES]


async def test_a_day_rate_without_an_hour_is_refused_and_what_was_typed_stays(hass: HomeAssistant) -> None:
    typed = {**FILLED, "network": {**FILLED["network"], "day_rate_starts": "22:00", "day_rate_ends": "22:00:00"}}
    form = await submit(hass, await choose(hass, "prices"), typed)
    assert (form["step_id"], form["errors"]) == ("edit_row", {"network": "no_day_rate"})
    assert shown(form) == typed
    assert (await submit(hass, form, FILLED))["type"] is FlowResultType.CREATE_ENTRY


async def test_a_field_that_was_cleared_stays_clear_after_an_error(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices", {"rows": [BASE]})
    typed = {**BLANK, "network": {**NETWORK, "day_rate_ends": "07:00:00"}}
    assert shown(await submit(hass, form, typed)) == typed


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("supply", "vat_percent", -1),
        ("supply", "vat_percent", 100),
        ("network", "network_day", -0.1),
        ("levies", "excise", 101),
    ],
)
async def test_figures_that_nobody_pays_are_refused_where_they_are_typed(
    hass: HomeAssistant, section: str, field: str, value: float
) -> None:
    form = await choose(hass, "prices")
    with pytest.raises(InvalidData) as error:
        await submit(hass, form, {**FILLED, section: {**FILLED[section], field: value}})
    assert error.value.path == [section, field]


async def test_a_supplier_may_give_a_discount(hass: HomeAssistant) -> None:
    supply = {**BLANK["supply"], "margin": -0.3}
    result = await submit(hass, await choose(hass, "prices"), {**BLANK, "supply": supply})
    assert result["data"]["rows"] == [{**NO_FEES, "margin": -0.3}]


async def test_a_new_row_starts_from_the_newest_figures_without_their_date(hass: HomeAssistant) -> None:
    form = await choose(hass, "add_row", {"rows": [BASE, {**NEW_YEAR, "vat_percent": 9}]})
    assert form["step_id"] == "add_row"
    fees = {"network": {"network_day": 0.0, "network_night": 0.0}, "levies": {"excise": 0.0, "renewable": 0.0}}
    assert shown(form) == {"supply": {"vat_percent": 9, "margin": 0.7}, **fees}


async def test_the_first_new_row_starts_blank(hass: HomeAssistant) -> None:
    assert shown(await choose(hass, "add_row")) == {**BLANK_ROW, "supply": {"vat_percent": 22}}


async def test_a_new_row_takes_its_place_among_the_others(hass: HomeAssistant) -> None:
    options = {"rows": [BASE, NEW_YEAR], "cheap_hours": 4}
    typed = {**BLANK_ROW, "valid_from": "2026-06-01"}
    result = await submit(hass, await choose(hass, "add_row", options), typed)
    assert result["data"] == {"rows": [BASE, {**NO_FEES, "valid_from": "2026-06-01"}, NEW_YEAR], "cheap_hours": 4}


async def test_a_second_row_of_one_date_is_refused_and_what_was_typed_stays(hass: HomeAssistant) -> None:
    typed = {**BLANK_ROW, "supply": {"margin": 0.9}, "valid_from": "2027-01-01"}
    form = await submit(hass, await choose(hass, "add_row", {"rows": [BASE, NEW_YEAR]}), typed)
    assert (form["step_id"], form["errors"]) == ("add_row", {"valid_from": "date_taken"})
    assert shown(form) == typed


async def test_a_new_row_needs_a_date(hass: HomeAssistant) -> None:
    form = await choose(hass, "add_row")
    with pytest.raises(InvalidData) as error:
        await submit(hass, form, BLANK_ROW)
    assert "valid_from" in error.value.schema_errors


async def test_with_several_rows_the_one_to_change_is_chosen_first(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices", {"rows": [BASE, NEW_YEAR]})
    assert form["step_id"] == "pick_row"
    form = await submit(hass, form, {"row": "beginning"})
    assert (form["step_id"], shown(form)["supply"]["margin"]) == ("edit_row", 0.5)
    result = await submit(hass, form, BLANK)
    assert result["data"]["rows"] == [NO_FEES, NEW_YEAR]


async def test_the_newest_row_is_the_one_that_is_suggested(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices", {"rows": [NEW_YEAR, BASE]})
    assert form["data_schema"] is not None
    [marker] = form["data_schema"].schema
    assert marker.default() == "2027-01-01"


async def test_a_row_may_be_given_another_date(hass: HomeAssistant) -> None:
    form = await submit(hass, await choose(hass, "prices", {"rows": [BASE, NEW_YEAR]}), {"row": "2027-01-01"})
    result = await submit(hass, form, {**BLANK, "valid_from": "2027-02-01"})
    assert result["data"]["rows"] == [BASE, {**NO_FEES, "valid_from": "2027-02-01"}]


async def test_a_row_may_not_be_given_the_date_of_another_one(hass: HomeAssistant) -> None:
    form = await submit(hass, await choose(hass, "prices", {"rows": [BASE, NEW_YEAR]}), {"row": "2027-01-01"})
    form = await submit(hass, form, BLANK)
    assert (form["step_id"], form["errors"]) == ("edit_row", {"valid_from": "date_taken"})


async def test_the_row_that_is_chosen_is_removed(hass: HomeAssistant) -> None:
    form = await choose(hass, "remove_row", {"rows": [BASE, NEW_YEAR], "cheap_hours": 4})
    assert form["step_id"] == "remove_row"
    result = await submit(hass, form, {"row": "beginning"})
    assert result["data"] == {"rows": [NEW_YEAR], "cheap_hours": 4}


async def test_no_row_is_removed_without_a_choice(hass: HomeAssistant) -> None:
    form = await choose(hass, "remove_row", {"rows": [BASE]})
    with pytest.raises(InvalidData) as error:
        await submit(hass, form, {})
    assert "row" in error.value.schema_errors


async def test_the_number_of_cheap_hours_is_kept_as_a_whole_number(hass: HomeAssistant) -> None:
    form = await choose(hass, "cheap", {"rows": [BASE]})
    assert (form["step_id"], shown(form)) == ("cheap", {"cheap_hours": 6})
    result = await submit(hass, form, {"cheap_hours": 4.0})
    assert result["data"] == {"rows": [BASE], "cheap_hours": 4}
    assert isinstance(result["data"]["cheap_hours"], int)


@pytest.mark.parametrize("hours", [0, 25])
async def test_a_day_has_from_one_to_twenty_four_cheap_hours(hass: HomeAssistant, hours: int) -> None:
    form = await choose(hass, "cheap")
    with pytest.raises(InvalidData):
        await submit(hass, form, {"cheap_hours": hours})


async def test_how_one_is_billed_is_kept_beside_the_other_options(hass: HomeAssistant) -> None:
    form = await choose(hass, "billing", {"rows": [BASE], "billed_by": "quarter"})
    assert (form["step_id"], shown(form)) == ("billing", {"billed_by": "quarter"})
    result = await submit(hass, form, {"billed_by": "quarter", "levels_by": "quarter"})
    assert result["data"] == {"rows": [BASE], "billed_by": "quarter", "levels_by": "quarter"}


async def test_without_a_choice_one_is_billed_by_the_hour(hass: HomeAssistant) -> None:
    result = await submit(hass, await choose(hass, "billing"), {})
    assert result["data"] == {"billed_by": "hour", "levels_by": "hour"}
