"""Computes what a battery would have saved in past hours."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..battery.battery import Battery, Steps
from ..battery.solver import cheapest_course, course_cost
from ..core.market import DAY_S, HOUR_S

# The battery of `tests/benchmarks/bench_battery_year.py`. What it discharges must be worth this wear in EUR/kWh, so
# that it doesn't age for a gain of next to nothing.
_EFFICIENCY: Final = 0.9
_WEAR: Final = 0.03
# What that benchmark measured: the share that a plan, which knows neither the prices to come nor the use nor the sun,
# reached of the saving with perfect foresight. Without sun .981, with sun .968 and .972.
_SHARE: Final = 0.98
_SHARE_WITH_SUN: Final = 0.97
_YEAR_S: Final = 365.25 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class BatteryOffer:
    """A battery that the household might buy, with its usable capacity. `price` is in EUR."""

    capacity_kwh: float
    power_kw: float
    price: float | None = None


@dataclass(frozen=True, slots=True)
class BatteryWorth:
    """What a battery would have saved in `hours` hours, in EUR: `ideal` with perfect foresight, a `share` with plans.

    `cycles` is the number of full cycles. `yearly` is the expected saving in a whole year. It is computed from all
    hours alike, whatever their season.
    """

    ideal: float
    share: float
    cycles: float
    hours: int
    price: float | None

    @property
    def expected(self) -> float:
        """The saving with plans."""
        return self.ideal * self.share

    @property
    def yearly(self) -> float:
        """The saving with plans in a year."""
        return self.expected * _YEAR_S / (self.hours * HOUR_S) if self.hours else 0.0

    @property
    def payback_years(self) -> float | None:
        """The years after which the savings have paid the price, or None if there is no price or no saving."""
        return self.price / self.yearly if self.price is not None and self.yearly > 0 else None


def battery_worth(
    offer: BatteryOffer,
    net_use: Mapping[int, float],
    prices_at: Callable[[int], tuple[float, float] | None],
    step_s: int,
    *,
    has_sun: bool,
    sells: bool,
) -> BatteryWorth:
    """Return what a battery would have saved.

    `net_use` maps the starts of hours (UTC seconds) to the kWh bought less those sold. `prices_at` returns the buying
    and the selling price (EUR/kWh) in the period of `step_s` seconds that starts at an instant, or None if one is not
    known. In hours without a price or a reading, the battery rests. It is empty at first.
    """
    battery = Battery(
        charge_kw=offer.power_kw,
        discharge_kw=offer.power_kw,
        efficiency=_EFFICIENCY,
        wear=_WEAR,
        lowest_kwh=0.0,
        highest_kwh=offer.capacity_kwh,
        sells=sells,
    )
    steps = _steps(net_use, prices_at, step_s)
    course = cheapest_course(battery, steps, 0.0, end_worth=0.0)
    unworn = replace(battery, wear=0.0)
    saving = course_cost(unworn, steps, np.zeros(len(steps.starts))) - course_cost(unworn, steps, course.power_kw)
    falls = -np.diff(course.stored_kwh, prepend=0.0)
    return BatteryWorth(
        ideal=saving,
        share=_SHARE_WITH_SUN if has_sun else _SHARE,
        cycles=float(falls.clip(0).sum()) / offer.capacity_kwh,
        hours=len(steps.starts) * step_s // HOUR_S,
        price=offer.price,
    )


def _steps(net_use: Mapping[int, float], prices_at: Callable[[int], tuple[float, float] | None], step_s: int) -> Steps:
    """Return the known hours one after another, as if there were no gaps between them."""
    buying, selling, use_kw = [], [], []
    for hour in sorted(net_use):
        prices = [found for at in range(hour, hour + HOUR_S, step_s) if (found := prices_at(at))]
        if len(prices) == HOUR_S // step_s:
            buying += [bought for bought, _ in prices]
            selling += [sold for _, sold in prices]
            use_kw += [net_use[hour]] * len(prices)
    return Steps(np.arange(len(buying)) * step_s, len(buying) * step_s, _array(buying), _array(selling), _array(use_kw))


def _array(values: Iterable[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.fromiter(values, float)
