"""Estonian days and clock times, from UTC."""

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.prices.days import day_at, day_of
from tests.support.household.home import instant
from tests.support.markets.price_strategies import instants

dates = st.dates(date(2024, 1, 1), date(2035, 12, 31))


@given(instants)
def test_every_instant_is_within_its_day(moment: int) -> None:
    day = day_at(ESTONIA, moment)
    assert day.start <= moment < day.end
    assert day.date == ESTONIA.local_time(moment).date()


@given(dates)
def test_days_follow_each_other_without_a_gap(day: date) -> None:
    assert day_of(ESTONIA, day).end == day_of(ESTONIA, day + timedelta(days=1)).start


@given(dates)
@example(date(2026, 3, 29))
@example(date(2026, 10, 25))
def test_a_day_has_23_24_or_25_hours_as_its_date_requires(day: date) -> None:
    last_sunday = day.weekday() == 6 and (day + timedelta(days=7)).month != day.month
    expected = 23 if last_sunday and day.month == 3 else 25 if last_sunday and day.month == 10 else 24
    assert (day_of(ESTONIA, day).end - day_of(ESTONIA, day).start) // HOUR_S == expected
    assert day_of(ESTONIA, day).start % HOUR_S == 0


@given(instants, st.integers(-3, 3))
def test_later_days_are_counted_by_the_calendar_and_not_by_24_hours(moment: int, days: int) -> None:
    assert day_at(ESTONIA, moment, days_later=days).date == ESTONIA.local_time(moment).date() + timedelta(days=days)


@given(instants)
def test_the_instant_of_a_wall_time_shows_that_wall_time_or_its_first_occurrence(moment: int) -> None:
    wall = ESTONIA.local_time(moment)
    assert moment - ESTONIA.instant(wall.date(), wall.time()) in {0, HOUR_S}


@pytest.mark.parametrize(
    ("day", "wall", "expected"),
    [
        (date(2026, 3, 29), time(2, 59), "2026-03-29T02:59:00+02:00"),
        (date(2026, 3, 29), time(3, 30), "2026-03-29T04:30:00+03:00"),
        (date(2026, 3, 29), time(4, 0), "2026-03-29T04:00:00+03:00"),
        (date(2026, 10, 25), time(3, 30), "2026-10-25T03:30:00+03:00"),
        (date(2026, 10, 25), time(4, 0), "2026-10-25T04:00:00+02:00"),
    ],
)
def test_wall_times_that_never_come_or_come_twice(day: date, wall: time, expected: str) -> None:
    assert ESTONIA.instant(day, wall) == instant(expected)


def test_the_day_is_tallinns_while_it_is_still_yesterday_in_utc() -> None:
    assert day_at(ESTONIA, int(datetime(2026, 1, 14, 22, tzinfo=UTC).timestamp())).date == date(2026, 1, 15)
    assert day_at(ESTONIA, int(datetime(2026, 7, 14, 20, 59, tzinfo=UTC).timestamp())).date == date(2026, 7, 14)
