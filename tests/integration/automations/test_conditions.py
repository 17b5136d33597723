"""Conditions in real automations."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er

from tests.support.household.automations import (
    ONE_PIECE,
    ask,
    cheap_in,
    hours_from,
    put_into_one_area,
    the_plan,
    the_server,
)
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, PriceOf, instant
from tunnihind.core.market import HOUR_S

NOON = instant("2026-01-14T12:00:00+02:00")
CONDITIONS = ("price_cheap", "price_negative", "tomorrow_known", "window_running")


def condition(name: str, target: Mapping[str, Any], behavior: str = "any") -> dict[str, Any]:
    return {"condition": f"tunnihind.{name}", "target": target, "options": {"behavior": behavior}}


@pytest.mark.parametrize(
    ("name", "market", "first_hours"),
    [
        ("window_running", cheap_in(hours_from(NOON, 3)), 3),
        ("price_cheap", cheap_in(hours_from(NOON, 6)), 6),
        ("price_negative", cheap_in(hours_from(NOON, 2), cheap=-5.0), 2),
    ],
)
async def test_each_condition_holds_in_exactly_its_hours(
    hass: HomeAssistant, make_home: MakeHome, name: str, market: PriceOf, first_hours: int
) -> None:
    home = await make_home(price_of=market)
    await home.add(plans={PLAN_ID: ONE_PIECE})
    holds = await ask(hass, condition(name, the_plan(hass) if name == "window_running" else the_server(hass)))
    held = []
    for hour in hours_from(NOON - HOUR_S, 10):
        await home.at(hour)
        if await holds():
            held.append(hour)
    assert held == list(hours_from(NOON, first_hours))


async def test_tomorrow_is_known_from_its_publication_till_midnight(hass: HomeAssistant, home: Home) -> None:
    holds = await ask(hass, condition("tomorrow_known", the_server(hass)))
    assert not await holds()
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert await holds()
    await home.at(instant("2026-01-15T00:00:00+02:00"))
    assert not await holds()


@pytest.mark.parametrize("behavior", ["any", "all"])
@pytest.mark.parametrize("name", CONDITIONS)
async def test_no_condition_holds_while_its_entity_is_unknown(
    hass: HomeAssistant, home: Home, name: str, behavior: str
) -> None:
    target = the_plan(hass) if name == "window_running" else the_server(hass)
    holds = await ask(hass, condition(name, target, behavior))
    await hass.config_entries.async_unload(home.entry.entry_id)
    assert home.state("binary_sensor", "window", PLAN_ID).state == "unavailable"
    assert not await holds()


async def test_behavior_all_requires_every_window_to_run(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3)))
    await home.add(plans={"boiler": ONE_PIECE, "car": {**ONE_PIECE, "duration": 60}})
    area = ar.async_get(hass).async_create("Home").id
    put_into_one_area(hass, area)
    holds = await ask(hass, condition("window_running", {"area_id": area}, "all"))
    await home.at(NOON)
    assert await holds()
    await home.at(NOON + HOUR_S)
    assert not await holds()


@pytest.mark.parametrize("name", CONDITIONS)
async def test_other_entities_in_the_same_area_do_not_count(hass: HomeAssistant, home: Home, name: str) -> None:
    area = ar.async_get(hass).async_create("Home").id
    put_into_one_area(hass, area)
    registry = er.async_get(hass)
    others = []
    for key in ("window", "cheap_hour", "negative_price", "tomorrow_known"):
        other = registry.async_get_or_create("binary_sensor", "other", key, translation_key=key)
        registry.async_update_entity(other.entity_id, area_id=area)
        others.append(other.entity_id)
    for entity_id in [*others, "binary_sensor.not_registered"]:
        hass.states.async_set(entity_id, "on")
    assert not home.is_on("window", PLAN_ID)
    assert not home.is_on("cheap_hour")
    target = {"area_id": area, "entity_id": [*others, "binary_sensor.not_registered"]}
    holds = await ask(hass, condition(name, target))
    assert not await holds()
