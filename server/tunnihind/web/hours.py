"""The hours that a page shows: what is settled and what was forecast for each, and how dear it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tunnihind.api.models import SeriesActual, SeriesForecastPoint, SeriesResponse

type Level = Literal["low", "middle", "high"]

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
    """Tell for each hour whether it is among the cheapest or the dearest third of them all."""
    prices = sorted(hour.eur_mwh for hour in hours)
    third = len(prices) // 3

    def level(price: float) -> Level:
        if not third or prices[0] == prices[-1]:
            return "middle"
        if price <= prices[third - 1]:
            return "low"
        return "high" if price >= prices[-third] else "middle"

    return {hour.ts: level(hour.eur_mwh) for hour in hours}


def by_day[Day](hours: Mapping[int, PricedHour], days: Mapping[int, Day]) -> dict[Day, list[PricedHour]]:
    """Group hours by the day that each belongs to, in order."""
    grouped: dict[Day, list[PricedHour]] = {}
    for ts, hour in hours.items():
        grouped.setdefault(days[ts], []).append(hour)
    return grouped
