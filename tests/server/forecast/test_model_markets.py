"""The model on difficult days: clock changes, spikes, zeros, gaps, late prices."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.markets.windy_market import archive_of, with_prices
from tunnihind.core.market import DELIVERY_TZ, ESTONIA, HOUR_S, day_end, day_start, delivery_day
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, Floats

type Utc = Callable[..., int]
type Rule = Callable[[NDArray[np.int64]], Floats]

FIRST, LAST = date(2024, 1, 10), date(2024, 5, 20)


def clock_hours(ts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([datetime.fromtimestamp(int(one), DELIVERY_TZ).hour for one in ts])


def calm(ts: NDArray[np.int64]) -> Floats:
    noise = np.sin(ts * 12.9898) * 43758.5453
    price: Floats = 80 + 30 * np.sin(clock_hours(ts) / 24 * 2 * np.pi) + 10 * (noise - np.floor(noise))
    return price


def run_of(archive: Archive, as_of: int) -> Run:
    run = TieredForecaster(ESTONIA).forecast(archive.as_of(as_of))
    assert run is not None
    values = np.stack([run.p10, run.p50, run.p90])
    assert np.isfinite(values).all()
    assert (np.diff(values, axis=0) >= 0).all()
    assert (values >= -500).all()
    assert (values <= 4000).all()
    return run


def market(rule: Rule, last: date = LAST) -> Archive:
    return archive_of(FIRST, last, rule)


def of_day(run: Run, values: Floats, day: date) -> Floats:
    hours = (np.arange(day_start(day), day_end(day), HOUR_S) - run.start_ts) // HOUR_S
    inside: Floats = values[hours[hours >= 0]]
    return inside


@pytest.mark.parametrize("day", [28, 31])
def test_the_daily_shape_keeps_to_the_clock_over_the_change_to_summer_time(utc: Utc, day: int) -> None:
    run = run_of(market(calm), utc(2024, 3, day, 9))
    assert run.end_ts == day_end(date(2024, 3, day) + timedelta(days=7))
    assert run.p50 == pytest.approx(calm(np.array(run.starts())), abs=14)


def test_the_25_hour_day_has_25_hours_and_the_hour_it_repeats_twice(utc: Utc) -> None:
    archive = archive_of(date(2024, 7, 1), date(2024, 10, 26), calm)
    run = run_of(archive, utc(2024, 10, 24, 9))
    assert run.end_ts == day_end(date(2024, 10, 31))
    doubled = of_day(run, run.p50, date(2024, 10, 27))
    assert doubled.size == 25
    assert doubled[2] == doubled[3]


def test_a_spike_to_the_cap_does_not_carry_into_the_next_days(utc: Utc) -> None:
    spike = utc(2024, 5, 15, 16)
    run = run_of(market(lambda ts: np.where(ts == spike, 4000.0, calm(ts))), utc(2024, 5, 15, 9))
    assert of_day(run, run.p50, date(2024, 5, 16)).max() < 400
    assert of_day(run, run.p50, date(2024, 5, 20)).max() < 200


def test_zero_prices_at_midday_are_forecast_with_a_narrow_interval_there(utc: Utc) -> None:
    def sunny(ts: NDArray[np.int64]) -> Floats:
        return np.where((clock_hours(ts) >= 11) & (clock_hours(ts) < 16), 0.0, calm(ts))

    run = run_of(market(sunny), utc(2024, 5, 15, 9))
    day = date(2024, 5, 17)
    assert np.abs(of_day(run, run.p50, day)[12:15]).max() < 3
    assert of_day(run, run.p90 - run.p10, day)[13] < of_day(run, run.p90 - run.p10, day)[3]


def test_negative_prices_are_forecast(utc: Utc) -> None:
    run = run_of(market(lambda ts: calm(ts) - 150), utc(2024, 5, 15, 9))
    assert (run.p50 < 0).all()


def test_holes_in_the_history_are_passed_over(utc: Utc) -> None:
    def holey(ts: NDArray[np.int64]) -> Floats:
        return np.where((ts // HOUR_S % 37 == 0) & (ts < day_start(date(2024, 5, 14))), np.nan, calm(ts))

    run = run_of(market(holey), utc(2024, 5, 15, 9))
    assert run.p50 == pytest.approx(calm(np.array(run.starts())), abs=20)


@pytest.mark.parametrize(
    ("hole", "resumed", "tier"),
    [
        (date(2024, 1, 20), date(2024, 2, 20), "prices"),
        (date(2024, 1, 20), date(2024, 5, 15), "last-weeks-mean"),
        (date(2024, 2, 1), date(2024, 5, 15), "prices"),
    ],
)
def test_after_a_hole_of_months_prices_of_some_weeks_before_it_are_enough_to_go_on(
    utc: Utc, hole: date, resumed: date, tier: str
) -> None:
    def holey(ts: NDArray[np.int64]) -> Floats:
        return np.where((ts >= day_start(hole)) & (ts < day_start(resumed)), np.nan, calm(ts))

    assert run_of(market(holey, date(2024, 5, 16)), utc(2024, 5, 15, 14)).tier == tier


def test_a_hole_today_costs_a_day_of_lead_and_no_hour_of_the_run(utc: Utc) -> None:
    hole = utc(2024, 5, 15, 4)
    run = run_of(market(lambda ts: np.where(ts == hole, np.nan, calm(ts))), utc(2024, 5, 15, 9))
    assert run.inputs["lastDay"] == "2024-05-14"
    assert (run.start_ts, run.end_ts) == (utc(2024, 5, 15, 10), day_end(date(2024, 5, 22)))


def test_tomorrow_half_published_is_not_settled_and_the_run_reaches_past_it(utc: Utc) -> None:
    cut = utc(2024, 5, 16, 6)
    run = run_of(market(lambda ts: np.where(ts < cut, calm(ts), np.nan)), utc(2024, 5, 15, 15))
    assert run.inputs["lastDay"] == "2024-05-15"
    assert run.end_ts == day_end(date(2024, 5, 23))


@pytest.mark.parametrize("days", [1, 3, 6])
def test_prices_that_are_days_late_still_give_the_coming_week_ever_wider(utc: Utc, days: int) -> None:
    archive = market(calm, date(2024, 5, 15) - timedelta(days=days))
    run = run_of(archive, utc(2024, 5, 15, 9))
    assert run.tier != "last-weeks-mean"
    assert (run.start_ts, run.end_ts) == (utc(2024, 5, 15, 10), day_end(date(2024, 5, 22)))
    widths = [of_day(run, run.p90 - run.p10, date(2024, 5, day)).mean() for day in range(16, 23)]
    # p10 stops at the lowest likely price, so the width of the interval also depends a little on p50.
    assert (np.diff(widths) >= -0.02 * widths[0]).all()


def test_prices_a_week_late_leave_the_mean_of_the_last_weeks(utc: Utc) -> None:
    run = run_of(market(calm, date(2024, 5, 8)), utc(2024, 5, 15, 9))
    assert run.tier == "last-weeks-mean"
    assert run.end_ts == day_end(date(2024, 5, 22))


def test_the_neighbours_need_not_be_known(utc: Utc) -> None:
    archive = market(calm)
    own = archive.prices.zone == 0
    estonia = with_prices(archive, ~own, np.full(own.shape, np.nan))
    run = run_of(estonia, utc(2024, 5, 15, 9))
    assert run.inputs["zones"] == ["ee"]


def test_a_link_that_fails_and_parts_the_prices_of_two_zones_is_followed(utc: Utc) -> None:
    failure = day_start(date(2024, 5, 1))
    run = run_of(market(lambda ts: np.where(ts >= failure, calm(ts) + 90, calm(ts))), utc(2024, 5, 15, 9))
    assert of_day(run, run.p50, date(2024, 5, 17)).mean() > 145


@pytest.fixture(scope="module")
def warm() -> tuple[TieredForecaster, Archive]:
    return TieredForecaster(ESTONIA), market(calm)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hour=st.integers(0, 24 * 14), minute=st.integers(0, 59))
def test_at_any_instant_every_hour_to_come_is_covered(
    warm: tuple[TieredForecaster, Archive], hour: int, minute: int
) -> None:
    forecaster, archive = warm
    as_of = day_start(date(2024, 3, 24)) + hour * HOUR_S + minute * 60
    known = archive.as_of(as_of)
    run = forecaster.forecast(known)
    newest = known.prices.series_of("ee").newest_day
    assert run is not None
    assert newest is not None
    assert run.start_ts == as_of // HOUR_S * HOUR_S + HOUR_S
    assert run.end_ts == day_end(max(newest, delivery_day(as_of)) + timedelta(days=7))


def test_another_zone_is_forecast_from_its_own_prices_and_neighbours(utc: Utc) -> None:
    latvia = replace(ESTONIA, zone="lv", neighbours=("lt", "ee"))
    archive, as_of = market(calm), utc(2024, 5, 15, 9)
    run = TieredForecaster(latvia).forecast(archive.as_of(as_of))
    assert run is not None
    assert run.zone == "lv"
    assert run.inputs["zones"] == ["lv", "lt", "ee"]
    assert run.p50 == pytest.approx(calm(np.array(run.starts())), abs=14)
