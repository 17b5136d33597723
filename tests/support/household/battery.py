"""A home with a battery: its meters' past in the recorder, the Energy dashboard, and a forecast of the sun."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final
from unittest.mock import AsyncMock, Mock

from homeassistant.components.energy.data import async_get_manager
from homeassistant.components.recorder.db_schema import StatisticsShortTerm
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry, mock_component, mock_platform

from custom_components.tunnihind.battery.plan import BatteryPlan
from tests.support.household.energy_meter import read_counter
from tests.support.household.home import Home, iso
from tunnihind.core.market import HOUR_S

BATTERY_ID: Final = "battery"
STATE_OF_CHARGE: Final = "sensor.state_of_charge"
LOAD: Final = "sensor.load"
BATTERY: Final[Mapping[str, Any]] = MappingProxyType(
    {"state_of_charge": STATE_OF_CHARGE, "capacity": 10, "charge_power": 5, "discharge_power": 5, "load": LOAD}
)
FORECAST_ENTRY: Final = "forecast_entry"
FIVE_MIN_S: Final = 300
_DAYS: Final = 8


def charge(hass: HomeAssistant, state: object, unit: str | None = "%") -> None:
    """Set the battery's state of charge."""
    hass.states.async_set(STATE_OF_CHARGE, str(state), {"unit_of_measurement": unit} if unit else {})


async def count(home: Home, meter: str, kwh_of: Callable[[int], float] = lambda _: 0.5) -> None:
    """Store what a meter counted in each hour of the past days."""
    hour = home.now - home.now % HOUR_S
    total, readings = 1_000.0, {}
    for start in range(hour - _DAYS * 24 * HOUR_S, hour, HOUR_S):
        total += kwh_of(start)
        readings[start] = total, total
    await read_counter(home.hass, meter, readings)


async def count_by_five_minutes(home: Home, start: int, kwh: Mapping[str, Sequence[float | None]]) -> None:
    """Store what meters counted in each hour from `start` on, in kWh, by five-minute statistics.

    In an hour with None, the meter has no readings. The meters are those of the Energy dashboard.
    """
    for meter, by_hour in kwh.items():
        total, readings = 1_000.0, {start - FIVE_MIN_S: (1_000.0, 1_000.0)}
        for hour, counted in enumerate(by_hour):
            for at in range(start + hour * HOUR_S, start + (hour + 1) * HOUR_S, FIVE_MIN_S):
                if counted is not None:
                    total += counted * FIVE_MIN_S / HOUR_S
                    readings[at] = total, total
        await read_counter(home.hass, f"sensor.{meter}", readings, StatisticsShortTerm)


async def set_up_dashboard(hass: HomeAssistant, *sources: Mapping[str, Any]) -> None:
    """Set up the Energy dashboard, or change it, with these sources of energy."""
    assert await async_setup_component(hass, "energy", {})
    manager = await async_get_manager(hass)
    await manager.async_update({"energy_sources": [dict(source) for source in sources]})  # type: ignore[typeddict-item]


GRID: Final[Mapping[str, Any]] = MappingProxyType(
    {"type": "grid", "stat_energy_from": "sensor.import", "stat_energy_to": "sensor.export", "cost_adjustment_day": 0.0}
)
ROOF: Final[Mapping[str, Any]] = MappingProxyType(
    {"type": "solar", "stat_energy_from": "sensor.sun", "config_entry_solar_forecast": [FORECAST_ENTRY]}
)
STORE: Final[Mapping[str, Any]] = MappingProxyType(
    {"type": "battery", "stat_energy_from": "sensor.discharged", "stat_energy_to": "sensor.charged"}
)


def forecast_sun(hass: HomeAssistant, wh_hours: Mapping[int, float] | None) -> AsyncMock:
    """Let an integration forecast the sun: Wh by the start of the hour, in UTC seconds. Return its function."""
    answer = None if wh_hours is None else {"wh_hours": {iso(start): wh for start, wh in wh_hours.items()}}
    asked = AsyncMock(return_value=answer)
    mock_component(hass, "sun_forecaster")
    mock_platform(
        hass, "sun_forecaster.energy", Mock(spec=["async_get_solar_forecast"], async_get_solar_forecast=asked)
    )
    MockConfigEntry(domain="sun_forecaster", entry_id=FORECAST_ENTRY).add_to_hass(hass)
    return asked


def action(home: Home) -> str:
    """Return what the battery does now."""
    return home.value("action", BATTERY_ID)


def attributes(home: Home) -> Mapping[str, Any]:
    """Return the attributes of the battery's action."""
    return home.state("sensor", "action", BATTERY_ID).attributes


def plan_of(home: Home) -> BatteryPlan:
    """Return the battery's plan."""
    plan: BatteryPlan | None = home.entry.runtime_data.battery_planner.decision(BATTERY_ID).plan
    assert plan is not None
    return plan


def entity(home: Home, platform: str, key: str) -> str:
    """Return the id of one of the battery's entities."""
    found = er.async_get(home.hass).async_get_entity_id(platform, "tunnihind", f"{BATTERY_ID}_{key}")
    assert found is not None
    return found
