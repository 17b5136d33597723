import json
import math
from collections.abc import AsyncIterator, Callable
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
from tunnihind.errors import BadAnswer, RateLimited, SourceRefused
from tunnihind.market import DAY_S, HOUR_S
from tunnihind.sources.open_meteo import LEAD_DAYS, MODEL, OpenMeteo, parse_locations
from tunnihind.sources.weather_points import POINTS, VARIABLES

MIDNIGHT = int(datetime(2025, 12, 15, tzinfo=UTC).timestamp())
NOW = MIDNIGHT + 11 * HOUR_S + 1234
DAY = date(2025, 12, 15)


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenMeteo]:
    async with FakeOpenMeteo() as fake:
        yield fake


@pytest.fixture
def clock() -> StillClock:
    return StillClock(NOW)


@pytest.fixture
def source(session: ClientSession, server: FakeOpenMeteo, clock: StillClock) -> OpenMeteo:
    return OpenMeteo(session, server.url, server.url, clock=clock)


async def test_one_request_brings_all_variables_of_all_points(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    found = await source.current(NOW)
    assert set(found) == {f"{variable.name}@{point.name}" for variable in VARIABLES for point in POINTS}
    assert source.names == set(found)
    (query,) = server.requests
    assert {name: query[name] for name in query if name not in {"latitude", "longitude"}} == {
        "hourly": "wind_speed_100m,temperature_2m,shortwave_radiation",
        "models": MODEL,
        "wind_speed_unit": "ms",
        "timeformat": "unixtime",
        "timezone": "GMT",
        "start_date": "2025-12-15",
        "end_date": "2025-12-24",
    }
    assert len(query["latitude"].split(",")) == len(query["longitude"].split(",")) == len(POINTS)


async def test_the_forecast_starts_with_the_day_and_reaches_past_the_eighth_one(source: OpenMeteo) -> None:
    for issue in (await source.current(NOW)).values():
        assert (issue.issued_ts, issue.lead_s) == (NOW, 0)
        assert issue.start_ts in {MIDNIGHT, MIDNIGHT - HOUR_S}
        assert issue.start_ts + issue.values.size * HOUR_S >= MIDNIGHT + 9 * DAY_S
        assert issue.values.dtype == np.float32


async def test_every_point_gets_its_own_values(source: OpenMeteo) -> None:
    found = await source.current(NOW)
    for number, point in enumerate(POINTS):
        first = found[f"temperature_2m@{point.name}"].values[0]
        assert first == pytest.approx(plain_weather("temperature_2m", number, 0, MIDNIGHT))


async def test_radiation_stands_at_the_start_of_the_hour_that_it_is_the_mean_of(source: OpenMeteo) -> None:
    found = await source.current(NOW)
    radiation, wind = found["shortwave_radiation@ee_tartu"], found["wind_speed_100m@ee_tartu"]
    at_noon = (MIDNIGHT + 12 * HOUR_S - radiation.start_ts) // HOUR_S
    # The service's value at 13:00 is the mean from 12:00 on.
    assert radiation.values[at_noon] == pytest.approx(13.3)
    assert wind.start_ts == MIDNIGHT
    assert wind.values[12] == pytest.approx(12.3)


async def test_one_point_comes_as_one_object(session: ClientSession, server: FakeOpenMeteo) -> None:
    found = await OpenMeteo(session, server.url, server.url, points=POINTS[:1]).current(NOW)
    assert set(found) == {f"{variable.name}@ee_west" for variable in VARIABLES}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wind_speed_100m", -0.1),
        ("wind_speed_100m", 61.0),
        ("temperature_2m", -80.0),
        ("shortwave_radiation", -500_000.0),
        ("shortwave_radiation", 1500.0),
        ("shortwave_radiation", None),
    ],
)
async def test_what_cannot_be_true_is_unknown(
    server: FakeOpenMeteo, source: OpenMeteo, name: str, value: float | None
) -> None:
    bad_ts = MIDNIGHT + 30 * HOUR_S
    server.weather = lambda variable, *rest: value if variable == name and rest[-1] == bad_ts else 1.0
    issue = (await source.current(NOW))[f"{name}@lt_west"]
    assert np.flatnonzero(np.isnan(issue.values)).tolist() == [30]


