"""Adding a server by its address."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import SOURCE_USER, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.typing import WebSocketGenerator

from custom_components.tunnihind.const import DOMAIN
from tests.support.hass.https import https_front
from tests.support.household.flows import (
    FORECAST,
    MALFORMED,
    NOBODY,
    Imitate,
    about_of,
    entry_of,
    placeholders_of,
    shown,
)
from tests.support.household.translations import texts

pytestmark = pytest.mark.usefixtures("setup_entry")


async def start(hass: HomeAssistant) -> ConfigFlowResult:
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})


async def type_address(hass: HomeAssistant, url: str, **answers: str) -> ConfigFlowResult:
    flow = await start(hass)
    return await hass.config_entries.flow.async_configure(flow["flow_id"], {"url": url, **answers})


async def test_a_server_that_answers_is_added_with_a_plan_of_the_cheapest_three_hours(
    hass: HomeAssistant, address: str
) -> None:
    form = await start(hass)
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "user")
    assert shown(form) == {"url": "http://localhost:8080"}
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {"url": address})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert (result["title"], result["data"]) == ("Tunnihind", {"url": address, "instance_id": "test"})
    assert result["result"].unique_id == "test"
    [plan] = result["result"].subentries.values()
    assert (plan.title, dict(plan.data)) == (
        "Cheapest 3 hours",
        {
            "duration": 180,
            "split": True,
            "min_piece": 60,
            "weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
            "days": 1,
            "horizon": "published",
        },
    )


@pytest.mark.parametrize(("answer", "billed_by"), [({}, "hour"), ({"billed_by": "quarter"}, "quarter")])
async def test_how_the_household_is_billed_is_asked_at_once(
    hass: HomeAssistant, address: str, answer: dict[str, str], billed_by: str
) -> None:
    result = await type_address(hass, address, **answer)
    assert result["options"] == {"billed_by": billed_by}


async def test_the_address_is_kept_as_a_base_url(hass: HomeAssistant, address: str) -> None:
    result = await type_address(hass, f" {address.removeprefix('http://')}/api/v1/forecast ")
    assert result["data"]["url"] == address


async def test_a_server_behind_a_path_is_added(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(prefix="/prices")
    result = await type_address(hass, f"{address}/")
    assert result["data"] == {"url": address, "instance_id": "other"}


@pytest.mark.parametrize(("language", "name"), [("et", "3 odavaimat tundi"), ("ru", "3 самых дешёвых часа")])
async def test_the_first_plan_has_its_name_in_the_language_of_the_home(
    hass: HomeAssistant, address: str, language: str, name: str
) -> None:
    hass.config.language = language
    result = await type_address(hass, address)
    assert [plan.title for plan in result["result"].subentries.values()] == [name]


async def test_a_server_without_identity_is_known_by_its_host(hass: HomeAssistant, imitate: Imitate) -> None:
    result = await type_address(hass, await imitate(about=None))
    assert result["title"] == "127.0.0.1"
    assert result["result"].unique_id == "127.0.0.1"
    assert result["data"]["instance_id"] is None


FAILURES = [
    pytest.param({"forecast": web.HTTPServiceUnavailable()}, "cannot_connect", "HTTP 503", id="not-ready"),
    pytest.param({"forecast": web.HTTPTooManyRequests()}, "rate_limited", "", id="asked-too-often"),
    pytest.param({"forecast": web.HTTPNotFound()}, "not_tunnihind", "HTTP 404", id="no-such-page"),
    pytest.param({"forecast": web.HTTPFound("/api/v1/forecast")}, "redirect_loop", "", id="in-a-circle"),
    pytest.param({"forecast": web.HTTPFound("ftp://x/")}, "redirect_loop", "", id="to-nowhere"),
    pytest.param({"forecast": "<html>"}, "foreign_answer", "", id="a-page"),
    pytest.param({"forecast": '{"prices": []}'}, "foreign_answer", "", id="other-json"),
    pytest.param({"forecast": MALFORMED}, "invalid_response", "currency", id="another-currency"),
]


@pytest.mark.parametrize(("answers", "error", "reason"), FAILURES)
async def test_each_fault_has_its_own_error_with_address_and_reason(
    hass: HomeAssistant, imitate: Imitate, answers: dict[str, Any], error: str, reason: str
) -> None:
    address = await imitate(**answers)
    form = await type_address(hass, address)
    assert form["errors"] == {"url": error}
    assert placeholders_of(form)["url"] == address
    assert reason in placeholders_of(form)["reason"]


@pytest.mark.parametrize(
    "sent",
    [b"SSH-2.0-OpenSSH_10.0\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
    ids=["no http", "cut off"],
)
async def test_an_answer_that_is_not_http_has_an_error_without_its_content(hass: HomeAssistant, sent: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        form = await type_address(hass, f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert (form["errors"], placeholders_of(form)["reason"]) == ({"url": "broken_answer"}, "")


async def test_https_has_its_own_error_if_the_server_has_none_or_its_certificate_is_not_trusted(
    hass: HomeAssistant, address: str, tmp_path: Path
) -> None:
    form = await type_address(hass, address.replace("http://", "https://"))
    assert form["errors"] == {"url": "no_https"}
    async with https_front(address, tmp_path) as untrusted:
        form = await type_address(hass, untrusted)
    assert form["errors"] == {"url": "no_https"}


@pytest.mark.parametrize(
    ("typed", "error", "told"),
    [
        ("ftp://example.com", "invalid_url", "ftp://example.com"),
        ("127.0.0.1:9", "connection_refused", NOBODY),
        ("http://me:secret@127.0.0.1:9", "connection_refused", NOBODY),
    ],
)
async def test_a_wrong_address_is_told_without_its_password_and_kept_for_correction(
    hass: HomeAssistant, address: str, typed: str, error: str, told: str
) -> None:
    form = await type_address(hass, typed)
    assert (form["errors"], placeholders_of(form)["url"]) == ({"url": error}, told)
    assert "secret" not in placeholders_of(form)["reason"]
    assert shown(form)["url"] == typed
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {"url": address})
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_server_is_added_only_once(hass: HomeAssistant, address: str) -> None:
    entry_of("http://elsewhere:8080").add_to_hass(hass)
    result = await type_address(hass, address)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")


async def test_an_address_is_added_only_once_even_with_another_identity(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(forecast=FORECAST)
    entry_of(address, "set up again since").add_to_hass(hass)
    assert (await type_address(hass, address))["reason"] == "already_configured"


@pytest.mark.parametrize(("mode", "title"), [("demo", "Tunnihind demo"), ("a mode of the future", "Tunnihind")])
async def test_a_demos_name_says_that_it_is_one_and_an_unknown_mode_counts_as_live(
    hass: HomeAssistant, imitate: Imitate, mode: str, title: str
) -> None:
    assert (await type_address(hass, await imitate(about=about_of(mode=mode))))["title"] == title


async def test_titles_of_servers_differ_by_where_they_are(hass: HomeAssistant, imitate: Imitate) -> None:
    titles, places = [], []
    for identity in ("one", "two", "three"):
        address = await imitate(about=about_of(instanceId=identity), prefix="/prices")
        places.append(address.removeprefix("http://"))
        titles.append((await type_address(hass, address))["title"])
    assert titles == ["Tunnihind", *(f"Tunnihind ({place})" for place in places[1:])]


async def test_a_rehearsal_is_added_once_it_is_clear_that_automations_fire_for_real(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    address = await imitate(about=about_of(mode="rehearsal"))
    form = await type_address(hass, address)
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "rehearsal")
    assert "switch real devices" in texts("en")["config"]["step"]["rehearsal"]["description"]
    assert placeholders_of(form) == {"url": address}
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {})
    assert (result["title"], result["result"].unique_id) == ("Tunnihind rehearsal", "other-rehearsal")
    assert result["data"] == {"url": address, "instance_id": "other", "rehearsal": True}


@pytest.mark.parametrize(("language", "name"), [("et", "Tunnihind proov"), ("ru", "Tunnihind репетиция")])
async def test_a_rehearsal_has_its_name_in_the_language_of_the_home(
    hass: HomeAssistant, imitate: Imitate, language: str, name: str
) -> None:
    hass.config.language = language
    form = await type_address(hass, await imitate(about=about_of(mode="rehearsal")))
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {})
    assert result["title"] == name


async def test_a_rehearsal_gets_an_entry_beside_the_live_one_of_its_server(
    hass: HomeAssistant, imitate: Imitate
) -> None:
    """The server was stopped, and started with --as-of on the same port and database."""
    address = await imitate(about=about_of(mode="rehearsal"))
    entry_of(address, "other").add_to_hass(hass)
    form = await type_address(hass, address)
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert (await type_address(hass, address))["reason"] == "already_configured"


async def test_a_network_package_is_chosen_and_its_figures_confirmed_when_the_server_is_added(
    hass: HomeAssistant, address: str, freezer: FrozenDateTimeFactory
) -> None:
    freezer.move_to("2026-10-14T10:20:00+03:00")
    form = await type_address(hass, address, package="vork_2")
    assert (form["step_id"], form["preview"]) == ("tariff", "tunnihind")
    typed = shown(form)
    assert typed["network"] == {"network_day": 6.07, "network_night": 3.51}
    typed["supply"]["margin"] = 0.5
    result = await hass.config_entries.flow.async_configure(form["flow_id"], typed)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    [row] = result["options"]["rows"]
    assert (row["package"], row["margin"]) == ("vork_2", 0.5)
    assert row["from_table"] == ["balancing", "network", "renewable", "security", "excise"]
    assert result["options"]["billed_by"] == "hour"


async def test_another_package_and_errors_are_shown_before_the_entry_is_made(hass: HomeAssistant, address: str) -> None:
    form = await type_address(hass, address, package="vork_2")
    form = await hass.config_entries.flow.async_configure(form["flow_id"], {**shown(form), "package": "own"})
    typed = shown(form)
    typed["network"]["day_rate_ends"] = "07:00:00"
    form = await hass.config_entries.flow.async_configure(form["flow_id"], typed)
    assert (form["step_id"], form["errors"]) == ("tariff", {"network": "no_day_rate"})
    typed["network"]["day_rate_ends"] = "22:00:00"
    result = await hass.config_entries.flow.async_configure(form["flow_id"], typed)
    assert "package" not in result["options"]["rows"][0]


@pytest.fixture
def _october(freezer: FrozenDateTimeFactory) -> None:
    """Let it be a working morning in October, before anybody logs in."""
    freezer.move_to("2026-10-14T10:20:00+03:00")


@pytest.mark.usefixtures("_october")
@pytest.mark.parametrize(
    ("billed_by", "has_quarters", "period", "price"),
    [
        ("hour", True, "This hour: market 9.876", "23.22 c/kWh"),
        ("quarter", True, "This quarter-hour: market 10.00", "23.37 c/kWh"),
        ("quarter", False, "This hour: market 9.876", "23.22 c/kWh"),
    ],
)
async def test_the_current_price_is_shown_while_the_server_is_added(
    hass: HomeAssistant,
    imitate: Imitate,
    hass_ws_client: WebSocketGenerator,
    billed_by: str,
    has_quarters: bool,
    period: str,
    price: str,
) -> None:
    hour = int(datetime(2026, 10, 14, 7, tzinfo=UTC).timestamp())
    answer = {**json.loads(FORECAST), "now": hour + 1200, "dayAhead": [{"ts": hour, "eurMwh": 98.76}]}
    quarters = json.dumps({**answer, "dayAhead": [{"ts": hour + 900, "eurMwh": 100.0}]}) if has_quarters else None
    address = await imitate(forecast=json.dumps(answer), quarters=quarters)
    assert await async_setup_component(hass, "websocket_api", {})
    form = await type_address(hass, address, package="vork_2", billed_by=billed_by)
    typed = shown(form)
    typed["supply"]["margin"] = 0.5
    socket = await hass_ws_client(hass)
    await socket.send_json_auto_id(
        {
            "type": "tunnihind/start_preview",
            "flow_id": form["flow_id"],
            "flow_type": "config_flow",
            "user_input": typed,
        }
    )
    assert (await socket.receive_json())["success"]
    event = (await socket.receive_json())["event"]
    assert event["state"] == price
    assert event["attributes"]["friendly_name"].startswith(period)
