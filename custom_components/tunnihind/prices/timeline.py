"""Settled and predicted prices on one line of time, period by period."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Final

HOUR_S: Final = 3_600
QUARTER_S: Final = 900
_PRICE_DECIMALS: Final = 4
# A mean of four prices has up to two decimals more than they have: rounded again, it would be a second time off.
_MEAN_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class Period:
    """What one period, [start, end) in UTC seconds, costs: EUR/kWh as the household pays it.

    `price` is the settled price, or the median of the forecast. `low` and `high` are the forecast's 10th and 90th
    percentile. All three are the same once the price is settled.
    """

    start: int
    end: int
    price: float
    low: float
    high: float
    settled: bool

    @property
    def length_s(self) -> int:
        """How long the period is, in seconds."""
        return self.end - self.start


def rounded(eur_kwh: float) -> float:
    """Round to the 4 decimals in which household prices are shown; never -0.0."""
    return round(eur_kwh, _PRICE_DECIMALS) or 0.0  # `or` turns -0.0 into 0.0


class Timeline:
    """Periods of `step_s` seconds in the order of time, none twice. Where nothing is known there is a gap."""

    def __init__(self, step_s: int, periods: Iterable[Period] = ()) -> None:
        self.step_s: Final = step_s
        self.periods: Final = tuple(sorted(periods, key=lambda period: period.start))
        self._starts: Final = [period.start for period in self.periods]

    def at(self, instant: int) -> Period | None:
        """Return the period that `instant` (UTC seconds) falls in, or None where it is not known."""
        index = bisect_right(self._starts, instant) - 1
        if index < 0 or self.periods[index].end <= instant:
            return None
        return self.periods[index]

    def between(self, start: int, end: int) -> tuple[Period, ...]:
        """Return the known periods that reach into [start, end)."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, end)
        return tuple(period for period in self.periods[first:last] if start < period.end)

    def at_step(self, step_s: int) -> Timeline:
        """Return the same prices by the hour or by the quarter.

        An hour has the mean of its quarters, and none where one is missing. A quarter has the price of its hour.
        """
        if step_s == self.step_s:
            return self
        if step_s < self.step_s:
            return Timeline(step_s, (part for period in self.periods for part in _split(period, step_s)))
        grouped = groupby(self.periods, key=lambda period: period.start // step_s)
        joined = (_joined(tuple(parts)) for _, parts in grouped)
        return Timeline(step_s, (period for period in joined if period.length_s == step_s))

    @property
    def settled_until(self) -> int | None:
        """The end of the newest settled period, UTC seconds; None where none is settled."""
        return max((period.end for period in self.periods if period.settled), default=None)

    @property
    def known_until(self) -> int | None:
        """The end of the newest period, settled or predicted, UTC seconds; None where nothing is known."""
        return self.periods[-1].end if self.periods else None


def _split(period: Period, step_s: int) -> Iterator[Period]:
    for start in range(period.start, period.end, step_s):
        yield replace(period, start=start, end=start + step_s)


def _joined(parts: Sequence[Period]) -> Period:
    """Return the mean of neighbours; it is as long as they are together."""
    return Period(
        parts[0].start,
        parts[0].start + sum(part.length_s for part in parts),
        _mean(part.price for part in parts),
        _mean(part.low for part in parts),
        _mean(part.high for part in parts),
        settled=all(part.settled for part in parts),
    )


def _mean(prices: Iterable[float]) -> float:
    return round(fmean(prices), _MEAN_DECIMALS) or 0.0  # `or` turns -0.0 into 0.0
