"""The daily scores: made in slices between urgent tasks, reused from day to day, and made again after changes."""

import asyncio
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import InProcessModeller, QuickModel, pipeline_of, plain_run
from tests.support.store.stores import HOURS, QUARTERS, store_quotes
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S, Market, PriceLimits, day_start
from tunnihind.forecast.identity import model_identity
from tunnihind.forecast.run import Run, Runs
from tunnihind.forecast.scoring.backtest import Next24HoursForecast, backtest_score, scored_issue_instants
from tunnihind.forecast.scoring.live_scores import LiveScores
from tunnihind.known import IssuedSeries, KnownData
from tunnihind.pipeline import modelling
from tunnihind.pipeline.modelling import backtest_scores, forecast_past_days, live_scores
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.store.prices import Price
from tunnihind.store.store import Store

NOW = local("2025-12-15 17:00")
TODAY = date(2025, 12, 15)
TOMORROW = TODAY + timedelta(days=1)
MODEL = model_identity(ESTONIA)
WARMTH = "temperature_2m@ee_west"


class CountingModel(QuickModel):
    """Notes the instants of its forecasts."""

    asked: list[int]

    def forecast(self, known: KnownData) -> Run | None:
        self.asked.append(known.as_of)
        return super().forecast(known)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, quick_model: None) -> list[int]:
    """Return a list that collects the instants of the model's forecasts."""
    instants: list[int] = []
    monkeypatch.setattr(CountingModel, "asked", instants, raising=False)
    monkeypatch.setattr(modelling, "new_forecaster", lambda market, _keeper=None: CountingModel(market))
    return instants


@pytest.fixture
def filled(store: Store) -> Store:
    """Return a store with half a year of prices that rise by a euro a day, each day seen at its publication."""
    first = TODAY - timedelta(days=180)
    for number in range(182):
        day = first + timedelta(days=number)
        store_quotes(store, estonian_quotes(day, day, level=50.0 + number), day_start(day) - 10 * HOUR_S)
    return store


def work_off(store: Store, now: int = NOW, *, slice_s: float = 60.0) -> int:
    """Make all forecasts that the score lacks, and return the number of slices."""
    slices = 0
    for recent in (True, False):
        while (part := forecast_past_days(store, now, ESTONIA, MODEL, recent=recent, slice_s=slice_s)).forecasts:
            assert store.backtests.add(MODEL, "ee", part.forecasts, data_change_count=part.data_change_count)
            slices += 1
    return slices


def test_the_kept_forecasts_are_scored_as_if_made_at_once(filled: Store, asked: list[int]) -> None:
    assert work_off(filled, slice_s=0.0) == 90
    archive, truth = filled.read_archive(), filled.prices.read_archive(zones=("ee",)).as_of(NOW).series_of("ee")
    known = map(archive.as_of, scored_issue_instants(truth, NOW))
    at_once = [Next24HoursForecast.of(run, one) for one in known if (run := QuickModel(ESTONIA).forecast(one))]
    found = backtest_scores(filled, NOW, ESTONIA, MODEL)[HOUR_S]
    assert found is not None
    assert found == backtest_score(at_once, truth)


def test_quarters_are_scored_from_the_same_forecasts_where_they_are_known(store: Store, asked: list[int]) -> None:
    for number in range(60):
        day = TODAY - timedelta(days=58 - number)
        quotes = estonian_quotes(day, day, QUARTER_S, level=50.0 + number)
        store_quotes(store, quotes, day_start(day) - 10 * HOUR_S)
    work_off(store)
    assert len(asked) == len(set(asked))
    kept = store.backtests.forecasts(MODEL, QUARTERS)
    assert kept.keys() == store.backtests.forecasts(MODEL, HOURS).keys()
    truth = store.prices.read_archive(zones=("ee",)).as_of(NOW).series_of("ee", QUARTER_S)
    found = backtest_scores(store, NOW, ESTONIA, MODEL)
    assert found[QUARTER_S] is not None
    assert found[QUARTER_S] == backtest_score(kept.values(), truth)
    assert found[HOUR_S] not in {None, found[QUARTER_S]}


