"""Asks what a household gets for the electricity that it sells."""

from collections.abc import Mapping
from typing import Any, Final

import voluptuous as vol
from homeassistant.helpers.selector import (
    BooleanSelector,
    DateSelector,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
)

from ..prices.billing import Resolution
from ..prices.selling import RESOLUTION, SELLING
from ..prices.units import Unit
from .number_field import price_selector
from .tariff_form import ROWS, VALID_FROM, name_of, ordered, without

SELLS: Final = "sells"
MARGIN: Final = "margin"
BALANCING: Final = "balancing"
_MOST_CENTS: Final = 100


def selling_form(unit: Unit) -> vol.Schema:
    """Return the form."""
    periods = SelectSelectorConfig(options=list(Resolution), translation_key="sold_by", mode=SelectSelectorMode.LIST)
    deduction = price_selector(unit, -_MOST_CENTS, _MOST_CENTS)
    return vol.Schema(
        {
            vol.Required(SELLS, default=False): BooleanSelector(),
            vol.Required(RESOLUTION, default=Resolution.QUARTER.value): SelectSelector(periods),
            vol.Optional(MARGIN): deduction,
            vol.Optional(BALANCING): deduction,
            vol.Optional(VALID_FROM): DateSelector(),
        }
    )


def selling_suggested(options: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Return the newest deductions as the form shows them; nothing where the household sells nothing."""
    contract = options.get(SELLING)
    if not contract:
        return {}
    newest = contract[ROWS][-1]
    figures = {key: unit.from_cents(newest[key]) for key in (MARGIN, BALANCING)}
    dated = {VALID_FROM: newest[VALID_FROM]} if newest.get(VALID_FROM) else {}
    return {SELLS: True, RESOLUTION: contract[RESOLUTION], **figures, **dated}


def selling_options(options: Mapping[str, Any], typed: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Return the options with what was typed. Deductions of other dates stay; who sells nothing has none."""
    others = {key: value for key, value in options.items() if key != SELLING}
    if not typed[SELLS]:
        return others
    row: dict[str, Any] = {key: unit.to_cents(float(typed.get(key) or 0)) for key in (MARGIN, BALANCING)}
    if typed.get(VALID_FROM):
        row[VALID_FROM] = typed[VALID_FROM]
    rows = without(options.get(SELLING, {}).get(ROWS, ()), name_of(row))
    return {**others, SELLING: {RESOLUTION: typed[RESOLUTION], ROWS: ordered([*rows, row])}}
