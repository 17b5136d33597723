"""Plans in Home Assistant: windows that come, run and end."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.const import DOMAIN
from tests.support.household.automations import restart
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S

ONE_PIECE: Mapping[str, Any] = {"duration": 180, "split": False}
MIDNIGHT = instant("2026-01-14T00:00:00+02:00")
NEXT_MIDNIGHT = instant("2026-01-15T00:00:00+02:00")


def device_of(hass: HomeAssistant, plan_id: str) -> dr.DeviceEntry | None:
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), "entry")
    return next((device for device in devices if (DOMAIN, plan_id) in device.identifiers), None)


def cheapest_block(home: Home, hours: int) -> int:
    """Return the start of the cheapest block of today's hours."""
    starts = range(MIDNIGHT, NEXT_MIDNIGHT - (hours - 1) * HOUR_S, HOUR_S)
    return min(starts, key=lambda start: sum(home.consumer_price(start + i * HOUR_S) for i in range(hours)))


@pytest.fixture
async def midnight(make_home: MakeHome) -> Home:
    """Return a home at midnight, with a plan in one piece."""
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: ONE_PIECE})
    return home


async def test_the_window_is_shown_before_it_begins_and_on_in_exactly_the_cheapest_hours(midnight: Home) -> None:
    begins = cheapest_block(midnight, 3)
    average = sum(midnight.consumer_price(begins + i * HOUR_S) for i in range(3)) / 3
    assert instant(midnight.value("window_start", PLAN_ID)) == begins
    assert instant(midnight.value("window_end", PLAN_ID)) == begins + 3 * HOUR_S
    assert abs(float(midnight.value("window_average", PLAN_ID)) - average) < 1e-4
    assert float(midnight.value("window_saving", PLAN_ID)) >= 0
    assert midnight.value("window_chance", PLAN_ID) == "100"
    on = []
    for quarter in range(MIDNIGHT, NEXT_MIDNIGHT, 900):
        await midnight.at(quarter)
        if midnight.is_on("window", PLAN_ID):
            on.append(quarter)
    assert on == list(range(begins, begins + 3 * HOUR_S, 900))


async def test_a_plan_added_with_the_name_of_another_has_entities_of_its_own_at_once(
    hass: HomeAssistant, home: Home
) -> None:
    namesake = ConfigSubentry(
        data=MappingProxyType({"duration": 60, "split": False}),
        subentry_id="namesake",
        subentry_type="plan",
        title=home.entry.subentries[PLAN_ID].title,
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(home.entry, namesake)
    await home.settle()
    first, second = (home.state("binary_sensor", "window", owner) for owner in (PLAN_ID, "namesake"))
    assert second.entity_id == f"{first.entity_id}_2"
    assert second.attributes["pieces"] != first.attributes["pieces"]
    device = device_of(hass, "namesake")
    assert device is not None
    assert device.name == namesake.title
    assert device != device_of(hass, PLAN_ID)


async def test_removing_a_plan_removes_its_device_and_entities(hass: HomeAssistant, home: Home) -> None:
    hass.config_entries.async_remove_subentry(home.entry, PLAN_ID)
    await home.settle()
    assert device_of(hass, PLAN_ID) is None
    assert er.async_get(hass).async_get_entity_id("binary_sensor", "tunnihind", f"{PLAN_ID}_window") is None
    await home.at(home.now + HOUR_S)


async def test_a_changed_plan_is_planned_again_and_no_entity_turns_unavailable(
    hass: HomeAssistant, midnight: Home
) -> None:
    plan = midnight.entry.subentries[PLAN_ID]
    with record_state_changes(hass) as states:
        hass.config_entries.async_update_subentry(
            midnight.entry, plan, data={**ONE_PIECE, "duration": 60}, title="Sauna"
        )
        await midnight.settle()
    starts, ends = (instant(midnight.value(key, PLAN_ID)) for key in ("window_start", "window_end"))
    assert ends - starts == HOUR_S
    device = device_of(hass, PLAN_ID)
    assert device is not None
    assert device.name == "Sauna"
    assert states.turned_unavailable == []


async def test_a_restart_in_the_middle_of_a_window_goes_on_with_it(midnight: Home) -> None:
    begins = cheapest_block(midnight, 3)
    await midnight.at(begins + HOUR_S)
    assert midnight.is_on("window", PLAN_ID)
    assert midnight.value("status", PLAN_ID) == "running"
    await restart(midnight, at=begins + 2 * HOUR_S)
    assert midnight.is_on("window", PLAN_ID)
    assert instant(midnight.value("window_start", PLAN_ID)) == begins
