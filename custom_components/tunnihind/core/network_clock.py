"""The times at which the network operator's day rate, night rate and peak rates apply."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Final

from .public_holidays import is_holiday

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""The names of weekdays in forms, in the order of Python's `date.weekday()`."""

MONTHS: Final = range(1, 13)
_WORKING_DAYS: Final = frozenset(range(5))
_WINTER: Final = frozenset({11, 12, 1, 2, 3})


class NetworkRatePeriod(StrEnum):
    """A class of hours with its own network rate."""

    DAY = "day"
    NIGHT = "night"
    PEAK = "peak"
    REST_DAY_PEAK = "rest_day_peak"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTimes:
    """The months, weekdays and hours in which a rate applies. Monday is 0.

    The hours are [`starts`, `ends`). If `ends` is before `starts`, the hours from midnight to `ends` and from `starts`
    to midnight count. If `on_holidays` is false, the rate doesn't apply on public holidays. If `in_winter_time` is
    true, the clock that counts stays on winter time, so that in summer all hours are an hour later on people's clocks.
    """

    months: frozenset[int] = frozenset(MONTHS)
    weekdays: frozenset[int] = _WORKING_DAYS
    starts: time = time(7)
    ends: time = time(22)
    on_holidays: bool = False
    in_winter_time: bool = False

    def contain(self, wall: datetime, country: str) -> bool:
        """Return whether the rate applies at `wall`, a local time in `country` (ISO 3166)."""
        clock = wall - (wall.dst() or timedelta()) if self.in_winter_time else wall
        return (
            clock.month in self.months
            and clock.weekday() in self.weekdays
            and _is_within(clock.time(), self.starts, self.ends)
            and (self.on_holidays or not is_holiday(clock.date(), country))
        )


type RateClock = Iterable[tuple[NetworkRatePeriod, RateTimes]]
"""The times of rates. Where two times overlap, the first counts. At all other times, the night rate applies."""

DAY_RATE_TIMES: Final = RateTimes()
"""The times of the day rate, if a household has not entered other times."""

DAY_AND_NIGHT: Final[RateClock] = ((NetworkRatePeriod.DAY, DAY_RATE_TIMES),)
"""The rate times of network packages."""

WITH_PEAKS: Final[RateClock] = (
    (NetworkRatePeriod.PEAK, RateTimes(months=_WINTER, starts=time(9), ends=time(12))),
    (NetworkRatePeriod.PEAK, RateTimes(months=_WINTER, starts=time(16), ends=time(20))),
    (
        NetworkRatePeriod.REST_DAY_PEAK,
        RateTimes(months=_WINTER, weekdays=frozenset(range(7)), starts=time(16), ends=time(20), on_holidays=True),
    ),
    *DAY_AND_NIGHT,
)
"""The rate times of network packages with peak rates. The peaks of working days come first."""


def network_rate_period(wall: datetime, country: str, rates: RateClock) -> NetworkRatePeriod:
    """Return the class of hours that contains `wall`, a local time in `country` (ISO 3166)."""
    return next((period for period, times in rates if times.contain(wall, country)), NetworkRatePeriod.NIGHT)


def _is_within(clock: time, starts: time, ends: time) -> bool:
    return starts <= clock < ends if starts <= ends else clock >= starts or clock < ends
