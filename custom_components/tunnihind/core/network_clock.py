"""The hours of the network operator's day rate, night rate and peak rates."""

from datetime import date, datetime, time
from enum import StrEnum
from typing import Final

from .public_holidays import is_holiday

_SATURDAY: Final = 5

DAY_RATE_STARTS: Final = time(7)
DAY_RATE_ENDS: Final = time(22)
_PEAK_MONTHS: Final = frozenset({11, 12, 1, 2, 3})
_WORKDAY_MORNING_PEAK: Final = (time(9), time(12))
_EVENING_PEAK: Final = (time(16), time(20))


class NetworkRatePeriod(StrEnum):
    """A class of hours with its own network rate."""

    DAY = "day"
    NIGHT = "night"
    PEAK = "peak"
    REST_DAY_PEAK = "rest_day_peak"


def network_rate_period(wall: datetime, country: str, *, has_peaks: bool) -> NetworkRatePeriod:
    """Return the class of hours that contains `wall`, a local time in `country` (ISO 3166).

    The day rate applies from 07 to 22 on working days, and the night rate at all other times. If `has_peaks` is true,
    the peak hours from November to March have peak rates instead. On working days, the peaks are from 09 to 12 and from
    16 to 20. On weekends and public holidays, the only peak is from 16 to 20.
    """
    is_rest_day = is_weekend(wall.date()) or is_holiday(wall.date(), country)
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
