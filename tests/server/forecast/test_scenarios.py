"""Properties of every run's price paths, and their learning from past errors."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.support.markets.runs import run_with
from tests.support.markets.windy_market import windy_archive, with_prices
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, day_end, day_start, hours_of
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.grid import consecutive_hours, days_between
from tunnihind.forecast.known_days.price_state import to_asinh, to_eur
from tunnihind.forecast.quarters.slope import ReplayedForecasts
from tunnihind.forecast.run import Run, Runs, Scenarios
from tunnihind.forecast.scenarios.dependence import Ranks, ranks_of, ranks_of_past_errors, ranks_of_random_errors
from tunnihind.forecast.scenarios.scenarios import scenarios_of
from tunnihind.forecast.scenarios.values import scenario_values
from tunnihind.known import Archive, Floats
from tunnihind.price_series import PriceSeries

type Utc = Callable[..., int]

LIMITS = ESTONIA.limits
NEWEST = date(2025, 11, 8)
NO_PRICES = PriceSeries.of("ee", HOUR_S, {})
PRICES = st.floats(LIMITS.floor, LIMITS.cap, allow_subnormal=False)
METHODS: Final = (
    "linear",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
    "inverted_cdf",
    "averaged_inverted_cdf",
)


def hourly_run(percentiles: Floats, start_ts: int) -> Run:
    return run_with(np.sort(percentiles, axis=0), made_at=start_ts - HOUR_S, tier="prices")


def without_a_past(run: Run) -> Scenarios:
    return scenarios_of(run, NO_PRICES, ReplayedForecasts.empty(NEWEST), LIMITS)


def of_a_market(errors: Floats, leads: Floats | None = None) -> tuple[PriceSeries, ReplayedForecasts]:
    """Return prices of days up to `NEWEST`, and forecasts of them with given errors, (days, 24), asinh scale.

    The errors are the same at each lead, unless `leads` has the errors of each lead, (7, days, 24).
    """
    first = NEWEST - timedelta(days=len(errors) - 1)
    p50 = np.full(errors.shape, 80.0)
    price = to_eur(to_asinh(p50) + errors)
    hours = PriceSeries("ee", HOUR_S, day_start(first), consecutive_hours(price, days_between(first, NEWEST)))
    issued = np.stack([to_eur(to_asinh(price) - each) for each in (leads if leads is not None else [errors] * 7)])
    return hours, ReplayedForecasts(first, issued)


def ranks_after(errors: Floats, leads: Floats | None = None, *, days: range = range(1, 8)) -> Ranks:
    """Return the ranks of the paths of some days ahead after these errors."""
    hours, issued = of_a_market(errors, leads)
    ranks = ranks_of_past_errors(issued, hours, days)
    assert ranks is not None
    return ranks


def assert_goes_with(scenarios: Scenarios, run: Run) -> None:
    """Assert the promised properties of a run's paths."""
    assert scenarios.goes_with(run)
    paths = scenarios.eur_mwh
    assert paths.shape == (20, run.p50.size)
    said = np.stack([run.p10, run.p50, run.p90])
    for method in METHODS:
        assert np.abs(np.quantile(paths, [0.1, 0.5, 0.9], axis=0, method=method) - said).max() < 0.0101
    assert paths.min() >= LIMITS.floor
    assert paths.max() <= LIMITS.cap
    assert np.array_equal(paths, np.round(paths, 2))


@given(percentiles=npst.arrays(np.float64, st.tuples(st.just(3), st.integers(1, 60)), elements=PRICES))
def test_paths_have_the_percentiles_of_any_run_within_the_limits(percentiles: Floats) -> None:
    run = hourly_run(percentiles, day_start(NEWEST) + 5 * HOUR_S)
    assert_goes_with(without_a_past(run), run)


@given(percentiles=npst.arrays(np.float64, (3, 30), elements=PRICES), lowest=PRICES)
def test_values_ascend_and_the_first_goes_no_lower_than_prices_lately_did(percentiles: Floats, lowest: float) -> None:
    run = hourly_run(percentiles, day_start(NEWEST))
    values = scenario_values(run, lowest, LIMITS)
    assert (np.diff(values, axis=0) >= 0).all()
    assert (values[0] >= np.minimum(round(lowest, 2), np.maximum(run.p10 - 0.01, LIMITS.floor)) - 0.005).all()


