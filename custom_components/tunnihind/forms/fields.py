"""The fields of forms: choices, numbers, and prices in the household's unit."""

import math
from collections.abc import Iterable
from typing import Any, override

import voluptuous as vol
from homeassistant.data_entry_flow import section
from homeassistant.helpers.selector import (
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)

from ..choices import words
from ..prices.units import Unit


class NumberField(NumberSelector):
    """A number field that refuses "nan", which Home Assistant's own number field accepts."""

    @override
    def __call__(self, data: Any) -> float:
        number = super().__call__(data)
        if math.isnan(number):
            raise vol.Invalid("expected float")
        return number


class CountField(NumberField):
    """A number field that refuses fractions such as 1.5, which Home Assistant's own number field accepts."""

    @override
    def __call__(self, data: Any) -> int:
        number = super().__call__(data)
        if not number.is_integer():
            raise vol.Invalid("expected int")
        return int(number)


def number_field(least: float, most: float, unit: str | None = None) -> NumberField:
    """Return a field in which people type a number from `least` to `most`."""
    config = NumberSelectorConfig(min=least, max=most, step="any", mode=NumberSelectorMode.BOX)
    if unit is not None:
        config["unit_of_measurement"] = unit
    return NumberField(config)


def price_field(unit: Unit, lowest_cents: float, highest_cents: float, *, per: str = "kwh") -> NumberField:
    """Return a field in which people type a price per kilowatt-hour, or per day, in `unit`. The bounds are in cents."""
    return NumberField(
        NumberSelectorConfig(
            min=unit.from_cents(lowest_cents),
            max=unit.from_cents(highest_cents),
            step="any",
            unit_of_measurement=f"{unit}_per_{per}",
            translation_key="fee",
            mode=NumberSelectorMode.BOX,
        )
    )


def count_field(most: int, mode: NumberSelectorMode = NumberSelectorMode.SLIDER) -> CountField:
    """Return a field in which people choose a whole number from 1 to `most`."""
    return CountField(NumberSelectorConfig(min=1, max=most, mode=mode))


def choice_field(options: Iterable[str], translation_key: str, *, multiple: bool = False) -> SelectSelector:
    """Return a list from which people choose one option, or several if `multiple` is true."""
    listed = SelectSelectorMode.LIST
    return SelectSelector(
        SelectSelectorConfig(options=words(options), translation_key=translation_key, multiple=multiple, mode=listed)
    )


def foldable_section(fields: dict[vol.Marker, Any], *, unfolded: bool) -> section:
    """Return a foldable section of a form. If `unfolded` is true, the section is open at first."""
    return section(vol.Schema(fields), {"collapsed": not unfolded})
