"""The calendar of plans in the nights in which Home Assistant's local clock changes."""

from datetime import datetime

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util

from tests.support.household.home import DAY_S, PLAN_ID, Home, MakeHome, instant, iso
from tests.support.household.steering import call
from tunnihind.core.market import HOUR_S, QUARTER_S

SPRING = "2026-03-29T01:00:00Z"
AUTUMN = "2026-10-25T01:00:00Z"
# In this zone, the clock goes back by half an hour.
LORD_HOWE = "2026-04-04T15:00:00Z"
type Pieces = tuple[tuple[int, int], ...]
"""The pieces of a plan: the minutes from the change of the clock to each start and end."""
OVER_THE_CHANGE: Pieces = ((-45, 30),)
NIGHTS = [
    *(
        pytest.param("Europe/Tallinn", AUTUMN, by, pieces, id=f"autumn-{by}-{pieces}")
        for by, pieces in (
            ("hour", ((-60, 0),)),
            ("hour", ((0, 60),)),
            ("hour", ((-120, 120),)),
            ("hour", ((-180, -120), (-60, 0), (60, 120))),
            ("quarter", ((-15, 15),)),
            ("quarter", ((-30, 90),)),
            ("quarter", ((-30, 0), (15, 30), (45, 60))),
            ("quarter", OVER_THE_CHANGE),
        )
    ),
    pytest.param("Europe/Tallinn", SPRING, "hour", ((-60, 60),), id="spring-hour"),
    pytest.param("Europe/Tallinn", SPRING, "quarter", ((-30, -15), (-15, 15)), id="spring-quarter"),
    pytest.param("Australia/Lord_Howe", LORD_HOWE, "quarter", OVER_THE_CHANGE, id="half-an-hour"),
]


async def home_before(
    make_home: MakeHome, change: str, pieces: Pieces, by: str = "quarter", *, ahead_s: int = 0
) -> Home:
    """Return a home four hours before the change, with a plan for all cheap prices, which are those of `pieces`."""
    home: Home

    def price_of(start: int) -> float:
        minute = (start - home.ahead_s - instant(change)) // 60
        return 10.0 if any(begins <= minute < ends for begins, ends in pieces) else 90.0

    before = instant(change) - 4 * HOUR_S
    home = await make_home(iso(before), iso(before), ahead_s=ahead_s, mode="rehearsal" if ahead_s else "live")
    home.price_of, home.settled_until = price_of, before + ahead_s + DAY_S
    home.serve_quarters(price_of)
    await home.add(
        options={"billed_by": by}, plans={PLAN_ID: {"kind": "below", "price_cap": 5}}, rehearsal=ahead_s != 0
    )
    return home


async def events_between(home: Home, start: int, end: int) -> list[tuple[datetime, datetime]]:
    """Ask the calendar for the local times of the events between two instants."""
    asked = {"start_date_time": iso(start), "end_date_time": iso(end)}
    calendar = home.state("calendar", "plans").entity_id
    answer = await call(home, "calendar.get_events", answers=True, entity_id=calendar, **asked)
    return [
        (
            dt_util.as_local(datetime.fromisoformat(event["start"])),
            dt_util.as_local(datetime.fromisoformat(event["end"])),
        )
        for event in answer[calendar]["events"]
    ]


def is_on(home: Home) -> bool:
    return home.state("calendar", "plans").state == "on"


@pytest.mark.parametrize(("zone", "change", "by", "pieces"), NIGHTS)
async def test_the_calendar_is_on_in_the_pieces_and_its_events_go_forward_by_the_clock(
    hass: HomeAssistant, make_home: MakeHome, zone: str, change: str, by: str, pieces: Pieces
) -> None:
    await hass.config.async_set_time_zone(zone)
    home = await home_before(make_home, change, pieces, by)
    at = instant(change)
    events = await events_between(home, at - 4 * HOUR_S, at + 4 * HOUR_S)
    # Both times have Home Assistant's zone, so Python compares them by the clock, too.
    assert all(start < end for start, end in events)
    shown = [(round(start.timestamp()), round(end.timestamp())) for start, end in events]
    assert shown == sorted(shown)
    quarters = [quarter for start, end in shown for quarter in range(start, end, QUARTER_S)]
    assert quarters == [at + minute * 60 for begins, ends in pieces for minute in range(begins, ends, 15)]
    for quarter in range(at - 2 * HOUR_S, at + 2 * HOUR_S, QUARTER_S):
        found = await events_between(home, quarter, quarter + QUARTER_S)
        assert bool(found) is (quarter in quarters)
    assert home.state("calendar", "plans").attributes["message"] == "Plan"
    for quarter in range(at - 3 * HOUR_S, at + 3 * HOUR_S, QUARTER_S):
        await home.at(quarter)
        runs = quarter in quarters
        assert (quarter, home.is_on("window", PLAN_ID), is_on(home)) == (quarter, runs, runs)


@pytest.mark.parametrize("minute", [-30, 15])
async def test_a_start_in_the_repeated_hour_shows_the_running_window(
    hass: HomeAssistant, make_home: MakeHome, minute: int
) -> None:
    await hass.config.async_set_time_zone("Europe/Tallinn")
    home = await home_before(make_home, AUTUMN, OVER_THE_CHANGE)
    await home.at(instant(AUTUMN) + minute * 60)
    await hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()
    assert is_on(home)
    assert home.is_on("window", PLAN_ID)


async def test_the_calendar_of_a_rehearsal_knows_the_night_of_home_assistant(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    await hass.config.async_set_time_zone("Europe/Tallinn")
    home = await home_before(make_home, AUTUMN, OVER_THE_CHANGE, ahead_s=-70 * DAY_S)
    assert all(start < end for start, end in await events_between(home, home.now, home.now + DAY_S))
    for minute in range(-60, 60, 15):
        await home.at(instant(AUTUMN) + minute * 60)
        assert is_on(home) is home.is_on("window", PLAN_ID) is (-45 <= minute < 30)
