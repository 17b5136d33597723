"""History is filled in chunks from the newest on, through kills, stops of any length and failed chunks."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import date, timedelta

import pytest

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import InProcessModeller, RecordingObserver, live, pipeline_of
from tests.support.store.stores import HOURS, hourly, unsettled_days
from tests.support.upstreams.elering import Quotes
from tests.support.upstreams.sources import ScriptedPrices, ScriptedWeather, estonian_quotes
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, LATVIA, ZONES, day_start, delivery_day, utc_midnight
from tunnihind.errors import BadAnswer, SourceRefused
from tunnihind.forecast.known_days.grid import days_between
from tunnihind.pipeline.back_fill import day_ranges_of_year
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.sources.base import DaySheet, faulty_sheets
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.store.store import Store

pytestmark = pytest.mark.usefixtures("quick_model")

NOW = local("2025-02-10 10:00")


def asked_years(source: ScriptedPrices) -> list[int]:
    """Return the years that were requested from their first day on."""
    return [first.year for first, _ in source.asked if (first.month, first.day) == (1, 1)]


@pytest.mark.parametrize(("year", "last"), [(2024, date(2025, 2, 11)), (2025, date(2025, 2, 11))])
def test_a_year_is_asked_for_in_parts_of_a_month_at_most_the_newest_first(year: int, last: date) -> None:
    parts = day_ranges_of_year(year, last)
    asked = [day for first, end in reversed(parts) for day in days_between(first, end)]
    assert asked == days_between(date(year, 1, 1), min(date(year, 12, 31), last))
    assert parts == tuple(sorted(parts, reverse=True))
    assert all((end - first).days < 31 for first, end in parts)


async def test_a_first_start_ends_with_all_of_history_and_a_forecast(store: Store) -> None:
    clock, observer = JumpingClock(NOW, work_s=0.5), RecordingObserver()
    market = SimulatedSource(clock=clock)
    market.history_since = date(2024, 12, 1)
    pipeline = pipeline_of(
        store,
        clock,
        prices=[market],
        weather=[market],
        modeller=InProcessModeller(store),
        history_start=date(2024, 1, 1),
        observer=observer,
    )
    assert await pipeline.catch_up()
    # Both years of prices are filled in, and the three months of weather that the source has.
    for zone in ZONES:
        assert list(hourly(store, zone)) == list(
            range(day_start(date(2024, 1, 1)), day_start(date(2025, 2, 11)), HOUR_S)
        )
    assert observer.filled == [
        ("prices", 1, 2),
        ("prices", 2, 2),
        ("simulated", 1, 3),
        ("simulated", 2, 3),
        ("simulated", 3, 3),
    ]
    # The next forecast and scores use all of the history.
    run = store.runs.newest(HOURS)
    assert run is not None
    assert run.inputs["errorDays"] == 90
    assert store.runs.backtest_score(HOURS) is not None
    assert [window.days for window in store.scores.window_scores("ee")] == [7, 30, 90]


async def test_there_is_a_forecast_before_history_is_filled(store: Store) -> None:
    clock = JumpingClock(NOW, work_s=1)
    market = SimulatedSource(clock=clock)
    pipeline = pipeline_of(
        store, clock, prices=[market], modeller=InProcessModeller(store), history_start=date(2024, 1, 1)
    )
    for _ in range(2):
        await pipeline.step()
    first = store.runs.newest(HOURS)
    assert first is not None
    assert first.inputs["meanDays"] == 15
    assert unsettled_days(store, date(2025, 1, 1), date(2025, 2, 10))


def pipeline_from(
    source: ScriptedPrices, store: Store, clock: JumpingClock, observer: RecordingObserver | None = None
) -> Pipeline:
    return pipeline_of(store, clock, prices=[source], history_start=date(2021, 1, 1), observer=observer)


def five_years() -> Quotes:
    """Return a few days of quotes at each end of every year."""
    quotes: dict[int, float] = {}
    for year in range(2021, 2026):
        for first in (date(year, 1, 1), date(year, 12, 28)):
            quotes |= estonian_quotes(first, first + timedelta(days=3))["ee"]
    return {"ee": quotes | estonian_quotes(date(2025, 1, 20), date(2025, 2, 10))["ee"]}


async def test_a_kill_between_chunks_costs_no_chunk(store: Store) -> None:
    class Killer(RecordingObserver):
        def back_fill_progressed(self, what: str, done: int, total: int) -> None:
            super().back_fill_progressed(what, done, total)
            if done == 2:
                raise asyncio.CancelledError

    clock = JumpingClock(NOW, work_s=1)
    source = ScriptedPrices(five_years(), clock=clock)
    killer, observer = Killer(), RecordingObserver()
    with pytest.raises(asyncio.CancelledError):
        await pipeline_from(source, store, clock, killer).run(lambda: None)
    assert asked_years(source) == [2025, 2024]
    await pipeline_from(source, store, clock, observer).catch_up()
    assert asked_years(source) == [2025, 2024, 2023, 2022, 2021]
    assert killer.filled + observer.filled == [("prices", done, 5) for done in range(1, 6)]
    expected = {ts: price for ts, price in source.quotes["ee"].items() if ts < NOW + DAY_S}
    assert hourly(store) == expected
    assert store.prices.count() == len(expected)


async def test_a_kill_within_a_chunk_costs_that_chunk_alone_and_doubles_nothing(store: Store) -> None:
    clock = JumpingClock(NOW, work_s=1)
    source = ScriptedPrices(five_years(), clock=clock)
    source.errors_from[date(2023, 1, 1)] = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await pipeline_from(source, store, clock).run(lambda: None)
    source.errors_from.clear()
    await pipeline_from(source, store, clock).catch_up()
    assert asked_years(source) == [2025, 2024, 2023, 2023, 2022, 2021]
    assert store.prices.count() == len(hourly(store)) == sum(ts < NOW + DAY_S for ts in source.quotes["ee"])


async def test_a_chunk_that_keeps_failing_keeps_no_other_chunk_out(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock = JumpingClock(NOW, nap_s=60, work_s=1)
    source = ScriptedPrices(five_years(), clock=clock)
    source.errors_from[date(2024, 1, 1)] = BadAnswer("first", "its prices can't be read")
    pipeline = pipeline_from(source, store, clock)
    await live(pipeline, clock, NOW + HOUR_S)
    assert set(asked_years(source)) == set(range(2021, 2026))
    assert asked_years(source).count(2021) == 1
    source.errors_from.clear()
    await live(pipeline, clock, clock.instant + 1200)
    assert len(hourly(store)) == sum(ts < NOW + DAY_S for ts in source.quotes["ee"])


async def test_a_year_in_which_a_zones_prices_are_unreadable_is_asked_for_again(store: Store) -> None:
    class UnreadableLatvia(ScriptedPrices):
        is_broken = True

        async def fetch_sheets(self, first: date, last: date) -> Sequence[DaySheet]:
            sheets = await super().fetch_sheets(first, last)
            if not self.is_broken or first.year != 2023:
                return sheets
            broken = faulty_sheets("its rows can't be read", self.name, "lv", first, last)
            return [*broken, *(sheet for sheet in sheets if sheet.zone != "lv")]

    clock = JumpingClock(NOW, nap_s=60, work_s=1)
    quotes = five_years()
    source = UnreadableLatvia({"ee": quotes["ee"], "lv": quotes["ee"]}, clock=clock)
    pipeline = pipeline_of(store, clock, prices=[source], history_start=date(2021, 1, 1), markets=[ESTONIA, LATVIA])
    await live(pipeline, clock, NOW + HOUR_S)
    assert len(hourly(store, "ee")) > len(hourly(store, "lv"))
    asked = asked_years(source).count(2023)
    assert 1 < asked < 20
    assert set(asked_years(source)) == set(range(2021, 2026))
    source.is_broken = False
    await live(pipeline, clock, clock.instant + 1200)
    assert asked_years(source).count(2023) == asked + 1
    assert len(hourly(store, "ee")) == len(hourly(store, "lv"))


async def test_one_weather_source_refusing_for_good_does_not_keep_the_others_months_out(store: Store) -> None:
    clock = JumpingClock(NOW, nap_s=60, work_s=1)
    down, up = ScriptedWeather("down"), ScriptedWeather("up")
    down.is_down = SourceRefused("down", "HTTP 401", status=401)
    prices = ScriptedPrices(estonian_quotes(date(2025, 2, 1), date(2025, 2, 12)), clock=clock)
    pipeline = pipeline_of(store, clock, prices=[prices], weather=[down, up], history_start=date(2024, 11, 1))
    await live(pipeline, clock, NOW + HOUR_S)
    assert sorted(up.asked) == [
        (date(2024, 11, 1), date(2024, 11, 30)),
        (date(2024, 12, 1), date(2024, 12, 31)),
        (date(2025, 1, 1), date(2025, 1, 31)),
        (date(2025, 2, 1), date(2025, 2, 10)),
    ]


@pytest.mark.parametrize(
    ("ran_days", "stopped_days"),
    [(0, 1), (0, 5), (0, 14), (0, 15), (0, 16), (0, 40), (0, 400), (13, 2), (13, 14), (13, 15), (13, 16)],
)
async def test_a_stop_of_any_length_is_made_up_for(store: Store, ran_days: int, stopped_days: int) -> None:
    first = date(2025, 1, 1)
    clock = JumpingClock(local("2025-01-10 10:00"), work_s=0.1)
    source = ScriptedPrices(estonian_quotes(first, date(2026, 3, 31)), clock=clock)
    for wait_days in (0, ran_days, stopped_days):
        clock.instant += wait_days * DAY_S
        assert await pipeline_of(store, clock, prices=[source], history_start=date(2025, 1, 1)).catch_up()
    assert unsettled_days(store, first, delivery_day(clock.instant)) == []


async def test_a_server_that_runs_on_asks_for_the_year_again_only_now_and_then(store: Store) -> None:
    clock = JumpingClock(local("2025-01-10 10:00"), work_s=0.1)
    source = ScriptedPrices(estonian_quotes(date(2025, 1, 1), date(2025, 2, 28)), clock=clock)
    pipeline = pipeline_of(store, clock, prices=[source], history_start=date(2025, 1, 1))
    for _ in range(30):
        await pipeline.catch_up()
        clock.instant += DAY_S
    assert asked_years(source) == [2025] * 3


def weather_hours(store: Store) -> set[int]:
    """Return the hours for which a forecast of the day before is stored."""
    issues = store.covariates.read_archive().series.get("wind_speed_100m@ee_west", ())
    archived = [issue for issue in issues if issue.issued_ts < issue.start_ts]
    return {issue.start_ts + n * HOUR_S for issue in archived for n in range(issue.values.size)}


@pytest.mark.parametrize("stopped_days", [1, 5, 40])
async def test_weather_of_a_stop_is_fetched_from_the_archive(store: Store, stopped_days: int) -> None:
    clock = JumpingClock(local("2025-01-29 10:00"), work_s=0.1)
    prices = ScriptedPrices(estonian_quotes(date(2025, 1, 1), date(2025, 3, 31)), clock=clock)
    weather = ScriptedWeather()
    for wait_days in (0, stopped_days):
        clock.instant += wait_days * DAY_S
        pipeline = pipeline_of(store, clock, prices=[prices], weather=[weather], history_start=date(2024, 12, 1))
        await pipeline.catch_up()
    midnight = clock.instant // DAY_S * DAY_S
    assert weather_hours(store) == set(range(utc_midnight(date(2024, 12, 1)), int(midnight) + DAY_S, HOUR_S))


async def test_the_progress_of_a_back_fill_is_in_the_log_of_prices(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tunnihind.pipeline.pipeline")
    clock = JumpingClock(NOW, work_s=1)
    await pipeline_from(ScriptedPrices(five_years(), clock=clock), store, clock).catch_up()
    assert "prices from 2023-01-01 to 2023-12-31: 192 new, 0 corrected" in caplog.messages
