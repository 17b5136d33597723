"""The household's fees, and its cheap hours."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.core.rates import Package, Part
from custom_components.tunnihind.forms.tariff_form import RowForm, shared_settings_of
from custom_components.tunnihind.prices.tariff_options import tariff_from
from tests.support.household.flows import NOBODY, Imitate, about_of, entry_of, placeholders_of, shown
from tests.support.household.home import instant
from tests.support.household.translations import fields_of

NO_FEES = {
    "margin": 0.0,
    "balancing": 0.0,
    "network_day": 0.0,
    "network_night": 0.0,
    "renewable": 0.0,
    "security": 0.0,
    "excise": 0.0,
}
# The table's figures in October 2026.
TABLE = {"balancing": 0.373, "renewable": 0.84, "security": 0.758, "excise": 0.307}
FOLLOWS = ["balancing", "renewable", "security", "excise"]
OCTOBER = "2026-10-14T10:20:00+03:00"
BASE = {**NO_FEES, "margin": 0.5}
NEW_YEAR = {**NO_FEES, "margin": 0.7, "valid_from": "2027-01-01"}
CONTRACT = {"fees_include_vat": False}
NETWORK = {
    "day_rate_months": [str(month) for month in range(1, 13)],
    "day_rate_weekdays": ["mon", "tue", "wed", "thu", "fri"],
    "day_rate_starts": "07:00:00",
    "day_rate_ends": "22:00:00",
    "holidays_at_night_rate": True,
    "day_rate_in_winter_time": False,
}
SUPPLY = {"negative_price_is_zero": False, **CONTRACT}
BLANK: dict[str, Any] = {"supply": SUPPLY, "network": NETWORK, "levies": {}}
BLANK_ROW: dict[str, Any] = {"supply": {}, "network": {}, "levies": {}}
FILLED: dict[str, Any] = {
    "supply": {**SUPPLY, "vat_percent": 22, "margin": 0.5, "fees_include_vat": True},
    "network": {**NETWORK, "network_day": 4.1, "network_night": 2.3, "day_rate_starts": "08:00:00"},
    "levies": {"excise": 0.2, "renewable": 0.8},
}


async def choose(
    hass: HomeAssistant,
    choice: str,
    options: Mapping[str, Any] | None = None,
    answers: Iterable[Mapping[str, Any]] = (),
    entry: MockConfigEntry | None = None,
) -> ConfigFlowResult:
    """Open the options of an entry, choose one, and submit its forms."""
    entry = entry or entry_of(NOBODY, options=options)
    if entry.entry_id not in hass.config_entries.async_entry_ids():
        entry.add_to_hass(hass)
    menu = await hass.config_entries.options.async_init(entry.entry_id)
    assert menu["type"] is FlowResultType.MENU
    result = await hass.config_entries.options.async_configure(menu["flow_id"], {"next_step_id": choice})
    for answer in answers:
        result = await submit(hass, result, answer)
    return result


async def submit(hass: HomeAssistant, form: ConfigFlowResult, user_input: Mapping[str, Any]) -> ConfigFlowResult:
    return await hass.config_entries.options.async_configure(form["flow_id"], dict(user_input))


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ({}, ["prices", "add_row", "billing", "selling", "cheap", "unit", "compare"]),
        ({"rows": [BASE]}, ["prices", "add_row", "remove_row", "billing", "selling", "cheap", "unit", "compare"]),
    ],
)
async def test_the_menu_offers_to_remove_prices_only_where_there_are_some(
    hass: HomeAssistant, options: dict[str, Any], choices: list[str]
) -> None:
    entry = entry_of(NOBODY, options=options)
    entry.add_to_hass(hass)
    menu = await hass.config_entries.options.async_init(entry.entry_id)
    assert menu["menu_options"] == choices


@pytest.fixture(autouse=True)
def _october(freezer: FrozenDateTimeFactory) -> None:
    """Set the clock to a day that the table covers."""
    freezer.move_to(OCTOBER)


async def test_the_hint_on_the_excise_names_both_figures_on_any_day(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-02-03T12:00:00+02:00")
    said = placeholders_of(await choose(hass, "prices"))
    assert said["dispute"] == (
        "Check this rate, because sources disagree. Most say 0.307 since May 2026, but one says 0.21. "
    )


async def test_the_vat_rate_starts_at_the_one_that_the_operator_chose(hass: HomeAssistant, imitate: Imitate) -> None:
    about = about_of(vatRate=0.09, vatRateIsChosen=True)
    entry = entry_of(await imitate(about=about), "other")
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    form = await choose(hass, "prices", entry=entry)
    assert shown(form)["supply"]["vat_percent"] == 9
    assert placeholders_of(form)["default_vat"] == "9"
    result = await submit(hass, form, shown(form))
    assert "vat_percent" not in result["data"]["rows"][0]


@pytest.mark.parametrize(("zone", "vat"), [("FI", 25.5), ("LV", 21.0)])
async def test_the_form_of_another_zone_starts_with_its_vat_and_nothing_of_estonia(
    hass: HomeAssistant, zone: str, vat: float
) -> None:
    form = await choose(hass, "prices", entry=entry_of(NOBODY, zone=zone))
    assert form["data_schema"] is not None
    assert "package" not in fields_of(form["data_schema"].schema)
    assert shown(form) == {"supply": {"vat_percent": vat, **SUPPLY}, "network": NETWORK}
    said = placeholders_of(form)
    assert (said["figures"], said["dispute"]) == ("Enter the figures of your own invoices.", "")
    typed = {
        "supply": {"vat_percent": vat, "fees_include_vat": False, "margin": 0.5},
        "network": {**NETWORK, "network_day": 4.0, "network_night": 2.0},
        "levies": {"excise": 2.253},
    }
    [row] = (await submit(hass, form, typed))["data"]["rows"]
    assert row == {**NO_FEES, "margin": 0.5, "network_day": 4.0, "network_night": 2.0, "excise": 2.253}


async def test_the_form_starts_with_the_table_and_the_laws_vat_and_follows_them_unchanged(
    hass: HomeAssistant,
) -> None:
    form = await choose(hass, "prices")
    assert form["step_id"] == "edit_row"
    assert shown(form) == {
        "package": "own",
        "supply": {**SUPPLY, "vat_percent": 24.0, "balancing": 0.373},
        "network": NETWORK,
        "levies": {"renewable": 0.84, "security": 0.758, "excise": 0.307},
    }
    said = placeholders_of(form)
    assert said["default_vat"] == "24"
    assert said["figures"].startswith("Figures from price lists (as of 20.11.2026) are filled in")
    result = await submit(hass, form, shown(form))
    assert result["data"] == {**CONTRACT, "rows": [{**NO_FEES, **TABLE, "from_table": FOLLOWS}]}
    [row] = tariff_from(result["data"]).rows
    assert row.parts_from_table == {Part(part) for part in FOLLOWS}


@pytest.mark.parametrize(
    ("package", "network"),
    [
        ("vork_1", {"network_day": 7.72, "network_night": 7.72}),
        ("vork_2", {"network_day": 6.07, "network_night": 3.51}),
        ("vork_4", {"network_day": 3.69, "network_night": 2.1}),
        (
            "vork_5",
            {"network_day": 5.29, "network_night": 3.03, "network_peak": 8.18, "network_rest_day_peak": 4.74},
        ),
    ],
)
async def test_a_package_is_shown_for_confirmation_before_it_is_kept(
    hass: HomeAssistant, package: str, network: dict[str, float]
) -> None:
    form = await choose(hass, "prices")
    typed = {**shown(form), "package": package, "supply": {**shown(form)["supply"], "margin": 0.5}}
    form = await submit(hass, form, typed)
    assert (form["type"], form["step_id"], form["errors"]) == (FlowResultType.FORM, "edit_row", None)
    assert shown(form)["network"] == network
    assert shown(form)["supply"]["margin"] == 0.5
    result = await submit(hass, form, shown(form))
    [row] = result["data"]["rows"]
    followed = ["balancing", "network", *FOLLOWS[1:]]
    assert row == {**NO_FEES, **TABLE, **network, "margin": 0.5, "package": package, "from_table": followed}


async def test_a_form_without_a_package_keeps_the_one_that_it_shows(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices", {"rows": [{**NO_FEES, "package": "vork_2", "from_table": ["network"]}]})
    typed = {key: value for key, value in shown(form).items() if key != "package"}
    result = await submit(hass, form, typed)
    assert result["data"]["rows"][0]["package"] == "vork_2"


async def test_a_figure_that_is_changed_is_the_households_own(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices")
    form = await submit(hass, form, {**shown(form), "package": "vork_2"})
    typed = shown(form)
    typed["levies"]["excise"] = 0.21
    typed["network"]["network_day"] = 6.2
    result = await submit(hass, form, typed)
    [row] = result["data"]["rows"]
    assert row["from_table"] == ["balancing", "renewable", "security"]
    assert (row["excise"], row["network_day"], row["network_night"]) == (0.21, 6.2, 3.51)
    tariff = tariff_from(result["data"])
    assert round(sum(charge.eur_kwh for charge in tariff.charges(instant(OCTOBER)).charges), 6) == round(
        (0.373 + 6.2 + 0.84 + 0.758 + 0.21) / 100, 6
    )


async def test_a_row_that_follows_the_table_opens_with_the_tables_figures_of_today(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    entry = entry_of(NOBODY)
    form = await choose(hass, "prices", entry=entry)
    await submit(hass, form, shown(form))
    freezer.move_to("2027-01-12T17:10:00+02:00")
    form = await choose(hass, "prices", entry=entry)
    assert shown(form)["supply"]["balancing"] == 0.297
    # The table has no renewable fee for 2027. What is shown is that of 2026; saved, it is the household's own.
    assert shown(form)["levies"]["renewable"] == 0.84
    result = await submit(hass, form, shown(form))
    assert result["data"]["rows"][0]["from_table"] == ["balancing", "security", "excise"]
    at = instant("2027-01-12T17:10:00+02:00")
    assert tariff_from(result["data"]).charges(at).unknown_parts == ()


async def test_new_prices_from_a_date_show_the_tables_figures_of_that_date(
    hass: HomeAssistant,
) -> None:
    entry = entry_of(NOBODY, options={"rows": [{**NO_FEES, **TABLE, "from_table": FOLLOWS}]})
    form = await choose(hass, "add_row", entry=entry)
    typed = shown(form)
    assert typed["supply"]["balancing"] == 0.373
    typed["supply"]["margin"] = 0.6
    typed["levies"]["excise"] = 0.21
    form = await submit(hass, form, {**typed, "valid_from": "2027-01-01"})
    assert (form["type"], form["step_id"], form["errors"]) == (FlowResultType.FORM, "add_row", None)
    again = shown(form)
    assert again["valid_from"] == "2027-01-01"
    assert (again["supply"]["balancing"], again["supply"]["margin"], again["levies"]["excise"]) == (0.297, 0.6, 0.21)
    # The table has no renewable fee of 2027 yet: the one that is confirmed is the household's own.
    result = await submit(hass, form, again)
    row = result["data"]["rows"][1]
    assert (row["valid_from"], row["balancing"], row["from_table"]) == ("2027-01-01", 0.297, ["balancing", "security"])


async def test_a_date_on_which_the_table_has_the_same_figures_needs_no_second_look(hass: HomeAssistant) -> None:
    entry = entry_of(NOBODY, options={"rows": [{**NO_FEES, **TABLE, "from_table": FOLLOWS}]})
    form = await choose(hass, "add_row", entry=entry)
    result = await submit(hass, form, {**shown(form), "valid_from": "2026-12-01"})
    assert result["data"]["rows"][1]["from_table"] == FOLLOWS


async def test_a_confirmed_old_figure_follows_the_table_and_is_reported_after_a_year(
    hass: HomeAssistant, freezer: FrozenDateTimeFactory
) -> None:
    entry = entry_of(NOBODY)
    form = await choose(hass, "prices", entry=entry)
    form = await submit(hass, form, {**shown(form), "package": "vork_2"})
    await submit(hass, form, shown(form))
    # A year after the table was read, its rates that still hold have to be compared with the invoice.
    freezer.move_to("2027-11-21T12:00:00+02:00")
    outdated = tariff_from(entry.options).outdated_parts(date(2027, 11, 21))
    assert outdated == (Part.BALANCING, Part.NETWORK, Part.RENEWABLE, Part.SECURITY, Part.EXCISE)
    form = await choose(hass, "prices", entry=entry)
    result = await submit(hass, form, shown(form))
    tariff = tariff_from(result["data"])
    # The renewable fee has ended, so it is the household's own now; the others still hold.
    assert tariff.rows[0].parts_from_table == {Part.BALANCING, Part.NETWORK, Part.SECURITY, Part.EXCISE}
    assert tariff.outdated_parts(date(2027, 11, 21)) == ()
    assert Part.SECURITY in tariff.outdated_parts(date(2028, 11, 22))


async def test_figures_with_vat_are_shown_with_vat_and_still_follow_the_table(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices", {"fees_include_vat": True})
    assert shown(form)["supply"]["balancing"] == round(0.373 * 1.24, 4)
    form = await submit(hass, form, {**shown(form), "package": "vork_2"})
    assert shown(form)["network"] == {"network_day": round(6.07 * 1.24, 4), "network_night": round(3.51 * 1.24, 4)}
    result = await submit(hass, form, shown(form))
    assert result["data"]["rows"][0]["from_table"] == ["balancing", "network", *FOLLOWS[1:]]
    # A working day: 6.07 + .373 + .84 + .758 + .307 = 8.348, with 24 % VAT 10.3515.
    assert tariff_from(result["data"]).price(0, instant(OCTOBER)) == 0.1035


async def test_a_row_of_an_older_version_gets_no_fee_that_nobody_typed(hass: HomeAssistant) -> None:
    old = {"margin": 0.5, "network_day": 4.0, "network_night": 2.0, "excise": 0.2, "renewable": 1.6}
    form = await choose(hass, "prices", {"rows": [old]})
    assert shown(form)["levies"] == {"excise": 0.2, "renewable": 1.6}
    result = await submit(hass, form, shown(form))
    assert result["data"]["rows"] == [{**NO_FEES, **old}]


async def test_prices_are_typed_in_euros_if_the_household_chooses_euros(hass: HomeAssistant) -> None:
    entry = entry_of(NOBODY)
    form = await choose(hass, "unit", entry=entry)
    assert (form["step_id"], shown(form)) == ("unit", {"unit": "cents"})
    assert (await submit(hass, form, {"unit": "euros"}))["data"] == {"unit": "euros"}
    form = await choose(hass, "prices", entry=entry)
    assert shown(form)["levies"] == {"renewable": 0.0084, "security": 0.00758, "excise": 0.00307}
    typed = shown(form)
    typed["supply"]["margin"] = 0.0055
    result = await submit(hass, form, typed)
    assert result["data"]["rows"] == [{**NO_FEES, **TABLE, "margin": 0.55, "from_table": FOLLOWS}]


async def test_typed_figures_are_stored_in_cents_and_percent_and_shown_again(hass: HomeAssistant) -> None:
    entry = entry_of(NOBODY)
    result = await choose(hass, "prices", answers=[{**FILLED, "valid_from": "2026-01-01"}], entry=entry)
    assert result["data"] == {
        **CONTRACT,
        "fees_include_vat": True,
        "rows": [
            {
                **NO_FEES,
                "day_rate_starts": "08:00:00",
                "valid_from": "2026-01-01",
                "vat_percent": 22,
                "margin": 0.5,
                "network_day": 4.1,
                "network_night": 2.3,
                "excise": 0.2,
                "renewable": 0.8,
            }
        ],
    }
    again = shown(await choose(hass, "prices", entry=entry))
    blank = {"supply": {"balancing": 0.0}, "levies": {"security": 0.0}}
    expected = {key: {**value, **blank.get(key, {})} for key, value in FILLED.items()}
    assert again == {**expected, "package": "own", "valid_from": "2026-01-01"}


async def test_the_season_of_a_network_fee_is_stored_with_its_row_and_shown_again(hass: HomeAssistant) -> None:
    season = {
        "day_rate_months": ["11", "12", "1", "2", "3"],
        "day_rate_weekdays": ["mon", "tue", "wed", "thu", "fri", "sat"],
        "holidays_at_night_rate": False,
        "day_rate_in_winter_time": True,
    }
    entry = entry_of(NOBODY, zone="FI")
    network = {**NETWORK, **season, "network_day": 9.0, "network_night": 5.0}
    typed = {**BLANK, "supply": {**SUPPLY, "negative_price_is_zero": True}, "network": network}
    [row] = (await choose(hass, "prices", answers=[typed], entry=entry))["data"]["rows"]
    assert row == {**NO_FEES, **season, "network_day": 9.0, "network_night": 5.0, "negative_price_is_zero": True}
    again = shown(await choose(hass, "add_row", entry=entry))
    assert again["network"] == network
    assert again["supply"]["negative_price_is_zero"] is True


def supply(**figures: float) -> dict[str, Any]:
    return {**BLANK, "supply": {**BLANK["supply"], **figures}}


@pytest.mark.parametrize(
    ("choice", "options", "answers", "stored"),
    [
        # A VAT rate other than the law's is the household's own. A blank rate, or today's, follows the law.
        ("prices", {}, [supply(vat_percent=9)], {**CONTRACT, "rows": [{**NO_FEES, "vat_percent": 9}]}),
        ("prices", {}, [BLANK], {**CONTRACT, "rows": [NO_FEES]}),
        ("prices", {}, [supply(vat_percent=24)], {**CONTRACT, "rows": [NO_FEES]}),
        # A supplier may give a discount.
        ("prices", {}, [supply(margin=-0.3)], {**CONTRACT, "rows": [{**NO_FEES, "margin": -0.3}]}),
        (
            "prices",
            {"rows": [BASE, NEW_YEAR]},
            [{"row": "2027-01-01"}, {**BLANK, "valid_from": "2027-02-01"}],
            {**CONTRACT, "rows": [BASE, {**NO_FEES, "valid_from": "2027-02-01"}]},
        ),
        # A new row takes its place among the others.
        (
            "add_row",
            {"rows": [BASE, NEW_YEAR], "cheap_hours": 4},
            [{**BLANK_ROW, "valid_from": "2026-06-01"}],
            {"rows": [BASE, {**NO_FEES, "valid_from": "2026-06-01"}, NEW_YEAR], "cheap_hours": 4},
        ),
        (
            "remove_row",
            {"rows": [BASE, NEW_YEAR], "cheap_hours": 4},
            [{"row": "beginning"}],
            {"rows": [NEW_YEAR], "cheap_hours": 4},
        ),
        ("cheap", {"hours_ahead": 24}, [{"cheap_hours": 4}], {"cheap_hours": 4, "hours_ahead": 24}),
        ("cheap", {}, [{"cheap_hours": 4, "hours_ahead": 3.0}], {"cheap_hours": 4, "hours_ahead": 3}),
        (
            "billing",
            {"rows": [BASE]},
            [{"billed_by": "quarter", "levels_by": "quarter"}],
            {"rows": [BASE], "billed_by": "quarter", "levels_by": "quarter"},
        ),
        ("billing", {}, [{}], {"billed_by": "hour", "levels_by": "hour"}),
        ("selling", {"rows": [BASE]}, [{"sells": False, "resolution": "quarter", "margin": 1}], {"rows": [BASE]}),
    ],
)
async def test_a_choice_is_stored_beside_the_other_options(
    hass: HomeAssistant,
    choice: str,
    options: dict[str, Any],
    answers: list[dict[str, Any]],
    stored: dict[str, Any],
) -> None:
    assert (await choose(hass, choice, options, answers))["data"] == stored


@pytest.mark.parametrize(
    ("choice", "options", "values"),
    [
        # A new row starts from the newest figures, without their date.
        (
            "add_row",
            {"rows": [BASE, {**NEW_YEAR, "vat_percent": 9}]},
            {
                "package": "own",
                "supply": {"vat_percent": 9, "margin": 0.7, "balancing": 0.0, "negative_price_is_zero": False},
                "network": {**NETWORK, "network_day": 0.0, "network_night": 0.0},
                "levies": {"renewable": 0.0, "security": 0.0, "excise": 0.0},
            },
        ),
        ("cheap", {}, {"cheap_hours": 6, "hours_ahead": 6}),
        ("cheap", {"hours_ahead": 24}, {"cheap_hours": 6, "hours_ahead": 24}),
        ("billing", {"billed_by": "quarter"}, {"billed_by": "quarter"}),
        ("selling", {}, {}),
    ],
)
async def test_a_form_starts_with_what_is_stored(
    hass: HomeAssistant, choice: str, options: dict[str, Any], values: dict[str, Any]
) -> None:
    form = await choose(hass, choice, options)
    assert (form["step_id"], shown(form)) == (choice, values)


BOTH: Final = {"rows": [BASE, NEW_YEAR]}


@pytest.mark.parametrize(
    ("choice", "options", "answers", "step", "errors"),
    [
        (
            "prices",
            {},
            [{**FILLED, "network": {**FILLED["network"], "day_rate_starts": "22:00", "day_rate_ends": "22:00:00"}}],
            "edit_row",
            {"network": "no_day_rate"},
        ),
        # A field that was cleared stays clear.
        (
            "prices",
            {"rows": [BASE]},
            [{**BLANK, "network": {**NETWORK, "day_rate_ends": "07:00:00"}}],
            "edit_row",
            {"network": "no_day_rate"},
        ),
        *(
            ("prices", {}, [{**BLANK, "network": {**NETWORK, chosen: []}}], "edit_row", {"network": "no_day_rate"})
            for chosen in ("day_rate_months", "day_rate_weekdays")
        ),
        (
            "add_row",
            BOTH,
            [
                {
                    "supply": {"margin": 0.9, "negative_price_is_zero": False},
                    "network": NETWORK,
                    "levies": {},
                    "valid_from": "2027-01-01",
                }
            ],
            "add_row",
            {"valid_from": "date_taken"},
        ),
        ("prices", BOTH, [{"row": "2027-01-01"}, BLANK], "edit_row", {"valid_from": "date_taken"}),
    ],
)
async def test_a_contradiction_is_refused_at_its_field_and_typed_figures_stay(
    hass: HomeAssistant,
    choice: str,
    options: dict[str, Any],
    answers: list[dict[str, Any]],
    step: str,
    errors: dict[str, str],
) -> None:
    form = await choose(hass, choice, options, answers)
    assert (form["step_id"], form["errors"]) == (step, errors)
    typed = {name: within for name, within in answers[-1].items() if within != {}}
    assert shown(form) == {**typed, "package": "own"}


def filled(section: str, field: str, value: float | str) -> dict[str, Any]:
    return {**FILLED, section: {**FILLED[section], field: value}}


@pytest.mark.parametrize(
    ("choice", "typed", "path"),
    [
        ("prices", filled("supply", "vat_percent", -1), ["supply", "vat_percent"]),
        ("prices", filled("supply", "vat_percent", 100), ["supply", "vat_percent"]),
        ("prices", filled("supply", "vat_percent", "nan"), ["supply", "vat_percent"]),
        ("prices", filled("network", "network_day", -0.1), ["network", "network_day"]),
        ("prices", filled("levies", "excise", 101), ["levies", "excise"]),
        ("prices", filled("levies", "excise", "nan"), ["levies", "excise"]),
        ("add_row", BLANK_ROW, ["valid_from"]),
        ("remove_row", {}, ["row"]),
        *(("cheap", {"cheap_hours": count}, ["cheap_hours"]) for count in (4.5, "nan", 0, 25)),
    ],
)
async def test_impossible_and_missing_values_are_refused_at_their_field(
    hass: HomeAssistant, choice: str, typed: dict[str, Any], path: list[str]
) -> None:
    form = await choose(hass, choice, {"rows": [BASE]})
    with pytest.raises(InvalidData) as error:
        await submit(hass, form, typed)
    assert error.value.path == path


async def test_the_first_new_row_starts_with_the_table(hass: HomeAssistant) -> None:
    form = await choose(hass, "add_row")
    assert shown(form)["levies"] == {"renewable": 0.84, "security": 0.758, "excise": 0.307}
    result = await submit(hass, form, {**shown(form), "valid_from": "2026-12-01"})
    [row] = result["data"]["rows"]
    assert row == {**NO_FEES, **TABLE, "from_table": FOLLOWS, "valid_from": "2026-12-01"}
    assert shared_settings_of(result["data"]) == CONTRACT


async def test_of_several_rows_the_newest_is_suggested_and_the_chosen_one_is_changed(hass: HomeAssistant) -> None:
    form = await choose(hass, "prices", {"rows": [NEW_YEAR, BASE]})
    assert form["step_id"] == "pick_row"
    assert form["data_schema"] is not None
    [marker] = form["data_schema"].schema
    assert marker.default() == "2027-01-01"
    form = await submit(hass, form, {"row": "beginning"})
    assert (form["step_id"], shown(form)["supply"]["margin"]) == ("edit_row", 0.5)
    result = await submit(hass, form, BLANK)
    assert result["data"]["rows"] == [NO_FEES, NEW_YEAR]


async def test_the_number_of_cheap_hours_is_kept_as_a_whole_number(hass: HomeAssistant) -> None:
    result = await choose(hass, "cheap", {"rows": [BASE]}, [{"cheap_hours": 4.0}])
    assert result["data"] == {"rows": [BASE], "cheap_hours": 4}
    assert isinstance(result["data"]["cheap_hours"], int)


async def test_the_buyers_deductions_are_stored_in_cents_by_date(hass: HomeAssistant) -> None:
    typed = {"sells": True, "resolution": "quarter", "margin": 0.008}
    dated = {"valid_from": "2027-01-01", "negative_price_is_zero": True}
    first = await submit(hass, await choose(hass, "selling", {"unit": "euros"}), typed)
    beginning = {"margin": 0.8, "balancing": 0.0}
    assert first["data"]["selling"] == {"resolution": "quarter", "rows": [beginning]}
    form = await choose(hass, "selling", {"selling": first["data"]["selling"]})
    assert shown(form) == {"sells": True, "resolution": "quarter", **beginning}
    later = await submit(hass, form, {**typed, "margin": 1, "balancing": 0.5, **dated})
    new_year = {"margin": 1.0, "balancing": 0.5, **dated}
    assert later["data"]["selling"]["rows"] == [beginning, new_year]
    form = await choose(hass, "selling", {"selling": later["data"]["selling"]})
    assert shown(form) == {"sells": True, "resolution": "quarter", **new_year}


def test_vat_that_is_switched_with_the_date_leaves_figures_of_the_table() -> None:
    before = RowForm(day=date(2026, 11, 20), vat_percent=24, package=Package.VORK_4)
    typed = {**before.table_figures(fees_include_vat=False), "margin": 0.5, "vat_percent": 24}
    later = replace(before, day=date(2027, 1, 5))
    carried = later.adapted_figures(before, typed, fees_include_vat=True)
    assert carried == {**typed, **later.table_figures(fees_include_vat=True)}
    assert before.adapted_figures(before, typed, fees_include_vat=True) == typed
