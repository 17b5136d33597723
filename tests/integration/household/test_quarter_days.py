"""Whole days by the quarter of an hour, also with 92 and 100 quarters: prices, lists, plans, no flapping."""

from itertools import groupby

import pytest
from homeassistant.core import HomeAssistant

from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.state_changes import record_state_changes
from tunnihind.core.market import HOUR_S, QUARTER_S

DAYS = [
    pytest.param("2026-03-29T00:00:00+02:00", "2026-03-30T00:00:00+03:00", 92, id="spring"),
    pytest.param("2026-01-14T00:00:00+02:00", "2026-01-15T00:00:00+02:00", 96, id="winter"),
    pytest.param("2026-10-25T00:00:00+03:00", "2026-10-26T00:00:00+02:00", 100, id="autumn"),
]
PLAN = {"duration": 180, "split": True, "min_piece": 30}


async def lived(home: Home, quarters: range) -> dict[str, list[str]]:
    """Let the day pass, and return the states in each of its quarters."""
    shown: dict[str, list[str]] = {"current_price": [], "next_price": [], "price_level": [], "cheap_hour": []}
    shown["window"] = []
    for quarter in quarters:
        await home.at(quarter)
        for key in ("current_price", "next_price", "price_level"):
            shown[key].append(home.value(key))
        shown["cheap_hour"].append(home.state("binary_sensor", "cheap_hour").state)
        shown["window"].append(home.state("binary_sensor", "window", PLAN_ID).state)
    return shown


@pytest.mark.parametrize(("begins", "ends", "count"), DAYS)
async def test_a_whole_day_changes_prices_by_the_quarter(
    make_home: MakeHome, begins: str, ends: str, count: int
) -> None:
    quarters = range(instant(begins), instant(ends), QUARTER_S)
    assert len(quarters) == count
    home = await make_home(begins, ends)
    # The market publishes to the end of its own day, an hour after ours.
    home.settled_until = quarters.stop + HOUR_S
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"}, plans={PLAN_ID: PLAN})
    assert len(home.state("sensor", "current_price").attributes["raw_today"]) == count
    prices = [home.consumer_quarter_price(start) for start in [*quarters, quarters.stop]]
    assert float(home.value("lowest_today")) == min(prices[:-1])
    assert float(home.value("highest_today")) == max(prices[:-1])

    shown = await lived(home, quarters)

    assert [float(price) for price in shown["current_price"]] == prices[:-1]
    assert [float(price) for price in shown["next_price"]] == prices[1:]
    for key in ("price_level", "cheap_hour"):
        hours = [set(shown[key][place : place + 4]) for place in range(0, count, 4)]
        assert all(len(hour) == 1 for hour in hours), f"{key} changes within the hour"
    runs = [len(list(run)) for state, run in groupby(shown["window"]) if state == "on"]
    assert sum(runs) * QUARTER_S == 3 * HOUR_S
    assert min(runs) >= 2, "a piece of the plan lasts less than half an hour"


async def test_by_the_quarter_a_plan_costs_less_than_by_the_hour(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"}, plans={PLAN_ID: PLAN})
    by_quarter = float(home.value("window_average", PLAN_ID))
    hass.config_entries.async_update_entry(home.entry, options={"billed_by": "hour"})
    await home.settle()
    assert by_quarter < float(home.value("window_average", PLAN_ID))


async def test_a_plan_whose_piece_is_left_blank_runs_for_an_hour_at_least(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00")
    home.serve_quarters(lambda start: 10.0 if start % HOUR_S == 0 else 90.0)
    await home.add(options={"billed_by": "quarter"}, plans={PLAN_ID: {"duration": 120, "split": True}})
    pieces = home.state("binary_sensor", "window", PLAN_ID).attributes["pieces"]
    assert min(instant(piece["end"]) - instant(piece["start"]) for piece in pieces) >= HOUR_S


async def test_a_new_quarter_changes_only_the_entities_of_the_quarter(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"})
    await home.at(instant("2026-01-14T10:29:59+02:00"))
    with record_state_changes(hass) as states:
        await home.at(instant("2026-01-14T10:30:00+02:00"))
    must = {home.state("sensor", key).entity_id for key in ("current_price", "next_price")}
    # The cost of starting at once changes with the quarter.
    may = {home.state("sensor", key, PLAN_ID).entity_id for key in ("window_saving", "window_chance")}
    assert must <= states.changed.keys() <= must | may


@pytest.mark.parametrize("to", ["2026-01-14T12:52:00+02:00", "2026-01-14T09:07:00+02:00"])
async def test_a_clock_that_jumps_shows_the_quarter_it_is(make_home: MakeHome, to: str) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"})
    home.set_clock(instant(to))
    await home.poll()
    quarter = home.now - home.now % QUARTER_S
    assert float(home.value("current_price")) == home.consumer_quarter_price(quarter)
    await home.at(quarter + QUARTER_S)
    assert float(home.value("current_price")) == home.consumer_quarter_price(quarter + QUARTER_S)


async def test_without_the_network_quarters_go_on_from_memory(make_home: MakeHome) -> None:
    home = await make_home()
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter"})
    await home.server.runner.cleanup()
    for _ in range(6):
        quarter = home.now - home.now % QUARTER_S + QUARTER_S
        await home.at(quarter)
        assert float(home.value("current_price")) == home.consumer_quarter_price(quarter)
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]
