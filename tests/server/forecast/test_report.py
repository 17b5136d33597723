import math
from collections.abc import Callable
from datetime import date

import numpy as np
import pytest

from tunnihind.core.market import ESTONIA, day_end, day_start
from tunnihind.forecast.scoring.backtest import BacktestForecasts, BacktestResult
from tunnihind.forecast.scoring.report import BacktestReport
from tunnihind.known import Floats, Instants

type Utc = Callable[..., int]


def hours_between(first: date, last: date) -> Instants:
    return np.arange(day_start(first), day_end(last), 3600)


def result_of(
    targets: Instants, actual: Floats, *, p50: float = 0.0, baseline: float = 50.0, mean: float = 40.0, lead: int = 1
) -> BacktestResult:
    same = np.full(targets.shape, 1.0)
    issued = BacktestForecasts(
        issued_ts=targets - 86_400,
        target_ts=targets,
        lead_days=np.full(targets.shape, lead),
        p10=same * (p50 - 10),
        p50=same * p50,
        p90=same * (p50 + 10),
        seven_day_mean=same * mean,
    )
    return BacktestResult(issued, actual, same * baseline)


def test_months_are_those_of_the_delivery_day_not_of_the_estonian_one(utc: Utc) -> None:
    # 22:00 UTC of 30 April is 00:00 of 1 May in Brussels. An hour earlier, it is already May in Estonia.
    targets = np.array([utc(2024, 4, 30, 21), utc(2024, 4, 30, 22)])
    report = BacktestReport.of(result_of(targets, np.array([5.0, 7.0])), ESTONIA)
    assert {month: scores.mae for month, scores in report.months.items()} == {"2024-04": 5, "2024-05": 7}


def test_months_of_different_years_stay_apart(utc: Utc) -> None:
    targets = np.array([utc(2025, 1, 10), utc(2024, 1, 10), utc(2024, 11, 10)])
    report = BacktestReport.of(result_of(targets, np.ones(3)), ESTONIA)
    assert list(report.months) == ["2024-01", "2024-11", "2025-01"]


def test_hours_are_those_of_the_estonian_clock_in_winter_and_in_summer(utc: Utc) -> None:
    targets = np.array([utc(2024, 1, 10, 16), utc(2024, 7, 10, 15), utc(2024, 7, 10, 21)])
    report = BacktestReport.of(result_of(targets, np.array([1.0, 3.0, 9.0])), ESTONIA)
    assert {hour: (scores.n, scores.mae) for hour, scores in report.hours.items()} == {0: (1, 9), 18: (2, 2)}


def test_leads_months_and_hours_without_a_scored_hour_are_left_out(utc: Utc) -> None:
    targets = np.array([utc(2024, 1, 10, 16), utc(2024, 2, 10, 17)])
    report = BacktestReport.of(result_of(targets, np.array([1.0, math.nan])), ESTONIA)
    assert (list(report.months), list(report.hours), list(report.leads)) == (["2024-01"], [18], [1])
    unscored = BacktestReport.of(result_of(targets, np.full(2, math.nan)), ESTONIA)
    assert not any((unscored.leads, unscored.months, unscored.hours, unscored.below_p50, unscored.baseline.leads))


def test_the_share_below_p50_counts_only_hours_that_are_scored(utc: Utc) -> None:
    targets = utc(2024, 1, 10) + 3600 * np.arange(5)
    report = BacktestReport.of(result_of(targets, np.array([-1.0, -2.0, -3.0, 4.0, math.nan])), ESTONIA)
    assert report.below_p50 == {1: 0.75}


def test_the_model_is_tested_against_either_naive_forecast_by_days() -> None:
    targets = hours_between(date(2024, 3, 1), date(2024, 4, 30))  # the month has a day of 23 hours
    actual = np.random.default_rng(1).normal(45, 3, targets.size)
    report = BacktestReport.of(result_of(targets, actual, p50=49, baseline=50, mean=41, lead=3), ESTONIA)
    assert list(report.baseline.leads) == list(report.seven_day_mean.leads) == [3]
    weekly, mean = report.baseline.overall, report.seven_day_mean.overall
    assert weekly.test.days == mean.test.days == 61
    assert weekly.naive_mae == pytest.approx(np.abs(actual - 50).mean())
    assert mean.naive_mae == pytest.approx(np.abs(actual - 41).mean())
    assert weekly.test.t < -5
    assert weekly.test.p < 0.001
    assert abs(mean.test.t) < 3
    assert weekly == report.baseline.leads[3]


def test_hours_without_a_seven_day_mean_are_scored_but_not_tested_against_it() -> None:
    targets = hours_between(date(2024, 3, 1), date(2024, 3, 30))
    report = BacktestReport.of(result_of(targets, np.ones(targets.size), mean=math.nan), ESTONIA)
    assert report.overall.n == targets.size
    assert report.seven_day_mean.overall.test.days == 0
    assert math.isnan(report.seven_day_mean.overall.naive_mae)
