"""Conditions: how prices and plans stand, for automations."""

from collections.abc import Mapping
from typing import ClassVar, Final, override

from homeassistant.const import CONF_TARGET, STATE_ON, Platform
from homeassistant.core import HomeAssistant, State
from homeassistant.helpers.automation import DomainSpec
from homeassistant.helpers.condition import Condition, EntityStateConditionBase
from homeassistant.helpers.typing import ConfigType

from ..entity import WINDOW, check_target, entities_of_kind

_ON: Final[set[str | bool]] = {STATE_ON}


class TunnihindCondition(EntityStateConditionBase):
    """Whether entities of one kind are on. Other entities among the condition's targets do not count."""

    _domain_specs: Mapping[str, DomainSpec] = {Platform.BINARY_SENSOR: DomainSpec()}
    _states = _ON
    _translation_key: ClassVar[str]

    @override
    @classmethod
    async def async_validate_config(cls, hass: HomeAssistant, config: ConfigType) -> ConfigType:
        checked = await super().async_validate_config(hass, config)
        check_target(hass, checked[CONF_TARGET], {cls._translation_key})
        return checked

    @override
    def entity_filter(self, entities: set[str]) -> set[str]:
        return entities_of_kind(self._hass, super().entity_filter(entities), self._translation_key)

    @override
    def _check_all_match_state(self, states: list[State]) -> bool:
        # Home Assistant's own answer for "all" of no entities is yes, and a heater would run at any price.
        return bool(states) and super()._check_all_match_state(states)


class WindowRunning(TunnihindCondition):
    """A window, or a piece of one, runs."""

    _translation_key = WINDOW


class PriceCheap(TunnihindCondition):
    """The current hour is one of the day's cheap ones."""

    _translation_key = "cheap_hour"


class PriceNegative(TunnihindCondition):
    """The price is below zero."""

    _translation_key = "negative_price"


class TomorrowKnown(TunnihindCondition):
    """Tomorrow's prices are known."""

    _translation_key = "tomorrow_known"


CONDITIONS: Final[dict[str, type[Condition]]] = {
    "price_cheap": PriceCheap,
    "price_negative": PriceNegative,
    "tomorrow_known": TomorrowKnown,
    "window_running": WindowRunning,
}
