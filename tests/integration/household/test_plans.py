"""Plans in Home Assistant: windows that come, run and end."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.const import DOMAIN
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
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


async def test_the_window_is_on_in_exactly_the_cheapest_hours(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: ONE_PIECE})
    on = []
    for quarter in range(MIDNIGHT, NEXT_MIDNIGHT, 900):
        await home.at(quarter)
        if home.is_on("window", PLAN_ID):
            on.append(quarter)
    begins = cheapest_block(home, 3)
    assert on == list(range(begins, begins + 3 * HOUR_S, 900))


async def test_the_window_is_shown_before_it_begins(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: ONE_PIECE})
    begins = cheapest_block(home, 3)
    average = sum(home.consumer_price(begins + i * HOUR_S) for i in range(3)) / 3
    assert instant(home.value("window_start", PLAN_ID)) == begins
    assert instant(home.value("window_end", PLAN_ID)) == begins + 3 * HOUR_S
    assert abs(float(home.value("window_average", PLAN_ID)) - average) < 1e-4
    assert float(home.value("window_saving", PLAN_ID)) >= 0
    assert home.value("window_chance", PLAN_ID) == "100"


async def test_a_plan_added_while_running_has_its_entities_at_once(hass: HomeAssistant, home: Home) -> None:
    added = ConfigSubentry(
        data=MappingProxyType(dict(ONE_PIECE)),
        subentry_id="car",
        subentry_type="plan",
        title="Car",
        unique_id=None,
    )
    hass.config_entries.async_add_subentry(home.entry, added)
    await home.settle()
    assert home.state("binary_sensor", "window", "car").state in {"on", "off"}
    device = device_of(hass, "car")
    assert device is not None
    assert device.name == "Car"


async def test_two_plans_with_one_name_have_separate_entities(hass: HomeAssistant, home: Home) -> None:
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
    assert device_of(hass, "namesake") != device_of(hass, PLAN_ID)


async def test_entities_have_estonian_ids_in_an_estonian_home(hass: HomeAssistant, make_home: MakeHome) -> None:
    hass.config.language = "et"
    home = await make_home()
    await home.add()
    assert home.state("sensor", "current_price").entity_id == "sensor.tunnihind_praegune_hind"
    assert home.state("binary_sensor", "window", PLAN_ID).entity_id == "binary_sensor.plan_odav_aeg"


async def test_removing_a_plan_removes_its_device_and_entities(hass: HomeAssistant, home: Home) -> None:
    hass.config_entries.async_remove_subentry(home.entry, PLAN_ID)
    await home.settle()
    assert device_of(hass, PLAN_ID) is None
    assert er.async_get(hass).async_get_entity_id("binary_sensor", "tunnihind", f"{PLAN_ID}_window") is None
    await home.at(home.now + HOUR_S)


async def test_a_changed_plan_is_planned_again_and_no_other_entity_changes(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: ONE_PIECE})
    blinked = []
    hass.bus.async_listen(
        "state_changed",
        lambda event: blinked.append(event) if event.data["new_state"].state == "unavailable" else None,
    )
    subentry = home.entry.subentries[PLAN_ID]
    hass.config_entries.async_update_subentry(home.entry, subentry, data={**ONE_PIECE, "duration": 60}, title="Sauna")
    await home.settle()
    assert instant(home.value("window_end", PLAN_ID)) - instant(home.value("window_start", PLAN_ID)) == HOUR_S
    device = device_of(hass, PLAN_ID)
    assert device is not None
    assert device.name == "Sauna"
    assert not blinked


async def test_a_restart_in_the_middle_of_a_window_goes_on_with_it(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    await home.add(plans={PLAN_ID: ONE_PIECE})
    begins = cheapest_block(home, 3)
    await home.at(begins + HOUR_S)
    assert home.is_on("window", PLAN_ID)
    assert home.value("status", PLAN_ID) == "running"
    await hass.config_entries.async_unload(home.entry.entry_id)
    home.set_clock(begins + 2 * HOUR_S)
    await hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
    assert home.is_on("window", PLAN_ID)
    assert instant(home.value("window_start", PLAN_ID)) == begins


async def test_a_plan_without_a_window_shows_the_reason(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "price_cap": 1.0}})
    state = home.state("binary_sensor", "window", PLAN_ID)
    assert state.state == "off"
    assert state.attributes["reason"] == "above_cap"
    assert home.value("status", PLAN_ID) == "above_cap"
    assert home.value("window_start", PLAN_ID) == "unknown"


async def test_a_plan_over_the_night_moves_into_the_cheaper_hours_once_they_are_published(
    make_home: MakeHome,
) -> None:
    home = await make_home(price_of=lambda start: 90.0 if start < NEXT_MIDNIGHT else 20.0)
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "earliest": "20:00:00", "deadline": "07:00:00"}})
    assert instant(home.value("window_start", PLAN_ID)) < NEXT_MIDNIGHT
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert instant(home.value("window_start", PLAN_ID)) == NEXT_MIDNIGHT
