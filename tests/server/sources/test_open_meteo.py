import json
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from aiohttp import ClientSession
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clocks import StillClock
from tests.support.upstreams import FakeOpenMeteo
from tests.support.upstreams.open_meteo import plain_weather
from tunnihind.core.market import DAY_S, HOUR_S
from tunnihind.errors import BadAnswer, RateLimited, SourceError, SourceRefused, WeatherRunMissing
from tunnihind.known import IssuedSeries
from tunnihind.sources.open_meteo import (
    RUN_AVAILABLE_AFTER_S,
    WEATHER_MODEL,
    OpenMeteo,
    newest_expected_run,
    parse_point_answers,
)
from tunnihind.weather_points import POINTS, VARIABLES

MIDNIGHT = int(datetime(2025, 12, 15, tzinfo=UTC).timestamp())
NOW = MIDNIGHT + 11 * HOUR_S + 1234
DAY = date(2025, 12, 15)
NAMES = {f"{variable.name}@{point.name}" for variable in VARIABLES for point in POINTS}


@pytest.fixture
def clock() -> StillClock:
    return StillClock(NOW)


@pytest.fixture
async def server(clock: StillClock) -> AsyncIterator[FakeOpenMeteo]:
    async with FakeOpenMeteo(now=clock.now) as fake:
        yield fake


@pytest.fixture
def source(session: ClientSession, server: FakeOpenMeteo, clock: StillClock) -> OpenMeteo:
    return OpenMeteo(session, server.url, server.single_runs_url, clock=clock)


def runs_of(found: Mapping[str, IssuedSeries]) -> set[int | None]:
    return {issue.run_ts for issue in found.values()}


def end_ts(issue: IssuedSeries) -> int:
    return issue.start_ts + issue.values.size * HOUR_S


