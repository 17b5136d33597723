"""When plans may start and have to be done, as Estonian times of day."""

from datetime import time
from typing import Final, override

from homeassistant.components.time import TimeEntity, TimeEntityDescription
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entity import SteeringEntity, on_every_plan
from .plans.steering import Change

PARALLEL_UPDATES = 0
TIMES: Final = tuple(
    TimeEntityDescription(
        key=key, translation_key=key, entity_category=EntityCategory.CONFIG, entity_registry_enabled_default=False
    )
    for key in ("earliest", "deadline")
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add each plan's times."""
    coordinator = entry.runtime_data

    def add_plan(plan: ConfigSubentry) -> None:
        times = [PlanTime(coordinator, plan, description) for description in TIMES]
        async_add_entities(times, config_subentry_id=plan.subentry_id)

    on_every_plan(entry, add_plan)


class PlanTime(SteeringEntity, TimeEntity):
    """A bound of a plan; unknown where it has none."""

    @property
    @override
    def native_value(self) -> time | None:
        wall = self.plan.holding.get(self.entity_description.key) if self.plan else None
        return time.fromisoformat(wall) if wall else None

    @override
    async def async_set_value(self, value: time) -> None:
        await self.async_change(Change(values={self.entity_description.key: value.isoformat("seconds")}))
