"""Sets up the sensors: prices, the data they come from, and plans."""

from datetime import timedelta

from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entities.data_sensor import DATA_SENSORS, DataSensor
from .entities.plan_sensor import PLAN_SENSORS, PLAN_STATUS, PlanSensor, PlanStatusSensor
from .entities.price_sensor import PRICE_SENSORS, SELLING_SENSORS, PriceSensor, SellingSensor, next_price
from .entities.saved_sensor import SAVED_SENSORS, SavedDescription, SavedSensor, async_remove_unfitting_sums
from .entities.saving_sensor import SavingSensor
from .entities.window_time_sensor import WINDOW_TIMES, WindowTimeSensor
from .entity import on_every_plan, while_selling

PARALLEL_UPDATES = 0
# Of the one sensor that asks for itself.
SCAN_INTERVAL = timedelta(hours=1)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the sensors, and those of plans that come later."""
    coordinator = entry.runtime_data

    def add_selling() -> None:
        async_add_entities(SellingSensor(coordinator, description) for description in SELLING_SENSORS)

    def add_plan(plan: ConfigSubentry) -> None:
        async_add_entities(
            [
                PlanStatusSensor(coordinator, plan, PLAN_STATUS),
                *(
                    PlanSensor(coordinator, plan, description)
                    for description in PLAN_SENSORS
                    if description.fits(plan.data)
                ),
                *(WindowTimeSensor(coordinator, plan, description) for description in WINDOW_TIMES),
            ],
            config_subentry_id=plan.subentry_id,
        )

    def follow(description: SavedDescription) -> None:
        def add_sum(plan: ConfigSubentry) -> None:
            async_add_entities([SavedSensor(coordinator, plan, description)], config_subentry_id=plan.subentry_id)

        on_every_plan(entry, add_sum, description.fits)

    async_remove_unfitting_sums(hass, entry)
    descriptions = (*PRICE_SENSORS, next_price(coordinator.billing))
    async_add_entities(PriceSensor(coordinator, description) for description in descriptions)
    async_add_entities(DataSensor(coordinator, description) for description in DATA_SENSORS)
    async_add_entities([SavingSensor(coordinator)])
    while_selling(entry, add_selling)
    on_every_plan(entry, add_plan)
    for description in SAVED_SENSORS:
        follow(description)
