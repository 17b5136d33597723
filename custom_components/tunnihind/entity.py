"""What all entities have in common."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.components.sensor import SensorEntity, SensorStateClass
from homeassistant.config_entries import ConfigSubentry
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, Platform
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.config_validation import ensure_list
from homeassistant.helpers.entity import EntityDescription
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import DOMAIN, SUBENTRY_PLAN
from .coordinator import TunnihindConfigEntry, TunnihindCoordinator
from .devices import plan_device, server_device
from .household.prices_now import PricesNow
from .plan_changes import async_change_plans
from .plans.outcome import Decision, Outcome
from .plans.settings import looks_for_high_prices
from .plans.steering import Change, SteeredPlan
from .server.clock import EntryClock

# The entities of those who sell electricity.
SELLING_PRICE: Final = "selling_price"
NEXT_SELLING_PRICE: Final = "next_selling_price"
NEGATIVE_SELLING_PRICE: Final = "negative_selling_price"
SELLING_KEYS: Final = (SELLING_PRICE, NEXT_SELLING_PRICE, NEGATIVE_SELLING_PRICE)
# The entity of a plan that automations go by.
WINDOW: Final = "window"
# Before the translation key of those entities of a plan for high prices that have a name of their own.
_DEAR: Final = "dear_"
_NAMED_DEAR: Final = {"window", "window_start", "window_end", "window_cost"}


class _Entity(CoordinatorEntity[TunnihindCoordinator]):
    """An entity of a config entry."""

    _attr_has_entity_name = True

    @property
    @override
    def attribution(self) -> str:
        return self.coordinator.attribution


class ServerEntity(_Entity):
    """An entity of the server."""

    def __init__(self, coordinator: TunnihindCoordinator, description: EntityDescription) -> None:
        super().__init__(coordinator)
        self.entity_description = description
        self._attr_unique_id = f"{coordinator.config_entry.entry_id}_{description.key}"
        self._attr_device_info = server_device(coordinator)

    @property
    def prices(self) -> PricesNow:
        """What is known in this quarter of an hour."""
        return self.coordinator.prices


class PriceEntity(ServerEntity):
    """An entity that is available while the current price is known, also without the server."""

    @property
    @override
    def available(self) -> bool:
        return self.prices.current is not None


class SellingEntity(PriceEntity):
    """An entity of what the household gets for electricity. There are none where it sells nothing."""

    @property
    @override
    def prices(self) -> PricesNow:
        return self.coordinator.selling_prices


class DataEntity(ServerEntity):
    """An entity about the data itself. It is always available."""

    @property
    @override
    def available(self) -> bool:
        return True


class StatisticsSensor(SensorEntity):
    """A sensor with long-term statistics, except in a rehearsal, which must not leave history."""

    coordinator: TunnihindCoordinator

    @property
    @override
    def state_class(self) -> SensorStateClass | None:
        return None if self.coordinator.clock.is_rehearsal else super().state_class


class PlanEntity(_Entity):
    """An entity of a plan."""

    def __init__(self, coordinator: TunnihindCoordinator, plan: ConfigSubentry, description: EntityDescription) -> None:
        super().__init__(coordinator)
        self.entity_description = description
        self.plan_id: Final = plan.subentry_id
        self._attr_unique_id = f"{plan.subentry_id}_{description.key}"
        if looks_for_high_prices(plan.data) and description.key in _NAMED_DEAR:
            self._attr_translation_key = _DEAR + description.key
        self._attr_device_info = plan_device(plan, coordinator)

    @property
    def outcome(self) -> Outcome | None:
        """What the plan makes of the prices; None once it can no longer be used."""
        return self.coordinator.prices.outcomes.get(self.plan_id)

    @property
    def decision(self) -> Decision | None:
        """The plan's window, if it has one."""
        return self.outcome if isinstance(self.outcome, Decision) else None

    @property
    @override
    def available(self) -> bool:
        """A window that is decided stands, even where the price of the current hour is not known."""
        return self.decision is not None or (self.outcome is not None and self.coordinator.prices.current is not None)


class SteeringEntity(PlanEntity):
    """An entity by which a plan is changed. It is available without prices too, as long as the plan can be used."""

    @property
    def plan(self) -> SteeredPlan | None:
        """The plan as it holds; None once it can no longer be used."""
        return self.coordinator.planner.plan(self.plan_id)

    @property
    @override
    def available(self) -> bool:
        return self.plan is not None

    async def async_change(self, change: Change) -> None:
        """Change the plan. Raises ServiceValidationError."""
        await async_change_plans([(self.coordinator, self.plan_id)], change)


