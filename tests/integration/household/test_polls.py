"""The requests to the server, their times, and their effects."""

import asyncio
from copy import deepcopy
from http import HTTPStatus
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.client import polling
from custom_components.tunnihind.client.requests import is_at_home
from tests.support.household import recording_proxy as paths
from tests.support.household.flows import announce
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, instant
from tests.support.household.recording_proxy import Asked, RecordingProxy
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S

MINUTE_S = 60


async def minutes_go_by(home: Home, minutes: int) -> None:
    for _ in range(minutes):
        await home.at(home.now + MINUTE_S)


async def test_each_minute_has_one_conditional_request(proxied_home: Home, proxy: RecordingProxy) -> None:
    await proxied_home.add()
    [first] = proxy.polls()
    assert first == Asked(paths.FORECAST, "", None, HTTPStatus.OK)
    await minutes_go_by(proxied_home, 5)
    polls = proxy.polls()
    assert len(polls) == 5
    assert {poll.status for poll in polls} == {HTTPStatus.NOT_MODIFIED}
    assert all(poll.if_none_match for poll in polls)


async def test_news_come_with_the_next_poll_and_a_new_etag(proxied_home: Home, proxy: RecordingProxy) -> None:
    await proxied_home.add()
    proxy.asked.clear()
    await minutes_go_by(proxied_home, 1)
    [before] = proxy.polls()
    proxied_home.settled_until = instant(PUBLISHED_TOMORROW)
    proxied_home.serve()
    await minutes_go_by(proxied_home, 2)
    news, after = proxy.polls()
    assert proxied_home.is_on("tomorrow_known")
    assert (news.status, news.if_none_match) == (HTTPStatus.OK, before.if_none_match)
    assert after.status == HTTPStatus.NOT_MODIFIED
    assert after.if_none_match != before.if_none_match


@pytest.mark.parametrize("billed_by", ["hour", "quarter"])
async def test_a_poll_with_nothing_new_writes_no_state_at_all(
    hass: HomeAssistant, proxied_home: Home, billed_by: str
) -> None:
    proxied_home.serve_quarters()
    await proxied_home.add(options={"billed_by": billed_by})
    await proxied_home.at(instant("2026-01-14T10:30:30+02:00"))
    with record_state_changes(hass) as states:
        await minutes_go_by(proxied_home, 14)
    assert (states.changed, states.reported) == ({}, [])


async def test_a_quarter_in_which_nothing_changes_changes_no_state(hass: HomeAssistant, proxied_home: Home) -> None:
    await proxied_home.add()
    await proxied_home.at(instant("2026-01-14T10:29:59+02:00"))
    with record_state_changes(hass) as states:
        await proxied_home.at(instant("2026-01-14T10:30:00+02:00"))
    assert states.changed == {}


async def test_an_answer_that_differs_only_in_its_time_writes_no_state_and_no_file(
    hass: HomeAssistant, hass_storage: dict[str, object], proxied_home: Home, proxy: RecordingProxy
) -> None:
    """So do servers that know no conditional requests."""
    proxy.conditional = False
    await proxied_home.add()
    await minutes_go_by(proxied_home, 2)
    kept = deepcopy(hass_storage["tunnihind.entry"])
    with record_state_changes(hass) as states:
        await minutes_go_by(proxied_home, 7)
    assert (states.changed, states.reported) == ({}, [])
    assert hass_storage["tunnihind.entry"] == kept
    assert {poll.status for poll in proxy.polls()} == {HTTPStatus.OK}


@pytest.mark.parametrize(
    ("billed_by", "begins", "of_the_hour"),
    [
        (
            "hour",
            "2026-01-14T11:00:00+02:00",
            # The prices of today's cheapest hours, an attribute of the forecast, are those of the hours ahead.
            (("sensor", "price_level"), ("binary_sensor", "cheap_hour"), ("sensor", "forecast")),
        ),
        ("quarter", "2026-01-14T10:30:00+02:00", ()),
    ],
)
async def test_a_new_period_changes_only_the_entities_of_the_period(
    hass: HomeAssistant,
    proxied_home: Home,
    billed_by: str,
    begins: str,
    of_the_hour: tuple[tuple[str, str], ...],
) -> None:
    proxied_home.serve_quarters()
    await proxied_home.add(options={"billed_by": billed_by})
    await proxied_home.at(instant(begins) - MINUTE_S)
    with record_state_changes(hass) as states:
        await minutes_go_by(proxied_home, 1)
    must = {proxied_home.state("sensor", key).entity_id for key in ("current_price", "next_price")}
    # The cost of starting at once changes with the period.
    may = {proxied_home.state("sensor", key, PLAN_ID).entity_id for key in ("window_saving", "window_chance")}
    may |= {proxied_home.state(platform, key).entity_id for platform, key in of_the_hour}
    assert must <= states.changed.keys() <= must | may


async def test_todays_past_hours_are_asked_for_once(proxied_home: Home, proxy: RecordingProxy) -> None:
    await proxied_home.add()
    await proxied_home.at(proxied_home.now + 4 * HOUR_S)
    assert [asked.path for asked in proxy.asked].count(paths.SERIES) == 1


async def _minutes_of_questions(home: Home, proxy: RecordingProxy, minutes: int) -> list[int]:
    """Return the next minutes in which past hours are requested."""
    proxy.asked.clear()
    asked = []
    for minute in range(1, minutes + 1):
        await minutes_go_by(home, 1)
        asked += [minute for each in proxy.asked if each.path == paths.SERIES]
        proxy.asked.clear()
    return asked


