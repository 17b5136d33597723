"""The form that asks what to compare by the past year, and the reasons why a comparison failed, in words."""

from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.selector import StatisticSelector
from homeassistant.helpers.translation import async_get_translations

from ..battery.settings import MAX_CAPACITY_KWH
from ..const import DOMAIN
from ..errors import Refusal
from ..household.home_energy import dashboard_meters
from ..plans.settings import MAX_POWER_KW
from ..prices.units import Unit
from ..worth.question import (
    BATTERY_CAPACITY,
    BATTERY_POWER,
    BATTERY_PRICE,
    CAP,
    ENERGY,
    FIXED,
    FIXED_MONTHLY,
    MAX_CENTS,
    MAX_MONTHLY_EUR,
    MAX_PRICE_EUR,
    MONTHLY,
    SOLD,
    Question,
)
from .fields import foldable_section, number_field, price_field

BATTERY: Final = "battery"
_STEP_KEY_PREFIX: Final = f"component.{DOMAIN}.options.step.compare."
_BATTERY_FIELDS: Final = (BATTERY_CAPACITY, BATTERY_POWER, BATTERY_PRICE)
_PRICES: Final = (FIXED, CAP)


def comparison_form(unit: Unit) -> vol.Schema:
    """Return the form, with prices in `unit`."""
    price, monthly = price_field(unit, -MAX_CENTS, MAX_CENTS), number_field(0, MAX_MONTHLY_EUR, "EUR")
    battery: dict[vol.Marker, Any] = {
        vol.Optional(BATTERY_CAPACITY): number_field(0, MAX_CAPACITY_KWH, "kWh"),
        vol.Optional(BATTERY_POWER): number_field(0, MAX_POWER_KW, "kW"),
        vol.Optional(BATTERY_PRICE): number_field(0, MAX_PRICE_EUR, "EUR"),
    }
    return vol.Schema(
        {
            # Home Assistant's form is empty if it has to choose a statistic at first, as for a required field.
            vol.Optional(ENERGY): StatisticSelector(),
            vol.Optional(SOLD): StatisticSelector(),
            vol.Optional(MONTHLY): monthly,
            vol.Optional(FIXED): price,
            vol.Optional(FIXED_MONTHLY): monthly,
            vol.Optional(CAP): price,
            vol.Optional(BATTERY): foldable_section(battery, unfolded=True),
        }
    )


async def meters_to_suggest(hass: HomeAssistant) -> dict[str, Any]:
    """Return the grid's meters of the Energy dashboard as values of the form."""
    meters = await dashboard_meters(hass)
    found = {ENERGY: meters["import_meter"], SOLD: meters["export_meter"]}
    return {field: ids[0] for field, ids in found.items() if ids}


def question_from_input(user_input: Mapping[str, Any], unit: Unit) -> Question:
    """Read the form. Raises Refusal if there is no statistic, and the Refusals of `Question.from_mapping`."""
    if not user_input.get(ENERGY):
        raise Refusal("statistic_needed", field=ENERGY)
    given = {**user_input, **user_input.get(BATTERY, {})}
    typed = {field: value for field, value in given.items() if value is not None}
    return Question.from_mapping(typed | {field: unit.to_cents(typed[field]) for field in _PRICES if field in typed})


def place_of_error(error: HomeAssistantError) -> str:
    """Return where the form shows an error: at a field, at the section of the battery, or above the form."""
    field = (error.translation_placeholders or {}).get("field", "base")
    return BATTERY if field in _BATTERY_FIELDS else field


async def reason_of(hass: HomeAssistant, error: HomeAssistantError, language: str) -> str:
    """Return the text of an error in `language`, with the labels of the form in place of the names of fields."""
    domain, said = error.translation_domain or "", error.translation_placeholders or {}
    words = await async_get_translations(hass, language, "exceptions", {domain})
    texts = await async_get_translations(hass, language, "options", {DOMAIN})
    labels = {key.rpartition(".data.")[2]: text for key, text in texts.items() if key.startswith(_STEP_KEY_PREFIX)}
    return words[f"component.{domain}.exceptions.{error.translation_key}.message"].format(
        **{name: labels.get(value, value) for name, value in said.items()}
    )
