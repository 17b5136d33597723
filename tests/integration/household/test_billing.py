"""A household that is billed by the quarter of an hour: its states, and the requests to its server."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import pytest

from tests.integration.household.test_losses import problems
from tests.integration.household.test_options import change
from tests.support.household import recording_proxy as paths
from tests.support.household.home import Home, MakeHome, instant, shaped
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings

BY_QUARTER: Final = {"billed_by": "quarter"}
MINUTE_S: Final = 60


@pytest.fixture
def quarter_home(proxied_home: Home) -> Home:
    """Return a home whose market trades quarters; the integration is not yet set up."""
    proxied_home.serve_quarters()
    return proxied_home


def attributes(home: Home) -> Mapping[str, Any]:
    return home.state("sensor", "current_price").attributes


def asked_for(proxy: RecordingProxy) -> list[str]:
    """Return the requests for prices since the last time, without history."""
    paths_asked = [asked.path for asked in proxy.asked if asked.path in {paths.FORECAST, paths.QUARTERS}]
    proxy.asked.clear()
    return paths_asked


async def test_todays_past_quarters_are_asked_for_once(quarter_home: Home, proxy: RecordingProxy) -> None:
    home = quarter_home
    await home.add(options=BY_QUARTER)
    await home.at(home.now + 2 * HOUR_S)
    assert [asked.query for asked in proxy.asked if asked.query] == ["days=3"]
    assert {asked.path for asked in proxy.asked} == {paths.QUARTERS, paths.ABOUT, paths.SCENARIOS}
    lowest = min(
        range(instant("2026-01-14T00:00:00+02:00"), instant("2026-01-15T00:00:00+02:00"), QUARTER_S), key=shaped
    )
    state = home.state("sensor", "lowest_today")
    assert float(state.state) == home.consumer_quarter_price(lowest)
    assert instant(state.attributes["start"]) == lowest
    assert instant(state.attributes["end"]) == lowest + QUARTER_S


async def test_levels_go_by_quarters_if_the_household_chooses_quarters(quarter_home: Home) -> None:
    home = quarter_home
    await home.add(options={**BY_QUARTER, "levels_by": "quarter"})
    prices = [item["value"] for item in attributes(home)["raw_today"]]
    for quarter in range(instant("2026-01-14T11:00:00+02:00"), instant("2026-01-14T17:00:00+02:00"), QUARTER_S):
        await home.at(quarter)
        place = sum(price < float(home.value("current_price")) for price in prices)
        assert home.is_on("cheap_hour") is (place < 24)


async def test_a_change_of_billing_shows_at_once_and_turns_nothing_unavailable(
    quarter_home: Home, proxy: RecordingProxy
) -> None:
    home = quarter_home
    await home.add()
    await home.at(home.now + HOUR_S)
    assert set(asked_for(proxy)) == {paths.FORECAST}
    price_by_hour = home.consumer_price(home.now - home.now % HOUR_S)
    assert float(home.value("current_price")) == price_by_hour
    await change(home, **BY_QUARTER)
    assert float(home.value("current_price")) == home.consumer_quarter_price(home.now - home.now % QUARTER_S)
    assert len(attributes(home)["raw_today"]) == 96
    # Without the server, known quarters give their hours.
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    await change(home, billed_by="hour")
    assert float(home.value("current_price")) == price_by_hour
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
    assert float(home.value("current_price")) == home.consumer_quarter_price(home.now - home.now % QUARTER_S)
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
