"""A server that runs as an app beside Home Assistant, announced by the Supervisor.

What follows an announcement is the same as on the network: see `test_zeroconf.py`.
"""

import pytest
from homeassistant.config_entries import SOURCE_HASSIO, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers.service_info.hassio import HassioServiceInfo
from yarl import URL

from custom_components.tunnihind.const import DOMAIN
from tests.support.household.flows import NOBODY, announce, entry_of, placeholders_of

pytestmark = pytest.mark.usefixtures("setup_entry")


async def tell_of(hass: HomeAssistant, address: str) -> ConfigFlowResult:
    """Let the Supervisor announce an app at that address, like `packaging/home-assistant-app` does."""
    url = URL(address)
    found = HassioServiceInfo(
        config={"host": url.host, "port": url.port, "addon": "Tunnihind"},
        name="Tunnihind",
        slug="abc_tunnihind",
        uuid="1234",
    )
    return await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_HASSIO}, data=found)


async def test_an_app_is_added_once_confirmed(hass: HomeAssistant, address: str) -> None:
    form = await tell_of(hass, address)
    assert (form["type"], form["step_id"]) == (FlowResultType.FORM, "hassio_confirm")
    assert placeholders_of(form) == {"app": "Tunnihind"}
    [flow] = hass.config_entries.flow.async_progress()
    assert (flow["context"]["title_placeholders"]["name"], flow["context"]["confirm_only"]) == ("Tunnihind", True)
    result = await hass.config_entries.flow.async_configure(form["flow_id"], {})
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["data"] == {"url": address, "instance_id": "test"}
    assert [plan.title for plan in result["result"].subentries.values()] == ["Cheapest 3 hours"]


async def test_an_app_with_a_new_name_on_the_network_is_followed(hass: HomeAssistant, address: str) -> None:
    entry = entry_of(NOBODY)
    entry.add_to_hass(hass)
    assert (await tell_of(hass, address))["reason"] == "already_configured"
    assert entry.data == {"url": address, "instance_id": "test"}


async def test_a_server_found_on_the_network_is_not_offered_by_the_supervisor_too(
    hass: HomeAssistant, address: str
) -> None:
    await announce(hass, address)
    assert (await tell_of(hass, address))["reason"] == "already_in_progress"
