"""The hours of the network operator's day rate, night rate and peak rates."""

from datetime import date, datetime, time
from enum import Enum, auto
from functools import cache
from typing import Final

import holidays

# Without these imports, the `holidays` library would import the countries' rules later, and block Home Assistant's
# event loop.
import holidays.countries.estonia
import holidays.countries.finland
import holidays.countries.latvia
import holidays.countries.lithuania

from .zones import Zone

_SATURDAY: Final = 5

DAY_RATE_STARTS: Final = time(7)
DAY_RATE_ENDS: Final = time(22)
_PEAK_MONTHS: Final = frozenset({11, 12, 1, 2, 3})
_WORKDAY_MORNING_PEAK: Final = (time(9), time(12))
_EVENING_PEAK: Final = (time(16), time(20))


class NetworkRatePeriod(Enum):
    """A class of hours with its own network rate."""

    DAY = auto()
    NIGHT = auto()
    PEAK = auto()
    REST_DAY_PEAK = auto()


def network_rate_period(wall: datetime, *, has_peaks: bool) -> NetworkRatePeriod:
    """Return the class of hours that contains `wall`, a date and time in Estonia.

    The day rate applies from 07 to 22 on working days, and the night rate at all other times. If `has_peaks` is true,
    the peak hours from November to March have peak rates instead. On working days, the peaks are from 09 to 12 and from
    16 to 20. On weekends and public holidays, the only peak is from 16 to 20.
    """
    is_rest_day = is_weekend(wall.date()) or is_public_holiday(Zone.EE, wall.date())
    if has_peaks and wall.month in _PEAK_MONTHS:
        if is_within(wall.time(), *_EVENING_PEAK):
            return NetworkRatePeriod.REST_DAY_PEAK if is_rest_day else NetworkRatePeriod.PEAK
        if not is_rest_day and is_within(wall.time(), *_WORKDAY_MORNING_PEAK):
            return NetworkRatePeriod.PEAK
    is_day = not is_rest_day and is_within(wall.time(), DAY_RATE_STARTS, DAY_RATE_ENDS)
    return NetworkRatePeriod.DAY if is_day else NetworkRatePeriod.NIGHT


def is_within(clock: time, starts: time, ends: time) -> bool:
    """Return whether a time of day lies in [starts, ends).

    If `ends` is before `starts`, the range ends on the next day.
    """
    return starts <= clock < ends if starts <= ends else clock >= starts or clock < ends


def is_weekend(day: date) -> bool:
    """Return whether the day is a Saturday or a Sunday."""
    return day.weekday() >= _SATURDAY


def is_public_holiday(zone: Zone, day: date) -> bool:
    """Return whether the day is a public holiday in the zone's country."""
    return day in _public_holidays(zone)


@cache
def _public_holidays(zone: Zone) -> holidays.HolidayBase:
    # The `HolidayBase` object is cached, because it keeps the holidays that the `holidays` library has computed.
    return holidays.country_holidays(zone)
