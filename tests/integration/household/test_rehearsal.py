"""A server that rehearses a past day: a separate entry follows that day's clock, and no other entry does."""

from typing import Any

import pytest
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.integration.household.test_losses import problems
from tests.integration.household.test_services import ask
from tests.support.api.api_documents import ABOUT
from tests.support.household import recording_proxy as paths
from tests.support.household.automations import restart
from tests.support.household.home import DAY_S, PLAN_ID, Home, MakeHome, instant
from tests.support.household.recording_proxy import RecordingProxy
from tunnihind.core.market import HOUR_S

TODAY = "2026-11-20T18:03:37+02:00"
"""When the household rehearses."""
REHEARSED = instant("2026-01-14T10:20:00+02:00")
"""The server's time then. Its quarters never begin at the same moment as the household's."""
BACK_S = REHEARSED - instant(TODAY)
AN_HOUR = {PLAN_ID: {"duration": 60, "split": False}}


@pytest.fixture
async def rehearsed(make_home: MakeHome) -> Home:
    """Return a household in November that rehearses a morning in January."""
    home = await make_home(TODAY, ahead_s=BACK_S, mode="rehearsal")
    await home.add(rehearsal=True, plans=AN_HOUR)
    return home


async def rehearse_until(home: Home, server_now: int) -> None:
    await home.at(server_now - BACK_S)


def shown(home: Home) -> Any:  # noqa: ANN401  a state
    return home.value("current_price"), home.state("sensor", "current_price").attributes["raw_today"]


async def test_prices_are_those_of_the_rehearsed_day_and_change_with_its_hours(rehearsed: Home) -> None:
    hour = instant("2026-01-14T11:00:00+02:00")
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(hour - HOUR_S)
    assert len(rehearsed.state("sensor", "current_price").attributes["raw_today"]) == 24
    assert problems(rehearsed) == []
    await rehearse_until(rehearsed, hour - 1)
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(hour - HOUR_S)
    await rehearse_until(rehearsed, hour)
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(hour)


async def test_a_plan_runs_at_its_time_of_the_rehearsed_day(rehearsed: Home) -> None:
    begins, ends = (instant(rehearsed.value(key, PLAN_ID)) for key in ("window_start", "window_end"))
    assert REHEARSED < begins < REHEARSED + DAY_S
    for server_now, runs in ((begins - 1, False), (begins, True), (ends - 1, True), (ends, False)):
        await rehearse_until(rehearsed, server_now)
        assert rehearsed.is_on("window", PLAN_ID) is runs
        assert (rehearsed.state("calendar", "plans").state == "on") is runs


async def test_actions_use_the_rehearsals_clock_and_mark_their_answers(hass: HomeAssistant, rehearsed: Home) -> None:
    prices = await ask(hass, "get_prices")
    assert prices["prices"][0]["start"] == "2026-01-14T10:00:00+02:00"
    found = await ask(hass, "find_cheapest_hours", duration="01:00:00")
    assert instant(found["start"]) >= REHEARSED
    assert prices["rehearsal"] is found["rehearsal"] is True


async def test_a_rehearsal_is_marked_wherever_its_prices_show_and_makes_no_statistics(
    hass: HomeAssistant, rehearsed: Home
) -> None:
    states = [state for state in hass.states.async_all() if state.domain != "calendar"]
    assert len(states) > 10
    for state in states:
        assert state.attributes["attribution"] == "Rehearsal, prices of a past day · Tunnihind (localhost)"
        assert "state_class" not in state.attributes
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), "entry")
    assert {device.model for device in devices} == {"Tunnihind rehearsal"}


async def test_a_live_entry_makes_statistics_and_bears_no_mark(hass: HomeAssistant, home: Home) -> None:
    attributes = home.state("sensor", "current_price").attributes
    assert (attributes["state_class"], attributes["attribution"]) == ("measurement", "Tunnihind (localhost)")
    assert "rehearsal" not in await ask(hass, "get_prices")


