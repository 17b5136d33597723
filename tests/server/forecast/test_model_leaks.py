"""Data that must not affect a forecast of the model or of its fallback does not change a single bit."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.markets.windy_market import windy_archive, with_prices
from tunnihind.core.market import ESTONIA, HOUR_S, Market, day_end, day_start, delivery_day
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.run import Forecaster, Run
from tunnihind.known import Archive, CovariateArchive, IssuedSeries

type Utc = Callable[..., int]
type Make = Callable[[Market], Forecaster]

FIRST, DAYS = date(2025, 7, 1), 149
TODAY, TOMORROW = date(2025, 11, 20), date(2025, 11, 21)
BEFORE_PUBLICATION, AFTER_PUBLICATION = (2025, 11, 20, 9), (2025, 11, 20, 15)

each_forecaster = pytest.mark.parametrize("make", [TieredForecaster, LastWeeksMean])


@pytest.fixture(scope="module")
def archive() -> Archive:
    return windy_archive(FIRST, DAYS)


def run_of(archive: Archive, as_of: int, make: Make = TieredForecaster) -> Run:
    run = make(ESTONIA).forecast(archive.as_of(as_of))
    assert run is not None
    return run


def rows_of_day(archive: Archive, day: date) -> NDArray[np.bool_]:
    rows: NDArray[np.bool_] = (archive.prices.ts >= day_start(day)) & (archive.prices.ts < day_end(day))
    return rows


def noisy_prices(archive: Archive, rows: NDArray[np.bool_]) -> Archive:
    return with_prices(archive, rows, np.random.default_rng(11).uniform(-500, 4000, archive.prices.ts.size))


def noisy_covariates(archive: Archive, after: int) -> Archive:
    rng = np.random.default_rng(12)

    def tampered(issue: IssuedSeries) -> IssuedSeries:
        if issue.issued_ts <= after:
            return issue
        return replace(issue, values=rng.uniform(0, 50_000, issue.values.size).astype(np.float32))

    series = {name: tuple(map(tampered, issues)) for name, issues in archive.covariates.series.items()}
    return replace(archive, covariates=CovariateArchive(series))


def changed_days(before: Run, after: Run) -> set[date]:
    assert before.start_ts == after.start_ts
    pairs = [(before.p10, after.p10), (before.p50, after.p50), (before.p90, after.p90)]
    changed = np.flatnonzero(np.any([one != other for one, other in pairs], axis=0))
    return {delivery_day(before.start_ts + int(hour) * HOUR_S) for hour in changed}


@pytest.mark.parametrize(
    ("make", "issue"),
    [
        (TieredForecaster, BEFORE_PUBLICATION),
        (TieredForecaster, AFTER_PUBLICATION),
        (LastWeeksMean, BEFORE_PUBLICATION),
        (LastWeeksMean, AFTER_PUBLICATION),
        (LastWeeksMean, (2025, 10, 26, 9)),
        (LastWeeksMean, (2025, 10, 1, 9)),
    ],
)
def test_what_becomes_known_after_the_issue_changes_no_bit(
    archive: Archive, utc: Utc, make: Make, issue: tuple[int, ...]
) -> None:
    as_of = utc(*issue)
    tampered = noisy_covariates(noisy_prices(archive, archive.prices.known_ts > as_of), as_of)
    assert changed_days(run_of(archive, as_of, make), run_of(tampered, as_of, make)) == set()
    later = as_of + 2 * 86400
    assert changed_days(run_of(archive, later, make), run_of(tampered, later, make))


@each_forecaster
@pytest.mark.parametrize("issue", [BEFORE_PUBLICATION, AFTER_PUBLICATION])
def test_todays_prices_of_any_zone_change_nothing_of_todays_forecast(
    archive: Archive, utc: Utc, make: Make, issue: tuple[int, ...]
) -> None:
    as_of, tampered = utc(*issue), noisy_prices(archive, rows_of_day(archive, TODAY))
    changed = changed_days(run_of(archive, as_of, make), run_of(tampered, as_of, make))
    assert TODAY not in changed
    assert TODAY + timedelta(days=1) in changed


@each_forecaster
def test_settled_tomorrow_changes_nothing_of_its_own_forecast_nor_of_todays(
    archive: Archive, utc: Utc, make: Make
) -> None:
    as_of, tampered = utc(*AFTER_PUBLICATION), noisy_prices(archive, rows_of_day(archive, TOMORROW))
    changed = changed_days(run_of(archive, as_of, make), run_of(tampered, as_of, make))
    assert changed == set(days_between(date(2025, 11, 22), date(2025, 11, 28)))


@pytest.mark.parametrize(("make", "names"), [(TieredForecaster, ["p50"]), (LastWeeksMean, ["p10", "p50", "p90"])])
def test_the_forecast_of_a_settled_day_is_the_one_issued_before_it_was_known(
    archive: Archive, utc: Utc, make: Make, names: list[str]
) -> None:
    runs = [run_of(archive, utc(*issue), make) for issue in (BEFORE_PUBLICATION, AFTER_PUBLICATION)]
    for name in names:
        early, late = (getattr(run, name)[(day_start(TOMORROW) - run.start_ts) // HOUR_S :][:24] for run in runs)
        assert early == pytest.approx(late, abs=0.011)


def test_a_price_planted_as_a_covariate_of_the_future_moves_nothing(archive: Archive, utc: Utc) -> None:
    as_of = utc(*BEFORE_PUBLICATION)
    truth = archive.prices.newest_versions().series_of("ee")
    day_long = 24 * HOUR_S
    planted = tuple(
        IssuedSeries(as_of + 1, start, truth.between(start, start + 9 * day_long).eur_mwh.astype(np.float32))
        for start in range(truth.start_ts, as_of, day_long)
    )
    tampered = replace(archive, covariates=CovariateArchive({**archive.covariates.series, "ee_load_mw": planted}))
    assert changed_days(run_of(archive, as_of), run_of(tampered, as_of)) == set()


def test_observed_weather_is_no_forecast_and_is_not_used(archive: Archive, utc: Utc) -> None:
    as_of = utc(*BEFORE_PUBLICATION)
    issues = archive.covariates.series["fi_wind_mw"]
    observed = tuple(IssuedSeries(i.start_ts + i.values.size * HOUR_S, i.start_ts, i.values) for i in issues)
    with_observed = replace(archive, covariates=CovariateArchive({"fi_wind_mw": observed}))
    without = replace(archive, covariates=CovariateArchive({}))
    run = run_of(with_observed, as_of)
    assert run.tier == "prices"
    assert changed_days(run, run_of(without, as_of)) == set()
    assert run.inputs["ignored"] == ["fi_wind_mw"]
