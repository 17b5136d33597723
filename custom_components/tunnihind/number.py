"""Adds number entities to plans (duration, energies and price limit) and batteries (reserve and target)."""

from dataclasses import replace
from typing import Final, override

from homeassistant.components.number import NumberDeviceClass, NumberEntity, NumberEntityDescription, NumberMode
from homeassistant.const import PERCENTAGE, EntityCategory, UnitOfEnergy, UnitOfTime
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .battery.settings import PERCENT
from .const import CENTS_PER_KWH, EUR_PER_KWH
from .coordinator import TunnihindConfigEntry
from .entity import SteeringEntity, add_plan_entities, has_entity
from .forms.plan_form import MAX_PRICE_CENTS
from .household.battery_planner import batteries_of
from .plans.settings import LONGEST_DURATION_MIN, MAX_ENERGY_KWH, QUARTER_MIN
from .plans.steering import PlanChange
from .prices.units import Unit, unit_of

PARALLEL_UPDATES = 0
_PRICE_STEP_CENTS: Final = 0.01


DURATION_NUMBER: Final = NumberEntityDescription(
    key="duration",
    entity_category=EntityCategory.CONFIG,
    entity_registry_enabled_default=False,
    device_class=NumberDeviceClass.DURATION,
    native_unit_of_measurement=UnitOfTime.MINUTES,
    native_min_value=QUARTER_MIN,
    native_max_value=LONGEST_DURATION_MIN,
    native_step=QUARTER_MIN,
    mode=NumberMode.BOX,
)
# The energy is not a configuration entity, because automations often change the energy, for example before each charge
# of a car.
ENERGY_NUMBER: Final = NumberEntityDescription(
    key="energy",
    device_class=NumberDeviceClass.ENERGY,
    native_unit_of_measurement=UnitOfEnergy.KILO_WATT_HOUR,
    native_min_value=0,
    native_max_value=MAX_ENERGY_KWH,
    native_step=0.1,
    mode=NumberMode.BOX,
)
ENERGY_FULL_NUMBER: Final = replace(ENERGY_NUMBER, key="energy_full", entity_registry_enabled_default=False)
RESERVE_NUMBER, TARGET_NUMBER = (
    NumberEntityDescription(
        key=key,
        native_unit_of_measurement=PERCENTAGE,
        native_min_value=0,
        native_max_value=PERCENT,
        native_step=1,
        mode=NumberMode.BOX,
    )
    for key in ("reserve", "target_soc")
)
PRICE_LIMIT_NUMBER: Final = NumberEntityDescription(
    key="price_cap",
    entity_category=EntityCategory.CONFIG,
    entity_registry_enabled_default=False,
    mode=NumberMode.BOX,
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the number entities of each plan and each battery."""
    add_plan_entities(entry, async_add_entities, PlanNumber, [DURATION_NUMBER, ENERGY_NUMBER, ENERGY_FULL_NUMBER])
    add_plan_entities(entry, async_add_entities, PriceLimitNumber, [PRICE_LIMIT_NUMBER])
    add_plan_entities(entry, async_add_entities, PlanNumber, [RESERVE_NUMBER, TARGET_NUMBER], batteries_of)


class PlanNumber(SteeringEntity, NumberEntity):
    """A number entity that shows and changes one setting of a plan or a battery."""

    @property
    @override
    def available(self) -> bool:
        """True if the plan's settings are valid, and a plan with these settings has this entity."""
        return self.plan is not None and has_entity(self.plan.current_values, self.entity_description.key)

    @property
    @override
    def native_value(self) -> float | None:
        return self.plan.current_values.get(self.entity_description.key) if self.plan else None

    @override
    async def async_set_native_value(self, value: float) -> None:
        await self.async_change_plan(PlanChange(values={self.entity_description.key: value}))


class PriceLimitNumber(PlanNumber):
    """A plan's price limit, in the unit that the household has chosen: c/kWh or EUR/kWh.

    If the plan has no price limit, the state is unknown.
    """

    @property
    def _unit(self) -> Unit:
        return unit_of(self.coordinator.config_entry.options)

    @property
    @override
    def native_unit_of_measurement(self) -> str:
        return CENTS_PER_KWH if self._unit is Unit.CENTS else EUR_PER_KWH

    @property
    @override
    def native_min_value(self) -> float:
        return -self.native_max_value

    @property
    @override
    def native_max_value(self) -> float:
        return self._unit.from_cents(MAX_PRICE_CENTS)

    @property
    @override
    def native_step(self) -> float:
        return self._unit.from_cents(_PRICE_STEP_CENTS)

    @property
    @override
    def native_value(self) -> float | None:
        cents = super().native_value
        return None if cents is None else self._unit.from_cents(cents)

    @override
    async def async_set_native_value(self, value: float) -> None:
        await super().async_set_native_value(self._unit.to_cents(value))
