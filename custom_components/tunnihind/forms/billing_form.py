"""Asks how the household is billed, when a server is added and later in the options."""

from typing import Final

import voluptuous as vol
from homeassistant.helpers.selector import SelectSelector, SelectSelectorConfig, SelectSelectorMode

from ..prices.billing import BILLED_BY, LEVELS_BY, Resolution


def _choice(translation_key: str) -> SelectSelector:
    listed = SelectSelectorMode.LIST
    return SelectSelector(
        SelectSelectorConfig(options=list(Resolution), translation_key=translation_key, mode=listed),
    )


# Left out, it is the hour, by which most homes are billed.
BILLING_QUESTION: Final = vol.Schema({vol.Optional(BILLED_BY, default=Resolution.HOUR.value): _choice(BILLED_BY)})
BILLING_FORM: Final = BILLING_QUESTION.extend(
    {vol.Optional(LEVELS_BY, default=Resolution.HOUR.value): _choice(LEVELS_BY)}
)
