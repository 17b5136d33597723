"""Servers of all kinds: with wrong answers, without an identity, after a loss of data, or replaced by another one."""

import contextlib
import gzip
import json
import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.support.api.api_documents import ABOUT, FORECAST, altered, lacking
from tests.support.household import recording_proxy as paths
from tests.support.household.home import PLAN_ID, PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S

ANOTHER = {**ABOUT, "vatRate": 0.22}
"""The description of another server with the same rate."""
NOTHING = {
    **FORECAST,
    **dict.fromkeys(("dayAhead", "forecast", "actuals"), ()),
    **dict.fromkeys(("madeAt", "lastRefresh", "backtest")),
}
"""The answer of a server that has no data."""
JSON_BODY: Final = {"Content-Type": "application/json"}
PACKED: Final = gzip.compress(b" " * 20_000_000)
REFUSED: Final[Sequence[tuple[dict[str, Any], str, str]]] = [
    # Each field of a document is tested in prices/test_documents.py.
    ({"data": altered(FORECAST, ("dayAhead", 0, "eurMwh"), None)}, "invalid_response", "eurMwh"),
    *(
        ({"body": body, "headers": JSON_BODY}, "foreign_answer", "")
        for body in (
            b"",
            b"<html>Log in to the hotel's network</html>",
            b'{"zone": "EE", "dayAh',
            b"\xff\xfe\x00",
            b"[]",
            b"null",
            json.dumps(lacking(FORECAST, ("dayAhead",))).encode(),
            b"[" * 5_000,
        )
    ),
    ({"status": HTTPStatus.NO_CONTENT}, "not_tunnihind", "204"),
    ({"status": HTTPStatus.BAD_REQUEST}, "not_tunnihind", "400"),
    ({"status": HTTPStatus.FORBIDDEN}, "not_tunnihind", "403"),
    ({"status": HTTPStatus.NOT_FOUND}, "not_tunnihind", "404"),
    ({"status": HTTPStatus.TOO_MANY_REQUESTS}, "rate_limited", ""),
    ({"status": HTTPStatus.INTERNAL_SERVER_ERROR}, "cannot_connect", "500"),
    ({"status": HTTPStatus.SERVICE_UNAVAILABLE}, "cannot_connect", "503"),
    ({"body": PACKED, "headers": {**JSON_BODY, "Content-Encoding": "gzip"}}, "long_answer", "longer than 1 MB"),
]


async def check_that_prices_stand(home: Home) -> None:
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    await home.at(hour + HOUR_S)
    assert float(home.value("current_price")) == home.consumer_price(hour + HOUR_S)
    assert len(home.state("sensor", "current_price").attributes["raw_today"]) == 24


