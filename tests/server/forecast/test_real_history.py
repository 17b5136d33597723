"""The model and its fallback on real history, on machines that have some."""

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from tunnihind.core.market import ESTONIA, HOUR_S, ZONES, Zone, day_start, delivery_day, publication_time
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.scoring.backtest import BacktestResult, backtest
from tunnihind.known import Archive, CovariateArchive, IssuedSeries, KnownPrice, PriceArchive

DATA = Path(__file__).parents[3] / "../shared/data"
FIRST, LAST = date(2025, 5, 1), date(2025, 5, 7)
"""A week for the model. The whole year takes a minute, and the command line runs it."""

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs the real history in ../shared")


def prices(zones: Sequence[Zone], since: date, until: date) -> PriceArchive:
    with (DATA / "prices_hourly.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if day_start(since) <= int(row["ts"]) < day_start(until)]
    return PriceArchive.of(
        KnownPrice(zone, ts, HOUR_S, publication_time(delivery_day(ts)), float(row[zone]))
        for row in rows
        for ts in (int(row["ts"]),)
        for zone in zones
        if row[zone]
    )


def wind() -> tuple[IssuedSeries, ...]:
    issues: dict[int, dict[int, float]] = defaultdict(dict)
    with gzip.open(DATA / "fi_wind_forecast_asof.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            issues[int(row["issued_ts"])][int(row["target_ts"])] = float(row["fi_wind_mw"])
    series = []
    for issued, values in sorted(issues.items()):
        start = min(values)
        hours = range(start, max(values) + HOUR_S, HOUR_S)
        series.append(IssuedSeries(issued, start, np.array([values.get(ts, np.nan) for ts in hours], np.float32)))
    return tuple(series)


@pytest.fixture(scope="module")
def of_model() -> BacktestResult:
    known = prices(ZONES, date(2024, 9, 1), date(2025, 5, 15))
    archive = Archive(known, CovariateArchive({"fi_wind_mw": wind()}))
    return backtest(archive, TieredForecaster(ESTONIA), FIRST, LAST)


@pytest.fixture(scope="module")
def of_fallback() -> BacktestResult:
    archive = Archive(prices(["ee"], date(2020, 1, 1), date(2026, 1, 15)), CovariateArchive())
    return backtest(archive, LastWeeksMean(ESTONIA), date(2025, 1, 1), date(2025, 12, 31))


def test_the_model_keeps_its_skill_on_a_week_of_2025(of_model: BacktestResult) -> None:
    by_lead = of_model.scores_by_lead()
    assert [scores.n for scores in by_lead.values()] == [7 * 24] * 7
    assert by_lead[1].skill > 0.2
    assert of_model.scores().skill > 0.1


def test_the_models_interval_covers_and_widens_on_a_week_of_2025(of_model: BacktestResult) -> None:
    assert 0.65 < of_model.scores().coverage80 < 0.95
    widths = [scores.width for scores in of_model.scores_by_lead().values()]
    assert (np.diff(widths) > -1.0).all()


def test_the_fallback_keeps_its_skill_against_the_last_week_in_2025(of_fallback: BacktestResult) -> None:
    by_lead = of_fallback.scores_by_lead()
    assert [scores.n for scores in by_lead.values()] == [8760] * 7
    assert by_lead[1].skill > 0.25
    assert by_lead[7].skill > 0.20
    assert of_fallback.scores().skill > 0.22


def test_the_fallbacks_interval_covers_80_percent_of_2025_at_every_lead(of_fallback: BacktestResult) -> None:
    by_lead = of_fallback.scores_by_lead().values()
    assert all(0.79 < scores.coverage80 < 0.83 for scores in by_lead)
    widths = [scores.width for scores in by_lead]
    assert widths == sorted(widths)
