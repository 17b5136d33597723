"""A household with two zones of one server: two entries that share only the computer's address."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from homeassistant.config_entries import SOURCE_USER, ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import get_system_health_info

from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.core.market import FINLAND, HOUR_S, MARKET_OF_CODE, Market
from custom_components.tunnihind.diagnostics import async_get_config_entry_diagnostics
from tests.integration.household.test_services import ask
from tests.support.household.home import Home, MakeHome, instant
from tunnihind.settings import Settings

MARKET_PRICE = 100.0


async def add_zone(home: Home, zone: str) -> ConfigEntry[Any]:
    """Add a zone of the home's server as a person does."""
    flows = home.hass.config_entries.flow
    form = await flows.async_init(DOMAIN, context={"source": SOURCE_USER})
    form = await flows.async_configure(form["flow_id"], {"url": f"http://127.0.0.1:{home.port}"})
    assert form["step_id"] == "zone"
    created = await flows.async_configure(form["flow_id"], {"zone": zone})
    await home.settle()
    return created["result"]


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home whose server has the prices of Estonia and Latvia, and of Finland."""
    return await make_home(settings=Settings(zones=("ee", "lv", "fi")), price_of=lambda _: MARKET_PRICE)


def shown(home: Home, entry: ConfigEntry[Any], key: str, platform: str = "sensor") -> str:
    return home.state(platform, key, entry.entry_id).state


async def test_each_zone_has_prices_with_its_own_vat(home: Home) -> None:
    paid = {zone: shown(home, await add_zone(home, zone), "current_price") for zone in ("ee", "lv", "fi")}
    assert paid == {"ee": "0.124", "lv": "0.121", "fi": "0.1255"}


async def test_the_operators_vat_rate_applies_in_all_zones(make_home: MakeHome) -> None:
    home = await make_home(settings=Settings(zones=("ee", "lv"), vat_rate=0.09), price_of=lambda _: MARKET_PRICE)
    assert {shown(home, await add_zone(home, zone), "current_price") for zone in ("ee", "lv")} == {"0.109"}


async def test_entities_and_devices_of_two_zones_have_names_of_their_own(hass: HomeAssistant, home: Home) -> None:
    latvia, estonia = await add_zone(home, "lv"), await add_zone(home, "ee")
    registry = er.async_get(hass)
    ids = {
        entry.title: {one.entity_id for one in er.async_entries_for_config_entry(registry, entry.entry_id)}
        for entry in (estonia, latvia)
    }
    assert {"sensor.tunnihind_current_price", "binary_sensor.cheapest_3_hours_window"} <= ids["Tunnihind"]
    assert ids["Tunnihind Latvia"] == {
        one.replace("tunnihind_", "tunnihind_latvia_").replace("cheapest_3_hours_", "cheapest_3_hours_latvia_")
        for one in ids["Tunnihind"]
    }
    devices = {
        entry.title: dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)
        for entry in (estonia, latvia)
    }
    for title, (server, plan) in devices.items():
        assert (server.name, server.model, server.via_device_id) == (title, title, None)
        assert plan.via_device_id == server.id


async def test_a_zone_has_its_own_clock_for_days_fees_and_times(
    hass: HomeAssistant, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zone with the clock of Stockholm, as SE3 would have."""
    in_stockholm = replace(FINLAND, time_zone=ZoneInfo("Europe/Stockholm"))
    monkeypatch.setitem(cast("dict[str, Market]", MARKET_OF_CODE), "FI", in_stockholm)
    entry = await add_zone(home, "fi")
    rows = [{"network_day": 5.0, "network_night": 3.0}]
    hass.config_entries.async_update_entry(entry, options={**entry.options, "rows": rows})
    await home.settle()
    prices, tariff = entry.runtime_data.prices, entry.runtime_data.tariff
    day = prices.today.date
    assert prices.today.start == instant(f"{day}T00:00:00+01:00")
    by_day = [hour for hour in range(24) if tariff.price(0.0, prices.today.start + hour * HOUR_S) > 0.05]
    assert by_day == [*range(7, 22)]
    assert {settings.zone for settings in entry.runtime_data.planner.settings.values()} == {in_stockholm}
    [piece, *_] = home.state("binary_sensor", "window", next(iter(entry.subentries))).attributes["pieces"]
    assert datetime.fromisoformat(piece["start"]).utcoffset() == timedelta(hours=1)
    found = await ask(hass, "get_prices", config_entry=entry.entry_id)
    assert {price["start"][-6:] for price in found["prices"]} == {"+01:00"}


async def test_actions_require_a_zone_and_answer_for_it(hass: HomeAssistant, home: Home) -> None:
    entries = [await add_zone(home, zone) for zone in ("ee", "lv")]
    prices = [(await ask(hass, "get_prices", config_entry=entry.entry_id))["prices"][0] for entry in entries]
    assert [one["price"] for one in prices] == [0.124, 0.121]


async def test_diagnostics_and_system_health_name_the_zones(hass: HomeAssistant, home: Home) -> None:
    entries = [await add_zone(home, zone) for zone in ("ee", "lv")]
    told = [await async_get_config_entry_diagnostics(hass, entry) for entry in entries]
    assert [one["zone"] for one in told] == ["EE", "LV"]
    assert await async_setup_component(hass, "system_health", {})
    await home.settle()
    info = await get_system_health_info(hass, DOMAIN)
    assert (info["servers"], info["zones"]) == (2, "EE, LV")
    assert await info["can_reach_server"] == "ok"


async def test_prices_of_another_zone_are_refused_and_raise_a_repair(hass: HomeAssistant, home: Home) -> None:
    latvia = await add_zone(home, "lv")
    before = shown(home, latvia, "current_price")
    hass.config_entries.async_update_entry(latvia, data={**latvia.data, "url": f"http://127.0.0.1:{home.port}/fi"})
    await home.settle()
    assert shown(home, latvia, "current_price") == before
    problem = home.state("binary_sensor", "data_problem", latvia.entry_id)
    assert problem.attributes["problems"] == ["other_zone"]
    issue = ir.async_get(hass).async_get_issue(DOMAIN, f"other_zone_{latvia.entry_id}")
    assert issue is not None
    assert (issue.translation_placeholders or {})["zone"] == "Latvia"
    assert latvia.runtime_data.about.instance_id == "test-lv"
