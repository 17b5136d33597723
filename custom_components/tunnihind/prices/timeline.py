"""A household's settled and forecast prices by period, and the price level and the rank of each period of a day."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

from ..core.market import HOUR_S, whole_periods
from .days import Day

# The exact mean of four prices may have two more decimals than the prices.
_MEAN_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class Period:
    """A household's buying or selling price in EUR/kWh in one period. The period is [start, end) in UTC seconds.

    `price` is the settled price, or the median of the forecast. If the price is a forecast, `low` and `high` are its
    10th and 90th percentiles. If the price is settled, `low` and `high` are equal to `price`.
    """

    start: int
    end: int
    price: float
    low: float
    high: float
    settled: bool

    @property
    def length_s(self) -> int:
        """The length of the period in seconds."""
        return self.end - self.start


class Timeline:
    """Periods of `step_s` seconds in chronological order.

    Periods don't overlap. Periods with unknown prices are left out. The periods of `within` may be shorter.
    """

    def __init__(self, step_s: int, periods: Iterable[Period] = ()) -> None:
        self.step_s: Final = step_s
        self.periods: Final = tuple(sorted(periods, key=lambda period: period.start))
        self._starts: Final = [period.start for period in self.periods]

    def period_at(self, instant: int) -> Period | None:
        """Return the period that contains `instant` (UTC seconds), or None if the price at `instant` is unknown."""
        index = bisect_right(self._starts, instant) - 1
        if index < 0 or self.periods[index].end <= instant:
            return None
        return self.periods[index]

    def periods_between(self, start: int, end: int) -> tuple[Period, ...]:
        """Return the periods that overlap the time from `start` to `end` (UTC seconds)."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_left(self._starts, end)
        return tuple(period for period in self.periods[first:last] if start < period.end)

    def within(self, times: Iterable[tuple[int, int]]) -> Timeline:
        """Return the parts of the periods that lie within `times`, each [start, end) in UTC seconds."""
        return Timeline(
            self.step_s,
            (
                period
                if start <= period.start and period.end <= end
                else replace(period, start=max(period.start, start), end=min(period.end, end))
                for start, end in times
                for period in self.periods_between(start, end)
            ),
        )

    def with_step(self, step_s: int) -> Timeline:
        """Convert the timeline to periods of `step_s` seconds.

        If quarters become hours, each hour gets the mean price and the mean percentiles of its quarters. If all four
        quarters are settled, the hour is settled. If the price of a quarter is unknown, the quarter's hour is left out.
        If hours become quarters, each quarter gets the price and the percentiles of its hour.
        """
        if step_s == self.step_s:
            return self
        if step_s < self.step_s:
            return Timeline(step_s, (part for period in self.periods for part in _split_period(period, step_s)))
        by_start = {period.start: period for period in self.periods}
        joined = whole_periods(by_start, self.step_s, step_s)
        return Timeline(step_s, (_joined_period(start, start + step_s, parts) for start, parts in joined))

    @property
    def settled_until(self) -> int | None:
        """The end of the last settled period in UTC seconds, or None if no period is settled."""
        return max((period.end for period in self.periods if period.settled), default=None)

    @property
    def known_until(self) -> int | None:
        """The end of the last period in UTC seconds, or None if there are no periods."""
        return self.periods[-1].end if self.periods else None


def _split_period(period: Period, step_s: int) -> Iterator[Period]:
    for start in range(period.start, period.end, step_s):
        yield replace(period, start=start, end=start + step_s)


def _joined_period(start: int, end: int, parts: Sequence[Period]) -> Period:
    return Period(
        start,
        end,
        _mean(part.price for part in parts),
        _mean(part.low for part in parts),
        _mean(part.high for part in parts),
        settled=all(part.settled for part in parts),
    )


def _mean(prices: Iterable[float]) -> float:
    return round(fmean(prices), _MEAN_DECIMALS) or 0.0  # `or` turns -0.0 into 0.0


def is_day_covered(day: Day, periods: Sequence[Period]) -> bool:
    """Return whether the periods cover the whole day. All periods must lie within the day, and must not overlap."""
    return sum(period.length_s for period in periods) == day.end - day.start


def rank(period: Period, day: Sequence[Period]) -> int:
    """Return the rank of the period's price among the prices of its day.

    The lowest price has rank 1. Equal prices have the same rank.
    """
    return 1 + sum(other.price < period.price for other in day)


def is_cheap(period: Period, day: Sequence[Period], *, cheap_hours: int) -> bool:
    """Return whether the period is among the cheapest periods of its day, which together last `cheap_hours` hours.

    Of periods with equal prices, the earliest count.
    """
    cheaper = sum((other.price, other.start) < (period.price, period.start) for other in day)
    return (cheaper + 1) * period.length_s <= cheap_hours * HOUR_S
