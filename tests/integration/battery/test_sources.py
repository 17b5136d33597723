"""What a battery's plan knows of the home: the sun's forecast, the load, and what it says if something is missing."""

import logging
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from custom_components.tunnihind.household.home_energy import sun_forecast_of
from tests.support.household.battery import (
    BATTERY,
    BATTERY_ID,
    GRID,
    LOAD,
    ROOF,
    STORE,
    action,
    attributes,
    charge,
    count,
    forecast_sun,
    set_up_dashboard,
)
from tests.support.household.home import Home, instant, iso
from tunnihind.core.market import HOUR_S

pytestmark = pytest.mark.usefixtures("recorder_mock")

BY_DASHBOARD = {name: value for name, value in BATTERY.items() if name != "load"}
SAFE = {"hold", "store_sun"}
NOON = instant("2026-01-15T12:00:00+02:00")
SUNNY = {NOON + hour * HOUR_S: 4_000 for hour in range(-3, 4)}


async def count_all(home: Home, **kwh: float) -> None:
    """Store what the meters of the Energy dashboard counted in each hour, in kWh."""
    for meter in ("import", "export", "sun", "charged", "discharged"):
        if meter in kwh:
            await count(home, f"sensor.{meter}", lambda _, meter=meter: kwh[meter])  # type: ignore[misc]


def drawn_from_grid(home: Home) -> float:
    """Return the home's use in the present step, if the battery holds or discharges for the home."""
    return float(home.entry.runtime_data.battery_planner.decisions[BATTERY_ID].plan.steps.use_kw[0])


async def test_the_load_is_worked_out_from_the_meters_of_the_dashboard(hass: HomeAssistant, roofless: Home) -> None:
    await set_up_dashboard(hass, GRID, STORE)
    await count_all(roofless, **{"import": 1.0, "export": 0.2, "charged": 0.3, "discharged": 0.25})
    await roofless.add(batteries={BATTERY_ID: BY_DASHBOARD})
    assert drawn_from_grid(roofless) == pytest.approx(1.0 + 0.25 - 0.3 - 0.2)


async def test_meters_of_the_form_replace_those_of_the_dashboard(hass: HomeAssistant, roofless: Home) -> None:
    await set_up_dashboard(hass, GRID, STORE)
    await count_all(roofless, **{"import": 1.0, "export": 0.0, "charged": 0.0, "discharged": 0.0})
    await count(roofless, "sensor.better", lambda _: 2.0)
    await roofless.add(batteries={BATTERY_ID: {**BY_DASHBOARD, "import_meter": "sensor.better"}})
    assert drawn_from_grid(roofless) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("sources", "kwh", "missing"),
    [
        ([GRID], {"import": 1.0, "export": 0.0}, ["charge_meter", "discharge_meter"]),
        ([STORE], {"charged": 1.0, "discharged": 1.0}, ["import_meter"]),
        ([], {}, ["import_meter", "charge_meter", "discharge_meter"]),
        ([GRID, STORE], {"import": 1.0, "export": 0.0, "charged": 0.0}, ["discharge_meter"]),
    ],
    ids=["no battery", "no grid", "empty", "no reading"],
)
async def test_meters_that_are_missing_are_named_and_nothing_is_bought(
    hass: HomeAssistant, roofless: Home, sources: list[Any], kwh: dict[str, float], missing: list[str]
) -> None:
    await set_up_dashboard(hass, *sources)
    await count_all(roofless, **kwh)
    await roofless.add(batteries={BATTERY_ID: BY_DASHBOARD})
    assert (action(roofless) in SAFE, attributes(roofless)["reason"]) == (True, "no_load")
    assert attributes(roofless)["missing"] == missing


async def test_without_the_energy_dashboard_an_entity_is_enough(roofless: Home) -> None:
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    assert "reason" not in attributes(roofless)
    assert "without_sun" in attributes(roofless)["notes"]


async def test_the_forecast_of_the_dashboard_leaves_room_for_the_sun(hass: HomeAssistant, roofless: Home) -> None:
    await set_up_dashboard(hass, ROOF)
    await count(roofless, "sensor.sun", lambda _: 0.1)
    forecast_sun(hass, SUNNY)
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    runs = attributes(roofless)["course"]
    place = next(place for place, run in enumerate(runs) if instant(run["start"]) in SUNNY)
    assert runs[place - 1]["state_of_charge"] < runs[place]["state_of_charge"] == 100
    assert runs[place]["action"] != "charge"
    assert "without_sun" not in attributes(roofless)["notes"]


async def test_a_forecast_that_ends_before_the_plan_is_said(hass: HomeAssistant, roofless: Home) -> None:
    await set_up_dashboard(hass, ROOF)
    forecast_sun(hass, SUNNY)
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    assert "sun_ends" in attributes(roofless)["notes"]
    await count(roofless, "sensor.sun", lambda _: 0.1)
    await roofless.at(roofless.now + HOUR_S)
    assert "sun_forecast_ends" in attributes(roofless)["notes"]


