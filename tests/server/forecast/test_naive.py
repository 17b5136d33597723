import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

from tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S, SeriesKey, day_start, delivery_day, hours_of
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.scoring.backtest import backtest
from tunnihind.forecast.scoring.naive import seven_day_mean_to_newest_day
from tunnihind.known import Archive

type Market = Callable[[date, date, Callable[[int], float]], Archive]
type Utc = Callable[..., int]

FIRST, LAST = date(2024, 3, 1), date(2024, 6, 30)


HOURS = SeriesKey("ee", HOUR_S)


def hour_of_day(ts: int) -> float:
    return float((ts - day_start(delivery_day(ts))) // 3600)


def by_day(ts: int) -> float:
    return float(delivery_day(ts).day)


def test_it_is_the_mean_of_the_same_clock_hour_on_the_last_seven_known_days(market: Market, utc: Utc) -> None:
    known = market(FIRST, LAST, lambda ts: 100 * hour_of_day(ts) + by_day(ts)).as_of(utc(2024, 5, 20, 9))
    targets = np.array(hours_of(date(2024, 5, 23)))
    # At 09:00 UTC the 20th is the newest settled day, and the days from 14 to 20 have the mean 17.
    assert seven_day_mean_to_newest_day(known.prices, targets, HOURS) == pytest.approx(100 * np.arange(24) + 17)


def test_after_publication_the_next_day_is_among_the_seven(market: Market, utc: Utc) -> None:
    known = market(FIRST, LAST, by_day).as_of(utc(2024, 5, 20, 15))
    assert seven_day_mean_to_newest_day(known.prices, np.array([utc(2024, 5, 23, 12)]), HOURS).tolist() == [18]


def test_a_day_that_is_not_known_does_not_count(market: Market, utc: Utc) -> None:
    hole = date(2024, 5, 16)
    known = market(FIRST, LAST, lambda ts: math.nan if delivery_day(ts) == hole else by_day(ts))
    means = seven_day_mean_to_newest_day(
        known.as_of(utc(2024, 5, 20, 9)).prices, np.array([utc(2024, 5, 23, 12)]), HOURS
    )
    assert means.tolist() == [(14 + 15 + 17 + 18 + 19 + 20) / 6]


def test_an_hour_that_no_day_has_is_unknown_and_not_zero(market: Market, utc: Utc) -> None:
    archive = market(FIRST, LAST, lambda ts: math.nan if hour_of_day(ts) == 5 else 80.0)
    means = seven_day_mean_to_newest_day(
        archive.as_of(utc(2024, 5, 20, 9)).prices, np.array(hours_of(date(2024, 5, 23))), HOURS
    )
    assert np.flatnonzero(np.isnan(means)).tolist() == [5]


def test_with_nothing_known_it_is_unknown(market: Market, utc: Utc) -> None:
    known = market(FIRST, LAST, by_day).as_of(utc(2020, 1, 1))
    assert np.isnan(seven_day_mean_to_newest_day(known.prices, np.array([utc(2024, 5, 23, 12)]), HOURS)).all()


@pytest.mark.parametrize(("day", "hours"), [(date(2024, 3, 31), 23), (date(2024, 10, 27), 25)])
def test_every_hour_of_a_day_of_23_or_25_has_the_mean_of_its_clock_hour(market: Market, day: date, hours: int) -> None:
    # The last days before the change have 24 hours, so their hour of the day is the hour on the clock.
    archive = market(day - timedelta(days=20), day, lambda ts: hour_of_day(ts) if delivery_day(ts) < day else -500.0)
    known = archive.as_of(day_start(day) - 86_400 + 9 * 3600)
    means = seven_day_mean_to_newest_day(known.prices, np.array(hours_of(day)), HOURS)
    clock = [*range(2), *range(3, 24)] if hours == 23 else [0, 1, 2, 2, *range(3, 24)]
    assert means.tolist() == clock


def test_in_a_backtest_it_never_sees_a_price_that_was_published_later(market: Market) -> None:
    day = date(2024, 5, 23)
    honest = market(FIRST, LAST, by_day)
    later = honest.prices.known_ts > day_start(day) - 86_400 + 11 * 3600  # the day before, after the issue at 09:00
    noised = np.where(later, 9999.0, honest.prices.eur_mwh)
    leaky = Archive(replace(honest.prices, eur_mwh=noised), honest.covariates)
    issued = [backtest(archive, LastWeeksMean(ESTONIA), day, day).forecasts for archive in (honest, leaky)]
    # Issued 1 to 7 days ahead, from the 22nd back to the 16th. Each mean covers the seven days up to its issue.
    assert issued[0].seven_day_mean.tolist() == (20 - issued[0].lead_days).tolist()
    assert (issued[0].seven_day_mean == issued[1].seven_day_mean).all()


def test_the_mean_of_a_quarter_is_that_of_the_same_quarter_of_seven_days(market: Market, utc: Utc) -> None:
    archive = market(date(2025, 10, 10), date(2025, 10, 31), lambda ts: delivery_day(ts).day + ts % HOUR_S / 100)
    targets = utc(2025, 10, 26, 22) + np.arange(8) * QUARTER_S
    means = seven_day_mean_to_newest_day(
        archive.as_of(utc(2025, 10, 25, 9)).prices, targets, SeriesKey("ee", QUARTER_S)
    )
    assert means == pytest.approx([22 + quarter * 9 for quarter in (0, 1, 2, 3) * 2])
