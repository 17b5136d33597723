"""The sensors that are off at first: the times until and in a window, today's spread, the average of the hours
ahead."""

from collections.abc import Iterator
from statistics import fmean
from unittest.mock import patch

import pytest
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.event import async_track_state_change_event

from tests.integration.household.test_options import change
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

NOON = instant("2026-01-14T12:00:00+02:00")
# By the hour of the Tallinn day; all others cost 100 EUR/MWh.
PRICES = {15: 1.0, 16: 90.0, 17: 2.0}


def dipped(start: int) -> float:
    """Two cheap hours in the afternoon of Tallinn's winter clock, with an expensive hour between."""
    return PRICES.get((start // HOUR_S + 2) % 24, 100.0)


@pytest.fixture(autouse=True)
def enabled_at_first() -> Iterator[None]:
    """Enable all entities."""
    with patch("homeassistant.helpers.entity.Entity.entity_registry_enabled_default", True):
        yield


@pytest.fixture
async def split(make_home: MakeHome) -> Home:
    """Return a home at noon, whose plan runs from 15 to 16 and from 17 to 18."""
    home = await make_home("2026-01-14T12:00:00+02:00", price_of=dipped)
    await home.add(plans={PLAN_ID: {"duration": 120, "split": True, "min_piece": 60}})
    return home


def times(home: Home) -> tuple[str, str]:
    return home.value("time_until_window", PLAN_ID), home.value("window_time_left", PLAN_ID)


async def test_the_time_until_the_next_piece_and_the_time_left(split: Home) -> None:
    for hours, expected in (
        (0, ("180", "120")),
        (2.75, ("15", "120")),
        (3, ("0", "120")),
        (3.5, ("0", "90")),
        (4, ("60", "60")),
        (5.75, ("0", "15")),
    ):
        await split.at(NOON + int(hours * HOUR_S))
        assert (hours, times(split)) == (hours, expected)


async def test_the_next_window_is_known_while_the_present_one_runs(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T12:00:00+02:00", price_of=dipped)
    await home.add(plans={PLAN_ID: {"duration": 60}})
    assert home.value("next_window", PLAN_ID) == "unknown"  # tomorrow is not published yet
    await home.at(NOON + 3 * HOUR_S + 60)
    await home.publish(instant(PUBLISHED_TOMORROW))
    state = home.state("sensor", "next_window", PLAN_ID)
    assert instant(state.state) == NOON + 27 * HOUR_S
    assert instant(str(state.attributes["end"])) == NOON + 28 * HOUR_S
    assert state.attributes["average"] == pytest.approx(0.001 * 1.24, abs=1e-4)


async def test_times_without_a_window_are_unknown(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={PLAN_ID: {"duration": 60, "split": False, "price_cap": 0.1}})
    assert times(home) == ("unknown", "unknown")


async def test_times_are_written_once_a_quarter_of_an_hour(hass: HomeAssistant, split: Home) -> None:
    written: list[str] = []
    entity_id = split.state("sensor", "time_until_window", PLAN_ID).entity_id
    async_track_state_change_event(hass, entity_id, callback(lambda _: written.append(times(split)[0])))
    for second in range(0, HOUR_S, 60):
        await split.at(NOON + second)
        await split.poll()
    assert written == ["165", "150", "135"]


async def test_the_spread_is_from_todays_lowest_to_its_highest_price(split: Home) -> None:
    lowest, highest = (float(split.value(key)) for key in ("lowest_today", "highest_today"))
    assert float(split.value("spread_today")) == pytest.approx(highest - lowest)
    assert float(split.value("spread_today")) == pytest.approx(0.099 * 1.24, abs=1e-4)


async def test_the_average_ahead_begins_with_the_current_hour_and_covers_the_chosen_number(
    make_home: MakeHome,
) -> None:
    home = await make_home("2026-01-14T12:20:00+02:00")
    await home.add()
    six = [home.consumer_price(NOON + hour * HOUR_S) for hour in range(6)]
    state = home.state("sensor", "average_ahead")
    assert float(state.state) == pytest.approx(fmean(six), abs=1e-4)
    assert (state.attributes["hours"], state.attributes["settled"]) == (6, True)
    assert (instant(state.attributes["start"]), instant(state.attributes["end"])) == (NOON, NOON + 6 * HOUR_S)
    await change(home, hours_ahead=24)
    state = home.state("sensor", "average_ahead")
    assert (instant(state.attributes["end"]), state.attributes["settled"]) == (NOON + 24 * HOUR_S, False)
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert home.state("sensor", "average_ahead").attributes["settled"] is True


async def test_the_average_ahead_goes_by_quarters_if_billed_by_quarters(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T12:20:00+02:00")
    home.serve_quarters()
    await home.add(options={"billed_by": "quarter", "hours_ahead": 1})
    begins = NOON + QUARTER_S
    quarters = [home.consumer_quarter_price(begins + index * QUARTER_S) for index in range(4)]
    assert float(home.value("average_ahead")) == pytest.approx(fmean(quarters), abs=1e-4)


async def test_the_average_ahead_is_unknown_if_an_hour_is(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T12:20:00+02:00")
    home.forecast_of = None
    home.serve()
    await home.add(options={"hours_ahead": 24})
    state = home.state("sensor", "average_ahead")
    assert (state.state, state.attributes["hours"]) == ("unknown", 24)
