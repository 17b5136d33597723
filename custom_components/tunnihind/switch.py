"""Adds a switch to each plan and each battery."""

from typing import Any, Final, override

from homeassistant.components.switch import SwitchEntity, SwitchEntityDescription
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .coordinator import TunnihindConfigEntry
from .entity import SteeringEntity, add_plan_entities
from .household.battery_planner import batteries_of
from .plans.steering import PlanChange

PARALLEL_UPDATES = 0
# A plan's switch is a configuration entity, so that a command like "turn off everything here" doesn't turn off the
# plan.
ENABLED_SWITCH: Final = SwitchEntityDescription(key="enabled", entity_category=EntityCategory.CONFIG)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the switch of each plan and each battery."""
    add_plan_entities(entry, async_add_entities, PlanSwitch, [ENABLED_SWITCH])
    add_plan_entities(entry, async_add_entities, PlanSwitch, [ENABLED_SWITCH], batteries_of)


class PlanSwitch(SteeringEntity, SwitchEntity):
    """The switch of a plan or a battery. While the switch is off, a plan has no window, and a battery no plan."""

    @property
    @override
    def is_on(self) -> bool | None:
        return self.plan.enabled if self.plan else None

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        await self.async_change_plan(PlanChange(enabled=True))

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        await self.async_change_plan(PlanChange(enabled=False))
