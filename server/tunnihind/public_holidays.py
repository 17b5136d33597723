"""Public holidays, which change power consumption and network fees."""

from datetime import date
from functools import lru_cache


def is_holiday(day: date, country: str) -> bool:
    """Return whether a day is a public holiday in a country (ISO 3166)."""
    return day in _public_holidays(country, day.year)


@lru_cache(maxsize=256)
def _public_holidays(country: str, year: int) -> frozenset[date]:
    import holidays  # noqa: PLC0415  it loads the calendars of all countries, and an hourly run needs no calendar (`SeasonCache`)

    return frozenset(holidays.country_holidays(country, years=year))
