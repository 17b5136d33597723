from datetime import date, datetime

import holidays
import numpy as np
import pytest

from tunnihind.core.market import DELIVERY_TZ, ESTONIA, HOUR_S, MARKETS, Market, SeriesKey, day_start, hours_of
from tunnihind.forecast.known_days.calendar import DayClass, clock_hours, day_class
from tunnihind.forecast.known_days.grid import DayGrid, PricesByDay, consecutive_hours, days_between
from tunnihind.forecast.known_days.season import Season
from tunnihind.known import PriceHistory
from tunnihind.price_series import PriceSeries

SPRING = date(2025, 3, 30)
AUTUMN = date(2025, 10, 26)


@pytest.mark.parametrize(
    ("country", "day", "expected"),
    [
        ("EE", date(2025, 3, 5), DayClass.WORKDAY),
        ("EE", date(2025, 3, 8), DayClass.SATURDAY),
        ("EE", date(2025, 3, 9), DayClass.SUNDAY),
        ("EE", date(2025, 2, 24), DayClass.SUNDAY),
        ("EE", date(2025, 4, 18), DayClass.SUNDAY),
        ("EE", date(2025, 6, 23), DayClass.SUNDAY),
        ("EE", date(2027, 8, 20), DayClass.SUNDAY),
        ("EE", date(2027, 5, 1), DayClass.SUNDAY),
        # Latvia swaps working days with Saturdays.
        ("LV", date(2026, 1, 17), DayClass.WORKDAY),
        ("LV", date(2026, 6, 27), DayClass.WORKDAY),
        ("LV", date(2026, 6, 20), DayClass.SATURDAY),
        ("LV", date(2026, 1, 2), DayClass.SUNDAY),
        ("LV", date(2026, 6, 22), DayClass.SUNDAY),
        ("EE", date(2026, 1, 17), DayClass.SATURDAY),
        ("EE", date(2026, 1, 2), DayClass.WORKDAY),
    ],
)
def test_a_day_counts_by_whether_people_of_its_country_work(country: str, day: date, expected: DayClass) -> None:
    assert day_class(day, country) is expected


SEVEN_YEARS = days_between(date(2021, 1, 1), date(2027, 12, 31))
WEEKDAY_CLASSES = [DayClass.WORKDAY] * 5 + [DayClass.SATURDAY, DayClass.SUNDAY]

zones = pytest.mark.parametrize("market", MARKETS.values(), ids=MARKETS)
"""The four zones. Only Latvia has Saturdays on which people work."""


def worked_saturdays(market: Market) -> set[date]:
    return set(holidays.country_holidays(market.country, years=range(2021, 2028)).weekend_workdays)


@zones
def test_a_worked_saturday_is_a_workday_and_other_days_are_as_ever(market: Market) -> None:
    days_off, worked = holidays.country_holidays(market.country, years=range(2021, 2028)), worked_saturdays(market)

    def expected(day: date) -> DayClass:
        if day in worked:
            return DayClass.WORKDAY
        return DayClass.SUNDAY if day in days_off else WEEKDAY_CLASSES[day.weekday()]

    assert {day: day_class(day, market.country) for day in SEVEN_YEARS} == {day: expected(day) for day in SEVEN_YEARS}


@zones
def test_a_worked_saturday_has_the_column_of_a_friday(market: Market) -> None:
    season, worked = Season.of(DayGrid.between(SEVEN_YEARS[0], SEVEN_YEARS[-1]), market), worked_saturdays(market)
    columns = [4 if day in worked else day.weekday() for day in SEVEN_YEARS]
    assert season.weekday.argmax(axis=1).tolist() == columns
    assert (season.weekday.sum(axis=1) == 1).all()


@pytest.mark.parametrize("day", [SPRING, AUTUMN, date(2025, 7, 1)])
def test_clock_hours_are_those_of_the_delivery_time_zone(day: date) -> None:
    assert clock_hours(day) == tuple(datetime.fromtimestamp(ts, DELIVERY_TZ).hour for ts in hours_of(day))


def history(first: date, prices: list[float]) -> PriceHistory:
    return PriceHistory(0, {SeriesKey("ee", HOUR_S): PriceSeries("ee", HOUR_S, day_start(first), np.array(prices))})


def test_a_23_hour_day_lacks_its_changed_hour_on_the_grid() -> None:
    grid = PricesByDay.between(history(SPRING, [float(n) for n in range(23)]), ESTONIA, SPRING, SPRING).eur_mwh[0]
    assert np.isnan(grid[2])
    assert grid[[0, 1, 3, 23]].tolist() == [0, 1, 2, 22]


def test_the_repeated_hour_of_a_25_hour_day_is_the_mean_of_both() -> None:
    grid = PricesByDay.between(history(AUTUMN, [float(n) for n in range(25)]), ESTONIA, AUTUMN, AUTUMN).eur_mwh[0]
    assert grid[[1, 2, 3, 23]].tolist() == [1, 2.5, 4, 24]


def test_one_known_half_of_the_repeated_hour_stands_for_both() -> None:
    prices = [float(n) for n in range(25)]
    prices[2] = np.nan
    assert PricesByDay.between(history(AUTUMN, prices), ESTONIA, AUTUMN, AUTUMN).eur_mwh[0, 2] == 3


def test_days_outside_the_history_are_unknown_and_the_others_in_their_place() -> None:
    first, last = date(2025, 3, 29), date(2025, 4, 1)
    grid = PricesByDay.between(history(SPRING, [7.0] * 23), ESTONIA, first, last)
    assert np.isnan(grid.eur_mwh[[0, 2, 3]]).all()
    assert np.nansum(grid.eur_mwh[grid.row_of(SPRING)]) == 7 * 23


def test_a_grid_is_laid_out_in_as_many_hours_as_its_days_have() -> None:
    days = days_between(date(2025, 10, 25), date(2025, 10, 27))
    grid = np.arange(3 * 24, dtype=np.float64).reshape(1, 3, 24)
    hours = consecutive_hours(grid, days)
    assert hours.shape == (1, 24 + 25 + 24)
    assert hours[0, 24 : 24 + 4].tolist() == [24, 25, 26, 26]
    assert (day_start(days[-1]) - day_start(days[0])) // HOUR_S == 49
