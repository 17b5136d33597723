"""The price of this hour beside the form of prices, requested like Home Assistant's frontend does."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.components.frontend.storage import async_user_store
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.setup import async_setup_component
from hypothesis import given
from hypothesis import strategies as st
from pytest_homeassistant_custom_component.typing import (
    ClientSessionGenerator,
    MockHAClientWebSocket,
    WebSocketGenerator,
)

from custom_components.tunnihind.core.rates import FEE_RATES, Package, Part
from custom_components.tunnihind.core.tariff import Tariff, TariffRow
from custom_components.tunnihind.forms.tariff_step import price_parts
from custom_components.tunnihind.prices.units import Unit
from tests.support.household.flows import shown
from tests.support.household.home import Home, MakeHome, instant, shaped
from tests.support.markets.price_strategies import eur_mwh, hour_starts


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home on a working morning, at 98.76 EUR/MWh."""
    home = await make_home(
        "2026-10-14T10:20:00+03:00", settled_until="2026-10-15T01:00:00+03:00", price_of=lambda _: 98.76
    )
    await home.add()
    return home


@pytest.fixture
async def socket(hass: HomeAssistant, home: Home, hass_ws_client: WebSocketGenerator) -> MockHAClientWebSocket:
    assert await async_setup_component(hass, "websocket_api", {})
    return await hass_ws_client(hass)


async def opened(home: Home) -> Mapping[str, Any]:
    options = home.hass.config_entries.options
    menu = await options.async_init(home.entry.entry_id)
    form = await options.async_configure(menu["flow_id"], {"next_step_id": "prices"})
    assert form["preview"] == "tunnihind"
    return form


async def ask(socket: MockHAClientWebSocket, form: Mapping[str, Any], typed: Mapping[str, Any]) -> None:
    await socket.send_json_auto_id(
        {
            "type": "tunnihind/start_preview",
            "flow_id": form["flow_id"],
            "flow_type": "options_flow",
            "user_input": typed,
        }
    )


