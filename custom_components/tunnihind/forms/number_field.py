"""The fields of forms for numbers, and for prices in the household's unit."""

import math
from typing import Any, override

import voluptuous as vol
from homeassistant.helpers.selector import NumberSelector, NumberSelectorConfig, NumberSelectorMode

from ..prices.units import Unit


class NumberField(NumberSelector):
    """Home Assistant's own takes "nan", which is neither too small nor too large. A price of it would be none."""

    @override
    def __call__(self, data: Any) -> float:
        number = super().__call__(data)
        if math.isnan(number):
            raise vol.Invalid("expected float")
        return number


def price_selector(unit: Unit, lowest_cents: float, highest_cents: float) -> NumberField:
    """Return the field of a form for a price per kilowatt-hour."""
    return NumberField(
        NumberSelectorConfig(
            min=unit.from_cents(lowest_cents),
            max=unit.from_cents(highest_cents),
            step="any",
            unit_of_measurement=f"{unit}_per_kwh",
            translation_key="fee",
            mode=NumberSelectorMode.BOX,
        )
    )
