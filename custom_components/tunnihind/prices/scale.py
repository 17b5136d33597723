"""The scale of household prices: the bounds between the five price levels of the last 30 days."""

from collections.abc import Collection, Sequence
from statistics import fmean

from ..core.tariff import Tariff


def household_scale(market_scale: Sequence[float], tariff: Tariff, starts: Collection[int]) -> tuple[float, ...]:
    """Return the household price in EUR/kWh for each market price of the server's scale (EUR/MWh).

    Fees change over time, so each household price is the mean over all periods that begin at `starts` (UTC seconds). If
    `market_scale` or `starts` is empty, return an empty scale.
    """
    return tuple(fmean(tariff.price(bound, start) for start in starts) for bound in market_scale) if starts else ()
