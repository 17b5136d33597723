"""How far each quarter lay from its hour's mean on past delivery days."""

from dataclasses import dataclass
from datetime import date
from typing import Final, Self

from tunnihind.forecast.known_days.grid import DayGrid
from tunnihind.known import Floats
from tunnihind.market import HOUR_S, QUARTER_S, QUARTERS_SINCE, day_end, day_start, delivery_day
from tunnihind.price_series import PriceSeries

PER_HOUR: Final = HOUR_S // QUARTER_S


@dataclass(frozen=True, slots=True)
class KnownQuarters:
    """Deviations of quarters from the mean of their hour, EUR/MWh, by delivery day and Central European clock hour.

    `deviation` has shape (days, 24, 4), NaN for an hour of which not all four quarters are known. Of two hours with the
    same clock hour it is the mean of both.
    """

    first: date
    deviation: Floats

    @classmethod
    def between(cls, prices: PriceSeries, first: date, last: date) -> Self:
        """Lay the quarters of the days from `first` to `last` on a grid, without days before quarters were traded."""
        first = max(first, QUARTERS_SINCE)
        end = max(day_end(last), day_start(first))
        return cls.laid(prices.between(day_start(first), end).eur_mwh.reshape(-1, PER_HOUR), first)

    @classmethod
    def laid(cls, by_hour: Floats, first: date) -> Self:
        """Lay quarters (hours, 4), EUR/MWh, that begin with the day `first` on a grid of whole days."""
        last = delivery_day(day_start(first) + by_hour.shape[0] * HOUR_S - 1)
        deviation = by_hour - by_hour.mean(axis=1, keepdims=True)
        return cls(first, DayGrid.between(first, last).lay(deviation.T).transpose(1, 2, 0))
