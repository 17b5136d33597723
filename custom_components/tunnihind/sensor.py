"""Adds the sensors for prices, plans, the server's data and the accuracy of past forecasts."""

from datetime import timedelta

from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entities.account_sensor import ACCOUNT_SENSORS, SAVED_BY_BATTERY, AccountSensor, BatteryAccountSensor
from .entities.battery_sensor import BATTERY_SENSORS, BatterySensor
from .entities.data_sensor import DIAGNOSTIC_SENSORS, DiagnosticSensor, ForecastSavingSensor
from .entities.plan_sensor import (
    NEXT_WINDOW,
    PLAN_STATUS,
    WINDOW_TIME_SENSORS,
    WINDOW_VALUE_SENSORS,
    NextWindowSensor,
    PlanStatusSensor,
    WindowTimeSensor,
    WindowValueSensor,
)
from .entities.price_sensor import (
    PRICE_SENSORS,
    SELLING_SENSORS,
    ForecastSensor,
    PriceSensor,
    SellingSensor,
    next_price_description,
)
from .entity import add_plan_entities, add_while_selling
from .household.battery_planner import batteries_of

PARALLEL_UPDATES = 0
# The interval at which `ForecastSensor` and `ForecastSavingSensor` poll the server. No other sensor sends its own
# requests to the server.
SCAN_INTERVAL = timedelta(hours=1)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors of the server, of each plan and of each battery."""
    coordinator = entry.runtime_data

    def add_selling() -> None:
        async_add_entities(SellingSensor(coordinator, description) for description in SELLING_SENSORS)

    descriptions = (*PRICE_SENSORS, next_price_description(coordinator.billing))
    async_add_entities(PriceSensor(coordinator, description) for description in descriptions)
    async_add_entities(DiagnosticSensor(coordinator, description) for description in DIAGNOSTIC_SENSORS)
    async_add_entities([ForecastSensor(coordinator), ForecastSavingSensor(coordinator)])
    add_while_selling(entry, add_selling)
    add_plan_entities(entry, async_add_entities, PlanStatusSensor, [PLAN_STATUS])
    add_plan_entities(entry, async_add_entities, WindowValueSensor, WINDOW_VALUE_SENSORS)
    add_plan_entities(entry, async_add_entities, NextWindowSensor, [NEXT_WINDOW])
    add_plan_entities(entry, async_add_entities, WindowTimeSensor, WINDOW_TIME_SENSORS)
    add_plan_entities(entry, async_add_entities, AccountSensor, ACCOUNT_SENSORS)
    add_plan_entities(entry, async_add_entities, BatterySensor, BATTERY_SENSORS, batteries_of)
    add_plan_entities(entry, async_add_entities, BatteryAccountSensor, [SAVED_BY_BATTERY], batteries_of)
