"""Finds the demand class and the clock hours of a delivery day."""

from datetime import date
from enum import IntEnum
from functools import lru_cache
from typing import Final

import numpy as np

from tunnihind.core.market import hours_of
from tunnihind.core.public_holidays import is_holiday, is_working_day

CLOCK_HOURS: Final = 24

_CLOCK: Final = np.arange(CLOCK_HOURS)
HOURS_APART: Final = np.minimum((_CLOCK[:, None] - _CLOCK) % CLOCK_HOURS, (_CLOCK - _CLOCK[:, None]) % CLOCK_HOURS)
"""The number of hours between two clock hours, the shorter way around the clock, shape (24, 24)."""

_SATURDAY: Final = 5
CHANGE_HOUR: Final = 2
"""The Central European clock hour that the clock change removes in March and repeats in October."""


class DayClass(IntEnum):
    """The demand classes. A member's value is the index of its row or column in tables by demand class."""

    WORKDAY = 0
    """Saturdays on which people work belong to this class too."""
    SATURDAY = 1
    SUNDAY = 2
    """Public holidays belong to this class too."""


@lru_cache(maxsize=8192)
def day_class(day: date, country: str) -> DayClass:
    """Return the demand class of a delivery day in a country. `country` is an ISO 3166 code."""
    if is_working_day(day, country):
        return DayClass.WORKDAY
    is_saturday = day.weekday() == _SATURDAY and not is_holiday(day, country)
    return DayClass.SATURDAY if is_saturday else DayClass.SUNDAY


def clock_hours(day: date) -> tuple[int, ...]:
    """Return the Central European clock hour, 0 to 23, of each hour of a delivery day."""
    return _clock_hours_of_length(len(hours_of(day)))


@lru_cache(maxsize=3)
def _clock_hours_of_length(length: int) -> tuple[int, ...]:
    times = [1] * CLOCK_HOURS
    times[CHANGE_HOUR] += length - CLOCK_HOURS
    return tuple(hour for hour in range(CLOCK_HOURS) for _ in range(times[hour]))
