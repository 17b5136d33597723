"""Scores of the forecasts that were served, against what came."""

from datetime import date, timedelta

import numpy as np
import pytest

from tunnihind.forecast.run import LEAD_DAYS, Run
from tunnihind.forecast.scoring.live_scores import WINDOWS_DAYS, live_scores, morning_runs
from tunnihind.market import HOUR_S, day_end, day_start, gate_closure
from tunnihind.price_series import PriceSeries

NEWEST = date(2025, 11, 30)
FIRST = NEWEST - timedelta(days=110)


def history(price: float = 100.0, week_before: float = 70.0) -> PriceSeries:
    """Return hours of one price, whose weekly naive forecast is off by 30 EUR/MWh every second week."""
    start, end = day_start(FIRST), day_end(NEWEST)
    hours = (end - start) // HOUR_S
    is_odd_week = (np.arange(hours) // (7 * 24)) % 2 == 1
    return PriceSeries("ee", HOUR_S, start, np.where(is_odd_week, price, week_before))


def run(made_at: int, p50: float, *, days: int = 7, half_width: float = 50.0) -> Run:
    """Return a run of flat percentiles from the next full hour on, to the end of `days` days after the present one."""
    start = made_at // HOUR_S * HOUR_S + HOUR_S
    hours = (days + 1) * 24
    band = np.array([[p50 - half_width], [p50], [p50 + half_width]]).repeat(hours, axis=1)
    return Run.of(made_at=made_at, tier="test", zone="ee", step_s=HOUR_S, start_ts=start, percentiles=band, inputs={})


def morning(day: date) -> int:
    """Return an instant before the auction that is held on a day."""
    return gate_closure(day + timedelta(days=1)) - 600


def every_morning(p50: float) -> list[Run]:
    return [run(morning(FIRST + timedelta(days=n)), p50) for n in range(111)]


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
    # Half the weeks are at 100, half at 70: the forecast of 100 is off by 30 in the others, the weekly naive always.
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
    del runs[-14]  # of the last 7 days this run reaches only the first, from 7 days ahead
    week = live_scores(runs, history())[0].by_days_ahead
    assert week[7].n == week[1].n - 24


def test_nothing_settled_gives_no_scores_and_no_run_gives_empty_ones() -> None:
    nothing = PriceSeries("ee", HOUR_S, 0, np.empty(0))
    assert live_scores(every_morning(1.0), nothing) == ()
    assert all(window.overall.n == 0 for window in live_scores([], history()))


def test_the_auction_of_a_day_closes_at_noon_in_brussels_in_summer_too() -> None:
    july = date(2025, 7, 10)
    closing = gate_closure(july + timedelta(days=1))
    assert closing == day_start(july) + 12 * HOUR_S
    just_before, at = run(closing - 1, 1.0), run(closing, 2.0)
    assert morning_runs([just_before, at]) == {july: just_before}
