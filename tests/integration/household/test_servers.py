"""Servers of all kinds: that answer nonsense, tell nothing of themselves, forget everything, or change their mind."""

import contextlib
import gzip
import json
import logging
from http import HTTPStatus
from typing import Any

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.integration.household.conftest import PUBLISHED_TODAY, PUBLISHED_TOMORROW
from tests.support import recording_proxy as paths
from tests.support.api_documents import ABOUT, FORECAST, Place, altered, lacking
from tests.support.home import PLAN_ID, World, instant
from tests.support.recording_proxy import Relay
from tunnihind.market import HOUR_S

ANOTHER = {**ABOUT, "vatRate": 0.22}
"""What another server of the same rate tells of itself."""
NOTHING = {
    **FORECAST,
    **dict.fromkeys(("dayAhead", "forecast", "actuals"), ()),
    **dict.fromkeys(("madeAt", "lastRefresh", "backtest")),
}
"""The answer of a server that has no data."""


async def poll_refused(world: World) -> str:
    """Poll, and return what is said of why the answer was refused."""
    await world.poll()
    coordinator = world.entry.runtime_data
    assert coordinator.last_update_success is False
    return str(coordinator.last_exception)


async def check_that_prices_stand(world: World) -> None:
    hour = world.now - world.now % HOUR_S
    assert float(world.value("current_price")) == world.household(hour)
    await world.at(hour + HOUR_S)
    assert float(world.value("current_price")) == world.household(hour + HOUR_S)
    assert len(world.state("sensor", "current_price").attributes["raw_today"]) == 24


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("now",), "now"),
        (("currency",), "SEK"),
        (("madeAt",), FORECAST["madeAt"] * 1000),
        (("dayAhead", 0, "eurMwh"), None),
        (("dayAhead", 0, "ts"), 10**15 * HOUR_S),
        (("forecast", 0, "p90"), "high"),
        (("backtest",), "good"),
    ],
)
async def test_a_malformed_answer_is_told_by_the_name_of_its_field_and_what_is_known_stands(
    relayed: World, relay: Relay, place: Place, value: object
) -> None:
    await relayed.add()
    relay.answer(paths.FORECAST, data=altered(FORECAST, place, value))
    refusal = await poll_refused(relayed)
    assert all(str(step) in refusal for step in place)
    assert relayed.entry.runtime_data.last_exception.translation_key == "invalid_response"
    await check_that_prices_stand(relayed)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Log in to the hotel's network</html>",
        b'{"zone": "EE", "dayAh',
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'"EE"',
        json.dumps({"status": "ok"}).encode(),
        json.dumps(lacking(FORECAST, ("dayAhead",))).encode(),
        b"[" * 5_000,
    ],
)
async def test_an_answer_of_something_else_is_told_as_such_and_what_is_known_stands(
    relayed: World, relay: Relay, body: bytes
) -> None:
    await relayed.add()
    relay.answer(paths.FORECAST, body=body, content_type="application/json")
    await poll_refused(relayed)
    assert relayed.entry.runtime_data.last_exception.translation_key == "not_tunnihind"
    await check_that_prices_stand(relayed)


@pytest.mark.parametrize(
    ("status", "key"),
    [
        (HTTPStatus.NO_CONTENT, "not_tunnihind"),
        (HTTPStatus.BAD_REQUEST, "not_tunnihind"),
        (HTTPStatus.FORBIDDEN, "not_tunnihind"),
        (HTTPStatus.NOT_FOUND, "not_tunnihind"),
        (HTTPStatus.TOO_MANY_REQUESTS, "rate_limited"),
        (HTTPStatus.INTERNAL_SERVER_ERROR, "cannot_connect"),
        (HTTPStatus.SERVICE_UNAVAILABLE, "cannot_connect"),
    ],
)
async def test_a_refusal_is_told_by_its_status(relayed: World, relay: Relay, status: HTTPStatus, key: str) -> None:
    await relayed.add()
    relay.refuse(status)
    assert str(status.value) in await poll_refused(relayed)
    assert relayed.entry.runtime_data.last_exception.translation_key == key
    await check_that_prices_stand(relayed)


