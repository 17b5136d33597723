"""Changes by flows while the integration runs: only another server or address reloads it."""

from collections.abc import Iterator

import pytest
from homeassistant.config_entries import SOURCE_RECONFIGURE, ConfigEntryState, SubentryFlowContext
from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.support.household.flows import Imitate, announce, entry_of


@pytest.fixture
async def running(hass: HomeAssistant, imitate: Imitate) -> MockConfigEntry:
    """Return an entry that runs on a server of identity "other"."""
    entry = entry_of(await imitate(), "other")
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    return entry


@pytest.fixture(autouse=True)
def _nothing_to_be_mended(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Make each test fail if Home Assistant says that a flow both reloads and has an update listener."""
    yield
    assert not [one for one in caplog.get_records("call") if "update listener" in one.getMessage()]


async def test_a_new_address_reloads_the_entry_and_the_same_one_typed_again_does_not(
    hass: HomeAssistant, running: MockConfigEntry, imitate: Imitate
) -> None:
    before, other = running.runtime_data, await imitate()
    for address, reloads in ((before.url, False), (other, True)):
        form = await running.start_reconfigure_flow(hass)
        await hass.config_entries.flow.async_configure(form["flow_id"], {"url": address})
        await hass.async_block_till_done(wait_background_tasks=True)
        assert (running.state, running.runtime_data.url) == (ConfigEntryState.LOADED, address)
        assert (running.runtime_data is not before) is reloads


async def test_another_server_at_the_same_address_reloads_the_entry(hass: HomeAssistant, imitate: Imitate) -> None:
    entry = entry_of(await imitate(), "reinstalled since", unique_id="reinstalled since")
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    before = entry.runtime_data
    form = await entry.start_reconfigure_flow(hass)
    question = await hass.config_entries.flow.async_configure(form["flow_id"], {"url": before.url})
    assert question["step_id"] == "replace"
    await hass.config_entries.flow.async_configure(form["flow_id"], {})
    await hass.async_block_till_done(wait_background_tasks=True)
    assert (entry.state, entry.unique_id) == (ConfigEntryState.LOADED, "other")
    assert entry.runtime_data is not before


async def test_an_announced_address_replaces_a_dead_one(hass: HomeAssistant, imitate: Imitate, address: str) -> None:
    entry = entry_of(await imitate())  # who answers there is another one
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await announce(hass, address)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert entry.runtime_data.url == address


async def test_options_apply_without_a_reload(hass: HomeAssistant, running: MockConfigEntry) -> None:
    before = running.runtime_data
    menu = await hass.config_entries.options.async_init(running.entry_id)
    form = await hass.config_entries.options.async_configure(menu["flow_id"], {"next_step_id": "cheap"})
    await hass.config_entries.options.async_configure(form["flow_id"], {"cheap_hours": 3})
    await hass.async_block_till_done(wait_background_tasks=True)
    assert running.runtime_data is before
    assert before.prices.cheap_hours == 3


async def test_plans_apply_without_a_reload(hass: HomeAssistant, imitate: Imitate, address: str) -> None:
    flow = await hass.config_entries.flow.async_init("tunnihind", context={"source": "user"})
    entry = (await hass.config_entries.flow.async_configure(flow["flow_id"], {"url": address}))["result"]
    await hass.async_block_till_done(wait_background_tasks=True)
    before = entry.runtime_data
    [plan] = entry.subentries
    context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=plan)
    form = await hass.config_entries.subentries.async_init((entry.entry_id, "plan"), context=context)
    changed = {
        "name": "Boiler",
        "duration": {"hours": 2},
        "pieces": {"split": "one_piece"},
        "when": {"weekdays": ["sun"], "days": 1},
        "prices": {"horizon": "expected"},
    }
    await hass.config_entries.subentries.async_configure(form["flow_id"], changed)
    await hass.async_block_till_done(wait_background_tasks=True)
    assert entry.runtime_data is before
    assert before.prices.outcomes.keys() == {plan}
