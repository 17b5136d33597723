"""The action that changes several fields of plans at once."""

from itertools import pairwise
from typing import Any

import pytest
import voluptuous as vol
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN
from tests.integration.household.test_plans import device_of
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.steering import (
    BY_ENERGY,
    CAR,
    EVERY_DAY,
    KEY,
    ONE_PIECE,
    SPLIT,
    Files,
    at,
    call,
    cheap_from_one_to_four,
    length,
    pieces,
    update,
    window_of,
)
from tunnihind.core.market import HOUR_S


async def test_the_action_changes_several_fields_and_returns_the_window(car: Home) -> None:
    [answer] = (
        await call(
            car,
            "tunnihind.update_plan",
            answers=True,
            entity_id=window_of(car),
            duration={"hours": 1},
            deadline="23:30:00",
            horizon="published",
        )
    )["plans"]
    assert (answer["plan"], answer["enabled"], answer["found"]) == ("Plan", True, True)
    assert answer["changed"] == ["deadline", "duration", "horizon"]
    assert [(instant(piece["start"]), instant(piece["end"])) for piece in answer["pieces"]] == pieces(car)
    assert length(car) == HOUR_S


async def test_the_action_returns_the_cost_of_a_plan_by_energy(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: BY_ENERGY})
    answer = await call(home, "tunnihind.update_plan", answers=True, entity_id=window_of(home), energy=4)
    cost = answer["plans"][0]["cost"]
    assert cost["energy"] == 4
    assert cost["expected"] == pytest.approx(4 * answer["plans"][0]["average"], abs=1e-3)


