"""The back-fill of weather, run by run over real connections: paced, over restarts, with missing and bad runs."""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from aiohttp import ClientSession, web

from tests.support.clocks import JumpingClock, StillClock, local
from tests.support.store.pipelines import RecordingObserver, StubModeller, live, pipeline_of
from tests.support.upstreams import FakeOpenMeteo
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import DAY_S, HOUR_S, utc_midnight
from tunnihind.errors import StoreError
from tunnihind.forecast.known_days.drivers import MIN_ISSUE_DAYS
from tunnihind.known import IssuedSeries
from tunnihind.pipeline.back_fill import progress_by_source
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.store.covariates import FindSuperfluous
from tunnihind.store.store import Store
from tunnihind.weather_points import POINTS

NOW = local("2025-02-10 20:10")
TODAY = date(2025, 2, 10)
NAME = f"wind_speed_100m@{POINTS[0].name}"
CALLS = len(POINTS)
"""The service counts a run of all points as this many calls. To be quick, the tests request only one point."""
FEW = replace(OpenMeteo.back_fill, max_days_an_hour=17, max_days_a_day=34)
"""A tenth of the days, to be quick."""


class Pace(StillClock):
    """The same clock for the source. A sleep lasts exactly as long as the source orders."""

    def __init__(self, clock: JumpingClock) -> None:
        super().__init__(clock.instant)
        self._clock = clock

    def now(self) -> float:
        return self._clock.instant

    async def sleep(self, seconds: float) -> None:
        self._clock.instant += seconds


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock(NOW, nap_s=300, work_s=0.01)


@pytest.fixture
async def server(clock: JumpingClock) -> AsyncIterator[FakeOpenMeteo]:
    async with FakeOpenMeteo(lambda *_: 5.0, now=lambda: clock.instant) as fake:
        yield fake


@pytest.fixture
def source(session: ClientSession, server: FakeOpenMeteo, clock: JumpingClock) -> OpenMeteo:
    return source_of(session, server, clock)


def source_of(session: ClientSession, server: FakeOpenMeteo, clock: JumpingClock) -> OpenMeteo:
    source = OpenMeteo(session, server.url, server.single_runs_url, points=POINTS[:1], clock=Pace(clock))
    # The pace is made for 14 points, but each request here has one.
    source.calls_a_run = CALLS
    source.back_fill = FEW
    return source


def pipeline_from(
    source: OpenMeteo,
    store: Store,
    clock: JumpingClock,
    since: date,
    *,
    modeller: StubModeller | None = None,
    observer: RecordingObserver | None = None,
) -> Pipeline:
    prices = ScriptedPrices(estonian_quotes(TODAY - timedelta(2), TODAY), clock=clock)
    return pipeline_of(
        store, clock, prices=[prices], weather=[source], modeller=modeller, history_start=since, observer=observer
    )


def kept(store: Store) -> dict[date, IssuedSeries]:
    """Return the stored first run of each day, by day. Fails if a run is stored twice."""
    issues = store.covariates.read_archive().series.get(NAME, ())
    runs = [issue for issue in issues if issue.run_ts is not None and issue.run_ts % DAY_S == 0]
    assert len({issue.run_ts for issue in runs}) == len(runs)
    return {day_of(issue.run_ts or 0): issue for issue in runs}


def day_of(ts: float) -> date:
    return datetime.fromtimestamp(ts, UTC).date()


def days_back(first: date, last: date) -> Iterator[date]:
    while last >= first:
        yield last
        last -= timedelta(1)


def asked_days(server: FakeOpenMeteo) -> list[date]:
    """Return the days whose first run was requested, in order."""
    return [day_of(run_ts) for _, run_ts in server.asked_at if run_ts % DAY_S == 0]


async def test_the_days_that_a_covariate_needs_are_there_within_minutes(
    store: Store, server: FakeOpenMeteo, source: OpenMeteo, clock: JumpingClock
) -> None:
    source.back_fill = OpenMeteo.back_fill
    since = TODAY - timedelta(MIN_ISSUE_DAYS - 1)
    await pipeline_from(source, store, clock, since).catch_up()
    assert asked_days(server) == list(days_back(since, TODAY))
    assert set(kept(store)) == set(days_back(since, TODAY))
    asked = [at for at, _ in server.asked_at]
    assert asked[-1] - asked[0] < 3 * 60
    assert 250 < MIN_ISSUE_DAYS * CALLS / ((asked[-1] - asked[0]) / 60) < 350


def test_the_pace_is_half_of_what_the_free_service_allows() -> None:
    assert 0.45 * 5_000 < OpenMeteo.back_fill.max_days_an_hour * CALLS < 0.5 * 5_000
    assert 0.45 * 10_000 < OpenMeteo.back_fill.max_days_a_day * CALLS < 0.5 * 10_000


