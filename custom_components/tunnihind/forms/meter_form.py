"""The part of a plan's form that says what measures the device."""

from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.components.sensor import ATTR_STATE_CLASS, SensorDeviceClass, SensorStateClass
from homeassistant.const import ATTR_UNIT_OF_MEASUREMENT, Platform
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import EntitySelector, EntitySelectorConfig
from homeassistant.util.unit_conversion import EnergyConverter, PowerConverter

SAVED: Final = "saved"
METER: Final = "meter"

_METER: Final = EntitySelector(
    EntitySelectorConfig(
        filter={"domain": Platform.SENSOR, "device_class": [SensorDeviceClass.ENERGY, SensorDeviceClass.POWER]}
    )
)


def meter_fields(*, unfolded: bool = False) -> dict[vol.Marker, Any]:
    """Return the section with the meter. A form that was sent without it stays valid."""
    return {vol.Optional(SAVED): section(vol.Schema({vol.Optional(METER): _METER}), {"collapsed": not unfolded})}


def meter_of(user_input: Mapping[str, Any]) -> str | None:
    """Return the meter that was chosen, if any."""
    meter: str | None = user_input.get(SAVED, {}).get(METER)
    return meter


def wrong_meter(hass: HomeAssistant, user_input: Mapping[str, Any], kept: str | None = None) -> dict[str, str]:
    """Return what is wrong with the meter, by section: the recorder has to have statistics of it.

    The one that the plan has `kept` so far may be away: that keeps nobody from changing the rest of the form.
    """
    meter = meter_of(user_input)
    if meter is None:
        return {}
    state = hass.states.get(meter)
    is_fit = _has_statistics(state.attributes) if state else meter == kept
    return {} if is_fit else {SAVED: "no_meter"}


def _has_statistics(attributes: Mapping[str, Any]) -> bool:
    """Tell whether the recorder has sums of it as an energy, or means of it as a power."""
    unit, state_class = attributes.get(ATTR_UNIT_OF_MEASUREMENT), attributes.get(ATTR_STATE_CLASS)
    if unit in EnergyConverter.VALID_UNITS:
        return state_class in {SensorStateClass.TOTAL, SensorStateClass.TOTAL_INCREASING}
    return unit in PowerConverter.VALID_UNITS and state_class == SensorStateClass.MEASUREMENT
