"""The pipeline at work, and its progress after failures."""

import asyncio
import logging
import sqlite3
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import ClientSession
from sqlalchemy import event

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import InProcessModeller, StubModeller, live, pipeline_of, plain_runs
from tests.support.store.stores import HOURS, hourly, store_quotes, unsettled_days
from tests.support.upstreams import FakeElering
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.sources import ScriptedPrices, ScriptedWeather, estonian_quotes
from tunnihind.core.market import DAY_S, HOUR_S, QUARTER_S, Market, SeriesKey
from tunnihind.errors import RateLimited, SourceUnreachable, StoreError, StoreLost
from tunnihind.forecast.run import Runs
from tunnihind.sources.elering import EleringPrices
from tunnihind.store.store import Store

pytestmark = pytest.mark.usefixtures("quick_model")

MINUTE = 60
NOW = local("2025-12-15 10:00")
TODAY = date(2025, 12, 15)
DOWN = SourceUnreachable("first", "no answer within 60 s")


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock(NOW, nap_s=60)


@pytest.fixture
def source(clock: JumpingClock) -> ScriptedPrices:
    return ScriptedPrices(estonian_quotes(TODAY - timedelta(days=20), TODAY + timedelta(days=5)), clock=clock)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


async def test_with_all_well_one_pass_ends_and_says_so(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    changes: list[int] = []
    pipeline = pipeline_of(store, clock, prices=[source], weather=[ScriptedWeather()])
    assert await pipeline.catch_up(lambda: changes.append(store.state.served_version()))
    # There is a notice after prices, weather, forecast, backtest, records and thinning, and one when the prices are
    # stored.
    assert len(changes) == 7
    assert changes[0] < changes[-1]
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []


async def test_a_forecast_has_its_hours_and_its_quarters_in_the_store(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    pipeline = pipeline_of(store, clock, prices=[source])
    assert await pipeline.catch_up()
    expected = plain_runs(NOW)
    for step_s in (HOUR_S, QUARTER_S):
        [found] = store.runs.made_since(SeriesKey("ee", step_s), 0)
        assert found.is_identical_to(expected.by_step[step_s])
    await live(pipeline, clock, NOW + 2 * HOUR_S)
    made = [
        [run.made_at for run in store.runs.made_since(SeriesKey("ee", step_s), 0)] for step_s in (HOUR_S, QUARTER_S)
    ]
    assert made[0] == made[1] == [NOW + 2 * HOUR_S, NOW + HOUR_S, NOW]


async def test_a_first_start_with_the_upstream_down_waits_and_begins_when_it_is_back(
    store: Store, clock: JumpingClock, source: ScriptedPrices, caplog: pytest.LogCaptureFixture
) -> None:
    modeller = StubModeller()
    source.is_down = DOWN
    pipeline = pipeline_of(store, clock, prices=[source], modeller=modeller)
    await live(pipeline, clock, NOW + 3 * HOUR_S)
    assert (hourly(store), store.state.last_refresh(), modeller.made_at) == ({}, None, [])
    waits = [late - early for early, late in pairwise(source.asked_at)]
    assert waits == sorted(waits)
    assert waits[-1] == 15 * MINUTE
    assert len([line for line in warnings(caplog) if "first" in line]) == 1
    assert "--demo" in warnings(caplog)[0]
    source.is_down = None
    await live(pipeline, clock, clock.instant + 15 * MINUTE)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []
    assert len(modeller.made_at) == 1


async def test_with_the_upstream_down_later_forecasts_go_on_and_the_refresh_stays_honest(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    modeller = StubModeller()
    pipeline = pipeline_of(store, clock, prices=[source], modeller=modeller)
    await live(pipeline, clock, NOW + 300)
    refreshed = store.state.last_refresh()
    source.is_down = DOWN
    await live(pipeline, clock, NOW + 3 * HOUR_S)
    assert refreshed is not None
    assert store.state.last_refresh() == refreshed
    assert [at for at in modeller.made_at if at > NOW] == [NOW + HOUR_S, NOW + 2 * HOUR_S, NOW + 3 * HOUR_S]
    source.is_down = None
    await live(pipeline, clock, clock.instant + 15 * MINUTE)
    assert (store.state.last_refresh() or 0) > NOW + 3 * HOUR_S


async def test_one_pass_with_a_source_down_ends_too_and_says_that_not_all_is_well(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    source.is_down = DOWN
    assert not await pipeline_of(store, clock, prices=[source], history_start=date(2024, 1, 1)).catch_up()


async def test_how_a_source_was_that_is_gone_from_the_settings_is_forgotten_at_each_start(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    pipeline = pipeline_of(store, clock, prices=[source], weather=[ScriptedWeather()])
    source.is_down = DOWN
    for start in range(2):
        # Before the second start, another server with other settings has run the pipeline.
        for name in ("entsoe", source.name):
            store.health.record_failure(name, NOW - 60, DOWN)
        noted = store.health.by_source()[source.name].failures
        await live(pipeline, clock, NOW + (start + 1) * MINUTE)
        assert "entsoe" not in store.health.by_source()
        assert store.health.by_source()[source.name].failures >= noted


async def test_sources_are_asked_although_others_cannot_be_forgotten(
    store: Store, clock: JumpingClock, source: ScriptedPrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(names: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(store.health, "keep_only", fail)
    assert await pipeline_of(store, clock, prices=[source]).catch_up()
    assert store.prices.count() > 0


async def test_malformed_answers_are_outlived(store: Store, clock: JumpingClock, session: ClientSession) -> None:
    async with FakeElering(flat_quotes(TODAY - timedelta(days=14), TODAY + timedelta(days=1), QUARTER_S)) as server:
        server.say(b"<html>Just a moment...</html>", times=2)
        server.say(b'{"success":true,"data":{"ee":[{"timestamp":1765792800,"price":null}]}}')
        pipeline = pipeline_of(store, clock, prices=[EleringPrices(session, f"{server.url}/api")])
        await live(pipeline, clock, NOW + 8 * MINUTE)
    assert len(server.requests) == 4
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []
    assert store.health.by_source()["elering"].failures == 0


async def test_a_pause_that_is_asked_for_is_kept_to_and_stops_nothing_else(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    modeller = StubModeller()
    pipeline = pipeline_of(store, clock, prices=[source], modeller=modeller)
    await pipeline.catch_up()
    source.errors.append(RateLimited("first", "HTTP 429", status=429, retry_after_s=100 * MINUTE))
    await live(pipeline, clock, NOW + 3.5 * HOUR_S)
    assert source.asked_at[1:3] == [NOW + HOUR_S, NOW + HOUR_S + 100 * MINUTE]
    assert modeller.made_at == [NOW + n * HOUR_S for n in range(4)]


async def test_a_pause_that_one_source_asks_for_does_not_silence_another_that_failed(
    store: Store, clock: JumpingClock, source: ScriptedPrices
) -> None:
    second = ScriptedPrices(source.quotes, name="second", clock=clock)
    pipeline = pipeline_of(store, clock, prices=[source, second], modeller=StubModeller())
    await pipeline.catch_up()
    source.errors.append(RateLimited("first", "HTTP 429", status=429, retry_after_s=100 * MINUTE))
    second.errors.append(SourceUnreachable("second", "no answer within 60 s"))
    await live(pipeline, clock, NOW + HOUR_S + 10 * MINUTE)
    assert [at for at in source.asked_at if at > NOW] == [NOW + HOUR_S]
    assert [at for at in second.asked_at if at > NOW] == [NOW + HOUR_S, NOW + HOUR_S + MINUTE]


async def test_a_bug_in_one_job_stops_no_other(
    store: Store, clock: JumpingClock, source: ScriptedPrices, caplog: pytest.LogCaptureFixture
) -> None:
    weather = ScriptedWeather()
    weather.is_down = KeyError("hourly")
    modeller = StubModeller()
    pipeline = pipeline_of(store, clock, prices=[source], weather=[weather], modeller=modeller)
    await live(pipeline, clock, NOW + HOUR_S)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []
    assert len(modeller.made_at) == 2
    failures = [record for record in caplog.records if record.exc_info]
    assert 3 <= len(failures) <= 9
    assert failures[0].getMessage() == "covariates of weather failed"


class CountingModeller(InProcessModeller):
    """Notes the instants of its runs."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.asked_at: list[int] = []

    async def runs(self, market: Market, as_of: int) -> Runs:
        self.asked_at.append(as_of)
        return await super().runs(market, as_of)


async def test_old_prices_make_no_forecast_which_is_told_once_and_new_ones_do_at_once(
    store: Store, clock: JumpingClock, caplog: pytest.LogCaptureFixture
) -> None:
    ended = TODAY - timedelta(days=8)
    source = ScriptedPrices(estonian_quotes(TODAY - timedelta(days=30), ended), clock=clock)
    modeller = CountingModeller(store)
    pipeline = pipeline_of(store, clock, prices=[source], modeller=modeller)
    assert not await pipeline.catch_up()
    await live(pipeline, clock, NOW + 2 * HOUR_S)
    assert (store.runs.newest(HOURS), modeller.asked_at) == (None, [NOW, NOW + HOUR_S, NOW + 2 * HOUR_S])
    assert [said for said in warnings(caplog) if "forecast" in said] == [
        f"no forecast is made: the newest price is from {ended}, and a forecast reaches 7 delivery days past that day"
    ]
    source.quotes = estonian_quotes(TODAY - timedelta(days=30), TODAY)
    await live(pipeline, clock, NOW + 3 * HOUR_S - MINUTE)
    run = store.runs.newest(HOURS)
    assert run is not None
    assert NOW + 2 * HOUR_S < run.made_at < NOW + 3 * HOUR_S


async def test_a_crash_of_the_model_is_retried_and_told_once(
    store: Store, clock: JumpingClock, source: ScriptedPrices, caplog: pytest.LogCaptureFixture
) -> None:
    modeller = StubModeller()
    modeller.errors.extend([StoreError("the process that makes forecasts has died")] * 3)
    await live(pipeline_of(store, clock, prices=[source], modeller=modeller), clock, NOW + 10 * MINUTE)
    assert modeller.made_at == [NOW, NOW + 60, NOW + 180, NOW + 420]
    assert store.runs.newest(HOURS) is not None
    assert warnings(caplog) == [
        "forecast of ee failed and will be tried again: the process that makes forecasts has died"
    ]


async def test_a_lost_database_file_is_not_told_by_the_task_that_meets_it(
    store: Store, clock: JumpingClock, source: ScriptedPrices, caplog: pytest.LogCaptureFixture
) -> None:
    """The database itself has logged the loss."""
    modeller = StubModeller()
    modeller.errors.append(StoreLost("the database file has been deleted"))
    await live(pipeline_of(store, clock, prices=[source], modeller=modeller), clock, NOW + 10 * MINUTE)
    assert store.runs.newest(HOURS) is not None
    assert warnings(caplog) == []


class Disk:
    """Limits the size of the store's file, like a full disk."""

    def __init__(self, store: Store) -> None:
        self.pages = 1_000_000
        event.listen(store.database.system.engine, "checkout", self._limit)

    def fill_up(self) -> None:
        self.pages = 1

    def make_room(self) -> None:
        self.pages = 1_000_000

    def _limit(self, connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {self.pages}")


async def test_a_full_disk_is_outlived_and_told_once(
    store: Store, clock: JumpingClock, source: ScriptedPrices, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk(store)
    pipeline = pipeline_of(store, clock, prices=[source], modeller=InProcessModeller(store))
    disk.fill_up()
    await live(pipeline, clock, NOW + HOUR_S)
    assert hourly(store) == {}
    assert store.state.last_refresh() is None
    told = [line for line in warnings(caplog) if "full" in line]
    assert len(told) == 1
    disk.make_room()
    await live(pipeline, clock, clock.instant + 15 * MINUTE)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []
    assert store.runs.newest(HOURS) is not None


async def test_a_store_that_can_not_be_read_is_told_once_and_looked_at_again(
    store: Store, clock: JumpingClock, source: ScriptedPrices, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = pipeline_of(store, clock, prices=[source])
    with store.database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE runs RENAME TO elsewhere")
    await live(pipeline, clock, NOW + 10 * MINUTE)
    assert not await pipeline.catch_up()
    assert len(warnings(caplog)) == 1
    with store.database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO runs")
    await live(pipeline, clock, clock.instant + MINUTE)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []
    assert await pipeline.catch_up()


@pytest.mark.parametrize("jump_s", [HOUR_S, DAY_S, -HOUR_S, -DAY_S])
async def test_a_jump_of_the_clock_costs_no_prices_no_forecast_and_no_storm(
    store: Store, clock: JumpingClock, source: ScriptedPrices, jump_s: int
) -> None:
    modeller = StubModeller()
    pipeline = pipeline_of(store, clock, prices=[source], modeller=modeller)
    await live(pipeline, clock, NOW + 20 * MINUTE)
    asked, made = len(source.asked), len(modeller.made_at)
    clock.instant += jump_s
    jumped = clock.instant
    await live(pipeline, clock, jumped + 2 * HOUR_S)
    # One more request may come at once. Then there is one request every hour, because it is the middle of the morning.
    assert 2 <= len(source.asked) - asked <= 3
    assert 2 <= len(modeller.made_at) - made <= 3
    assert (store.state.last_refresh() or 0) <= clock.instant
    run = store.runs.newest(HOURS, as_of=int(clock.instant))
    assert run is not None
    assert run.made_at > jumped
    assert unsettled_days(store, TODAY - timedelta(days=12), TODAY - timedelta(days=1)) == []


async def test_a_held_day_is_asked_for_again_until_it_passes(store: Store, source: ScriptedPrices) -> None:
    clock = JumpingClock(NOW, nap_s=300)
    held = TODAY - timedelta(days=5)
    good = dict(source.quotes["ee"])
    noon = local(f"{held} 12:00")
    del source.quotes["ee"][noon]
    pipeline = pipeline_of(store, clock, prices=[source])
    await live(pipeline, clock, NOW + HOUR_S)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == [held]
    assert source.asked.count((held - timedelta(days=1), held)) == 1
    source.quotes["ee"] = good
    await live(pipeline, clock, NOW + 6 * HOUR_S + 5 * MINUTE)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == []
    assert source.asked.count((held - timedelta(days=1), held)) == 2
    await live(pipeline, clock, NOW + 13 * HOUR_S)
    assert source.asked.count((held - timedelta(days=1), held)) == 2


async def test_all_held_days_take_one_question(store: Store, source: ScriptedPrices) -> None:
    clock = JumpingClock(NOW, nap_s=300)
    held = [TODAY - timedelta(days=days) for days in (9, 8, 5)]
    for day in held:
        del source.quotes["ee"][local(f"{day} 12:00")]
    await live(pipeline_of(store, clock, prices=[source]), clock, NOW + HOUR_S)
    assert unsettled_days(store, TODAY - timedelta(days=14), TODAY) == held
    days_asked = [(last - first).days for first, last in source.asked if last == held[-1]]
    assert days_asked == [4]


async def test_a_cancelled_pipeline_stops_at_once(store: Store, clock: JumpingClock, source: ScriptedPrices) -> None:
    source.errors.append(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await pipeline_of(store, clock, prices=[source]).run(lambda: None)
    assert len(source.asked) == 1


async def test_an_import_beside_the_running_pipeline_brings_a_forecast(
    store: Store, clock: JumpingClock, database: Path
) -> None:
    source = ScriptedPrices({"ee": {}})
    modeller = StubModeller()
    pipeline = pipeline_of(store, clock, prices=[source], modeller=modeller)
    await live(pipeline, clock, NOW + 10 * MINUTE)
    assert modeller.made_at == []
    imported_at = clock.instant
    with Store(f"sqlite:///{database}") as other:
        store_quotes(other, estonian_quotes(TODAY - timedelta(days=3), TODAY), int(imported_at), source="import")
    await live(pipeline, clock, clock.instant + MINUTE)
    assert modeller.made_at[0] - imported_at <= MINUTE
