"""The base classes of all entities, and functions that add and remove entities and change plans."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, override

from homeassistant.components.sensor import SensorEntity, SensorEntityDescription, SensorStateClass
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.entity import Entity, EntityDescription
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.typing import StateType
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import LOGGER
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .devices import server_device_info, subentry_device_info
from .errors import Refusal, TunnihindError
from .household.planner import plans_of
from .household.prices_now import PricesNow
from .plans.outcome import Outcome, Window
from .plans.settings import (
    PlanError,
    PlanKind,
    form_has_energy,
    form_has_limit_instead_of_duration,
    form_looks_for_high_prices,
)
from .plans.steering import PlanChange, Steered, SteeredPlan
from .prices.billing import SELLING

# The keys of the entities that depend on selling prices.
SELLING_PRICE: Final = "selling_price"
NEXT_SELLING_PRICE: Final = "next_selling_price"
NEGATIVE_SELLING_PRICE: Final = "negative_selling_price"
_SELLING_KEYS: Final = (SELLING_PRICE, NEXT_SELLING_PRICE, NEGATIVE_SELLING_PRICE)
# The key of a plan's binary sensor "Window".
WINDOW: Final = "window"
# The key of a battery's sensor "Action".
BATTERY_ACTION: Final = "action"
# In plans for high prices, some entities have special names, whose translation keys begin with this prefix.
EXPENSIVE_PREFIX: Final = "dear_"
_KEYS_WITH_EXPENSIVE_PREFIX: Final = {"window", "window_start", "window_end", "window_cost"}

type Attributes = Mapping[str, Any]
type PlanValues = Mapping[str, Any]
"""The values of a plan by field name, in the units in which the plan's subentry stores them."""


def _looks_for_cheapest(values: PlanValues) -> bool:
    return bool(values.get("kind", PlanKind.CHEAPEST) == PlanKind.CHEAPEST)


def _saves_money(values: PlanValues) -> bool:
    """Return whether a device saves money by running in the plan's windows."""
    return not form_looks_for_high_prices(values)


def _can_show_euros(values: PlanValues) -> bool:
    """Return whether the plan saves money, and its values contain the device's meter or power."""
    return _saves_money(values) and any(values.get(field) is not None for field in ("meter", "power"))


# The keys of the entities that only some plans have. Each function returns whether a plan with the given values has the
# entity.
_ENTITY_CONDITIONS: Final[Mapping[str, Callable[[PlanValues], bool]]] = {
    "duration": lambda values: not form_has_energy(values) and not form_has_limit_instead_of_duration(values),
    **dict.fromkeys(("energy", "window_cost"), form_has_energy),
    "energy_full": lambda values: form_has_energy(values) and _looks_for_cheapest(values),
    **dict.fromkeys(("window_saving", "window_chance"), _looks_for_cheapest),
    "last_saving": _saves_money,
    **dict.fromkeys(("saved_this_month", "saved_total", "cost_total"), _can_show_euros),
}


def has_entity(values: PlanValues, key: str) -> bool:
    """Return whether a plan with the given values has the entity with the key `key`."""
    return key not in _ENTITY_CONDITIONS or _ENTITY_CONDITIONS[key](values)


class TunnihindEntity(CoordinatorEntity[TunnihindCoordinator]):
    """An entity of one of the integration's devices."""

    _attr_has_entity_name = True

    @property
    @override
    def attribution(self) -> str:
        return self.coordinator.attribution


class ServerEntity(TunnihindEntity):
    """An entity of the server's device."""

    def __init__(self, coordinator: TunnihindCoordinator, description: EntityDescription) -> None:
        super().__init__(coordinator)
        self.entity_description = description
        self._attr_translation_key = description.translation_key or description.key
        self._attr_unique_id = f"{coordinator.config_entry.entry_id}_{description.key}"
        self._attr_device_info = server_device_info(coordinator)

    @property
    def prices(self) -> PricesNow:
        """The household's buying prices and plans, as of the last update of the entities."""
        return self.coordinator.prices


class PriceEntity(ServerEntity):
    """An entity that is available if the current price is known, even if the server doesn't answer."""

    @property
    @override
    def available(self) -> bool:
        return self.prices.current_period is not None


class SellingEntity(PriceEntity):
    """An entity that depends on selling prices. The entity exists only if the household sells electricity."""

    @property
    @override
    def prices(self) -> PricesNow:
        return self.coordinator.selling_prices


class AlwaysAvailableEntity(ServerEntity):
    """An entity that is always available, such as the calendar of plans."""

    @property
    @override
    def available(self) -> bool:
        return True


