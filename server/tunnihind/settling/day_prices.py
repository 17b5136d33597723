"""Compares two versions of a delivery day's prices. All functions are pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, NamedTuple, Self

from tunnihind.market import HOUR_S, QUARTER_S, day_end, day_start, floor_hour, hourly_prices, hours_of

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

    `quarters` maps the start of a quarter to its price. `whole_hours` maps the start of an hour to the price that was
    given for the whole hour.
    """

    quarters: dict[int, float] = field(default_factory=dict)
    whole_hours: dict[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, day: date, prices: Sequence[float]) -> Self:
        """Return the prices of a complete day.

        `prices` lists the day's hourly or quarter-hourly prices in chronological order.
        """
        step_s = (day_end(day) - day_start(day)) // len(prices)
        by_ts = dict(zip(range(day_start(day), day_end(day), step_s), prices, strict=True))
        return cls(quarters=by_ts) if step_s == QUARTER_S else cls(whole_hours=by_ts)

    @cached_property
    def hours(self) -> dict[int, float]:
        """The day's hourly prices in EUR/MWh, by the start of each hour, in chronological order.

        If the prices of all four quarters of an hour are known, the hour's price is their mean.
        """
        return dict(sorted((self.whole_hours | hourly_prices(self.quarters)).items()))

    @property
    def in_order(self) -> tuple[float, ...]:
        """The prices of all quarters in chronological order, or the hourly prices if a quarter is missing."""
        by_quarter = len(self.quarters) * QUARTER_S == len(self.hours) * HOUR_S
        return tuple((self.quarters if by_quarter else self.hours).values())

    def is_whole(self, day: date) -> bool:
        """Return whether every hour of a day has a price."""
        return len(self.hours) == len(hours_of(day))

    def pairs_with(self, other: DayPrices) -> list[PricePair]:
        """Return a pair of prices for each quarter that is in both versions, in chronological order.

        If no quarter of an hour has a pair, and both versions have a price of the hour, the hour has a pair.
        """
        pairs = [
            PricePair(ts, price, other.quarters[ts]) for ts, price in self.quarters.items() if ts in other.quarters
        ]
        by_quarter = {floor_hour(pair.ts) for pair in pairs}
        pairs += [
            PricePair(ts, price, other.hours[ts])
            for ts, price in self.hours.items()
            if ts in other.hours and ts not in by_quarter
        ]
        return sorted(pairs)

    def first_difference(self, other: DayPrices) -> PricePair | None:
        """Return the first pair of prices that differ. If no prices differ, return None."""
        return next((pair for pair in self.pairs_with(other) if pair.differs), None)

    def agrees_with(self, other: DayPrices) -> bool:
        """Return whether the two versions share an hour, and have equal prices in all shared periods."""
        return bool(self.hours.keys() & other.hours.keys()) and self.first_difference(other) is None

    def has_periods_missing_from(self, other: DayPrices) -> bool:
        """Return whether this version has an hour or a quarter that the other version lacks."""
        return bool(self.hours.keys() - other.hours.keys() or self.quarters.keys() - other.quarters.keys())

    def repeats(self, other: DayPrices) -> bool:
        """Return whether this version agrees with the other version, and has no period that the other version lacks."""
        return self.agrees_with(other) and not self.has_periods_missing_from(other)

    def rows_replacing(self, settled: DayPrices) -> list[tuple[int, int, float]]:
        """Return the rows to store so that this version replaces the settled prices. Each row is (start, step, price).

        If a new price differs from the settled price by at most a cent, the row keeps the settled price. If this
        version gives a price for a whole hour, and the hour's four settled quarters have another mean, each quarter
        gets the hour's price. If this version gives an hour's four quarters, and a price for the whole hour is settled,
        the quarters' mean replaces the settled price.
        """
        rows = [(ts, QUARTER_S, _price_to_keep(price, settled.quarters.get(ts))) for ts, price in self.quarters.items()]
        if self.quarters:
            earlier = settled.whole_hours.keys() & self.hours.keys()
            rows += [(ts, HOUR_S, _price_to_keep(self.hours[ts], settled.whole_hours[ts])) for ts in sorted(earlier)]
        for hour, price in self.whole_hours.items():
            quarters = {ts: settled.quarters.get(ts) for ts in range(hour, hour + HOUR_S, QUARTER_S)}
            if None in quarters.values():
                rows.append((hour, HOUR_S, _price_to_keep(price, settled.whole_hours.get(hour))))
            else:
                is_equal = not PricePair(hour, price, settled.hours[hour]).differs
                rows += [
                    (ts, QUARTER_S, known if is_equal and known is not None else price)
                    for ts, known in quarters.items()
                ]
        return rows


def _price_to_keep(price: float, settled: float | None) -> float:
    return price if settled is None or abs(price - settled) > TOLERANCE_EUR_MWH else settled
