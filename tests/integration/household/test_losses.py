"""The household's states while the server is away, and after."""

import logging

import pytest
from aiohttp import web
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from custom_components.tunnihind.const import DOMAIN, KNOWS_TRIGGERS
from tests.support.household.home import PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S


def problems(home: Home) -> list[str]:
    """Return the problems that the household sees."""
    named: list[str] = home.state("binary_sensor", "data_problem").attributes["problems"]
    return named


async def stop_server(home: Home) -> None:
    await home.server.runner.cleanup()
    await home.poll()


async def test_each_hour_has_its_price_without_the_server_until_no_data_covers_it(make_home: MakeHome) -> None:
    home = await make_home()
    home.forecast_of = None
    home.serve()
    await home.add()
    await stop_server(home)
    end = instant(PUBLISHED_TODAY)
    for hour in range(instant("2026-01-14T11:00:00+02:00"), end, HOUR_S):
        await home.at(hour)
        assert float(home.value("current_price")) == home.consumer_price(hour)
    await home.at(end)
    assert home.value("current_price") == "unavailable"
    assert home.is_on("data_problem")
    assert "no_price" in problems(home)


async def test_a_loss_is_a_problem_after_a_quarter_and_a_repair_after_2_hours_till_its_end(
    hass: HomeAssistant, home: Home
) -> None:
    def repair() -> ir.IssueEntry | None:
        return ir.async_get(hass).async_get_issue(DOMAIN, "server_unreachable_entry")

    port, answered = home.server.port, home.now
    await stop_server(home)
    await home.at(answered + QUARTER_S - 1)
    assert not home.is_on("data_problem")
    await home.at(answered + QUARTER_S)
    assert problems(home) == ["server_unreachable"]
    await home.at(answered + 2 * HOUR_S - 1)
    assert repair() is None
    await home.at(answered + 2 * HOUR_S)
    assert repair() is not None

    home.serve()
    await home.server.runner.setup()
    await web.TCPSite(home.server.runner, "127.0.0.1", port).start()
    await home.poll()
    assert not home.is_on("data_problem")
    assert repair() is None


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
    assert problems(home) == ["prices_late"]


async def test_an_old_forecast_raises_a_repair(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home()
    home.forecast_made_at = home.now - 7 * HOUR_S
    home.serve()
    await home.add()
    assert ir.async_get(hass).async_get_issue(DOMAIN, "forecast_stale_entry") is not None


@pytest.mark.parametrize("sleeps", [False, True])
async def test_a_forecast_becomes_old_once_it_is_more_than_three_hours_old(home: Home, sleeps: bool) -> None:
    made_at = home.forecast_made_at = home.now - 60
    home.serve()
    await home.poll()
    await home.at(made_at + 3 * HOUR_S)
    assert not home.is_on("data_problem")
    if sleeps:
        home.set_clock(home.now + 60)
        await home.poll()
    else:
        await home.at(made_at + 3 * HOUR_S + 1)
    assert problems(home) == ["forecast_stale"]


async def test_an_answer_from_the_cache_of_a_dead_server_does_not_count_as_news(home: Home) -> None:
    """The edge goes on sending its cached answer; only `now` shows its age."""
    answered = home.now
    home.server.clock.now = lambda: float(answered)  # type: ignore[method-assign]
    await home.at(answered + 90 * 60)
    await home.poll()
    await home.at(home.now + 900)
    assert problems(home) == ["server_unreachable"]


async def test_a_server_without_a_forecast_is_a_problem_until_it_has_one(make_home: MakeHome) -> None:
    home = await make_home()
    forecast_of, home.forecast_of = home.forecast_of, None
    home.serve()
    await home.add()
    assert problems(home) == ["forecast_missing"]
    home.forecast_of = forecast_of
    home.serve()
    await home.poll()
    assert not home.is_on("data_problem")
