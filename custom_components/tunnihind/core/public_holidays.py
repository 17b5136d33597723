"""Public holidays and working days, which change power consumption and network fees."""

from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holidays import HolidayBase


def is_holiday(day: date, country: str) -> bool:
    """Return whether a day is a public holiday in a country (ISO 3166).

    A working day that was made a day off, in exchange for a Saturday, counts as a public holiday.
    """
    return day in _calendar(country, day.year)


def is_working_day(day: date, country: str) -> bool:
    """Return whether people work on a day in a country (ISO 3166).

    They work on weekdays other than public holidays, and on Saturdays that were exchanged for a day off.
    """
    return _calendar(country, day.year).is_working_day(day)


@lru_cache(maxsize=256)
def _calendar(country: str, year: int) -> HolidayBase:
    import holidays  # noqa: PLC0415  it loads the calendars of all countries, and an hourly run needs no calendar (`SeasonCache`)

    # The years around are included, because a Saturday may be exchanged for a day of another year.
    return holidays.country_holidays(country, years=range(year - 1, year + 2))
