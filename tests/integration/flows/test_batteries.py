"""Adding and changing batteries."""

from typing import Any

import pytest
from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    ConfigSubentryDataWithId,
    SubentryFlowContext,
    SubentryFlowResult,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, section
from homeassistant.helpers import device_registry as dr
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.battery.settings import DEFAULTS
from custom_components.tunnihind.const import DOMAIN
from tests.support.household.battery import BATTERY_ID, STATE_OF_CHARGE, charge
from tests.support.household.flows import NOBODY, shown
from tests.support.household.home import Home
from tests.support.household.steering import call

ENERGY = {"unit_of_measurement": "kWh", "state_class": "total_increasing"}
STORED: dict[str, Any] = {
    **DEFAULTS,
    "state_of_charge": STATE_OF_CHARGE,
    "capacity": 10,
    "charge_power": 5,
    "discharge_power": 4,
}
COMMON: dict[str, Any] = {
    "name": "Home battery",
    "state_of_charge": STATE_OF_CHARGE,
    "capacity": 10,
    "charge_power": 5,
    "discharge_power": 4,
}


@pytest.fixture
def entry(hass: HomeAssistant) -> MockConfigEntry:
    battery = ConfigSubentryDataWithId(
        data=STORED, subentry_id=BATTERY_ID, subentry_type="battery", title="Battery", unique_id=None
    )
    entry = MockConfigEntry(
        domain=DOMAIN, data={"url": NOBODY, "instance_id": "test"}, unique_id="test", subentries_data=[battery]
    )
    entry.add_to_hass(hass)
    charge(hass, 50)
    return entry


async def add(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    return await hass.config_entries.subentries.async_init((entry.entry_id, "battery"), context={"source": SOURCE_USER})


async def change(hass: HomeAssistant, entry: MockConfigEntry) -> SubentryFlowResult:
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=BATTERY_ID)
    return await hass.config_entries.subentries.async_init((entry.entry_id, "battery"), context=context)


async def submit(hass: HomeAssistant, form: SubentryFlowResult, **fields: Any) -> SubentryFlowResult:  # noqa: ANN401
    """Submit what the form shows, with these fields in place of its own. Fields of a section are merged."""
    values = shown(form)
    for name, value in fields.items():
        values[name] = {**values.get(name, {}), **value} if isinstance(value, dict) else value
    return await hass.config_entries.subentries.async_configure(form["flow_id"], values)


def unfolded(form: SubentryFlowResult) -> set[str]:
    """Return the sections of a form that are open."""
    schema = form["data_schema"]
    assert schema is not None
    return {
        marker.schema
        for marker, field in schema.schema.items()
        if isinstance(field, section) and not field.options["collapsed"]
    }