async def test_the_same_energy_with_a_newer_reading_is_a_new_need(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.hass.config.async_set_time_zone("Europe/Tallinn")
    await home.add(plans={PLAN_ID: {**BY_ENERGY, "deadline": "07:00:00"}})
    await update(home, energy=4, energy_read_at="2026-01-14 00:00:00")
    await home.at(at(1.5))
    await update(home, energy=4, energy_read_at="2026-01-14 00:00:00")
    assert pieces(home) == [(at(1), at(2))]
    await update(home, energy=4, energy_read_at="2026-01-14T01:30:00+02:00")
    assert pieces(home) == [(at(1), at(2.5))]
    answer = await call(home, "tunnihind.update_plan", answers=True, entity_id=window_of(home), energy=24)
    assert answer["plans"][0]["missing_energy"] == 2
    with pytest.raises(ServiceValidationError, match="energy: give the energy too"):
        await update(home, energy_read_at="2026-01-14T01:30:00+02:00")


async def test_a_car_is_filled_while_electricity_costs_no_more_than_usual(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.hass.config.async_set_time_zone("Europe/Tallinn")
    await home.add(plans={PLAN_ID: {**BY_ENERGY, "deadline": "07:00:00"}})
    await update(home, energy=4, energy_full=12)
    assert pieces(home) == [(at(1), at(4))]
    await update(home, energy_full=6)
    assert pieces(home) == [(at(1), at(2.5))]
    await update(home, energy_full=None)
    assert pieces(home) == [(at(1), at(2))]


async def test_heating_gets_more_hours_below_a_price_and_a_second_deadline(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.add(plans={PLAN_ID: {**SPLIT, "duration": 120, "deadline": "06:00:00"}})
    assert pieces(home) == [(at(1), at(3))]
    cheap = home.consumer_price(at(1)) * 100
    await update(home, more_below=cheap)
    assert pieces(home) == [(at(1), at(4))]
    await update(home, more_below=cheap - 0.01)
    assert pieces(home) == [(at(1), at(3))]
    await update(home, deadline_2="02:00")
    assert pieces(home) == [(at(0), at(2))]
    assert home.entry.runtime_data.planner.plans[PLAN_ID].changes["deadline_2"] == "02:00:00"
    for wrong, says in (
        ({"tolerance": 1}, "more_below"),
        ({"deadline": None}, "deadline_2"),
        ({"deadline": "02:00"}, "deadline_2"),
        ({"earliest": "01:00"}, "earliest"),
        ({"deadline_2": "05:30", "min_piece": {"hours": 1}}, "deadline"),
    ):
        with pytest.raises(ServiceValidationError, match=says):
            await update(home, **wrong)


async def test_a_plan_can_be_put_off_to_the_next_whole_period(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.hass.config.async_set_time_zone("Europe/Tallinn")
    await home.add(plans={PLAN_ID: {**BY_ENERGY, "deadline": "07:00:00", "horizon": "expected"}})
    assert pieces(home)[0][0] == at(1)
    await update(home, starts="next_period")
    assert pieces(home)[0][0] >= at(7)
    await update(home, starts="now")
    assert pieces(home)[0][0] == at(1)


async def test_a_cleared_field_has_the_forms_value_again(car: Home) -> None:
    await update(car, duration="01:00:00", deadline="06:00")
    await update(car, clear=["deadline"])
    assert car.entry.runtime_data.planner.plan(PLAN_ID).changes == {"duration": 60}
    await update(car, clear="duration", earliest="21:00")
    assert car.entry.runtime_data.planner.plan(PLAN_ID).changes == {"earliest": "21:00:00"}


async def test_null_empties_a_field_instead_of_restoring_the_form(car: Home) -> None:
    await update(car, price_cap=None, earliest=None, deadline=None)
    assert car.state("number", "price_cap", PLAN_ID).state == "unknown"
    assert car.state("time", "earliest", PLAN_ID).state == "unknown"


async def test_a_window_in_one_go_that_fits_no_day_is_refused_and_a_stored_one_is_reported(make_home: MakeHome) -> None:
    home = await make_home()
    nights = {**ONE_PIECE, "earliest": "22:00:00", "deadline": "07:00:00", "days": 2, "weekdays": ["sun"]}
    await home.add(plans={PLAN_ID: nights, "washer": {**nights, "duration": 600}})

    def reported() -> str | None:
        issue = ir.async_get(home.hass).async_get_issue(DOMAIN, f"plans_without_room_{home.entry.entry_id}")
        return (issue.translation_placeholders or {})["plans"] if issue else None

    assert reported() == home.entry.subentries["washer"].title
    with pytest.raises(ServiceValidationError, match=r"never run.*600 minutes.*540 minutes"):
        await update(home, duration="10:00:00")
    await update(home, "washer", duration="09:00:00")
    assert reported() is None


async def test_impossible_values_are_refused_with_their_field(car: Home) -> None:
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"duration": "00:20:00"}, "duration.*steps of 15 minutes"),
        ({"min_piece": "25:00:00"}, "min_piece.*from 15 to 1440"),
        ({"deadline": "06:00", "clear": ["deadline"]}, "deadline can't be both"),
        ({"energy": 5}, "power: give the device"),
        ({"energy": -1, "power": 3}, "energy: -1.0 is not between 0 and 1000"),
        ({"energy": 5, "power": 3, "duration": "01:00:00"}, "duration: this value is calculated"),
        ({"min_pause": "00:20:00"}, "min_pause.*steps of 15 minutes"),
        ({"max_starts": 0}, "max_starts: 0 is not between"),
        ({"earliest": "22:00", "deadline": "22:30"}, "never run.*60 minutes.*30 minutes"),
    )
    for data, says in refused:
        with pytest.raises(ServiceValidationError, match=says) as refusal:
            await update(car, enabled=False, price_cap=1, **data)
        # The whole sentence is translated: its placeholders are the same in every language.
        assert not [one for one in (refusal.value.translation_placeholders or {}).values() if " " in one]
    assert car.state("switch", "enabled", PLAN_ID).state == "on"
    assert not car.entry.runtime_data.planner.plan(PLAN_ID).changes


async def test_a_plan_in_one_go_refuses_the_settings_of_pieces(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: ONE_PIECE})
    for field, value in (("max_starts", 2), ("min_pause", "01:00:00"), ("min_piece", "01:00:00")):
        with pytest.raises(ServiceValidationError, match=f"{field}: this plan runs in one go.*split"):
            await update(home, PLAN_ID, **{field: value})
    await update(home, max_starts=None, min_pause="00:00:00")


async def test_the_action_sets_the_shortest_pause(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: SPLIT})
    await update(home, min_pause="02:00:00")
    assert len(pieces(home)) > 1
    assert all(later[0] - one[1] >= 2 * HOUR_S for one, later in pairwise(pieces(home)))
    await update(home, min_pause=0)
    assert home.entry.runtime_data.planner.settings[PLAN_ID].min_pause_s == 0


async def test_values_of_the_wrong_type_are_refused(car: Home) -> None:
    for field, value in (
        ("price_cap", "nan"),
        ("price_cap", "inf"),
        ("duration", float("inf")),
        ("duration", 1e300),
        ("duration", None),
        ("min_piece", {"hours": float("inf")}),
        ("max_starts", 2.7),
        ("max_starts", float("inf")),
        ("energy", True),
        ("deadline", "25:00"),
        ("horizon", "sure"),
        ("clear", ["name"]),
        ("x", 1),
    ):
        with pytest.raises(vol.Invalid, match=field):
            await update(car, PLAN_ID, enabled=False, **{field: value})
    assert car.state("switch", "enabled", PLAN_ID).state == "on"


async def test_a_plan_of_all_hours_below_a_price_keeps_its_price_and_has_no_duration(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: {**EVERY_DAY, "kind": "below", "price_cap": 9}})
    before = pieces(home)
    for data, says in (({"price_cap": None}, "price_cap"), ({"duration": "01:00:00"}, "duration")):
        with pytest.raises(ServiceValidationError, match=f"{says}: a plan for all hours below or above a price"):
            await update(home, **data)
    await update(home, price_cap=5)
    assert 0 < length(home) < sum(end - start for start, end in before)