@pytest.mark.parametrize(
    "answer",
    [
        {"status": HTTPStatus.INTERNAL_SERVER_ERROR},
        {"status": HTTPStatus.NOT_FOUND},
        {"text": "{"},
        {"data": {"now": 0, "actuals": [], "forecast": []}},
    ],
)
async def test_missing_past_hours_are_a_problem_and_asked_for_with_the_next_polls(
    proxied_home: Home, proxy: RecordingProxy, answer: dict[str, Any]
) -> None:
    proxy.answer(paths.SERIES, **answer)
    await proxied_home.add()
    assert proxied_home.value("average_today") == "unknown"
    assert proxied_home.state("binary_sensor", "data_problem").attributes["problems"] == ["history_missing"]
    # Nothing else is new in these minutes.
    assert await _minutes_of_questions(proxied_home, proxy, 39) == [1, 3, 7, 15, 30]
    proxy.pass_on()
    assert await _minutes_of_questions(proxied_home, proxy, 20) == [6]
    assert proxied_home.value("average_today") != "unknown"
    assert not proxied_home.is_on("data_problem")


@pytest.mark.parametrize(("at_home", "pauses"), [(True, [1, 1, 2, 2, 2, 2]), (False, [1, 1, 2, 4, 8, 15, 15])])
async def test_a_failing_server_is_asked_less_and_less_often_until_it_works(
    proxied_home: Home, proxy: RecordingProxy, monkeypatch: pytest.MonkeyPatch, at_home: bool, pauses: list[int]
) -> None:
    # No test may connect to any other address than this machine's own.
    monkeypatch.setattr(polling, "is_at_home", lambda _: at_home)
    await proxied_home.add()
    await minutes_go_by(proxied_home, 1)
    for status in (HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.NOT_FOUND):
        proxy.polls()
        proxy.refuse(status)
        assert await _minutes_between_polls(proxied_home, proxy, until=sum(pauses)) == pauses
        proxy.pass_on()
        await minutes_go_by(proxied_home, pauses[-1])
        assert not proxied_home.is_on("data_problem")


@pytest.mark.parametrize(
    ("host", "at_home"),
    [
        ("192.168.1.10", True),
        ("[fd12:3456::1]", True),
        ("localhost", True),
        ("a0d7b954-tunnihind", True),  # an app beside Home Assistant
        ("box.local", True),
        ("box.local.", True),
        ("server.lan", True),
        ("193.40.1.1", False),
        ("hind.example.org", False),
        ("notlocal.ee", False),
    ],
)
def test_a_private_address_and_a_name_of_the_homes_network_are_in_the_home(host: str, at_home: bool) -> None:
    assert is_at_home(f"http://{host}:8080/prices") is at_home


async def test_a_server_that_announces_itself_is_asked_at_once(proxied_home: Home, proxy: RecordingProxy) -> None:
    await proxied_home.add()
    proxy.refuse(HTTPStatus.SERVICE_UNAVAILABLE, **{"Retry-After": "3600"})
    await minutes_go_by(proxied_home, 1)
    proxy.pass_on()
    coordinator = proxied_home.entry.runtime_data
    assert not coordinator.last_update_success
    await announce(proxied_home.hass, proxied_home.entry.data["url"])
    await proxied_home.settle()
    assert coordinator.last_update_success


@pytest.mark.parametrize("status", [HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE])
@pytest.mark.parametrize(
    ("retry_after", "pause_s"),
    [
        ("1800", 1800),
        ("86400", HOUR_S),
        *((text, MINUTE_S) for text in ("Wed, 14 Jan 2026 09:00:00 GMT", "soon", "-5", "1.5", "")),
    ],
)
async def test_a_retry_after_in_seconds_is_honoured_for_up_to_an_hour(
    proxied_home: Home, proxy: RecordingProxy, retry_after: str, pause_s: int, status: HTTPStatus
) -> None:
    await proxied_home.add()
    proxy.refuse(status, **{"Retry-After": retry_after})
    await minutes_go_by(proxied_home, 1)
    proxy.polls()
    await proxied_home.at(proxied_home.now + pause_s - 1)
    assert proxy.polls() == []
    await minutes_go_by(proxied_home, 2)
    assert proxy.polls()


async def test_a_server_that_does_not_answer_in_ten_seconds_counts_as_gone(
    proxied_home: Home, proxy: RecordingProxy, freezer: FrozenDateTimeFactory
) -> None:
    await proxied_home.add()
    poll = asyncio.ensure_future(proxied_home.entry.runtime_data.async_refresh())
    answered = asyncio.Event()

    async def hang(request: object) -> None:
        await answered.wait()

    proxy._pass_on = hang  # type: ignore[assignment, method-assign]
    while not poll.done():
        proxied_home.set_clock(proxied_home.now + 1)
        await asyncio.sleep(0)
    answered.set()
    assert proxied_home.entry.runtime_data.last_update_success is False
    assert "within 10 seconds" in str(proxied_home.entry.runtime_data.last_exception)


async def _minutes_between_polls(home: Home, proxy: RecordingProxy, *, until: int) -> list[int]:
    pauses, since = [], 0
    for _ in range(until):
        since += 1
        await minutes_go_by(home, 1)
        if proxy.polls():
            pauses.append(since)
            since = 0
    return pauses