def moment(seconds: int | None) -> datetime | None:
    """Return UTC seconds as Home Assistant shows instants."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def on_every_plan(
    entry: TunnihindConfigEntry,
    add: Callable[[ConfigSubentry], None],
    fits: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> None:
    """Call `add` for each plan whose form `fits`, and for one that comes or begins to fit while the entry is loaded."""
    added: set[str] = set()

    def look() -> None:
        fitting = {
            plan.subentry_id: plan
            for plan in entry.subentries.values()
            if plan.subentry_type == SUBENTRY_PLAN and fits(plan.data)
        }
        new = fitting.keys() - added
        added.clear()
        added.update(fitting)
        for plan_id in sorted(new):
            add(fitting[plan_id])

    look()
    entry.async_on_unload(entry.runtime_data.async_add_listener(look))


@callback
def async_remove_unfitting(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    platform: Platform,
    key: str,
    fits: Callable[[Mapping[str, Any]], bool],
) -> None:
    """Remove the entity of a key from plans whose forms no longer fit it."""
    registry = er.async_get(hass)
    for plan in entry.subentries.values():
        entity_id = registry.async_get_entity_id(platform, DOMAIN, f"{plan.subentry_id}_{key}")
        if entity_id and not fits(plan.data):
            registry.async_remove(entity_id)


def while_selling(entry: TunnihindConfigEntry, add: Callable[[], None]) -> None:
    """Call `add` if the household sells electricity, and each time that it begins to while the entry is loaded."""
    sold = False

    def look() -> None:
        nonlocal sold
        sells = entry.runtime_data.selling is not None
        if sells and not sold:
            add()
        sold = sells

    look()
    entry.async_on_unload(entry.runtime_data.async_add_listener(look))


@callback
def async_remove_selling_entities(hass: HomeAssistant, entry: TunnihindConfigEntry) -> None:
    """Remove the entities of a household that sells nothing, or no longer."""
    registry = er.async_get(hass)
    unique_ids = {f"{entry.entry_id}_{key}" for key in SELLING_KEYS}
    for registered in er.async_entries_for_config_entry(registry, entry.entry_id):
        if registered.unique_id in unique_ids:
            registry.async_remove(registered.entity_id)


def entities_of_kind(hass: HomeAssistant, entity_ids: set[str], translation_key: str) -> set[str]:
    """Return those of `entity_ids` that are this integration's, of the kind that `translation_key` names."""
    registry = er.async_get(hass)
    return {
        entity_id
        for entity_id in entity_ids
        if (entry := registry.async_get(entity_id))
        and entry.platform == DOMAIN
        and (entry.translation_key or "").removeprefix(_DEAR) == translation_key
    }


def check_target(hass: HomeAssistant, target: Mapping[str, Any], kinds: Collection[str]) -> None:
    """Raise vol.Invalid where a device or an entity of ours is named that is of none of these kinds: it never counts.

    Areas, floors and labels may hold anything.
    """
    registry, devices = er.async_get(hass), dr.async_get(hass)
    named = [(entity_id, {entity_id}) for entity_id in ensure_list(target.get(ATTR_ENTITY_ID))]
    for device_id in ensure_list(target.get(ATTR_DEVICE_ID)):
        device = devices.async_get(device_id)
        entries = er.async_entries_for_device(registry, device_id, include_disabled_entities=True)
        name = (device and (device.name_by_user or device.name)) or device_id
        named.append((name, {entry.entity_id for entry in entries}))
    for name, entity_ids in named:
        ours = {one for one in entity_ids if (entry := registry.async_get(one)) and entry.platform == DOMAIN}
        if ours and not any(entities_of_kind(hass, ours, kind) for kind in kinds):
            wanted = "a plan" if WINDOW in kinds else "the server"
            raise vol.Invalid(f"“{name}” never counts here. Choose the device of {wanted}, or its entity")


def clock_of(hass: HomeAssistant, entity_id: str) -> EntryClock | None:
    """Return the clock that the integration's entity goes by; None while its entry is not loaded."""
    registered = er.async_get(hass).async_get(entity_id)
    entries: list[TunnihindConfigEntry] = hass.config_entries.async_loaded_entries(DOMAIN)
    for entry in entries:
        if registered and entry.entry_id == registered.config_entry_id:
            return entry.runtime_data.clock
    return None
