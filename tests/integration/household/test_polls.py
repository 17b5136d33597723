"""What is asked of the server, when, and what comes of it."""

import asyncio
from copy import deepcopy
from http import HTTPStatus
from typing import Any

import pytest
from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant

from tests.integration.household.conftest import PUBLISHED_TOMORROW
from tests.support import recording_proxy as paths
from tests.support.home import PLAN_ID, World, instant
from tests.support.recording_proxy import Asked, Relay
from tests.support.state_changes import written
from tunnihind.market import HOUR_S

MINUTE_S = 60


async def minutes_go_by(world: World, minutes: int) -> None:
    for _ in range(minutes):
        await world.at(world.now + MINUTE_S)


async def test_it_asks_once_a_minute_under_condition_of_news(relayed: World, relay: Relay) -> None:
    await relayed.add()
    [first] = relay.polls()
    assert first == Asked(paths.FORECAST, None, HTTPStatus.OK)
    await minutes_go_by(relayed, 5)
    polls = relay.polls()
    assert len(polls) == 5
    assert {poll.status for poll in polls} == {HTTPStatus.NOT_MODIFIED}
    assert all(poll.if_none_match for poll in polls)


async def test_news_come_with_the_next_poll_and_bring_their_own_condition(relayed: World, relay: Relay) -> None:
    await relayed.add()
    relay.asked.clear()
    await minutes_go_by(relayed, 1)
    [before] = relay.polls()
    relayed.settled_until = instant(PUBLISHED_TOMORROW)
    relayed.serve()
    await minutes_go_by(relayed, 2)
    news, after = relay.polls()
    assert relayed.is_on("tomorrow_known")
    assert (news.status, news.if_none_match) == (HTTPStatus.OK, before.if_none_match)
    assert after.status == HTTPStatus.NOT_MODIFIED
    assert after.if_none_match != before.if_none_match


async def test_a_poll_with_nothing_new_writes_no_state_at_all(hass: HomeAssistant, relayed: World) -> None:
    await relayed.add()
    with written(hass) as states:
        await minutes_go_by(relayed, 9)
    assert (states.changed, states.reported) == ({}, [])


async def test_an_answer_that_differs_in_nothing_but_its_time_writes_no_state_and_no_file(
    hass: HomeAssistant, hass_storage: dict[str, object], relayed: World, relay: Relay
) -> None:
    """So do servers that know no conditional requests."""
    relay.conditional = False
    await relayed.add()
    await minutes_go_by(relayed, 2)
    kept = deepcopy(hass_storage["tunnihind.entry"])
    with written(hass) as states:
        await minutes_go_by(relayed, 7)
    assert (states.changed, states.reported) == ({}, [])
    assert hass_storage["tunnihind.entry"] == kept
    assert {poll.status for poll in relay.polls()} == {HTTPStatus.OK}


async def test_a_quarter_in_which_nothing_changes_changes_no_state(hass: HomeAssistant, relayed: World) -> None:
    await relayed.add()
    await relayed.at(instant("2026-01-14T10:29:59+02:00"))
    with written(hass) as states:
        await relayed.at(instant("2026-01-14T10:30:00+02:00"))
    assert states.changed == {}


async def test_an_hour_changes_what_it_must_and_nothing_of_the_day(hass: HomeAssistant, relayed: World) -> None:
    await relayed.add()
    await minutes_go_by(relayed, 39)
    with written(hass) as states:
        await minutes_go_by(relayed, 1)
    assert relayed.now == instant("2026-01-14T11:00:00+02:00")
    must = {relayed.state("sensor", key).entity_id for key in ("current_price", "next_price")}
    may = {
        relayed.state("sensor", "price_level").entity_id,
        relayed.state("binary_sensor", "cheap_hour").entity_id,
        # What starting at once would cost moves with the hour.
        relayed.state("sensor", "window_saving", PLAN_ID).entity_id,
        relayed.state("sensor", "window_chance", PLAN_ID).entity_id,
    }
    assert must <= states.changed.keys() <= must | may


async def test_todays_past_hours_are_asked_for_once(relayed: World, relay: Relay) -> None:
    await relayed.add()
    await relayed.at(relayed.now + 4 * HOUR_S)
    assert [asked.path for asked in relay.asked].count(paths.SERIES) == 1


