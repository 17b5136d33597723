"""Adds two time entities to each plan: the earliest start and the deadline."""

from datetime import time
from typing import Final, override

from homeassistant.components.time import TimeEntity, TimeEntityDescription
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entity import SteeringEntity, add_plan_entities
from .plans.steering import PlanChange

PARALLEL_UPDATES = 0
TIME_ENTITIES: Final = tuple(
    TimeEntityDescription(key=key, entity_category=EntityCategory.CONFIG, entity_registry_enabled_default=False)
    for key in ("earliest", "deadline")
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the time entities of each plan."""
    add_plan_entities(entry, async_add_entities, PlanTime, TIME_ENTITIES)


class PlanTime(SteeringEntity, TimeEntity):
    """A time entity for the earliest start or the deadline of a plan. If no time is set, the state is unknown."""

    @property
    @override
    def native_value(self) -> time | None:
        wall = self.plan.current_values.get(self.entity_description.key) if self.plan else None
        return time.fromisoformat(wall) if wall else None

    @override
    async def async_set_value(self, value: time) -> None:
        await self.async_change_plan(PlanChange(values={self.entity_description.key: value.isoformat("seconds")}))
