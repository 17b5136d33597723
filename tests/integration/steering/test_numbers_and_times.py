"""Plans whose duration, need, bounds and price limit are set by numbers and times."""

import pytest
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.const import DOMAIN
from tests.integration.household.test_diagnostics import ask_calendar
from tests.support.household.automations import restart
from tests.support.household.home import PLAN_ID, PUBLISHED_TODAY, Home, MakeHome, instant
from tests.support.household.steering import (
    BY_ENERGY,
    CAR,
    KEY,
    MIDNIGHT,
    MINUTE_S,
    Files,
    at,
    length,
    pieces,
    set_number,
    set_time,
    switch,
    update,
)
from tunnihind.core.market import HOUR_S, QUARTER_S


async def test_numbers_and_times_show_the_forms_values_and_change_the_plan_at_once(car: Home) -> None:
    assert float(car.state("number", "duration", PLAN_ID).state) == 240
    assert float(car.state("number", "price_cap", PLAN_ID).state) == 50
    assert car.state("time", "earliest", PLAN_ID).state == "22:00:00"
    assert car.state("time", "deadline", PLAN_ID).state == "07:00:00"
    await set_number(car, "duration", 120)
    assert length(car) == 2 * HOUR_S
    await set_time(car, "deadline", "00:00:00")
    assert pieces(car)[-1][1] <= at(24)
    await set_number(car, "duration", 30)
    assert length(car) == 2 * QUARTER_S, "shorter than a piece of the form"
    await set_number(car, "duration", 240)
    await set_time(car, "deadline", "07:00:00")
    assert not car.entry.runtime_data.planner.plan(PLAN_ID).changes


async def test_bounds_can_be_moved_one_after_the_other(car: Home) -> None:
    await set_time(car, "earliest", "06:00:00")
    assert car.value("status", PLAN_ID) != "unavailable"
    await set_time(car, "deadline", "06:30:00")
    assert car.value("status", PLAN_ID) == "too_little_time"
    assert car.state("binary_sensor", "window", PLAN_ID).attributes["reason"] == "too_little_time"
    await set_time(car, "deadline", "16:00:00")
    assert length(car) == 4 * HOUR_S


async def test_a_number_out_of_its_steps_or_range_is_refused(car: Home) -> None:
    for minutes in (20, 100.5):
        with pytest.raises(ServiceValidationError, match=r"duration.*steps of 15 minutes"):
            await set_number(car, "duration", minutes)
    for cents in (float("nan"), 501, -501):
        with pytest.raises(ServiceValidationError):
            await set_number(car, "price_cap", cents)
    assert float(car.state("number", "duration", PLAN_ID).state) == 240
    assert float(car.state("number", "price_cap", PLAN_ID).state) == 50


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
    with pytest.raises(ServiceValidationError, match="duration: give a duration"):
        await update(home, energy=None, power=None)
    assert pieces(home) == []
    await update(home, energy=None, power=None, duration="01:30:00")
    assert length(home) == 1.5 * HOUR_S


async def test_a_plan_changed_to_energy_has_its_number_and_no_duration(car: Home) -> None:
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


async def test_changes_are_on_disk_when_the_call_returns(car: Home, hass_storage: Files) -> None:
    await car.hass.services.async_call(
        "number",
        "set_value",
        {"entity_id": car.state("number", "duration", PLAN_ID).entity_id, "value": 60},
        blocking=True,
    )
    steered = hass_storage[KEY]["data"]["steered"][PLAN_ID]
    assert (steered["form"], steered["changes"], steered["enabled"]) == (dict(CAR), {"duration": 60}, True)


async def test_changes_last_over_a_restart_without_the_server(car: Home) -> None:
    await update(car, duration="01:00:00", deadline=None)
    await car.server.runner.cleanup()
    await restart(car)
    assert float(car.state("number", "duration", PLAN_ID).state) == 60
    assert car.state("time", "deadline", PLAN_ID).state == "unknown"
    await set_number(car, "duration", 120)
    assert length(car) == 2 * HOUR_S


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


async def test_replan_does_not_switch_a_running_device_off_and_counts_what_has_run(night: Home) -> None:
    await night.at(at(2) + 7 * MINUTE_S)
    await update(night, duration="01:00:00", replan=True)
    assert night.is_on("window", PLAN_ID)
    assert await ask_calendar(night, MIDNIGHT, 24) == [("Plan", at(1), at(2.25))]
    await night.at(at(2.25))
    assert not night.is_on("window", PLAN_ID)
    assert pieces(night) == [(at(24), at(25))]


async def test_replan_allows_a_window_after_one_that_is_over(night: Home) -> None:
    await night.at(at(5))
    await update(night)
    assert night.value("status", PLAN_ID) == "done"
    await update(night, replan=True)
    assert length(night) == 3 * HOUR_S
    assert pieces(night)[0][0] == at(5)