async def test_one_request_brings_a_run_of_all_points_by_its_name(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    found = await source.newest_forecasts(NOW)
    assert set(found) == source.covariate_names == NAMES
    (query,) = server.requests
    assert {name: query[name] for name in query if name not in {"latitude", "longitude"}} == {
        "hourly": "wind_speed_100m,temperature_2m,shortwave_radiation",
        "models": WEATHER_MODEL,
        "wind_speed_unit": "ms",
        "timeformat": "unixtime",
        "timezone": "GMT",
        "run": "2025-12-15T00:00",
        "forecast_days": "10",
    }
    assert len(query["latitude"].split(",")) == len(query["longitude"].split(",")) == len(POINTS)


async def test_a_run_starts_at_its_initialisation_and_is_issued_when_it_came(
    source: OpenMeteo, clock: StillClock
) -> None:
    clock.instant = NOW + 7  # by the time of the answer
    for issue in (await source.newest_forecasts(NOW)).values():
        assert (issue.issued_ts, issue.run_ts) == (NOW + 7, MIDNIGHT)
        assert issue.start_ts == MIDNIGHT
        assert end_ts(issue) >= MIDNIGHT + 10 * DAY_S - HOUR_S
        assert issue.values.dtype == np.float32


async def test_every_point_gets_its_own_values(source: OpenMeteo) -> None:
    found = await source.newest_forecasts(NOW)
    for number, point in enumerate(POINTS):
        first = found[f"temperature_2m@{point.name}"].values[0]
        assert first == pytest.approx(plain_weather("temperature_2m", number, 0, MIDNIGHT))


async def test_radiation_stands_at_the_start_of_the_hour_that_it_is_the_mean_of(source: OpenMeteo) -> None:
    found = await source.newest_forecasts(NOW)
    radiation, wind = found["shortwave_radiation@ee_west"], found["wind_speed_100m@ee_west"]
    at_noon = (MIDNIGHT + 12 * HOUR_S - radiation.start_ts) // HOUR_S
    # The service's value at 13:00 is the mean from 12:00 to 13:00.
    assert radiation.values[at_noon] == pytest.approx(13)
    assert wind.values[12] == pytest.approx(12)


@pytest.mark.parametrize(
    ("hour", "run_hour"), [(0, -6), (5.9, -6), (6, 0), (8.9, 0), (11.99, 0), (12, 6), (18, 12), (23.9, 12)]
)
def test_a_run_counts_as_known_six_hours_after_its_initialisation(hour: float, run_hour: int) -> None:
    # The run before is the run of 18 UTC of the day before.
    assert newest_expected_run(MIDNIGHT + hour * HOUR_S) == MIDNIGHT + run_hour * HOUR_S


async def test_a_run_of_six_and_eighteen_utc_ends_where_it_ends(source: OpenMeteo, clock: StillClock) -> None:
    clock.instant = now = MIDNIGHT + 13 * HOUR_S
    found = await source.newest_forecasts(now)
    assert runs_of(found) == {MIDNIGHT + 6 * HOUR_S}
    assert {end_ts(issue) for name, issue in found.items() if name.startswith("wind")} == {
        MIDNIGHT + (6 + 144 + 1) * HOUR_S
    }
    assert all(np.isfinite(issue.values).all() for issue in found.values())


async def test_a_run_is_given_once_and_not_asked_for_again(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock
) -> None:
    assert source.has_news(NOW)
    await source.newest_forecasts(NOW)
    assert not source.has_news(NOW)
    assert await source.newest_forecasts(NOW + 600) == {}
    assert len(server.requests) == 1
    clock.instant = MIDNIGHT + 12 * HOUR_S
    assert source.has_news(MIDNIGHT + 12 * HOUR_S)
    assert runs_of(await source.newest_forecasts(MIDNIGHT + 12 * HOUR_S)) == {MIDNIGHT + 6 * HOUR_S}


async def test_while_a_run_is_late_the_one_before_serves_and_it_is_asked_for_again(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock
) -> None:
    server.published_after_s = 8 * HOUR_S
    clock.instant = MIDNIGHT + 6 * HOUR_S
    assert runs_of(await source.newest_forecasts(int(clock.now()))) == {MIDNIGHT - 6 * HOUR_S}
    clock.instant += HOUR_S
    assert source.has_news(int(clock.now()))
    assert await source.newest_forecasts(int(clock.now())) == {}
    clock.instant += HOUR_S
    assert runs_of(await source.newest_forecasts(int(clock.now()))) == {MIDNIGHT}
    assert server.runs_asked == ["2025-12-15T00:00", "2025-12-14T18:00", "2025-12-15T00:00", "2025-12-15T00:00"]


async def test_a_run_of_which_only_the_first_days_are_out_is_waited_for_but_not_for_good(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock
) -> None:
    server.reaches[MIDNIGHT] = 72
    clock.instant = MIDNIGHT + 7 * HOUR_S
    assert runs_of(await source.newest_forecasts(int(clock.now()))) == {MIDNIGHT - 6 * HOUR_S}
    server.missing.add(MIDNIGHT + 6 * HOUR_S)
    clock.instant = MIDNIGHT + 12 * HOUR_S
    found = await source.newest_forecasts(int(clock.now()))
    assert runs_of(found) == {MIDNIGHT}
    assert end_ts(found["temperature_2m@ee_west"]) == MIDNIGHT + 73 * HOUR_S


async def test_one_point_comes_as_one_object(session: ClientSession, server: FakeOpenMeteo, clock: StillClock) -> None:
    source = OpenMeteo(session, server.url, server.single_runs_url, points=POINTS[:1], clock=clock)
    assert set(await source.newest_forecasts(NOW)) == {f"{variable.name}@ee_west" for variable in VARIABLES}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wind_speed_100m", -0.1),
        ("wind_speed_100m", 61.0),
        ("temperature_2m", -80.0),
        ("temperature_2m", 1e300),
        ("shortwave_radiation", -500_000.0),
        ("shortwave_radiation", 1500.0),
    ],
)
async def test_what_cannot_be_true_is_unknown(
    server: FakeOpenMeteo, source: OpenMeteo, name: str, value: float
) -> None:
    bad_ts = MIDNIGHT + 30 * HOUR_S
    server.weather = lambda variable, *rest: value if variable == name and rest[-1] == bad_ts else 1.0
    issue = (await source.newest_forecasts(NOW))[f"{name}@lt_west"]
    (unknown,) = np.flatnonzero(np.isnan(issue.values)).tolist()
    past_hour = HOUR_S if name == "shortwave_radiation" else 0
    assert issue.start_ts + unknown * HOUR_S == bad_ts - past_hour


async def test_a_point_without_a_single_value_costs_the_others_nothing(
    server: FakeOpenMeteo, source: OpenMeteo
) -> None:
    server.weather = lambda _variable, point, *_: None if point == 3 else 1.0
    found = await source.archived_forecasts(DAY - timedelta(3), DAY - timedelta(3))
    assert set(found) == {name for name in NAMES if not name.endswith(f"@{POINTS[3].name}")}


