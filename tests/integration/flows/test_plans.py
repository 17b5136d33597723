"""Adding and changing plans."""

from types import MappingProxyType
from typing import Any

import pytest
from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    ConfigSubentry,
    ConfigSubentryDataWithId,
    SubentryFlowContext,
    SubentryFlowResult,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData, section
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.forms.plan_flow import first_plan
from custom_components.tunnihind.forms.plan_form import (
    NEW_PLAN_VALUES,
    PlanForm,
    form_errors,
    form_for_plan,
    plan_from_input,
    shown_values,
)
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.units import Unit
from tests.support.household.flows import NOBODY, shown

WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
CAR: dict[str, Any] = {
    "name": "Car",
    "kind": "cheapest",
    "duration": {"hours": 4, "minutes": 30},
    "pieces": {"split": "split", "min_piece": {"hours": 0, "minutes": 45}},
    "when": {"earliest": "22:00:00", "deadline": "07:00:00", "weekdays": ["fri", "mon"], "days": 2, "starts": "now"},
    "prices": {"horizon": "cautious", "price_cap": 12.5},
    "nearly": {"prefer": "earliest"},
}
CAR_DATA: dict[str, Any] = {
    "duration": 270,
    "split": True,
    "min_piece": 45,
    "earliest": "22:00:00",
    "deadline": "07:00:00",
    "weekdays": ["mon", "fri"],
    "days": 2,
    "horizon": "cautious",
    "price_cap": 12.5,
}
NEW_CAR: dict[str, Any] = {**CAR, "name": "Second car"}
BY_ENERGY: dict[str, Any] = {
    "name": "Charger",
    "energy": 30,
    "power": 7.4,
    "pieces": {"split": "split", "min_piece": {"minutes": 30}, "max_starts": 3, "start_cost": 2.5},
    "when": {"deadline": "07:00:00", "weekdays": WEEK, "days": 1},
    "prices": {"horizon": "expected"},
}


@pytest.fixture
def entry(hass: HomeAssistant) -> MockConfigEntry:
    plan = ConfigSubentryDataWithId(data=CAR_DATA, subentry_id="car", subentry_type="plan", title="Car", unique_id=None)
    entry = MockConfigEntry(
        domain=DOMAIN, data={"url": NOBODY, "instance_id": "test"}, unique_id="test", subentries_data=[plan]
    )
    entry.add_to_hass(hass)
    return entry


async def change(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id="car")
    return await hass.config_entries.subentries.async_init((entry.entry_id, "plan"), context=context)


