"""A household with panels on the roof: its selling prices."""

from typing import Final

from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from custom_components.tunnihind.const import DOMAIN
from tests.integration.household.test_options import change
from tests.support.household.automations import restart
from tests.support.household.home import Home, instant, shaped
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S, QUARTER_S

SELLS: Final = {"selling": {"resolution": "quarter", "rows": [{"margin": 0.8, "balancing": 0.5}]}}
ENTITIES: Final = (
    ("sensor", "selling_price"),
    ("sensor", "next_selling_price"),
    ("binary_sensor", "negative_selling_price"),
)
DAY: Final = range(instant("2026-01-14T00:00:00+02:00"), instant("2026-01-15T00:00:00+02:00"), QUARTER_S)


def income(start: int) -> float:
    return round(shaped(start) / 1000 - 0.008 - 0.005, 4)


def registered(hass: HomeAssistant) -> list[bool]:
    registry = er.async_get(hass)
    return [registry.async_get_entity_id(platform, DOMAIN, f"entry_{key}") is not None for platform, key in ENTITIES]


async def test_selling_prices_go_by_quarters_while_buying_goes_by_hours(quarter_home: Home) -> None:
    home = quarter_home
    await home.add(options=SELLS)
    for _ in range(5):
        quarter = home.now - home.now % QUARTER_S
        assert float(home.value("selling_price")) == income(quarter)
        assert float(home.value("next_selling_price")) == income(quarter + QUARTER_S)
        assert float(home.value("current_price")) == home.consumer_price(quarter - quarter % HOUR_S)
        await home.at(quarter + QUARTER_S)
    listed = home.state("sensor", "selling_price").attributes["raw_today"]
    assert [item["value"] for item in listed] == [income(start) for start in DAY]
    assert len(home.state("sensor", "current_price").attributes["raw_today"]) == 24
    assert home.state("sensor", "selling_price").attributes["unit_of_measurement"] == "EUR/kWh"


async def test_a_selling_price_may_be_negative_while_the_buying_price_is_positive(quarter_home: Home) -> None:
    home = quarter_home
    home.serve_quarters(lambda _: 12.0)
    await home.add(options=SELLS)
    assert float(home.value("selling_price")) == -0.001
    assert home.is_on("negative_selling_price")
    assert not home.is_on("negative_price")


async def test_the_buyers_part_changes_with_its_date(quarter_home: Home) -> None:
    home = quarter_home
    rows = [{"margin": 0.8}, {"valid_from": "2026-01-15", "margin": 1.0, "balancing": 0.3}]
    await home.add(options={"selling": {"resolution": "hour", "rows": rows}})
    hour = home.now - home.now % HOUR_S
    assert float(home.value("selling_price")) == round(home.price_of(hour) / 1000 - 0.008, 4)
    await home.at(instant("2026-01-15T00:00:00+02:00"))
    assert float(home.value("selling_price")) == round(home.price_of(home.now) / 1000 - 0.01 - 0.003, 4)


async def test_entities_come_and_go_with_the_option_and_keep_their_names(
    hass: HomeAssistant, quarter_home: Home
) -> None:
    home = quarter_home
    await home.add()
    assert registered(hass) == [False, False, False]
    await change(home, **SELLS)
    assert registered(hass) == [True, True, True]
    assert float(home.value("selling_price")) == income(home.now - home.now % QUARTER_S)
    er.async_get(hass).async_update_entity(home.state("sensor", "selling_price").entity_id, new_entity_id="sensor.roof")
    await home.settle()
    with record_state_changes(hass) as states:
        hass.config_entries.async_update_entry(home.entry, options={})
        await home.settle()
    assert registered(hass) == [False, False, False]
    assert all("selling" in entity_id or "roof" in entity_id for entity_id in states.turned_unavailable)
    await change(home, **SELLS)
    assert home.state("sensor", "selling_price").entity_id == "sensor.roof"


async def test_a_contract_that_ends_while_home_assistant_is_off_leaves_no_entity(
    hass: HomeAssistant, quarter_home: Home
) -> None:
    home = quarter_home
    await home.add(options=SELLS)
    await hass.config_entries.async_unload(home.entry.entry_id)
    hass.config_entries.async_update_entry(home.entry, options={})
    await restart(home)
    assert registered(hass) == [False, False, False]
