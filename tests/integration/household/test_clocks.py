"""Clocks that jump, timers that are lost, days of 23 and 25 hours, and a Home Assistant in another time zone."""

from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN
from tests.support.household import recording_proxy as paths
from tests.support.household.home import DAY_S, PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S

SPRING = ("2026-03-29T00:00:00+02:00", "2026-03-30T01:00:00+03:00")
AUTUMN = ("2026-10-25T00:00:00+03:00", "2026-10-26T01:00:00+02:00")


async def sleep_until(home: Home, now: int) -> None:
    """Move time on without any timer, like on a machine that sleeps. The next poll comes when it wakes."""
    home.set_clock(now)
    await home.poll()


async def test_the_next_poll_catches_up_on_a_lost_timer(home: Home) -> None:
    await sleep_until(home, instant("2026-01-14T12:07:00+02:00"))
    hour = instant("2026-01-14T12:00:00+02:00")
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert float(home.value("next_price")) == home.consumer_price(hour + HOUR_S)


async def test_a_failed_poll_also_catches_up_on_a_lost_timer(home: Home) -> None:
    await home.server.runner.cleanup()
    await sleep_until(home, instant("2026-01-14T12:07:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T12:00:00+02:00"))


async def test_a_machine_that_slept_does_not_report_the_server_as_silent(hass: HomeAssistant, home: Home) -> None:
    await sleep_until(home, home.now + 3 * HOUR_S)
    assert not home.is_on("data_problem")
    assert ir.async_get(hass).async_get_issue(DOMAIN, "server_unreachable_entry") is None


async def test_the_first_poll_after_a_sleep_corrects_an_early_timer(home: Home) -> None:
    home.set_clock(instant("2026-01-14T10:55:00+02:00"))
    home.entry.runtime_data.async_update_listeners()
    assert home.is_on("data_problem")
    await home.poll()
    assert not home.is_on("data_problem")


async def test_a_clock_set_back_shows_the_hour_it_is_again(home: Home) -> None:
    await home.at(instant("2026-01-14T13:00:00+02:00"))
    await sleep_until(home, instant("2026-01-14T11:30:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T11:00:00+02:00"))
    await home.at(instant("2026-01-14T12:00:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T12:00:00+02:00"))