async def test_nothing_new_from_a_server_that_was_asked_for_everything_is_no_answer(
    relayed: World, relay: Relay
) -> None:
    relay.answer(paths.FORECAST, status=HTTPStatus.NOT_MODIFIED)
    await relayed.add()
    assert relayed.entry.state is ConfigEntryState.SETUP_RETRY
    if KNOWS_TRIGGERS:  # older versions keep no reason
        assert relayed.entry.error_reason_translation_key == "not_tunnihind"


async def test_an_endless_answer_is_read_no_further_than_a_megabyte_and_what_is_known_stands(
    relayed: World, relay: Relay
) -> None:
    await relayed.add()
    sent = []

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b" " * 65_536)
                sent.append(65_536)
        return response

    relay._pass_on = stream  # type: ignore[assignment, method-assign]
    assert "longer than 1 MB" in await poll_refused(relayed)
    assert relayed.entry.runtime_data.last_exception.translation_key == "invalid_response"
    # What is in flight between the two, in buffers of the system's, is not Home Assistant's memory.
    assert sum(sent) < 20_000_000
    del relay._pass_on
    await relayed.poll()
    await check_that_prices_stand(relayed)


@pytest.mark.parametrize(("size", "accepted"), [(1_000_000, True), (1_000_001, False)])
async def test_an_answer_may_have_a_megabyte(relayed: World, relay: Relay, size: int, accepted: bool) -> None:
    await relayed.add()
    document = (await relayed.server.ask(paths.FORECAST)).body
    relay.answer(paths.FORECAST, body=document.ljust(size), content_type="application/json")
    await relayed.poll()
    assert relayed.entry.runtime_data.last_update_success is accepted


async def test_an_answer_that_is_packed_small_counts_by_what_is_in_it(relayed: World, relay: Relay) -> None:
    await relayed.add()
    packed = gzip.compress(b" " * 20_000_000)
    relay.answer(paths.FORECAST, body=packed, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})
    assert "longer than 1 MB" in await poll_refused(relayed)


async def test_an_answer_cut_off_counts_as_no_connection(relayed: World, relay: Relay) -> None:
    await relayed.add()
    relay.instead = _cut_off
    await poll_refused(relayed)
    assert relayed.entry.runtime_data.last_exception.translation_key == "cannot_connect"
    await check_that_prices_stand(relayed)


@pytest.mark.parametrize(
    "about",
    [
        {"status": HTTPStatus.NOT_FOUND},
        {"text": "hello"},
        {"data": {"name": "somebody"}},
        {"data": {**ABOUT, "vatRate": 24}},
        {"status": HTTPStatus.NOT_MODIFIED},
    ],
)
async def test_a_server_that_does_not_tell_who_it_is_serves_with_the_specifications_rate(
    relayed: World, relay: Relay, about: dict[str, Any]
) -> None:
    relay.answer(paths.ABOUT, **about)
    await relayed.add()
    await check_that_prices_stand(relayed)
    assert relayed.state("sensor", "current_price").attributes["attribution"] == "Tunnihind"
    relay.asked.clear()
    await relayed.at(relayed.now + 2 * HOUR_S)
    assert len([asked for asked in relay.asked if asked.path == paths.ABOUT]) <= 2


async def test_a_server_that_cannot_tell_yet_who_it_is_is_asked_again(relayed: World, relay: Relay) -> None:
    relay.answer(paths.ABOUT, status=HTTPStatus.SERVICE_UNAVAILABLE)
    await relayed.add()
    relay.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.0})
    await relayed.at(instant("2026-01-14T10:30:00+02:00"))
    await relayed.at(instant("2026-01-14T10:45:00+02:00"))
    hour = instant("2026-01-14T10:00:00+02:00")
    assert float(relayed.value("current_price")) == round(relayed.price_of(hour) / 1000, 4)


