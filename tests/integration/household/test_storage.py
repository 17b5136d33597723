"""The data that survives a restart, and the data that does not."""

import json
from collections.abc import Sequence
from typing import Any, Final

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant

from custom_components.tunnihind.core.market import QUARTER_S
from tests.integration.household.test_losses import problems
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S

KEY = "tunnihind.entry"
ACCOUNTS: Final = ("ledger", "plans")
# What is stored in which place; no place means the whole file.
DAMAGED: Final[Sequence[tuple[object, tuple[str, ...]]]] = [
    ([], ()),
    (["answer"], ()),
    ("answer", ()),
    ({}, ()),
    ([], ("answer",)),
    ("answer", ("answer",)),
    ({"now": 1}, ("answer",)),
    (None, ("answer", "settled")),
    ({"ten o'clock": 1.0}, ("answer", "settled")),
    ({"1768377600": None}, ("answer", "settled")),
    ({"1768377600": {"p10": 1.0}}, ("answer", "forecast")),
    ("now", ("answer", "now")),
    ("yesterday", ("answer", "made_at")),
    ("good", ("answer", "backtest")),
    ({"name": "somebody"}, ("about",)),
    ({"version": "1", "instance_id": "x", "vat_rate": "high", "attribution": "A"}, ("about",)),
    ("outcomes", ("outcomes",)),
    ([1], ("ran",)),
    ({PLAN_ID: 7}, ("ran",)),
    ("late", ("server_ahead_s",)),
    ({"other": {"runs": [{"window": [1]}]}}, ("steered",)),
    (5, ("ledger", "prices")),
    ({}, ("outcomes", PLAN_ID)),
    (None, ("outcomes", PLAN_ID)),
    (5, ("outcomes", PLAN_ID)),
    ([], ("outcomes", PLAN_ID)),
    ("window", ("outcomes", PLAN_ID)),
    ({"reason": "bad weather", "last_run": None}, ("outcomes", PLAN_ID)),
    ({"reason": "no_prices"}, ("outcomes", PLAN_ID)),
    ({"pieces": []}, ("outcomes", PLAN_ID)),
    (None, ACCOUNTS),
    ([], ACCOUNTS),
    ("plans", ACCOUNTS),
    ({PLAN_ID: {"since": "then"}}, ACCOUNTS),
    ({PLAN_ID: {"since": 1, "windows": [{"window": [1]}]}}, ACCOUNTS),
    ({PLAN_ID: 3}, ACCOUNTS),
]

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


def states_without_price_paths(hass: HomeAssistant) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return all states. Price paths are not stored, so the attribute made from them is left out."""
    states = {state.entity_id: (state.state, dict(state.attributes)) for state in hass.states.async_all()}
    for _, attributes in states.values():
        attributes.pop("cheapest_hours", None)
    return states


@pytest.mark.parametrize("billed_by", ["hour", "quarter"])
async def test_after_a_restart_without_the_server_all_states_are_the_same(
    hass: HomeAssistant, quarter_home: Home, hass_storage: Files, billed_by: str
) -> None:
    await quarter_home.add(options={"billed_by": billed_by})
    await quarter_home.publish(instant(PUBLISHED_TOMORROW))
    before = states_without_price_paths(hass)
    await kept(hass, quarter_home, hass_storage)
    assert await start(hass, quarter_home) is ConfigEntryState.LOADED
    assert states_without_price_paths(hass) == before


async def test_after_a_later_restart_without_the_server_prices_go_on_and_the_loss_is_reported(
    hass: HomeAssistant, home: Home, hass_storage: Files
) -> None:
    await kept(hass, home, hass_storage)
    home.set_clock(home.now + HOUR_S)
    await start(hass, home)
    assert problems(home) == ["server_unreachable"]
    hour = home.now - home.now % HOUR_S
    assert float(home.value("current_price")) == home.consumer_price(hour)
    await home.at(hour + HOUR_S)
    assert float(home.value("current_price")) == home.consumer_price(hour + HOUR_S)


async def test_the_servers_identity_is_known_without_the_server(
    hass: HomeAssistant, home: Home, hass_storage: Files
) -> None:
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
    assert problems(home) == ["server_unreachable", "no_price"]


@pytest.mark.parametrize(("value", "place"), DAMAGED)
async def test_a_damaged_file_counts_as_missing_and_a_damaged_part_loses_no_other(
    hass: HomeAssistant, home: Home, hass_storage: Files, value: object, place: tuple[str, ...]
) -> None:
    since = home.entry.runtime_data.ledger.account(PLAN_ID).since
    await home.at(home.now + HOUR_S)
    decided = home.value("window_start", PLAN_ID)
    await hass.config_entries.async_unload(home.entry.entry_id)
    *outer, last = ("data", *place)
    inner = hass_storage[KEY]
    for key in outer:
        inner = inner[key]
    inner[last] = value
    assert await start(hass, home) is ConfigEntryState.LOADED
    assert float(home.value("current_price")) == home.consumer_price(home.now - home.now % HOUR_S)
    assert home.value("settled_until") != "unknown"
    assert home.value("window_start", PLAN_ID) == decided
    assert home.entry.runtime_data.ledger.account(PLAN_ID).since == (home.now if place in {(), ACCOUNTS} else since)


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


@pytest.mark.parametrize(("billed_by", "step_s"), [("hour", HOUR_S), ("quarter", QUARTER_S)])
async def test_the_stored_data_is_json_of_limited_size(
    hass: HomeAssistant, quarter_home: Home, hass_storage: Files, billed_by: str, step_s: int
) -> None:
    await quarter_home.add(options={"billed_by": billed_by})
    await quarter_home.at(quarter_home.now + 6 * HOUR_S)
    await quarter_home.publish(instant(PUBLISHED_TOMORROW))
    written = await kept(hass, quarter_home, hass_storage)
    assert len(json.dumps(written)) < 32_768 * HOUR_S // step_s
    assert written["data"]["answer"]["step_s"] == step_s
    assert min(map(int, written["data"]["answer"]["settled"])) >= quarter_home.now - 50 * HOUR_S