class PolledEntity(ServerEntity):
    """An entity that needs data that no other entity needs.

    The entity itself requests the data from the server: once an hour, and only if the entity is enabled.
    """

    @property
    @override
    def should_poll(self) -> bool:
        return True

    @override
    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        # The first request runs in the background, because Home Assistant's start waits for ordinary tasks, and a slow
        # server must not delay the start.
        self.coordinator.config_entry.async_create_background_task(
            self.hass, self.async_update_ha_state(force_refresh=True), f"{self.entity_id} first update"
        )

    @override
    async def async_update(self) -> None:
        try:
            await self.async_request_data()
        except TunnihindError as error:
            # The entity keeps its data. A warning isn't needed, because the coordinator reports an unreachable server.
            LOGGER.debug("can't update %s: %s", self.entity_id, error)

    @abstractmethod
    async def async_request_data(self) -> None:
        """Request the entity's data. Raises TunnihindError."""


class PlanEntity(TunnihindEntity):
    """An entity of a plan's device."""

    def __init__(self, coordinator: TunnihindCoordinator, plan: ConfigSubentry, description: EntityDescription) -> None:
        super().__init__(coordinator)
        self.entity_description = description
        self.plan_id: Final = plan.subentry_id
        self._attr_unique_id = f"{plan.subentry_id}_{description.key}"
        has_prefix = form_looks_for_high_prices(plan.data) and description.key in _KEYS_WITH_EXPENSIVE_PREFIX
        self._attr_translation_key = EXPENSIVE_PREFIX + description.key if has_prefix else description.key
        self._attr_device_info = subentry_device_info(plan, coordinator)

    @property
    def outcome(self) -> Outcome | None:
        """The plan's window, or the reason why there is no window.

        If the plan's settings are not valid, the value is None.
        """
        return self.coordinator.prices.outcomes.get(self.plan_id)

    @property
    def window(self) -> Window | None:
        """The plan's window. If the plan has no window, the value is None."""
        return self.outcome if isinstance(self.outcome, Window) else None

    @property
    @override
    def available(self) -> bool:
        """True if the plan has a window, or if its settings are valid and the current price is known."""
        return self.window is not None or (
            self.outcome is not None and self.coordinator.prices.current_period is not None
        )


class SteeringEntity(PlanEntity):
    """An entity with which people change a plan or a battery, such as its switch.

    The entity is available if the plan's settings are valid, even if no price is known.
    """

    @property
    def plan(self) -> Steered | None:
        """The plan with all changes made to it. If the plan's settings are not valid, the value is None."""
        return self.coordinator.plan(self.plan_id)

    @property
    @override
    def available(self) -> bool:
        return self.plan is not None

    async def async_change_plan(self, change: PlanChange) -> None:
        """Change the plan. If the change is not allowed, raise Refusal."""
        await async_change_plans([(self.coordinator, self.plan_id)], change)


@dataclass(frozen=True, kw_only=True)
class ValueDescription[Subject](SensorEntityDescription):
    """The description of a `ValueSensor`. The functions compute the state and the attributes from the `subject`."""

    value_fn: Callable[[Subject], StateType | datetime]
    attributes_fn: Callable[[Subject], Attributes] | None = None


class ValueSensor[Subject](SensorEntity):
    """A sensor that shows one value of its `subject`, an object such as a plan's window.

    If the subject is None, the sensor has no value. In a rehearsal, the sensor has no long-term statistics, because
    they would remain after the rehearsal.
    """

    coordinator: TunnihindCoordinator
    entity_description: ValueDescription[Subject]

    @property
    @abstractmethod
    def subject(self) -> Subject | None:
        """The object from which the sensor's state and attributes are computed."""

    @property
    @override
    def native_value(self) -> StateType | datetime:
        return None if self.subject is None else self.entity_description.value_fn(self.subject)

    @property
    @override
    def extra_state_attributes(self) -> Attributes | None:
        attributes_fn = self.entity_description.attributes_fn
        return None if attributes_fn is None or self.subject is None else attributes_fn(self.subject)

    @property
    @override
    def state_class(self) -> SensorStateClass | None:
        return None if self.coordinator.clock.is_rehearsal else super().state_class


class PlanSensorWithoutPrice[Subject](PlanEntity, ValueSensor[Subject]):
    """A plan's sensor that is available while its subject is not None, even if no price is known."""

    @property
    @override
    def available(self) -> bool:
        return self.subject is not None


