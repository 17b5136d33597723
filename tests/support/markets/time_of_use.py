"""The network rates of Finland and Lithuania at chosen instants: one table for all that computes a price."""

from typing import Final

import pytest

# Nine cents by day and five at all other times, as the options store them.
RATES: Final = {"network_day": 9.0, "network_night": 5.0, "vat_percent": 0}
FINNISH: Final = {
    **RATES,
    "day_rate_months": ["11", "12", "1", "2", "3"],
    "day_rate_weekdays": ["mon", "tue", "wed", "thu", "fri", "sat"],
    "holidays_at_night_rate": False,
}
LITHUANIAN: Final = {**RATES, "day_rate_starts": "07:00", "day_rate_ends": "23:00", "day_rate_in_winter_time": True}

CASES: Final = [
    pytest.param(zone, row, moment, cents, id=f"{zone} {moment}")
    for zone, row, cases in (
        (
            "fi",
            FINNISH,
            {
                "2026-01-17T12:00:00+02:00": 9,  # a Saturday
                "2026-01-18T12:00:00+02:00": 5,  # a Sunday
                "2026-07-15T12:00:00+03:00": 5,  # a Wednesday in July
                "2026-01-14T06:59:00+02:00": 5,
                "2026-01-14T07:00:00+02:00": 9,
                "2026-01-14T21:59:00+02:00": 9,
                "2026-01-14T22:00:00+02:00": 5,
                "2026-01-06T12:00:00+02:00": 9,  # Epiphany, a public holiday
                "2026-10-31T12:00:00+02:00": 5,  # the last Saturday before the season
                "2026-11-02T07:00:00+02:00": 9,
                "2026-03-31T21:59:00+03:00": 9,  # already summer time
                "2026-04-01T07:00:00+03:00": 5,
            },
        ),
        ("fi", {**FINNISH, "holidays_at_night_rate": True}, {"2026-01-06T12:15:00+02:00": 5}),
        (
            "lt",
            LITHUANIAN,
            {
                "2026-01-14T06:59:00+02:00": 5,
                "2026-01-14T07:30:00+02:00": 9,
                "2026-01-14T22:59:00+02:00": 9,
                "2026-01-14T23:00:00+02:00": 5,
                "2026-07-15T07:30:00+03:00": 5,
                "2026-07-15T08:00:00+03:00": 9,
                "2026-07-15T23:59:00+03:00": 9,
                "2026-07-16T00:00:00+03:00": 5,
                "2026-07-18T12:00:00+03:00": 5,  # a Saturday
                "2026-02-16T12:00:00+02:00": 5,  # a public holiday, a Monday
            },
        ),
    )
    for moment, cents in cases.items()
]