async def _minutes_of_questions(world: World, relay: Relay, minutes: int) -> list[int]:
    """Return in which of the minutes to come past hours are asked for."""
    relay.asked.clear()
    asked = []
    for minute in range(1, minutes + 1):
        await minutes_go_by(world, 1)
        asked += [minute for each in relay.asked if each.path == paths.SERIES]
        relay.asked.clear()
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
async def test_todays_past_hours_that_were_not_had_are_asked_for_with_the_next_polls_and_told_to_be_missing(
    relayed: World, relay: Relay, answer: dict[str, Any]
) -> None:
    relay.answer(paths.SERIES, **answer)
    await relayed.add()
    assert relayed.value("average_today") == "unknown"
    assert relayed.state("binary_sensor", "data_problem").attributes["problems"] == ["history_missing"]
    # Nothing else is new in these minutes.
    assert await _minutes_of_questions(relayed, relay, 39) == [1, 3, 7, 15, 30]
    relay.pass_on()
    assert await _minutes_of_questions(relayed, relay, 20) == [6]
    assert relayed.value("average_today") != "unknown"
    assert not relayed.is_on("data_problem")


async def test_one_failure_of_the_history_costs_a_minute(relayed: World, relay: Relay) -> None:
    relay.answer(paths.SERIES, status=HTTPStatus.BAD_GATEWAY)
    await relayed.add()
    relay.pass_on()
    await minutes_go_by(relayed, 1)
    assert relayed.value("average_today") != "unknown"
    assert not relayed.is_on("data_problem")


@pytest.mark.parametrize("status", [HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.NOT_FOUND])
async def test_a_server_in_trouble_is_asked_ever_less_often_and_as_ever_once_it_is_well(
    relayed: World, relay: Relay, status: HTTPStatus
) -> None:
    await relayed.add()
    await minutes_go_by(relayed, 1)
    relay.polls()
    relay.refuse(status)
    for _ in range(2):
        pauses = await _minutes_between_polls(relayed, relay, until=1 + 1 + 2 + 4 + 8 + 15 + 15)
        assert pauses == [1, 1, 2, 4, 8, 15, 15]
        relay.pass_on()
        await minutes_go_by(relayed, 15)
        assert not relayed.is_on("data_problem")
        relay.polls()
        relay.refuse(status)


async def test_a_server_that_asks_for_more_time_than_an_hour_is_asked_after_an_hour(
    relayed: World, relay: Relay
) -> None:
    await relayed.add()
    relay.refuse(HTTPStatus.SERVICE_UNAVAILABLE, **{"Retry-After": "86400"})
    await minutes_go_by(relayed, 1)
    relay.polls()
    await relayed.at(relayed.now + HOUR_S - 1)
    assert relay.polls() == []
    await minutes_go_by(relayed, 2)
    assert len(relay.polls()) == 1


@pytest.mark.parametrize("retry_after", ["Wed, 14 Jan 2026 09:00:00 GMT", "soon", "-5", "1.5", ""])
async def test_a_request_for_time_that_is_no_number_of_seconds_counts_as_none(
    relayed: World, relay: Relay, retry_after: str
) -> None:
    await relayed.add()
    relay.refuse(HTTPStatus.TOO_MANY_REQUESTS, **{"Retry-After": retry_after})
    relay.asked.clear()
    await minutes_go_by(relayed, 2)
    assert len(relay.polls()) == 2


async def test_a_server_that_does_not_answer_in_ten_seconds_counts_as_gone(
    relayed: World, relay: Relay, freezer: FrozenDateTimeFactory
) -> None:
    await relayed.add()
    poll = asyncio.ensure_future(relayed.entry.runtime_data.async_refresh())
    answered = asyncio.Event()

    async def hang(request: object) -> None:
        await answered.wait()

    relay._pass_on = hang  # type: ignore[assignment, method-assign]
    while not poll.done():
        relayed.set_clock(relayed.now + 1)
        await asyncio.sleep(0)
    answered.set()
    assert relayed.entry.runtime_data.last_update_success is False
    assert "within 10 seconds" in str(relayed.entry.runtime_data.last_exception)


async def _minutes_between_polls(world: World, relay: Relay, *, until: int) -> list[int]:
    pauses, since = [], 0
    for _ in range(until):
        since += 1
        await minutes_go_by(world, 1)
        if relay.polls():
            pauses.append(since)
            since = 0
    return pauses
