"""Whole days by the quarter of an hour, also with 92 and 100 quarters: prices, lists, plans, no flapping."""

from itertools import groupby

import pytest

from tests.integration.household.test_losses import problems
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

DAYS = [
    pytest.param("2026-03-29T00:00:00+02:00", "2026-03-30T00:00:00+03:00", 92, id="spring"),
    pytest.param("2026-01-14T00:00:00+02:00", "2026-01-15T00:00:00+02:00", 96, id="winter"),
    pytest.param("2026-10-25T00:00:00+03:00", "2026-10-26T00:00:00+02:00", 100, id="autumn"),
]
SENSORS = ("current_price", "next_price", "price_level")
PLAN = {"duration": 180, "split": True, "min_piece": 30}


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
    assert float(home.value("average_today")) == pytest.approx(sum(prices[:-1]) / count, abs=5e-5)
    assert problems(home) == []

    shown: dict[str, list[str]] = {key: [] for key in (*SENSORS, "cheap_hour", "window")}
    for quarter in quarters:
        await home.at(quarter)
        for key in SENSORS:
            shown[key].append(home.value(key))
        shown["cheap_hour"].append(home.state("binary_sensor", "cheap_hour").state)
        shown["window"].append(home.state("binary_sensor", "window", PLAN_ID).state)

    assert [float(price) for price in shown["current_price"]] == prices[:-1]
    assert [float(price) for price in shown["next_price"]] == prices[1:]
    for key in ("price_level", "cheap_hour"):
        hours = [set(shown[key][place : place + 4]) for place in range(0, count, 4)]
        assert all(len(hour) == 1 for hour in hours), f"{key} changes within the hour"
    runs = [len(list(run)) for state, run in groupby(shown["window"]) if state == "on"]
    assert sum(runs) * QUARTER_S == 3 * HOUR_S
    assert min(runs) >= 2, "a piece of the plan lasts less than half an hour"


@pytest.mark.parametrize("to", ["2026-01-14T12:52:00+02:00", "2026-01-14T09:07:00+02:00"])
async def test_after_a_jump_of_the_clock_quarters_go_on_from_memory(quarter_home: Home, to: str) -> None:
    home = quarter_home
    await home.add(options={"billed_by": "quarter"})
    await home.server.runner.cleanup()
    home.set_clock(instant(to))
    await home.poll()
    for quarter in range(home.now - home.now % QUARTER_S, home.now + HOUR_S, QUARTER_S):
        await home.at(quarter)
        assert float(home.value("current_price")) == home.consumer_quarter_price(quarter)