def test_two_prices_lie_below_p10_and_two_above_p90() -> None:
    run = hourly_run(np.array([[20.0] * 24, [50.0] * 24, [100.0] * 24]), day_start(NEWEST))
    paths = without_a_past(run).eur_mwh
    assert ((paths < run.p10).sum(axis=0) == 2).all()
    assert ((paths > run.p90).sum(axis=0) == 2).all()
    assert paths.min() < 10
    assert paths.max() > 130


def test_ranks_keep_the_dependence_of_a_market_whose_errors_are_autoregressive() -> None:
    """The 20 paths of one market say little (a correlation is off by .07 at 24 h), so there are ten markets."""
    correlations = []
    for seed in range(10):
        shocks = np.random.default_rng(seed).normal(size=230 * 24)
        hourly = np.zeros(shocks.size)
        for hour in range(1, hourly.size):
            hourly[hour] = 0.97 * hourly[hour - 1] + 0.24 * shocks[hour]
        correlations.append(np.corrcoef(ranks_after(0.3 * hourly.reshape(-1, 24)).reshape(20, -1).T))
    found = np.mean(correlations, axis=0)
    for apart in (1, 6, 24, 48, 120):
        assert np.diag(found, apart).mean() == pytest.approx(0.97**apart, abs=0.12)


def test_each_hour_takes_the_error_of_its_own_lead() -> None:
    """An error of the second lead is minus the first lead's error of the day before.

    Errors of other leads are noise.
    """
    rng = np.random.default_rng(2)
    leads = 0.2 * rng.normal(size=(7, 200, 24))
    leads[1, 1:] = -leads[0, :-1]
    ranks = ranks_after(leads[0], leads)
    assert np.array_equal(ranks[:, 1], 19 - ranks[:, 0])
    assert abs(np.corrcoef(ranks[:, 2].ravel(), ranks[:, 0].ravel())[0, 1]) < 0.2


def test_settled_days_stand_before_those_ahead() -> None:
    errors = 0.2 * np.random.default_rng(3).normal(size=(200, 24))
    assert np.array_equal(ranks_after(errors, days=range(-1, 8))[:, 2:], ranks_after(errors))


@pytest.mark.parametrize("days", [160, 60, 28, 27])
def test_with_less_history_the_issues_are_nearer_until_there_are_too_few(days: int) -> None:
    hours, issued = of_a_market(np.random.default_rng(4).normal(size=(days, 24)))
    ranks = ranks_of_past_errors(issued, hours, range(1, 8))
    assert (ranks is None) == (days == 27)
    if ranks is not None:
        assert (np.sort(ranks, axis=0) == np.arange(20)[:, None, None]).all()


def test_past_forecasts_with_unknown_errors_are_passed_over() -> None:
    errors = np.random.default_rng(4).normal(size=(200, 24))
    expected = ranks_after(errors[40:])
    errors[:40] = np.nan
    assert np.array_equal(ranks_after(errors), expected)


def test_prices_that_are_days_old_have_paths_to_the_end() -> None:
    hours, issued = of_a_market(np.random.default_rng(4).normal(size=(200, 24)))
    run = hourly_run(np.array([[1.0], [2.0], [9.0]]).repeat(9 * 24, axis=1), day_start(NEWEST + timedelta(days=4)))
    assert_goes_with(scenarios_of(run, hours, issued, LIMITS), run)


def test_without_a_past_hours_are_alike_the_nearer_they_are() -> None:
    ranks = ranks_of_random_errors(2000).T
    found = {apart: np.corrcoef(ranks[:-apart].ravel(), ranks[apart:].ravel())[0, 1] for apart in (1, 6, 24, 200)}
    for apart, correlation in found.items():
        expected = 0.45 * np.exp(-apart / 2.5) + 0.55 * np.exp(-apart / 34)
        assert correlation == pytest.approx(expected, abs=0.08)


