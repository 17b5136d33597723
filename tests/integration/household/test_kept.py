"""What outlives a restart, and what of it does not."""

import json
from copy import deepcopy
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.prices.timeline import QUARTER_S
from tests.integration.household.conftest import PUBLISHED_TOMORROW, MakeWorld
from tests.support.home import PLAN_ID, World, instant
from tunnihind.market import HOUR_S

KEY = "tunnihind.entry"

type Files = dict[str, Any]


async def kept(hass: HomeAssistant, world: World, files: Files) -> dict[str, Any]:
    """Unload, and return what was written; the server is gone from here on."""
    await hass.config_entries.async_unload(world.entry.entry_id)
    await world.server.runner.cleanup()
    written: dict[str, Any] = files[KEY]
    return written


async def start(hass: HomeAssistant, world: World) -> ConfigEntryState:
    await hass.config_entries.async_setup(world.entry.entry_id)
    await world.settle()
    return world.entry.state


async def test_what_is_new_is_written_soon(world: World, hass_storage: Files) -> None:
    await world.publish(instant(PUBLISHED_TOMORROW))
    await world.at(world.now + 20)
    settled = hass_storage[KEY]["data"]["answer"]["settled"]
    assert max(map(int, settled)) == instant(PUBLISHED_TOMORROW) - HOUR_S


async def test_what_is_kept_is_json_and_bounded(world: World, hass: HomeAssistant, hass_storage: Files) -> None:
    await world.at(world.now + 6 * HOUR_S)
    written = await kept(hass, world, hass_storage)
    assert len(json.dumps(written)) < 32_768
    assert min(map(int, written["data"]["answer"]["settled"])) >= world.now - 49 * HOUR_S


async def test_all_that_was_shown_is_shown_again_without_the_server(
    hass: HomeAssistant, world: World, hass_storage: Files
) -> None:
    before = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    await kept(hass, world, hass_storage)
    assert await start(hass, world) is ConfigEntryState.LOADED
    after = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    assert after == before


async def test_an_age_is_judged_by_the_answer_and_not_by_the_restart(
    hass: HomeAssistant, world: World, hass_storage: Files
) -> None:
    await kept(hass, world, hass_storage)
    world.set_clock(world.now + HOUR_S)
    await start(hass, world)
    assert world.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]


async def test_who_the_server_is_is_known_without_it(
    hass: HomeAssistant, make_world: MakeWorld, hass_storage: Files
) -> None:
    world = await make_world()
    await world.add()
    written = await kept(hass, world, hass_storage)
    written["data"]["about"]["vat_rate"] = 0.24
    await start(hass, world)
    hour = world.now - world.now % HOUR_S
    assert float(world.value("current_price")) == round(world.price_of(hour) / 1000 * 1.24, 4)


async def test_a_start_with_prices_that_do_not_cover_the_hour_says_what_is_wrong(
    hass: HomeAssistant, make_world: MakeWorld, hass_storage: Files
) -> None:
    world = await make_world()
    world.forecast_of = None
    world.serve()
    await world.add()
    await kept(hass, world, hass_storage)
    world.set_clock(instant("2026-01-15T00:59:00+02:00"))
    assert await start(hass, world) is ConfigEntryState.LOADED
    await hass.config_entries.async_unload(world.entry.entry_id)
    world.set_clock(instant("2026-01-15T01:00:00+02:00"))
    assert await start(hass, world) is ConfigEntryState.LOADED
    assert world.value("current_price") == "unavailable"
    problem = world.state("binary_sensor", "data_problem")
    assert problem.state == "on"
    assert problem.attributes["problems"] == ["server_unreachable", "no_price"]


def _without(*path: str) -> Any:  # noqa: ANN401  any JSON
    def spoil(data: Any) -> Any:  # noqa: ANN401
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        return data

    return spoil


def _with(value: object, *path: str) -> Any:  # noqa: ANN401
    def spoil(data: Any) -> Any:  # noqa: ANN401
        inner = data
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return data

    return spoil


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: [],
        lambda _: ["answer"],
        lambda _: "answer",
        lambda _: {},
        _with([], "answer"),
        _with("answer", "answer"),
        _with({"now": 1}, "answer"),
        _without("answer", "settled"),
        _with({"ten o'clock": 1.0}, "answer", "settled"),
        _with({"1768377600": None}, "answer", "settled"),
        _with({"1768377600": {"p10": 1.0}}, "answer", "forecast"),
        _with("now", "answer", "now"),
        _with("yesterday", "answer", "made_at"),
        _with("good", "answer", "backtest"),
        _with({"name": "somebody"}, "about"),
        _with({"version": "1", "instance_id": "x", "vat_rate": "high", "attribution": "A"}, "about"),
        _with("outcomes", "outcomes"),
    ],
)
async def test_a_damaged_file_is_as_good_as_none(
    hass: HomeAssistant,
    world: World,
    hass_storage: Files,
    spoil: Any,  # noqa: ANN401
) -> None:
    await hass.config_entries.async_unload(world.entry.entry_id)
    hass_storage[KEY]["data"] = spoil(deepcopy(hass_storage[KEY]["data"]))
    assert await start(hass, world) is ConfigEntryState.LOADED
    hour = world.now - world.now % HOUR_S
    assert float(world.value("current_price")) == world.household(hour)
    assert world.value("settled_until") != "unknown"


@pytest.mark.parametrize(
    "outcome",
    [{}, None, 5, [], "window", {"reason": "bad weather", "last_run": None}, {"reason": "no_prices"}, {"pieces": []}],
)
async def test_a_decision_that_cannot_be_read_is_decided_anew_and_costs_nothing_else(
    hass: HomeAssistant, world: World, hass_storage: Files, outcome: object
) -> None:
    decided = world.value("window_start", PLAN_ID)
    written = await kept(hass, world, hass_storage)
    written["data"]["outcomes"][PLAN_ID] = outcome
    assert await start(hass, world) is ConfigEntryState.LOADED
    assert world.value("window_start", PLAN_ID) == decided


@pytest.mark.parametrize(("version", "minor_version"), [(0, 1), (1, 7), (2, 1)])
async def test_a_file_of_another_version_is_as_good_as_none(
    hass: HomeAssistant, world: World, hass_storage: Files, version: int, minor_version: int
) -> None:
    await hass.config_entries.async_unload(world.entry.entry_id)
    hass_storage[KEY] |= {"version": version, "minor_version": minor_version, "data": {"prices": [1, 2, 3]}}
    assert await start(hass, world) is ConfigEntryState.LOADED
    assert float(world.value("current_price")) == world.household(world.now - world.now % HOUR_S)
    await hass.config_entries.async_unload(world.entry.entry_id)
    assert (hass_storage[KEY]["version"], hass_storage[KEY]["minor_version"]) == (1, 1)


async def test_a_window_that_ended_while_home_assistant_was_down_is_not_run_again(
    hass: HomeAssistant, make_world: MakeWorld, hass_storage: Files
) -> None:
    world = await make_world("2026-01-14T00:00:00+02:00", PUBLISHED_TOMORROW)
    await world.add(plans={PLAN_ID: {"duration": 60, "split": False}})
    begins = instant(world.value("window_start", PLAN_ID))
    await world.at(begins + QUARTER_S)
    assert world.is_on("window", PLAN_ID)
    await kept(hass, world, hass_storage)
    world.set_clock(begins + 2 * HOUR_S)
    await start(hass, world)
    assert not world.is_on("window", PLAN_ID)
    assert instant(world.value("window_start", PLAN_ID)) >= instant("2026-01-15T00:00:00+02:00")