async def test_an_answer_that_cannot_be_used_is_named_and_prices_stay(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    coordinator = proxied_home.entry.runtime_data
    for answer, key, says in REFUSED:
        proxy.answer(paths.FORECAST, **answer)
        await proxied_home.poll()
        refusal = coordinator.last_exception
        assert (coordinator.last_update_success, refusal.translation_key) == (False, key), str(answer)[:99]
        assert says in str(refusal)
    await check_that_prices_stand(proxied_home)


async def test_an_answer_cut_off_counts_as_no_connection(proxied_home: Home, proxy: RecordingProxy) -> None:
    await proxied_home.add()
    proxy.instead = lambda request: request.transport.close()  # type: ignore[union-attr]
    await proxied_home.poll()
    assert proxied_home.entry.runtime_data.last_exception.translation_key == "broken_answer"
    await check_that_prices_stand(proxied_home)


async def test_a_304_to_an_unconditional_request_is_an_error(proxied_home: Home, proxy: RecordingProxy) -> None:
    proxy.answer(paths.FORECAST, status=HTTPStatus.NOT_MODIFIED)
    await proxied_home.add()
    assert proxied_home.entry.state is ConfigEntryState.SETUP_RETRY
    if KNOWS_TRIGGERS:  # older versions keep no reason
        assert proxied_home.entry.error_reason_translation_key == "foreign_answer"


async def test_an_endless_answer_is_cut_at_a_megabyte_and_prices_stay(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    sent = []

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while True:
                await response.write(b" " * 65_536)
                sent.append(65_536)
        return response

    proxy._pass_on = stream  # type: ignore[assignment, method-assign]
    await proxied_home.poll()
    assert proxied_home.entry.runtime_data.last_exception.translation_key == "long_answer"
    # Data in flight, in the system's buffers, does not count as Home Assistant's memory.
    assert sum(sent) < 20_000_000
    del proxy._pass_on
    await proxied_home.poll()
    await check_that_prices_stand(proxied_home)


@pytest.mark.parametrize(("size", "accepted"), [(1_000_000, True), (1_000_001, False)])
async def test_an_answer_may_have_a_megabyte(
    proxied_home: Home, proxy: RecordingProxy, size: int, accepted: bool
) -> None:
    await proxied_home.add()
    document = (await proxied_home.server.ask(paths.FORECAST)).body
    proxy.answer(paths.FORECAST, body=document.ljust(size), content_type="application/json")
    await proxied_home.poll()
    assert proxied_home.entry.runtime_data.last_update_success is accepted


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
async def test_a_server_without_identity_uses_the_specifications_rate(
    proxied_home: Home, proxy: RecordingProxy, about: dict[str, Any]
) -> None:
    proxy.answer(paths.ABOUT, **about)
    await proxied_home.add()
    await check_that_prices_stand(proxied_home)
    assert proxied_home.state("sensor", "current_price").attributes["attribution"] == "Tunnihind"
    proxy.asked.clear()
    await proxied_home.at(proxied_home.now + 2 * HOUR_S)
    assert len([asked for asked in proxy.asked if asked.path == paths.ABOUT]) <= 2


async def test_a_server_whose_identity_fails_is_asked_again_and_followed_without_a_restart(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    proxy.answer(paths.ABOUT, status=HTTPStatus.SERVICE_UNAVAILABLE)
    await proxied_home.add()
    proxy.answer(paths.ABOUT, data={**ABOUT, "version": "9.9.9", "vatRate": 0.0, "vatRateIsChosen": True})
    await proxied_home.at(instant("2026-01-14T10:45:00+02:00"))
    price = proxied_home.state("sensor", "current_price")
    assert float(price.state) == round(proxied_home.price_of(instant("2026-01-14T10:00:00+02:00")) / 1000, 4)
    assert price.attributes["attribution"] == "Other (other.example)"
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), "entry")
    assert {device.sw_version for device in devices if device.via_device_id is None} == {"9.9.9"}


async def test_a_changed_vat_rate_applies_within_an_hour_or_when_the_server_comes_back(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    """It may have been updated while it was away."""
    await proxied_home.add()
    proxy.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.09, "vatRateIsChosen": True})
    await proxied_home.at(proxied_home.now + HOUR_S + 900)
    market = proxied_home.price_of(instant("2026-01-14T11:00:00+02:00")) / 1000
    assert float(proxied_home.value("current_price")) == round(market * 1.09, 4)
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    await proxied_home.poll()
    proxy.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.05, "vatRateIsChosen": True})
    await proxied_home.poll()
    assert float(proxied_home.value("current_price")) == round(market * 1.05, 4)


