"""Diagnostics, system health, and the windows in a calendar."""

import asyncio
import json
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers.json import ExtendedJSONEncoder
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import get_system_health_info

from custom_components.tunnihind.client.requests import Client
from custom_components.tunnihind.const import DOMAIN
from custom_components.tunnihind.diagnostics import async_get_config_entry_diagnostics
from tests.integration.household.test_entities import enable_all
from tests.support.api.api_documents import ABOUT
from tests.support.household import recording_proxy as paths
from tests.support.household.automations import restart
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant, iso
from tests.support.household.recording_proxy import RecordingProxy
from tests.support.household.steering import call, update
from tunnihind.core.market import HOUR_S

CHEAP = {instant("2026-01-14T01:00:00+02:00"), instant("2026-01-14T03:00:00+02:00")}
TWO_HOURS = {"duration": 120, "split": True, "min_piece": 60}


async def diagnostics_of(home: Home) -> str:
    """Return the diagnostics as Home Assistant writes them into a file."""
    told = await async_get_config_entry_diagnostics(home.hass, home.entry)
    return json.dumps(told, cls=ExtendedJSONEncoder)


async def test_diagnostics_have_prices_decisions_and_the_changes_beside_the_plans_forms(home: Home) -> None:
    told = json.loads(await diagnostics_of(home))
    assert told["contact"]["answered_at"] == home.now
    assert told["last_update_success"] is True
    assert told["problems"] == []
    assert told["about"]["vat_rate"] == 0.22
    hour = home.now - home.now % HOUR_S
    assert told["answer"]["settled"][str(hour)] == home.price_of(hour)
    assert home.consumer_price(hour) in [each["price"] for each in told["household"] if each["start"] == hour]
    assert told["plans"][PLAN_ID]["kind"] == "Window"
    assert told["ledger"][PLAN_ID]["since"] == home.now
    assert told["steered"][PLAN_ID]["changes"] == {}
    await update(home, deadline="07:00", enabled=False)
    told = json.loads(await diagnostics_of(home))
    assert told["steered"][PLAN_ID]["changes"] == {"deadline": "07:00:00"}
    assert told["steered"][PLAN_ID]["enabled"] is False
    assert told["plans"][PLAN_ID]["reason"] == "switched_off"


