"""In which unit people read and type prices: cents, or euros as the sensors show them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

CONF_UNIT: Final = "unit"
_CENTS: Final = 100
_ESTONIAN: Final = "et"


class Unit(StrEnum):
    """The unit in forms and texts. Sensors stay in EUR/kWh, because the Energy dashboard takes any unit for that."""

    CENTS = "cents"
    EUROS = "euros"

    @property
    def per_euro(self) -> int:
        """How many of the unit are a euro."""
        return _CENTS if self is Unit.CENTS else 1

    def text(self, eur_kwh: float, language: str) -> str:
        """Write a price to a hundredth of a cent, with its unit, as in that language."""
        is_estonian = language == _ESTONIAN
        if self is Unit.EUROS:
            name, decimals = "EUR/kWh", 4
        else:
            name, decimals = "s/kWh" if is_estonian else "c/kWh", 2
        figure = f"{round(eur_kwh * self.per_euro, decimals) or 0.0:.{decimals}f}"
        return f"{figure.replace('.', ',') if is_estonian else figure} {name}"


def unit_of(options: Mapping[str, Any]) -> Unit:
    """Return the unit that the household chose; cents at first."""
    return Unit(options.get(CONF_UNIT, Unit.CENTS))
