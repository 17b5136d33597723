"""Plans that are switched off and on."""

import pytest

from tests.integration.household.test_diagnostics import ask_calendar
from tests.support.household.automations import restart
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.steering import (
    MIDNIGHT,
    MINUTE_S,
    SPLIT,
    at,
    cheap_from_one_to_four,
    pieces,
    save_form,
    switch,
    update,
)
from tunnihind.core.market import HOUR_S


async def test_a_plan_switched_off_has_no_window_and_that_reason(night: Home) -> None:
    assert night.state("switch", "enabled", PLAN_ID).state == "on"
    await switch(night, on=False)
    assert night.state("switch", "enabled", PLAN_ID).state == "off"
    assert night.value("status", PLAN_ID) == "switched_off"
    assert night.value("window_start", PLAN_ID) == "unknown"
    window = night.state("binary_sensor", "window", PLAN_ID)
    assert (window.state, window.attributes["reason"]) == ("off", "switched_off")
    assert await ask_calendar(night, MIDNIGHT, 48) == []
    await night.at(at(2))
    assert not night.is_on("window", PLAN_ID)
    assert night.state("calendar", "plans").state == "off"


@pytest.mark.parametrize(
    ("hour", "window", "status"),
    [(0, [(at(1), at(4))], "planned"), (2, [(at(1), at(4))], "running"), (5, [], "done")],
)
async def test_switching_off_and_on_at_once_changes_nothing(
    night: Home, hour: int, window: list[tuple[int, int]], status: str
) -> None:
    await night.at(at(hour))
    await switch(night, on=False)
    await switch(night, on=True)
    assert (pieces(night), night.value("status", PLAN_ID)) == (window, status)
    assert not night.state("binary_sensor", "window", PLAN_ID).attributes.get("shortened")


async def test_a_window_ends_at_the_moment_it_is_switched_off(night: Home) -> None:
    await night.at(at(2) + 7 * MINUTE_S)
    assert night.is_on("window", PLAN_ID)
    await switch(night, on=False)
    assert not night.is_on("window", PLAN_ID)
    assert instant(night.state("binary_sensor", "window", PLAN_ID).attributes["last_ended"]) == night.now
    assert await ask_calendar(night, MIDNIGHT, 48) == [("Plan", at(1), at(2) + 7 * MINUTE_S)]


async def test_a_window_switched_off_and_on_continues_as_planned(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await night.at(at(2.5))
    await switch(night, on=True)
    assert night.is_on("window", PLAN_ID)
    assert pieces(night) == [(at(1), at(2)), (at(2.5), at(4))]
    assert await ask_calendar(night, MIDNIGHT, 24) == [("Plan", at(1), at(2)), ("Plan", at(2.5), at(4))]
    await night.at(at(4))
    assert night.value("status", PLAN_ID) == "done"


async def test_one_piece_that_was_cut_off_has_run_unless_replanned(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await night.at(at(5))
    await switch(night, on=True)
    assert (night.value("status", PLAN_ID), pieces(night)) == ("done", [])
    await update(night, replan=True)
    assert pieces(night) == [(at(5), at(8))]


@pytest.mark.parametrize(
    ("off_s", "then"),
    [(HOUR_S, (at(3), at(5))), (MINUTE_S, (at(2) + MINUTE_S, at(4)))],
    ids=["an hour", "a minute, which is not worth a start"],
)
async def test_pieces_make_up_for_the_time_that_was_switched_off(
    make_home: MakeHome, off_s: int, then: tuple[int, int]
) -> None:
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=cheap_from_one_to_four)
    await home.add(plans={PLAN_ID: SPLIT})
    await home.at(at(2))
    await switch(home, on=False)
    home.set_clock(home.now + off_s)
    await switch(home, on=True)
    assert pieces(home) == [(at(1), at(2)), then]


async def test_the_switch_stays_off_over_a_restart_and_a_saved_form(night: Home) -> None:
    await switch(night, on=False)
    await restart(night)
    assert night.state("switch", "enabled", PLAN_ID).state == "off"
    await save_form(night, duration={"hours": 2, "minutes": 0})
    assert night.state("switch", "enabled", PLAN_ID).state == "off"
    assert night.value("status", PLAN_ID) == "switched_off"
    await switch(night, on=True)
    assert pieces(night) == [(at(1), at(3))]


async def test_a_window_switched_off_goes_on_after_a_restart(night: Home) -> None:
    await night.at(at(2))
    await switch(night, on=False)
    await restart(night)
    night.set_clock(at(3))
    await switch(night, on=True)
    assert pieces(night) == [(at(1), at(2)), (at(3), at(4))]
