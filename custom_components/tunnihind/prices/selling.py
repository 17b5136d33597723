"""From the market's price to what a household gets for a kilowatt-hour that it sells."""

from typing import Final

from .timeline import rounded

_KWH_PER_MWH: Final = 1_000


def selling_price(eur_mwh: float, *, margin: float = 0.0, balancing: float = 0.0) -> float:
    """Return what the household gets, EUR/kWh to 4 decimals, at a market price in EUR/MWh.

    The buyer keeps `margin` and `balancing` (EUR/kWh). There is no VAT. Below zero, the household pays.
    """
    return rounded(eur_mwh / _KWH_PER_MWH - margin - balancing)