async def test_a_clock_that_was_years_ahead_does_not_stop_requests_for_years(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    now = proxied_home.now
    proxied_home.set_clock(now + 1000 * DAY_S)
    await proxied_home.poll()
    proxied_home.set_clock(now + 60)
    proxy.asked.clear()
    await proxied_home.poll()
    assert paths.ABOUT in [asked.path for asked in proxy.asked]
    await proxied_home.at(now + HOUR_S)
    assert not proxied_home.is_on("data_problem")


@pytest.mark.parametrize("ahead_s", [10 * DAY_S, 400 * DAY_S, -10 * DAY_S])
async def test_a_server_whose_clock_is_days_off_erases_no_prices_and_is_reported(
    hass: HomeAssistant, hass_storage: dict[str, Any], make_home: MakeHome, ahead_s: int
) -> None:
    home = await make_home()
    await home.add()
    raw_today = home.state("sensor", "current_price").attributes["raw_today"]
    await home.at(home.now + 20)
    kept = set(hass_storage["tunnihind.entry"]["data"]["answer"]["settled"])
    await home.move_server_clock(ahead_s)
    assert home.state("sensor", "current_price").attributes["raw_today"] == raw_today
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_clock"]
    assert ir.async_get(hass).async_get_issue(DOMAIN, "server_clock_entry") is not None
    await home.at(instant("2026-01-14T13:10:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T13:00:00+02:00"))
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_clock"]
    await home.at(home.now + 20)
    recent = {start for start in kept if int(start) >= home.now - 2 * DAY_S}
    assert recent <= set(hass_storage["tunnihind.entry"]["data"]["answer"]["settled"])
    await home.move_server_clock(0)
    assert not home.is_on("data_problem")
    assert ir.async_get(hass).async_get_issue(DOMAIN, "server_clock_entry") is None


async def test_prices_from_a_clock_ahead_do_not_hide_late_prices(
    make_home: MakeHome,
) -> None:
    home = await make_home()
    await home.add()
    home.settled_until += 10 * DAY_S
    await home.move_server_clock(10 * DAY_S)
    home.settled_until -= 10 * DAY_S
    await home.move_server_clock(0)
    assert instant(home.value("settled_until")) == home.settled_until
    await home.at(instant("2026-01-14T16:00:00+02:00"))
    home.serve()
    await home.poll()
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["prices_late"]


@pytest.mark.parametrize(
    ("ahead_s", "told"), [(HOUR_S, False), (HOUR_S + 1, True), (-HOUR_S, False), (-2 * HOUR_S, True)]
)
async def test_a_servers_clock_counts_as_wrong_when_it_is_off_by_more_than_an_hour(
    home: Home, ahead_s: int, told: bool
) -> None:
    await home.move_server_clock(ahead_s)
    assert (home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_clock"]) is told


async def test_prices_from_a_server_with_another_clock_survive_a_restart_without_it(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home()
    await home.add()
    await home.move_server_clock(10 * DAY_S)
    await hass.config_entries.async_unload("entry")
    await home.server.runner.cleanup()
    home.set_clock(home.now + HOUR_S)
    await hass.config_entries.async_setup("entry")
    await home.settle()
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T11:00:00+02:00"))
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]


async def test_a_clock_that_jumps_a_day_ahead_shows_the_known_prices_of_that_day(make_home: MakeHome) -> None:
    home = await make_home(settled_until=PUBLISHED_TOMORROW)
    await home.add()
    await home.server.runner.cleanup()
    await sleep_until(home, instant("2026-01-15T18:10:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-15T18:00:00+02:00"))
    assert len(home.state("sensor", "current_price").attributes["raw_today"]) == 24


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu"])
async def test_the_days_are_estonian_wherever_home_assistant_is(
    hass: HomeAssistant, make_home: MakeHome, zone: str
) -> None:
    await hass.config.async_set_time_zone(zone)
    home = await make_home("2026-01-14T22:50:00+02:00")
    await home.add()
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert (raw[0]["start"], len(raw)) == ("2026-01-14T00:00:00+02:00", 24)
    await home.at(instant("2026-01-15T00:00:00+02:00"))
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert (raw[0]["start"], len(raw)) == ("2026-01-15T00:00:00+02:00", 1)
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-15T00:00:00+02:00"))


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Europe/Tallinn"])
async def test_a_plans_hours_of_the_day_are_estonian_wherever_home_assistant_is(
    hass: HomeAssistant, make_home: MakeHome, zone: str
) -> None:
    await hass.config.async_set_time_zone(zone)
    home = await make_home("2026-01-14T08:00:00+02:00")
    await home.add(plans={PLAN_ID: {"duration": 60, "split": False, "earliest": "12:00:00", "deadline": "13:00:00"}})
    assert instant(home.value("window_start", PLAN_ID)) == instant("2026-01-14T12:00:00+02:00")


@pytest.mark.parametrize(("day", "published", "hours"), [(*SPRING, 23), (*AUTUMN, 24)])
async def test_a_plan_of_24_hours_has_all_hours_of_a_short_day_and_the_best_of_a_long_one(
    make_home: MakeHome, day: str, published: str, hours: int
) -> None:
    home = await make_home(day, published)
    await home.add(plans={PLAN_ID: {"duration": 1440, "split": True, "min_piece": 60}})
    attributes = home.state("binary_sensor", "window", PLAN_ID).attributes
    lengths = [instant(piece["end"]) - instant(piece["start"]) for piece in attributes["pieces"]]
    assert sum(lengths) == hours * HOUR_S
    assert attributes["shortened"] is (hours < 24)


@pytest.mark.parametrize(
    ("day", "published", "starts", "ends"),
    [
        (*SPRING, "2026-03-29T02:00:00+02:00", "2026-03-29T05:00:00+03:00"),
        (*AUTUMN, "2026-10-25T02:00:00+03:00", "2026-10-25T05:00:00+02:00"),
    ],
)
async def test_a_plan_between_two_clock_times_has_an_hour_more_or_less_at_clock_changes(
    make_home: MakeHome, day: str, published: str, starts: str, ends: str
) -> None:
    """From 02:00 to 05:00 there are two hours in spring and four in autumn."""
    home = await make_home(day, published, price_of=lambda _: 50.0)
    window = {"duration": 240, "split": True, "min_piece": 60, "earliest": "02:00:00", "deadline": "05:00:00"}
    await home.add(plans={PLAN_ID: window})
    state = home.state("binary_sensor", "window", PLAN_ID)
    assert instant(home.value("window_start", PLAN_ID)) == instant(starts)
    assert instant(home.value("window_end", PLAN_ID)) == instant(ends)
    assert state.attributes["shortened"] is (day == SPRING[0])


@pytest.mark.parametrize(
    ("day", "published", "changes"),
    [
        (*SPRING, "2026-03-29T07:00:00+03:00"),
        (*AUTUMN, "2026-10-25T07:00:00+02:00"),
    ],
)
async def test_the_day_rate_begins_at_seven_by_the_clock_on_the_day_it_changes(
    make_home: MakeHome, day: str, published: str, changes: str
) -> None:
    home = await make_home(day, published, price_of=lambda _: 0.0)
    row = {"vat_percent": 0, "network_day": 10.0, "network_night": 5.0}
    await home.add(options={"rows": [row], "weekends_at_night_rate": False})
    begins = instant(changes)
    await home.at(begins - 1)
    assert home.value("current_price") == "0.05"
    await home.at(begins)
    assert home.value("current_price") == "0.1"
