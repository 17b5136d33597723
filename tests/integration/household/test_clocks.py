"""Clocks that jump, timers that are lost, days of 23 and 25 hours, and a Home Assistant in another time zone."""

from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN
from tests.integration.household.test_losses import problems
from tests.support.household import recording_proxy as paths
from tests.support.household.automations import restart
from tests.support.household.home import DAY_S, PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S


async def sleep_until(home: Home, now: int) -> None:
    """Move time on without any timer, like on a machine that sleeps. The next poll comes when it wakes."""
    home.set_clock(now)
    await home.poll()


async def test_the_poll_after_a_sleep_shows_the_hour_and_finds_no_silent_server(
    hass: HomeAssistant, home: Home
) -> None:
    await sleep_until(home, instant("2026-01-14T13:10:00+02:00"))
    hour = instant("2026-01-14T13:00:00+02:00")
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert float(home.value("next_price")) == home.consumer_price(hour + HOUR_S)
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
    hass: HomeAssistant, hass_storage: dict[str, Any], home: Home, ahead_s: int
) -> None:
    raw_today = home.state("sensor", "current_price").attributes["raw_today"]
    await home.at(home.now + 20)
    kept = set(hass_storage["tunnihind.entry"]["data"]["answer"]["settled"])
    await home.move_server_clock(ahead_s)
    assert home.state("sensor", "current_price").attributes["raw_today"] == raw_today
    assert problems(home) == ["server_clock"]
    assert ir.async_get(hass).async_get_issue(DOMAIN, "server_clock_entry") is not None
    await home.at(instant("2026-01-14T13:10:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T13:00:00+02:00"))
    assert problems(home) == ["server_clock"]
    await home.at(home.now + 20)
    recent = {start for start in kept if int(start) >= home.now - 2 * DAY_S}
    assert recent <= set(hass_storage["tunnihind.entry"]["data"]["answer"]["settled"])
    await home.move_server_clock(0)
    assert not home.is_on("data_problem")
    assert ir.async_get(hass).async_get_issue(DOMAIN, "server_clock_entry") is None


async def test_prices_from_a_clock_ahead_do_not_hide_late_prices(
    home: Home,
) -> None:
    home.settled_until += 10 * DAY_S
    await home.move_server_clock(10 * DAY_S)
    home.settled_until -= 10 * DAY_S
    await home.move_server_clock(0)
    assert instant(home.value("settled_until")) == home.settled_until
    await home.at(instant("2026-01-14T16:00:00+02:00"))
    home.serve()
    await home.poll()
    assert problems(home) == ["prices_late"]


@pytest.mark.parametrize(
    ("ahead_s", "told"), [(HOUR_S, False), (HOUR_S + 1, True), (-HOUR_S, False), (-2 * HOUR_S, True)]
)
async def test_a_servers_clock_counts_as_wrong_when_it_is_off_by_more_than_an_hour(
    home: Home, ahead_s: int, told: bool
) -> None:
    await home.move_server_clock(ahead_s)
    assert (problems(home) == ["server_clock"]) is told


async def test_prices_from_a_server_with_another_clock_survive_a_restart_without_it(home: Home) -> None:
    await home.move_server_clock(10 * DAY_S)
    await home.server.runner.cleanup()
    await restart(home, at=home.now + HOUR_S)
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-14T11:00:00+02:00"))
    assert problems(home) == ["server_unreachable"]


async def test_a_clock_that_jumps_a_day_ahead_shows_the_known_prices_of_that_day(make_home: MakeHome) -> None:
    home = await make_home(settled_until=PUBLISHED_TOMORROW)
    await home.add()
    await home.server.runner.cleanup()
    await sleep_until(home, instant("2026-01-15T18:10:00+02:00"))
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-15T18:00:00+02:00"))
    assert len(home.state("sensor", "current_price").attributes["raw_today"]) == 24


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kathmandu", "Europe/Tallinn"])
async def test_days_and_hours_of_the_day_are_estonian_wherever_home_assistant_is(
    hass: HomeAssistant, make_home: MakeHome, zone: str
) -> None:
    await hass.config.async_set_time_zone(zone)
    home = await make_home("2026-01-14T21:50:00+02:00")
    bounds = {"earliest": "22:45:00", "deadline": "23:45:00"}
    await home.add(plans={PLAN_ID: {"duration": 60, "split": False, **bounds}})
    assert instant(home.value("window_start", PLAN_ID)) == instant("2026-01-14T22:45:00+02:00")
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert (raw[0]["start"], len(raw)) == ("2026-01-14T00:00:00+02:00", 24)
    await home.at(instant("2026-01-15T00:00:00+02:00"))
    raw = home.state("sensor", "current_price").attributes["raw_today"]
    assert (raw[0]["start"], len(raw)) == ("2026-01-15T00:00:00+02:00", 1)
    assert float(home.value("current_price")) == home.consumer_price(instant("2026-01-15T00:00:00+02:00"))