async def test_who_the_server_is_shows_without_a_new_start(hass: HomeAssistant, relayed: World, relay: Relay) -> None:
    relay.answer(paths.ABOUT, status=HTTPStatus.SERVICE_UNAVAILABLE)
    await relayed.add()
    relay.answer(paths.ABOUT, data={**ABOUT, "version": "9.9.9"})
    await relayed.at(relayed.now + HOUR_S)
    assert relayed.state("sensor", "current_price").attributes["attribution"] == "Other (other.example)"
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), "entry")
    assert {device.sw_version for device in devices if device.via_device_id is None} == {"9.9.9"}


async def test_a_changed_vat_rate_of_the_server_is_taken_up_within_an_hour(relayed: World, relay: Relay) -> None:
    await relayed.add()
    relay.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.24})
    await relayed.at(relayed.now + HOUR_S + 900)
    hour = instant("2026-01-14T11:00:00+02:00")
    assert float(relayed.value("current_price")) == round(relayed.price_of(hour) / 1000 * 1.24, 4)


async def test_a_server_that_comes_back_is_asked_anew_who_it_is(relayed: World, relay: Relay) -> None:
    """It may have been away to be updated."""
    await relayed.add()
    relay.refuse(HTTPStatus.BAD_GATEWAY)
    await relayed.poll()
    relay.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.24})
    await relayed.poll()
    hour = instant("2026-01-14T10:00:00+02:00")
    assert float(relayed.value("current_price")) == round(relayed.price_of(hour) / 1000 * 1.24, 4)


async def test_a_server_that_comes_back_with_an_empty_database_leaves_published_prices_standing(
    relayed: World, relay: Relay
) -> None:
    await relayed.add()
    relay.refuse(HTTPStatus.BAD_GATEWAY)
    await relayed.poll()
    relay.answer(paths.FORECAST, data=NOTHING)
    await relayed.poll()
    await check_that_prices_stand(relayed)
    assert relayed.value("forecast") == "unknown"
    assert relayed.state("binary_sensor", "data_problem").attributes["problems"] == ["forecast_missing"]


async def test_a_servers_prices_do_not_mix_with_those_of_another_that_took_its_place(
    relayed: World, relay: Relay
) -> None:
    """A demo is tried, and the server itself then started at the same address, within a minute."""
    relayed.settled_until = instant(PUBLISHED_TOMORROW)
    relayed.serve()
    await relayed.add()
    assert relayed.is_on("tomorrow_known")
    relay.answer(paths.ABOUT, data=ANOTHER)
    relayed.price_of, relayed.settled_until = lambda _: 10.0, instant(PUBLISHED_TODAY)
    relayed.serve()
    await relayed.at(relayed.now + HOUR_S + 900)
    attributes = relayed.state("sensor", "current_price").attributes
    assert {hour["value"] for hour in attributes["raw_today"]} == {0.0122}
    assert len(attributes["raw_today"]) == 24
    assert not relayed.is_on("tomorrow_known")


async def test_a_server_without_any_prices_yet_leaves_those_of_the_one_before_until_it_has_some(
    relayed: World, relay: Relay
) -> None:
    """It may be the same one, set up anew after a loss of its data."""
    await relayed.add()

    def told(request: web.Request) -> web.Response | None:
        return web.json_response(ANOTHER if request.path == paths.ABOUT else NOTHING)

    relay.instead = told
    relayed.entry.runtime_data._about_asked_at = 0
    await relayed.poll()
    await relayed.poll()
    await check_that_prices_stand(relayed)
    relayed.price_of = lambda _: 10.0
    relayed.serve()
    relay.answer(paths.ABOUT, data=ANOTHER)
    await relayed.poll()
    attributes = relayed.state("sensor", "current_price").attributes
    assert [hour["value"] for hour in attributes["raw_today"]] == [0.0122] * 24


