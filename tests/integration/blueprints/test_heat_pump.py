"""The heat pump that follows the price level."""

from typing import Any, Final

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.setup import async_setup_component

from tests.support.household.automations import restart
from tests.support.household.blueprints import DEVICE, use, use_from_a_start_on
from tests.support.household.home import DAY_S, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

PUMP: Final = "climate.pump"
MIDNIGHT: Final = instant("2026-01-15T00:00:00+02:00")
TEMPERATURES: Final = {"very_low": 22.5, "very_high": 20.0}
NORMAL: Final = 21.0


@pytest.fixture(autouse=True)
async def _pump(hass: HomeAssistant, _home: None) -> None:
    """Let Home Assistant have a thermostat that heats."""
    thermostat = {
        "platform": "generic_thermostat",
        "name": "Pump",
        "heater": DEVICE,
        "target_sensor": "sensor.room",
        "initial_hvac_mode": "heat",
        "target_temp": NORMAL,
    }
    assert await async_setup_component(hass, "climate", {"climate": thermostat})
    await hass.async_block_till_done()


def inputs(home: Home, **more: Any) -> dict[str, Any]:  # noqa: ANN401, values of any input
    level = home.state("sensor", "price_level").entity_id
    return {"price_level": level, "heat_pump": [PUMP], "raise_by": 1.5, "lower_by": 1, **more}


def temperature(home: Home) -> float:
    state = home.hass.states.get(PUMP)
    assert state is not None
    return float(state.attributes["temperature"])


async def set_pump(home: Home, action: str, **data: Any) -> None:  # noqa: ANN401, fields of any action
    await home.hass.services.async_call("climate", action, {"entity_id": PUMP, **data}, blocking=True)
    await home.settle()


async def come_to(home: Home, level: str) -> None:
    """Move time on until the price level has that value."""
    while home.value("price_level") != level:
        await home.at(home.now - home.now % HOUR_S + HOUR_S)


@pytest.mark.parametrize("billed_by", ["hour", "quarter"])
async def test_the_pump_is_warmer_in_cheap_hours_and_cooler_in_expensive_ones(
    make_home: MakeHome, billed_by: str
) -> None:
    home = await make_home("2026-01-14T00:20:00+02:00", PUBLISHED_TOMORROW)
    home.serve_quarters()
    await home.add(options={"billed_by": billed_by})
    await use(home, "adjust_heat_pump", inputs(home))
    levels = set()
    await come_to(home, "very_low")
    end = home.now + DAY_S
    while home.now < end:
        levels.add(home.value("price_level"))
        assert temperature(home) == TEMPERATURES.get(home.value("price_level"), NORMAL)
        await home.at(home.now + QUARTER_S)
    assert levels > TEMPERATURES.keys()


async def test_the_pump_returns_to_normal_if_the_price_is_unknown(make_home: MakeHome) -> None:
    home = await make_home(price_of=lambda start: 500.0 if start >= MIDNIGHT - HOUR_S else 50.0)
    home.forecast_of = None
    home.serve()
    await home.add()
    await use(home, "adjust_heat_pump", inputs(home))
    await home.server.runner.cleanup()
    await home.at(MIDNIGHT - QUARTER_S)
    assert (home.value("price_level"), temperature(home)) == ("very_high", NORMAL - 1)
    await home.at(MIDNIGHT)
    assert (home.value("price_level"), temperature(home)) == ("unknown", NORMAL - 1)
    await home.at(MIDNIGHT + 300)
    assert temperature(home) == NORMAL


async def test_a_start_in_expensive_hours_lowers_the_pump(home: Home) -> None:
    await come_to(home, "very_high")
    await use_from_a_start_on(home, "adjust_heat_pump", inputs(home))
    assert temperature(home) == NORMAL - 1


async def test_a_reload_of_the_integration_changes_nothing(home: Home) -> None:
    await use(home, "adjust_heat_pump", inputs(home))
    await come_to(home, "very_high")
    set_to = []
    home.hass.bus.async_listen(
        "call_service", lambda event: set_to.append(event.data) if event.data["domain"] == "climate" else None
    )
    await restart(home)
    assert (set_to, temperature(home)) == ([], NORMAL - 1)


async def test_a_heat_pump_that_missed_a_change_follows_when_it_is_back(home: Home) -> None:
    await use(home, "adjust_heat_pump", inputs(home))
    there = home.hass.states.get(PUMP)
    assert there is not None
    home.hass.states.async_set(PUMP, "unavailable")
    await come_to(home, "very_high")
    home.hass.states.async_set(PUMP, there.state, there.attributes)
    await home.settle()
    assert temperature(home) == NORMAL - 1


async def test_a_temperature_set_by_hand_lasts_until_the_level_changes(home: Home) -> None:
    await use(home, "adjust_heat_pump", inputs(home))
    await come_to(home, "very_low")
    await set_pump(home, "set_temperature", temperature=24)
    await home.at(home.now + QUARTER_S)
    assert temperature(home) == 24
    await come_to(home, "very_high")
    assert temperature(home) == NORMAL - 1


async def test_a_pump_that_is_off_follows_only_after_it_is_switched_on(home: Home) -> None:
    await use(home, "adjust_heat_pump", inputs(home))
    await set_pump(home, "turn_off")
    await come_to(home, "very_high")
    assert temperature(home) == NORMAL
    await set_pump(home, "set_hvac_mode", hvac_mode="heat")
    assert temperature(home) == NORMAL - 1


async def test_the_temperature_stays_within_the_pumps_limits(home: Home) -> None:
    await use(home, "adjust_heat_pump", inputs(home, normal=34.5, raise_by=10))
    await come_to(home, "very_low")
    assert temperature(home) == 35
