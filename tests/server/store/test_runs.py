"""The archive of forecast runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.support.store.stores import HOURS, QUARTERS, emptied, run, utc
from tunnihind.core.market import HOUR_S, QUARTER_S, SeriesKey
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import LiveScores, WindowScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Floats
from tunnihind.store.store import Store

MADE = utc("2025-12-15T10:00")

CENTS = st.integers(-100_000_00, 100_000_00).map(lambda cents: cents / 100)

_percentiles = npst.arrays(np.float64, st.tuples(st.just(3), st.integers(0, 4)), elements=CENTS)
_inputs = st.dictionaries(st.text(), st.none() | st.integers() | st.floats(allow_nan=False) | st.lists(st.text()))


@given(percentiles=_percentiles, inputs=_inputs)
def test_a_run_comes_back_to_the_last_bit(memory_store: Store, percentiles: Floats, inputs: dict[str, object]) -> None:
    store = emptied(memory_store)
    p10, p50, p90 = np.sort(percentiles, axis=0)
    issued = Run(MADE, "tier", "ee", HOUR_S, MADE + HOUR_S, p10, p50, p90, inputs)
    store.runs.add(issued)
    found = store.runs.newest(HOURS)
    assert found is not None
    assert (found.made_at, found.tier, found.start_ts, found.inputs) == (MADE, "tier", MADE + HOUR_S, inputs)
    for name in ("p10", "p50", "p90"):
        assert getattr(found, name).tobytes() == getattr(issued, name).tobytes()


def test_without_a_run_there_is_no_newest_one(store: Store) -> None:
    assert store.runs.newest(HOURS) is None
    assert store.runs.made_since(HOURS, 0) == []


def test_the_newest_run_is_the_last_one_made_not_the_last_one_stored(store: Store) -> None:
    for made_at in (MADE, MADE + 3600, MADE - 3600):
        store.runs.add(run(made_at))
    newest = store.runs.newest(HOURS)
    assert newest is not None
    assert newest.made_at == MADE + 3600


def test_of_two_runs_of_one_instant_the_later_stored_is_the_newest(store: Store) -> None:
    store.runs.add(run(MADE, level=1.0))
    store.runs.add(run(MADE, level=2.0))
    newest = store.runs.newest(HOURS)
    assert newest is not None
    assert newest.p50[0] == 2.0
    assert [one.p50[0] for one in store.runs.made_since(HOURS, MADE)] == [2.0, 1.0]


def test_a_run_from_the_future_is_not_seen_as_of_now(store: Store) -> None:
    store.runs.add(run(MADE))
    store.runs.add(run(MADE + 86_400))
    newest = store.runs.newest(HOURS, as_of=MADE)
    assert newest is not None
    assert newest.made_at == MADE
    assert [one.made_at for one in store.runs.made_since(HOURS, MADE, as_of=MADE + 86_399)] == [MADE]
    assert store.runs.newest(HOURS, as_of=MADE - 1) is None


def test_runs_since_an_instant_come_newest_first(store: Store) -> None:
    for made_at in (MADE, MADE + 7200, MADE + 3600):
        store.runs.add(run(made_at))
    assert [one.made_at for one in store.runs.made_since(HOURS, MADE + 1)] == [MADE + 7200, MADE + 3600]


def test_runs_of_quarters_stand_beside_those_of_hours(store: Store) -> None:
    hours = run(MADE)
    quarters = replace(hours, step_s=QUARTER_S)
    store.runs.add(hours)
    store.runs.add(quarters)
    store.runs.add(hours)
    for step_s, expected in [(HOUR_S, [hours, hours]), (QUARTER_S, [quarters])]:
        assert_the_same(store.runs.made_since(SeriesKey("ee", step_s), MADE), expected)
        newest = store.runs.newest(SeriesKey("ee", step_s))
        assert newest is not None
        assert newest.is_identical_to(expected[0])


def test_the_newest_score_takes_the_place_of_the_last_and_may_be_none(store: Store) -> None:
    assert store.runs.backtest_score(HOURS) is None
    score = BacktestScore(mae=100 / 3, baseline_mae=40.0, skill=1 / 6, horizon_h=24)
    store.runs.store_backtest_score(HOURS, BacktestScore(1.0, 2.0, 0.5, 24))
    store.runs.store_backtest_score(HOURS, score)
    assert store.runs.backtest_score(HOURS) == score
    store.runs.store_backtest_score(HOURS, None)
    assert store.runs.backtest_score(HOURS) is None


def test_the_scores_of_hours_and_of_quarters_are_kept_apart(store: Store) -> None:
    hours, quarters = BacktestScore(1.0, 2.0, 0.5, 24), BacktestScore(3.0, 4.0, 0.25, 24)
    store.runs.store_backtest_score(HOURS, hours)
    assert store.runs.backtest_score(QUARTERS) is None
    store.runs.store_backtest_score(QUARTERS, quarters)
    assert store.runs.backtest_score(HOURS) == hours
    assert store.runs.backtest_score(QUARTERS) == quarters


def test_of_runs_that_were_made_together_all_are_kept_or_none(store: Store) -> None:
    hours = run(MADE)
    broken = replace(hours, step_s=QUARTER_S, inputs={"not JSON": object()})
    with pytest.raises(TypeError):
        store.runs.add(hours, broken)
    assert store.runs.newest(HOURS) is None
    store.runs.add(hours, replace(hours, step_s=QUARTER_S))
    assert store.runs.newest(HOURS) is not None
    assert store.runs.newest(QUARTERS) is not None


def test_prices_that_are_withdrawn_take_the_runs_of_hours_and_of_quarters_with_them(store: Store) -> None:
    for made_at in (MADE, MADE + HOUR_S):
        hours = run(made_at)
        store.runs.add(hours, replace(hours, step_s=QUARTER_S))
    store.prices.withdraw("ee", ["elering"], MADE + HOUR_S, None, MADE)
    for step_s in (HOUR_S, QUARTER_S):
        assert [one.made_at for one in store.runs.made_since(SeriesKey("ee", step_s), 0)] == [MADE]


def test_how_runs_have_done_comes_back_with_what_could_not_be_scored(store: Store) -> None:
    nan = float("nan")
    scored, nothing = Scores(24, 1.5, 3.0, 0.5, 0.8, 0.1, 0.1, 1.0, 9.0, 7.0), Scores(0, *[nan] * 9)
    store.scores.store_live_scores("ee", LiveScores(windows=(WindowScores(7, {1: scored, 2: nothing}, scored),)))
    [window] = store.scores.window_scores("ee")
    assert (window.days, window.by_days_ahead[1], window.overall) == (7, scored, scored)
    assert window.by_days_ahead[2].n == 0
    assert math.isnan(window.by_days_ahead[2].mae)


def assert_the_same(found: list[Run], expected: list[Run]) -> None:
    assert [one.made_at for one in found] == [one.made_at for one in expected]
    assert all(one.is_identical_to(other) for one, other in zip(found, expected, strict=True))
