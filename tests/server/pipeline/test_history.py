"""The history that a process keeps between two forecasts, and the changes after which it reads the history again."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.support.clocks import local
from tests.support.store.stores import store_quotes
from tests.support.upstreams.sources import estonian_quotes
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, PriceLimits
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.scoring.backtest import SCORE_DAYS
from tunnihind.known import Archive, IssuedSeries
from tunnihind.pipeline.history import ArchiveCache
from tunnihind.pipeline.modelling import ProcessModeller, make_runs, process_modeller
from tunnihind.pipeline.retention import delete_superfluous
from tunnihind.store.store import Store

NOW = local("2025-12-15 10:00")
TODAY = date(2025, 12, 15)
NAME = "ee_wind_mw"
FORECASTER = TieredForecaster(ESTONIA)


@pytest.fixture
def filled(store: Store) -> Store:
    """Return a store with a hundred days of prices and a forecast of wind."""
    store_quotes(store, estonian_quotes(TODAY - timedelta(days=100), TODAY), NOW)
    store.covariates.add({NAME: [wind(1.0)]})
    return store


def wind(level: float, issued_ts: int = NOW - HOUR_S) -> IssuedSeries:
    return IssuedSeries(issued_ts, issued_ts, np.full(48, level, np.float32))


def levels(archive: Archive) -> list[float]:
    return [float(issue.values[0]) for issue in archive.covariates.series[NAME]]


def test_while_nothing_is_added_the_history_is_read_once(filled: Store) -> None:
    history = ArchiveCache()
    first = history.read_archive(filled, FORECASTER, NOW)
    assert history.read_archive(filled, FORECASTER, NOW + HOUR_S) is first


def test_the_history_of_the_oldest_day_that_is_scored_serves_all_of_them(filled: Store) -> None:
    history = ArchiveCache()
    first = history.read_archive(filled, FORECASTER, NOW - SCORE_DAYS * DAY_S)
    assert all(history.read_archive(filled, FORECASTER, NOW - days * DAY_S) is first for days in range(SCORE_DAYS))


def test_new_prices_are_seen_at_once(filled: Store) -> None:
    history = ArchiveCache()
    before = history.read_archive(filled, FORECASTER, NOW)
    store_quotes(filled, estonian_quotes(TODAY + timedelta(days=1), TODAY + timedelta(days=1)), NOW + 1)
    after = history.read_archive(filled, FORECASTER, NOW)
    assert after.prices.ts.max() == before.prices.ts.max() + DAY_S


def test_a_corrected_price_is_seen_at_once(filled: Store) -> None:
    history = ArchiveCache()
    history.read_archive(filled, FORECASTER, NOW)
    store_quotes(filled, estonian_quotes(TODAY, TODAY, level=75.0), NOW + 1)
    assert history.read_archive(filled, FORECASTER, NOW).prices.eur_mwh.max() > 70


def test_a_new_forecast_of_a_covariate_is_seen_at_once(filled: Store) -> None:
    history = ArchiveCache()
    history.read_archive(filled, FORECASTER, NOW)
    filled.covariates.add({NAME: [wind(2.0, NOW)]})
    assert levels(history.read_archive(filled, FORECASTER, NOW)) == [1.0, 2.0]


def test_a_forecast_that_is_given_anew_with_other_values_is_seen_at_once(filled: Store) -> None:
    history = ArchiveCache()
    history.read_archive(filled, FORECASTER, NOW)
    filled.covariates.add({NAME: [wind(3.0)]})
    assert levels(history.read_archive(filled, FORECASTER, NOW)) == [3.0]


def test_what_has_been_thinned_out_is_no_longer_seen(filled: Store) -> None:
    old = NOW - 70 * DAY_S
    filled.covariates.add({NAME: [wind(float(n), old + n * HOUR_S) for n in range(4, 8)]})
    history = ArchiveCache()
    assert levels(history.read_archive(filled, FORECASTER, NOW)) == [4.0, 5.0, 6.0, 7.0, 1.0]
    delete_superfluous(filled, NOW)
    assert len(levels(history.read_archive(filled, FORECASTER, NOW))) < 5


def test_an_earlier_instant_gets_the_history_that_it_needs(filled: Store) -> None:
    history, past = ArchiveCache(), NOW - 60 * DAY_S
    assert (
        history.read_archive(filled, FORECASTER, NOW + (FORECASTER.history_days + 4) * DAY_S).prices.ts.min()
        > NOW - 12 * DAY_S
    )
    assert history.read_archive(filled, FORECASTER, past).prices.ts.min() < NOW - 99 * DAY_S


def test_another_store_is_not_taken_for_the_last_one(filled: Store, tmp_path: Path) -> None:
    history = ArchiveCache()
    history.read_archive(filled, FORECASTER, NOW)
    with Store(f"sqlite:///{tmp_path / 'other.db'}") as other:
        assert history.read_archive(other, FORECASTER, NOW).prices.ts.size == 0


def test_the_price_limits_of_the_settings_bound_the_run(filled: Store) -> None:
    free, bound = make_runs(filled, NOW, ESTONIA), make_runs(filled, NOW, ESTONIA.with_limits(PriceLimits(48.0, 52.0)))
    assert free is not None
    assert bound is not None
    for run, limited in ((free.hours, bound.hours), (free.by_step[QUARTER_S], bound.by_step[QUARTER_S])):
        assert run.p10.min() < 48
        assert run.p90.max() > 52
        assert (limited.p10 >= 48).all()
        assert limited.p90.max() == 52


async def test_the_price_limits_reach_the_process_that_makes_the_runs(filled: Store, database: Path) -> None:
    async with process_modeller(f"sqlite:///{database}") as modeller:
        assert isinstance(modeller, ProcessModeller)
        runs = await modeller.runs(ESTONIA.with_limits(PriceLimits(48.0, 52.0)), NOW)
    assert runs is not None
    for run in (runs.hours, runs.by_step[QUARTER_S]):
        assert (run.p10 >= 48).all()
        assert run.p90.max() == 52