async def test_history_is_the_first_run_of_each_day_known_six_hours_later(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock
) -> None:
    found = await source.archived_forecasts(DAY - timedelta(3), DAY)
    assert server.runs_asked == [f"2025-12-{day}T00:00" for day in (12, 13, 14, 15)]
    for issues in found.values():
        assert [issue.run_ts for issue in issues] == [MIDNIGHT - back * DAY_S for back in (3, 2, 1, 0)]
        assert all(issue.issued_ts == (issue.run_ts or 0) + RUN_AVAILABLE_AFTER_S for issue in issues)
    calls_a_minute = 4 * len(POINTS) / (sum(clock.slept) / 60)
    assert calls_a_minute == pytest.approx(300)


async def test_a_run_that_does_not_count_as_known_yet_is_not_asked_for(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock
) -> None:
    clock.instant = MIDNIGHT + 6 * HOUR_S - 1
    assert await source.archived_forecasts(DAY, DAY) == {}
    assert server.requests == []


NOT_THERE = [
    (
        400,
        b'{"error":true,"reason":"The requested model run is not available. Model: ecmwf_ifs, run: 2025-12-12T00:00Z"}',
    ),
    (400, b'{"reason":"No data is available for this location","error":true}'),
    (404, b'{"error":true,"reason":"Not Found"}'),
    (
        200,
        b"Unexpected error while streaming data: modelRunUnavailable(model: App.DomainRegistry.ecmwf_ifs, run: 1)",
    ),
]


@pytest.mark.parametrize(("status", "body"), NOT_THERE)
async def test_every_way_of_saying_that_a_run_is_missing_is_understood(
    server: FakeOpenMeteo, source: OpenMeteo, status: int, body: bytes
) -> None:
    server.say(body, status=status)
    assert await source.archived_forecasts(DAY - timedelta(3), DAY - timedelta(3)) == {}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (
            400,
            b'{"error":true,"reason":"Cannot initialize ForecastVariable from invalid String value wind"}',
            SourceRefused,
        ),
        (200, b"", BadAnswer),
        (200, b"[]", BadAnswer),
        (200, b"{}", BadAnswer),
        (200, b"<html>maintenance</html>", BadAnswer),
        (500, b"oops", SourceRefused),
    ],
)
async def test_an_answer_that_says_nothing_of_the_run_is_an_error(
    server: FakeOpenMeteo, source: OpenMeteo, status: int, body: bytes, error: type[SourceError]
) -> None:
    server.say(body, status=status, times=3)
    with pytest.raises(error) as caught:
        await source.archived_forecasts(DAY - timedelta(3), DAY - timedelta(3))
    assert not isinstance(caught.value, WeatherRunMissing)


