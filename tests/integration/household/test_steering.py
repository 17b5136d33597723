"""Plans that people and automations steer: by a switch, numbers, times and one action, beside the form."""

from collections.abc import Mapping
from typing import Any

import pytest
import voluptuous as vol
from homeassistant.config_entries import SOURCE_RECONFIGURE, SubentryFlowContext
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.plans.settings import WEEKDAYS
from tests.integration.household.test_diagnostics import ask_calendar
from tests.integration.household.test_entities import enable_all
from tests.integration.household.test_plans import device_of
from tests.support.flows import shown
from tests.support.home import PLAN_ID, PUBLISHED_TODAY, Home, MakeHome, instant
from tunnihind.market import HOUR_S, QUARTER_S

EVERY_DAY: Mapping[str, Any] = {"weekdays": list(WEEKDAYS), "days": 1, "horizon": "published"}
ONE_PIECE: Mapping[str, Any] = {**EVERY_DAY, "duration": 180, "split": False}
SPLIT: Mapping[str, Any] = {**EVERY_DAY, "duration": 180, "split": True, "min_piece": 60}
CAR: Mapping[str, Any] = {
    **EVERY_DAY,
    "duration": 240,
    "split": True,
    "min_piece": 60,
    "earliest": "22:00:00",
    "deadline": "07:00:00",
    "horizon": "expected",
    "price_cap": 50.0,
}
BY_ENERGY: Mapping[str, Any] = {**EVERY_DAY, "energy": 10, "power": 4, "split": True, "min_piece": 30}
MIDNIGHT = instant("2026-01-14T00:00:00+02:00")
KEY = "tunnihind.entry"
MINUTE_S = 60

type Files = dict[str, Any]


def cheap_from_one_to_four(start: int) -> float:
    return 10.0 if MIDNIGHT + HOUR_S <= start < MIDNIGHT + 4 * HOUR_S else 90.0


@pytest.fixture
async def night(make_home: MakeHome) -> Home:
    """Return a home at midnight, with a plan in one piece whose window is from 01:00 to 04:00."""
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.add(plans={PLAN_ID: ONE_PIECE})
    return home


async def call(home: Home, action: str, *, answers: bool = False, **data: Any) -> Any:  # noqa: ANN401  an answer
    domain, _, name = action.partition(".")
    answer = await home.hass.services.async_call(domain, name, data, blocking=True, return_response=answers)
    await home.settle()
    return answer


async def update(home: Home, plan_id: str = PLAN_ID, **data: Any) -> None:  # noqa: ANN401  fields of the action
    await call(home, "tunnihind.update_plan", entity_id=window_of(home, plan_id), **data)


def window_of(home: Home, plan_id: str = PLAN_ID) -> str:
    return home.state("binary_sensor", "window", plan_id).entity_id


async def switch(home: Home, on: bool) -> None:
    entity_id = home.state("switch", "enabled", PLAN_ID).entity_id
    await call(home, f"switch.turn_{'on' if on else 'off'}", entity_id=entity_id)


def pieces(home: Home, plan_id: str = PLAN_ID) -> list[tuple[int, int]]:
    listed = home.state("binary_sensor", "window", plan_id).attributes.get("pieces", [])
    return [(instant(piece["start"]), instant(piece["end"])) for piece in listed]


def at(hours: float) -> int:
    """Return the instant so many hours after midnight."""
    return int(MIDNIGHT + hours * HOUR_S)


async def restart(home: Home) -> None:
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()


# The switch


async def test_a_plan_switched_off_has_no_window_and_says_so(night: Home) -> None:
    assert night.state("switch", "enabled", PLAN_ID).state == "on"
    await switch(night, on=False)
    assert night.state("switch", "enabled", PLAN_ID).state == "off"
    assert night.value("status", PLAN_ID) == "switched_off"
    assert night.value("window_start", PLAN_ID) == "unknown"
    window = night.state("binary_sensor", "window", PLAN_ID)
    assert (window.state, window.attributes["reason"]) == ("off", "switched_off")
    assert await ask_calendar(night, MIDNIGHT, 48) == []
    await night.at(at(2))
    assert not night.is_on("window", PLAN_ID)
    assert night.state("calendar", "plans").state == "off"


async def test_a_plan_switched_on_before_its_window_runs_as_if_nothing_had_been(night: Home) -> None:
    before = pieces(night)
    await switch(night, on=False)
    await switch(night, on=True)
    assert pieces(night) == before == [(at(1), at(4))]
    assert night.value("status", PLAN_ID) == "planned"


