"""Value added tax on electricity: the law's rate by date, and where the server's own rate counts instead."""

from datetime import date
from typing import Final

# The Value Added Tax Act (Käibemaksuseadus § 15): each rate with the first day on which it holds.
_LAW: Final = ((date(2009, 7, 1), 0.20), (date(2024, 1, 1), 0.22), (date(2025, 7, 1), 0.24))
# The rate of the API's specification, which servers send unless their operator chooses another.
SPECIFICATION_VAT_RATE: Final = 0.22


def legal_vat_rate(day: date) -> float:
    """Return the law's VAT rate of a day as a fraction; for an older day, the first rate that is known."""
    return next((rate for since, rate in reversed(_LAW) if since <= day), _LAW[0][1])


def vat_rate_of_operator(server_vat_rate: float) -> float | None:
    """Return the server's rate where its operator chose one of their own; None where the law's rate by date holds.

    The specification's rate is nobody's choice. An operator who set the law's newest rate follows the law, which had
    other rates in the past.
    """
    return None if server_vat_rate in {SPECIFICATION_VAT_RATE, _LAW[-1][1]} else server_vat_rate


def default_vat_rate(server_vat_rate: float, day: date) -> float:
    """Return the VAT rate of a day where the household sets none, as a fraction."""
    chosen = vat_rate_of_operator(server_vat_rate)
    return legal_vat_rate(day) if chosen is None else chosen
