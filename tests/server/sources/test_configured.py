from aiohttp import ClientSession

from tests.support.clocks import StillClock
from tunnihind.settings import Settings
from tunnihind.sources.configured import Sources, configured_sources, demo_sources

CLOCK = StillClock(0)


def names(sources: Sources) -> tuple[list[str], list[str]]:
    return [source.name for source in sources.prices], [source.name for source in sources.covariates]


async def test_needs_no_key_by_default(session: ClientSession) -> None:
    sources = configured_sources(Settings(), session, CLOCK)
    assert names(sources) == (["elering"], ["open-meteo"])
    assert [source.name for source in sources.observations] == ["open-meteo-archive"]


async def test_a_token_adds_entso_e_as_second_opinion(session: ClientSession) -> None:
    sources = configured_sources(Settings(entsoe_token="token"), session, CLOCK)  # noqa: S106
    assert names(sources) == (["elering", "entsoe"], ["open-meteo", "entsoe-forecasts"])


async def test_weather_can_be_switched_off(session: ClientSession) -> None:
    sources = configured_sources(Settings(weather=False), session, CLOCK)
    assert names(sources) == (["elering"], [])
    assert not sources.observations


async def test_the_demo_asks_no_one() -> None:
    assert names(demo_sources(CLOCK)) == (["simulated"], ["simulated"])
