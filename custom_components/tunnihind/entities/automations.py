"""Triggers and conditions for automations that use prices and plans.

Like Home Assistant's own entity triggers, these triggers ignore changes from the states `unavailable` and `unknown`. So
a restart or a reload fires no trigger, even if a window starts meanwhile. Therefore an automation that follows a plan's
window should also check the condition `window_running` after each start of Home Assistant.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Final, override

import voluptuous as vol
from homeassistant.const import ATTR_DEVICE_ID, ATTR_ENTITY_ID, CONF_TARGET, STATE_OFF, STATE_ON, Platform
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, State, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.automation import DomainSpec
from homeassistant.helpers.condition import Condition, EntityStateConditionBase
from homeassistant.helpers.config_validation import ensure_list
from homeassistant.helpers.trigger import (
    EntityNumericalStateCrossedThresholdTriggerBase,
    EntityTargetStateTriggerBase,
    EntityTriggerBase,
    Trigger,
    TriggerActionRunner,
    TriggerConfig,
    TriggerNotTriggeredReporter,
)
from homeassistant.helpers.typing import ConfigType

from ..client.clock import EntryClock
from ..const import CENTS_PER_KWH, DOMAIN, EUR_PER_KWH
from ..coordinator import TunnihindConfigEntry
from ..core.market import QUARTER_S
from ..entity import EXPENSIVE_PREFIX, NEGATIVE_SELLING_PRICE, WINDOW

# `PriceTurnedNegativeTrigger` ignores prices that stay below zero for less than this time, because switching a device
# on for a shorter time is not worthwhile.
_SHORTEST_NEGATIVE_S: Final = 2 * QUARTER_S
_ON: Final = {STATE_ON}
_OFF: Final = {STATE_OFF}
_CENTS: Final = 100
# Bounds in c/kWh are converted to EUR/kWh with this many decimals, two more than the prices of the sensors.
_DECIMALS: Final = 6


class TunnihindTrigger(EntityTriggerBase):
    """A trigger for the target's entities that `entities_with_translation_key` finds for `_translation_key`.

    An entity with the translation key `_translation_key_if_named` counts only if the target names the entity itself.
    Other entities are ignored, but `_check_target` refuses a target that names a wrong device or entity.
    """

    _domain_specs: Mapping[str, DomainSpec] = {Platform.BINARY_SENSOR: DomainSpec()}
    _translation_key: ClassVar[str]
    _translation_key_if_named: ClassVar[str | None] = None

    @override
    @classmethod
    async def async_validate_config(cls, hass: HomeAssistant, config: ConfigType) -> ConfigType:
        checked = await super().async_validate_config(hass, config)
        _check_target(
            hass, checked[CONF_TARGET], {cls._translation_key, cls._translation_key_if_named or cls._translation_key}
        )
        return checked

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        super().__init__(hass, config)
        self._named_entities = set(ensure_list((config.target or {}).get(ATTR_ENTITY_ID)))

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        ours = super().entity_filter(entities)
        found = entities_with_translation_key(self._hass, ours, self._translation_key)
        if self._translation_key_if_named:
            found |= entities_with_translation_key(
                self._hass, ours & self._named_entities, self._translation_key_if_named
            )
        return found

    @override
    async def async_attach_runner(
        self, run_action: TriggerActionRunner, did_not_trigger: TriggerNotTriggeredReporter | None = None
    ) -> CALLBACK_TYPE:
        """Attach an automation, and run the automation only after all entities have been updated.

        Entities are updated one after another, so an automation that ran at once could read the old states of entities
        that have not been updated yet.
        """

        async def run(payload: dict[str, Any], description: str, context: Context | None) -> None:
            await asyncio.sleep(0)
            await run_action(payload, description, context)

        @callback
        def run_soon(
            extra_trigger_payload: dict[str, Any], description: str, context: Context | None = None
        ) -> asyncio.Task[Any]:
            return self._hass.async_create_task(run(extra_trigger_payload, description, context), description)

        return await super().async_attach_runner(run_soon, did_not_trigger)


class WindowStartedTrigger(TunnihindTrigger, EntityTargetStateTriggerBase):
    """A trigger that fires when a window or one of its pieces starts, even if the previous window ends just then."""

    _translation_key = WINDOW
    _to_states = _ON

    @override
    def is_valid_transition(self, from_state: State, to_state: State) -> bool:
        if from_state.state == STATE_ON:
            return _window_start(from_state) != _window_start(to_state)
        return super().is_valid_transition(from_state, to_state)


def _window_start(window: State) -> str | None:
    """Return the start of the window's first piece, which stays the same while the window runs."""
    pieces: list[dict[str, str]] = window.attributes.get("pieces") or []
    return pieces[0]["start"] if pieces else None


class WindowEndedTrigger(TunnihindTrigger, EntityTargetStateTriggerBase):
    """A trigger that fires when a window or one of its pieces ends, unless the plan's next window starts just then."""

    _translation_key = WINDOW
    _to_states = _OFF