async def test_a_new_battery_needs_five_answers_and_all_others_have_defaults(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    form = await add(hass, entry)
    assert unfolded(form) == set()
    result = await submit(hass, form, **COMMON)
    assert (result["type"], result["title"]) == (FlowResultType.CREATE_ENTRY, "Home battery")
    assert result["data"] == STORED


async def test_all_answers_are_stored_in_cents_kilowatts_and_percent(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    hass.config_entries.async_update_entry(entry, options={"unit": "euros"})
    for sensor in ("sensor.in", "sensor.out", "sensor.sun", "sensor.charged", "sensor.discharged", "sensor.load"):
        hass.states.async_set(sensor, "5", ENERGY)
    hass.states.async_set("sensor.forecast", "5", {"wh_hours": {"2026-01-15T12:00:00Z": 500}})
    meters = {
        "import_meter": "sensor.in",
        "export_meter": "sensor.out",
        "sun_meter": "sensor.sun",
        "charge_meter": "sensor.charged",
        "discharge_meter": "sensor.discharged",
    }
    result = await submit(
        hass,
        await add(hass, entry),
        **COMMON,
        limits={"lowest": 5, "highest": 95, "reserve": 30},
        wish={"target_soc": 80, "deadline": "18:00:00", "weekdays": ["fri"]},
        grid={"charge_from_grid": False, "sell": False},
        losses={"efficiency": 85, "wear": 0.03, "threshold": 0.1},
        home={"sun_forecast": "sensor.forecast", "load": "sensor.load"},
        meters=meters,
    )
    assert result["data"] == {
        **{name: value for name, value in COMMON.items() if name != "name"},
        "lowest": 5,
        "highest": 95,
        "reserve": 30,
        "target_soc": 80,
        "deadline": "18:00:00",
        "weekdays": ["fri"],
        "charge_from_grid": False,
        "sell": False,
        "efficiency": 85,
        "wear": 3,
        "threshold": 10,
        "sun_forecast": "sensor.forecast",
        "load": "sensor.load",
        **meters,
    }


@pytest.mark.parametrize(
    ("fields", "place", "error"),
    [
        ({"name": " "}, "name", "no_name"),
        ({"name": "battery"}, "name", "name_taken"),
        ({"capacity": 0}, "capacity", "no_capacity"),
        ({"charge_power": 0}, "charge_power", "no_power"),
        ({"discharge_power": 0}, "discharge_power", "no_power"),
        ({"charge_power": 500}, "charge_power", "power_too_high"),
        ({"limits": {"lowest": 80, "highest": 80}}, "limits", "lowest_above_highest"),
        ({"limits": {"highest": 60, "reserve": 70}}, "limits", "reserve_above_highest"),
        ({"limits": {"highest": 80}, "wish": {"target_soc": 90}}, "wish", "target_above_highest"),
        ({"wish": {"target_soc": 80, "weekdays": []}}, "wish", "no_weekday"),
        ({"state_of_charge": "sensor.nothing"}, "state_of_charge", "no_state_of_charge"),
        ({"state_of_charge": "sensor.voltage"}, "state_of_charge", "state_of_charge_unit"),
        ({"home": {"sun_forecast": "sensor.voltage"}}, "home", "no_sun_forecast"),
        ({"home": {"load": "sensor.nothing"}}, "home", "no_meter"),
        ({"meters": {"import_meter": "sensor.voltage"}}, "meters", "no_meter"),
    ],
)
async def test_a_wrong_answer_is_shown_at_its_place_and_can_be_mended(
    hass: HomeAssistant, entry: MockConfigEntry, fields: dict[str, Any], place: str, error: str
) -> None:
    hass.states.async_set("sensor.voltage", "51.2", {"unit_of_measurement": "V", "state_class": "measurement"})
    form = await submit(hass, await add(hass, entry), **{**COMMON, **fields})
    assert (form["type"], form["errors"]) == (FlowResultType.FORM, {place: error})
    assert unfolded(form) >= {place} & {"limits", "wish", "home", "meters"}
    new = shown(await add(hass, entry))
    result = await hass.config_entries.subentries.async_configure(form["flow_id"], {**new, **COMMON})
    assert result["type"] is FlowResultType.CREATE_ENTRY


@pytest.mark.parametrize("state", ["unknown", "unavailable"])
async def test_a_state_of_charge_may_be_unknown_when_a_battery_is_added(
    hass: HomeAssistant, entry: MockConfigEntry, state: str
) -> None:
    charge(hass, state)
    assert (await submit(hass, await add(hass, entry), **COMMON))["type"] is FlowResultType.CREATE_ENTRY


async def test_a_changed_battery_keeps_what_the_form_did_not_change(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    form = await change(hass, entry)
    result = await submit(hass, form, name="Battery", limits={"reserve": 40})
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert entry.subentries[BATTERY_ID].data == {**STORED, "reserve": 40}


async def test_a_battery_may_keep_an_entity_that_is_gone(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    hass.states.async_remove(STATE_OF_CHARGE)
    result = await submit(hass, await change(hass, entry), name="Renamed")
    assert result["reason"] == "reconfigure_successful"
    assert entry.subentries[BATTERY_ID].title == "Renamed"


async def test_the_form_shows_and_keeps_what_a_dashboard_changed_and_names_the_device(home: Home) -> None:
    hass = home.hass
    charge(hass, 50)
    form = await submit(hass, await add(hass, home.entry), **COMMON)
    await home.settle()
    [battery_id] = [id_ for id_, one in home.entry.subentries.items() if one.subentry_type == "battery"]
    number = home.state("number", "reserve", battery_id).entity_id
    await call(home, "number.set_value", entity_id=number, value=45)
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=battery_id)
    form = await hass.config_entries.subentries.async_init((home.entry.entry_id, "battery"), context=context)
    assert shown(form)["limits"]["reserve"] == 45
    await submit(hass, form)
    await home.settle()
    assert home.entry.subentries[battery_id].data["reserve"] == 45
    hass.config_entries.async_update_subentry(home.entry, home.entry.subentries[battery_id], title="Cellar")
    await home.settle()
    assert "Cellar" in {one.name for one in dr.async_entries_for_config_entry(dr.async_get(hass), "entry")}
    assert home.state("number", "reserve", battery_id).state == "45.0"