async def test_a_forecast_without_a_single_value_is_a_bad_answer(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.weather = lambda *_: None
    with pytest.raises(BadAnswer, match="no plausible value"):
        await source.current(NOW)


async def test_a_variable_without_a_single_value_is_left_out(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.weather = lambda variable, *_: None if variable == "temperature_2m" else 1.0
    found = await source.current(NOW)
    assert len(found) == 2 * len(POINTS)
    assert not [name for name in found if name.startswith("temperature")]


async def test_previous_runs_give_a_series_for_each_lead_from_the_oldest_issue_on(
    server: FakeOpenMeteo, source: OpenMeteo
) -> None:
    found = await source.archived(DAY, DAY + timedelta(days=2))
    issues = found["wind_speed_100m@lv_riga"]
    assert [issue.lead_s for issue in issues] == [lead * DAY_S for lead in reversed(LEAD_DAYS)]
    for issue in issues:
        assert issue.start_ts == MIDNIGHT
        assert issue.issued_ts == MIDNIGHT - issue.lead_s
        assert issue.values.size == 72
        assert issue.values[5] == pytest.approx(5.5 + issue.lead_s / DAY_S / 100)
    assert server.requests[0]["hourly"].split(",")[0] == "wind_speed_100m_previous_day7"
    assert server.requests[0]["models"] == MODEL


async def test_previous_runs_are_asked_for_in_two_weeks_at_a_pace_and_joined(
    server: FakeOpenMeteo, source: OpenMeteo, clock: StillClock
) -> None:
    found = await source.archived(date(2025, 1, 1), date(2025, 1, 31))
    asked = [(query["start_date"], query["end_date"]) for query in server.requests]
    assert asked == [("2025-01-01", "2025-01-14"), ("2025-01-15", "2025-01-28"), ("2025-01-29", "2025-01-31")]
    for name, issues in found.items():
        shift_s = HOUR_S if name.startswith("shortwave") else 0
        hours = (issues[0].start_ts + shift_s) // HOUR_S + np.arange(31 * 24)
        number = next(n for n, point in enumerate(POINTS) if name.endswith(point.name))
        assert issues[-1].values == pytest.approx(hours % 24 + number / 10 + 0.01)
    calls_a_minute = 3 * len(POINTS) * 3 / (sum(clock.slept) / 60)
    assert calls_a_minute <= 600


async def test_nothing_is_asked_of_days_before_previous_runs_began(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    assert await source.archived(date(2023, 11, 1), date(2023, 11, 30)) == {}
    assert server.requests == []


async def test_previous_runs_that_know_nothing_are_no_series(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.weather = lambda *_: None
    assert await source.archived(date(2024, 1, 1), date(2024, 1, 31)) == {}


async def test_leads_that_are_not_there_are_left_out(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.weather = lambda _variable, _point, lead_days, _ts: None if lead_days > 3 else 1.0
    issues = (await source.archived(DAY, DAY))["temperature_2m@ee_tallinn"]
    assert [issue.lead_s // DAY_S for issue in issues] == [3, 2, 1]


async def test_a_refusal_carries_the_reason(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.say(b'{"error":true,"reason":"Parameter start_date is out of allowed range"}', status=400)
    with pytest.raises(SourceRefused, match="out of allowed range"):
        await source.current(NOW)


async def test_over_the_limit_it_is_left_alone(server: FakeOpenMeteo, source: OpenMeteo) -> None:
    server.say(b'{"error":true,"reason":"Minutely API request limit exceeded."}', status=429)
    with pytest.raises(RateLimited, match="Minutely") as caught:
        await source.current(NOW)
    assert caught.value.retry_after_s == 60.0


def _drop_point(answer: list[dict[str, Any]]) -> None:
    del answer[3]


def _drop_hour(answer: list[dict[str, Any]]) -> None:
    del answer[3]["hourly"]["time"][7]


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
        (_drop_point, "answers for 13 points, not for the 14 asked"),
        (_drop_hour, "hours at ee_tartu"),
        (_iso_times, r"\$\[\.\.\.\]\.hourly\[\.\.\.\]\[0\]|can't be read"),
        (_kilometres_per_hour, "wind_speed_100m at ee_tartu has 240 values in km/h, not 240 in m/s"),
        (_short_column, "temperature_2m at ee_tartu has 239 values"),
        (_no_column, "temperature_2m at ee_tartu has 0 values"),
    ],
)
async def test_an_answer_that_does_not_fit_the_question_is_refused(
    server: FakeOpenMeteo, source: OpenMeteo, spoil: Callable[[list[dict[str, Any]]], None], problem: str
) -> None:
    await source.current(NOW)
    response = server.answer("/v1/forecast", server.requests[0])
    assert response.text is not None
    answer = json.loads(response.text)
    spoil(answer)
    server.say(json.dumps(answer).encode())
    with pytest.raises(BadAnswer, match=problem):
        await source.current(NOW)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hourly", "hourly_units"]), inner),
    max_leaves=8,
)


@given(body=st.binary() | json_values.map(json.dumps).map(str.encode))
def test_no_answer_raises_anything_but_bad_answer(body: bytes) -> None:
    with suppress(BadAnswer):
        parse_locations(body)


def test_points_are_distinct_and_lie_around_the_baltic() -> None:
    assert len({point.name for point in POINTS}) == len({(p.latitude, p.longitude) for p in POINTS}) == len(POINTS)
    assert all(54 < point.latitude < 66 and 15 < point.longitude < 28 and point.why for point in POINTS)
    # The simulated market takes its wind power from these.
    assert {point.zone for point in POINTS if point.drives == "wind"} == {"ee", "lv", "lt", "fi", "se"}
    assert not any(math.isnan(variable.low) or variable.low >= variable.high for variable in VARIABLES)