async def test_diagnostics_have_no_addresses_or_identities(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    secrets = {"instanceId": "the-servers-id", "attribution": "Kaja's box (kaja.example)"}
    proxy.answer(paths.ABOUT, data={**ABOUT, **secrets})
    proxied_home.user = "kaja:secret@"
    await proxied_home.add()
    hass.config_entries.async_update_entry(
        proxied_home.entry, title="Kaja's", data={**proxied_home.entry.data, "instance_id": "the-servers-id"}
    )
    hass.config_entries.async_update_subentry(
        proxied_home.entry, proxied_home.entry.subentries[PLAN_ID], title="Kaja's car"
    )
    await proxied_home.settle()
    text = (await diagnostics_of(proxied_home)).lower()
    for secret in ("127.0.0.1", str(proxy.port), "kaja", "secret", "the-servers-id"):
        assert secret not in text


async def test_diagnostics_of_a_server_without_identity(proxied_home: Home, proxy: RecordingProxy) -> None:
    proxy.answer(paths.ABOUT, status=404)
    await proxied_home.add(plans={PLAN_ID: {"duration": 60, "split": False, "price_cap": -500}})
    told = json.loads(await diagnostics_of(proxied_home))
    assert told["about"] is None
    assert told["plans"][PLAN_ID] == {"kind": "NoWindow", "reason": "above_cap", "last_run": None, "rest": []}


async def test_system_health_shows_whether_the_server_answers_if_there_is_one(hass: HomeAssistant, home: Home) -> None:
    assert await async_setup_component(hass, "system_health", {})
    await home.settle()
    info = await get_system_health_info(hass, DOMAIN)
    assert await info["can_reach_server"] == "ok"
    assert (info["servers"], info["zones"]) == (1, "EE")
    assert info["server_version"] == home.entry.runtime_data.about.version

    await home.server.runner.cleanup()
    info = await get_system_health_info(hass, DOMAIN)
    assert (await info["can_reach_server"])["error"] == "unreachable"
    await hass.config_entries.async_unload(home.entry.entry_id)
    assert await get_system_health_info(hass, DOMAIN) == {"servers": 0}


async def test_the_accuracy_sensors_show_the_servers_backtest(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    document = json.loads((await proxied_home.server.ask(paths.FORECAST)).body)
    backtest = {"mae": 12.5, "baselineMae": 31.25, "skill": 0.6, "horizonH": 24}
    proxy.answer(paths.FORECAST, data={**document, "backtest": backtest})
    await proxied_home.add()
    await enable_all(hass, proxied_home)
    error = proxied_home.state("sensor", "forecast_error")
    assert (error.state, error.attributes["unit_of_measurement"]) == ("12.5", "EUR/MWh")
    assert error.attributes["horizon_hours"] == 24
    assert proxied_home.value("forecast_baseline_error") == "31.25"
    assert proxied_home.value("forecast_skill") == "60.0"


@pytest.fixture
async def busy(make_home: MakeHome) -> Home:
    """Return a home with two plans, one of which is above its cap."""
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=lambda start: 0.0 if start in CHEAP else 50.0)
    plans = {"car": TWO_HOURS, "pump": {"duration": 60, "split": False}, "never": {"duration": 60, "price_cap": -9}}
    await home.add(plans=plans)
    return home


async def ask_calendar(home: Home, start: int, hours: int) -> list[tuple[str, int, int]]:
    """Return the titles and times of the calendar's events in a number of hours from `start` on."""
    asked = {"start_date_time": iso(start), "end_date_time": iso(start + hours * HOUR_S)}
    calendar = home.state("calendar", "plans").entity_id
    answer = await call(home, "calendar.get_events", answers=True, entity_id=calendar, **asked)
    return [(event["summary"], instant(event["start"]), instant(event["end"])) for event in answer[calendar]["events"]]


def windows(home: Home, *plans: str) -> list[tuple[str, int, int]]:
    """Return the pieces of the plans' windows from their binary sensors."""
    pieces = [
        (plan.capitalize(), instant(piece["start"]), instant(piece["end"]))
        for plan in plans
        for piece in home.state("binary_sensor", "window", plan).attributes["pieces"]
    ]
    return sorted(pieces, key=lambda piece: piece[1])


async def test_the_calendar_has_the_pieces_of_all_windows_in_the_time_that_is_asked_for(busy: Home) -> None:
    events = await ask_calendar(busy, busy.now, 48)
    assert events == windows(busy, "car", "pump")
    assert len(events) == 3
    first, begins, ends = events[0], events[0][1], events[0][2]
    assert first in await ask_calendar(busy, ends - HOUR_S, 1)
    assert first not in await ask_calendar(busy, ends, 1)
    assert first not in await ask_calendar(busy, begins - HOUR_S, 1)


async def test_the_calendar_shows_the_next_piece_and_is_on_while_one_runs(busy: Home) -> None:
    pieces = windows(busy, "car", "pump")
    assert busy.state("calendar", "plans").attributes["message"] == pieces[0][0]
    running = {hour for _, start, end in pieces for hour in range(start, end, HOUR_S)}
    assert running == CHEAP
    for hour in range(busy.now, busy.now + 5 * HOUR_S, HOUR_S):
        await busy.at(hour)
        assert (busy.state("calendar", "plans").state == "on") is (hour in running)


async def test_the_calendar_keeps_two_weeks_of_past_windows_over_a_restart(
    make_home: MakeHome,
) -> None:
    begins = instant("2026-01-14T00:00:00+02:00")
    home = await make_home("2026-01-14T00:00:00+02:00", price_of=lambda start: 0.0 if start in CHEAP else 50.0)
    await home.add(plans={"car": TWO_HOURS})
    ran = windows(home, "car")
    await home.at(begins + 6 * HOUR_S)
    assert await ask_calendar(home, begins, 6) == ran
    await restart(home)
    assert await ask_calendar(home, begins, 6) == ran
    for days, kept in ((14, ran), (15, [])):
        home.set_clock(begins + days * 24 * HOUR_S)
        home.serve()
        await home.poll()
        assert await ask_calendar(home, begins, 6) == kept


def accuracy(**plans: Any) -> dict[str, Any]:  # noqa: ANN401  figures of a JSON document
    """Return a server's document on its forecasts' accuracy."""
    four = {"hours": 4, "n": 29, "share": 0.838, "baselineShare": 0.7112, **plans}
    three = {"hours": 3, "n": 29, "share": 0.836, "baselineShare": 0.702}
    ahead = {"daysAhead": 1, "plans": [three, four], "boilerEurAYear": 152.6, "idealBoilerEurAYear": 182.6}
    week = {"hours": 4, "n": 24, "share": 0.823, "baselineShare": 0.577}
    windows = [{"days": days, "decisions": {"byDaysAhead": [ahead], "week": week}} for days in (7, 30, 90)]
    return {"windows": windows}


async def test_home_assistants_start_does_not_wait_for_the_saving(
    hass: HomeAssistant, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = asyncio.Event()

    async def plan_score(_: Client) -> None:
        await answered.wait()

    await enable_all(hass, home)
    monkeypatch.setattr(Client, "plan_score", plan_score)
    await hass.config_entries.async_reload(home.entry.entry_id)
    async with asyncio.timeout(60):
        await hass.async_block_till_done()
    answered.set()
    await home.settle()


async def test_the_caught_saving_is_the_servers_score_of_the_hour_and_outlives_a_failure(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy
) -> None:
    proxy.answer(paths.ACCURACY, data=accuracy())
    await proxied_home.add()
    assert paths.ACCURACY not in {asked.path for asked in proxy.asked}  # nobody has enabled the sensor
    await enable_all(hass, proxied_home)
    saving = proxied_home.state("sensor", "forecast_saving")
    assert (saving.state, saving.attributes["unit_of_measurement"]) == ("83.8", "%")
    told = ("days", "last_weeks_prices", "within_a_week", "boiler_euros_a_year", "boiler_euros_possible")
    assert [saving.attributes[name] for name in told] == [29, 71.1, 82.3, 152.6, 182.6]
    proxy.asked.clear()
    await proxied_home.at(proxied_home.now + 3700)
    assert [asked.path for asked in proxy.asked].count(paths.ACCURACY) == 1
    proxy.answer(paths.ACCURACY, status=503)
    await proxied_home.at(proxied_home.now + 3700)
    assert proxied_home.value("forecast_saving") == "83.8"
    proxy.answer(paths.ACCURACY, data=accuracy(share=0.9))
    await proxied_home.at(proxied_home.now + 3700)
    assert proxied_home.value("forecast_saving") == "90.0"


@pytest.mark.parametrize(
    "answer",
    [
        {"status": 404},
        {"data": {"windows": []}},
        {"data": {"windows": [{"days": 30}]}},
        {"data": accuracy(share=None, baselineShare=None)},
        {"data": accuracy(share="much")},
        {"data": []},
    ],
    ids=["older server", "nothing scored", "no decisions", "no plans", "a text", "a list"],
)
async def test_a_server_that_has_scored_no_plans_leaves_the_saving_unknown(
    hass: HomeAssistant, proxied_home: Home, proxy: RecordingProxy, answer: dict[str, Any]
) -> None:
    proxy.answer(paths.ACCURACY, **answer)
    await proxied_home.add()
    await enable_all(hass, proxied_home)
    assert proxied_home.value("forecast_saving") == "unknown"
