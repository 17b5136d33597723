"""The household's settled prices of the last days, kept even when the server's answer no longer contains them."""

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any, Self

from ..core.market import HOUR_S, SHORTEST_STEP_S, Market
from ..prices.timeline import Timeline


class SettledPrices:
    """The settled household prices of `zone` in EUR/kWh, by periods of `SHORTEST_STEP_S`.

    If billing is by the hour, all periods of an hour cost the same. `version` changes whenever a price is added
    or corrected.
    """

    def __init__(self, zone: Market, prices: Mapping[int, float] | None = None) -> None:
        self.zone = zone
        self._prices: dict[int, float] = dict(prices or {})
        self._last_timeline: Timeline | None = None
        self.version = 0

    def add_timeline(self, timeline: Timeline) -> None:
        """Add the settled prices of a timeline. A corrected price replaces the old price."""
        if timeline is self._last_timeline:
            return
        self._last_timeline = timeline
        self._set_prices(
            (quarter, period.price)
            for period in timeline.periods
            if period.settled
            for quarter in range(period.start, period.end, SHORTEST_STEP_S)
        )

    def add_hour_prices(self, hours: Mapping[int, tuple[float, ...]]) -> None:
        """Add the prices of whole hours. `hours` maps the start of each hour to the prices of its periods."""
        self._set_prices(
            (hour + index * SHORTEST_STEP_S, price)
            for hour, by_step in hours.items()
            for index, price in enumerate(by_step)
        )

    def mean(self, start: int, end: int) -> float | None:
        """Return the time-weighted mean price from `start` to `end` (UTC seconds), or None if a price is missing."""
        total = 0.0
        for quarter in range(start - start % SHORTEST_STEP_S, end, SHORTEST_STEP_S):
            price = self._prices.get(quarter)
            if price is None:
                return None
            total += price * (min(quarter + SHORTEST_STEP_S, end) - max(quarter, start))
        return total / (end - start)

    def median(self, start: int, end: int) -> float | None:
        """Return the median of the known prices from `start` to `end` (UTC seconds), or None if none is known."""
        known = [price for quarter, price in self._prices.items() if start <= quarter < end]
        return median(known) if known else None

    def hours_without_price(self, start: int, end: int) -> set[int]:
        """Return the start of each hour that has an unknown price in [start, end)."""
        return {
            quarter - quarter % HOUR_S
            for quarter in range(start - start % SHORTEST_STEP_S, end, SHORTEST_STEP_S)
            if quarter not in self._prices
        }

    def forget_before(self, instant: int) -> None:
        """Forget the prices before `instant` (UTC seconds)."""
        self._prices = {quarter: price for quarter, price in self._prices.items() if quarter >= instant}

    def as_dict(self) -> dict[str, Any]:
        """Return the prices in a form that JSON can store. A missing price between two known prices becomes None."""
        if not self._prices:
            return {}
        since, last = min(self._prices), max(self._prices)
        return {
            "since": since,
            "prices": [self._prices.get(start) for start in range(since, last + 1, SHORTEST_STEP_S)],
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], zone: Market) -> Self:
        """Rebuild the prices from the result of `as_dict`.

        Raises KeyError, TypeError or ValueError if `kept` has the wrong form.
        """
        if not kept:
            return cls(zone)
        periods = enumerate(kept["prices"])
        since = int(kept["since"])
        return cls(
            zone, {since + index * SHORTEST_STEP_S: float(price) for index, price in periods if price is not None}
        )

    def _set_prices(self, prices: Iterable[tuple[int, float]]) -> None:
        for quarter, price in prices:
            if self._prices.get(quarter) != price:
                self._prices[quarter] = price
                self.version += 1