def utc_datetime(seconds: int | None) -> datetime | None:
    """Convert UTC seconds to a datetime in UTC. If `seconds` is None, return None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def add_plan_entities[Description: EntityDescription](
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
    make_entity: Callable[[TunnihindCoordinator, ConfigSubentry, Description], Entity],
    descriptions: Collection[Description],
    subentries_of: Callable[[ConfigEntry], Mapping[str, ConfigSubentry]] = plans_of,
) -> None:
    """Add the plans' entities for `descriptions`, now and after each change of the plans.

    A plan gets only the entities for which `has_entity` is true. `make_entity` makes an entity for a plan and a
    description. With another `subentries_of`, the entities are those of other subentries, such as batteries, and each
    gets all of them.
    """
    added: set[tuple[str, str]] = set()

    def add_missing() -> None:
        nonlocal added
        had, added = added, set()
        for plan in sorted(subentries_of(entry).values(), key=lambda plan: plan.subentry_id):
            fitting = {
                (plan.subentry_id, one.key): one
                for one in descriptions
                if subentries_of is not plans_of or has_entity(plan.data, one.key)
            }
            new = [make_entity(entry.runtime_data, plan, one) for place, one in fitting.items() if place not in had]
            if new:
                async_add_entities(new, config_subentry_id=plan.subentry_id)
            added |= fitting.keys()

    entry.runtime_data.async_call_at_updates(add_missing)


def add_while_selling(entry: TunnihindConfigEntry, add: Callable[[], None]) -> None:
    """Call `add` now if the household sells electricity, and whenever the household starts to sell electricity."""
    sold = False

    def add_if_selling() -> None:
        nonlocal sold
        sells = entry.runtime_data.selling_contract is not None
        if sells and not sold:
            add()
        sold = sells

    entry.runtime_data.async_call_at_updates(add_if_selling)


@callback
def async_remove_unfitting_entities(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Remove entities that no longer fit their plans, and entities of selling prices if the household sells nothing."""
    unfitting = {
        f"{plan.subentry_id}_{key}"
        for plan in plans_of(entry).values()
        for key in _ENTITY_CONDITIONS
        if not has_entity(plan.data, key)
    }
    if not entry.options.get(SELLING):
        unfitting |= {f"{entry.entry_id}_{key}" for key in _SELLING_KEYS}
    registry = er.async_get(hass)
    for registered in er.async_entries_for_config_entry(registry, entry.entry_id):
        if registered.unique_id in unfitting:
            registry.async_remove(registered.entity_id)


async def async_change_plans(plans: Collection[tuple[TunnihindCoordinator, str]], change: PlanChange) -> None:
    """Apply `change` to all `plans`, which may be batteries, and store the changed plans.

    Each plan in `plans` is a pair of the plan's coordinator and the id of the plan's subentry. If the change is not
    allowed for one of the plans, raise Refusal and change no plan.
    """
    changed: dict[TunnihindCoordinator, dict[str, Steered]] = {}
    for coordinator, plan_id in plans:
        changed.setdefault(coordinator, {})[plan_id] = _changed_plan(coordinator, plan_id, change)
    _check_groups(changed)
    for coordinator, of_server in changed.items():
        coordinator.async_replace_plans(of_server, replan=change.replan)
    for coordinator in changed:
        await coordinator.async_save()


def _check_groups(changed: Mapping[TunnihindCoordinator, Mapping[str, Steered]]) -> None:
    """Raise Refusal if a changed plan doesn't fit its group. What is wrong already may stay."""
    settings = {
        (coordinator.config_entry.entry_id, plan_id): plan.settings(coordinator.zone)
        for coordinator, plans in changed.items()
        for plan_id, plan in plans.items()
        if isinstance(plan, SteeredPlan)
    }
    for coordinator, plans in changed.items():
        entry = coordinator.config_entry
        for plan_id in plans:
            new, present = settings.get((entry.entry_id, plan_id)), coordinator.planner.settings.get(plan_id)
            if new is None or (present is not None and new.in_group == present.in_group):
                continue
            try:
                coordinator.planner.check_group(plan_id, settings)
            except PlanError as error:
                raise Refusal(error.key, plan=entry.subentries[plan_id].title, **error.placeholders) from error


def _changed_plan(coordinator: TunnihindCoordinator, plan_id: str, change: PlanChange) -> Steered:
    plan, title = coordinator.plan(plan_id), coordinator.config_entry.subentries[plan_id].title
    if plan is None:
        raise Refusal("plan_unusable", plan=title)
    clock = coordinator.clock
    if change.energy_read_at is not None:
        change = replace(change, energy_read_at=clock.from_home_assistant_time(change.energy_read_at))
    try:
        return plan.with_change(change, clock.now())
    except PlanError as error:
        raise Refusal(error.key, plan=title, **error.placeholders) from error