async def add(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    return await hass.config_entries.subentries.async_init((entry.entry_id, "plan"), context={"source": SOURCE_USER})


async def add_of(hass: HomeAssistant, entry: MockConfigEntry, kind: str) -> SubentryFlowResult:
    """Return the form of a new plan of that kind."""
    return await submit(hass, await add(hass, entry), {"kind": kind})


async def submit(hass: HomeAssistant, form: SubentryFlowResult, user_input: dict[str, Any]) -> SubentryFlowResult:
    return await hass.config_entries.subentries.async_configure(form["flow_id"], user_input)


async def test_a_new_plan_starts_with_three_hours_in_one_piece_and_no_blank_field_is_stored(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    form = await add_of(hass, entry, "cheapest")
    assert form["step_id"] == "plan"
    assert shown(form) == {
        "name": "",
        "kind": "cheapest",
        "duration": {"hours": 3, "minutes": 0},
        "pieces": {"split": "one_piece", "min_piece": {"hours": 1, "minutes": 0}},
        "when": {"weekdays": WEEK, "days": 1, "starts": "now"},
        "prices": {"horizon": "published"},
        "nearly": {"prefer": "earliest"},
    }
    result = await submit(hass, form, {**shown(form), "name": "Dishwasher"})
    assert result["data"] == {"duration": 180, "split": False, "weekdays": WEEK, "days": 1, "horizon": "published"}


def unfolded(form: SubentryFlowResult) -> set[str]:
    """Return the sections of a form that are open."""
    schema = form["data_schema"]
    assert schema is not None
    return {
        marker.schema
        for marker, field in schema.schema.items()
        if isinstance(field, section) and not field.options["collapsed"]
    }


async def test_only_sections_with_a_choice_or_an_error_are_unfolded(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    form = await add_of(hass, entry, "cheapest")
    assert unfolded(form) == set()
    form = await submit(hass, form, {**shown(form), "name": "Boiler", "when": {"weekdays": [], "days": 1}})
    assert form["errors"] == {"when": "no_weekday"}
    assert unfolded(form) == {"when"}
    assert unfolded(await add_of(hass, entry, "below")) == {"prices"}
    assert unfolded(await change(hass, entry)) == {"pieces", "when", "prices"}


async def test_a_plan_is_added(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    result = await submit(hass, await add(hass, entry), {**NEW_CAR, "name": " Car of ours "})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert (result["title"], result["data"]) == ("Car of ours", CAR_DATA)
    assert len(entry.subentries) == 2


async def test_a_name_that_another_plan_has_is_refused_for_a_new_one(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    result = await submit(hass, await add(hass, entry), {**CAR, "name": " car "})
    assert result["errors"] == {"name": "name_taken"}


async def test_a_plan_that_shares_its_name_stays_and_may_be_changed(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    twin = ConfigSubentry(data=MappingProxyType(CAR_DATA), subentry_type="plan", title="Car", unique_id=None)
    hass.config_entries.async_add_subentry(entry, twin)
    result = await submit(hass, await change(hass, entry), {**CAR, "duration": {"hours": 2}})
    assert result["type"] is FlowResultType.ABORT
    assert entry.subentries["car"].data["duration"] == 120


@pytest.mark.parametrize(
    ("typed", "form"),
    [
        ({**CAR, "together": {"group": "Fuse", "priority": 1, "group_limit": 11, "power": 7.4}}, PlanForm.CHEAPEST),
        ({**CAR, "together": {"group": "Fuse"}}, PlanForm.CHEAPEST),
        ({**BY_ENERGY, "together": {"group": "Fuse", "group_limit": 11}}, PlanForm.CHEAPEST_BY_ENERGY),
    ],
)
def test_the_power_is_asked_beside_the_energy_or_beside_the_group(typed: dict[str, Any], form: PlanForm) -> None:
    plan = plan_from_input(typed, form=form)
    again = shown_values(typed["name"], plan)
    assert again["together"] == typed["together"]
    assert again.get("power") == typed.get("power")
    assert plan_from_input(again, form=form) == plan


async def test_a_plan_is_shown_as_it_was_typed_and_changed_in_place(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    form = await change(hass, entry)
    assert (form["step_id"], shown(form)) == (
        "reconfigure",
        {**CAR, "when": {**CAR["when"], "weekdays": ["mon", "fri"]}},
    )
    changed = {**CAR, "name": "New car", "duration": {"hours": 6, "minutes": 0}, "when": {"weekdays": WEEK, "days": 1}}
    result = await submit(hass, form, changed)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    plan = entry.subentries["car"]
    assert plan.title == "New car"
    assert plan.data == {
        "duration": 360,
        "split": True,
        "min_piece": 45,
        "weekdays": WEEK,
        "days": 1,
        "horizon": "cautious",
        "price_cap": 12.5,
    }


WRONG = [
    pytest.param({"name": "  "}, {"name": "no_name"}, id="no-name"),
    pytest.param({"duration": {"hours": 0, "minutes": 0}}, {"duration": "duration_out_of_range"}, id="no-time"),
    pytest.param({"duration": {"hours": 24, "minutes": 15}}, {"duration": "duration_out_of_range"}, id="over-a-day"),
    pytest.param({"duration": {"hours": 1, "seconds": 1}}, {"duration": "duration_not_quarters"}, id="a-second"),
    pytest.param({"duration": {"days": 2}}, {"duration": "duration_out_of_range"}, id="days"),
    pytest.param({"duration": {"hours": 1, "minutes": 20}}, {"duration": "duration_not_quarters"}, id="20-minutes"),
    pytest.param(
        {"duration": {"hours": 9, "minutes": 15}, "when": {**CAR["when"], "days": 1}},
        {"duration": "longer_than_span"},
        id="longer-than-the-night",
    ),
    pytest.param(
        {"duration": {"hours": 9, "minutes": 15}, "pieces": {"split": "one_piece"}},
        {"duration": "longer_than_span"},
        id="in-one-go-longer-than-each-night",
    ),
    pytest.param(
        {"duration": {"hours": 18, "minutes": 15}}, {"duration": "longer_than_span"}, id="longer-than-both-nights"
    ),
    pytest.param(
        {"duration": {"hours": 12}, "pieces": {"split": "split", "min_piece": {"hours": 10}}},
        {"pieces": "min_piece_too_long"},
        id="pieces-longer-than-each-night",
    ),
    pytest.param(
        {"pieces": {"split": "split", "min_piece": {"minutes": 10}}}, {"pieces": "min_piece_not_quarters"}, id="bits"
    ),
    pytest.param(
        {"pieces": {"split": "split", "min_piece": {"minutes": 0}}}, {"pieces": "min_piece_not_quarters"}, id="nothing"
    ),
    pytest.param(
        {"pieces": {"split": "split", "min_piece": {"hours": 5}}}, {"pieces": "min_piece_too_long"}, id="long-pieces"
    ),
    pytest.param(
        {"pieces": {"split": "split", "min_pause": {"minutes": 20}}}, {"pieces": "min_pause_not_quarters"}, id="pause"
    ),
    pytest.param(
        {"pieces": {"split": "split", "min_pause": {"hours": 25}}}, {"pieces": "min_pause_not_quarters"}, id="day-off"
    ),
    pytest.param(
        {"pieces": {"split": "one_piece", "max_starts": 3}}, {"pieces": "max_starts_in_one_go"}, id="starts-in-one-go"
    ),
    pytest.param(
        {"pieces": {"split": "split", "max_pause": {"hours": 73}}},
        {"pieces": "max_pause_not_quarters"},
        id="3-days-off",
    ),
    pytest.param(
        {"pieces": {"split": "split", "min_pause": {"hours": 2}, "max_pause": {"hours": 1}}},
        {"pieces": "max_pause_too_short"},
        id="no-such-pause",
    ),
    pytest.param(
        {"pieces": {"split": "one_piece", "max_pause": {"hours": 24}}, "nearly": {"tolerance": 1}},
        {"pieces": "max_pause_with_tolerance"},
        id="pause-or-tolerance",
    ),
    pytest.param(
        {"prices": {"horizon": "published", "more_below": 5}, "nearly": {"tolerance": 1}},
        {"prices": "more_with_tolerance"},
        id="more-or-tolerance",
    ),
    pytest.param(
        {
            "prices": {"horizon": "published", "more_below": 0},
            "pieces": {"split": "split", "max_pause": {"hours": 24}},
        },
        {"prices": "more_with_tolerance"},
        id="more-or-longest-pause",
    ),
    pytest.param(
        {"pieces": {"split": "one_piece", "start_cost": 2}}, {"pieces": "start_cost_in_one_go"}, id="start-in-one-go"
    ),
    pytest.param(
        {"pieces": {"split": "one_piece", "min_pause": {"hours": 1}}},
        {"pieces": "min_pause_in_one_go"},
        id="pause-in-one-go",
    ),
    pytest.param({"when": {"weekdays": [], "days": 1}}, {"when": "no_weekday"}, id="no-weekday"),
    pytest.param(
        {"when": {"deadline_2": "18:00:00", "weekdays": WEEK, "days": 1}},
        {"when": "second_without_deadline"},
        id="second-without-first",
    ),
    pytest.param(
        {"when": {"deadline": "06:00:00", "deadline_2": "06:00:00", "weekdays": WEEK, "days": 1}},
        {"when": "same_deadlines"},
        id="twice-the-same",
    ),
    pytest.param(
        {"when": {**CAR["when"], "deadline_2": "18:00:00", "days": 1}},
        {"when": "earliest_with_second"},
        id="twice-and-earliest",
    ),
    pytest.param(
        {"when": {"deadline": "06:00:00", "deadline_2": "18:00:00", "weekdays": WEEK, "days": 2}},
        {"when": "days_with_second"},
        id="twice-and-days",
    ),
    pytest.param(
        {"when": {"deadline": "06:00:00", "deadline_2": "10:00:00", "weekdays": WEEK, "days": 1}},
        {"duration": "longer_than_span"},
        id="longer-than-the-morning",
    ),
    pytest.param({"when": {"days": 1}}, {"when": "no_weekday"}, id="weekdays-absent"),
]


@pytest.mark.parametrize(("change", "errors"), WRONG)
def test_an_error_is_at_its_field(change: dict[str, Any], errors: dict[str, str]) -> None:
    assert form_errors({**NEW_CAR, **change}) == errors


IN_ONE_NIGHT: dict[str, Any] = {"pieces": {"split": "one_piece"}, "when": {**CAR["when"], "days": 1}}


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        # A split duration may fill the nights of all days to choose from, and one in one go a night.
        ({"duration": {"hours": 18}}, {"duration": 1080}),
        ({**IN_ONE_NIGHT, "duration": {"hours": 9}}, {"duration": 540, "min_piece": None}),
        ({**IN_ONE_NIGHT, "duration": {"minutes": 15}}, {"duration": 15}),
        ({"duration": {"days": 1}, "when": {"weekdays": ["mon"], "days": 1}}, {"duration": 1440, "earliest": None}),
        ({"pieces": {"split": "split"}}, {"min_piece": 60}),
        ({"pieces": {"split": "one_piece", "min_piece": {"hours": 9, "minutes": 7}}}, {"min_piece": None}),
        ({"pieces": {**CAR["pieces"], "min_pause": {"hours": 1, "minutes": 30}}}, {"min_pause": 90, "min_piece": 45}),
        ({"pieces": {"split": "split", "min_pause": {"hours": 0, "minutes": 0}}}, {"min_pause": None}),
        ({"pieces": {"split": "one_piece", "min_pause": {"hours": 0, "minutes": 0}}}, {"min_pause": None}),
        (
            {"when": {"deadline": "06:00:00", "deadline_2": "10:30:00", "weekdays": ["mon"], "days": 1}},
            {"deadline_2": "10:30:00", "earliest": None},
        ),
        ({"prices": {"horizon": "published", "more_below": 0}}, {"more_below": 0, "price_cap": None}),
    ],
)
def test_what_fits_is_accepted_and_stored_without_blank_fields(change: dict[str, Any], stored: dict[str, Any]) -> None:
    typed = {**CAR, **change}
    assert form_errors(typed) == {}
    plan = plan_from_input(typed)
    assert {field: plan.get(field) for field in stored} == stored
    assert PlanSettings.from_mapping(plan).duration_s == plan["duration"] * 60
    assert plan_from_input(shown_values("Car", plan)) == plan


async def test_all_errors_are_shown_at_once_and_typed_values_stay(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    typed = {
        **CAR,
        "name": "",
        "duration": {"minutes": 1},
        "pieces": {"split": "split", "min_piece": {"minutes": 1}},
        "when": {"weekdays": [], "days": 1},
    }
    errors = {
        "name": "no_name",
        "duration": "duration_not_quarters",
        "pieces": "min_piece_not_quarters",
        "when": "no_weekday",
    }
    for form, step in ((await add(hass, entry), "plan"), (await change(hass, entry), "reconfigure")):
        result = await submit(hass, form, typed)
        assert (result["type"], result["step_id"], result["errors"]) == (FlowResultType.FORM, step, errors)
        assert shown(result) == typed
    assert entry.subentries["car"].data == CAR_DATA
    assert (await submit(hass, result, CAR))["type"] is FlowResultType.ABORT


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ({**CAR, "when": {**CAR["when"], "days": 8}}, ["when", "days"]),
        ({**CAR, "when": {**CAR["when"], "days": 0}}, ["when", "days"]),
        ({**CAR, "prices": {**CAR["prices"], "price_cap": 501}}, ["prices", "price_cap"]),
        ({"kind": "dear"}, ["kind"]),
        *(({**BY_ENERGY, "power": power}, ["power"]) for power in (0, -1, 1e9)),
        *(({**BY_ENERGY, "energy": energy}, ["energy"]) for energy in (-1, 1e9)),
        ({key: value for key, value in BY_ENERGY.items() if key != "energy"}, ["energy"]),
    ],
)
async def test_what_is_out_of_range_is_refused_where_it_is_typed(
    hass: HomeAssistant, entry: MockConfigEntry, typed: dict[str, Any], path: list[str]
) -> None:
    form = await (add(hass, entry) if "kind" in typed else add_of(hass, entry, "cheapest_by_energy"))
    with pytest.raises(InvalidData) as error:
        await submit(hass, form, typed)
    assert error.value.path == path


def test_the_form_accepts_the_first_plan() -> None:
    plan = first_plan("en")
    assert plan_from_input(shown_values(plan["title"], plan["data"])) == plan["data"]
    assert form_errors(shown_values(plan["title"], plan["data"])) == {}


def test_every_form_accepts_its_first_values_and_shows_them_again() -> None:
    for form, plan in NEW_PLAN_VALUES.items():
        typed = shown_values("New", plan)
        kept = plan_from_input(typed, form=form)
        assert form_errors(typed, form=form) == {}
        assert form_for_plan(kept) is form
        assert shown_values("New", kept) == typed
        assert PlanSettings.from_mapping(kept).kind is form.kind


async def test_a_plan_by_energy_is_added_and_changed(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    form = await add_of(hass, entry, "cheapest_by_energy")
    assert "duration" not in shown(form)
    result = await submit(hass, form, BY_ENERGY)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {
        "energy": 30,
        "power": 7.4,
        "split": True,
        "min_piece": 30,
        "max_starts": 3,
        "start_cost": 2.5,
        "deadline": "07:00:00",
        "weekdays": WEEK,
        "days": 1,
        "horizon": "expected",
    }
    [subentry_id] = entry.subentries.keys() - {"car"}
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=subentry_id)
    form = await hass.config_entries.subentries.async_init((entry.entry_id, "plan"), context=context)
    assert (shown(form)["kind"], shown(form)["energy"], shown(form)["power"]) == ("cheapest_by_energy", 30, 7.4)
    await submit(hass, form, {**BY_ENERGY, "energy": 0})
    assert entry.subentries[subentry_id].data["energy"] == 0


@pytest.mark.parametrize(("kind", "limit"), [("below", 10), ("above", 20)])
async def test_a_plan_by_a_price_limit_has_neither_duration_nor_pieces_to_choose(
    hass: HomeAssistant, entry: MockConfigEntry, kind: str, limit: float
) -> None:
    form = await add_of(hass, entry, kind)
    assert shown(form) == {
        "name": "",
        "kind": kind,
        "pieces": {"min_piece": {"hours": 0, "minutes": 15}},
        "when": {"weekdays": WEEK, "days": 1, "starts": "now"},
        "prices": {"horizon": "published", "price_cap": limit},
    }
    with pytest.raises(InvalidData) as error:
        await submit(hass, form, {**shown(form), "name": "Heat pump", "prices": {"horizon": "published"}})
    assert error.value.path == ["prices", "price_cap"]
    prices = {"horizon": "published", "price_cap": 12.5}
    result = await submit(hass, form, {**shown(form), "name": "Heat pump", "pieces": {}, "prices": prices})
    assert result["data"] == {
        "kind": kind,
        "min_piece": 15,
        "weekdays": WEEK,
        "days": 1,
        "horizon": "published",
        "price_cap": 12.5,
    }


async def test_a_tolerance_is_kept_in_cents_and_a_latest_window_without_one_too(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config_entries.async_update_entry(entry, options={"unit": "euros"})
    nearly = {"tolerance": 0.015, "prefer": "latest"}
    typed = {**NEW_CAR, "kind": "dearest", "nearly": nearly, "prices": {"horizon": "expected"}}
    form = await submit(hass, await add_of(hass, entry, "dearest"), typed)
    assert (form["data"]["kind"], form["data"]["tolerance"], form["data"]["prefer"]) == ("dearest", 1.5, "latest")
    assert shown_values("", form["data"], Unit.EUROS)["nearly"] == nearly
    assert "tolerance" not in plan_from_input({**CAR, "nearly": {"tolerance": 0, "prefer": "earliest"}})
    assert plan_from_input({**CAR, "nearly": {"prefer": "latest"}})["prefer"] == "latest"


def test_only_a_start_with_the_next_period_is_stored() -> None:
    later = {**CAR, "when": {**CAR["when"], "starts": "next_period"}}
    assert plan_from_input(later) == {**CAR_DATA, "starts": "next_period"}
    assert shown_values("Car", plan_from_input(later)) == {
        **later,
        "when": {**later["when"], "weekdays": ["mon", "fri"]},
    }
    assert plan_from_input(CAR) == CAR_DATA


async def test_a_program_may_send_a_whole_plan_of_any_kind_at_once_but_not_change_the_kind(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    result = await submit(hass, await add(hass, entry), {**BY_ENERGY, "kind": "dearest_by_energy"})
    assert (result["type"], result["data"]["kind"]) == (FlowResultType.CREATE_ENTRY, "dearest")
    with pytest.raises(InvalidData):
        await submit(hass, await change(hass, entry), {**CAR, "kind": "dearest"})


def test_a_piece_longer_than_a_day_is_refused_without_a_duration_too() -> None:
    typed = {**BY_ENERGY, "pieces": {"split": "split", "min_piece": {"hours": 25}}}
    assert form_errors(typed, form=PlanForm.CHEAPEST_BY_ENERGY) == {"pieces": "min_piece_too_long"}


async def test_the_price_limit_is_typed_in_euros_if_the_household_chooses_euros(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config_entries.async_update_entry(entry, options={"unit": "euros"})
    form = await change(hass, entry)
    assert shown(form)["prices"]["price_cap"] == 0.125
    prices = {**shown(form)["prices"], "price_cap": 0.2}
    result = await submit(hass, form, {**shown(form), "prices": prices})
    assert result["reason"] == "reconfigure_successful"
    assert entry.subentries["car"].data["price_cap"] == 20