async def test_the_rest_comes_by_the_limits_of_an_hour_and_of_a_day(
    store: Store, server: FakeOpenMeteo, source: OpenMeteo, clock: JumpingClock
) -> None:
    since = TODAY - timedelta(39)
    clock.nap_s = 1200
    await live(pipeline_from(source, store, clock, since), clock, NOW + 26 * HOUR_S)
    assert [day for day in asked_days(server) if day <= TODAY] == list(days_back(since, TODAY))
    assert set(kept(store)) == set(days_back(since, TODAY + timedelta(1)))
    at = sorted(ts for ts, run_ts in server.asked_at if run_ts % DAY_S == 0 and day_of(run_ts) <= TODAY)
    for span_s, most in [(HOUR_S, FEW.max_days_an_hour), (DAY_S, FEW.max_days_a_day)]:
        assert max(sum(start <= ts < start + span_s for ts in at) for start in at) == most


@pytest.mark.parametrize("restart_after_min", [1, 7])
async def test_restarts_cost_nothing_and_hurry_nothing(
    store: Store, session: ClientSession, server: FakeOpenMeteo, clock: JumpingClock, restart_after_min: int
) -> None:
    since = TODAY - timedelta(24)
    clock.nap_s = 60
    for _ in range(12):
        pipeline = pipeline_from(source_of(session, server, clock), store, clock, since)
        await live(pipeline, clock, clock.instant + restart_after_min * 60)
    counts = Counter(asked_days(server))
    assert max(counts.values()) == 1
    within_first_hour = [ts for ts, run_ts in server.asked_at if ts < NOW + HOUR_S and run_ts % DAY_S == 0]
    assert len(within_first_hour) <= FEW.max_days_an_hour
    assert list(counts) == list(days_back(min(counts), TODAY))


async def test_a_run_that_is_missing_is_left_out_remembered_and_asked_for_a_few_times_only(
    store: Store, session: ClientSession, server: FakeOpenMeteo, clock: JumpingClock
) -> None:
    since, gap = TODAY - timedelta(9), [TODAY - timedelta(4), TODAY - timedelta(5)]
    server.missing |= {utc_midnight(day) for day in gap}
    clock.nap_s = 6 * HOUR_S
    for _ in range(3):
        pipeline = pipeline_from(source_of(session, server, clock), store, clock, since)
        await live(pipeline, clock, clock.instant + 7 * DAY_S)
    assert set(days_back(since, TODAY)) - set(kept(store)) == set(gap)
    counts = Counter(asked_days(server))
    assert {counts[day] for day in gap} == {4}
    assert {counts[day] for day in days_back(since, TODAY) if day not in gap} == {1}
    progress = progress_by_source(store.state)["open-meteo"]
    assert (progress.lacking, progress.goes_on_at) == (2, 0)


async def test_a_run_that_comes_late_to_the_archive_is_taken_in(
    store: Store, server: FakeOpenMeteo, source: OpenMeteo, clock: JumpingClock
) -> None:
    late = TODAY - timedelta(4)
    server.missing.add(utc_midnight(late))
    pipeline = pipeline_from(source, store, clock, TODAY - timedelta(9))
    await pipeline.catch_up()
    assert late not in kept(store)
    server.missing.clear()
    clock.instant += DAY_S + HOUR_S
    await pipeline.catch_up()
    assert late in kept(store)
    assert progress_by_source(store.state)["open-meteo"].lacking == 0


class Garbled(FakeOpenMeteo):
    """Has one run with an unreadable answer."""

    bad_run = "2025-02-05T00:00"

    def answer(self, path: str, query: Mapping[str, str]) -> web.Response:
        if query.get("run") == self.bad_run:
            return super().answer(path, {**query, "latitude": "1,2", "longitude": "1,2"})
        return super().answer(path, query)


async def test_a_run_whose_answer_makes_no_sense_does_not_stop_the_rest_nor_is_it_asked_for_ever(
    store: Store, session: ClientSession, clock: JumpingClock
) -> None:
    since, bad = TODAY - timedelta(9), date(2025, 2, 5)
    clock.nap_s = 60
    async with Garbled(lambda *_: 5.0, now=lambda: clock.instant) as server:
        pipeline = pipeline_from(source_of(session, server, clock), store, clock, since)
        await live(pipeline, clock, NOW + 2 * HOUR_S)
        assert set(days_back(since, TODAY)) - set(kept(store)) == {bad}
        clock.nap_s = 12 * HOUR_S
        await live(pipeline, clock, NOW + 20 * DAY_S)
    assert 3 <= Counter(asked_days(server))[bad] <= 8