async def seen(socket: MockHAClientWebSocket, form: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[str, str]:
    """Return the breakdown and the price that are shown beside the typed figures."""
    await ask(socket, form, typed)
    assert (await socket.receive_json())["success"]
    event = (await socket.receive_json())["event"]
    return event["attributes"]["friendly_name"], event["state"]


async def test_while_typing_the_parts_and_their_sum_are_shown(home: Home, socket: MockHAClientWebSocket) -> None:
    form = await opened(home)
    typed = shown(form)
    # 9.876 + .373 + .84 + .758 + .307 = 12.154, of which 24 % are 2.917. The figures as shown add up to the price.
    name, price = await seen(socket, form, typed)
    fees = "balancing capacity 0.373 + renewable energy 0.84 + security of supply 0.758 + excise 0.307"
    assert name == f"This hour: market 9.876 + {fees} + VAT 2.917"
    assert price == "15.07 c/kWh"
    # A chosen package and each figure count at once: this is the household of Võrk 2 in the worked examples.
    typed["package"] = "vork_2"
    typed["supply"]["margin"] = 0.5
    name, price = await seen(socket, form, typed)
    assert "margin 0.50" in name
    assert "network 6.07" in name
    assert price == "23.22 c/kWh"


async def test_a_figure_that_is_being_deleted_counts_as_empty(home: Home, socket: MockHAClientWebSocket) -> None:
    form = await opened(home)
    typed = shown(form)
    typed["supply"]["balancing"] = ""
    typed["levies"] = {"renewable": None}
    assert await seen(socket, form, typed) == ("This hour: market 9.876 + VAT 2.3702", "12.25 c/kWh")


async def test_a_half_typed_figure_has_no_preview_and_the_next_one_has(
    home: Home, socket: MockHAClientWebSocket, caplog: pytest.LogCaptureFixture
) -> None:
    form = await opened(home)
    half_typed: tuple[dict[str, Any], ...] = (
        {"package": "vork_3"},
        {"supply": "0.5"},
        {"supply": {"margin": "0,5"}},
        {"supply": {"vat_percent": [24]}},
        {"network": {"day_rate_starts": "7"}},
    )
    for typed in half_typed:
        await ask(socket, form, typed)
        assert (typed, (await socket.receive_json())["error"]["code"]) == (typed, "invalid_format")
        assert await seen(socket, form, {}) == ("This hour: market 9.876 + VAT 2.3702", "12.25 c/kWh")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


ESTONIAN = ("Sel tunnil: börsihind 9,876 + käibemaks 2,3702", "12,25 s/kWh")
RUSSIAN = ("В этот час: биржевая цена 9,876 + налог с оборота 2,3702", "12,25 цент/кВт·ч")
ENGLISH = ("This hour: market 9.876 + VAT 2.3702", "12.25 c/kWh")


@pytest.mark.parametrize(
    ("home_language", "browser", "profile", "expected"),
    [
        ("en", "et-EE,et;q=0.9,en;q=0.8", None, ESTONIAN),
        ("et", "en-GB,en;q=0.9", None, ENGLISH),
        ("et", "xx,*;q=0.1", None, ESTONIAN),
        ("en", "et-EE", {"language": "en"}, ENGLISH),
        ("en", "en", {"language": "et", "number_format": "language"}, ESTONIAN),
        ("en", "en", {"language": None}, ENGLISH),
        ("et", "ru-RU,ru;q=0.9,en;q=0.8", None, RUSSIAN),
        # We have no Finnish, but Finland's comma.
        ("en", "fi-FI", None, ("This hour: market 9,876 + VAT 2,3702", "12,25 c/kWh")),
    ],
)
async def test_the_preview_is_in_the_language_of_the_reader(
    hass: HomeAssistant,
    home: Home,
    hass_client_no_auth: ClientSessionGenerator,
    hass_access_token: str,
    home_language: str,
    browser: str,
    profile: Mapping[str, Any] | None,
    expected: tuple[str, str],
) -> None:
    hass.config.language = home_language
    assert await async_setup_component(hass, "websocket_api", {})
    token = hass.auth.async_validate_access_token(hass_access_token)
    assert token is not None
    if profile is not None:
        await (await async_user_store(hass, token.user.id)).async_set_item("language", profile)
    client = await hass_client_no_auth()
    async with client.ws_connect("/api/websocket", headers={"Accept-Language": browser}) as socket:
        assert (await socket.receive_json())["type"] == "auth_required"
        await socket.send_json({"type": "auth", "access_token": hass_access_token})
        assert (await socket.receive_json())["type"] == "auth_ok"
        flow = (await opened(home))["flow_id"]
        await socket.send_json(
            {
                "id": 1,
                "type": "tunnihind/start_preview",
                "flow_id": flow,
                "flow_type": "options_flow",
                "user_input": {},
            }
        )
        assert (await socket.receive_json())["success"]
        event = (await socket.receive_json())["event"]
    assert (event["attributes"]["friendly_name"], event["state"]) == expected


async def test_figures_in_a_forms_texts_follow_the_browsers_language(
    hass: HomeAssistant, home: Home, hass_client: ClientSessionGenerator
) -> None:
    assert await async_setup_component(hass, "config", {})
    client = await hass_client()
    for language, excise in (("et", "0,307"), ("ru", "0,307"), ("en", "0.307")):
        headers = {"Accept-Language": language}
        flows = "/api/config/config_entries/options/flow"
        menu = await (await client.post(flows, json={"handler": home.entry.entry_id}, headers=headers)).json()
        form = await (
            await client.post(f"{flows}/{menu['flow_id']}", json={"next_step_id": "prices"}, headers=headers)
        ).json()
        assert excise in form["description_placeholders"]["dispute"]


async def test_billed_by_the_quarter_the_preview_has_this_quarters_price(
    home: Home, socket: MockHAClientWebSocket
) -> None:
    home.serve_quarters()
    home.hass.config_entries.async_update_entry(home.entry, options={"billed_by": "quarter"})
    await home.settle()
    await home.poll()
    name, price = await seen(socket, await opened(home), {})
    market = shaped(instant("2026-10-14T10:15:00+03:00"))
    assert name.startswith(f"This quarter-hour: market {market / 10:g} + VAT")
    assert price == f"{market / 10 * 1.24:.2f} c/kWh"


async def test_without_a_market_price_the_preview_has_fees_but_no_sum(
    home: Home, socket: MockHAClientWebSocket
) -> None:
    form = await opened(home)
    home.entry.runtime_data.data = None
    name, price = await seen(socket, form, {"package": "vork_1"})
    assert name == "This hour: network 7.72 + VAT 1.8528"
    assert price == "unknown"


async def test_the_preview_uses_the_forms_figures_of_a_future_date(home: Home, socket: MockHAClientWebSocket) -> None:
    options = home.hass.config_entries.options
    menu = await options.async_init(home.entry.entry_id)
    form = await options.async_configure(menu["flow_id"], {"next_step_id": "add_row"})
    assert "balancing capacity 0.373" in (await seen(socket, form, shown(form)))[0]
    form = await options.async_configure(form["flow_id"], {**shown(form), "valid_from": "2027-01-01"})
    assert "balancing capacity 0.297" in (await seen(socket, form, shown(form)))[0]


async def test_a_form_that_is_closed_has_no_preview(home: Home, socket: MockHAClientWebSocket) -> None:
    form = await opened(home)
    result = await home.hass.config_entries.options.async_configure(form["flow_id"], shown(form))
    assert result["type"] is FlowResultType.CREATE_ENTRY
    await ask(socket, form, {})
    assert (await socket.receive_json())["error"]["code"] == "not_found"


@given(eur_mwh, hour_starts, st.sampled_from(Package), st.booleans())
def test_the_lines_add_up_to_the_price(price: float, start: int, package: Package, included: bool) -> None:
    row = TariffRow(
        package=package, parts_from_table=frozenset({Part.NETWORK, Part.EXCISE}), margin=0.01, renewable=0.008
    )
    charges = Tariff(rows=[row], fees_include_vat=included).charges(start)
    assert sum(price_parts(charges, price).values()) == pytest.approx(charges.price(price), abs=5.1e-5)


@given(eur_mwh, hour_starts, st.sampled_from(Package), st.sampled_from(Unit))
def test_the_shown_figures_add_up_to_the_shown_price(price: float, start: int, package: Package, unit: Unit) -> None:
    row = TariffRow(package=package, parts_from_table=frozenset({Part.NETWORK, *FEE_RATES}), margin=0.0045)
    charges = Tariff(rows=[row]).charges(start)
    shown = sum(float(unit.part_text(line, "en")) for line in price_parts(charges, price).values())
    total = float(unit.price_text(charges.price(price), "en").split()[0])
    # Half of the price's last decimal, and half of the last one of each of the eight lines.
    assert shown * 100 / unit.units_per_euro == pytest.approx(total * 100 / unit.units_per_euro, abs=0.0055)


def test_lines_of_zero_are_left_out() -> None:
    charges = Tariff(rows=[TariffRow(vat_rate=0, margin=0.01)]).charges(instant("2026-10-14T10:00:00+03:00"))
    assert price_parts(charges, 100.0) == {"market": 0.1, "margin": 0.01}