@pytest.mark.parametrize(
    "wh_hours", [None, {}, {NOON - 3 * 24 * HOUR_S: 1_000}], ids=["unavailable", "empty", "of days ago"]
)
async def test_a_roof_without_a_forecast_gets_no_command_to_buy(
    hass: HomeAssistant, roofless: Home, wh_hours: dict[int, float] | None
) -> None:
    await set_up_dashboard(hass, ROOF)
    forecast_sun(hass, wh_hours)
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    assert (action(roofless) in SAFE, attributes(roofless)["reason"]) == (True, "no_sun_forecast")


async def test_a_forecast_whose_integration_fails_is_no_forecast(
    hass: HomeAssistant, roofless: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await set_up_dashboard(hass, ROOF)
    forecast_sun(hass, SUNNY).side_effect = HomeAssistantError("out of calls")
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    assert attributes(roofless)["reason"] == "no_sun_forecast"
    assert "out of calls" in caplog.text


async def test_a_forecast_of_an_entity_that_comes_back_is_planned_with_at_once(
    hass: HomeAssistant, roofless: Home
) -> None:
    sensor = "sensor.sun_forecast"
    await roofless.add(batteries={BATTERY_ID: {**BATTERY, "sun_forecast": sensor}})
    assert attributes(roofless)["reason"] == "no_sun_forecast"
    hass.states.async_set(sensor, "28", {"wh_period": {iso(start): wh for start, wh in SUNNY.items()}})
    await roofless.settle()
    assert "reason" not in attributes(roofless)


async def test_a_load_that_doubles_is_said(roofless: Home) -> None:
    last = roofless.now - HOUR_S
    await count(roofless, LOAD, lambda start: 4.0 if start == last else 1.0)
    await roofless.at(roofless.now + HOUR_S // 4)
    charge(roofless.hass, 50)
    await roofless.add(batteries={BATTERY_ID: BATTERY})
    assert "unusual_load" in attributes(roofless)["notes"]


async def test_a_home_without_a_past_gets_no_command_to_buy(make_home: Any) -> None:  # noqa: ANN401
    home = await make_home()
    charge(home.hass, 50)
    await home.add(batteries={BATTERY_ID: BATTERY})
    assert (action(home) in SAFE, attributes(home)["reason"]) == (True, "no_load")


async def test_the_dashboard_may_change_at_any_time(hass: HomeAssistant, roofless: Home) -> None:
    await set_up_dashboard(hass)
    await count_all(roofless, **{"import": 1.0, "export": 0.0, "charged": 0.0, "discharged": 0.0})
    await roofless.add(batteries={BATTERY_ID: BY_DASHBOARD})
    assert attributes(roofless)["reason"] == "no_load"
    await set_up_dashboard(hass, GRID, STORE)
    await roofless.at(roofless.now + HOUR_S // 4)
    assert "reason" not in attributes(roofless)


@pytest.mark.parametrize(
    "attributes_of",
    [
        {"wh_hours": {"2026-01-15T12:00:00+02:00": 500, "2026-01-15T12:30:00+02:00": 500}},
        {"wh_period": {"2026-01-15T10:00:00Z": 1_000}},
        {"watts": {f"2026-01-15T12:{minute:02}:00+02:00": 1_000 for minute in (0, 15, 30, 45)}},
        {"detailedHourly": [{"period_start": "2026-01-15T12:00:00+02:00", "pv_estimate": 1.0}]},
        {"detailedForecast": [
            {"period_start": "2026-01-15T12:00:00+02:00", "pv_estimate": 0.5},
            {"period_start": "2026-01-15T12:30:00+02:00", "pv_estimate": 1.5},
        ]},
    ],
)  # fmt: skip
def test_forecasts_of_all_forms_have_the_same_energy(attributes_of: dict[str, Any]) -> None:
    assert sun_forecast_of(attributes_of) == {NOON: pytest.approx(1.0)}


@pytest.mark.parametrize(
    "attributes_of",
    [
        {},
        {"wh_hours": "many"},
        {"wh_hours": {"noon": 5, "2026-01-15T12:00:00+02:00": "nan"}},
        {"wh_hours": {"2026-02-30T12:00:00+02:00": 5, "2026-01-15T25:00:00+02:00": 5}},
        {"watts": {"2026-01-15T12:00:00+02:00": None}},
        {"detailedHourly": [5, {"period_start": None}]},
    ],
)
def test_what_is_no_forecast_is_none(attributes_of: dict[str, Any]) -> None:
    assert sun_forecast_of(attributes_of) == {}