async def test_a_run_of_nothing_but_nulls_is_no_run(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.weather = lambda *_: None
    assert await source.archived_forecasts(DAY - timedelta(3), DAY - timedelta(3)) == {}


async def test_nothing_is_asked_of_days_before_runs_were_kept(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    assert await source.archived_forecasts(date(2024, 2, 1), date(2024, 3, 13)) == {}
    assert server.requests == []


async def test_the_forecast_api_serves_while_no_run_can_be_had_every_three_hours(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock, caplog: pytest.LogCaptureFixture
) -> None:
    server.published_after_s = 365 * DAY_S
    found = await source.newest_forecasts(NOW)
    stitched = server.requests[-1]
    assert (stitched["models"], stitched["start_date"], stitched["end_date"]) == (
        WEATHER_MODEL,
        "2025-12-15",
        "2025-12-24",
    )
    assert set(found) == NAMES
    assert {(issue.issued_ts, issue.run_ts) for issue in found.values()} == {(NOW, None)}
    assert end_ts(found["wind_speed_100m@ee_west"]) == MIDNIGHT + 10 * DAY_S
    assert source.has_news(NOW)
    asked = len(server.requests)
    for minutes, is_given in [(20, False), (160, False), (180, True)]:
        clock.instant = NOW + minutes * 60
        assert bool(await source.newest_forecasts(int(clock.now()))) is is_given
    stitched_again = [query for query in server.requests[asked:] if "run" not in query]
    assert len(stitched_again) == 1
    server.published_after_s = 0
    assert runs_of(await source.newest_forecasts(int(clock.now()))) == {MIDNIGHT + 6 * HOUR_S}
    assert [message for message in caplog.messages if "used instead" in message] == [
        "open-meteo: there is no run of the last 24 hours; the forecast API is used instead"
    ]


async def test_the_forecast_api_serves_where_single_runs_do_not_answer(
    session: ClientSession, server: FakeOpenMeteo, clock: StillClock
) -> None:
    source = OpenMeteo(session, server.url, "http://127.0.0.1:9", clock=clock)
    assert runs_of(await source.newest_forecasts(NOW)) == {None}


async def test_a_forecast_without_a_single_value_is_a_bad_answer(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.weather = lambda *_: None
    with pytest.raises(BadAnswer, match="no plausible value"):
        await source.newest_forecasts(NOW)


async def test_where_neither_answers_the_reason_is_told(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.say(b'{"error":true,"reason":"Invalid value for hourly"}', status=400, times=2)
    with pytest.raises(SourceRefused, match="Invalid value"):
        await source.newest_forecasts(NOW)


@pytest.mark.parametrize(
    ("limit", "wait_s"),
    [
        ("Minutely API request limit exceeded. Please try again in one minute.", 60),
        ("Hourly API request limit exceeded. Please try again in the next hour.", 3600 - 1234),
        ("Daily API request limit exceeded. Please try again tomorrow.", 13 * HOUR_S - 1234),
    ],
)
async def test_over_a_limit_it_is_left_alone_for_as_long_as_that_lasts(
    server: FakeOpenMeteo, source: OpenMeteo, limit: str, wait_s: int
) -> None:
    server.say(json.dumps({"error": True, "reason": limit}).encode(), status=429)
    with pytest.raises(RateLimited, match=limit.partition(" ")[0]) as caught:
        await source.newest_forecasts(NOW)
    assert caught.value.retry_after_s == wait_s
    assert len(server.requests) == 1


def _drop_point(answer: list[dict[str, Any]]) -> None:
    del answer[3]


def _drop_hour(answer: list[dict[str, Any]]) -> None:
    del answer[3]["hourly"]["time"][7]


def _other_hours(answer: list[dict[str, Any]]) -> None:
    for location in answer:
        location["hourly"]["time"] = [ts + HOUR_S for ts in location["hourly"]["time"]]


def _three_hourly(answer: list[dict[str, Any]]) -> None:
    for location in answer:
        location["hourly"]["time"][1] += HOUR_S


def _iso_times(answer: list[dict[str, Any]]) -> None:
    answer[3]["hourly"]["time"] = ["2025-12-15T00:00"] * 240


def _kilometres_per_hour(answer: list[dict[str, Any]]) -> None:
    answer[3]["hourly_units"]["wind_speed_100m"] = "km/h"


def _short_column(answer: list[dict[str, Any]]) -> None:
    del answer[3]["hourly"]["temperature_2m"][0]


def _no_column(answer: list[dict[str, Any]]) -> None:
    del answer[3]["hourly"]["temperature_2m"]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (_drop_point, "answers for 13 points instead of 14"),
        (_drop_hour, "hours at ee_tartu"),
        (_other_hours, "its 240 hours do not begin at 2025-12-15T00:00:00Z"),
        (_three_hourly, "not one hour apart"),
        (_iso_times, r"\$\[\.\.\.\]\.hourly\[\.\.\.\]\[0\]|can't be read"),
        (_kilometres_per_hour, "wind_speed_100m at ee_tartu has 240 values in km/h, not 240 in m/s"),
        (_short_column, "temperature_2m at ee_tartu has 239 values"),
        (_no_column, "temperature_2m at ee_tartu has 0 values"),
    ],
)
async def test_an_answer_that_does_not_fit_the_question_is_refused(
    server: FakeOpenMeteo, source: OpenMeteo, spoil: Callable[[list[dict[str, Any]]], None], problem: str
) -> None:
    await source.archived_forecasts(DAY, DAY)
    response = server.answer("/single-runs/v1/forecast", server.requests[0])
    assert response.text is not None
    answer = json.loads(response.text)
    spoil(answer)
    server.say(json.dumps(answer).encode())
    with pytest.raises(BadAnswer, match=problem):
        await source.archived_forecasts(DAY, DAY)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hourly", "hourly_units"]), inner),
    max_leaves=8,
)


@given(body=st.binary() | json_values.map(json.dumps).map(str.encode))
def test_no_answer_raises_anything_but_that_it_is_bad_or_there_is_no_run(body: bytes) -> None:
    with suppress(BadAnswer, WeatherRunMissing):
        parse_point_answers(body, "open-meteo")


def test_points_are_distinct_and_lie_around_the_baltic() -> None:
    assert len({point.name for point in POINTS}) == len({(p.latitude, p.longitude) for p in POINTS}) == len(POINTS)
    assert all(54 < point.latitude < 66 and 15 < point.longitude < 28 and point.why for point in POINTS)
    # The simulated market takes its wind power from these.
    assert {point.zone for point in POINTS if point.kind == "wind"} == {"ee", "lv", "lt", "fi", "se"}
    assert not any(math.isnan(variable.low) or variable.low >= variable.high for variable in VARIABLES)