async def test_a_window_ends_at_the_moment_it_is_switched_off(night: Home) -> None:
    await night.at(at(2) + 7 * MINUTE_S)
    assert night.is_on("window", PLAN_ID)
    await switch(night, on=False)
    assert not night.is_on("window", PLAN_ID)
    assert instant(night.state("binary_sensor", "window", PLAN_ID).attributes["last_ended"]) == night.now
    assert await ask_calendar(night, MIDNIGHT, 48) == [("Plan", at(1), at(2) + 7 * MINUTE_S)]


async def test_a_window_switched_off_and_on_goes_on_where_it_would_be(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await night.at(at(2.5))
    await switch(night, on=True)
    assert night.is_on("window", PLAN_ID)
    assert pieces(night) == [(at(1), at(2)), (at(2.5), at(4))]
    assert await ask_calendar(night, MIDNIGHT, 24) == [("Plan", at(1), at(2)), ("Plan", at(2.5), at(4))]
    await night.at(at(4))
    assert night.value("status", PLAN_ID) == "done"


async def test_a_slip_of_the_finger_loses_nothing(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await switch(night, on=True)
    assert pieces(night) == [(at(1), at(4))]
    assert night.state("binary_sensor", "window", PLAN_ID).attributes["shortened"] is False


async def test_one_piece_that_was_cut_off_has_run_unless_it_is_to_be_planned_anew(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await night.at(at(5))
    await switch(night, on=True)
    assert (night.value("status", PLAN_ID), pieces(night)) == ("done", [])
    await update(night, replan=True)
    assert pieces(night) == [(at(5), at(8))]


async def test_a_window_that_ran_does_not_run_again_for_a_switch(night: Home) -> None:
    await night.at(at(5))
    await switch(night, on=False)
    await switch(night, on=True)
    assert night.value("status", PLAN_ID) == "done"
    assert pieces(night) == []


async def test_pieces_make_up_for_what_the_switch_took(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.add(plans={PLAN_ID: SPLIT})
    await home.at(at(2))
    await switch(home, on=False)
    await home.at(at(3))
    await switch(home, on=True)
    assert pieces(home) == [(at(1), at(2)), (at(3), at(5))]
    assert length(home) == 3 * HOUR_S


async def test_a_minute_that_the_switch_took_is_not_worth_a_start(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.add(plans={PLAN_ID: SPLIT})
    await home.at(at(2))
    await switch(home, on=False)
    home.set_clock(home.now + MINUTE_S)
    await switch(home, on=True)
    assert pieces(home) == [(at(1), at(2)), (at(2) + MINUTE_S, at(4))]


async def test_the_switch_stays_off_over_a_restart_and_a_saved_form(night: Home) -> None:
    await switch(night, on=False)
    await restart(night)
    assert night.state("switch", "enabled", PLAN_ID).state == "off"
    await save_form(night, duration={"hours": 2, "minutes": 0})
    assert night.state("switch", "enabled", PLAN_ID).state == "off"
    assert night.value("status", PLAN_ID) == "switched_off"
    await switch(night, on=True)
    assert pieces(night) == [(at(1), at(3))]


async def test_a_window_switched_off_goes_on_after_a_restart(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await restart(night)
    night.set_clock(at(3))
    await switch(night, on=True)
    assert pieces(night) == [(at(1), at(2)), (at(3), at(4))]


# Numbers and times


@pytest.fixture
async def car(make_home: MakeHome) -> Home:
    """Return a home in the morning with the plan of a car, with all entities enabled."""
    home = await make_home()
    await home.add(plans={PLAN_ID: CAR})
    await enable_all(home.hass, home)
    return home


async def set_number(home: Home, key: str, value: float, plan_id: str = PLAN_ID) -> None:
    entity_id = home.state("number", key, plan_id).entity_id
    await call(home, "number.set_value", entity_id=entity_id, value=value)


async def set_time(home: Home, key: str, value: str) -> None:
    await call(home, "time.set_value", entity_id=home.state("time", key, PLAN_ID).entity_id, time=value)


def length(home: Home, plan_id: str = PLAN_ID) -> int:
    return sum(end - start for start, end in pieces(home, plan_id))


async def test_numbers_and_times_show_what_the_form_says(car: Home) -> None:
    assert float(car.state("number", "duration", PLAN_ID).state) == 240
    assert float(car.state("number", "price_cap", PLAN_ID).state) == 50
    assert car.state("time", "earliest", PLAN_ID).state == "22:00:00"
    assert car.state("time", "deadline", PLAN_ID).state == "07:00:00"


async def test_a_number_and_a_time_change_the_plan_at_once(car: Home) -> None:
    await set_number(car, "duration", 120)
    assert length(car) == 2 * HOUR_S
    await set_time(car, "deadline", "00:00:00")
    assert pieces(car)[-1][1] <= at(24)


async def test_bounds_can_be_moved_one_after_the_other(car: Home) -> None:
    await set_time(car, "earliest", "06:00:00")
    assert car.value("status", PLAN_ID) != "unavailable"
    await set_time(car, "deadline", "06:30:00")
    assert car.value("status", PLAN_ID) == "too_little_time"
    assert car.state("binary_sensor", "window", PLAN_ID).attributes["reason"] == "too_little_time"
    await set_time(car, "deadline", "16:00:00")
    assert length(car) == 4 * HOUR_S


async def test_a_duration_shorter_than_a_piece_is_one_piece(car: Home) -> None:
    await set_number(car, "duration", 30)
    assert length(car) == 2 * QUARTER_S


@pytest.mark.parametrize("minutes", [20, 100.5])
async def test_a_duration_that_is_no_quarters_is_refused_and_nothing_changes(car: Home, minutes: float) -> None:
    with pytest.raises(ServiceValidationError, match=r"duration.*whole quarters of an hour"):
        await set_number(car, "duration", minutes)
    assert float(car.state("number", "duration", PLAN_ID).state) == 240


async def test_a_price_limit_is_in_the_households_unit(car: Home) -> None:
    limit = car.state("number", "price_cap", PLAN_ID)
    assert limit.attributes["unit_of_measurement"] == "c/kWh"
    car.hass.config_entries.async_update_entry(car.entry, options={"unit": "euros"})
    await car.settle()
    limit = car.state("number", "price_cap", PLAN_ID)
    assert (float(limit.state), limit.attributes["unit_of_measurement"]) == (0.5, "EUR/kWh")
    assert (limit.attributes["min"], limit.attributes["max"], limit.attributes["step"]) == (-5, 5, 0.0001)
    await set_number(car, "price_cap", 0.01)
    assert car.value("status", PLAN_ID) == "above_cap"
    assert car.entry.runtime_data.planner.plan(PLAN_ID).changes == {"price_cap": 1.0}


async def test_the_need_of_a_plan_by_energy_sets_its_duration(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: BY_ENERGY})
    assert length(home) == 10 * QUARTER_S
    await set_number(home, "energy", 3.3)
    assert length(home) == 4 * QUARTER_S  # rounded up
    await set_number(home, "energy", 0)
    assert pieces(home) == []
    registry = er.async_get(home.hass)
    assert registry.async_get_entity_id("number", DOMAIN, f"{PLAN_ID}_duration") is None


async def test_a_plan_by_energy_without_an_energy_needs_a_duration(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: BY_ENERGY})
    before = length(home)
    with pytest.raises(ServiceValidationError, match="duration: give one"):
        await update(home, energy=None, power=None)
    assert length(home) == before
    await update(home, energy=None, power=None, duration="01:30:00")
    assert length(home) == 1.5 * HOUR_S


async def test_a_plan_that_turns_to_energy_has_the_number_of_it_and_no_duration(car: Home) -> None:
    subentry = car.entry.subentries[PLAN_ID]
    registry = er.async_get(car.hass)
    car.hass.config_entries.async_update_subentry(car.entry, subentry, data=dict(BY_ENERGY))
    await car.settle()
    assert float(car.state("number", "energy", PLAN_ID).state) == 10
    assert registry.async_get_entity_id("number", DOMAIN, f"{PLAN_ID}_duration") is None
    car.hass.config_entries.async_update_subentry(car.entry, subentry, data=dict(CAR))
    await car.settle()
    assert registry.async_get_entity_id("number", DOMAIN, f"{PLAN_ID}_energy") is None
    assert registry.async_get_entity_id("number", DOMAIN, f"{PLAN_ID}_duration")


async def test_what_is_changed_is_on_the_disk_when_the_call_returns(car: Home, hass_storage: Files) -> None:
    await car.hass.services.async_call(
        "number",
        "set_value",
        {"entity_id": car.state("number", "duration", PLAN_ID).entity_id, "value": 60},
        blocking=True,
    )
    steered = hass_storage[KEY]["data"]["steered"]
    assert steered[PLAN_ID] == {"form": dict(CAR), "changes": {"duration": 60}, "enabled": True}


async def test_changes_last_over_a_restart_without_the_server(car: Home) -> None:
    await update(car, duration="01:00:00", deadline=None)
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    await car.server.runner.cleanup()
    await car.hass.config_entries.async_setup(car.entry.entry_id)
    await car.settle()
    assert float(car.state("number", "duration", PLAN_ID).state) == 60
    assert car.state("time", "deadline", PLAN_ID).state == "unknown"
    await set_number(car, "duration", 120)
    assert length(car) == 2 * HOUR_S


async def test_a_change_back_to_what_the_form_says_is_none(car: Home) -> None:
    await set_number(car, "duration", 60)
    await set_number(car, "duration", 240)
    assert not car.entry.runtime_data.planner.plan(PLAN_ID).changes


async def test_controls_stay_when_the_server_is_lost_and_prices_run_out(car: Home) -> None:
    car.forecast_of = None
    car.serve()
    await car.poll()
    await car.server.runner.cleanup()
    await car.at(instant(PUBLISHED_TODAY))
    assert car.value("current_price") == "unavailable"
    await set_number(car, "duration", 60)
    assert float(car.state("number", "duration", PLAN_ID).state) == 60
    await switch(car, on=False)
    assert car.value("status", PLAN_ID) == "switched_off"


async def test_a_window_that_has_begun_stays_when_the_plan_is_changed(night: Home) -> None:
    await night.at(at(2))
    await update(night, duration="01:00:00", deadline="02:00:00")
    assert pieces(night) == [(at(1), at(4))]
    assert night.is_on("window", PLAN_ID)


async def test_a_window_that_has_begun_is_let_go_of_when_asked(night: Home) -> None:
    await night.at(at(2) + 7 * MINUTE_S)
    await update(night, duration="01:00:00", replan=True)
    assert pieces(night) == [(at(2.25), at(3.25))]
    assert not night.is_on("window", PLAN_ID)
    assert await ask_calendar(night, MIDNIGHT, 24) == [
        ("Plan", at(1), at(2) + 7 * MINUTE_S),
        ("Plan", at(2.25), at(3.25)),
    ]


async def test_a_window_that_is_over_can_be_had_again(night: Home) -> None:
    await night.at(at(5))
    await update(night)
    assert night.value("status", PLAN_ID) == "done"
    await update(night, replan=True)
    assert length(night) == 3 * HOUR_S
    assert pieces(night)[0][0] == at(5)


# The form


async def form_of(home: Home) -> Any:  # noqa: ANN401  a form as Home Assistant gives it
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=PLAN_ID)
    return await home.hass.config_entries.subentries.async_init((home.entry.entry_id, "plan"), context=context)


async def save_form(home: Home, **fields: Any) -> None:  # noqa: ANN401  fields of the form
    form = await form_of(home)
    result = await home.hass.config_entries.subentries.async_configure(form["flow_id"], {**shown(form), **fields})
    assert result["type"] is FlowResultType.ABORT, result
    await home.settle()


async def test_the_form_shows_its_own_values_and_names_what_is_changed(car: Home) -> None:
    assert (await form_of(car))["description_placeholders"] == {"changes": ""}
    await update(car, duration="01:30:00", deadline="06:00", earliest=None, price_cap=12.5, horizon="cautious")
    form = await form_of(car)
    assert shown(form)["duration"] == {"hours": 4, "minutes": 0}
    assert shown(form)["when"]["deadline"] == "07:00:00"
    hint = form["description_placeholders"]["changes"]
    assert ":\n\n- Duration: 1:30\n- Earliest start: –\n- Deadline: 06:00\n" in hint
    assert "Forecast too, with caution" in hint
    assert "12.50 c/kWh" in hint


async def test_the_form_names_it_in_estonian(car: Home) -> None:
    car.hass.config.language = "et"
    await update(car, deadline="06:00", price_cap=12.5, energy=22.5, power=7.4)
    hint = (await form_of(car))["description_placeholders"]["changes"]
    assert "Tähtaeg: 06:00" in hint
    assert "Vajalik energia: 22,5 kWh" in hint
    assert "12,50 s/kWh" in hint


@pytest.mark.parametrize("fields", [{}, {"name": "Auto"}, {"duration": {"hours": 5, "minutes": 0}}])
async def test_saving_the_form_ends_what_was_changed(car: Home, fields: dict[str, Any], hass_storage: Files) -> None:
    await update(car, duration="01:00:00", deadline="06:00")
    await save_form(car, **fields)
    saved = 300 if "duration" in fields else 240
    assert float(car.state("number", "duration", PLAN_ID).state) == saved
    assert car.state("time", "deadline", PLAN_ID).state == "07:00:00"
    assert hass_storage[KEY]["data"]["steered"] == {}
    await restart(car)
    assert float(car.state("number", "duration", PLAN_ID).state) == saved


async def test_a_form_saved_while_the_server_is_not_loaded_ends_the_changes_too(car: Home) -> None:
    await update(car, duration="01:00:00")
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    await save_form(car, duration={"hours": 5, "minutes": 0})
    await car.hass.config_entries.async_setup(car.entry.entry_id)
    await car.settle()
    assert float(car.state("number", "duration", PLAN_ID).state) == 300


# The action


async def test_the_action_changes_several_fields_at_once_and_tells_the_window(car: Home) -> None:
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


async def test_the_action_tells_what_a_plan_by_energy_will_cost(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: BY_ENERGY})
    answer = await call(home, "tunnihind.update_plan", answers=True, entity_id=window_of(home), energy=4)
    cost = answer["plans"][0]["cost"]
    assert cost["energy"] == 4
    assert cost["expected"] == pytest.approx(4 * answer["plans"][0]["average"], abs=1e-3)


async def test_what_is_cleared_is_as_in_the_form_again(car: Home) -> None:
    await update(car, duration="01:00:00", deadline="06:00")
    await update(car, clear=["deadline"])
    assert car.entry.runtime_data.planner.plan(PLAN_ID).changes == {"duration": 60}
    await update(car, clear="duration", earliest="21:00")
    assert car.entry.runtime_data.planner.plan(PLAN_ID).changes == {"earliest": "21:00:00"}


async def test_null_is_none_and_not_what_the_form_says(car: Home) -> None:
    await update(car, price_cap=None, earliest=None, deadline=None)
    assert car.state("number", "price_cap", PLAN_ID).state == "unknown"
    assert car.state("time", "earliest", PLAN_ID).state == "unknown"


REFUSED = [
    pytest.param({"duration": "00:20:00"}, "duration.*whole quarters", id="20 minutes"),
    pytest.param({"min_piece": "25:00:00"}, "min_piece.*to 1440 minutes", id="over a day"),
    pytest.param({"deadline": "06:00", "clear": ["deadline"]}, "deadline: it can't be both", id="set and cleared"),
    pytest.param({"energy": 5}, "power: give the kW", id="energy without power"),
    pytest.param({"energy": -1, "power": 3}, "energy: -1.0 is not a number of kWh from 0", id="less than nothing"),
    pytest.param({"energy": 5, "power": 3, "duration": "01:00:00"}, "duration: it follows", id="both"),
    pytest.param({"max_starts": 0}, "max_starts: 0 is not between", id="no starts"),
    pytest.param({"earliest": "22:00", "deadline": "22:30"}, "never run.*60 minutes.*30 minutes", id="no room"),
]


@pytest.mark.parametrize(("data", "says"), REFUSED)
async def test_what_can_not_be_is_refused_with_its_field_and_nothing_changes(
    car: Home, data: dict[str, Any], says: str
) -> None:
    with pytest.raises(ServiceValidationError, match=says):
        await update(car, enabled=False, price_cap=1, **data)
    assert car.state("switch", "enabled", PLAN_ID).state == "on"
    assert not car.entry.runtime_data.planner.plan(PLAN_ID).changes


@pytest.mark.parametrize(
    "data",
    [
        {"price_cap": "nan"},
        {"price_cap": "inf"},
        {"duration": float("inf")},
        {"duration": 1e300},
        {"min_piece": {"hours": float("inf")}},
        {"max_starts": 2.7},
        {"max_starts": float("inf")},
        {"energy": True},
        {"deadline": "25:00"},
        {"horizon": "sure"},
        {"clear": ["name"]},
        {"duration": None},
        {"x": 1},
    ],
)
async def test_what_is_no_value_of_a_field_is_refused(car: Home, data: dict[str, Any]) -> None:
    with pytest.raises(vol.Invalid, match=next(iter(data))):
        await update(car, enabled=False, **data)
    assert car.state("switch", "enabled", PLAN_ID).state == "on"


@pytest.mark.parametrize("value", [float("nan"), 501, -501])
async def test_a_number_takes_no_price_that_is_none(car: Home, value: float) -> None:
    with pytest.raises(ServiceValidationError):
        await set_number(car, "price_cap", value)
    assert float(car.state("number", "price_cap", PLAN_ID).state) == 50


async def test_a_plan_of_all_hours_below_a_price_keeps_its_price_and_has_no_duration(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: {**EVERY_DAY, "kind": "below", "price_cap": 9}})
    before = pieces(home)
    for data, says in (({"price_cap": None}, "price_cap"), ({"duration": "01:00:00"}, "duration")):
        with pytest.raises(ServiceValidationError, match=f"{says}: a plan of all hours below a price"):
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


async def test_automations_that_change_one_plan_at_the_same_time_lose_nothing(car: Home) -> None:
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
    with pytest.raises(ServiceValidationError, match="No plan of Tunnihind is among the targets"):
        await call(car, "tunnihind.update_plan", area_id=empty.id, duration="03:00:00")
    with pytest.raises(ServiceValidationError, match="“Tunnihind” is no plan"):
        await call(car, "tunnihind.update_plan", device_id=[device.id, server.id], duration="03:00:00")
    assert length(car) == 2 * HOUR_S


@pytest.mark.parametrize("other", ["light.kitchen", "sensor.tunnihind_current_price"])
async def test_what_is_named_has_to_be_a_plan(car: Home, other: str) -> None:
    er.async_get(car.hass).async_get_or_create("light", "elsewhere", "kitchen", suggested_object_id="kitchen")
    with pytest.raises(ServiceValidationError, match=f"“{other}” is no plan"):
        await call(car, "tunnihind.update_plan", entity_id=[window_of(car), other], duration="01:00:00")
    assert length(car) == 4 * HOUR_S


async def test_a_plan_that_is_gone_can_not_be_changed(car: Home, hass_storage: Files) -> None:
    await update(car, duration="01:00:00")
    window = window_of(car)
    car.hass.config_entries.async_remove_subentry(car.entry, PLAN_ID)
    await car.settle()
    with pytest.raises(ServiceValidationError, match=f"“{window}” is no plan"):
        await call(car, "tunnihind.update_plan", entity_id=window, duration="02:00:00")
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    assert hass_storage[KEY]["data"]["steered"] == {}


async def test_a_plan_whose_server_is_not_loaded_says_so(car: Home) -> None:
    window = window_of(car)
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    with pytest.raises(ServiceValidationError, match="not loaded"):
        await call(car, "tunnihind.update_plan", entity_id=window, duration="02:00:00")


async def test_a_plan_whose_form_can_not_be_used_has_no_controls_and_says_so(car: Home) -> None:
    subentry = car.entry.subentries[PLAN_ID]
    car.hass.config_entries.async_update_subentry(car.entry, subentry, data={"duration": 17})
    await car.settle()
    assert car.state("switch", "enabled", PLAN_ID).state == "unavailable"
    assert car.state("number", "duration", PLAN_ID).state == "unavailable"
    with pytest.raises(ServiceValidationError, match=r"plan “Plan” can't be used.*Open its form"):
        await update(car, duration="01:00:00")


# What is stored


async def test_stored_changes_that_can_not_be_read_leave_the_plan_as_its_form_says(
    car: Home, hass_storage: Files
) -> None:
    await update(car, duration="01:00:00")
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    for spoilt in ({"changes": 7}, {"form": dict(CAR), "changes": {"duration": 7}, "enabled": True}):
        hass_storage[KEY]["data"]["steered"] = {PLAN_ID: spoilt}
        await car.hass.config_entries.async_setup(car.entry.entry_id)
        await car.settle()
        assert float(car.state("number", "duration", PLAN_ID).state) == 240
        await car.hass.config_entries.async_unload(car.entry.entry_id)


async def test_what_an_older_version_stored_has_no_changes(car: Home, hass_storage: Files) -> None:
    await car.hass.config_entries.async_unload(car.entry.entry_id)
    del hass_storage[KEY]["data"]["steered"]
    await car.hass.config_entries.async_setup(car.entry.entry_id)
    await car.settle()
    assert float(car.state("number", "duration", PLAN_ID).state) == 240
    assert car.state("switch", "enabled", PLAN_ID).state == "on"