async def test_actions_use_the_live_server_and_not_the_rehearsal_beside_it(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    past = await make_home(TODAY, ahead_s=BACK_S, mode="rehearsal")
    await past.add(rehearsal=True, entry_id="past", plans={"past_plan": AN_HOUR[PLAN_ID]})
    assert (await ask(hass, "get_prices"))["rehearsal"] is True
    live = await make_home(TODAY, settled_until="2026-11-21T01:00:00+02:00")
    await live.add()
    assert (await ask(hass, "get_prices"))["prices"][0]["start"] == "2026-11-20T18:00:00+02:00"
    named = await ask(hass, "get_prices", config_entry="past")
    assert named["prices"][0]["start"] == "2026-01-14T10:00:00+02:00"


async def test_a_demo_is_marked_wherever_its_prices_show(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(mode="demo")
    await home.add()
    attributes = home.state("sensor", "current_price").attributes
    assert attributes["attribution"] == "Demo, simulated prices · Tunnihind (localhost)"
    devices = dr.async_entries_for_config_entry(dr.async_get(hass), "entry")
    assert {device.model for device in devices} == {"Tunnihind demo"}


async def test_a_rehearsal_goes_on_after_a_restart_of_home_assistant_without_its_server(rehearsed: Home) -> None:
    await rehearsed.server.runner.cleanup()
    await restart(rehearsed, at=rehearsed.now + 2 * HOUR_S)
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(instant("2026-01-14T12:00:00+02:00"))
    hour = instant("2026-01-14T13:00:00+02:00")
    await rehearse_until(rehearsed, hour - 1)
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(hour - HOUR_S)
    await rehearse_until(rehearsed, hour)
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(hour)
    assert problems(rehearsed) == ["server_unreachable"]


async def test_a_rehearsal_that_starts_again_forgets_the_last_run(rehearsed: Home) -> None:
    await rehearse_until(rehearsed, instant("2026-01-14T15:00:00+02:00"))
    await rehearsed.publish(instant("2026-01-16T01:00:00+02:00"))
    assert rehearsed.is_on("tomorrow_known")
    begins = instant(rehearsed.value("window_start", PLAN_ID))
    await rehearse_until(rehearsed, begins)
    assert rehearsed.is_on("window", PLAN_ID)
    rehearsed.settled_until = instant("2026-01-15T01:00:00+02:00")
    await rehearsed.move_server_clock(REHEARSED - rehearsed.now)
    assert not rehearsed.is_on("tomorrow_known")
    assert not rehearsed.is_on("window", PLAN_ID)
    assert float(rehearsed.value("current_price")) == rehearsed.consumer_price(instant("2026-01-14T10:00:00+02:00"))
    assert problems(rehearsed) == []


async def test_a_rehearsal_that_starts_again_shows_no_window_of_its_last_run(rehearsed: Home) -> None:
    planner = rehearsed.entry.runtime_data.planner
    ends = instant(rehearsed.value("window_end", PLAN_ID))
    await rehearse_until(rehearsed, ends + 6 * HOUR_S)
    assert [window.end for window in planner.begun_windows[PLAN_ID]] == [ends]
    await rehearsed.move_server_clock(ends + 3 * HOUR_S - rehearsed.now)
    assert planner.begun_windows[PLAN_ID] == []


async def turn(home: Home, proxy: RecordingProxy, mode: str, ahead_s: int) -> None:
    """Restart the server, to show another day."""
    proxy.answer(paths.ABOUT, data={**ABOUT, "instanceId": "test", "vatRate": 0.22, "mode": mode})
    await home.move_server_clock(ahead_s)


async def test_a_live_entry_keeps_its_prices_while_its_server_is_a_rehearsal(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    registry = ir.async_get(hass)
    before = shown(proxied_home)
    await turn(proxied_home, proxy, "rehearsal", -40 * DAY_S)
    assert (shown(proxied_home), problems(proxied_home)) == (before, ["server_is_rehearsal"])
    assert registry.async_get_issue(DOMAIN, "server_is_rehearsal_entry") is not None
    hour = instant("2026-01-14T12:00:00+02:00")
    await proxied_home.at(hour)
    assert float(proxied_home.value("current_price")) == proxied_home.consumer_price(hour)
    assert problems(proxied_home) == ["server_is_rehearsal"]
    await turn(proxied_home, proxy, "live", 0)
    assert problems(proxied_home) == []
    assert registry.async_get_issue(DOMAIN, "server_is_rehearsal_entry") is None


async def test_a_live_entry_does_not_start_on_a_rehearsal(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home(TODAY, ahead_s=BACK_S, mode="rehearsal")
    await home.add()
    assert home.entry.state is ConfigEntryState.SETUP_RETRY
    if KNOWS_TRIGGERS:  # older versions keep no reason
        assert home.entry.error_reason_translation_key == "server_is_rehearsal"


async def test_new_prices_do_not_count_before_the_server_has_sent_its_mode(
    proxied_home: Home, proxy: RecordingProxy
) -> None:
    await proxied_home.add()
    before = shown(proxied_home)
    proxy.answer(paths.ABOUT, status=503)
    await proxied_home.move_server_clock(-40 * DAY_S)
    assert shown(proxied_home) == before
    assert proxied_home.entry.runtime_data.last_update_success is False


async def test_a_server_without_identity_is_not_lost_when_its_clock_is_set(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    """The specification does not require an identity, and a proxy may answer the request with any status."""
    proxy.answer(paths.ABOUT, status=404)
    await proxied_home.add()
    data = {**proxied_home.entry.data, "instance_id": None}
    hass.config_entries.async_update_entry(proxied_home.entry, data=data)
    proxy.answer(paths.ABOUT, status=502)
    await proxied_home.move_server_clock(HOUR_S // 2)
    assert proxied_home.entry.runtime_data.last_update_success is True


async def test_a_rehearsal_keeps_its_day_when_its_server_shows_today(
    hass: HomeAssistant, make_home: MakeHome, proxy: RecordingProxy
) -> None:
    home = await make_home(TODAY, ahead_s=BACK_S, mode="rehearsal")
    proxy.upstream, home.port = home.server.port, proxy.port
    await home.add(rehearsal=True)
    before = shown(home)
    home.settled_until = instant("2026-11-21T01:00:00+02:00")
    await turn(home, proxy, "live", 0)
    assert (shown(home), problems(home)) == (before, ["rehearsal_over"])
    assert ir.async_get(hass).async_get_issue(DOMAIN, "rehearsal_over_entry") is not None
