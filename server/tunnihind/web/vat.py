"""The VAT in a page's prices: none, the rate of the API, or the law's, as its reader chooses."""

from collections.abc import Mapping
from dataclasses import dataclass

from tunnihind.market import ESTONIA, VatRates, vat_rate_at
from tunnihind.web.options import PageOptions, VatChoice


@dataclass(frozen=True, slots=True)
class Vat:
    """A choice and what it means.

    `rates` are the rates of the prices shown. `choices` are all choices there are, with their rates of today.
    """

    choice: VatChoice
    rates: VatRates
    choices: Mapping[VatChoice, float]

    @property
    def today(self) -> float:
        """The chosen rate of today."""
        return self.choices[self.choice]

    def rate(self, ts: int) -> float:
        """Return the rate that applies at an instant."""
        return vat_rate_at(self.rates, ts)


def vat_shown(options: PageOptions, api_rate: float, now: int) -> Vat:
    """Return what the reader chose: else the law's rate in cents and in a household's price, and none in EUR/MWh.

    A rate of the API's that is no VAT at all or the law's of today is no choice of its own.
    """
    lawful = vat_rate_at(ESTONIA.vat_by_law, now)
    choices: dict[VatChoice, float] = {"none": 0.0, "api": api_rate, "law": lawful}
    choice = options.vat or ("law" if options.unit == "kwh" or options.tariff else "none")
    if api_rate in {0.0, lawful}:
        del choices["api"]
        if choice == "api":
            choice = "law" if api_rate else "none"
    rates = ESTONIA.vat_by_law if choice == "law" else ((0, choices[choice]),)
    return Vat(choice, rates, choices)
