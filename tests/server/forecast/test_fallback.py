import json
import math
from collections.abc import Callable
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tunnihind.core.market import (
    DELIVERY_TZ,
    ESTONIA,
    HOUR_S,
    PriceLimits,
    SeriesKey,
    day_end,
    day_start,
    delivery_day,
    floor_hour,
    hours_of,
)
from tunnihind.forecast.known_days.calendar import day_class
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.run import Run
from tunnihind.known import (
    Archive,
    CovariateArchive,
    Floats,
    KnownData,
    KnownPrice,
    PriceArchive,
    PriceHistory,
)
from tunnihind.price_series import PriceSeries

type Market = Callable[[date, date, Callable[[int], float]], Archive]
type Utc = Callable[..., int]

FIRST, LAST = date(2024, 1, 1), date(2024, 12, 31)
"""A year of hourly market time units, 2024. The clocks change on 31 March and 27 October."""


def shape(ts: float) -> float:
    return 60 + 30 * math.sin(datetime.fromtimestamp(ts, DELIVERY_TZ).hour / 24 * math.tau)


def wild(ts: int) -> float:
    noise = math.sin(ts * 12.9898) * 43758.5453
    return shape(ts) + 80 * (noise - math.floor(noise)) ** 3


def run_of(archive: Archive, as_of: int) -> Run:
    run = LastWeeksMean(ESTONIA).forecast(archive.as_of(as_of))
    assert run is not None
    return run


