"""The stored scores of the served forecasts."""

import math
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from tunnihind.forecast.scoring.decisions import PLAN_HOURS, DecisionScores, PlanScores, Savings
from tunnihind.forecast.scoring.live_scores import DayScores, LiveScores, MonthScores, ScoresByMonth, WindowScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.store.store import Store

DAY = date(2025, 11, 30)
HOURS = 23
SCORES = Scores(
    n=HOURS,
    mae=31.41,
    baseline_mae=52.33,
    skill=1 - 31.41 / 52.33,
    coverage80=18 / HOURS,
    below10=2 / HOURS,
    above90=3 / HOURS,
    pinball=10.4,
    winkler80=154.3,
    width=101.7,
)
PLANS = {hours: Savings(40.0 - hours, -3.25, 30.0, 45.5 - hours) for hours in PLAN_HOURS}


def scored(issued_on: date, days_ahead: int = 1) -> DayScores:
    return DayScores(issued_on, days_ahead, 1_764_490_000, "weather", SCORES, 41.07, PLANS)


def test_a_days_scores_come_back_with_what_is_unknown(store: Store) -> None:
    whole = replace(scored(DAY, 7), week=Savings(60.0, 40.0, 50.0, 75.0))
    with_hole = replace(scored(DAY), plans={}, seven_day_mean_mae=math.nan)
    store.scores.store_live_scores("ee", LiveScores(days=(whole, with_hole)))
    found_hole, found = store.scores.day_scores("ee", DAY, DAY)
    assert found.scores.n == HOURS
    assert found.scores.coverage80 == SCORES.coverage80
    assert found.scores.skill == pytest.approx(SCORES.skill)
    assert replace(found, scores=SCORES) == whole
    assert (found_hole.plans, found_hole.week, found_hole.scores.mae) == ({}, None, 31.41)
    assert math.isnan(found_hole.seven_day_mean_mae)


def test_only_days_that_are_scored_anew_are_replaced(store: Store) -> None:
    before = [scored(DAY - timedelta(days=back), lead) for back in range(3) for lead in (1, 2)]
    store.scores.store_live_scores("ee", LiveScores(days=tuple(before)))
    again = replace(scored(DAY - timedelta(days=1)), tier="prices")
    store.scores.store_live_scores("ee", LiveScores(days=(again,)))
    kept = store.scores.day_scores("ee", date(2000, 1, 1), date(2050, 1, 1))
    found = [(day.issued_on, day.days_ahead, day.tier) for day in kept]
    assert found == [
        (DAY - timedelta(days=2), 1, "weather"),
        (DAY - timedelta(days=2), 2, "weather"),
        (DAY - timedelta(days=1), 1, "prices"),
        (DAY, 1, "weather"),
        (DAY, 2, "weather"),
    ]
    assert store.scores.newest_issue_day("ee") == DAY


def test_months_and_windows_come_back_and_the_data_counts_as_changed(store: Store) -> None:
    decisions = DecisionScores({1: {hours: PlanScores(1, *plan) for hours, plan in PLANS.items()}}, PlanScores.of([]))
    window = WindowScores(7, {1: SCORES}, SCORES, {1: 41.07}, decisions)
    version = store.state.served_version()
    store.scores.store_live_scores(
        "ee", LiveScores(windows=(window,), months=ScoresByMonth(issued=(MonthScores("2025-11", window),)))
    )
    assert store.state.served_version() > version
    [found] = store.scores.window_scores("ee")
    assert found.decisions.by_days_ahead == decisions.by_days_ahead
    assert math.isnan(found.decisions.week.share)
    assert [month.month for month in store.scores.scores_by_month("ee").issued] == ["2025-11"]


def test_an_empty_store_has_none(store: Store) -> None:
    assert store.scores.newest_issue_day("ee") is None
    assert store.scores.day_scores("ee", date(2000, 1, 1), date(2050, 1, 1)) == []
    assert (store.scores.window_scores("ee"), store.scores.scores_by_month("ee")) == ((), ScoresByMonth())


def test_a_year_of_scores_takes_less_than_half_a_megabyte(path: Path, store: Store) -> None:
    days = [scored(DAY - timedelta(days=back), lead) for back in range(365, 0, -1) for lead in range(1, 8)]
    with store.database.reading() as connection:
        before = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    store.scores.store_live_scores("ee", LiveScores(days=tuple(days)))
    with store.database.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one() - before
        assert pages * connection.exec_driver_sql("PRAGMA page_size").scalar_one() < 500_000