def test_of_equal_errors_the_first_has_the_lower_rank() -> None:
    assert ranks_of(np.array([[1.0], [0.0], [1.0]])).ravel().tolist() == [1, 0, 2]


@pytest.mark.parametrize(("day", "hours"), [(date(2025, 10, 26), 25), (date(2025, 3, 30), 23)])
def test_days_of_23_and_25_hours_have_paths_of_as_many(day: date, hours: int) -> None:
    run = hourly_run(np.array([[1.0], [2.0], [9.0]]).repeat(hours, axis=1), day_start(day))
    rng = np.random.default_rng(6)
    first = day - timedelta(days=200)
    prices = rng.normal(50, 20, size=(day_end(day) - day_start(first)) // HOUR_S)
    known = PriceSeries("ee", HOUR_S, day_start(first), prices)
    scenarios = scenarios_of(run, known, ReplayedForecasts(first, rng.normal(50, 20, size=(7, 200, 24))), LIMITS)
    assert_goes_with(scenarios, run)
    assert len(hours_of(day)) == hours
    if hours == 25:
        assert np.array_equal(scenarios.eur_mwh[:, 2], scenarios.eur_mwh[:, 3])


@pytest.fixture(scope="module")
def archive() -> Archive:
    return windy_archive(date(2025, 4, 1), 240)


def all_made(make: TieredForecaster, archive: Archive, as_of: int) -> tuple[Run, Scenarios]:
    runs = Runs.made_by(make, archive.as_of(as_of))
    assert runs is not None
    assert runs.scenarios is not None
    return runs.hours, runs.scenarios


def test_a_warm_forecaster_gives_the_paths_of_a_fresh_one(archive: Archive, utc: Utc) -> None:
    warm = TieredForecaster(ESTONIA)
    for as_of in (utc(2025, 10, 20, 9), utc(2025, 10, 20, 14), utc(2025, 10, 25, 22, 59), utc(2025, 10, 26, 0, 30)):
        run, scenarios = all_made(warm, archive, as_of)
        assert_goes_with(scenarios, run)
        assert scenarios.is_identical_to(all_made(TieredForecaster(ESTONIA), archive, as_of)[1])


def test_a_run_that_repeats_the_one_before_has_its_paths(archive: Archive, utc: Utc) -> None:
    make = TieredForecaster(ESTONIA)
    (before, paths), (after, again) = (all_made(make, archive, utc(2025, 10, 20, hour)) for hour in (15, 16))
    assert np.array_equal(before.p50[1:], after.p50)
    assert np.array_equal(paths.eur_mwh[:, 1:], again.eur_mwh)


def test_no_price_of_a_delivery_day_has_a_part_in_its_paths(archive: Archive, utc: Utc) -> None:
    """After the publication of tomorrow's prices, other prices would give the same paths of today and tomorrow."""
    as_of = utc(2025, 10, 20, 14)
    tomorrow = (archive.prices.ts >= day_start(date(2025, 10, 21))) & (archive.prices.ts < day_end(date(2025, 10, 21)))
    others = np.random.default_rng(1).uniform(-400, 1000, tomorrow.size)
    run, scenarios = all_made(TieredForecaster(ESTONIA), archive, as_of)
    _, other = all_made(TieredForecaster(ESTONIA), with_prices(archive, tomorrow, others), as_of)
    settled = (day_end(date(2025, 10, 21)) - run.start_ts) // HOUR_S
    assert np.array_equal(scenarios.eur_mwh[:, :settled], other.eur_mwh[:, :settled])
    assert not np.array_equal(scenarios.eur_mwh[:, settled:], other.eur_mwh[:, settled:])


def test_a_run_of_another_instant_is_refused(archive: Archive, utc: Utc) -> None:
    run, _ = all_made(TieredForecaster(ESTONIA), archive, utc(2025, 10, 20, 9))
    with pytest.raises(ValueError, match="made from other data"):
        TieredForecaster(ESTONIA).scenarios(archive.as_of(utc(2025, 10, 20, 9) + DAY_S), run)
