"""Settled and predicted hours on one line of time."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

HOUR_S: Final = 3_600
_PRICE_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class Hour:
    """What one hour costs, EUR/kWh as the household pays it.

    `price` is the settled price, or the median of the forecast; `low` and `high` are the forecast's 10th and 90th
    percentile. All three are the same once the price is settled.
    """

    start: int
    end: int
    price: float
    low: float
    high: float
    settled: bool


def rounded(eur_kwh: float) -> float:
    """Round to the 4 decimals in which household prices are shown; never -0.0."""
    return round(eur_kwh, _PRICE_DECIMALS) or 0.0  # `or` turns -0.0 into 0.0


class Timeline:
    """Hours in the order of time, none twice; where nothing is known there is a gap."""

    def __init__(self, hours: Iterable[Hour] = ()) -> None:
        self.hours: Final = tuple(sorted(hours, key=lambda hour: hour.start))
        self._starts: Final = [hour.start for hour in self.hours]

    def at(self, instant: int) -> Hour | None:
        """Return the hour that `instant` (UTC seconds) falls in, or None where it is not known."""
        index = bisect_right(self._starts, instant) - 1
        if index < 0 or self.hours[index].end <= instant:
            return None
        return self.hours[index]

    def between(self, start: int, end: int) -> tuple[Hour, ...]:
        """Return the known hours that reach into [start, end)."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        return tuple(hour for hour in self.hours[first:] if start < hour.end and hour.start < end)

    @property
    def settled_until(self) -> int | None:
        """The end of the newest settled hour, UTC seconds; None where none is settled."""
        return max((hour.end for hour in self.hours if hour.settled), default=None)
