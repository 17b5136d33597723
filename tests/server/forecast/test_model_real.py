"""The model on real history, on machines that have some."""

import csv
import gzip
from collections import defaultdict
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, ZONES, day_start, delivery_day, publication_time
from tunnihind.forecast.forecaster import TieredForecaster
from tunnihind.forecast.scoring.backtest import BacktestResult, backtest
from tunnihind.known import Archive, CovariateArchive, IssuedSeries, KnownPrice, PriceArchive

DATA = Path(__file__).parents[3] / "../shared/data"
SINCE, FIRST, LAST = date(2024, 9, 1), date(2025, 5, 1), date(2025, 5, 7)
"""A week. The whole year takes a minute, and the command line runs it."""

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="needs the real history in ../shared")


def prices() -> PriceArchive:
    with (DATA / "prices_hourly.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if day_start(SINCE) <= int(row["ts"]) < day_start(LAST) + 8 * DAY_S]
    return PriceArchive.of(
        KnownPrice(zone, ts, HOUR_S, publication_time(delivery_day(ts)), float(row[zone]))
        for row in rows
        for ts in (int(row["ts"]),)
        for zone in ZONES
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
def result() -> BacktestResult:
    archive = Archive(prices(), CovariateArchive({"fi_wind_mw": wind()}))
    return backtest(archive, TieredForecaster(ESTONIA), FIRST, LAST)


def test_the_model_keeps_its_skill_on_a_week_of_2025(result: BacktestResult) -> None:
    by_lead = result.scores_by_lead()
    assert [scores.n for scores in by_lead.values()] == [7 * 24] * 7
    assert by_lead[1].skill > 0.2
    assert result.scores().skill > 0.1


def test_its_interval_covers_and_widens_on_a_week_of_2025(result: BacktestResult) -> None:
    assert 0.65 < result.scores().coverage80 < 0.95
    widths = [scores.width for scores in result.scores_by_lead().values()]
    assert (np.diff(widths) > -1.0).all()