@pytest.mark.parametrize(("limit", "pause_s"), [("Minutely", 60), ("Hourly", 50 * 60), ("Daily", 2 * HOUR_S)])
async def test_over_a_limit_the_back_fill_waits_and_goes_on_where_it_was(
    store: Store, server: FakeOpenMeteo, source: OpenMeteo, clock: JumpingClock, limit: str, pause_s: int
) -> None:
    clock.nap_s = min(pause_s / 2, 300)
    observer = RecordingObserver()
    pipeline = pipeline_from(source, store, clock, TODAY - timedelta(9), observer=observer)
    for _ in range(8):
        await pipeline.step()
    done = len(kept(store))
    assert 0 < done < 10
    server.say(f'{{"error":true,"reason":"{limit} API request limit exceeded."}}'.encode(), status=429)
    await live(pipeline, clock, NOW + HOUR_S + 2 * pause_s)
    assert set(kept(store)) == set(days_back(TODAY - timedelta(9), TODAY))
    at = [ts for ts, _ in server.asked_at]
    assert max(late - early for early, late in pairwise(at)) >= 0.9 * min(pause_s, 50 * 60)
    assert max(Counter(asked_days(server)).values()) == 1


async def test_a_full_disk_loses_no_run(
    store: Store, server: FakeOpenMeteo, source: OpenMeteo, clock: JumpingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    refill, failures = store.covariates.add_archived, [True, True]

    def sometimes_full(series: Mapping[str, Sequence[IssuedSeries]], superfluous: FindSuperfluous) -> int:
        if failures:
            failures.pop()
            raise StoreError("database or disk is full")
        return refill(series, superfluous)

    monkeypatch.setattr(store.covariates, "add_archived", sometimes_full)
    clock.nap_s = 30
    await live(pipeline_from(source, store, clock, TODAY - timedelta(9)), clock, NOW + HOUR_S)
    assert set(kept(store)) == set(days_back(TODAY - timedelta(9), TODAY))


@pytest.mark.parametrize("jump_s", [-3 * DAY_S, -HOUR_S, 2 * DAY_S])
async def test_a_clock_that_jumps_asks_for_no_run_twice(
    store: Store, server: FakeOpenMeteo, source: OpenMeteo, clock: JumpingClock, jump_s: int
) -> None:
    pipeline = pipeline_from(source, store, clock, TODAY - timedelta(19))
    for _ in range(10):
        await pipeline.step()
    clock.instant += jump_s
    await live(pipeline, clock, clock.instant + HOUR_S)
    clock.instant = max(clock.instant, NOW + HOUR_S)
    await live(pipeline, clock, clock.instant + HOUR_S)
    assert set(days_back(TODAY - timedelta(19), TODAY)) <= set(kept(store))
    asked_again = [day for day, times in Counter(asked_days(server)).items() if times > 1]
    # After the clock is set back, live runs are requested again, but not stored twice.
    assert len(asked_again) <= 2


async def test_days_of_a_stop_are_made_up_for(
    store: Store, session: ClientSession, server: FakeOpenMeteo, clock: JumpingClock
) -> None:
    since = TODAY - timedelta(3)
    await pipeline_from(source_of(session, server, clock), store, clock, since).catch_up()
    clock.instant += 5 * DAY_S
    await pipeline_from(source_of(session, server, clock), store, clock, since).catch_up()
    assert set(kept(store)) == set(days_back(since, TODAY + timedelta(5)))


async def test_enough_weather_is_followed_by_a_forecast_at_once(
    store: Store, source: OpenMeteo, clock: JumpingClock
) -> None:
    modeller = StubModeller()
    source.back_fill = OpenMeteo.back_fill
    await live(pipeline_from(source, store, clock, TODAY - timedelta(59), modeller=modeller), clock, NOW + 10 * 60)
    made_with_enough = [at for at in modeller.made_at if NOW + 60 < at < NOW + 10 * 60]
    assert made_with_enough


async def test_the_log_says_how_far_it_is_and_when_it_goes_on(
    store: Store, source: OpenMeteo, clock: JumpingClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tunnihind.pipeline.pipeline")
    observer = RecordingObserver()
    pipeline = pipeline_from(source, store, clock, TODAY - timedelta(29), observer=observer)
    await pipeline.catch_up()
    (told,) = [message for message in caplog.messages if "requests are limited" in message]
    assert told.startswith("open-meteo: 17 of 30 days of weather are stored, back to 2025-01-25; ")
    assert [one for one in observer.filled if one[0] == "open-meteo"][-1] == ("open-meteo", 17, 30)
