"""The data that survives a restart, and the data that does not."""

import json
from copy import deepcopy
from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.core.market import QUARTER_S
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S

KEY = "tunnihind.entry"

type Files = dict[str, Any]


async def kept(hass: HomeAssistant, home: Home, files: Files) -> dict[str, Any]:
    """Unload, and return the stored data; the server is gone from here on."""
    await hass.config_entries.async_unload(home.entry.entry_id)
    await home.server.runner.cleanup()
    written: dict[str, Any] = files[KEY]
    return written


async def start(hass: HomeAssistant, home: Home) -> ConfigEntryState:
    await hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
    return home.entry.state


async def test_new_data_is_stored_soon(home: Home, hass_storage: Files) -> None:
    await home.publish(instant(PUBLISHED_TOMORROW))
    await home.at(home.now + 20)
    settled = hass_storage[KEY]["data"]["answer"]["settled"]
    assert max(map(int, settled)) == instant(PUBLISHED_TOMORROW) - HOUR_S


async def test_the_stored_data_is_json_of_limited_size(home: Home, hass: HomeAssistant, hass_storage: Files) -> None:
    await home.at(home.now + 6 * HOUR_S)
    written = await kept(hass, home, hass_storage)
    assert len(json.dumps(written)) < 32_768
    assert min(map(int, written["data"]["answer"]["settled"])) >= home.now - 50 * HOUR_S


async def test_after_a_restart_without_the_server_all_states_are_the_same(
    hass: HomeAssistant, home: Home, hass_storage: Files
) -> None:
    before = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    await kept(hass, home, hass_storage)
    assert await start(hass, home) is ConfigEntryState.LOADED
    after = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    assert after == before


async def test_the_age_of_data_counts_from_the_answer_and_not_from_the_restart(
    hass: HomeAssistant, home: Home, hass_storage: Files
) -> None:
    await kept(hass, home, hass_storage)
    home.set_clock(home.now + HOUR_S)
    await start(hass, home)
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]


async def test_the_servers_identity_is_known_without_the_server(
    hass: HomeAssistant, make_home: MakeHome, hass_storage: Files
) -> None:
    home = await make_home()
    await home.add()
    written = await kept(hass, home, hass_storage)
    written["data"]["about"] |= {"vat_rate": 0.09, "vat_rate_is_chosen": True}
    await start(hass, home)
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == round(home.price_of(hour) / 1000 * 1.09, 4)


async def test_a_start_with_prices_that_do_not_cover_the_hour_reports_it(
    hass: HomeAssistant, make_home: MakeHome, hass_storage: Files
) -> None:
    home = await make_home()
    home.forecast_of = None
    home.serve()
    await home.add()
    await kept(hass, home, hass_storage)
    home.set_clock(instant("2026-01-15T00:59:00+02:00"))
    assert await start(hass, home) is ConfigEntryState.LOADED
    await hass.config_entries.async_unload(home.entry.entry_id)
    home.set_clock(instant("2026-01-15T01:00:00+02:00"))
    assert await start(hass, home) is ConfigEntryState.LOADED
    assert home.value("current_price") == "unavailable"
    problem = home.state("binary_sensor", "data_problem")
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
async def test_a_damaged_file_counts_as_missing(
    hass: HomeAssistant,
    home: Home,
    hass_storage: Files,
    spoil: Any,  # noqa: ANN401
) -> None:
    await hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[KEY]["data"] = spoil(deepcopy(hass_storage[KEY]["data"]))
    assert await start(hass, home) is ConfigEntryState.LOADED
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert home.value("settled_until") != "unknown"


@pytest.mark.parametrize(
    "outcome",
    [{}, None, 5, [], "window", {"reason": "bad weather", "last_run": None}, {"reason": "no_prices"}, {"pieces": []}],
)
async def test_a_decision_that_cannot_be_read_is_made_again_and_loses_no_other(
    hass: HomeAssistant, home: Home, hass_storage: Files, outcome: object
) -> None:
    decided = home.value("window_start", PLAN_ID)
    written = await kept(hass, home, hass_storage)
    written["data"]["outcomes"][PLAN_ID] = outcome
    assert await start(hass, home) is ConfigEntryState.LOADED
    assert home.value("window_start", PLAN_ID) == decided


