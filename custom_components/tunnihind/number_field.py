"""A field of a form for a number."""

import math
from typing import Any, override

import voluptuous as vol
from homeassistant.helpers.selector import NumberSelector


class NumberField(NumberSelector):
    """Home Assistant's own takes "nan", which is neither too small nor too large. A price of it would be none."""

    @override
    def __call__(self, data: Any) -> float:
        number = super().__call__(data)
        if math.isnan(number):
            raise vol.Invalid("expected float")
        return number
