"""The plan of a battery on its entities, in Home Assistant with a recorder."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice, pairwise
from threading import Event as ThreadEvent
from typing import Any

import numpy as np
import pytest
from homeassistant.components.recorder.db_schema import StateAttributes
from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import label_registry as lr
from homeassistant.helpers.json import json_dumps

from custom_components.tunnihind.battery.battery import Steps
from custom_components.tunnihind.battery.commands import Action, Command
from custom_components.tunnihind.household import battery_planner
from tests.integration.household.test_diagnostics import ask_calendar, diagnostics_of
from tests.support.household.automations import restart
from tests.support.household.battery import (
    BATTERY,
    BATTERY_ID,
    LOAD,
    STATE_OF_CHARGE,
    action,
    attributes,
    charge,
    count,
    entity,
    plan_of,
)
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.steering import call, pieces
from tunnihind.core.market import HOUR_S, QUARTER_S

pytestmark = pytest.mark.usefixtures("recorder_mock")

AFTERNOON = "2026-01-14T15:00:00+02:00"
SAFE = {"hold", "store_sun"}


async def test_the_plan_says_what_to_do_how_strongly_until_when_and_what_it_saves(house: Home) -> None:
    told = attributes(house)
    assert action(house) in {"charge", "hold", "discharge"}
    assert float(house.value("planned_power", BATTERY_ID)) == told["power"]
    assert instant(told["until"]) > house.now
    assert instant(told["course"][0]["start"]) == house.now
    assert told["course"][0]["action"] == action(house)
    saving = house.state("sensor", "expected_saving", BATTERY_ID)
    assert float(saving.state) >= saving.attributes["beyond_sun"] > 0
    worth = house.state("sensor", "worth_of_stored_energy", BATTERY_ID)
    assert (worth.attributes["unit_of_measurement"], float(worth.state) > 0) == ("EUR/kWh", True)
    assert worth.attributes["now"] > 0


async def test_the_course_has_one_item_for_each_run_of_an_action_without_gaps(house: Home) -> None:
    told, plan = attributes(house), plan_of(house)
    course = told["course"]
    assert all(one["end"] == later["start"] and one["action"] != later["action"] for one, later in pairwise(course))
    assert instant(course[-1]["end"]) == plan.steps.end
    assert course[0]["end"] == told["until"]
    assert told["expected_power"] == round(plan.course.power_kw[0], 3)
    energy = sum(one["power"] * (instant(one["end"]) - instant(one["start"])) / HOUR_S for one in course)
    assert energy == pytest.approx(plan.course.power_kw @ plan.steps.hours, abs=0.01 * len(course))


async def test_the_course_of_a_restless_plan_stays_below_16_kb(house: Home) -> None:
    plan = plan_of(house)
    restless = cycle((Command(Action.STORE_SUN, 5.0), Command(Action.DISCHARGE, 5.0)))
    starts = house.now + QUARTER_S * np.arange(9 * 96)
    few = np.full(len(starts), -12.345)
    steps = Steps(starts, int(starts[-1]) + QUARTER_S, few, few, few)
    course = replace(plan.course, power_kw=few, stored_kwh=few + 22.2)
    decision = replace(
        house.entry.runtime_data.battery_planner.decision(BATTERY_ID),
        plan=replace(plan, steps=steps, course=course, commands=tuple(islice(restless, len(starts)))),
    )
    house.entry.runtime_data.battery_planner.decisions[BATTERY_ID] = decision
    house.entry.runtime_data.async_update_listeners()
    assert len(json_dumps(attributes(house))) < 16_384
    assert len(attributes(house)["course"]) > 96


async def test_the_calendar_shows_when_the_battery_charges_and_discharges(house: Home) -> None:
    events = await ask_calendar(house, house.now, 24 * 9)
    of_battery = [event for event in events if event[0].startswith("Battery")]
    words = {"charge": "Battery: charge", "discharge": "Battery: discharge for the home", "sell": "Battery: sell"}
    assert of_battery == [(words[run.action], run.start, run.end) for run in plan_of(house).runs if run.action in words]
    assert {title for title, _, _ in of_battery} == {words["charge"], words["discharge"]}
    assert len(events) > len(of_battery)
    await call(house, "switch.turn_off", entity_id=entity(house, "switch", "enabled"))
    assert [event for event in await ask_calendar(house, house.now, 48) if event[0].startswith("Battery")] == []


async def test_the_state_of_charge_never_leaves_its_limits_in_the_course(house: Home) -> None:
    assert all(20 <= step["state_of_charge"] <= 100 for step in attributes(house)["course"])


async def test_every_state_can_be_sent_to_a_browser(hass: HomeAssistant, house: Home) -> None:
    shown = [state for state in hass.states.async_all() if ".battery_" in state.entity_id]
    assert len(shown) == 8
    assert all(json.loads(json_dumps(state.as_dict()))["state"] == state.state for state in shown)


async def test_the_recorder_stores_no_course(house: Home) -> None:
    state = house.state("sensor", "action", BATTERY_ID)
    changed = EventStateChangedData(entity_id=state.entity_id, old_state=None, new_state=state)
    stored = StateAttributes.shared_attrs_bytes_from_event(Event(EVENT_STATE_CHANGED, changed), dialect=None)
    assert "until" in json.loads(stored)
    assert "course" not in json.loads(stored)


async def test_a_battery_has_its_own_device_and_few_entities_at_first(hass: HomeAssistant, house: Home) -> None:
    [device] = [
        device for device in dr.async_entries_for_config_entry(dr.async_get(hass), "entry") if device.name == "Battery"
    ]
    entities = er.async_entries_for_device(er.async_get(hass), device.id, include_disabled_entities=True)
    assert {one.config_subentry_id for one in entities} == {BATTERY_ID}
    assert {one.unique_id.removeprefix("battery_") for one in entities if not one.disabled} == {
        "action", "planned_power", "worth_of_stored_energy", "expected_saving", "saved_total", "enabled", "reserve",
        "target_soc",
    }  # fmt: skip


async def test_new_prices_make_a_new_plan(make_home: MakeHome) -> None:
    home = await make_home(AFTERNOON, "2026-01-15T01:00:00+02:00", price_of=lambda _: 100.0)
    home.forecast_of = None
    await count(home, LOAD)
    charge(home.hass, 50)
    await home.add(batteries={BATTERY_ID: BATTERY})
    assert action(home) != "charge"
    home.price_of = lambda start: 10.0 if start < instant("2026-01-14T17:00:00+02:00") else 400.0
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert action(home) == "charge"


async def test_each_quarter_is_planned_from_the_state_of_charge_that_is(house: Home) -> None:
    planned = plan_of(house).course.stored_kwh[1]
    charge(house.hass, 51)
    await house.at(house.now + QUARTER_S)
    assert instant(attributes(house)["course"][0]["start"]) == house.now
    assert plan_of(house).course.stored_kwh[1] != planned


async def test_a_state_of_charge_that_jumps_is_planned_anew_at_once(house: Home) -> None:
    before = attributes(house)["course"]
    house.set_clock(house.now + 60)
    charge(house.hass, 51)
    await house.settle()
    assert attributes(house)["course"] == before
    charge(house.hass, 90)
    await house.settle()
    assert instant(attributes(house)["course"][0]["start"]) == house.now
    assert attributes(house)["course"][0]["state_of_charge"] > 80


async def test_a_state_of_charge_that_can_change_no_decision_is_ignored(house: Home) -> None:
    await call(house, "switch.turn_off", entity_id=entity(house, "switch", "enabled"))
    updates: list[str] = []
    house.entry.runtime_data.async_add_listener(lambda: updates.append(action(house)))
    charge(house.hass, 90)
    await house.settle()
    assert updates == []


@pytest.fixture
def slow_plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ThreadEvent, ThreadEvent]]:
    """Let plans wait in their thread. The first event says that one has begun, and the second lets all end."""
    begun, may_end = ThreadEvent(), ThreadEvent()
    decide = battery_planner._decide

    def wait_and_decide(*known: Any) -> battery_planner.Decision:  # noqa: ANN401  the arguments of the function
        begun.set()
        assert may_end.wait(30)
        return decide(*known)

    monkeypatch.setattr(battery_planner, "_decide", wait_and_decide)
    yield begun, may_end
    may_end.set()


@pytest.mark.parametrize("change", [{"enabled": False}, {"reserve": 95}, {"replan": True}])
async def test_a_plan_whose_battery_was_changed_meanwhile_never_counts(
    hass: HomeAssistant, house: Home, slow_plans: tuple[ThreadEvent, ThreadEvent], change: dict[str, Any]
) -> None:
    begun, may_end = slow_plans
    planner = house.entry.runtime_data.battery_planner
    before = planner.decision(BATTERY_ID)
    decisions: list[battery_planner.Decision] = []
    house.entry.runtime_data.async_add_listener(lambda: decisions.append(planner.decision(BATTERY_ID)))
    charge(hass, 90)
    await hass.async_add_executor_job(begun.wait, 30)
    data = {"entity_id": entity(house, "sensor", "action"), **change}
    await hass.services.async_call("tunnihind", "update_plan", data, blocking=True)
    may_end.set()
    await house.settle()
    assert {id(decision) for decision in decisions} == {id(before), id(planner.decision(BATTERY_ID))}
    assert planner.decision(BATTERY_ID).plan is None or planner.decision(BATTERY_ID).plan.changed


async def test_a_plan_that_is_made_while_its_entry_unloads_never_counts(
    hass: HomeAssistant, house: Home, slow_plans: tuple[ThreadEvent, ThreadEvent]
) -> None:
    begun, may_end = slow_plans
    planner = house.entry.runtime_data.battery_planner
    before = planner.decision(BATTERY_ID)
    charge(hass, 90)
    await hass.async_add_executor_job(begun.wait, 30)
    assert await hass.config_entries.async_unload(house.entry.entry_id)
    may_end.set()
    await house.settle()
    assert planner.decision(BATTERY_ID) is before


@pytest.mark.parametrize(
    ("state", "unit", "reason"),
    [
        ("unknown", "%", "state_of_charge_unknown"),
        ("unavailable", "%", "state_of_charge_unknown"),
        ("full", "%", "state_of_charge_unknown"),
        ("nan", "%", "state_of_charge_unknown"),
        ("0.5", None, "state_of_charge_unit"),
        ("51.2", "V", "state_of_charge_unit"),
        ("140", "%", "state_of_charge_range"),
        ("-1", "%", "state_of_charge_range"),
        ("55", "kWh", "state_of_charge_range"),
    ],
)
async def test_a_state_of_charge_that_cannot_be_read_is_said_and_commands_nothing(
    house: Home, state: str, unit: str | None, reason: str
) -> None:
    charge(house.hass, state, unit)
    await house.settle()
    assert attributes(house)["reason"] == reason
    assert action(house) in SAFE
    assert house.value("planned_power", BATTERY_ID) == "unknown"
    charge(house.hass, 50)
    await house.settle()
    assert "reason" not in attributes(house)


async def test_actions_stay_when_the_state_of_charge_was_unknown_for_a_moment(house: Home) -> None:
    charge(house.hass, "unavailable")
    await house.settle()
    charge(house.hass, 50)
    await house.settle()
    assert not plan_of(house).changed


async def test_settings_that_change_make_a_plan_of_their_own(house: Home) -> None:
    sensor = entity(house, "sensor", "action")
    for change in ({"reserve": 21}, {"replan": True}):
        await call(house, "tunnihind.update_plan", entity_id=sensor, **change)
        assert plan_of(house).changed


@pytest.mark.parametrize(("state", "unit"), [("50", "%"), ("5", "kWh"), ("5000", "Wh")])
async def test_energy_in_any_unit_is_the_same_state_of_charge(roofless: Home, state: str, unit: str) -> None:
    charge(roofless.hass, state, unit)
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    first = attributes(roofless)["course"][0]
    charge(roofless.hass, 50)
    await roofless.settle()
    assert attributes(roofless)["course"][0] == first


async def test_a_state_of_charge_that_shows_no_effect_of_commands_is_old(make_home: MakeHome) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, price_of=lambda _: 100.0)
    await count(home, LOAD, lambda _: 3.0)
    charge(home.hass, 90)
    await home.add(batteries={BATTERY_ID: BATTERY})
    assert action(home) == "discharge"
    await home.at(home.now + HOUR_S)
    assert (action(home) in SAFE, attributes(home)["reason"]) == (True, "state_of_charge_old")
    await home.at(home.now + HOUR_S)
    assert attributes(home)["reason"] == "state_of_charge_old"
    charge(home.hass, 60)
    await home.settle()
    assert action(home) == "discharge"


async def test_a_battery_that_holds_needs_no_report_for_hours(make_home: MakeHome) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, price_of=lambda _: 100.0)
    await count(home, LOAD)
    charge(home.hass, 20)
    await home.add(batteries={BATTERY_ID: BATTERY})
    home.set_clock(home.now + 6 * HOUR_S)
    await home.at(home.now + QUARTER_S)
    assert "reason" not in attributes(home)
    home.set_clock(home.now + 18 * HOUR_S)
    await home.at(home.now + QUARTER_S)
    assert attributes(home)["reason"] == "state_of_charge_old"


async def test_without_prices_nothing_is_bought_and_the_battery_says_so(make_home: MakeHome) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW)
    home.forecast_of = None
    home.serve()
    await count(home, LOAD)
    charge(home.hass, 50)
    await home.add(batteries={BATTERY_ID: BATTERY})
    assert "reason" not in attributes(home)
    home.set_clock(instant(PUBLISHED_TOMORROW) - QUARTER_S)
    await home.at(instant(PUBLISHED_TOMORROW))
    assert (action(home) in SAFE, attributes(home)["reason"]) == (True, "no_prices")


async def test_negative_prices_fill_the_battery(make_home: MakeHome) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, price_of=lambda _: -50.0)
    home.forecast_of = lambda _: -50.0
    home.serve()
    await count(home, LOAD)
    charge(home.hass, 50)
    await home.add(batteries={BATTERY_ID: BATTERY})
    assert max(step["state_of_charge"] for step in attributes(home)["course"]) == 100


async def test_the_switch_stops_the_plan_and_a_restart_keeps_it_so(hass: HomeAssistant, house: Home) -> None:
    await call(house, "switch.turn_off", entity_id=entity(house, "switch", "enabled"))
    assert (action(house) in SAFE, attributes(house)["reason"]) == (True, "switched_off")
    await restart(house)
    assert house.state("switch", "enabled", BATTERY_ID).state == "off"
    assert attributes(house)["reason"] == "switched_off"
    await call(house, "switch.turn_on", entity_id=entity(house, "switch", "enabled"))
    assert "reason" not in attributes(house)


async def test_the_reserve_of_a_number_is_kept_by_the_plan(house: Home) -> None:
    await call(house, "number.set_value", entity_id=entity(house, "number", "reserve"), value=50)
    assert house.state("number", "reserve", BATTERY_ID).state == "50.0"
    assert all(step["state_of_charge"] >= 50 for step in attributes(house)["course"])


@pytest.mark.parametrize("stored", [0, 10, 20])
async def test_a_battery_at_or_below_its_reserve_gets_no_command_to_discharge(make_home: MakeHome, stored: int) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, price_of=lambda _: 4_000.0)
    await count(home, LOAD)
    charge(home.hass, stored)
    await home.add(batteries={BATTERY_ID: BATTERY}, options={"selling": {"resolution": "hour", "rows": [{}]}})
    assert "reason" not in attributes(home)
    assert action(home) not in {"discharge", "sell"}


async def test_stored_energy_is_sold_at_high_prices_only_if_the_household_sells(make_home: MakeHome) -> None:
    evening = instant("2026-01-14T17:00:00+02:00")
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW, price_of=lambda start: 400.0 if start < evening else 10.0)
    await count(home, LOAD)
    charge(home.hass, 90)
    await home.add(batteries={BATTERY_ID: BATTERY}, options={"selling": {"resolution": "hour", "rows": [{}]}})
    assert "sell" in {step["action"] for step in attributes(home)["course"]}
    home.hass.config_entries.async_update_entry(home.entry, options={})
    await home.settle()
    assert "sell" not in {step["action"] for step in attributes(home)["course"]}
    assert "not_selling" in attributes(home)["notes"]


async def test_a_target_is_reached_by_its_deadline(house: Home) -> None:
    deadline = instant("2026-01-15T17:00:00+02:00")
    await call(house, "number.set_value", entity_id=entity(house, "number", "target_soc"), value=95)
    plan = plan_of(house)
    assert plan.course.stored_kwh[plan.steps.starts.searchsorted(deadline) - 1] >= 9.5


@pytest.mark.parametrize(("key", "value"), [("reserve", 90), ("target_soc", 90)])
async def test_a_number_above_the_highest_state_of_charge_is_refused(roofless: Home, key: str, value: int) -> None:
    await roofless.add(batteries={BATTERY_ID: {**BATTERY, "highest": 80}})
    with pytest.raises(ServiceValidationError) as refusal:
        await call(roofless, "number.set_value", entity_id=entity(roofless, "number", key), value=value)
    assert (refusal.value.translation_placeholders or {})["field"] == key
    assert float(roofless.state("number", "reserve", BATTERY_ID).state) == 20


async def test_the_action_changes_and_clears_a_batterys_settings(house: Home) -> None:
    sensor = entity(house, "sensor", "action")
    answer = await call(
        house, "tunnihind.update_plan", answers=True, entity_id=sensor, target_soc=80, deadline="07:00", reserve=30
    )
    assert answer["plans"] == [{"plan": "Battery", "enabled": True, "changed": ["deadline", "reserve", "target_soc"]}]
    await call(house, "tunnihind.update_plan", entity_id=sensor, clear=["reserve"], enabled=False)
    assert house.state("number", "reserve", BATTERY_ID).state == "20"
    assert attributes(house)["reason"] == "switched_off"


@pytest.mark.parametrize(
    ("owner", "key", "data"), [(BATTERY_ID, "action", {"price_cap": 5}), (PLAN_ID, "status", {"reserve": 5})]
)
async def test_a_setting_of_the_other_kind_is_refused(house: Home, owner: str, key: str, data: dict[str, Any]) -> None:
    with pytest.raises(ServiceValidationError) as refusal:
        await call(house, "tunnihind.update_plan", entity_id=house.state("sensor", key, owner).entity_id, **data)
    assert refusal.value.translation_key == "no_such_field"


async def test_a_label_stands_for_the_plans_and_batteries_that_have_the_setting(
    hass: HomeAssistant, house: Home
) -> None:
    label = lr.async_get(hass).async_create("Devices").label_id
    for device in dr.async_entries_for_config_entry(dr.async_get(hass), "entry"):
        dr.async_get(hass).async_update_device(device.id, labels={label})

    async def changed(**data: Any) -> list[str]:  # noqa: ANN401  fields of the action
        answer = await call(house, "tunnihind.update_plan", answers=True, label_id=label, **data)
        return sorted(plan["plan"] for plan in answer["plans"])

    assert await changed(reserve=30) == ["Battery"]
    assert await changed(duration="01:00:00") == ["Plan"]
    assert await changed(deadline="23:00") == ["Battery", "Plan"]


async def test_settings_that_do_not_work_make_the_battery_unavailable(
    hass: HomeAssistant, roofless: Home, caplog: pytest.LogCaptureFixture
) -> None:
    await roofless.add(batteries={BATTERY_ID: {**BATTERY, "capacity": 0}})
    assert action(roofless) == "unavailable"
    assert "'Battery' can't be used" in caplog.text
    subentry = roofless.entry.subentries[BATTERY_ID]
    hass.config_entries.async_update_subentry(roofless.entry, subentry, data=BATTERY)
    await roofless.settle()
    assert action(roofless) != "unavailable"


async def test_a_battery_that_is_removed_takes_its_entities_and_no_plans(hass: HomeAssistant, house: Home) -> None:
    window = pieces(house)
    hass.config_entries.async_remove_subentry(house.entry, BATTERY_ID)
    await house.settle()
    charge(hass, 20)
    await house.settle()
    registered = er.async_entries_for_config_entry(er.async_get(hass), house.entry.entry_id)
    assert not [one for one in registered if one.unique_id.startswith(BATTERY_ID)]
    assert pieces(house) == window


async def test_an_entry_with_a_battery_unloads_and_loads_again(hass: HomeAssistant, house: Home) -> None:
    assert await hass.config_entries.async_unload(house.entry.entry_id)
    charge(hass, 20)
    await house.settle()
    assert await hass.config_entries.async_setup(house.entry.entry_id)
    await house.settle()
    assert "reason" not in attributes(house)


async def test_plans_are_the_same_with_and_without_a_battery(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(AFTERNOON, PUBLISHED_TOMORROW)
    await home.add()

    def of_plans() -> dict[str, tuple[str, dict[str, object]]]:
        registered = er.async_entries_for_config_entry(er.async_get(hass), home.entry.entry_id)
        shown = {
            one.entity_id: hass.states.get(one.entity_id) for one in registered if one.config_subentry_id == PLAN_ID
        }
        return {name: (state.state, dict(state.attributes)) for name, state in shown.items() if state}

    before = of_plans()
    await hass.config_entries.async_remove(home.entry.entry_id)
    await count(home, LOAD)
    charge(hass, 50)
    await home.add(batteries={BATTERY_ID: BATTERY})
    assert of_plans() == before


async def test_diagnostics_tell_the_batterys_plan_and_its_inputs(house: Home) -> None:
    told = json.loads(await diagnostics_of(house))["batteries"][BATTERY_ID]
    assert told["plan"]["action"] == action(house)
    assert told["reading"]["stored_kwh"] == 5
    assert told["steered"]["form"]["state_of_charge"] == STATE_OF_CHARGE
