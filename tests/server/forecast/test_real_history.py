import csv
from datetime import date
from pathlib import Path

import pytest

from tunnihind.core.market import ESTONIA, HOUR_S, delivery_day, publication_time
from tunnihind.forecast.last_weeks_mean import LastWeeksMean
from tunnihind.forecast.scoring.backtest import BacktestResult, backtest
from tunnihind.known import Archive, CovariateArchive, KnownPrice, PriceArchive

PRICES = Path(__file__).parents[3] / "../shared/data/prices_hourly.csv"

pytestmark = pytest.mark.skipif(not PRICES.exists(), reason="needs the real history in ../shared")


@pytest.fixture(scope="module")
def result() -> BacktestResult:
    with PRICES.open() as file:
        rows = [(int(row["ts"]), row["ee"]) for row in csv.DictReader(file)]
    prices = [
        KnownPrice("ee", ts, HOUR_S, publication_time(delivery_day(ts)), float(price)) for ts, price in rows if price
    ]
    archive = Archive(PriceArchive.of(prices), CovariateArchive())
    return backtest(archive, LastWeeksMean(ESTONIA), date(2025, 1, 1), date(2025, 12, 31))


def test_the_fallback_keeps_its_skill_against_the_last_week_in_2025(result: BacktestResult) -> None:
    by_lead = result.scores_by_lead()
    assert [scores.n for scores in by_lead.values()] == [8760] * 7
    assert by_lead[1].skill > 0.25
    assert by_lead[7].skill > 0.20
    assert result.scores().skill > 0.22


def test_the_fallbacks_interval_covers_80_percent_of_2025_at_every_lead(result: BacktestResult) -> None:
    assert all(0.79 < scores.coverage80 < 0.83 for scores in result.scores_by_lead().values())
    widths = [scores.width for scores in result.scores_by_lead().values()]
    assert widths == sorted(widths)
