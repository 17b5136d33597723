"""Entries of older versions: they go on without a question, and what VAT changes is told once."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import pytest
from homeassistant.components.repairs import repairs_flow_manager
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tunnihind.const import DOMAIN
from tests.support import recording_proxy as paths
from tests.support.api_documents import ABOUT
from tests.support.home import DEFAULT_PLAN, PLAN_ID, Home, MakeHome, plan
from tests.support.recording_proxy import RecordingProxy
from tests.support.translations import placeholders, texts

NOTICE: Final = "vat_by_law_entry"
# What 0.1.0 stores once the form of prices was saved as it stood, and with all of it filled in.
BLANK: Final = {
    "rows": [{"margin": 0.0, "network_day": 0.0, "network_night": 0.0, "excise": 0.0, "renewable": 0.0}],
    "fees_include_vat": False,
    "day_rate_starts": "07:00:00",
    "day_rate_ends": "22:00:00",
    "weekends_at_night_rate": True,
    "holidays_at_night_rate": True,
}
FILLED: Final = {
    **BLANK,
    "rows": [
        {"margin": 0.5, "network_day": 4.1, "network_night": 2.3, "excise": 0.2, "renewable": 0.8},
        {
            "margin": 0.6,
            "network_day": 4.4,
            "network_night": 2.5,
            "excise": 0.3,
            "renewable": 0.8,
            "vat_percent": 9,
            "valid_from": "2026-03-01",
        },
    ],
    "fees_include_vat": True,
    "cheap_hours": 4,
}


async def start_old(home: Home, options: Mapping[str, Any], *, minor_version: int = 1) -> MockConfigEntry:
    """Start with an entry as an older version stored it."""
    home.entry = MockConfigEntry(
        domain=DOMAIN,
        title="Tunnihind",
        entry_id="entry",
        unique_id="test",
        version=1,
        minor_version=minor_version,
        data={"url": f"http://127.0.0.1:{home.port}", "instance_id": "test"},
        options=json.loads(json.dumps(options)),
        subentries_data=[plan(PLAN_ID, DEFAULT_PLAN)],
    )
    home.entry.add_to_hass(home.hass)
    await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
    return home.entry


def notice(hass: HomeAssistant) -> Mapping[str, str] | None:
    """Return what the notice fills in, if there is one."""
    issue = ir.async_get(hass).async_get_issue(DOMAIN, NOTICE)
    return issue.translation_placeholders if issue else None


@pytest.mark.parametrize("options", [{}, BLANK, FILLED])
async def test_options_plans_and_what_plans_decided_go_on_as_they_are(
    make_home: MakeHome, options: dict[str, Any]
) -> None:
    home = await make_home()
    entry = await start_old(home, options)
    assert entry.state is ConfigEntryState.LOADED
    assert (entry.version, entry.minor_version) == (1, 2)
    assert entry.options == options
    assert entry.data == {"url": f"http://127.0.0.1:{home.port}", "instance_id": "test"}
    assert [subentry.data for subentry in entry.subentries.values()] == [DEFAULT_PLAN]


async def test_entities_keep_their_ids(hass: HomeAssistant, make_home: MakeHome) -> None:
    registry = er.async_get(hass)
    old = registry.async_get_or_create(
        "sensor", DOMAIN, "entry_current_price", suggested_object_id="my_price", original_name="Current price"
    )
    await start_old(await make_home(), FILLED)
    assert registry.async_get_entity_id("sensor", DOMAIN, "entry_current_price") == old.entity_id == "sensor.my_price"


async def test_an_entry_that_followed_the_server_goes_to_the_laws_rate_and_is_told_once(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home(price_of=lambda _: 100.0)
    entry = await start_old(home, {})
    assert home.value("current_price") == "0.124"
    told = {
        "name": "Tunnihind",
        "hour": "14.01.2026 10:00",
        "old": "12.20 c/kWh",
        "new": "12.40 c/kWh",
        "old_vat": "22",
        "new_vat": "24",
    }
    assert notice(hass) == told
    said = texts("en")["issues"]["vat_by_law"]
    said = said["title"] + said["fix_flow"]["step"]["confirm"]["description"]
    assert placeholders(said) == told.keys()

    # It stays as it was told, over hours and restarts, until it is put away.
    await home.at(home.now + 7200)
    assert notice(hass) == told
    assert await async_setup_component(hass, "repairs", {})
    manager = repairs_flow_manager(hass)
    assert manager is not None
    form = await manager.async_init(DOMAIN, data={"issue_id": NOTICE})
    assert form["description_placeholders"] == told
    await manager.async_configure(form["flow_id"], {})
    assert notice(hass) is None
    await hass.config_entries.async_reload(entry.entry_id)
    await home.settle()
    assert notice(hass) is None


async def test_fees_typed_with_vat_stay_what_they_are(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=lambda _: 100.0)
    await start_old(home, FILLED)
    # Wednesday 10:20, day: 12.4 + .5 + 4.1 + .2 + .8, fees with VAT in them.
    assert home.value("current_price") == "0.18"
    assert (notice(hass) or {})["old"] == "17.80 c/kWh"
    assert (notice(hass) or {})["new"] == "18.00 c/kWh"


async def test_what_was_kept_goes_on_without_the_server_and_is_told_all_the_same(
    hass: HomeAssistant, make_home: MakeHome, hass_storage: dict[str, Any]
) -> None:
    """Home Assistant is updated while the network is down: prices, plans' windows and the server's rate are kept."""
    home = await make_home(price_of=lambda _: 100.0)
    entry = await start_old(home, {}, minor_version=2)
    window = home.state("sensor", "window_start", PLAN_ID).state
    await hass.config_entries.async_unload(entry.entry_id)
    await home.server.runner.cleanup()
    assert hass_storage["tunnihind.entry"]["data"]["about"]["vat_rate"] == 0.22
    hass.config_entries.async_update_entry(entry, minor_version=1)
    await hass.config_entries.async_setup(entry.entry_id)
    await home.settle()
    assert entry.state is ConfigEntryState.LOADED
    assert home.value("current_price") == "0.124"
    assert home.state("sensor", "window_start", PLAN_ID).state == window
    assert (notice(hass) or {})["old"] == "12.20 c/kWh"


async def test_a_rate_that_the_user_set_stays_and_nothing_is_told(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=lambda _: 100.0)
    await start_old(home, {"rows": [{"margin": 1.0, "vat_percent": 9}]})
    assert home.value("current_price") == "0.1199"
    assert notice(hass) is None


async def test_a_rate_that_the_operator_chose_stays_and_nothing_is_told(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    proxy.answer(paths.ABOUT, data={**ABOUT, "instanceId": "test", "vatRate": 0.09})
    proxied_home.price_of = lambda _: 100.0
    proxied_home.serve()
    await start_old(proxied_home, {})
    assert proxied_home.value("current_price") == "0.109"
    assert notice(hass) is None


async def test_a_server_that_tells_nothing_of_itself_was_followed_at_the_specifications_rate(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    proxy.answer(paths.ABOUT, status=HTTPStatus.NOT_FOUND)
    entry = await start_old(proxied_home, {})
    assert notice(hass) is None  # it said who it is when it was added, so its rate may still come
    hass.config_entries.async_update_entry(entry, data={**entry.data, "instance_id": None})
    await proxied_home.at(proxied_home.now + 900)
    assert (notice(hass) or {})["old_vat"] == "22"


async def test_a_new_entry_is_told_nothing(hass: HomeAssistant, home: Home) -> None:
    assert notice(hass) is None


async def test_the_notice_goes_with_its_entry(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    entry = await start_old(home, {})
    assert notice(hass)
    await hass.config_entries.async_remove(entry.entry_id)
    assert notice(hass) is None


async def test_an_entry_that_an_older_version_used_again_is_told_nothing_twice(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    """An older version reads it, since only the minor version is newer, and leaves that version as it is."""
    home = await make_home()
    entry = await start_old(home, BLANK, minor_version=2)
    assert entry.state is ConfigEntryState.LOADED
    assert notice(hass) is None


async def test_an_entry_of_a_later_major_version_is_left_alone(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    entry = MockConfigEntry(
        domain=DOMAIN, version=2, data={"url": f"http://127.0.0.1:{home.port}", "instance_id": "test"}
    )
    entry.add_to_hass(hass)
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.MIGRATION_ERROR
