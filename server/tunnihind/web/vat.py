"""The VAT in a page's prices: none, the rate of the API, or the law's, as its reader chooses."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from tunnihind.market import ESTONIA, clock_midnight
from tunnihind.web.options import PageOptions, VatChoice

_ALWAYS: Final = 0


@dataclass(frozen=True, slots=True)
class Vat:
    """A choice and what it means.

    `rates` are the rates of the prices shown, as fractions, each with the instant from which it applies, oldest first.
    `choices` are all choices there are, with their rates of today.
    """

    choice: VatChoice
    rates: tuple[tuple[int, float], ...]
    choices: Mapping[VatChoice, float]

    @property
    def today(self) -> float:
        """The chosen rate of today."""
        return self.choices[self.choice]

    def rate(self, ts: int) -> float:
        """Return the rate that applies at an instant."""
        return [rate for since, rate in self.rates if since <= ts][-1]


def vat_shown(options: PageOptions, api_rate: float, now: int) -> Vat:
    """Return what the reader chose: else the law's rate in cents and in a household's price, and none in EUR/MWh.

    A rate of the API's that is no VAT at all or the law's of today is no choice of its own.
    """
    lawful = ESTONIA.vat_rate(datetime.fromtimestamp(now, ESTONIA.clock).date())
    choices: dict[VatChoice, float] = {"none": 0.0, "api": api_rate, "law": lawful}
    choice = options.vat or ("law" if options.unit == "kwh" or options.tariff else "none")
    if api_rate in {0.0, lawful}:
        del choices["api"]
        if choice == "api":
            choice = "law" if api_rate else "none"
    rates = _rates_by_law() if choice == "law" else ((_ALWAYS, choices[choice]),)
    return Vat(choice, rates, choices)


def _rates_by_law() -> tuple[tuple[int, float], ...]:
    """Return the law's rates with the instants from which they apply, the first one for all that was before it."""
    (_, oldest), *later = ESTONIA.vat_rates
    return ((_ALWAYS, oldest), *((clock_midnight(day), rate) for day, rate in later))
