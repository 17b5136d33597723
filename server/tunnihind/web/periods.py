"""The hours or quarter-hours that a page shows: what is settled and forecast for each, and how expensive it is."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tunnihind.api.periods import ServedPeriods
from tunnihind.api.served_data import Percentiles
from tunnihind.market import market_price

Level = Literal["very_low", "low", "normal", "high", "very_high"]
_LEVELS: Final[tuple[Level, ...]] = get_args(Level)


@dataclass(frozen=True, slots=True)
class PricedPeriod:
    """A period with a settled price, a forecast or both, EUR/MWh without VAT as the API serves them."""

    ts: int
    settled: float | None
    forecast: Percentiles | None

    @property
    def eur_mwh(self) -> float:
        """The settled price or else the forecast's median."""
        return self.percentiles.p50 if self.settled is None else self.settled

    @property
    def percentiles(self) -> Percentiles:
        """The forecast. Raises ValueError where there is none."""
        if self.forecast is None:
            raise ValueError(f"period {self.ts} has no forecast")
        return self.forecast


def priced_periods(served: ServedPeriods) -> dict[int, PricedPeriod]:
    """Return the periods that are served, ascending, by their start."""
    prices = {ts: market_price(eur_mwh) for ts, eur_mwh, _ in served.settled}
    percentiles = {ts: Percentiles(*map(market_price, said)) for ts, said in served.forecast}
    return {ts: PricedPeriod(ts, prices.get(ts), percentiles.get(ts)) for ts in sorted({*prices, *percentiles})}


def levels(periods: Sequence[PricedPeriod], price: Callable[[PricedPeriod], float]) -> dict[int, Level]:
    """Tell which fifth of a day each of its periods is in, by the price that is shown of it.

    It is the rule of the Home Assistant integration. Equal prices share the middle of their places, so a day of one
    price is normal throughout.
    """
    prices = sorted(map(price, periods))

    def level(own: float) -> Level:
        middle = (bisect_left(prices, own) + bisect_right(prices, own)) / 2 / len(prices)
        return _LEVELS[min(int(middle * len(_LEVELS)), len(_LEVELS) - 1)]

    return {period.ts: level(price(period)) for period in periods}


def by_day[Day](periods: Mapping[int, PricedPeriod], days: Mapping[int, Day]) -> dict[Day, list[PricedPeriod]]:
    """Group periods by the day that each belongs to, in order."""
    grouped: dict[Day, list[PricedPeriod]] = {}
    for ts, period in periods.items():
        grouped.setdefault(days[ts], []).append(period)
    return grouped
