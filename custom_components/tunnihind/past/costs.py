"""What the energy of past hours cost, and the sums that the Energy dashboard reads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import batched
from math import isclose
from typing import Final

from ..prices.timeline import HOUR_S
from .paid_prices import NO_PRICE, NO_READING, HourPrice, LeftOut, hours_between

FIVE_MIN_S: Final = 300
_FIVES: Final = HOUR_S // FIVE_MIN_S
_FIVES_IN_QUARTER: Final = 3
# A ten-thousandth of a cent. Sums are rounded too: the same readings always give the same sums.
_DECIMALS: Final = 6
# Readings come as differences of sums, whose last digits are noise.
_SAME_KWH: Final = 1e-6


@dataclass(frozen=True, slots=True)
class SumRow:
    """A row of a statistic that adds up: EUR of its hour (None: of no reading any more), and of all hours up to it."""

    cost: float | None
    total: float


@dataclass(frozen=True, slots=True)
class Energy:
    """What was used, kWh: by hour, and by five minutes as far as that is kept. Both by start, UTC seconds."""

    hours: Mapping[int, float]
    fives: Mapping[int, float]

    def quarters(self, hour: int) -> tuple[float, ...] | None:
        """Return the energy of an hour's quarters, or None where five-minute readings do not make up the hour."""
        starts = range(hour, hour + HOUR_S, FIVE_MIN_S)
        fives = [self.fives[start] for start in starts if start in self.fives]
        if len(fives) < _FIVES or not isclose(sum(fives), self.hours[hour], rel_tol=_SAME_KWH, abs_tol=_SAME_KWH):
            return None
        return tuple(sum(quarter) for quarter in batched(fives, _FIVES_IN_QUARTER, strict=True))


def costs(energy: Energy, prices: Mapping[int, HourPrice | LeftOut]) -> dict[int, float | LeftOut]:
    """Return what each hour from the first reading to the last cost, EUR, or why that is not known.

    `prices` are those of the hours that have a reading. An hour whose quarters cost differently is charged by the
    quarter where five-minute readings tell how much was used in each, else by the hour's mean.
    """
    if not energy.hours:
        return {}
    span = hours_between(min(energy.hours), max(energy.hours) + HOUR_S)
    return {hour: _cost(hour, energy, prices[hour]) if hour in energy.hours else NO_READING for hour in span}


def _cost(hour: int, energy: Energy, price: HourPrice | LeftOut) -> float | LeftOut:
    if isinstance(price, LeftOut):
        return price
    used = energy.quarters(hour)
    if used is None:
        return _rounded(energy.hours[hour] * price.mean)
    return _rounded(sum(kwh * eur_kwh for kwh, eur_kwh in zip(used, price.quarters, strict=True)))


def sum_rows(stored: Mapping[int, SumRow], found: Mapping[int, float | LeftOut], start: int) -> dict[int, SumRow]:
    """Return the rows from `start` on as they have to be, by hour.

    Hours before `start` keep what is stored, and so do hours whose market price the server doesn't know any more. Other
    stored hours that have no cost now lose theirs. All sums follow.
    """
    earlier = [hour for hour in stored if hour < start]
    total = stored[max(earlier)].total if earlier else 0.0
    rows: dict[int, SumRow] = {}
    for hour, cost in _in_order(stored, found, start):
        total = _rounded(total + (cost or 0))
        rows[hour] = SumRow(cost, total)
    return rows


def _in_order(
    stored: Mapping[int, SumRow], found: Mapping[int, float | LeftOut], start: int
) -> Iterator[tuple[int, float | None]]:
    """Yield the hours that need a row, each with its cost."""
    for hour in sorted(hour for hour in stored.keys() | found.keys() if hour >= start):
        cost = found.get(hour, NO_READING)
        if not isinstance(cost, LeftOut):
            yield hour, cost
        elif hour in stored:
            yield hour, stored[hour].cost if cost == NO_PRICE else None


def _rounded(eur: float) -> float:
    return round(eur, _DECIMALS) or 0.0  # `or` turns -0.0 into 0.0