@pytest.mark.parametrize(
    "spoil",
    [
        _with([], "answer"),
        _with({"now": 1}, "answer"),
        _with({"name": "somebody"}, "about"),
        _with("outcomes", "outcomes"),
        _with([1], "ran"),
        _with({PLAN_ID: 7}, "ran"),
        _with("late", "server_ahead_s"),
        _with({"other": {"runs": [{"window": [1]}]}}, "steered"),
        _with(5, "ledger", "prices"),
    ],
)
async def test_a_damaged_part_loses_neither_savings_nor_other_parts(
    hass: HomeAssistant,
    home: Home,
    hass_storage: Files,
    spoil: Any,  # noqa: ANN401
) -> None:
    account = home.entry.runtime_data.ledger.account(PLAN_ID)
    assert account is not None
    await home.at(home.now + HOUR_S)
    await hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[KEY]["data"] = spoil(deepcopy(hass_storage[KEY]["data"]))
    assert await start(hass, home) is ConfigEntryState.LOADED
    again = home.entry.runtime_data.ledger.account(PLAN_ID)
    assert again.since == account.since


@pytest.mark.parametrize("plans", [None, [], "plans", {PLAN_ID: {"since": 1}}, {PLAN_ID: 3}])
async def test_an_account_that_cannot_be_read_starts_again(
    hass: HomeAssistant, home: Home, hass_storage: Files, plans: object
) -> None:
    written = await kept(hass, home, hass_storage)
    written["data"]["ledger"]["plans"] = plans
    assert await start(hass, home) is ConfigEntryState.LOADED
    assert home.entry.runtime_data.ledger.account(PLAN_ID).since == home.now


@pytest.mark.parametrize(("version", "minor_version"), [(1, 7), (2, 1)])
async def test_a_file_of_another_version_counts_as_missing(
    hass: HomeAssistant, home: Home, hass_storage: Files, version: int, minor_version: int
) -> None:
    await hass.config_entries.async_unload(home.entry.entry_id)
    hass_storage[KEY] |= {"version": version, "minor_version": minor_version, "data": {"prices": [1, 2, 3]}}
    assert await start(hass, home) is ConfigEntryState.LOADED
    assert float(home.value("current_price")) == home.consumer_price(home.now - home.now % HOUR_S)
    await hass.config_entries.async_unload(home.entry.entry_id)
    assert (hass_storage[KEY]["version"], hass_storage[KEY]["minor_version"]) == (1, 1)


async def test_a_window_that_ended_while_home_assistant_was_down_is_not_run_again(
    hass: HomeAssistant, make_home: MakeHome, hass_storage: Files
) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", PUBLISHED_TOMORROW)
    await home.add(plans={PLAN_ID: {"duration": 60, "split": False}})
    begins = instant(home.value("window_start", PLAN_ID))
    await home.at(begins + QUARTER_S)
    assert home.is_on("window", PLAN_ID)
    await kept(hass, home, hass_storage)
    home.set_clock(begins + 2 * HOUR_S)
    await start(hass, home)
    assert not home.is_on("window", PLAN_ID)
    assert instant(home.value("window_start", PLAN_ID)) >= instant("2026-01-15T00:00:00+02:00")


async def test_the_stored_quarters_have_a_limited_size(
    hass: HomeAssistant, make_home: MakeHome, hass_storage: Files
) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"})
    await home.publish(instant(PUBLISHED_TOMORROW))
    written = await kept(hass, home, hass_storage)
    assert len(json.dumps(written)) < 4 * 32_768
    assert written["data"]["answer"]["step_s"] == QUARTER_S
