"""The findings of `tunnihind check` about right and wrong sources."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import pytest
import stamina
from aiohttp import web

from tests.support.clocks import StillClock
from tests.support.upstreams import FakeElering, FakeEntsoe, FakeOpenMeteo
from tests.support.upstreams.elering import flat_quotes
from tests.support.upstreams.entsoe import TOKEN
from tunnihind.core.market import HOUR_S, QUARTER_S, day_end, day_start
from tunnihind.service.check import CheckResult, check_sources
from tunnihind.settings import Settings
from tunnihind.sources.base import BackFillPace
from tunnihind.sources.configured import Sources
from tunnihind.sources.simulated import SimulatedSource
from tunnihind.sources.upstream import RecordedAnswer, RequestPolicy

TODAY = date(2025, 12, 15)
TOMORROW = TODAY + timedelta(days=1)
MORNING = datetime(2025, 12, 15, 8, tzinfo=UTC).timestamp()
EVENING = datetime(2025, 12, 15, 18, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class World:
    """All sources as fake servers, and the settings with their addresses."""

    elering: FakeElering
    entsoe: FakeEntsoe
    open_meteo: FakeOpenMeteo

    @property
    def settings(self) -> Settings:
        return Settings(
            elering_url=self.elering.url,
            entsoe_url=f"{self.entsoe.url}/api",
            entsoe_token=TOKEN,
            open_meteo_url=self.open_meteo.url,
            open_meteo_single_runs_url=self.open_meteo.single_runs_url,
            open_meteo_archive_url=self.open_meteo.archive_url,
        )

    async def check(self, now: float = EVENING, settings: Settings | None = None) -> dict[str, CheckResult]:
        found = await check_sources(settings or self.settings, clock=StillClock(now))
        return {one.subject: one for one in found}


@pytest.fixture(autouse=True)
def _no_retries() -> object:
    with stamina.set_testing(True, attempts=1):
        yield


@pytest.fixture
async def world() -> AsyncIterator[World]:
    quotes = flat_quotes(TODAY, TOMORROW, QUARTER_S)
    hours = range(day_start(TODAY - timedelta(days=8)), day_end(TOMORROW), HOUR_S)
    forecasts = {name: dict.fromkeys(hours, 100.0) for name in ("ee_load", "ee_B16", "ee_B19")}
    async with (
        FakeElering(quotes) as elering,
        FakeEntsoe({zone: dict(found) for zone, found in quotes.items()}, forecasts) as entsoe,
        FakeOpenMeteo() as open_meteo,
    ):
        yield World(elering, entsoe, open_meteo)


def faults(found: Mapping[str, CheckResult]) -> dict[str, tuple[str, ...]]:
    return {name: one.faults for name, one in found.items() if one.faults}


async def test_sources_as_they_should_be_are_good_and_say_how_far_they_reach(world: World) -> None:
    found = await world.check()
    assert faults(found) == {}
    assert {name: one.reach for name, one in found.items()} == {
        "elering": "prices of EE until the end of 2025-12-16 (Brussels time)",
        "entsoe": "prices of EE until the end of 2025-12-16 (Brussels time)",
        "open-meteo (forecast)": "42 series until 2025-12-25 14:00 EET",
        "open-meteo (history)": "42 series until 2025-12-18 02:00 EET",
        "open-meteo-archive": "42 series until 2025-12-09 02:00 EET",
        "entsoe-forecasts (forecast)": "3 series until 2025-12-17 01:00 EET",
        "entsoe-forecasts (history)": "3 series until 2025-12-09 01:00 EET",
    }


async def test_each_zone_that_is_served_has_its_reach(world: World) -> None:
    for ts in [ts for ts in world.elering.quotes["fi"] if ts >= day_start(TOMORROW)]:
        del world.elering.quotes["fi"][ts]
    found = await world.check(settings=replace(world.settings, zones=("ee", "lv", "fi")))
    assert found["elering"].reach == (
        f"prices of EE, LV until the end of {TOMORROW} (Brussels time);"
        f" prices of FI until the end of {TODAY} (Brussels time)"
    )


async def test_only_what_is_configured_is_asked(world: World) -> None:
    settings = replace(world.settings, entsoe_token="", weather=False)
    assert list(await world.check(settings=settings)) == ["elering"]


async def test_prices_that_are_not_due_yet_are_not_missed(world: World) -> None:
    for quotes in (*world.elering.quotes.values(), *world.entsoe.quotes.values()):
        for ts in [ts for ts in quotes if ts >= day_start(TOMORROW)]:
            del quotes[ts]
    assert faults(await world.check(MORNING)) == {}
    missed = (f"there are no prices of EE, LV, LT, FI for {TOMORROW}",)
    assert faults(await world.check(EVENING)) == {"elering": missed, "entsoe": missed}


async def test_half_a_day_and_another_step_are_told(world: World) -> None:
    world.elering.cut(TODAY, 60)
    world.entsoe.quotes.update(flat_quotes(TODAY, TOMORROW, HOUR_S))
    found = faults(await world.check())
    assert found["elering"][0].startswith(f"the prices of EE for {TODAY} would be held back: ")
    assert found["entsoe"][0] == f"the prices of EE for {TODAY} are for 60 minutes each, not for 15"


@pytest.mark.parametrize(
    ("body", "status", "told", "has_answered"),
    [
        (b'{"success":true,"data":{"ee":[{"time":1765792800,"price":1}]}}', 200, "required field `timestamp`", True),
        (b"<!doctype html><html><title>Maintenance</title></html>", 200, "can't be read", True),
        (b'{"success":true,"data":{}}', 200, "there are no prices of EE, LV, LT, FI", True),
        (b"who are you?", 401, "HTTP 401: who are you?", True),
        (b"not here", 404, "HTTP 404: not here", True),
        (b"not so fast", 429, "HTTP 429: not so fast", False),
        (b"overloaded", 503, "HTTP 503: overloaded", False),
    ],
)
async def test_a_source_that_has_changed_is_told_from_one_that_cannot_serve_now(
    world: World, body: bytes, status: int, told: str, *, has_answered: bool
) -> None:
    world.elering.say(body, status=status)
    found = await world.check()
    assert list(faults(found)) == ["elering"]
    assert told in "; ".join(found["elering"].faults)
    assert found["elering"].has_answered is has_answered


async def test_a_redirect_to_another_host_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Only the single runs have moved. The forecast then comes from the other API, which must not hide the fault.
    answer = world.open_meteo.answer

    def runs_have_moved(path: str, query: Mapping[str, str]) -> web.Response:
        if "run" not in query:
            return answer(path, query)
        return web.Response(status=301, headers={"Location": "https://new.example/v1/forecast"})

    monkeypatch.setattr(world.open_meteo, "answer", runs_have_moved)
    found = faults(await world.check())
    assert list(found) == ["open-meteo (forecast)", "open-meteo (history)"]
    assert "https://new.example/v1/forecast" in found["open-meteo (history)"][0]
    assert "the forecast API is used instead" in found["open-meteo (forecast)"][0]


@pytest.mark.parametrize("by", ["day", "month"])
async def test_a_source_without_weather_runs_is_not_taken_for_open_meteo(
    world: World, monkeypatch: pytest.MonkeyPatch, by: Literal["day", "month"]
) -> None:
    class LoadForecasts(SimulatedSource):
        name = "load"
        back_fill = BackFillPace(by=by)

    source = LoadForecasts(clock=StillClock(EVENING))
    monkeypatch.setattr("tunnihind.service.check.configured_sources", lambda *_, **_options: Sources((), (source,)))
    found = await world.check()
    assert list(found) == ["load (forecast)", "load (history)"]
    assert faults(found) == {}


async def test_a_source_that_hangs_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.sources.elering._POLICY", RequestPolicy(timeout_s=0.2))
    world.elering.hang()
    assert faults(await world.check()) == {"elering": ("no answer within 0.2 s",)}


async def test_a_source_that_is_not_there_is_told(world: World) -> None:
    settings = replace(world.settings, elering_url="http://127.0.0.1:9")
    elering = (await world.check(settings=settings))["elering"]
    assert "the connection failed" in elering.faults[0]
    assert not elering.has_answered


async def test_series_that_are_missing_are_named(world: World) -> None:
    del world.entsoe.forecasts["ee_B19"]
    world.open_meteo.weather = lambda *asked: None if asked[:2] == ("wind_speed_100m", 0) else 1.0
    assert faults(await world.check()) == {
        "entsoe-forecasts (forecast)": ("there are no values of ee_wind_da_mw",),
        "open-meteo (forecast)": ("there are no values of wind_speed_100m@ee_west",),
    }


async def test_every_answer_is_heard_without_the_token(world: World) -> None:
    world.entsoe.say(f"token {TOKEN} is unknown".encode(), status=401)
    recorded: list[RecordedAnswer] = []
    await check_sources(world.settings, recorded.append, clock=StillClock(EVENING))
    assert {one.source for one in recorded} == {"elering", "entsoe", "open-meteo", "open-meteo-archive"}
    [refusal] = [one for one in recorded if one.status == 401]
    assert refusal.text == "token *** is unknown"
    assert "securityToken=***" in refusal.url
    assert TOKEN not in repr(recorded)
    assert json.loads(next(one.text for one in recorded if one.source == "elering"))["success"]