async def test_nothing_of_the_server_before_outlives_a_move_to_another_one(
    hass: HomeAssistant, relayed: World, relay: Relay
) -> None:
    """Not its rate either: the other one may not tell its own."""
    relay.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.24})
    relayed.settled_until = instant(PUBLISHED_TOMORROW)
    relayed.serve()
    await relayed.add()
    relay.answer(paths.ABOUT, status=HTTPStatus.NOT_FOUND)
    relayed.price_of, relayed.settled_until = lambda _: 10.0, instant(PUBLISHED_TODAY)
    relayed.serve()
    hass.config_entries.async_update_entry(
        relayed.entry,
        unique_id="127.0.0.1",
        data={"url": f"http://another@127.0.0.1:{relay.port}", "instance_id": None},
    )
    await relayed.settle()
    attributes = relayed.state("sensor", "current_price").attributes
    assert [hour["value"] for hour in attributes["raw_today"]] == [0.0122] * 24
    assert not relayed.is_on("tomorrow_known")


async def test_a_server_that_has_no_data_yet_is_set_up_and_its_prices_come_when_it_has(
    relayed: World, relay: Relay
) -> None:
    """The first minutes of a household with a new server."""
    relay.instead = lambda _: web.json_response(NOTHING)
    await relayed.add()
    assert relayed.entry.state is ConfigEntryState.LOADED
    assert relayed.value("current_price") == "unavailable"
    assert relayed.state("binary_sensor", "window", PLAN_ID).state == "unavailable"
    assert relayed.value("settled_until") == "unknown"
    assert "no_price" in relayed.state("binary_sensor", "data_problem").attributes["problems"]
    relay.pass_on()
    await relayed.poll()
    await check_that_prices_stand(relayed)
    assert relayed.state("binary_sensor", "window", PLAN_ID).state in {"on", "off"}
    assert not relayed.is_on("data_problem")


@pytest.mark.parametrize(
    ("version", "too_old"),
    [
        ("0.0.9", True),
        ("0.1.0.dev3", True),
        ("0.1.0", False),
        ("1.4", False),
        ("2026.11", False),
        ("dev", False),
        ("main-1a2b3c", False),
        ("", False),
    ],
)
async def test_a_server_that_is_too_old_is_told_and_one_of_an_unknown_age_is_not(
    hass: HomeAssistant, relayed: World, relay: Relay, version: str, too_old: bool
) -> None:
    relay.answer(paths.ABOUT, data={**ABOUT, "version": version})
    await relayed.add()
    assert relayed.entry.state is ConfigEntryState.LOADED
    issue = ir.async_get(hass).async_get_issue(DOMAIN, "server_too_old_entry")
    assert (issue is not None) is too_old
    if issue:
        assert issue.translation_placeholders is not None
        assert issue.translation_placeholders["version"] == version
    relay.refuse(HTTPStatus.BAD_GATEWAY)
    await relayed.poll()
    relay.pass_on()
    await relayed.poll()
    assert ir.async_get(hass).async_get_issue(DOMAIN, "server_too_old_entry") is None


async def test_a_password_in_the_address_is_never_shown(
    hass: HomeAssistant, relayed: World, relay: Relay, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, DOMAIN)
    relayed.user = "ha:secret@"
    await relayed.add()
    relay.refuse(HTTPStatus.BAD_GATEWAY)
    assert "secret" not in await poll_refused(relayed)
    await relayed.at(relayed.now + 3 * HOUR_S)
    issue = ir.async_get(hass).async_get_issue(DOMAIN, "server_unreachable_entry")
    assert issue is not None
    assert "secret" not in str(issue.translation_placeholders)
    assert "secret" not in "".join(record.getMessage() for record in caplog.records if DOMAIN in record.name)


def _cut_off(request: Any) -> None:  # noqa: ANN401  an aiohttp request, whose connection is closed under it
    assert request.transport is not None
    request.transport.close()