class PriceTurnedNegativeTrigger(TunnihindTrigger, EntityTargetStateTriggerBase):
    """A trigger that fires when a price turns negative and is expected to stay negative for at least half an hour."""

    _translation_key = "negative_price"
    _translation_key_if_named = NEGATIVE_SELLING_PRICE
    _to_states = _ON

    @override
    def is_valid_transition(self, from_state: State, to_state: State) -> bool:
        if not super().is_valid_transition(from_state, to_state):
            return False
        clock = _clock_of(self._hass, to_state.entity_id)
        end = datetime.fromisoformat(to_state.attributes["end"]).timestamp()
        return clock is not None and end - clock.now() // QUARTER_S * QUARTER_S >= _SHORTEST_NEGATIVE_S


class PricesPublishedTrigger(TunnihindTrigger, EntityTargetStateTriggerBase):
    """A trigger that fires when tomorrow's prices are published."""

    _translation_key = "tomorrow_known"
    _to_states = _ON


class PriceCrossedTrigger(TunnihindTrigger, EntityNumericalStateCrossedThresholdTriggerBase):
    """A trigger that fires when the current price enters a range.

    The range lies above or below one bound, or between or outside two bounds. Bounds are in EUR/kWh, or in c/kWh if the
    automation's trigger names this unit.
    """

    _domain_specs: Mapping[str, DomainSpec] = {Platform.SENSOR: DomainSpec()}
    _translation_key = "current_price"
    _valid_unit = EUR_PER_KWH

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        options = dict(config.options or {})
        options["threshold"] = {name: _bound_in_euros(value) for name, value in options["threshold"].items()}
        super().__init__(hass, replace(config, options=options))


def _bound_in_euros(value: object) -> object:
    """Convert a bound in c/kWh to EUR/kWh, and return any other value unchanged."""
    if isinstance(value, dict) and value.get("unit_of_measurement") == CENTS_PER_KWH and "number" in value:
        return {"number": round(value["number"] / _CENTS, _DECIMALS)}
    return value


TRIGGERS: Final[dict[str, type[Trigger]]] = {
    "price_crossed": PriceCrossedTrigger,
    "price_turned_negative": PriceTurnedNegativeTrigger,
    "prices_published": PricesPublishedTrigger,
    "window_ended": WindowEndedTrigger,
    "window_started": WindowStartedTrigger,
}


class TunnihindCondition(EntityStateConditionBase):
    """A condition that tests whether entities of the target are on.

    The entities are those that `entities_with_translation_key` finds for `_translation_key`. Other entities are
    ignored, but `_check_target` refuses a target that names a wrong device or entity.
    """

    _domain_specs: Mapping[str, DomainSpec] = {Platform.BINARY_SENSOR: DomainSpec()}
    _states: set[str | bool] = {STATE_ON}  # noqa: RUF012  as in Home Assistant's own class
    _translation_key: ClassVar[str]

    @override
    @classmethod
    async def async_validate_config(cls, hass: HomeAssistant, config: ConfigType) -> ConfigType:
        checked = await super().async_validate_config(hass, config)
        _check_target(hass, checked[CONF_TARGET], {cls._translation_key})
        return checked

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        return entities_with_translation_key(self._hass, super().entity_filter(entities), self._translation_key)

    @override
    def _check_all_match_state(self, states: list[State]) -> bool:
        # If `states` is empty, Home Assistant's own check returns True, and an automation could run a heater at any
        # price.
        return bool(states) and super()._check_all_match_state(states)


def _condition_class(translation_key: str) -> type[Condition]:
    return type(translation_key, (TunnihindCondition,), {"_translation_key": translation_key})


CONDITIONS: Final = {
    "price_cheap": _condition_class("cheap_hour"),
    "price_negative": _condition_class("negative_price"),
    "tomorrow_known": _condition_class("tomorrow_known"),
    "window_running": _condition_class(WINDOW),
}


def entities_with_translation_key(hass: HomeAssistant, entity_ids: set[str], translation_key: str) -> set[str]:
    """Return the `entity_ids` of this integration that have the translation key `translation_key`.

    The prefix `EXPENSIVE_PREFIX` of an entity's translation key is ignored.
    """
    registry = er.async_get(hass)
    return {
        entity_id
        for entity_id in entity_ids
        if (entry := registry.async_get(entity_id))
        and entry.platform == DOMAIN
        and (entry.translation_key or "").removeprefix(EXPENSIVE_PREFIX) == translation_key
    }


def _check_target(hass: HomeAssistant, target: Mapping[str, Any], translation_keys: Collection[str]) -> None:
    """Raise vol.Invalid if the target names a wrong entity or a wrong device.

    An entity of this integration is wrong if `entities_with_translation_key` finds it for none of `translation_keys`. A
    device is wrong if it has entities of this integration, and all of them are wrong. Without this check, an automation
    would silently ignore a wrong device or entity. Areas, floors and labels in the target are not checked, because they
    may contain any entities.
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
        if ours and not any(entities_with_translation_key(hass, ours, key) for key in translation_keys):
            wanted = "a plan" if WINDOW in translation_keys else "the server"
            raise vol.Invalid(f"“{name}” has no effect here. Choose the device of {wanted} instead")


def _clock_of(hass: HomeAssistant, entity_id: str) -> EntryClock | None:
    """Return the clock of the entity's config entry. If the config entry is not loaded, return None."""
    registered = er.async_get(hass).async_get(entity_id)
    entries: list[TunnihindConfigEntry] = hass.config_entries.async_loaded_entries(DOMAIN)
    for entry in entries:
        if registered and entry.entry_id == registered.config_entry_id:
            return entry.runtime_data.clock
    return None
