"""Computes the prices that the household paid in past hours, and the costs of the household's energy."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import batched, groupby
from math import isclose
from statistics import fmean
from typing import Final

from ..const import LOGGER
from ..core.market import HOUR_S, SHORTEST_STEP_S, rounded_price
from ..core.rates import Part
from ..core.tariff import Tariff
from .history import MarketHistory

_STEPS_PER_HOUR: Final = HOUR_S // SHORTEST_STEP_S
FIVE_MIN_S: Final = 300
_READINGS_PER_HOUR: Final = HOUR_S // FIVE_MIN_S
_READINGS_PER_STEP: Final = SHORTEST_STEP_S // FIVE_MIN_S
# Costs and sums in EUR are rounded to 6 decimals, so that two imports of the same readings give the same sums.
_DECIMALS: Final = 6
# An hour's energy and the sum of its five-minute readings may differ by this many kWh, or by this fraction of the
# energy.
_KWH_TOLERANCE: Final = 1e-6


class LeftOutReason(StrEnum):
    """The reason why an hour has no price or no cost."""

    NO_PRICE = "no_price"
    """The server has no settled price for the hour or for one of its quarters."""
    NO_RATE = "no_rate"
    """A needed rate is missing in `rates.json`, or the hour is before the household's first row of fees."""
    NO_READING = "no_reading"
    """The energy statistic has no reading for the hour."""


@dataclass(frozen=True, slots=True)
class LeftOutHour:
    """Takes the place of an unknown price or cost, and gives the reason.

    `parts` lists the parts of the price whose rate for the hour is missing in `rates.json`.
    """

    reason: LeftOutReason
    parts: tuple[Part, ...] = ()


NO_PRICE: Final = LeftOutHour(LeftOutReason.NO_PRICE)
NO_READING: Final = LeftOutHour(LeftOutReason.NO_READING)