def test_there_is_no_score_of_quarters_where_only_hours_are_known(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    found = backtest_scores(filled, NOW, ESTONIA, MODEL)
    assert found[HOUR_S] is not None
    assert found[QUARTER_S] is None


def test_the_next_day_costs_one_forecast_and_a_restart_none(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    asked.clear()
    modelling._PAST_FORECASTERS.clear()
    assert work_off(filled) == 0
    tomorrow = TOMORROW + timedelta(days=1)
    store_quotes(filled, estonian_quotes(tomorrow, tomorrow), NOW + DAY_S - 3 * HOUR_S)
    work_off(filled, NOW + DAY_S)
    assert asked == [local("2025-12-16 11:00")]


def test_prices_that_count_as_known_earlier_make_the_forecasts_from_then_on_anew(
    filled: Store, asked: list[int]
) -> None:
    work_off(filled)
    asked.clear()
    long_ago = day_start(TODAY - timedelta(days=10))
    filled.prices.add([Price("lv", long_ago, HOUR_S, 1.0)], source="import", seen_ts=NOW)
    work_off(filled)
    assert sorted(asked) == [local("2025-12-05 11:00") + n * DAY_S for n in range(11)]


def test_a_correction_keeps_earlier_forecasts_and_changes_what_scores_them(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    before = backtest_scores(filled, NOW, ESTONIA, MODEL)[HOUR_S]
    asked.clear()
    filled.prices.add([Price("ee", day_start(TODAY), HOUR_S, 3000.0)], source="elering", seen_ts=NOW)
    assert work_off(filled) == 0
    after = backtest_scores(filled, NOW, ESTONIA, MODEL)[HOUR_S]
    assert before is not None
    assert after is not None
    assert after.mae > before.mae


def weather(hours: int, *, before_s: int) -> IssuedSeries:
    issued = NOW // HOUR_S * HOUR_S - before_s
    return IssuedSeries(issued, issued, np.ones(hours, np.float32))


def test_weather_that_was_back_filled_makes_the_forecasts_from_then_on_anew(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    asked.clear()
    filled.covariates.add({WARMTH: [weather(48, before_s=5 * DAY_S)]})
    work_off(filled)
    assert len(asked) == 5
    asked.clear()
    filled.covariates.add({WARMTH: [weather(48, before_s=5 * DAY_S)]})
    assert work_off(filled) == 0


def test_new_weather_costs_no_forecast(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    asked.clear()
    filled.covariates.add({WARMTH: [weather(240, before_s=0)]})
    assert work_off(filled) == 0


def test_what_was_made_while_more_became_known_is_not_kept(filled: Store, asked: list[int]) -> None:
    part = forecast_past_days(filled, NOW, ESTONIA, MODEL, recent=True, slice_s=0.0)
    filled.prices.add([Price("lv", day_start(TODAY), HOUR_S, 1.0)], source="import", seen_ts=NOW)
    assert not filled.backtests.add(MODEL, "ee", part.forecasts, data_change_count=part.data_change_count)
    assert filled.backtests.forecasts(MODEL, HOURS) == {}


def test_another_models_forecasts_are_not_taken_for_this_ones(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    filled.backtests.record_scored(MODEL, "ee", NOW)
    other = model_identity(ESTONIA.with_limits(PriceLimits(-500, 5000)))
    assert filled.backtests.forecasts(other, HOURS) == {}
    assert filled.backtests.scored_at(other, "ee") is None
    assert filled.backtests.scored_at(MODEL, "ee") == NOW


def test_a_change_of_the_models_code_is_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ridge.py").write_text("share = 0.5")
    monkeypatch.setattr("tunnihind.forecast.__path__", [str(tmp_path)])
    names = []
    for text in ("share = 0.5", "share = 0.6"):
        (tmp_path / "ridge.py").write_text(text)
        model_identity.__globals__["_code_digest"].cache_clear()
        names.append(model_identity(ESTONIA))
    model_identity.__globals__["_code_digest"].cache_clear()
    assert names[0] != names[1]


def test_forecasts_that_have_outlived_their_use_are_deleted(store: Store) -> None:
    nothing = np.empty(0)
    for day in range(400):
        issued = NOW + day * DAY_S
        store.backtests.add(
            MODEL, "ee", [Next24HoursForecast(issued, issued, nothing, nothing, nothing, HOUR_S)], data_change_count=0
        )
    assert len(store.backtests.forecasts(MODEL, HOURS)) == 121


class SlicingModeller(InProcessModeller):
    """A modeller that makes one forecast a slice, unless `slice_s` is longer, and notes its requests."""

    def __init__(self, store: Store, slice_s: float = 0.0) -> None:
        super().__init__(store)
        self.store = store
        self.slice_s = slice_s
        self.done: list[str] = []

    async def runs(self, market: Market, as_of: int) -> Runs:
        self.done.append("run")
        return await super().runs(market, as_of)

    async def forecast_past_days(self, market: Market, as_of: int) -> modelling.PastForecasts:
        self.done.append("slice")
        late = forecast_past_days(self.store, as_of, market, MODEL, recent=True, slice_s=self.slice_s)
        return (
            late
            if late.forecasts
            else forecast_past_days(self.store, as_of, market, MODEL, recent=False, slice_s=self.slice_s)
        )


async def test_prices_and_forecasts_come_between_the_slices(filled: Store, asked: list[int]) -> None:
    clock = JumpingClock(NOW)
    source = ScriptedPrices(estonian_quotes(TODAY - timedelta(days=20), TOMORROW), clock=clock)
    modeller = SlicingModeller(filled)
    pipeline = pipeline_of(filled, clock, prices=[source], modeller=modeller)
    while modeller.done.count("slice") < 4:
        assert await pipeline.step()
    questions, runs = len(source.asked), modeller.done.count("run")
    clock.instant += HOUR_S
    while modeller.done.count("slice") < 6:
        assert await pipeline.step()
    assert len(source.asked) == questions + 1
    assert modeller.done.count("run") == runs + 1
    assert filled.runs.backtest_score(HOURS) is None


async def test_a_restarted_pipeline_goes_on_with_the_scores_where_it_stopped(filled: Store, asked: list[int]) -> None:
    clock = JumpingClock(NOW)

    def started(modeller: SlicingModeller) -> Pipeline:
        source = ScriptedPrices(estonian_quotes(TODAY - timedelta(days=20), TOMORROW), clock=clock)
        return pipeline_of(filled, clock, prices=[source], modeller=modeller)

    first, second, third = SlicingModeller(filled), SlicingModeller(filled, 60.0), SlicingModeller(filled)
    pipeline = started(first)
    while first.done.count("slice") < 10:
        assert await pipeline.step()
    asked.clear()
    assert await started(second).catch_up()
    instants = [instant for instant in asked if instant < NOW]
    assert len(instants) == len(set(instants)) == 80
    assert filled.runs.backtest_score(HOURS) is not None
    assert await started(third).catch_up()
    assert "slice" not in third.done


class SlowModeller(SlicingModeller):
    """Never finishes one part of the scores, and notes a cancellation."""

    def __init__(self, store: Store, slow: str) -> None:
        super().__init__(store, 60.0)
        self.slow = slow
        self.was_ended = False

    async def forecast_past_days(self, market: Market, as_of: int) -> modelling.PastForecasts:
        await self._begin("slice")
        return await super().forecast_past_days(market, as_of)

    async def live_scores(self, market: Market, as_of: int) -> LiveScores:
        await self._begin("accuracy")
        return await super().live_scores(market, as_of)

    async def _begin(self, part: str) -> None:
        if part == self.slow:
            self.done.append("slow")
            try:
                await asyncio.Event().wait()
            finally:
                self.was_ended = True


@pytest.mark.parametrize("slow", ["slice", "accuracy"])
async def test_prices_and_forecasts_do_not_wait_for_a_slow_part_of_the_scores(
    filled: Store, asked: list[int], monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    monkeypatch.setattr("tunnihind.pipeline.pipeline.WAIT_FOR_MODEL_S", 0.0)
    clock = JumpingClock(NOW)
    source = ScriptedPrices(estonian_quotes(TODAY - timedelta(days=20), TOMORROW), clock=clock)
    modeller = SlowModeller(filled, slow)
    pipeline = pipeline_of(filled, clock, prices=[source], modeller=modeller)
    while "slow" not in modeller.done:
        await pipeline.step()
    # An hour later this part still runs. Prices are fetched and a run is made.
    questions, runs = len(source.asked), modeller.done.count("run")
    clock.instant += HOUR_S
    for _ in range(5):
        await pipeline.step()
    assert (len(source.asked), modeller.done.count("run")) == (questions + 1, runs + 1)
    assert modeller.done.count("slow") == 1
    # When the pipeline ends, the scores end too.
    ending = asyncio.create_task(pipeline.run(lambda: None))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    await asyncio.sleep(0)
    assert modeller.was_ended


def issue(store: Store, days: int) -> None:
    """Store a run for each of some mornings up to today, seven days ahead."""
    for number in range(days):
        made_at = day_start(TODAY - timedelta(days=number)) + 9 * HOUR_S
        store.runs.add(plain_run(made_at, median=100.0, hours=9 * 24))


def test_the_first_scores_take_all_runs_in_and_later_ones_only_what_may_have_changed(filled: Store) -> None:
    issue(filled, 150)
    first = live_scores(filled, NOW, ESTONIA, MODEL)
    assert first.days[0].issued_on == TODAY - timedelta(days=149)
    assert [window.days for window in first.windows] == [7, 30, 90]
    assert [month.month for month in first.months.issued] == [f"2025-{month:02}" for month in range(7, 13)]
    filled.scores.store_live_scores("ee", first)
    later = live_scores(filled, NOW, ESTONIA, MODEL)
    assert TODAY - timedelta(days=110) < later.days[0].issued_on < TODAY - timedelta(days=97)
    assert later.windows == first.windows
    for before, after in zip(first.months.issued, later.months.issued, strict=True):
        assert before.month == after.month
        assert before.scores.overall.mae == pytest.approx(after.scores.overall.mae, abs=0.01)


def test_scores_go_on_where_a_long_stop_of_the_server_left_them(filled: Store) -> None:
    stopped = day_start(TODAY - timedelta(days=140))
    issue(filled, 150)
    filled.scores.store_live_scores("ee", live_scores(filled, stopped, ESTONIA, MODEL))
    after = live_scores(filled, NOW, ESTONIA, MODEL)
    # The last runs before the stop forecast days whose prices came only later.
    scored = [day for day in after.days if day.issued_on == TODAY - timedelta(days=141)]
    assert [day.days_ahead for day in scored] == [1, 2, 3, 4, 5, 6, 7]


def test_the_backtest_is_scored_by_month_one_day_ahead(filled: Store, asked: list[int]) -> None:
    work_off(filled)
    months = live_scores(filled, NOW, ESTONIA, MODEL).months
    assert months.issued == ()
    assert [month.month for month in months.backtest] == ["2025-09", "2025-10", "2025-11", "2025-12"]
    november = months.backtest[2].scores
    assert november.by_days_ahead[1].n == 30 * 24
    assert november.by_days_ahead[2].n == 0
    assert november.decisions.by_days_ahead[1][4].n == 30
