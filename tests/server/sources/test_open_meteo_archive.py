"""The weather of past days from Open-Meteo's Historical Weather API, over real connections."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from aiohttp import ClientSession

from tests.support.clocks import StillClock
from tests.support.upstreams import FakeOpenMeteo
from tests.support.upstreams.open_meteo import plain_weather
from tunnihind.core.market import HOUR_S
from tunnihind.errors import BadAnswer, RateLimited, SourceRefused
from tunnihind.sources.open_meteo_archive import OpenMeteoArchive
from tunnihind.weather_points import POINTS, VARIABLES

NOW = int(datetime(2025, 12, 15, 9, tzinfo=UTC).timestamp())
TODAY = date(2025, 12, 15)
NOVEMBER = date(2025, 11, 1), date(2025, 11, 30)
START = int(datetime(2025, 11, 1, tzinfo=UTC).timestamp())


@pytest.fixture
def clock() -> StillClock:
    return StillClock(NOW)


@pytest.fixture
async def server(clock: StillClock) -> AsyncIterator[FakeOpenMeteo]:
    async with FakeOpenMeteo(now=clock.now) as fake:
        yield fake


@pytest.fixture
def source(session: ClientSession, server: FakeOpenMeteo, clock: StillClock) -> OpenMeteoArchive:
    return OpenMeteoArchive(session, server.archive_url, clock=clock)


async def test_one_request_brings_a_month_of_all_points(server: FakeOpenMeteo, source: OpenMeteoArchive) -> None:
    found = await source.observations(*NOVEMBER)
    assert set(found) == {f"{variable.name}@{point.name}" for variable in VARIABLES for point in POINTS}
    (query,) = server.requests
    assert {name: query[name] for name in query if name not in {"latitude", "longitude"}} == {
        "hourly": "wind_speed_100m,temperature_2m,shortwave_radiation",
        "models": "ecmwf_ifs",
        "wind_speed_unit": "ms",
        "timeformat": "unixtime",
        "timezone": "GMT",
        "start_date": "2025-11-01",
        "end_date": "2025-11-30",
    }
    wind = found[f"wind_speed_100m@{POINTS[1].name}"]
    assert wind.start_ts == START
    expected = [plain_weather("wind_speed_100m", 1, 0, START + n * HOUR_S) for n in range(30 * 24)]
    assert wind.values == pytest.approx(np.array(expected, np.float32))
    # The mean of an hour is labelled with the hour's end.
    assert found[f"shortwave_radiation@{POINTS[0].name}"].start_ts == START - HOUR_S


async def test_days_that_have_not_ended_are_not_requested_and_nulls_are_unknown(
    server: FakeOpenMeteo, source: OpenMeteoArchive
) -> None:
    found = await source.observations(date(2025, 12, 1), TODAY)
    (query,) = server.requests
    assert query["end_date"] == "2025-12-14"
    temperature = found[f"temperature_2m@{POINTS[0].name}"]
    assert temperature.start_ts + temperature.values.size * HOUR_S == NOW - 2 * 24 * HOUR_S
    assert await source.observations(TODAY, TODAY) == {}
    assert len(server.requests) == 1


async def test_only_nulls_are_no_observations(server: FakeOpenMeteo, source: OpenMeteoArchive) -> None:
    server.weather = lambda *_: None
    assert await source.observations(*NOVEMBER) == {}


async def test_a_gap_stays_unknown(server: FakeOpenMeteo, source: OpenMeteoArchive) -> None:
    server.weather = lambda *asked: None if asked[3] == START + HOUR_S else 5.0
    found = (await source.observations(*NOVEMBER))[f"wind_speed_100m@{POINTS[0].name}"]
    np.testing.assert_array_equal(found.values[:3], np.array([5, np.nan, 5], np.float32))


async def test_requests_keep_a_quarter_of_the_pace_that_is_allowed(source: OpenMeteoArchive, clock: StillClock) -> None:
    await source.observations(*NOVEMBER)
    # 30 days at 14 points count as three times 14 calls at most.
    assert clock.slept == [pytest.approx(42 / 150 * 60)]


async def test_the_history_is_what_the_price_forecast_needs(source: OpenMeteoArchive) -> None:
    assert source.history_since == TODAY - timedelta(days=1100)


async def test_a_day_that_the_service_does_not_have_is_refused(session: ClientSession, server: FakeOpenMeteo) -> None:
    ahead = OpenMeteoArchive(session, server.archive_url, clock=StillClock(NOW + 10 * 24 * HOUR_S))
    with pytest.raises(SourceRefused, match="'end_date' is out of allowed range from 1940-01-01 to 2025-12-15"):
        await ahead.observations(date(2025, 12, 1), date(2025, 12, 31))


async def test_a_daily_limit_pauses_until_the_next_day(server: FakeOpenMeteo, source: OpenMeteoArchive) -> None:
    said = b'{"error":true,"reason":"Daily API request limit exceeded. Please try again tomorrow."}'
    server.say(said, status=429)
    with pytest.raises(RateLimited) as caught:
        await source.observations(*NOVEMBER)
    assert caught.value.retry_after_s == 15 * HOUR_S
    assert str(caught.value).startswith("open-meteo-archive: ")


@pytest.mark.parametrize("body", [b"[]", b"<html>", b'{"hourly":{},"hourly_units":{}}'])
async def test_another_answer_is_bad(server: FakeOpenMeteo, source: OpenMeteoArchive, body: bytes) -> None:
    server.say(body)
    with pytest.raises(BadAnswer, match=r"^open-meteo-archive: "):
        await source.observations(*NOVEMBER)
