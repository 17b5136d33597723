"""Past hours: what each cost the household, or why that is not known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean
from typing import Final

from ..prices.rates import Part
from ..prices.tariff import Tariff
from ..prices.timeline import HOUR_S, QUARTER_S, rounded

_QUARTERS: Final = HOUR_S // QUARTER_S


class Reason(StrEnum):
    """Why an hour has no price or no cost."""

    NO_PRICE = "no_price"
    """The server has no settled price for it."""
    NO_RATE = "no_rate"
    """Some part of what the household pays has no rate on that date."""
    NO_READING = "no_reading"
    """The energy statistic has nothing for it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What stands for an hour without a price or a cost; `parts` are those without a rate."""

    reason: Reason
    parts: tuple[Part, ...] = ()


NO_PRICE: Final = LeftOut(Reason.NO_PRICE)
NO_READING: Final = LeftOut(Reason.NO_READING)


@dataclass(frozen=True, slots=True)
class HourPrice:
    """What an hour cost in each of its quarters, EUR/kWh. Billed by the hour, all four are the same."""

    quarters: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The hour's price."""
        return rounded(fmean(self.quarters))


@dataclass(frozen=True, slots=True)
class LeftOutSpan:
    """Hours in [start, end), UTC seconds, that were left out for the same reason."""

    start: int
    end: int
    why: LeftOut


def hour_price(hour: int, settled: Mapping[int, float], step_s: int, tariff: Tariff) -> HourPrice | LeftOut:
    """Return what the hour from `hour` (UTC seconds) cost.

    `settled` are market prices in EUR/MWh by the start of their period, which is `step_s` seconds long.
    """
    prices: list[float] = []
    for start in range(hour, hour + HOUR_S, step_s):
        if start not in settled:
            return NO_PRICE
        price = tariff.known_price(settled[start], start)
        if price is None:
            return without_rate(start, tariff)
        prices.append(price)
    return HourPrice(tuple(prices) * (_QUARTERS // len(prices)))


def without_rate(instant: int, tariff: Tariff) -> LeftOut:
    """Return what stands for an hour in which the tariff has no price."""
    return LeftOut(Reason.NO_RATE, tariff.charges(instant).unknown_parts)


def left_out_spans(reasons: Mapping[int, LeftOut]) -> list[LeftOutSpan]:
    """Return the hours that were left out, neighbours with the same reason together."""
    hours = sorted(reasons)
    breaks = [
        index
        for index, (before, hour) in enumerate(pairwise(hours), start=1)
        if hour - before != HOUR_S or reasons[hour] != reasons[before]
    ]
    bounds = pairwise([0, *breaks, len(hours)]) if hours else ()
    return [LeftOutSpan(hours[first], hours[last - 1] + HOUR_S, reasons[hours[first]]) for first, last in bounds]


def without_left_out[Value](found: Mapping[int, Value | LeftOut]) -> tuple[dict[int, Value], dict[int, LeftOut]]:
    """Return what was found and what was left out, by hour."""
    kept: dict[int, Value] = {}
    left_out: dict[int, LeftOut] = {}
    for hour, value in found.items():
        if isinstance(value, LeftOut):
            left_out[hour] = value
        else:
            kept[hour] = value
    return kept, left_out


def hours_between(start: int, end: int) -> Iterable[int]:
    """Return the whole hours in [start, end), UTC seconds, by their start."""
    return range(-(-start // HOUR_S) * HOUR_S, end - HOUR_S + 1, HOUR_S)
