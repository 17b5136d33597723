"""The unit that a household has chosen for prices: cents or euros."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from ..const import CENTS_PER_KWH, EUR_PER_KWH

CONF_UNIT: Final = "unit"
_CENTS: Final = 100
_CENTS_PER_KWH: Final = {"et": "s/kWh", "ru": "цент/кВт·ч"}
# Home Assistant's languages that use a decimal point instead of a decimal comma.
_WITH_DECIMAL_POINT: Final = frozenset(
    ("bn", "cy", "en", "es-419", "ga", "gsw", "he", "hi", "ja", "ko", "ml", "ta", "te", "th", "ur", "zh")
)
_FORM_DECIMALS: Final = 6
_CENT_DECIMALS: Final = 2
_EURO_DECIMALS: Final = 4
_EXTRA_PART_DECIMALS: Final = 2


class Unit(StrEnum):
    """A unit that a household can choose for prices.

    Sensors ignore the chosen unit, because the Energy dashboard reads every price as euros. The options and the plans
    of a config entry store all prices and fees in cents.
    """

    CENTS = "cents"
    EUROS = "euros"

    @property
    def units_per_euro(self) -> int:
        """The number of units in a euro: 100 or 1."""
        return _CENTS if self is Unit.CENTS else 1

    def from_cents(self, cents: float) -> float:
        """Convert an amount in cents to this unit."""
        return cents if self is Unit.CENTS else round(cents / _CENTS, _FORM_DECIMALS)

    def to_cents(self, amount: float) -> float:
        """Convert an amount in this unit to cents."""
        return amount if self is Unit.CENTS else round(amount * _CENTS, _FORM_DECIMALS)

    def price_text(self, eur_kwh: float, language: str) -> str:
        """Format a price in this unit, with the unit's name in `language`.

        The price is rounded to a hundredth of a cent.
        """
        cents = _CENTS_PER_KWH.get(language, CENTS_PER_KWH)
        return f"{self._figure_text(eur_kwh, language)} {cents if self is Unit.CENTS else EUR_PER_KWH}"

    def part_text(self, eur_kwh: float, language: str) -> str:
        """Format one part of the household price in this unit, without the unit's name.

        A part may have up to two more decimals than a price, because more coarsely rounded parts might not add up to
        the price.
        """
        return self._figure_text(eur_kwh, language, more_decimals=_EXTRA_PART_DECIMALS)

    def _figure_text(self, eur_kwh: float, language: str, *, more_decimals: int = 0) -> str:
        least = _CENT_DECIMALS if self is Unit.CENTS else _EURO_DECIMALS
        most = least + more_decimals
        whole, _, fraction = f"{round(eur_kwh * self.units_per_euro, most) or 0.0:.{most}f}".partition(".")
        return figure_in_language(f"{whole}.{fraction.rstrip('0').ljust(least, '0')}", language)


def figure_in_language(figure: str, language: str) -> str:
    """If `language` uses a decimal comma, replace the decimal point in `figure` by a comma."""
    has_point = not _WITH_DECIMAL_POINT.isdisjoint((language, language.partition("-")[0]))
    return figure if has_point else figure.replace(".", ",")


def unit_of(options: Mapping[str, Any]) -> Unit:
    """Return the unit that the household has chosen for prices, or cents if it has chosen none."""
    return Unit(options.get(CONF_UNIT, Unit.CENTS))
