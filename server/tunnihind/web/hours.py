"""The hours that a page shows: what is settled and what was forecast for each, and how expensive it is."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tunnihind.api.models import SeriesActual, SeriesForecastPoint, SeriesResponse

Level = Literal["very_low", "low", "normal", "high", "very_high"]
_LEVELS: Final[tuple[Level, ...]] = get_args(Level)

_CENTS = 100


@dataclass(frozen=True, slots=True)
class PricedHour:
    """An hour with a settled price, a forecast or both; a settled price stands before the forecast."""

    ts: int
    settled: SeriesActual | None
    forecast: SeriesForecastPoint | None

    @property
    def eur_mwh(self) -> float:
        """The settled price or else the forecast's median, EUR/MWh without VAT."""
        if self.settled:
            return self.settled.eur_mwh
        return self._point.p50

    @property
    def cents_kwh(self) -> float:
        """The same in cents per kWh with VAT."""
        return _CENTS * (self.settled.eur_kwh if self.settled else self._point.p50_kwh)

    @property
    def band_eur_mwh(self) -> tuple[float, float]:
        """The forecast's p10 and p90, EUR/MWh without VAT."""
        return self._point.p10, self._point.p90

    @property
    def band_cents_kwh(self) -> tuple[float, float]:
        """The same in cents per kWh with VAT."""
        return _CENTS * self._point.p10_kwh, _CENTS * self._point.p90_kwh

    @property
    def _point(self) -> SeriesForecastPoint:
        if self.forecast is None:
            raise ValueError(f"hour {self.ts} has no forecast")
        return self.forecast


def priced_hours(series: SeriesResponse) -> dict[int, PricedHour]:
    """Return the hours of a series, ascending, by their start."""
    settled = {actual.ts: actual for actual in series.actuals}
    forecast = {point.ts: point for point in series.forecast}
    return {ts: PricedHour(ts, settled.get(ts), forecast.get(ts)) for ts in sorted({*settled, *forecast})}


def levels(hours: Sequence[PricedHour]) -> dict[int, Level]:
    """Tell which fifth of a day each of its hours is in, by price: the same rule as in the Home Assistant integration.

    Equal prices share the middle of their places, so a day of one price is normal throughout.
    """
    prices = sorted(hour.eur_mwh for hour in hours)

    def level(price: float) -> Level:
        middle = (bisect_left(prices, price) + bisect_right(prices, price)) / 2 / len(prices)
        return _LEVELS[min(int(middle * len(_LEVELS)), len(_LEVELS) - 1)]

    return {hour.ts: level(hour.eur_mwh) for hour in hours}


def by_day[Day](hours: Mapping[int, PricedHour], days: Mapping[int, Day]) -> dict[Day, list[PricedHour]]:
    """Group hours by the day that each belongs to, in order."""
    grouped: dict[Day, list[PricedHour]] = {}
    for ts, hour in hours.items():
        grouped.setdefault(days[ts], []).append(hour)
    return grouped
