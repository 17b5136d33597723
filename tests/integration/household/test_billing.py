"""A household that is billed by the quarter of an hour: its states, and the requests to its server."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant

from tests.support.household import recording_proxy as paths
from tests.support.household.home import PUBLISHED_TOMORROW, Home, MakeHome, instant, shaped
from tests.support.household.recording_proxy import RecordingProxy
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings

BY_QUARTER: Final = {"billed_by": "quarter"}
MINUTE_S: Final = 60


@pytest.fixture
def quarter_home(proxied_home: Home) -> Home:
    """Return a home whose market trades quarters; the integration is not yet set up."""
    proxied_home.serve_quarters()
    return proxied_home


def quarter_of(home: Home) -> int:
    return home.now - home.now % QUARTER_S


def problems(home: Home) -> list[str]:
    named: list[str] = home.state("binary_sensor", "data_problem").attributes["problems"]
    return named


def attributes(home: Home) -> Mapping[str, Any]:
    return home.state("sensor", "current_price").attributes


async def change(hass: HomeAssistant, home: Home, options: Mapping[str, Any]) -> None:
    hass.config_entries.async_update_entry(home.entry, options={**home.entry.options, **options})
    await home.settle()


def asked_for(proxy: RecordingProxy) -> list[str]:
    """Return the requests for prices since the last time, without history."""
    paths_asked = [asked.path for asked in proxy.asked if asked.path in {paths.FORECAST, paths.QUARTERS}]
    proxy.asked.clear()
    return paths_asked


async def test_prices_change_with_each_quarter(quarter_home: Home) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    for _ in range(8):
        quarter = home.now - home.now % QUARTER_S
        assert float(home.value("current_price")) == home.consumer_quarter_price(quarter)
        assert float(home.value("next_price")) == home.consumer_quarter_price(quarter + QUARTER_S)
        await home.at(quarter + QUARTER_S)
    assert problems(home) == []
    assert len(attributes(home)["raw_today"]) == 96


async def test_todays_past_quarters_are_asked_for_once(quarter_home: Home, proxy: RecordingProxy) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    await home.at(home.now + 2 * HOUR_S)
    assert [asked.query for asked in proxy.asked if asked.query] == ["days=3"]
    assert {asked.path for asked in proxy.asked} == {paths.QUARTERS, paths.ABOUT}
    lowest = min(
        range(instant("2026-01-14T00:00:00+02:00"), instant("2026-01-15T00:00:00+02:00"), QUARTER_S), key=shaped
    )
    state = home.state("sensor", "lowest_today")
    assert float(state.state) == home.consumer_quarter_price(lowest)
    assert instant(state.attributes["start"]) == lowest
    assert instant(state.attributes["end"]) == lowest + QUARTER_S


async def test_levels_go_by_hours_unless_the_household_chooses_quarters(
    hass: HomeAssistant, quarter_home: Home
) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    for hour in range(home.now - home.now % HOUR_S + HOUR_S, instant("2026-01-14T23:00:00+02:00"), HOUR_S):
        shown = []
        for quarter in range(hour, hour + HOUR_S, QUARTER_S):
            await home.at(quarter)
            shown.append((home.value("price_level"), home.is_on("cheap_hour")))
        assert len(set(shown)) == 1, "a device would be switched within the hour"
    await change(hass, home, {"levels_by": "quarter"})
    prices = [item["value"] for item in attributes(home)["raw_today"]]
    place = sum(price < float(home.value("current_price")) for price in prices)
    assert home.is_on("cheap_hour") is (place < 24)


async def test_a_change_of_billing_shows_at_once_and_turns_nothing_unavailable(
    hass: HomeAssistant, quarter_home: Home, proxy: RecordingProxy
) -> None:
    home = quarter_home
    await home.add()
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    with record_state_changes(hass) as states:
        await change(hass, home, BY_QUARTER)
    assert states.turned_unavailable == []
    assert float(home.value("current_price")) == home.consumer_quarter_price(quarter_of(home))
    assert len(attributes(home)["raw_today"]) == 96
    # Without the server, known quarters give their hours.
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    with record_state_changes(hass) as states:
        await change(hass, home, {"billed_by": "hour"})
    assert states.turned_unavailable == []
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert len(attributes(home)["raw_today"]) == 24


async def test_a_server_without_quarters_shows_hours_and_is_asked_again_each_hour(
    quarter_home: Home, proxy: RecordingProxy
) -> None:
    home = quarter_home
    proxy.answer(paths.QUARTERS, status=HTTPStatus.NOT_FOUND)
    await home.add(options=BY_QUARTER)
    assert float(home.value("current_price")) == home.consumer_price(home.now - home.now % HOUR_S)
    assert problems(home) == ["quarters_missing"]
    assert asked_for(proxy) == [paths.QUARTERS, paths.FORECAST]
    began = home.now
    while home.now < began + 59 * MINUTE_S:
        await home.at(home.now + MINUTE_S)
    assert set(asked_for(proxy)) == {paths.FORECAST}
    proxy.pass_on()
    await home.at(home.now + 2 * MINUTE_S)
    assert paths.QUARTERS in asked_for(proxy)
    assert problems(home) == []
    assert float(home.value("current_price")) == home.consumer_quarter_price(quarter_of(home))
    assert len(attributes(home)["raw_today"]) == 96


@pytest.mark.parametrize(
    "answer",
    [
        {"status": HTTPStatus.NOT_IMPLEMENTED},
        {"data": {"error": "not found"}},
        {"data": {"zone": "EE", "dayAhead": [{"ts": 1, "eurMwh": 3.0}], "forecast": []}},
    ],
)
async def test_quarters_that_cannot_be_used_leave_the_prices_of_hours(
    quarter_home: Home, proxy: RecordingProxy, answer: dict[str, Any]
) -> None:
    home = quarter_home
    proxy.answer(paths.QUARTERS, **answer)
    await home.add(options=BY_QUARTER)
    assert float(home.value("current_price")) == home.consumer_price(home.now - home.now % HOUR_S)
    assert problems(home) == ["quarters_missing"]


async def test_quarters_that_a_server_no_longer_has_become_hours(quarter_home: Home, proxy: RecordingProxy) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    proxy.answer(paths.QUARTERS, status=HTTPStatus.NOT_FOUND)
    await home.poll()
    assert problems(home) == ["quarters_missing"]
    assert len(attributes(home)["raw_today"]) == 24
    assert float(home.value("current_price")) == home.consumer_price(home.now - home.now % HOUR_S)
    # A failing server may come back as another one, so it is asked at once.
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    await home.poll()
    proxy.pass_on()
    await home.poll()
    assert problems(home) == []


async def test_a_household_that_is_billed_by_the_hour_asks_for_no_quarters(
    quarter_home: Home, proxy: RecordingProxy
) -> None:
    await quarter_home.add()
    await quarter_home.at(quarter_home.now + HOUR_S)
    assert set(asked_for(proxy)) == {paths.FORECAST}


async def test_a_poll_without_news_writes_no_state(
    hass: HomeAssistant, quarter_home: Home, proxy: RecordingProxy
) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    await home.at(instant("2026-01-14T10:30:30+02:00"))
    with record_state_changes(hass) as states:
        for _ in range(14):
            await home.at(home.now + MINUTE_S)
    assert (states.changed, states.reported) == ({}, [])


async def test_quarters_outlive_a_restart_without_the_server(
    hass: HomeAssistant, quarter_home: Home, proxy: RecordingProxy
) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    await home.publish(instant(PUBLISHED_TOMORROW))
    before = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    await hass.config_entries.async_unload(home.entry.entry_id)
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    await hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
    assert home.entry.state is ConfigEntryState.LOADED
    after = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    assert after == before
    await home.at(instant("2026-01-15T10:45:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_quarter_price(home.now)


async def test_a_servers_whole_horizon_is_taken_as_forecast_also_by_the_hour(make_home: MakeHome) -> None:
    home = await make_home(settings=Settings(full_horizon=True))
    home.serve_quarters()
    await home.add()
    await home.at(home.now + 2 * MINUTE_S)
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert len(attributes(home)["raw_today"]) == 24
    assert problems(home) == []
    forecast = attributes(home)["raw_forecast"]
    assert instant(forecast[-1]["end"]) == hour + 8 * 24 * HOUR_S
    assert {instant(item["end"]) - instant(item["start"]) for item in forecast} == {HOUR_S}
