"""Triggers: what happens to prices and plans, for automations.

As everywhere in Home Assistant a trigger is a change that was seen: an entity that comes back from `unavailable` or
`unknown`, after a restart or a reload, sets nothing off, and no dishwasher runs twice. What has to follow a window
through a restart asks the condition `window_running` when Home Assistant has started, as the blueprints do.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Final, override

from homeassistant.const import ATTR_ENTITY_ID, CONF_TARGET, STATE_OFF, STATE_ON, Platform
from homeassistant.core import CALLBACK_TYPE, Context, HomeAssistant, State, callback
from homeassistant.helpers.automation import DomainSpec
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

from ..const import CENTS_PER_KWH, EUR_PER_KWH
from ..entity import NEGATIVE_SELLING_PRICE, WINDOW, check_target, clock_of, entities_of_kind
from ..prices.timeline import QUARTER_S

# A device that is switched on for a negative price runs at least that long, in seconds.
WORTH_SWITCHING_S: Final = 2 * QUARTER_S
_ON: Final = {STATE_ON}
_OFF: Final = {STATE_OFF}
_CENTS: Final = 100
# Finer than any price that is shown.
_DECIMALS: Final = 6


class TunnihindTrigger(EntityTriggerBase):
    """A trigger for entities of one kind. Other entities among its targets do not count."""

    _domain_specs: Mapping[str, DomainSpec] = {Platform.BINARY_SENSOR: DomainSpec()}
    _translation_key: ClassVar[str]
    _kind_if_named: ClassVar[str | None] = None
    """A kind that counts only where the entity itself is named, and not with all of a device or an area."""

    @override
    @classmethod
    async def async_validate_config(cls, hass: HomeAssistant, config: ConfigType) -> ConfigType:
        checked = await super().async_validate_config(hass, config)
        check_target(hass, checked[CONF_TARGET], {cls._translation_key, cls._kind_if_named or cls._translation_key})
        return checked

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        super().__init__(hass, config)
        self._named = set(ensure_list((config.target or {}).get(ATTR_ENTITY_ID)))

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        ours = super().entity_filter(entities)
        found = entities_of_kind(self._hass, ours, self._translation_key)
        if self._kind_if_named:
            found |= entities_of_kind(self._hass, ours & self._named, self._kind_if_named)
        return found

    @override
    async def async_attach_runner(
        self, run_action: TriggerActionRunner, did_not_trigger: TriggerNotTriggeredReporter | None = None
    ) -> CALLBACK_TYPE:
        """Attach an automation, which runs once all entities have the states that go with the trigger's.

        States are written one after another. An automation that ran at once would read old states of some entities.
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


class WindowStarted(TunnihindTrigger, EntityTargetStateTriggerBase):
    """A window, or a piece of one, starts; also where the window before ends at the same moment."""

    _translation_key = WINDOW
    _to_states = _ON

    @override
    def is_valid_transition(self, from_state: State, to_state: State) -> bool:
        if from_state.state == STATE_ON:
            return _start_of(from_state) != _start_of(to_state)
        return super().is_valid_transition(from_state, to_state)


def _start_of(window: State) -> str | None:
    """Return when the window starts: pieces may be added to one that runs, and it is the same one."""
    pieces: list[dict[str, str]] = window.attributes.get("pieces") or []
    return pieces[0]["start"] if pieces else None


class WindowEnded(TunnihindTrigger, EntityTargetStateTriggerBase):
    """A window, or a piece of one, ends, and no other starts at the same moment."""

    _translation_key = WINDOW
    _to_states = _OFF


class PriceTurnedNegative(TunnihindTrigger, EntityTargetStateTriggerBase):
    """The price falls below zero for at least half an hour: no device is worth switching on for a quarter of one."""

    _translation_key = "negative_price"
    _kind_if_named = NEGATIVE_SELLING_PRICE
    _to_states = _ON

    @override
    def is_valid_transition(self, from_state: State, to_state: State) -> bool:
        if not super().is_valid_transition(from_state, to_state):
            return False
        clock = clock_of(self._hass, to_state.entity_id)
        end = datetime.fromisoformat(to_state.attributes["end"]).timestamp()
        return clock is not None and end - clock.now() // QUARTER_S * QUARTER_S >= WORTH_SWITCHING_S


class PricesPublished(TunnihindTrigger, EntityTargetStateTriggerBase):
    """Tomorrow's prices become known."""

    _translation_key = "tomorrow_known"
    _to_states = _ON


class PriceCrossed(TunnihindTrigger, EntityNumericalStateCrossedThresholdTriggerBase):
    """The current price comes into the range that is asked for: above, below, between or outside.

    Numbers are in EUR/kWh, as the sensor, or in c/kWh where the trigger says so.
    """

    _domain_specs: Mapping[str, DomainSpec] = {Platform.SENSOR: DomainSpec()}
    _translation_key = "current_price"
    _valid_unit = EUR_PER_KWH

    def __init__(self, hass: HomeAssistant, config: TriggerConfig) -> None:
        options = dict(config.options or {})
        options["threshold"] = {name: _in_euros(value) for name, value in options["threshold"].items()}
        super().__init__(hass, replace(config, options=options))


def _in_euros(value: object) -> object:
    """Return a bound of a threshold in EUR/kWh; all else as it is."""
    if isinstance(value, dict) and value.get("unit_of_measurement") == CENTS_PER_KWH and "number" in value:
        return {"number": round(value["number"] / _CENTS, _DECIMALS)}
    return value


TRIGGERS: Final[dict[str, type[Trigger]]] = {
    "price_crossed": PriceCrossed,
    "price_turned_negative": PriceTurnedNegative,
    "prices_published": PricesPublished,
    "window_ended": WindowEnded,
    "window_started": WindowStarted,
}
