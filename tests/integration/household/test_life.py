"""Setting up, unloading, reloading and removing, and the identity of entities and devices."""

import asyncio
from types import MappingProxyType

import pytest
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from pytest_homeassistant_custom_component.common import get_scheduled_timer_handles  # type: ignore[attr-defined]

from custom_components.tunnihind.const import DOMAIN
from tests.support.documents import PROJECT
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S


def identities(hass: HomeAssistant) -> dict[str, str]:
    """Return the integration's entities: their ids by unique id, separately for both platforms."""
    entries = er.async_get(hass).entities.values()
    return {f"{entry.domain}.{entry.unique_id}": entry.entity_id for entry in entries if entry.platform == DOMAIN}


def issues(hass: HomeAssistant) -> set[str]:
    return {issue_id for domain, issue_id in ir.async_get(hass).issues if domain == DOMAIN}


def timers(hass: HomeAssistant) -> list[asyncio.TimerHandle]:
    """Return the integration's timers, by their description. A clone may be in a folder of the same name."""
    handles = get_scheduled_timer_handles(hass.loop)
    told = {handle: repr(handle).replace(str(PROJECT), "").lower() for handle in handles if not handle.cancelled()}
    return [handle for handle, text in told.items() if DOMAIN in text]


async def test_unloading_stops_polls_timers_and_repairs_and_removal_leaves_nothing(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy, hass_storage: dict[str, object]
) -> None:
    await proxied_home.add()
    proxy.refuse(500)
    await proxied_home.at(proxied_home.now + 3 * HOUR_S)
    assert timers(hass)
    assert await hass.config_entries.async_unload("entry")
    assert proxied_home.entry.state is ConfigEntryState.NOT_LOADED
    assert (issues(hass), timers(hass)) == (set(), [])
    proxy.asked.clear()
    await proxied_home.at(proxied_home.now + HOUR_S)
    assert proxy.asked == []

    await hass.config_entries.async_setup("entry")
    await proxied_home.settle()
    assert issues(hass) == {"server_unreachable_entry"}
    assert "tunnihind.entry" in hass_storage
    await hass.config_entries.async_remove("entry")
    await proxied_home.at(proxied_home.now + HOUR_S)
    assert "tunnihind.entry" not in hass_storage
    assert identities(hass) == {}
    assert dr.async_entries_for_config_entry(dr.async_get(hass), "entry") == []
    assert hass.states.async_all() == []
    assert (issues(hass), timers(hass)) == (set(), [])


async def test_a_reload_goes_on_where_it_was(hass: HomeAssistant, home: Home) -> None:
    before = {state.entity_id: state.state for state in hass.states.async_all()}
    assert await hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()
    assert {state.entity_id: state.state for state in hass.states.async_all()} == before
    await home.at(instant("2026-01-14T11:00:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T11:00:00+02:00"))


async def test_an_entry_that_never_loaded_can_be_removed(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    await home.server.runner.cleanup()
    await home.add()
    await hass.config_entries.async_remove(home.entry.entry_id)
    await home.settle()
    assert timers(hass) == []


async def test_entities_stay_and_device_and_polls_follow_after_any_change(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    before = identities(hass)
    entry = proxied_home.entry

    def options_and_vat() -> None:
        rows = [{"vat_percent": 24, "margin": 1.0, "network_day": 3.0, "network_night": 2.0}]
        hass.config_entries.async_update_entry(entry, options={"rows": rows, "cheap_hours": 3})

    def names() -> None:
        hass.config_entries.async_update_entry(entry, title="Price", unique_id="another")
        hass.config_entries.async_update_subentry(entry, entry.subentries[PLAN_ID], title="Sauna")

    def address() -> None:
        url = f"http://127.0.0.1:{proxy.upstream}"
        hass.config_entries.async_update_entry(entry, data={**entry.data, "url": url, "instance_id": "b"})

    def restart() -> None:
        hass.config_entries.async_schedule_reload(entry.entry_id)

    for change in (options_and_vat, names, address, restart):
        change()
        await proxied_home.settle()
        assert entry.state is ConfigEntryState.LOADED
        assert identities(hass) == before
        assert proxied_home.value("current_price") != "unavailable"
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), "entry")
    assert [device.name for device in devices if device.via_device_id is None] == ["Price"]
    proxy.asked.clear()
    await proxied_home.at(proxied_home.now + HOUR_S)
    assert proxy.asked == [], "a request went to the old address"
    assert entry.runtime_data.last_update_success


async def test_two_servers_live_side_by_side(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    await home.add()
    away = await make_home(price_of=lambda _: 10.0)
    away.forecast_of = None
    away.serve()
    await away.add(entry_id="away", plans={"sauna": {"duration": 60, "split": False}})
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert away.value("current_price", "away") == "0.0124"
    assert away.value("window_average", "sauna") == "0.0124"

    hass.config_entries.async_update_entry(away.entry, options={"rows": [{"margin": 10.0}]})
    await away.settle()
    assert away.value("current_price", "away") == "0.1364"
    assert float(home.value("current_price")) == home.consumer_price(hour)

    await away.server.runner.cleanup()
    await home.at(home.now + 2 * HOUR_S + 900)
    assert issues(hass) == {"server_unreachable_away"}
    assert away.is_on("data_problem", "away")

    await hass.config_entries.async_remove("away")
    await home.settle()
    assert issues(hass) == set()
    await home.at(hour + 4 * HOUR_S)
    assert float(home.value("current_price")) == home.consumer_price(hour + 4 * HOUR_S)


async def test_other_kinds_of_subentries_are_left_alone(hass: HomeAssistant, home: Home) -> None:
    other = ConfigSubentry(
        data=MappingProxyType({}), subentry_id="x", subentry_type="tariff", title="X", unique_id=None
    )
    before = identities(hass)
    hass.config_entries.async_add_subentry(home.entry, other)
    await home.settle()
    assert identities(hass) == before


async def test_a_subentry_of_another_kind_keeps_its_entities_and_its_devices_name(
    hass: HomeAssistant, home: Home
) -> None:
    other = ConfigSubentry(
        data=MappingProxyType({}), subentry_id="x", subentry_type="tariff", title="Other", unique_id=None
    )
    hass.config_entries.async_add_subentry(home.entry, other)
    device = dr.async_get(hass).async_get_or_create(
        config_entry_id="entry", config_subentry_id="x", identifiers={(DOMAIN, "x")}, name="Pack"
    )
    kept = er.async_get(hass).async_get_or_create(
        "number", DOMAIN, "x_energy", config_entry=home.entry, config_subentry_id="x", device_id=device.id
    )
    hass.config_entries.async_update_subentry(home.entry, other, title="Another")
    await home.settle()
    assert er.async_get(hass).async_get(kept.entity_id) is not None
    renamed = dr.async_get(hass).async_get(device.id)
    assert renamed is not None
    assert renamed.name == "Pack"
    with pytest.raises(ServiceValidationError, match="is not a Tunnihind plan"):
        await hass.services.async_call(DOMAIN, "update_plan", {"device_id": device.id, "duration": 60}, blocking=True)


async def test_polling_that_the_household_switched_off_stays_off_and_the_hour_changes(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    hass.config_entries.async_update_entry(proxied_home.entry, pref_disable_polling=True)
    await hass.config_entries.async_reload(proxied_home.entry.entry_id)
    await proxied_home.settle()
    proxy.asked.clear()
    await proxied_home.at(instant("2026-01-14T11:00:00+02:00"))
    assert proxy.asked == []
    assert float(proxied_home.value("current_price")) == proxied_home.consumer_price(
        instant("2026-01-14T11:00:00+02:00")
    )