async def test_all_plans_are_changed_or_none(make_home: MakeHome) -> None:
    home = await make_home()
    plans = {"car": CAR, "washer": {**ONE_PIECE, "earliest": "12:00:00", "deadline": "16:00:00"}}
    await home.add(plans=plans)
    both = [window_of(home, plan) for plan in plans]
    with pytest.raises(ServiceValidationError, match=r"Washer.*never run.*300 minutes.*240 minutes"):
        await call(home, "tunnihind.update_plan", entity_id=both, duration="05:00:00")
    assert [length(home, plan) for plan in plans] == [4 * HOUR_S, 3 * HOUR_S]
    answer = await call(home, "tunnihind.update_plan", answers=True, entity_id=both, duration="02:00:00")
    assert {plan["plan"] for plan in answer["plans"]} == {"Car", "Washer"}
    assert [length(home, plan) for plan in plans] == [2 * HOUR_S, 2 * HOUR_S]


async def test_simultaneous_changes_of_one_plan_are_all_kept(car: Home) -> None:
    changes = ({"duration": "01:00:00"}, {"deadline": "06:00"}, {"price_cap": 20}, {"enabled": False})
    for data in changes:
        car.hass.async_create_task(
            car.hass.services.async_call(DOMAIN, "update_plan", {"entity_id": window_of(car), **data}, blocking=True)
        )
    await car.settle()
    plan = car.entry.runtime_data.planner.plan(PLAN_ID)
    assert plan.changes == {"duration": 60, "deadline": "06:00:00", "price_cap": 20}
    assert not plan.enabled


async def test_a_device_or_an_area_means_its_plans(car: Home) -> None:
    registry = dr.async_get(car.hass)
    device, server = device_of(car.hass, PLAN_ID), device_of(car.hass, "entry")
    assert device
    assert server
    await call(car, "tunnihind.update_plan", device_id=device.id, duration="01:00:00")
    assert length(car) == HOUR_S
    area = ar.async_get(car.hass).async_create("Garage")
    for one in (device, server):
        registry.async_update_device(one.id, area_id=area.id)
    await call(car, "tunnihind.update_plan", area_id=area.id, duration="02:00:00")
    assert length(car) == 2 * HOUR_S
    empty = ar.async_get(car.hass).async_create("Attic")
    with pytest.raises(ServiceValidationError, match="None of the targets is a Tunnihind plan"):
        await call(car, "tunnihind.update_plan", area_id=empty.id, duration="03:00:00")
    with pytest.raises(ServiceValidationError, match="“Tunnihind” is not a Tunnihind plan"):
        await call(car, "tunnihind.update_plan", device_id=[device.id, server.id], duration="03:00:00")
    assert length(car) == 2 * HOUR_S


@pytest.mark.parametrize("other", ["light.kitchen", "sensor.tunnihind_current_price"])
async def test_a_named_target_has_to_belong_to_a_plan(car: Home, other: str) -> None:
    er.async_get(car.hass).async_get_or_create("light", "elsewhere", "kitchen", suggested_object_id="kitchen")
    with pytest.raises(ServiceValidationError, match=f"“{other}” is not a Tunnihind plan"):
        await call(car, "tunnihind.update_plan", entity_id=[window_of(car), other], duration="01:00:00")
    assert length(car) == 4 * HOUR_S


async def test_a_deleted_plan_can_not_be_changed(car: Home, hass_storage: Files) -> None:
    await update(car, duration="01:00:00")
    window = window_of(car)
    car.hass.config_entries.async_remove_subentry(car.entry, PLAN_ID)
    await car.settle()
    with pytest.raises(ServiceValidationError, match=f"“{window}” is not a Tunnihind plan"):
        await call(car, "tunnihind.update_plan", entity_id=window, duration="02:00:00")
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    assert hass_storage[KEY]["data"]["steered"] == {}


async def test_a_plan_whose_server_is_not_loaded_gives_an_error(car: Home) -> None:
    window = window_of(car)
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    with pytest.raises(ServiceValidationError, match="not loaded"):
        await call(car, "tunnihind.update_plan", entity_id=window, duration="02:00:00")


async def test_a_plan_with_an_unusable_form_has_no_controls_and_gives_an_error(car: Home) -> None:
    subentry = car.entry.subentries[PLAN_ID]
    car.hass.config_entries.async_update_subentry(car.entry, subentry, data={"duration": 17})
    await car.settle()
    assert car.state("switch", "enabled", PLAN_ID).state == "unavailable"
    assert car.state("number", "duration", PLAN_ID).state == "unavailable"
    with pytest.raises(ServiceValidationError, match=r"plan “Plan” can't be used.*Open the plan's form"):
        await update(car, duration="01:00:00")
