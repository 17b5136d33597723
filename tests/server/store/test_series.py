"""The data of one zone or step stays apart from other zones and steps."""

from dataclasses import replace
from datetime import date

import pytest

from tests.support.store.pipelines import plain_runs
from tunnihind.core.market import HOUR_S, QUARTER_S, SeriesKey
from tunnihind.forecast.scoring.backtest import BacktestScore, Next24HoursForecast
from tunnihind.forecast.scoring.live_scores import DayScores, LiveScores, WindowScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.store.store import Store

MADE = 1_765_792_800
DAY = date(2025, 12, 15)
SCORES = Scores(24, 20.0, 30.0, 0.25, 0.75, 0.125, 0.125, 9.0, 90.0, 70.0)
OTHERS = [SeriesKey("lv", HOUR_S), SeriesKey("ee", 1800)]


@pytest.mark.parametrize("other", OTHERS)
def test_runs_and_scores_of_a_series_are_not_anothers(store: Store, other: SeriesKey) -> None:
    hours = plain_runs(MADE).hours
    others = replace(hours, zone=other.zone, step_s=other.step_s, tier="other")
    score, others_score = BacktestScore(1.0, 2.0, 0.5, 24), BacktestScore(3.0, 4.0, 0.25, 24)
    store.runs.add(hours, others)
    for key, run, its_score in [(SeriesKey("ee", HOUR_S), hours, score), (other, others, others_score)]:
        store.runs.store_backtest_score(key, its_score)
        newest = store.runs.newest(key)
        assert newest is not None
        assert newest.is_identical_to(run)
        assert [one.tier for one in store.runs.made_since(key, 0)] == [run.tier]
    assert store.runs.backtest_score(SeriesKey("ee", HOUR_S)) == score
    assert store.runs.backtest_score(other) == others_score
    assert store.runs.newest(SeriesKey("lv", QUARTER_S)) is None


@pytest.mark.parametrize("other", OTHERS)
def test_forecasts_of_past_days_of_a_series_are_not_anothers(store: Store, other: SeriesKey) -> None:
    run, past = plain_runs(MADE).hours, store.state.data_change_count()
    forecast = Next24HoursForecast(MADE, run.start_ts, run.p10, run.p50, run.p90, HOUR_S)
    assert store.backtests.add("m", "ee", [forecast], data_change_count=past)
    store.backtests.record_scored("m", "ee", MADE)
    assert store.backtests.forecasts("m", other) == {}
    if other.zone != "ee":
        assert store.backtests.add("n", other.zone, [forecast], data_change_count=past)
        assert store.backtests.scored_at("m", other.zone) is None
    assert store.backtests.forecasts("m", SeriesKey("ee", HOUR_S)).keys() == {MADE}
    assert store.backtests.scored_at("m", "ee") == MADE


def test_scenarios_of_a_zone_are_not_anothers(store: Store) -> None:
    paths = plain_runs(MADE).scenarios
    assert paths is not None
    store.runs.add(scenarios=paths)
    assert store.scenarios.newest("lv") is None
    store.runs.add(scenarios=replace(paths, zone="lv", made_at=MADE + 1))
    found = [store.scenarios.newest(zone) for zone in ("ee", "lv")]
    assert [one and (one.zone, one.made_at) for one in found] == [("ee", MADE), ("lv", MADE + 1)]


def test_how_a_zones_forecasts_did_is_not_anothers(store: Store) -> None:
    scored = DayScores(DAY, 1, MADE, "test", SCORES, 1.0)
    store.scores.store_live_scores("ee", LiveScores(days=(scored,), windows=(WindowScores(7, {}, SCORES),)))
    assert (store.scores.day_scores("lv", DAY, DAY), store.scores.window_scores("lv")) == ([], ())
    store.scores.store_live_scores("lv", LiveScores(days=(replace(scored, tier="other"),)))
    assert [[one.tier for one in store.scores.day_scores(zone, DAY, DAY)] for zone in ("ee", "lv")] == [
        ["test"],
        ["other"],
    ]
    assert [len(store.scores.window_scores(zone)) for zone in ("ee", "lv")] == [1, 0]


def test_prices_that_are_withdrawn_take_no_other_zones_runs_with_them(store: Store) -> None:
    hours = plain_runs(MADE).hours
    store.runs.add(hours, replace(hours, zone="lv"))
    store.prices.withdraw("ee", ["elering"], MADE, None, MADE)
    found = [store.runs.newest(SeriesKey(zone, HOUR_S)) for zone in ("ee", "lv")]
    assert [one and one.zone for one in found] == [None, "lv"]


def test_prices_that_are_withdrawn_take_past_forecasts_of_all_zones_with_them(store: Store) -> None:
    run, past = plain_runs(MADE).hours, store.state.data_change_count()
    forecast = Next24HoursForecast(MADE, run.start_ts, run.p10, run.p50, run.p90, HOUR_S)
    assert store.backtests.add("m", "lv", [forecast], data_change_count=past)
    store.prices.withdraw("ee", ["elering"], MADE + 10 * HOUR_S, None, MADE + 10 * HOUR_S)
    assert store.backtests.forecasts("m", SeriesKey("lv", HOUR_S)) == {}
