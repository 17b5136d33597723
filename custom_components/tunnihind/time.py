"""Adds time entities: the earliest start and the deadline of each plan, and the deadline of each battery's target."""

from datetime import time
from typing import override

from homeassistant.components.time import TimeEntity, TimeEntityDescription
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entity import SteeringEntity, add_plan_entities
from .household.battery_planner import batteries_of
from .plans.steering import PlanChange

PARALLEL_UPDATES = 0
EARLIEST, DEADLINE = (
    TimeEntityDescription(key=key, entity_category=EntityCategory.CONFIG, entity_registry_enabled_default=False)
    for key in ("earliest", "deadline")
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the time entities of each plan and each battery."""
    add_plan_entities(entry, async_add_entities, PlanTime, [EARLIEST, DEADLINE])
    add_plan_entities(entry, async_add_entities, PlanTime, [DEADLINE], batteries_of)


class PlanTime(SteeringEntity, TimeEntity):
    """A time entity for the earliest start or the deadline. If no time is set, the state is unknown."""

    @property
    @override
    def native_value(self) -> time | None:
        wall = self.plan.current_values.get(self.entity_description.key) if self.plan else None
        return time.fromisoformat(wall) if wall else None

    @override
    async def async_set_value(self, value: time) -> None:
        await self.async_change_plan(PlanChange(values={self.entity_description.key: value.isoformat("seconds")}))
