"""Properties of every run of quarters, with any learning."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.support.markets.quarter_market import TURNED_HOURS, quarter_archive
from tests.support.markets.runs import run_with
from tunnihind.core.market import DELIVERY_TZ, ESTONIA, HOUR_S, QUARTER_S, day_end, day_start, delivery_day
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.grid import consecutive_hours, days_between
from tunnihind.forecast.quarters.known_quarters import MIDDLES, KnownQuarters
from tunnihind.forecast.quarters.quarters import quarters_of
from tunnihind.forecast.quarters.shape import quarter_deviations
from tunnihind.forecast.quarters.slope import PRIOR_COEFFICIENTS, ReplayedForecasts, SlopeRegression
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, Floats
from tunnihind.price_series import PriceSeries

type Utc = Callable[..., int]

LIMITS = ESTONIA.limits
FIRST, LAST = date(2025, 7, 20), date(2025, 11, 21)
NOTHING_ISSUED = ReplayedForecasts.empty(FIRST)
PRICES = st.floats(LIMITS.floor, LIMITS.cap, allow_subnormal=False)


@pytest.fixture(scope="module")
def archive() -> Archive:
    return quarter_archive(FIRST, LAST)


def both_runs(archive: Archive, as_of: int) -> tuple[Run, Run]:
    forecaster, known = TieredForecaster(ESTONIA), archive.as_of(as_of)
    hourly = forecaster.forecast(known)
    assert hourly is not None
    return hourly, forecaster.forecast_quarters(known, hourly)


def hourly_run(percentiles: Floats, start_ts: int) -> Run:
    return run_with(np.sort(percentiles, axis=0), made_at=start_ts - HOUR_S, tier="prices")


def assert_goes_with(quarters: Run, hourly: Run) -> None:
    """Assert the promised properties of a run of quarters."""
    assert (quarters.made_at, quarters.tier, quarters.zone) == (hourly.made_at, hourly.tier, hourly.zone)
    assert (quarters.step_s, quarters.start_ts, quarters.end_ts) == (QUARTER_S, hourly.start_ts, hourly.end_ts)
    assert np.abs(quarters.p50.reshape(-1, 4).mean(axis=1) - hourly.p50).max() <= 0.01
    assert (quarters.p10 <= quarters.p50).all()
    assert (quarters.p50 <= quarters.p90).all()
    assert quarters.p10.min() >= LIMITS.floor
    assert quarters.p90.max() <= LIMITS.cap


@given(
    percentiles=npst.arrays(np.float64, (3, 60), elements=PRICES),
    prices=npst.arrays(np.float64, 96 * 5, elements=PRICES | st.just(np.nan)),
    start=st.integers(0, 23),
)
def test_quarters_go_with_any_hours_after_any_prices(percentiles: Floats, prices: Floats, start: int) -> None:
    first = date(2025, 11, 3)
    hourly = hourly_run(percentiles, day_start(date(2025, 11, 8)) + start * HOUR_S)
    known = KnownQuarters.of(prices.reshape(-1, 4), first)
    hours = PriceSeries("ee", HOUR_S, day_start(first), np.append(prices[:119], 1.0))
    assert_goes_with(quarters_of(hourly, hours, known, NOTHING_ISSUED, ESTONIA), hourly)


@pytest.mark.parametrize("issue", [(2025, 11, 20, 9), (2025, 11, 20, 15), (2025, 11, 20, 22, 59)])
def test_the_quarters_of_a_forecast_go_with_its_hours(archive: Archive, utc: Utc, issue: tuple[int, ...]) -> None:
    hourly, quarters = both_runs(archive, utc(*issue))
    assert_goes_with(quarters, hourly)
    assert np.abs(quarters.p50 - np.repeat(hourly.p50, 4)).max() > 1


@pytest.mark.parametrize(("day", "quarters"), [(date(2025, 10, 26), 100), (date(2026, 3, 29), 92)])
def test_days_of_92_and_100_quarters_are_forecast_whole(day: date, quarters: int, utc: Utc) -> None:
    before = day - timedelta(days=3)
    archive = quarter_archive(before - timedelta(days=70), before)
    hourly, run = both_runs(archive, utc(before.year, before.month, before.day, 9))
    assert_goes_with(run, hourly)
    assert sum(day_start(day) <= ts < day_end(day) for ts in run.starts()) == quarters


@pytest.mark.parametrize("first", [date(2025, 11, 19), date(2025, 11, 1)])
def test_after_few_days_quarters_go_with_their_hours_too(first: date, utc: Utc) -> None:
    hourly, quarters = both_runs(quarter_archive(first, LAST), utc(2025, 11, 20, 9))
    assert_goes_with(quarters, hourly)


def test_before_quarters_are_traded_they_follow_the_line_through_the_hours(utc: Utc) -> None:
    archive = quarter_archive(date(2025, 6, 1), date(2025, 9, 20))
    hourly, quarters = both_runs(archive, utc(2025, 9, 20, 9))
    assert_goes_with(quarters, hourly)
    by_hour = quarters.p50.reshape(-1, 4)[1:-1]
    assert np.corrcoef(by_hour[:, 3] - by_hour[:, 0], hourly.p50[2:] - hourly.p50[:-2])[0, 1] > 0.95


def test_an_hour_that_ran_another_way_lately_is_forecast_so(archive: Archive, utc: Utc) -> None:
    hourly, quarters = both_runs(archive, utc(2025, 11, 20, 9))
    by_hour = quarters.p50.reshape(-1, 4)
    clock = np.array([datetime.fromtimestamp(ts, DELIVERY_TZ).hour for ts in hourly.starts()])
    line = np.gradient(hourly.p50)
    missing = by_hour[:, 3] - by_hour[:, 0] - 0.75 * line
    assert missing[np.isin(clock, TURNED_HOURS)].max() < -5
    assert np.abs(np.median(missing[~np.isin(clock, TURNED_HOURS)])) < 3


def test_line_and_curve_follow_the_hours_before_and_after() -> None:
    def shape(previous: float, following: float) -> Floats:
        before, after = np.array([previous]), np.array([following])
        zero = np.zeros(1)
        quarters: Floats = quarter_deviations(
            np.array([20.0]), before, after, recent=zero, rise=zero, coefficients=PRIOR_COEFFICIENTS
        )
        return quarters.ravel()

    line, curve = np.array([-3, -1, 1, 3]) / 8, np.array([0.05, -0.05, -0.05, 0.05])
    assert shape(10, 40) == pytest.approx(15 * line + 10 * curve)
    assert shape(10, np.nan) == pytest.approx(10 * line)
    assert shape(np.nan, 40) == pytest.approx(20 * line)
    assert shape(np.nan, np.nan) == pytest.approx(np.zeros(4))


def test_a_days_first_hour_goes_on_from_the_price_before_it(archive: Archive, utc: Utc) -> None:
    as_of, day = utc(2025, 11, 20, 9), date(2025, 11, 21)
    hourly, quarters = both_runs(archive, as_of)
    hours = archive.as_of(as_of).prices.series_of("ee")
    other = replace(hours, eur_mwh=np.where(hours.starts == day_start(day) - HOUR_S, 500.0, hours.eur_mwh))
    known = KnownQuarters.until(archive.as_of(as_of).prices.series_of("ee", QUARTER_S), date(2025, 11, 20))
    moved = quarters_of(hourly, other, known, NOTHING_ISSUED, ESTONIA)
    first = (day_start(day) - quarters.start_ts) // QUARTER_S
    assert moved.p50[first] > quarters.p50[first] + 20
    assert moved.p50[first + 3] < quarters.p50[first + 3] - 20
    same = quarters_of(hourly, hours, known, NOTHING_ISSUED, ESTONIA)
    assert changed_days(same, moved) == {day}


def test_shares_are_learnt_from_past_forecasts_and_start_at_the_prior() -> None:
    rng, first, days = np.random.default_rng(5), date(2026, 3, 1), 240
    issued = ReplayedForecasts(first, np.broadcast_to(80 + 20 * rng.normal(size=(days, 24)), (7, days, 24)))
    path = issued.p50[0].ravel()
    twice_the_line = path[:, None] + 2 * np.gradient(path)[:, None] * MIDDLES
    last = first + timedelta(days=days - 1)
    quarters = consecutive_hours(twice_the_line.T.reshape(4, days, 24), days_between(first, last)).T
    learnt = SlopeRegression.of(KnownQuarters.of(quarters, first), issued, ESTONIA)
    assert learnt.coefficients_until(first - timedelta(days=1)) == pytest.approx(PRIOR_COEFFICIENTS)
    lines = [learnt.coefficients_until(first + timedelta(days=seen))[0] for seen in (0, 30, 90, days - 1)]
    assert lines == sorted(lines)
    assert 1.5 < lines[-1] < 2
    assert abs(learnt.coefficients_until(last)[1]) < PRIOR_COEFFICIENTS[1]


def test_a_fresh_forecaster_makes_the_same_quarters_of_a_run(archive: Archive, utc: Utc) -> None:
    known = archive.as_of(utc(2025, 11, 20, 15))
    forecaster = TieredForecaster(ESTONIA)
    for earlier in (utc(2025, 11, 19, 9), utc(2025, 11, 20, 9)):
        forecaster.forecast(archive.as_of(earlier))
    hourly = forecaster.forecast(known)
    assert hourly is not None
    quarters = forecaster.forecast_quarters(known, hourly)
    assert quarters.is_identical_to(TieredForecaster(ESTONIA).forecast_quarters(known, hourly))


@pytest.mark.parametrize("spread", [5.0, 40.0])
def test_quarters_of_hours_that_cover_80_percent_cover_80_percent(spread: float) -> None:
    rng, days, first = np.random.default_rng(7), 60, date(2025, 11, 1)
    hours = 100 + 30 * rng.normal(size=(days + 1) * 24)
    within = spread * rng.normal(size=(hours.size, 4))
    quarters = hours[:, None] + within - within.mean(axis=1, keepdims=True)
    known = KnownQuarters.of(quarters[: days * 24], first)
    settled = PriceSeries("ee", HOUR_S, day_start(first), hours[: days * 24])
    ahead, inside = days * 24, []
    half = NormalDist().inv_cdf(0.9) * 30
    for _ in range(40):
        came = 100 + 30 * rng.normal(size=24)
        within = spread * rng.normal(size=(24, 4))
        came_quarters = came[:, None] + within - within.mean(axis=1, keepdims=True)
        hourly = hourly_run(100 + half * np.array([[-1.0], [0], [1]]) + np.zeros(24), day_start(first) + ahead * HOUR_S)
        run = quarters_of(hourly, settled, known, NOTHING_ISSUED, ESTONIA)
        inside.append((run.p10 <= came_quarters.ravel()) & (came_quarters.ravel() <= run.p90))
    assert 0.77 <= np.mean(inside) <= 0.83


def changed_days(before: Run, after: Run) -> set[date]:
    pairs = [(before.p10, after.p10), (before.p50, after.p50), (before.p90, after.p90)]
    changed = np.flatnonzero(np.any([one != other for one, other in pairs], axis=0))
    return {delivery_day(before.start_ts + int(row) * before.step_s) for row in changed}


@pytest.mark.parametrize("day", [date(2025, 11, 20), date(2025, 11, 21)])
def test_a_delivery_days_own_prices_change_nothing_of_its_quarters(archive: Archive, utc: Utc, day: date) -> None:
    as_of = utc(2025, 11, 20, 15)
    _, quarters = both_runs(archive, as_of)
    for zones in (range(1), range(1, 4), range(4)):
        _, tampered = both_runs(quarter_archive(FIRST, LAST, noisy_day=day, noisy_zones=zones), as_of)
        changed = changed_days(quarters, tampered)
        assert day not in changed
        assert day + timedelta(days=1) in changed


def test_the_shape_of_a_days_quarters_changes_nothing_of_that_day(archive: Archive, utc: Utc) -> None:
    as_of, day = utc(2025, 11, 20, 15), date(2025, 11, 20)
    hourly, quarters = both_runs(archive, as_of)
    same_hours, tampered = both_runs(quarter_archive(FIRST, LAST, reversed_day=day), as_of)
    assert changed_days(hourly, same_hours) == set()
    changed = changed_days(quarters, tampered)
    assert day not in changed
    assert day + timedelta(days=1) in changed


def test_a_run_of_another_instant_is_refused(archive: Archive, utc: Utc) -> None:
    forecaster = TieredForecaster(ESTONIA)
    hourly = forecaster.forecast(archive.as_of(utc(2025, 11, 20, 9)))
    assert hourly is not None
    with pytest.raises(ValueError, match="was made from other data"):
        forecaster.forecast_quarters(archive.as_of(utc(2025, 11, 20, 10)), hourly)