async def test_published_prices_stay_when_the_server_lost_its_database(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    await proxied_home.poll()
    proxy.answer(paths.FORECAST, data=NOTHING)
    await proxied_home.poll()
    await check_that_prices_stand(proxied_home)
    assert proxied_home.value("forecast") == "unknown"
    assert proxied_home.state("binary_sensor", "data_problem").attributes["problems"] == ["forecast_missing"]


async def test_prices_of_a_server_do_not_mix_with_those_of_its_replacement(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    """A demo is replaced by the real server at the same address, within a minute."""
    proxied_home.settled_until = instant(PUBLISHED_TOMORROW)
    proxied_home.serve()
    await proxied_home.add()
    assert proxied_home.is_on("tomorrow_known")
    proxy.answer(paths.ABOUT, data=ANOTHER)
    proxied_home.price_of, proxied_home.settled_until = lambda _: 10.0, instant(PUBLISHED_TODAY)
    proxied_home.serve()
    await proxied_home.at(proxied_home.now + HOUR_S + 900)
    attributes = proxied_home.state("sensor", "current_price").attributes
    assert {hour["value"] for hour in attributes["raw_today"]} == {0.0124}
    assert len(attributes["raw_today"]) == 24
    assert not proxied_home.is_on("tomorrow_known")


async def test_prices_stay_while_another_server_has_none_yet(proxied_home: Home, proxy: RecordingProxy) -> None:
    """It may be the same server, reinstalled after a loss of its data."""
    await proxied_home.add()

    def told(request: web.Request) -> web.Response | None:
        return web.json_response(ANOTHER if request.path == paths.ABOUT else NOTHING)

    proxy.instead = told
    proxied_home.entry.runtime_data._about_asked_at = 0
    await proxied_home.poll()
    await proxied_home.poll()
    await check_that_prices_stand(proxied_home)
    proxied_home.price_of = lambda _: 10.0
    proxied_home.serve()
    proxy.answer(paths.ABOUT, data=ANOTHER)
    await proxied_home.poll()
    attributes = proxied_home.state("sensor", "current_price").attributes
    assert [hour["value"] for hour in attributes["raw_today"]] == [0.0124] * 24


async def test_a_move_to_another_server_forgets_the_old_one(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    """This includes its rate, because the new server may not send one."""
    proxy.answer(paths.ABOUT, data={**ABOUT, "vatRate": 0.09, "vatRateIsChosen": True})
    proxied_home.settled_until = instant(PUBLISHED_TOMORROW)
    proxied_home.serve()
    await proxied_home.add()
    proxy.answer(paths.ABOUT, status=HTTPStatus.NOT_FOUND)
    proxied_home.price_of, proxied_home.settled_until = lambda _: 10.0, instant(PUBLISHED_TODAY)
    proxied_home.serve()
    hass.config_entries.async_update_entry(
        proxied_home.entry,
        unique_id="127.0.0.1",
        data={"url": f"http://another@127.0.0.1:{proxy.port}", "instance_id": None},
    )
    await proxied_home.settle()
    attributes = proxied_home.state("sensor", "current_price").attributes
    assert [hour["value"] for hour in attributes["raw_today"]] == [0.0124] * 24
    assert not proxied_home.is_on("tomorrow_known")


async def test_a_server_without_data_is_set_up_and_its_prices_come_later(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    """The first minutes of a household with a new server."""
    proxy.instead = lambda _: web.json_response(NOTHING)
    await proxied_home.add()
    assert proxied_home.entry.state is ConfigEntryState.LOADED
    assert proxied_home.value("current_price") == "unavailable"
    assert proxied_home.state("binary_sensor", "window", PLAN_ID).state == "unavailable"
    assert proxied_home.value("settled_until") == "unknown"
    assert "no_price" in proxied_home.state("binary_sensor", "data_problem").attributes["problems"]
    proxy.pass_on()
    await proxied_home.poll()
    await check_that_prices_stand(proxied_home)
    assert proxied_home.state("binary_sensor", "window", PLAN_ID).state in {"on", "off"}
    assert not proxied_home.is_on("data_problem")


async def test_a_server_that_is_too_old_is_reported_but_not_an_unknown_version(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    issues = ir.async_get(hass)
    for version in ("0.9.9", "1.0.0", "1.0.0.dev3", "1.4", "2026.11", "dev", "main-1a2b3c", ""):
        proxy.refuse(HTTPStatus.BAD_GATEWAY)
        await proxied_home.poll()
        proxy.answer(paths.ABOUT, data={**ABOUT, "version": version})
        await proxied_home.poll()
        issue = issues.async_get_issue(DOMAIN, "server_too_old_entry")
        told = issue.translation_placeholders["version"] if issue and issue.translation_placeholders else None
        assert told == (version if version in {"0.9.9", "1.0.0.dev3"} else None)


async def test_a_password_in_the_address_is_never_shown(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, DOMAIN)
    proxied_home.user = "ha:secret@"
    await proxied_home.add()
    proxy.refuse(HTTPStatus.BAD_GATEWAY)
    await proxied_home.poll()
    assert "secret" not in str(proxied_home.entry.runtime_data.last_exception)
    await proxied_home.at(proxied_home.now + 3 * HOUR_S)
    issue = ir.async_get(hass).async_get_issue(DOMAIN, "server_unreachable_entry")
    assert issue is not None
    assert "secret" not in str(issue.translation_placeholders)
    assert "secret" not in "".join(record.getMessage() for record in caplog.records if DOMAIN in record.name)
