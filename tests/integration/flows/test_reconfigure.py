"""Changing a server's address."""

import pytest
from homeassistant.config_entries import ConfigEntryState, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.support.household.flows import NOBODY, Imitate, about_of, entry_of, placeholders_of, shown

pytestmark = pytest.mark.usefixtures("setup_entry")


async def reconfigure(hass: HomeAssistant, entry: MockConfigEntry, url: str) -> ConfigFlowResult:
    if entry.entry_id not in hass.config_entries.async_entry_ids():
        entry.add_to_hass(hass)
    form = await entry.start_reconfigure_flow(hass)
    return await hass.config_entries.flow.async_configure(form["flow_id"], {"url": url})


async def test_the_new_address_of_the_same_server_is_taken(hass: HomeAssistant, address: str) -> None:
    entry = entry_of(NOBODY)
    entry.add_to_hass(hass)
    with_statistics = {"statistics": {"live": 2}}
    hass.config_entries.async_update_entry(entry, data={**entry.data, **with_statistics})
    result = await reconfigure(hass, entry, address)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "reconfigure_successful")
    assert entry.data == {"url": address, "instance_id": "test", **with_statistics}


async def test_the_form_shows_the_address_so_far_and_takes_none_that_does_not_answer(
    hass: HomeAssistant, address: str
) -> None:
    entry = entry_of(address)
    entry.add_to_hass(hass)
    form = await entry.start_reconfigure_flow(hass)
    assert (form["step_id"], shown(form)) == ("reconfigure", {"url": address})
    form = await hass.config_entries.flow.async_configure(form["flow_id"], {"url": NOBODY})
    assert (form["step_id"], form["errors"]) == ("reconfigure", {"url": "connection_refused"})
    assert shown(form) == {"url": NOBODY}
    assert entry.data["url"] == address


async def test_another_server_replaces_the_old_one_only_when_confirmed(
    hass: HomeAssistant, imitate: Imitate, address: str
) -> None:
    entry = entry_of(address)
    other = await imitate()
    form = await reconfigure(hass, entry, other)
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "replace")
    assert placeholders_of(form) == {"url": other}
    assert entry.unique_id == "test"
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {})
    assert result["reason"] == "reconfigure_successful"
    assert entry.unique_id == "other"
    assert entry.data == {"url": other, "instance_id": "other"}


async def test_a_server_without_identity_may_move_and_may_get_one_later(
    hass: HomeAssistant, imitate: Imitate, address: str
) -> None:
    entry = entry_of("http://elsewhere", None, unique_id="elsewhere")
    await reconfigure(hass, entry, await imitate(about=None))
    assert (entry.unique_id, entry.data["instance_id"]) == ("127.0.0.1", None)
    await reconfigure(hass, entry, address)
    assert (entry.unique_id, entry.data["instance_id"]) == ("test", "test")


@pytest.mark.parametrize(("at_address", "mine"), [(False, "mine"), (True, "test")], ids=["the server", "the address"])
async def test_a_server_or_an_address_that_another_entry_has_is_not_taken(
    hass: HomeAssistant, address: str, at_address: bool, mine: str
) -> None:
    (entry_of(address, "before") if at_address else entry_of("http://elsewhere")).add_to_hass(hass)
    result = await reconfigure(hass, entry_of(NOBODY, mine), address)
    assert (result["type"], result["reason"]) == (FlowResultType.ABORT, "already_configured")


async def test_an_entry_that_waits_for_its_server_starts_at_once(hass: HomeAssistant, address: str) -> None:
    entry = entry_of(NOBODY)
    entry.add_to_hass(hass)
    entry.mock_state(hass, ConfigEntryState.SETUP_RETRY)
    await reconfigure(hass, entry, address)
    await hass.async_block_till_done()
    assert entry.state is ConfigEntryState.LOADED


@pytest.mark.parametrize(
    ("mode", "was_rehearsal", "error"),
    [("rehearsal", False, "server_is_rehearsal"), ("live", True, "rehearsal_over"), ("demo", True, "rehearsal_over")],
)
async def test_a_live_entry_never_becomes_a_rehearsal_nor_a_rehearsal_a_live_one(
    hass: HomeAssistant, imitate: Imitate, mode: str, was_rehearsal: bool, error: str
) -> None:
    entry = entry_of(NOBODY, "other", unique_id="other-rehearsal" if was_rehearsal else "other")
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(entry, data={**entry.data, "rehearsal": was_rehearsal})
    address = await imitate(about=about_of(mode=mode))
    form = await reconfigure(hass, entry, address)
    assert (form["step_id"], form["errors"]) == ("reconfigure", {"url": error})
    assert placeholders_of(form)["url"] == address
    assert entry.data["url"] == NOBODY


async def test_a_rehearsal_that_moved_is_followed_and_stays_one(hass: HomeAssistant, imitate: Imitate) -> None:
    entry = entry_of(NOBODY, "other", unique_id="other-rehearsal")
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(entry, data={**entry.data, "rehearsal": True})
    address = await imitate(about=about_of(mode="rehearsal"))
    assert (await reconfigure(hass, entry, address))["reason"] == "reconfigure_successful"
    assert entry.data == {"url": address, "instance_id": "other", "rehearsal": True}