def of_day(run: Run, values: Floats, day: date) -> Floats:
    hours = [(ts - run.start_ts) // HOUR_S for ts in hours_of(day) if run.start_ts <= ts < run.end_ts]
    return values[hours]


@pytest.mark.parametrize(
    ("newest", "at", "starts", "last_day"),
    [
        (LAST, (9, 30), 10, date(2024, 5, 22)),
        (LAST, (9, 0), 10, date(2024, 5, 22)),
        (LAST, (15, 0), 16, date(2024, 5, 23)),
        (LAST, (21, 30), 22, date(2024, 5, 23)),
        (date(2024, 5, 15), (21, 30), 22, date(2024, 5, 22)),
        (date(2024, 5, 14), (9, 0), 10, date(2024, 5, 22)),
    ],
    ids=["before publication", "full hour", "after publication", "last hour", "late in the last hour", "a day late"],
)
def test_a_run_goes_from_the_next_hour_to_a_week_past_today_or_the_newest_price(
    market: Market, utc: Utc, newest: date, at: tuple[int, int], starts: int, last_day: date
) -> None:
    run = run_of(market(FIRST, newest, shape), utc(2024, 5, 15, *at))
    assert (run.made_at, run.tier) == (utc(2024, 5, 15, *at), "last-weeks-mean")
    assert (run.start_ts, run.end_ts) == (utc(2024, 5, 15, starts), day_end(last_day))


def test_a_constant_price_is_forecast_as_it_is_with_a_narrow_interval(market: Market, utc: Utc) -> None:
    run = run_of(market(FIRST, LAST, lambda _: 42.0), utc(2024, 11, 13, 9))
    assert (run.p50 == 42.0).all()
    assert (run.p90 - run.p10 < 12).all()


def test_negative_prices_are_forecast(market: Market, utc: Utc) -> None:
    run = run_of(market(FIRST, LAST, lambda _: -20.0), utc(2024, 5, 15, 9))
    assert (run.p50 == -20.0).all()
    assert (run.p10 < -20.0).all()


@pytest.mark.parametrize("days", [(2024, 3, 28), (2024, 3, 31), (2024, 10, 24), (2024, 10, 27)])
def test_the_daily_shape_keeps_to_the_clock_over_23_and_25_hour_days(
    market: Market, utc: Utc, days: tuple[int, int, int]
) -> None:
    run = run_of(market(FIRST, LAST, shape), utc(*days, 9))
    assert run.p50 == pytest.approx([shape(ts) for ts in run.starts()], abs=0.01)


def test_saturday_sunday_and_workday_have_their_own_level(market: Market, utc: Utc) -> None:
    levels = (100.0, 60.0, 20.0)
    run = run_of(market(FIRST, LAST, lambda ts: levels[day_class(delivery_day(ts), "EE")]), utc(2024, 11, 13, 9))
    friday, saturday, sunday = (of_day(run, run.p50, date(2024, 11, day)).mean() for day in (15, 16, 17))
    assert friday > 90
    assert 50 < saturday < 75
    assert sunday < 50


def test_a_public_holiday_on_a_wednesday_is_forecast_as_a_sunday(market: Market, utc: Utc) -> None:
    levels = (100.0, 60.0, 20.0)
    run = run_of(market(FIRST, LAST, lambda ts: levels[day_class(delivery_day(ts), "EE")]), utc(2024, 4, 29, 9))
    holiday, sunday, thursday = (of_day(run, run.p50, date(2024, 5, day)).mean() for day in (1, 5, 2))
    assert holiday == pytest.approx(sunday, abs=12)
    assert thursday > 80


def test_the_forecast_follows_a_new_level_within_two_weeks(market: Market, utc: Utc) -> None:
    shift = day_start(date(2024, 5, 1))
    archive = market(FIRST, LAST, lambda ts: 150.0 if ts >= shift else 50.0)
    p50 = of_day(run := run_of(archive, utc(2024, 5, 14, 9)), run.p50, date(2024, 5, 16))
    assert (p50 > 110).all()


def test_a_spike_to_the_cap_moves_the_next_day_little(market: Market, utc: Utc) -> None:
    spike = utc(2024, 5, 15, 16)
    calm = run_of(market(FIRST, LAST, lambda _: 100.0), utc(2024, 5, 15, 9))
    spiked = run_of(market(FIRST, LAST, lambda ts: 4000.0 if ts == spike else 100.0), utc(2024, 5, 15, 9))
    assert 0 < (spiked.p50 - calm.p50).max() < 150
    assert spiked.p90.max() < 1000


def test_holes_in_the_history_are_passed_over(market: Market, utc: Utc) -> None:
    def holey(ts: int) -> float:
        return math.nan if ts // HOUR_S % 5 in {1, 2} or delivery_day(ts).day in {3, 4, 11} else shape(ts)

    run = run_of(market(FIRST, LAST, holey), utc(2024, 5, 15, 9))
    assert run.p50 == pytest.approx([shape(ts) for ts in run.starts()], abs=0.01)


def test_an_incomplete_newest_day_is_used_as_far_as_it_goes(market: Market, utc: Utc) -> None:
    cut = utc(2024, 5, 16, 6)
    run = run_of(market(FIRST, LAST, lambda ts: shape(ts) if ts < cut else math.nan), utc(2024, 5, 15, 15))
    assert run.end_ts == day_end(date(2024, 5, 23))
    assert run.p50 == pytest.approx([shape(ts) for ts in run.starts()], abs=0.01)


def test_stale_prices_still_give_the_coming_week_ever_wider(market: Market, utc: Utc) -> None:
    newest = date(2024, 5, 1)
    archive = market(FIRST, newest, wild)
    fresh, stale = run_of(archive, utc(2024, 5, 1, 9)), run_of(archive, utc(2024, 5, 8, 9))
    assert stale.start_ts == utc(2024, 5, 8, 10)
    assert stale.end_ts == day_end(date(2024, 5, 15))
    seventh = of_day(fresh, fresh.p90 - fresh.p10, date(2024, 5, 8))
    widths = np.array([of_day(stale, stale.p90 - stale.p10, date(2024, 5, day)) for day in range(9, 16)])
    assert (widths[0] > seventh).all()
    assert (np.diff(widths, axis=0) > 0).all()


def test_once_the_seven_days_past_the_newest_price_are_over_there_is_no_run(market: Market, utc: Utc) -> None:
    archive = market(FIRST, date(2024, 5, 1), wild)
    assert run_of(archive, utc(2024, 5, 8, 20, 59)).start_ts == utc(2024, 5, 8, 21)
    for late in (utc(2024, 5, 8, 21), utc(2024, 9, 1, 9)):
        assert LastWeeksMean(ESTONIA).forecast(archive.as_of(late)) is None


def test_one_day_of_history_is_repeated_in_a_wide_interval(market: Market, utc: Utc) -> None:
    run = run_of(market(date(2024, 5, 14), date(2024, 5, 14), shape), utc(2024, 5, 15, 9))
    assert run.p50 == pytest.approx([shape(ts) for ts in run.starts()], abs=0.01)
    assert (run.p90 - run.p10 > 100).all()


def test_a_few_known_hours_stand_for_all(market: Market, utc: Utc) -> None:
    start = utc(2024, 5, 14, 10)
    archive = market(FIRST, LAST, lambda ts: 40.0 if start <= ts < start + 3 * HOUR_S else math.nan)
    run = run_of(archive, utc(2024, 5, 15, 9))
    assert run.p50 == pytest.approx(np.full(run.p50.size, 40.0), abs=0.01)


def test_today_is_forecast_from_the_prior_when_its_own_prices_are_the_only_ones(market: Market, utc: Utc) -> None:
    today = date(2024, 5, 15)
    run = run_of(market(today, today, lambda _: 300.0), utc(2024, 5, 15, 9))
    assert (of_day(run, run.p50, today) == 80.0).all()
    assert (of_day(run, run.p90 - run.p10, today) > 160).all()
    assert of_day(run, run.p50, date(2024, 5, 16)) == pytest.approx(np.full(24, 300.0), abs=0.01)


def test_nothing_known_gives_no_run(market: Market, utc: Utc) -> None:
    assert LastWeeksMean(ESTONIA).forecast(market(FIRST, FIRST, shape).as_of(utc(2020, 1, 1))) is None


def test_prices_of_the_neighbours_alone_give_no_run(utc: Utc) -> None:
    prices = [KnownPrice("lv", ts, HOUR_S, ts, 50.0) for ts in hours_of(date(2024, 5, 14))]
    archive = Archive(PriceArchive.of(prices), CovariateArchive())
    assert LastWeeksMean(ESTONIA).forecast(archive.as_of(utc(2024, 5, 15, 9))) is None


def test_percentiles_keep_to_the_price_limits_they_are_given(market: Market, utc: Utc) -> None:
    archive = market(FIRST, LAST, lambda ts: wild(ts) * 3 - 60)
    run = LastWeeksMean(ESTONIA.with_limits(PriceLimits(0.0, 150.0))).forecast(archive.as_of(utc(2024, 5, 15, 9)))
    assert run is not None
    assert run.p10.min() == 0.0
    assert run.p90.max() == 150.0


def test_the_inputs_say_in_json_what_the_run_rests_on(market: Market, utc: Utc) -> None:
    run = run_of(market(date(2024, 4, 20), LAST, shape), utc(2024, 5, 15, 9))
    assert json.loads(json.dumps(run.inputs)) == {
        "zones": ["ee"],
        "newestSettledHour": utc(2024, 5, 15, 21),
        "firstDay": "2024-04-20",
        "lastDay": "2024-05-15",
        "meanDays": 26,
        "errorDays": 26,
    }


price = st.one_of(st.just(math.nan), st.floats(-500, 4000, width=32), st.sampled_from([-500.0, 0.0, 4000.0]))


@given(npst.arrays(np.float64, st.integers(1, 24 * 12), elements=price), st.integers(0, 24 * 14 * HOUR_S))
def test_whatever_is_known_no_percentile_crosses_or_passes_the_limits(prices: Floats, age_s: int) -> None:
    start = day_start(date(2024, 10, 20))
    history = PriceHistory(start + age_s, {SeriesKey("ee", HOUR_S): PriceSeries("ee", HOUR_S, start, prices)})
    run = LastWeeksMean(ESTONIA).forecast(KnownData(start + age_s, history, CovariateArchive()))
    if run is None:
        known = np.flatnonzero(~np.isnan(prices))
        assert known.size == 0 or delivery_day(start + int(known[-1]) * HOUR_S) + timedelta(days=7) < delivery_day(
            floor_hour(start + age_s) + HOUR_S
        )
        return
    assert (run.p10 >= -500).all()
    assert (run.p10 <= run.p50).all()
    assert (run.p50 <= run.p90).all()
    assert (run.p90 <= 4000).all()
    assert run.start_ts > start + age_s
    assert run.end_ts >= day_end(delivery_day(start + age_s) + timedelta(days=7))
