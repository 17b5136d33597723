"""What the household sees while the server is away, and after."""

import logging
from http import HTTPStatus

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.integration.household.conftest import PUBLISHED_TODAY, PUBLISHED_TOMORROW, MakeWorld
from tests.support.home import World, instant
from tunnihind.market import HOUR_S


async def stop_server(world: World) -> None:
    await world.server.runner.cleanup()
    await world.poll()


async def test_the_hour_changes_without_the_server(world: World) -> None:
    await stop_server(world)
    for hour in range(instant("2026-01-14T11:00:00+02:00"), instant("2026-01-14T18:00:00+02:00"), HOUR_S):
        await world.at(hour)
        assert float(world.value("current_price")) == world.household(hour)


async def test_prices_turn_unavailable_only_when_no_data_covers_the_hour(make_world: MakeWorld) -> None:
    world = await make_world()
    world.forecast_of = None
    world.serve()
    await world.add()
    await stop_server(world)
    end = instant(PUBLISHED_TODAY)
    await world.at(end - 900)
    assert float(world.value("current_price")) == world.household(end - HOUR_S)
    await world.at(end)
    assert world.value("current_price") == "unavailable"
    assert world.is_on("data_problem")
    assert "no_price" in world.state("binary_sensor", "data_problem").attributes["problems"]


async def test_a_loss_is_told_after_a_quarter_of_an_hour_and_no_longer_when_it_is_over(world: World) -> None:
    port = world.server.port
    await stop_server(world)
    assert not world.is_on("data_problem")
    await world.at(world.now + HOUR_S // 2)
    assert world.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]

    world.serve()
    await world.server.runner.setup()
    await web.TCPSite(world.server.runner, "127.0.0.1", port).start()
    await world.poll()
    assert not world.is_on("data_problem")


async def test_a_loss_of_hours_raises_a_repair_that_goes_with_it(hass: HomeAssistant, world: World) -> None:
    port = world.server.port
    registry = ir.async_get(hass)
    await stop_server(world)
    await world.at(world.now + HOUR_S)
    assert registry.async_get_issue(DOMAIN, "server_unreachable_entry") is None
    await world.at(world.now + 2 * HOUR_S)
    assert registry.async_get_issue(DOMAIN, "server_unreachable_entry") is not None

    world.serve()
    await world.server.runner.setup()
    await web.TCPSite(world.server.runner, "127.0.0.1", port).start()
    await world.poll()
    assert registry.async_get_issue(DOMAIN, "server_unreachable_entry") is None


async def test_a_restart_without_the_server_goes_on_from_what_was_kept(hass: HomeAssistant, world: World) -> None:
    await hass.config_entries.async_unload(world.entry.entry_id)
    await world.server.runner.cleanup()
    world.set_clock(world.now + 2 * HOUR_S)
    await hass.config_entries.async_setup(world.entry.entry_id)
    await world.settle()
    hour = world.now - world.now % HOUR_S
    assert world.entry.state is ConfigEntryState.LOADED
    assert float(world.value("current_price")) == world.household(hour)
    assert world.value("average_today") != "unknown"
    await world.at(hour + HOUR_S)
    assert float(world.value("current_price")) == world.household(hour + HOUR_S)


async def test_a_start_that_nothing_covers_is_tried_again(hass: HomeAssistant, make_world: MakeWorld) -> None:
    world = await make_world()
    await world.server.runner.cleanup()
    await world.add()
    assert world.entry.state is ConfigEntryState.SETUP_RETRY
    if KNOWS_TRIGGERS:  # older versions keep no reason
        assert world.entry.error_reason_translation_key == "cannot_connect"


async def test_a_long_loss_is_logged_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await world.server.runner.cleanup()
    caplog.clear()
    await world.at(world.now + 4 * HOUR_S)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING and DOMAIN in record.name]
    assert len(told) == 1
    assert "No answer from" in told[0].getMessage()


async def test_late_prices_raise_a_repair_after_half_past_three_that_goes_with_them(
    hass: HomeAssistant, world: World
) -> None:
    registry = ir.async_get(hass)
    for moment, late in (("15:15", False), ("15:30", True), ("18:00", True)):
        await world.at(instant(f"2026-01-14T{moment}:00+02:00"))
        world.serve()
        await world.poll()
        await world.at(world.now + 1)
        assert (registry.async_get_issue(DOMAIN, "prices_late_entry") is not None) is late
    await world.publish(instant(PUBLISHED_TOMORROW))
    assert registry.async_get_issue(DOMAIN, "prices_late_entry") is None
    assert not world.is_on("data_problem")


async def test_an_old_forecast_raises_a_repair(hass: HomeAssistant, make_world: MakeWorld) -> None:
    world = await make_world()
    world.forecast_made_at = world.now - 7 * HOUR_S
    world.serve()
    await world.add()
    assert ir.async_get(hass).async_get_issue(DOMAIN, "forecast_stale_entry") is not None


async def test_an_answer_from_a_cache_before_a_dead_server_does_not_pass_for_a_living_one(world: World) -> None:
    """The edge goes on answering what it had; only `now` tells."""
    answered = world.now
    world.server.clock.now = lambda: float(answered)  # type: ignore[method-assign]
    await world.at(answered + 90 * 60)
    await world.poll()
    await world.at(world.now + 900)
    assert world.state("binary_sensor", "data_problem").attributes["problems"] == ["server_unreachable"]


@pytest.mark.parametrize("status", [HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE])
async def test_retry_after_is_honoured(world: World, status: HTTPStatus) -> None:
    asked = []

    @web.middleware
    async def refuse(request: web.Request, handler: object) -> web.Response:
        asked.append(world.now)
        return web.Response(status=status, headers={"Retry-After": "1800"})

    port = world.server.port
    await world.server.runner.cleanup()
    runner = web.AppRunner(web.Application(middlewares=[refuse]))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await world.poll()
    await world.at(world.now + 900)
    assert len(asked) == 1
    await runner.cleanup()


async def test_a_server_without_a_forecast_is_a_problem_until_it_has_one(make_world: MakeWorld) -> None:
    world = await make_world()
    forecast_of, world.forecast_of = world.forecast_of, None
    world.serve()
    await world.add()
    assert world.state("binary_sensor", "data_problem").attributes["problems"] == ["forecast_missing"]
    world.forecast_of = forecast_of
    world.serve()
    await world.poll()
    assert world.state("binary_sensor", "data_problem").state == "off"