@dataclass(frozen=True, slots=True)
class HourPrice:
    """The prices of an hour's periods of `SHORTEST_STEP_S`, in EUR/kWh. If billing is by the hour, they are equal."""

    by_step: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the prices, rounded to 4 decimals."""
        return rounded_price(fmean(self.by_step))


def hour_price(hour: int, settled: Mapping[int, float], step_s: int, tariff: Tariff) -> HourPrice | LeftOutHour:
    """Return the household price of the hour that starts at `hour` (UTC seconds), or the reason why there is no price.

    `settled` maps the starts of periods (UTC seconds) to their settled market prices in EUR/MWh. Each period is
    `step_s` seconds long.
    """
    prices: list[float] = []
    for start in range(hour, hour + HOUR_S, step_s):
        if start not in settled:
            return NO_PRICE
        price = tariff.known_price(settled[start], start)
        if price is None:
            return _hour_without_rate(start, tariff)
        prices.append(price)
    return HourPrice(tuple(price for price in prices for _ in range(_STEPS_PER_HOUR // len(prices))))


def _hour_without_rate(instant: int, tariff: Tariff) -> LeftOutHour:
    return LeftOutHour(LeftOutReason.NO_RATE, tariff.charges(instant).unknown_parts)


def left_out_ranges(reasons: Mapping[int, LeftOutHour]) -> list[tuple[int, int, LeftOutHour]]:
    """Return the left-out hours as ranges of time [start, end) in UTC seconds, each with its reason.

    Neighbouring hours with the same reason and the same parts form one range.
    """
    ranges: list[tuple[int, int, LeftOutHour]] = []
    for hour in sorted(reasons):
        is_same_reason = ranges and ranges[-1][1:] == (hour, reasons[hour])
        start = ranges.pop()[0] if is_same_reason else hour
        ranges.append((start, hour + HOUR_S, reasons[hour]))
    return ranges


def split_left_out[Value](
    found: Mapping[int, Value | LeftOutHour],
) -> tuple[dict[int, Value], dict[int, LeftOutHour]]:
    """Separate the hours that have a value from the hours that were left out."""
    kept: dict[int, Value] = {}
    left_out: dict[int, LeftOutHour] = {}
    for hour, value in found.items():
        if isinstance(value, LeftOutHour):
            left_out[hour] = value
        else:
            kept[hour] = value
    return kept, left_out


def hours_between(start: int, end: int) -> Iterable[int]:
    """Return the starts of all whole hours in [start, end), in UTC seconds."""
    return range(-(-start // HOUR_S) * HOUR_S, end - HOUR_S + 1, HOUR_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidPriceCalculator:
    """Computes past prices of a household. `step_s` is the length of a billing period in seconds."""

    step_s: int
    history: MarketHistory
    tariff: Tariff

    async def prices_of(self, hours: Iterable[int]) -> dict[int, HourPrice | LeftOutHour]:
        """Return the price of each hour, or the reason why the price is unknown.

        `hours` are the starts of the hours in UTC seconds, in chronological order. If all given hours of a month lack a
        rate, the month's market prices are not requested. Raises TunnihindError if a request fails.
        """
        found: dict[int, HourPrice | LeftOutHour] = {}
        for month, of_month in groupby(hours, key=self.history.month_of):
            found |= await self._prices_of_month(month, tuple(of_month))
        return found

    async def _prices_of_month(self, month: date, hours: tuple[int, ...]) -> dict[int, HourPrice | LeftOutHour]:
        if all(self.tariff.known_price(0.0, hour) is None for hour in hours):
            return {hour: _hour_without_rate(hour, self.tariff) for hour in hours}
        settled = await self.history.prices_of_month(month)
        LOGGER.debug("the server has %d settled prices for the month %s", len(settled), f"{month:%Y-%m}")
        return {hour: hour_price(hour, settled, self.step_s, self.tariff) for hour in hours}


@dataclass(frozen=True, slots=True)
class CostRow:
    """A row of a cost statistic, in EUR.

    `cost` is the cost of one hour, or None if the cost was removed because a rate or a meter reading is missing.
    `total` is the sum of the costs of this hour and all earlier hours.
    """

    cost: float | None
    total: float


@dataclass(frozen=True, slots=True)
class MeasuredEnergy:
    """The energy in kWh that an energy statistic counted.

    `by_hour` maps the start (UTC seconds) of each hour with a reading to the energy of the hour. `by_five_minutes` maps
    the start (UTC seconds) of each five-minute reading to its energy.
    """

    by_hour: Mapping[int, float]
    by_five_minutes: Mapping[int, float]

    def kwh_by_step(self, hour: int) -> tuple[float, ...] | None:
        """Return the kWh in each period of `SHORTEST_STEP_S` of the hour that starts at `hour` (UTC seconds).

        If five-minute readings are missing or don't add up to the hour's energy, return None.
        """
        starts = range(hour, hour + HOUR_S, FIVE_MIN_S)
        kwh = [self.by_five_minutes[start] for start in starts if start in self.by_five_minutes]
        if len(kwh) < _READINGS_PER_HOUR or not isclose(
            sum(kwh), self.by_hour[hour], rel_tol=_KWH_TOLERANCE, abs_tol=_KWH_TOLERANCE
        ):
            return None
        return tuple(sum(step) for step in batched(kwh, _READINGS_PER_STEP, strict=True))


def hourly_costs(
    energy: MeasuredEnergy, prices: Mapping[int, HourPrice | LeftOutHour]
) -> dict[int, float | LeftOutHour]:
    """Return the cost of each hour in EUR, or the reason why the cost is unknown.

    The result covers all hours from the first reading to the last reading. `prices` must contain each hour that has a
    reading. The energy of each of its periods is charged at the price of the period. If this energy is
    unknown, the energy of the hour is charged at the mean price of the hour.
    """
    if not energy.by_hour:
        return {}
    hours = hours_between(min(energy.by_hour), max(energy.by_hour) + HOUR_S)
    return {hour: _hour_cost(hour, energy, prices[hour]) if hour in energy.by_hour else NO_READING for hour in hours}


def _hour_cost(hour: int, energy: MeasuredEnergy, price: HourPrice | LeftOutHour) -> float | LeftOutHour:
    if isinstance(price, LeftOutHour):
        return price
    used = energy.kwh_by_step(hour)
    if used is None:
        return _rounded_cost(energy.by_hour[hour] * price.mean)
    return _rounded_cost(sum(kwh * eur_kwh for kwh, eur_kwh in zip(used, price.by_step, strict=True)))


def cost_rows(
    stored: Mapping[int, CostRow], new_costs: Mapping[int, float | LeftOutHour], start: int
) -> dict[int, CostRow]:
    """Return the hourly rows of a cost statistic from `start` (UTC seconds) on, with the costs in `new_costs`.

    If the server has no market price for an hour, the hour's cost in `stored` is kept. If an hour has no rate or no
    reading, or is missing in `new_costs`, the hour's stored cost is removed. All running totals from `start` on are
    computed again.
    """
    earlier = [hour for hour in stored if hour < start]
    total = stored[max(earlier)].total if earlier else 0.0
    rows: dict[int, CostRow] = {}
    for hour, cost in _hours_with_cost(stored, new_costs, start):
        total = _rounded_cost(total + (cost or 0))
        rows[hour] = CostRow(cost, total)
    return rows


def _hours_with_cost(
    stored: Mapping[int, CostRow], new_costs: Mapping[int, float | LeftOutHour], start: int
) -> Iterator[tuple[int, float | None]]:
    for hour in sorted(hour for hour in stored.keys() | new_costs.keys() if hour >= start):
        cost = new_costs.get(hour, NO_READING)
        if not isinstance(cost, LeftOutHour):
            yield hour, cost
        elif hour in stored:
            yield hour, stored[hour].cost if cost == NO_PRICE else None


def _rounded_cost(eur: float) -> float:
    return round(eur, _DECIMALS) or 0.0  # `or 0.0` turns -0.0 into 0.0
