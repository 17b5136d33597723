"""Data that must not affect a forecast of the model does not change a single bit."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.markets.windy_market import windy_archive, with_prices
from tunnihind.core.market import ESTONIA, HOUR_S, day_end, day_start, delivery_day
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.forecast.run import Run
from tunnihind.known import Archive, CovariateArchive, IssuedSeries

type Utc = Callable[..., int]

FIRST, DAYS = date(2025, 7, 1), 149
TODAY = date(2025, 11, 20)
BEFORE_PUBLICATION, AFTER_PUBLICATION = (2025, 11, 20, 9), (2025, 11, 20, 15)


@pytest.fixture(scope="module")
def archive() -> Archive:
    return windy_archive(FIRST, DAYS)


def run_of(archive: Archive, as_of: int) -> Run:
    run = TieredForecaster(ESTONIA).forecast(archive.as_of(as_of))
    assert run is not None
    return run


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


@pytest.mark.parametrize("issue", [BEFORE_PUBLICATION, AFTER_PUBLICATION])
def test_what_becomes_known_after_the_issue_changes_no_bit(archive: Archive, utc: Utc, issue: tuple[int, ...]) -> None:
    as_of = utc(*issue)
    tampered = noisy_covariates(noisy_prices(archive, archive.prices.known_ts > as_of), as_of)
    assert changed_days(run_of(archive, as_of), run_of(tampered, as_of)) == set()
    later = as_of + 2 * 86400
    assert changed_days(run_of(archive, later), run_of(tampered, later))


@pytest.mark.parametrize("issue", [BEFORE_PUBLICATION, AFTER_PUBLICATION])
def test_todays_prices_of_any_zone_change_nothing_of_todays_forecast(
    archive: Archive, utc: Utc, issue: tuple[int, ...]
) -> None:
    rows = (archive.prices.ts >= day_start(TODAY)) & (archive.prices.ts < day_end(TODAY))
    changed = changed_days(run_of(archive, utc(*issue)), run_of(noisy_prices(archive, rows), utc(*issue)))
    assert TODAY not in changed
    assert TODAY + timedelta(days=1) in changed


def test_settled_tomorrow_changes_nothing_of_its_own_forecast_nor_of_todays(archive: Archive, utc: Utc) -> None:
    tomorrow = TODAY + timedelta(days=1)
    rows = (archive.prices.ts >= day_start(tomorrow)) & (archive.prices.ts < day_end(tomorrow))
    as_of = utc(*AFTER_PUBLICATION)
    changed = changed_days(run_of(archive, as_of), run_of(noisy_prices(archive, rows), as_of))
    assert changed == set(days_between(date(2025, 11, 22), date(2025, 11, 28)))


def test_the_forecast_of_a_settled_day_is_the_one_issued_before_it_was_known(archive: Archive, utc: Utc) -> None:
    tomorrow = TODAY + timedelta(days=1)
    before, after = (run_of(archive, utc(*issue)) for issue in (BEFORE_PUBLICATION, AFTER_PUBLICATION))
    early, late = (run.p50[(day_start(tomorrow) - run.start_ts) // HOUR_S :][:24] for run in (before, after))
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
