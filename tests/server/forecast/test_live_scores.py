"""Scores of the served forecasts, compared with the published prices."""

from datetime import date, timedelta

import numpy as np
import pytest

from tests.support.markets.runs import run_with
from tunnihind.core.market import HOUR_S, day_end, day_start, gate_closure
from tunnihind.forecast.run import LEAD_DAYS, Run
from tunnihind.forecast.scoring.live_scores import (
    WINDOWS_DAYS,
    WindowScores,
    day_scores,
    last_runs_before_gate_closure,
    month_scores,
    window_scores,
)
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.price_series import PriceSeries

NEWEST = date(2025, 11, 30)
FIRST = NEWEST - timedelta(days=110)


def history(price: float = 100.0, week_before: float = 70.0) -> PriceSeries:
    """Return hours of one price. Their weekly naive forecast is off by 30 EUR/MWh every second week."""
    start, end = day_start(FIRST), day_end(NEWEST)
    hours = (end - start) // HOUR_S
    is_odd_week = (np.arange(hours) // (7 * 24)) % 2 == 1
    return PriceSeries("ee", HOUR_S, start, np.where(is_odd_week, price, week_before))


def run(made_at: int, p50: float, *, days: int = 7, half_width: float = 50.0) -> Run:
    """Return a run of flat percentiles from the next full hour on, until `days` days after the present day."""
    hours = (days + 1) * 24
    return run_with(np.array([[p50 - half_width], [p50], [p50 + half_width]]).repeat(hours, axis=1), made_at=made_at)


def morning(day: date) -> int:
    """Return an instant on a day before that day's auction."""
    return gate_closure(day + timedelta(days=1)) - 600


def every_morning(p50: float) -> list[Run]:
    return [run(morning(FIRST + timedelta(days=n)), p50) for n in range(111)]


def live_scores(runs: list[Run], truth: PriceSeries) -> tuple[WindowScores, ...]:
    return window_scores(day_scores(runs, truth), truth.newest_day)


def test_each_window_and_distance_is_scored_on_whole_delivery_days() -> None:
    scores = live_scores(every_morning(100.0), history())
    assert tuple(window.days for window in scores) == WINDOWS_DAYS
    for window in scores:
        assert set(window.by_days_ahead) == set(LEAD_DAYS)
        hours = (day_end(NEWEST) - day_start(NEWEST - timedelta(days=window.days - 1))) // HOUR_S
        assert {lead.n for lead in window.by_days_ahead.values()} == {hours}
        assert window.overall.n == hours * len(LEAD_DAYS)


def test_the_error_and_the_baseline_are_those_of_the_hours() -> None:
    scores = live_scores(every_morning(100.0), history())[2].overall
    # Half of the weeks have the price 100, and the others 70. The forecast of 100 is off by 30 in the others. The
    # weekly naive forecast is always off by 30.
    assert scores.baseline_mae == pytest.approx(30.0)
    assert 0 < scores.mae < 30.0
    assert scores.coverage80 == 1.0


def test_a_run_made_after_the_auction_closed_counts_for_nothing() -> None:
    late = [run(gate_closure(FIRST + timedelta(days=n + 1)) + 1, 0.0) for n in range(111)]
    assert live_scores([*late, *every_morning(100.0)], history()) == live_scores(every_morning(100.0), history())
    assert all(window.overall.n == 0 for window in live_scores(late, history()))


def test_of_several_mornings_runs_the_last_counts() -> None:
    earlier = [run(made.made_at - HOUR_S, -50.0) for made in every_morning(100.0)]
    assert live_scores([*every_morning(100.0), *earlier], history()) == live_scores(every_morning(100.0), history())


def test_a_day_without_a_run_is_left_out_at_its_distance_only() -> None:
    runs = every_morning(100.0)
    del runs[-14]  # of the last 7 days this run covers only the first, 7 days ahead
    week = live_scores(runs, history())[0].by_days_ahead
    assert week[7].n == week[1].n - 24


def prophetic(day: date, truth: PriceSeries) -> Run:
    """Return a morning's run with the later prices as its p50."""
    made_at = morning(day)
    start, end = made_at // HOUR_S * HOUR_S + HOUR_S, day_end(day + timedelta(days=7))
    p50 = np.nan_to_num(truth.between(start, end).eur_mwh)
    return run_with(np.array([p50 - 10, p50, p50 + 10]), made_at=made_at)


@pytest.fixture
def lively() -> PriceSeries:
    start, end = day_start(FIRST), day_end(NEWEST)
    prices = np.random.default_rng(3).normal(80, 40, (end - start) // HOUR_S)
    return PriceSeries("ee", HOUR_S, start, np.round(prices, 2))


def test_one_row_for_each_day_of_issue_and_days_ahead_that_is_settled(lively: PriceSeries) -> None:
    last = NEWEST - timedelta(days=3)
    rows = day_scores([prophetic(last, lively), prophetic(last - timedelta(days=20), lively)], lively)
    expected = [(last - timedelta(days=20), lead) for lead in LEAD_DAYS] + [(last, lead) for lead in (1, 2, 3)]
    assert [(row.issued_on, row.days_ahead) for row in rows] == expected
    assert [row.delivery_day for row in rows[-3:]] == [NEWEST - timedelta(days=back) for back in (2, 1, 0)]


def test_plans_by_a_perfect_forecast_catch_all_and_those_of_a_week_too(lively: PriceSeries) -> None:
    runs = [prophetic(FIRST + timedelta(days=n), lively) for n in range(8, 111)]
    month = window_scores(day_scores(runs, lively), NEWEST)[1]
    plans = month.decisions.by_days_ahead
    assert {lead: of_lead[4].n for lead, of_lead in plans.items()} == dict.fromkeys(LEAD_DAYS, 30)
    assert {of_lead[hours].share for of_lead in plans.values() for hours in of_lead} == {1.0}
    assert all(of_lead[4].baseline_share < 0.5 for of_lead in plans.values())
    # A week belongs to the window of its last day.
    assert (month.decisions.week.n, month.decisions.week.share) == (30, 1.0)


def test_a_day_with_a_hole_is_scored_by_its_hours_but_is_no_plan(lively: PriceSeries) -> None:
    holed = lively.eur_mwh.copy()
    holed[-5] = np.nan
    truth = PriceSeries("ee", HOUR_S, lively.start_ts, holed)
    runs = [prophetic(FIRST + timedelta(days=n), lively) for n in range(8, 111)]
    week = window_scores(day_scores(runs, truth), NEWEST)[0]
    assert week.by_days_ahead[1].n == 7 * 24 - 1
    assert week.decisions.by_days_ahead[1][4].n == 6
    assert week.decisions.week.n == 6


def test_the_mean_of_seven_days_is_that_of_the_days_up_to_the_issue() -> None:
    day = NEWEST - timedelta(days=8)
    start = day_start(FIRST)
    hours = (day_end(NEWEST) - start) // HOUR_S
    truth = PriceSeries("ee", HOUR_S, start, np.arange(hours, dtype=np.float64) // 24)
    rows = day_scores([run(morning(day), 0.0)], truth)
    # Prices rise by 1 a day, so the mean of the seven days up to the issue is the price of their middle day.
    assert [row.seven_day_mean_mae for row in rows] == pytest.approx([3.0 + lead for lead in LEAD_DAYS], abs=0.2)


def test_months_are_those_of_the_delivery_day_the_oldest_first(lively: PriceSeries) -> None:
    rows = day_scores([prophetic(FIRST + timedelta(days=n), lively) for n in range(8, 111)], lively)
    found = month_scores(rows)
    assert [month.month for month in found] == ["2025-08", "2025-09", "2025-10", "2025-11"]
    assert [month.scores.days for month in found[1:]] == [30, 31, 30]
    assert found[-1].scores.overall.mae == pytest.approx(window_scores(rows, NEWEST)[1].overall.mae)


def test_scores_put_together_are_those_of_all_hours_at_once() -> None:
    rng = np.random.default_rng(4)
    columns = {name: rng.normal(50, 20, 50) for name in ("actual", "baseline", "p50")}
    columns |= {"p10": columns["p50"] - 15, "p90": columns["p50"] + 12}
    parts = [
        Scores.of(**{name: values[rows] for name, values in columns.items()}) for rows in np.split(np.arange(50), [7])
    ]
    nothing = Scores.of(**dict.fromkeys(columns, np.empty(0)))
    joined, at_once = Scores.joined([*parts, nothing]), Scores.of(**columns)
    assert [getattr(joined, name) for name in Scores.__slots__] == pytest.approx(
        [getattr(at_once, name) for name in Scores.__slots__]
    )
    assert Scores.joined([nothing]).n == 0


def test_nothing_settled_gives_no_scores_and_no_run_gives_empty_ones() -> None:
    nothing = PriceSeries("ee", HOUR_S, 0, np.empty(0))
    assert live_scores(every_morning(1.0), nothing) == ()
    assert all(window.overall.n == 0 for window in live_scores([], history()))


def test_the_auction_of_a_day_closes_at_noon_in_brussels_in_summer_too() -> None:
    july = date(2025, 7, 10)
    closing = gate_closure(july + timedelta(days=1))
    assert closing == day_start(july) + 12 * HOUR_S
    just_before, at = run(closing - 1, 1.0), run(closing, 2.0)
    assert last_runs_before_gate_closure([just_before, at]) == {july: just_before}
