"""A server that announces itself on the network."""

import pytest
from homeassistant.config_entries import SOURCE_IGNORE, SOURCE_USER, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.const import DOMAIN
from tests.support.household.flows import MALFORMED, NOBODY, Imitate, about_of, announce, entry_of, placeholders_of

pytestmark = pytest.mark.usefixtures("setup_entry")


async def known(hass: HomeAssistant, entry: MockConfigEntry) -> MockConfigEntry:
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    return entry


async def test_a_server_that_is_found_is_added_once_confirmed(hass: HomeAssistant, address: str) -> None:
    form = await announce(hass, address)
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "zeroconf_confirm")
    assert placeholders_of(form) == {"name": "Tunnihind", "url": address}
    assert (await announce(hass, address))["reason"] == "already_in_progress"
    [flow] = hass.config_entries.flow.async_progress()
    assert flow["context"]["title_placeholders"] == {"name": "Tunnihind", "host": address.removeprefix("http://")}
    assert flow["context"]["confirm_only"] is True
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {"billed_by": "quarter"})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert (result["data"], result["options"]) == (
        {"url": address, "instance_id": "test"},
        {"billed_by": "quarter"},
    )
    assert [plan.title for plan in result["result"].subentries.values()] == ["Cheapest 3 hours"]


async def test_two_servers_on_one_host_are_two_cards_that_differ(hass: HomeAssistant, imitate: Imitate) -> None:
    for identity in ("one", "two"):
        await announce(hass, await imitate(about=about_of(instanceId=identity)))
    cards = [flow["context"]["title_placeholders"] for flow in hass.config_entries.flow.async_progress()]
    assert len({card["host"] for card in cards}) == 2


async def test_a_demo_is_found_and_added_as_one(hass: HomeAssistant, imitate: Imitate) -> None:
    form = await announce(hass, await imitate(about=about_of(mode="demo")))
    [flow] = hass.config_entries.flow.async_progress()
    assert flow["context"]["title_placeholders"]["name"] == placeholders_of(form)["name"] == "Tunnihind demo"
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {})
    assert result["title"] == "Tunnihind demo"
    assert "rehearsal" not in result["data"]


async def test_a_discovered_rehearsal_is_explained(hass: HomeAssistant, imitate: Imitate) -> None:
    form = await announce(hass, await imitate(about=about_of(mode="rehearsal")))
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "rehearsal")


async def test_a_server_announces_the_path_that_it_is_behind(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(prefix="/prices")
    form = await announce(hass, address, {"path": "/prices"})
    assert placeholders_of(form) == {"name": "Tunnihind", "url": address}


async def test_a_server_without_prices_that_can_be_used_is_not_offered(hass: HomeAssistant, imitate: Imitate) -> None:
    for address, reason in ((NOBODY, "connection_refused"), (await imitate(forecast=MALFORMED), "invalid_response")):
        result = await announce(hass, address)
        assert (result["type"], result["reason"]) == (FlowResultType.ABORT, reason)
        assert placeholders_of(result)["url"] == address


async def test_a_server_that_moved_is_followed(hass: HomeAssistant, address: str) -> None:
    entry = await known(hass, entry_of(NOBODY))
    assert (await announce(hass, address))["reason"] == "already_configured"
    assert entry.data == {"url": address, "instance_id": "test"}


async def test_an_address_that_still_leads_to_the_server_stays(hass: HomeAssistant, address: str) -> None:
    chosen = address.replace("http://", "http://me@")
    entry = await known(hass, entry_of(chosen))
    assert (await announce(hass, address))["reason"] == "already_configured"
    assert entry.data["url"] == chosen


async def test_an_address_that_now_leads_to_another_server_is_given_up(
    hass: HomeAssistant, imitate: Imitate, address: str
) -> None:
    entry = await known(hass, entry_of(await imitate()))
    await announce(hass, address)
    assert entry.data["url"] == address


@pytest.mark.parametrize("has_moved", [True, False])
async def test_an_announcement_makes_a_waiting_entry_try_again(
    hass: HomeAssistant, address: str, has_moved: bool
) -> None:
    entry = entry_of(NOBODY if has_moved else address)
    entry.add_to_hass(hass)
    entry.mock_state(hass, ConfigEntryState.SETUP_RETRY)
    await announce(hass, address)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED


async def test_a_server_without_identity_is_found_only_once(hass: HomeAssistant, imitate: Imitate) -> None:
    address = await imitate(about=None)
    await known(hass, entry_of(address, None, unique_id="127.0.0.1"))
    assert (await announce(hass, address))["reason"] == "already_configured"


async def test_a_known_address_with_a_reinstalled_server_is_not_offered_again(
    hass: HomeAssistant, address: str
) -> None:
    await known(hass, entry_of(address, "before"))
    assert (await announce(hass, address))["reason"] == "already_configured"


async def test_an_ignored_server_stays_ignored(hass: HomeAssistant, address: str) -> None:
    entry_of(address, unique_id="test", source=SOURCE_IGNORE).add_to_hass(hass)
    assert (await announce(hass, address))["reason"] == "already_configured"


async def test_a_server_that_is_offered_can_be_added_by_hand_too(hass: HomeAssistant, address: str) -> None:
    await announce(hass, address)
    flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], {"url": address})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert hass.config_entries.flow.async_progress() == []
