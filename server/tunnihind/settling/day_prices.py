"""Compares two versions of a delivery day's prices. All functions are pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, NamedTuple, Self

from tunnihind.core.market import HOUR_S, STEPS, day_end, day_start, hours_of, whole_periods

TOLERANCE_EUR_MWH: Final = 0.01 + 1e-9
"""Prices that differ by at most this much count as equal. This tolerance covers a cent of rounding and the errors of
floating point."""


class PricePair(NamedTuple):
    """Two prices in EUR/MWh for the same period."""

    ts: int
    ours: float
    theirs: float

    @property
    def differs(self) -> bool:
        """True if the two prices differ by more than `TOLERANCE_EUR_MWH`."""
        return abs(self.ours - self.theirs) > TOLERANCE_EUR_MWH


@dataclass(frozen=True)
class DayPrices:
    """The prices of a day in EUR/MWh.

    `given` maps a step in seconds to the prices that were given at this step, by the start of each period.
    """

    given: Mapping[int, Mapping[int, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, day: date, prices: Sequence[float]) -> Self:
        """Return the prices of a complete day. `prices` lists them in chronological order, all at one step."""
        step_s = (day_end(day) - day_start(day)) // len(prices)
        return cls({step_s: dict(zip(range(day_start(day), day_end(day), step_s), prices, strict=True))})

    @cached_property
    def by_step(self) -> dict[int, dict[int, float]]:
        """The known prices at each of `STEPS`, by the start of the period, in chronological order.

        If the prices of all parts of a period are known, the period's price is their mean.
        """
        known: dict[int, dict[int, float]] = {}
        part_s, parts = STEPS[-1], dict[int, float]()
        for step_s in reversed(STEPS):
            means = {ts: sum(whole) / len(whole) for ts, whole in whole_periods(parts, part_s, step_s)}
            known[step_s] = parts = dict(sorted({**self.given.get(step_s, {}), **means}.items()))
            part_s = step_s
        return known

    @property
    def hours(self) -> dict[int, float]:
        """The known hourly prices in EUR/MWh, by the start of each hour, in chronological order."""
        return self.by_step[HOUR_S]

    @property
    def in_order(self) -> tuple[float, ...]:
        """The prices in chronological order, at the shortest step at which no part of a known hour is missing."""
        known_s = len(self.hours) * HOUR_S
        complete = (prices for step_s, prices in self.by_step.items() if len(prices) * step_s == known_s)
        return tuple(next(complete).values())

    def is_whole(self, day: date) -> bool:
        """Return whether every hour of a day has a price."""
        return len(self.hours) == len(hours_of(day))

    def pairs_with(self, other: DayPrices) -> list[PricePair]:
        """Return a pair of prices for each shortest period that is in both versions, in chronological order.

        If both versions have a price of a longer period, the period has a pair only if none of its parts has one.
        """
        pairs: list[PricePair] = []
        for step_s, prices in self.by_step.items():
            theirs, paired = other.by_step[step_s], {pair.ts - pair.ts % step_s for pair in pairs}
            pairs += [PricePair(ts, prices[ts], theirs[ts]) for ts in prices.keys() & theirs.keys() - paired]
        return sorted(pairs)

    def first_difference(self, other: DayPrices) -> PricePair | None:
        """Return the first pair of prices that differ. If no prices differ, return None."""
        return next((pair for pair in self.pairs_with(other) if pair.differs), None)

    def agrees_with(self, other: DayPrices) -> bool:
        """Return whether the two versions share an hour, and have equal prices in all shared periods."""
        return bool(self.hours.keys() & other.hours.keys()) and self.first_difference(other) is None

    def has_periods_missing_from(self, other: DayPrices) -> bool:
        """Return whether this version has a period that the other version lacks."""
        return any(prices.keys() - other.by_step[step_s].keys() for step_s, prices in self.by_step.items())

    def repeats(self, other: DayPrices) -> bool:
        """Return whether this version agrees with the other version, and has no period that the other version lacks."""
        return self.agrees_with(other) and not self.has_periods_missing_from(other)

    def rows_replacing(self, settled: DayPrices) -> Iterator[tuple[int, int, float]]:
        """Yield the rows to store so that this version replaces the settled prices. Each row is (start, step, price).

        If a new price differs from the settled price by at most a cent, the row keeps the settled price. If this
        version gives a price for a whole period whose parts are settled, and the parts have another mean, each part
        gets the period's price. If this version gives a period's parts, and a price for the whole period is settled,
        the parts' mean replaces the settled price.
        """
        for step_s, prices in self.by_step.items():
            given, earlier = self.given.get(step_s, {}), settled.given.get(step_s, {})
            for ts, price in prices.items():
                part_s, parts = settled._shortest_parts(ts, step_s) if ts in given else (step_s, {})
                if parts:
                    differs = PricePair(ts, price, settled.by_step[step_s][ts]).differs
                    yield from ((part, part_s, price if differs else known) for part, known in parts.items())
                elif ts in given or ts in earlier:
                    yield ts, step_s, _price_to_keep(price, earlier.get(ts))

    def _shortest_parts(self, ts: int, step_s: int) -> tuple[int, dict[int, float]]:
        """Return the shortest step at which all parts of a period have a price, and these prices by start.

        Without such a step, there are no prices.
        """
        for part_s, prices in self.by_step.items():
            parts = {part: prices[part] for part in range(ts, ts + step_s, part_s) if part in prices}
            if part_s < step_s and len(parts) * part_s == step_s:
                return part_s, parts
        return step_s, {}


def _price_to_keep(price: float, settled: float | None) -> float:
    return price if settled is None or abs(price - settled) > TOLERANCE_EUR_MWH else settled
