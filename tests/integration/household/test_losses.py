"""The household's states while the server is away, and after."""

import logging
from http import HTTPStatus

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.support.household.home import PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S


async def stop_server(home: Home) -> None:
    await home.server.runner.cleanup()
    await home.poll()


async def test_the_hour_changes_without_the_server(home: Home) -> None:
    await stop_server(home)
    for hour in range(instant("2026-01-14T11:00:00+02:00"), instant("2026-01-14T18:00:00+02:00"), HOUR_S):
        await home.at(hour)
        assert float(home.value("current_price")) == home.consumer_price(hour)


async def test_prices_turn_unavailable_only_when_no_data_covers_the_hour(make_home: MakeHome) -> None:
    home = await make_home()
    home.forecast_of = None
    home.serve()
    await home.add()
    await stop_server(home)
    end = instant(PUBLISHED_TODAY)
    await home.at(end - 900)
    assert float(home.value("current_price")) == home.consumer_price(end - HOUR_S)
    await home.at(end)
    assert home.value("current_price") == "unavailable"
    assert home.is_on("data_problem")
    assert "no_price" in home.state("binary_sensor", "data_problem").attributes["problems"]


async def test_a_loss_is_reported_after_a_quarter_of_an_hour_until_it_is_over(home: Home) -> None:
    port = home.server.port
    answered = home.now
    await stop_server(home)
    await home.at(answered + QUARTER_S - 1)
    assert not home.is_on("data_problem")
    await home.at(answered + QUARTER_S)
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]

    home.serve()
    await home.server.runner.setup()
    await web.TCPSite(home.server.runner, "127.0.0.1", port).start()
    await home.poll()
    assert not home.is_on("data_problem")


async def test_a_loss_of_hours_raises_a_repair_until_it_is_over(hass: HomeAssistant, home: Home) -> None:
    port = home.server.port
    registry = ir.async_get(hass)
    answered = home.now
    await stop_server(home)
    await home.at(answered + 2 * HOUR_S - 1)
    assert registry.async_get_issue(DOMAIN, "server_unreachable_entry") is None
    await home.at(answered + 2 * HOUR_S)
    assert registry.async_get_issue(DOMAIN, "server_unreachable_entry") is not None

    home.serve()
    await home.server.runner.setup()
    await web.TCPSite(home.server.runner, "127.0.0.1", port).start()
    await home.poll()
    assert registry.async_get_issue(DOMAIN, "server_unreachable_entry") is None


async def test_a_restart_without_the_server_uses_the_stored_prices(hass: HomeAssistant, home: Home) -> None:
    await hass.config_entries.async_unload(home.entry.entry_id)
    await home.server.runner.cleanup()
    home.set_clock(home.now + 2 * HOUR_S)
    await hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
    hour = home.now - home.now % HOUR_S
    assert home.entry.state is ConfigEntryState.LOADED
    assert float(home.value("current_price")) == home.consumer_price(hour)
    assert home.value("average_today") != "unknown"
    await home.at(hour + HOUR_S)
    assert float(home.value("current_price")) == home.consumer_price(hour + HOUR_S)


async def test_a_start_without_server_and_prices_is_tried_again(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    await home.server.runner.cleanup()
    await home.add()
    assert home.entry.state is ConfigEntryState.SETUP_RETRY
    if KNOWS_TRIGGERS:  # older versions keep no reason
        assert home.entry.error_reason_translation_key == "connection_refused"


async def test_a_long_loss_is_logged_once(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    await home.server.runner.cleanup()
    caplog.clear()
    await home.at(home.now + 4 * HOUR_S)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING and DOMAIN in record.name]
    assert len(told) == 1
    assert "No server answers at" in told[0].getMessage()


async def test_late_prices_raise_a_repair_after_half_past_three_until_they_come(
    hass: HomeAssistant, home: Home
) -> None:
    registry = ir.async_get(hass)
    for moment, late in (("15:15", False), ("15:30", True), ("18:00", True)):
        await home.at(instant(f"2026-01-14T{moment}:00+02:00"))
        home.serve()
        await home.poll()
        await home.at(home.now + 1)
        assert (registry.async_get_issue(DOMAIN, "prices_late_entry") is not None) is late
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert registry.async_get_issue(DOMAIN, "prices_late_entry") is None
    assert not home.is_on("data_problem")


async def test_past_prices_are_not_missing_because_the_current_period_has_none(make_home: MakeHome) -> None:
    """The delivery day begins at one in the morning, and its prices are late."""
    home = await make_home("2026-01-14T23:30:00+02:00", PUBLISHED_TODAY)
    await home.add()
    await home.at(instant("2026-01-15T01:20:00+02:00"))
    home.serve()
    await home.poll()
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["prices_late"]


async def test_an_old_forecast_raises_a_repair(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    home.forecast_made_at = home.now - 7 * HOUR_S
    home.serve()
    await home.add()
    assert ir.async_get(hass).async_get_issue(DOMAIN, "forecast_stale_entry") is not None


async def test_a_forecast_becomes_old_at_the_second_at_which_it_is_three_hours_old(home: Home) -> None:
    made_at = home.forecast_made_at = home.now - 60
    home.serve()
    await home.poll()
    await home.at(made_at + 3 * HOUR_S)
    assert not home.is_on("data_problem")
    await home.at(made_at + 3 * HOUR_S + 1)
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["forecast_stale"]


async def test_a_problem_that_began_while_the_machine_slept_shows_at_the_next_poll(home: Home) -> None:
    made_at = home.forecast_made_at = home.now - 60
    home.serve()
    await home.poll()
    await home.at(made_at + 3 * HOUR_S)
    home.set_clock(home.now + 60)
    await home.poll()
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["forecast_stale"]


async def test_an_answer_from_the_cache_of_a_dead_server_does_not_count_as_news(home: Home) -> None:
    """The edge goes on sending its cached answer; only `now` shows its age."""
    answered = home.now
    home.server.clock.now = lambda: float(answered)  # type: ignore[method-assign]
    await home.at(answered + 90 * 60)
    await home.poll()
    await home.at(home.now + 900)
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]


@pytest.mark.parametrize("status", [HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE])
async def test_retry_after_is_honoured(home: Home, status: HTTPStatus) -> None:
    asked = []

    @web.middleware
    async def refuse(request: web.Request, handler: object) -> web.Response:
        asked.append(home.now)
        return web.Response(status=status, headers={"Retry-After": "1800"})

    port = home.server.port
    await home.server.runner.cleanup()
    runner = web.AppRunner(web.Application(middlewares=[refuse]))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await home.poll()
    await home.at(home.now + 900)
    assert len(asked) == 1
    await runner.cleanup()


async def test_a_server_without_a_forecast_is_a_problem_until_it_has_one(make_home: MakeHome) -> None:
    home = await make_home()
    forecast_of, home.forecast_of = home.forecast_of, None
    home.serve()
    await home.add()
    assert home.state("binary_sensor", "data_problem").attributes["problems"] == ["forecast_missing"]
    home.forecast_of = forecast_of
    home.serve()
    await home.poll()
    assert home.state("binary_sensor", "data_problem").state == "off"
