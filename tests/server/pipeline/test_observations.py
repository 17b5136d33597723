"""The back-fill of observed weather, month by month over real connections, and its daily repeats."""

from collections.abc import AsyncIterator
from datetime import date, timedelta

import numpy as np
import pytest
from aiohttp import ClientSession

from tests.support.clocks import JumpingClock, local
from tests.support.store.pipelines import RecordingObserver, live, pipeline_of
from tests.support.upstreams import FakeOpenMeteo
from tests.support.upstreams.sources import ScriptedPrices, estonian_quotes
from tunnihind.core.market import DAY_S, HOUR_S, utc_midnight
from tunnihind.pipeline.pipeline import Pipeline
from tunnihind.sources.open_meteo import OpenMeteo
from tunnihind.sources.open_meteo_archive import OpenMeteoArchive
from tunnihind.store.store import Store
from tunnihind.weather_points import POINTS

NOW = local("2025-02-05 20:10")
TODAY = date(2025, 2, 5)
NAME = f"temperature_2m@{POINTS[0].name}"
NOVEMBER = date(2024, 11, 1)


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock(NOW, nap_s=1800, work_s=0.01)


@pytest.fixture
async def server(clock: JumpingClock) -> AsyncIterator[FakeOpenMeteo]:
    async with FakeOpenMeteo(lambda *_: 5.0, now=lambda: clock.instant) as fake:
        yield fake


@pytest.fixture
def source(session: ClientSession, server: FakeOpenMeteo, clock: JumpingClock) -> OpenMeteoArchive:
    return OpenMeteoArchive(session, server.archive_url, points=POINTS[:1], clock=clock)


def pipeline_from(
    source: OpenMeteoArchive, store: Store, clock: JumpingClock, observer: RecordingObserver | None = None
) -> Pipeline:
    prices = ScriptedPrices(estonian_quotes(TODAY - timedelta(2), TODAY), clock=clock)
    return pipeline_of(store, clock, prices=[prices], observations=[source], history_start=NOVEMBER, observer=observer)


def asked(server: FakeOpenMeteo) -> list[tuple[str, str]]:
    return [(query["start_date"], query["end_date"]) for query in server.requests]


async def test_months_are_filled_in_newest_first_and_all_hours_but_the_last_days_are_known(
    store: Store, server: FakeOpenMeteo, source: OpenMeteoArchive, clock: JumpingClock
) -> None:
    observer = RecordingObserver()
    await pipeline_from(source, store, clock, observer).catch_up()
    assert asked(server) == [
        ("2025-02-01", "2025-02-04"),
        ("2025-01-01", "2025-01-31"),
        ("2024-12-01", "2024-12-31"),
        ("2024-11-01", "2024-11-30"),
    ]
    assert observer.filled[-1] == ("open-meteo-archive", 4, 4)
    known = store.observations.read_archive().series[NAME]
    first = utc_midnight(NOVEMBER)
    hours = np.isfinite(known.between(first, (NOW - first) // HOUR_S))
    assert hours.argmin() == pytest.approx((NOW - 2 * DAY_S - first) // HOUR_S, abs=1)
    assert not hours[hours.argmin() :].any()
    assert store.health.by_source()["open-meteo-archive"].failures == 0


async def test_a_month_is_asked_for_again_each_day_until_eight_days_after_its_end(
    store: Store, server: FakeOpenMeteo, source: OpenMeteoArchive, clock: JumpingClock
) -> None:
    pipeline = pipeline_from(source, store, clock)
    await live(pipeline, clock, NOW + 6 * DAY_S)
    of_january = [last for first, last in asked(server) if first == "2025-01-01"]
    assert len(of_january) == 5  # on the days from 5 to 9 February
    assert [last for first, last in asked(server) if first == "2025-02-01"][::6] == ["2025-02-04", "2025-02-10"]
    assert [first for first, _ in asked(server)].count("2024-12-01") == 1


async def test_a_failing_month_stops_neither_the_other_months_nor_the_prices(
    store: Store, server: FakeOpenMeteo, source: OpenMeteoArchive, clock: JumpingClock
) -> None:
    server.weather = lambda *asked: 1e9 if asked[3] < utc_midnight(date(2024, 12, 1)) else 5.0
    answer = server.answer

    def refuse_january(path: str, query: dict[str, str]) -> object:
        if query["start_date"] == "2025-01-01":
            server.requests.append(query)
            raise ConnectionError
        return answer(path, query)

    server.answer = refuse_january  # type: ignore[method-assign, assignment]
    assert not await pipeline_from(source, store, clock).catch_up()
    await live(pipeline_from(source, store, clock), clock, clock.instant + 3 * HOUR_S)
    assert {first for first, _ in asked(server)} == {"2025-02-01", "2025-01-01", "2024-12-01", "2024-11-01"}
    assert store.prices.newest_ts("ee") is not None


async def test_a_month_that_fails_for_ever_is_asked_for_seldom(
    store: Store, server: FakeOpenMeteo, source: OpenMeteoArchive, clock: JumpingClock
) -> None:
    server.say(b'{"error":true,"reason":"Data corrupted"}', status=400, times=1000)
    pipeline = pipeline_from(source, store, clock)
    await live(pipeline, clock, NOW + 2 * DAY_S)
    before = len(server.requests)
    await live(pipeline, clock, NOW + 3 * DAY_S)
    assert 0 < len(server.requests) - before <= 5


def test_both_back_fills_together_stay_within_the_free_calls_of_an_hour_and_a_day() -> None:
    months = 1100 // 30 + 2
    calls = months * 3 * len(POINTS)
    pace = OpenMeteo.back_fill
    assert calls + pace.max_days_an_hour * len(POINTS) < 0.85 * 5_000
    assert calls + pace.max_days_a_day * len(POINTS) < 0.7 * 10_000
