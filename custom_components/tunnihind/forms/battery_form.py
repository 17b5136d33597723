"""The form in which people enter a battery: its fields, the errors in these fields, and the stored data of the battery.

The common questions are above the sections. All other fields have values that suit most batteries.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.components.sensor import SensorDeviceClass
from homeassistant.const import CONF_NAME, Platform
from homeassistant.helpers.selector import (
    BooleanSelector,
    EntitySelector,
    EntitySelectorConfig,
    TextSelector,
    TimeSelector,
)

from ..battery.settings import (
    DEFAULTS,
    LEAST_EFFICIENCY_PERCENT,
    MAX_CAPACITY_KWH,
    MAX_THRESHOLD_CENTS,
    MAX_WEAR_CENTS,
    METERS,
    PERCENT,
    BatterySettings,
)
from ..core.network_clock import WEEKDAYS
from ..plans.settings import MAX_POWER_KW, PlanError
from ..prices.units import Unit
from .fields import choice_field, foldable_section, number_field, price_field
from .plan_form import CHOSEN_DAYS, DEADLINE, GROUP, name_error

STATE_OF_CHARGE: Final = "state_of_charge"
SUN_FORECAST: Final = "sun_forecast"
LOAD: Final = "load"
_COMMON: Final = (STATE_OF_CHARGE, "capacity", "charge_power", "discharge_power")
_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "limits": ("lowest", "highest", "reserve"),
    "wish": ("target_soc", DEADLINE, CHOSEN_DAYS),
    "grid": ("charge_from_grid", "sell", GROUP),
    "losses": ("efficiency", "wear", "threshold"),
    "home": (SUN_FORECAST, LOAD),
    "meters": METERS,
}
_PRICES: Final = ("wear", "threshold")
_STATE_OF_CHARGE_FIELD: Final = EntitySelector(
    EntitySelectorConfig(filter={"domain": [Platform.SENSOR, Platform.NUMBER, "input_number"]})
)
_SENSOR_FIELD: Final = EntitySelector(EntitySelectorConfig(filter={"domain": Platform.SENSOR}))
_METER_FIELD: Final = EntitySelector(
    EntitySelectorConfig(
        filter={"domain": Platform.SENSOR, "device_class": [SensorDeviceClass.ENERGY, SensorDeviceClass.POWER]}
    )
)


def battery_form_schema(unit: Unit, unfolded: Collection[str] = ()) -> vol.Schema:
    """Return the schema of a battery's form with prices in `unit`. The sections in `unfolded` are open at first."""
    percent, power = number_field(0, PERCENT, "%"), number_field(0, MAX_POWER_KW, "kW")
    fields: dict[str, tuple[type[vol.Marker], Any]] = {
        STATE_OF_CHARGE: (vol.Required, _STATE_OF_CHARGE_FIELD),
        "capacity": (vol.Required, number_field(0, MAX_CAPACITY_KWH, "kWh")),
        "charge_power": (vol.Required, power),
        "discharge_power": (vol.Required, power),
        "lowest": (vol.Required, percent),
        "highest": (vol.Required, percent),
        "reserve": (vol.Required, percent),
        "target_soc": (vol.Optional, percent),
        DEADLINE: (vol.Required, TimeSelector()),
        CHOSEN_DAYS: (vol.Optional, choice_field(WEEKDAYS, CHOSEN_DAYS, multiple=True)),
        "charge_from_grid": (vol.Required, BooleanSelector()),
        "sell": (vol.Required, BooleanSelector()),
        GROUP: (vol.Optional, TextSelector()),
        "efficiency": (vol.Required, number_field(LEAST_EFFICIENCY_PERCENT, PERCENT, "%")),
        "wear": (vol.Required, price_field(unit, 0, MAX_WEAR_CENTS)),
        "threshold": (vol.Required, price_field(unit, 0, MAX_THRESHOLD_CENTS, per="day")),
        SUN_FORECAST: (vol.Optional, _SENSOR_FIELD),
        LOAD: (vol.Optional, _METER_FIELD),
        **dict.fromkeys(METERS, (vol.Optional, _METER_FIELD)),
    }

    def part(names: Iterable[str]) -> dict[vol.Marker, Any]:
        return {fields[name][0](name): fields[name][1] for name in names}

    return vol.Schema(
        {
            vol.Required(CONF_NAME): TextSelector(),
            **part(_COMMON),
            **{
                vol.Optional(name): foldable_section(part(names), unfolded=name in unfolded)
                for name, names in _SECTIONS.items()
            },
        }
    )


def sections_to_unfold(values: Mapping[str, Any], errors: Iterable[str], unit: Unit) -> set[str]:
    """Return what has an error, and the sections whose values differ from those of a new battery."""
    new = shown_values("", {}, unit)
    return {*errors, *(name for name in _SECTIONS if values.get(name, {}) != new[name])}


def shown_values(name: str, battery: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Return the values that the form shows for a battery. Prices are in `unit`."""
    shown = {**DEFAULTS, **battery}
    shown |= {key: unit.from_cents(shown[key]) for key in _PRICES}
    sections = {title: {key: shown[key] for key in keys if key in shown} for title, keys in _SECTIONS.items()}
    return {CONF_NAME: name, **{key: shown[key] for key in _COMMON if key in shown}, **sections}


def battery_from_input(user_input: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Convert the user's input in the form to the data of the battery's subentry, with prices in cents."""
    typed = {key: user_input[key] for key in _COMMON}
    typed |= {key: value for title in _SECTIONS for key, value in user_input.get(title, {}).items()}
    typed |= {key: unit.to_cents(typed[key]) for key in _PRICES if key in typed}
    days = user_input.get("wish", DEFAULTS).get(CHOSEN_DAYS, ())
    typed[CHOSEN_DAYS] = [day for day in WEEKDAYS if day in days]
    return {**DEFAULTS, **{key: value for key, value in typed.items() if value is not None}}


def form_errors(
    user_input: Mapping[str, Any], unit: Unit, others: Iterable[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the errors in a form, keyed by field or section, and the placeholders of their texts.

    `others` contains the names of the other plans and batteries.
    """
    errors = {CONF_NAME: error} if (error := name_error(user_input[CONF_NAME], others)) else {}
    try:
        BatterySettings.from_mapping(battery_from_input(user_input, unit))
    except PlanError as error:
        return {**errors, place_of(error.placeholders["field"]): error.key}, error.placeholders
    return errors, {}


def place_of(field: str) -> str:
    """Return where the form shows an error of the field: at the field's section, or at the field itself."""
    return next((title for title, keys in _SECTIONS.items() if field in keys), field)
