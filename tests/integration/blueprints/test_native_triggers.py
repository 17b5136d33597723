"""The blueprints that use the triggers of the integration, each run by Home Assistant's own engine."""

from typing import Any

import pytest
from homeassistant.core import ServiceCall, State
from pytest_homeassistant_custom_component.common import async_mock_service, mock_restore_cache

from tests.support.household.automations import (
    ONE_PIECE,
    cheap_in,
    device_of,
    hours_from,
    restart,
)
from tests.support.household.blueprints import DEVICE, Switching, switched, turn, use, use_from_a_start_on, window_of
from tests.support.household.home import PLAN_ID, PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.household.steering import switch
from tunnihind.core.market import HOUR_S, QUARTER_S

NOON = instant("2026-01-14T12:00:00+02:00")
MIDNIGHT = instant("2026-01-15T00:00:00+02:00")
READY = "input_boolean.ready"
WINDOW_AT_NOON = cheap_in(hours_from(NOON, 3))


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home whose plan runs for three hours from noon on."""
    home = await make_home(price_of=WINDOW_AT_NOON)
    await home.add(plans={PLAN_ID: ONE_PIECE})
    return home


@pytest.fixture
def switchings(home: Home) -> list[Switching]:
    """Return a list that collects the device's switchings."""
    return switched(home)


@pytest.fixture
def starts(home: Home) -> list[ServiceCall]:
    """Return a list that collects the dishwasher's starts."""
    return async_mock_service(home.hass, "test", "start")


def follower(home: Home, blueprint: str) -> dict[str, Any]:
    """Return the inputs of a blueprint that follows the window."""
    switch = "heater" if blueprint == "heat_water" else "charger"
    return {"window": window_of(home), switch: {"entity_id": DEVICE}}


FOLLOWERS = pytest.mark.parametrize("blueprint", ["charge_car", "heat_water"])


@FOLLOWERS
async def test_the_device_is_on_in_exactly_the_window_also_over_a_reload(
    home: Home, switchings: list[Switching], blueprint: str
) -> None:
    await use(home, blueprint, follower(home, blueprint))
    await home.at(NOON + HOUR_S)
    await restart(home, at=NOON + HOUR_S + 240)
    await home.at(NOON + 4 * HOUR_S)
    assert switchings == [("on", NOON), ("off", NOON + 3 * HOUR_S)]


@FOLLOWERS
async def test_the_device_goes_on_after_a_start_within_the_window_and_stops_after_one_behind_it(
    home: Home, switchings: list[Switching], blueprint: str
) -> None:
    await home.at(NOON + HOUR_S)
    await use_from_a_start_on(home, blueprint, follower(home, blueprint))
    assert switchings == [("on", NOON + HOUR_S)]
    await restart(home, at=NOON + 4 * HOUR_S)
    assert switchings[1:] == [("off", NOON + 4 * HOUR_S)]


async def lose(home: Home, how: str) -> None:
    """Lose the plan: the integration is unloaded, as after a failed update, or removed."""
    entries = home.hass.config_entries
    await (entries.async_unload if how == "unloaded" else entries.async_remove)(home.entry.entry_id)
    await home.settle()


LOSSES = pytest.mark.parametrize("how", ["unloaded", "removed"])


@LOSSES
@FOLLOWERS
async def test_the_device_stops_five_minutes_after_its_plan_is_lost(
    home: Home, switchings: list[Switching], blueprint: str, how: str
) -> None:
    await use(home, blueprint, follower(home, blueprint))
    await home.at(NOON + HOUR_S)
    await lose(home, how)
    await home.at(NOON + HOUR_S + 299)
    assert switchings == [("on", NOON)]
    await home.at(NOON + 2 * HOUR_S)
    assert switchings == [("on", NOON), ("off", NOON + HOUR_S + QUARTER_S)]


@FOLLOWERS
async def test_the_device_goes_on_when_its_plan_comes_back_within_the_window(
    home: Home, switchings: list[Switching], blueprint: str
) -> None:
    await use(home, blueprint, follower(home, blueprint))
    await home.at(NOON + HOUR_S)
    await lose(home, "unloaded")
    await home.at(NOON + HOUR_S + 300)
    await restart(home, at=NOON + HOUR_S + 600)
    await home.at(NOON + 4 * HOUR_S)
    assert switchings[1:] == [("off", NOON + HOUR_S + 300), ("on", NOON + HOUR_S + 600), ("off", NOON + 3 * HOUR_S)]


@LOSSES
async def test_water_is_heated_by_the_fail_safe_hours_while_its_plan_is_lost(
    home: Home, switchings: list[Switching], how: str
) -> None:
    hours = {"fail_safe_from": "12:30:00", "fail_safe_until": "14:00:00"}
    await use(home, "heat_water", {**follower(home, "heat_water"), **hours})
    await home.at(NOON + HOUR_S)
    await lose(home, how)
    await home.at(NOON + 3 * HOUR_S)
    assert switchings == [("on", NOON), ("off", NOON + 2 * HOUR_S)]


@LOSSES
async def test_the_car_is_charged_anyway_while_its_plan_is_lost_if_so_chosen(
    home: Home, switchings: list[Switching], how: str
) -> None:
    await use(home, "charge_car", {**follower(home, "charge_car"), "charge_anyway": True})
    await home.at(NOON - HOUR_S)
    await lose(home, how)
    await home.at(NOON - HOUR_S + 299)
    assert switchings == []
    await home.at(NOON)
    assert switchings == [("on", NOON - HOUR_S + QUARTER_S)]


async def test_a_car_that_is_charged_anyway_stops_when_the_plan_is_back(home: Home) -> None:
    await lose(home, "unloaded")
    await use_from_a_start_on(home, "charge_car", {**follower(home, "charge_car"), "charge_anyway": True})
    switchings = switched(home)
    await lose(home, "unloaded")
    await home.at(home.now + 300)
    await restart(home)
    await home.at(NOON)
    assert [how for how, _ in switchings] == ["on", "off", "on"]


@pytest.mark.parametrize("lacks", ["a window", "prices"])
async def test_water_is_heated_in_the_fail_safe_hours_of_a_day_without_a_window_or_prices(
    make_home: MakeHome, lacks: str
) -> None:
    home = await make_home("2026-01-15T00:50:00+02:00", PUBLISHED_TOMORROW)
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "price_cap": 0.1} if lacks == "a window" else ONE_PIECE})
    await use(home, "heat_water", follower(home, "heat_water"))
    if lacks == "prices":
        await home.hass.config_entries.async_unload(home.entry.entry_id)
    switchings = switched(home)
    await home.at(MIDNIGHT + 6 * HOUR_S)
    assert switchings == [("on", MIDNIGHT + 2 * HOUR_S), ("off", MIDNIGHT + 5 * HOUR_S)]


async def test_water_is_not_heated_in_the_fail_safe_hours_of_a_plan_that_is_switched_off(make_home: MakeHome) -> None:
    home = await make_home("2026-01-15T00:50:00+02:00", PUBLISHED_TOMORROW)
    await home.add(plans={PLAN_ID: ONE_PIECE})
    await use(home, "heat_water", follower(home, "heat_water"))
    await switch(home, on=False)
    switchings = switched(home)
    await home.at(MIDNIGHT + 6 * HOUR_S)
    assert [how for how, _ in switchings if how == "on"] == []


async def test_water_is_heated_on_after_a_start_within_the_fail_safe_hours(make_home: MakeHome) -> None:
    home = await make_home("2026-01-15T03:00:00+02:00", PUBLISHED_TOMORROW)
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "price_cap": 0.1}})
    await use_from_a_start_on(home, "heat_water", follower(home, "heat_water"))
    assert home.hass.states.is_state(DEVICE, "on")


async def test_water_is_not_heated_again_in_the_fail_safe_hours_after_a_window(make_home: MakeHome) -> None:
    begins = instant("2026-01-14T00:00:00+02:00")
    home = await make_home("2026-01-14T00:00:00+02:00", PUBLISHED_TODAY, price_of=cheap_in(hours_from(begins, 2)))
    # The window ends before the fail-safe hours begin, because the test's clock has no order for simultaneous events.
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "duration": 105}})
    await use(home, "heat_water", follower(home, "heat_water"))
    switchings = switched(home)
    await home.at(begins + 3 * HOUR_S)
    attributes = home.state("binary_sensor", "window", PLAN_ID).attributes
    assert (attributes["reason"], attributes["last_ended"]) == ("no_prices", "2026-01-14T01:45:00+02:00")
    assert [how for how, _ in switchings if how == "on"] == []


def machine(home: Home) -> dict[str, Any]:
    return {
        "ready": READY,
        "window": window_of(home),
        "server": device_of(home.hass, "sensor", "current_price"),
        "start": [{"action": "test.start"}],
    }


async def test_the_dishwasher_starts_once_with_the_window_after_ready(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in([NOON, NOON + 4 * HOUR_S]))
    await home.add(plans={PLAN_ID: {"duration": 120, "split": True}})
    starts = async_mock_service(home.hass, "test", "start")
    await use(home, "start_dishwasher", machine(home))
    await home.at(NOON + HOUR_S // 2)
    await turn(home, READY, "on")
    await home.at(NOON + 3 * HOUR_S)
    assert starts == []
    await home.at(NOON + 4 * HOUR_S)
    assert len(starts) == 1
    assert home.hass.states.is_state(READY, "off")


async def test_the_dishwasher_does_not_start_unless_ready(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3), cheap=-5.0))
    await home.add(plans={PLAN_ID: ONE_PIECE})
    starts = async_mock_service(home.hass, "test", "start")
    await use(home, "start_dishwasher", machine(home))
    await home.at(NOON + 3 * HOUR_S)
    assert starts == []


@pytest.mark.parametrize("ready_at", [NOON - HOUR_S, NOON + HOUR_S // 2], ids=["before", "within"])
async def test_the_dishwasher_starts_once_the_price_is_negative(make_home: MakeHome, ready_at: int) -> None:
    home = await make_home(price_of=cheap_in([NOON], cheap=-5.0))
    await home.add(plans={PLAN_ID: {**ONE_PIECE, "earliest": "20:00:00"}})
    starts = async_mock_service(home.hass, "test", "start")
    await use(home, "start_dishwasher", machine(home))
    await home.at(ready_at)
    await turn(home, READY, "on")
    assert len(starts) == (ready_at > NOON)
    await home.at(NOON)
    assert len(starts) == 1


async def test_the_dishwasher_catches_up_on_a_missed_start(home: Home, starts: list[ServiceCall]) -> None:
    await turn(home, READY, "on")
    await home.at(NOON + HOUR_S)
    await use_from_a_start_on(home, "start_dishwasher", machine(home))
    assert len(starts) == 1
    await restart(home)
    assert len(starts) == 1


@pytest.mark.parametrize("ready_at", [NOON, NOON + HOUR_S // 2], ids=["as it starts", "after its start"])
async def test_a_reload_does_not_start_the_dishwasher_in_a_window_older_than_ready(
    make_home: MakeHome, ready_at: int
) -> None:
    home = await make_home(price_of=cheap_in([NOON, NOON + HOUR_S, NOON + 4 * HOUR_S]))
    await home.add(plans={PLAN_ID: {"duration": 180, "split": True}})
    starts = async_mock_service(home.hass, "test", "start")
    await use(home, "start_dishwasher", machine(home))
    await home.at(ready_at)
    await turn(home, READY, "on")
    await restart(home, at=NOON + HOUR_S)
    assert starts == []
    assert home.hass.states.is_state(READY, "on")
    await home.at(NOON + 4 * HOUR_S)
    assert len(starts) == 1


@pytest.mark.parametrize(
    ("last_run", "starts_now"),
    [("2026-01-14T11:50:00+02:00", 1), ("2026-01-14T12:30:00+02:00", 0)],
    ids=["ready before the window", "ready in the window"],
)
async def test_a_start_of_home_assistant_knows_when_ready_was_turned_on(
    home: Home, starts: list[ServiceCall], last_run: str, starts_now: int
) -> None:
    mock_restore_cache(home.hass, [State("automation.home", "on", {"last_triggered": last_run})])
    await home.at(NOON + HOUR_S)
    # After a restart, the state of a toggle helper is new.
    await turn(home, READY, "on")
    await use_from_a_start_on(home, "start_dishwasher", machine(home))
    assert len(starts) == starts_now


async def test_the_dishwasher_catches_up_when_the_plan_comes_back_as_a_new_entity(
    home: Home, starts: list[ServiceCall]
) -> None:
    await use(home, "start_dishwasher", machine(home))
    await turn(home, READY, "on")
    window = window_of(home)
    await home.hass.config_entries.async_unload(home.entry.entry_id)
    home.hass.states.async_remove(window)
    await home.at(NOON + HOUR_S)
    await home.hass.config_entries.async_setup(home.entry.entry_id)
    await home.settle()
    assert len(starts) == 1


async def test_ready_for_the_next_load_stays_on_when_a_long_start_ends(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in([NOON, NOON + 4 * HOUR_S]))
    await home.add(plans={PLAN_ID: {"duration": 120, "split": True}})
    starts: list[int] = []

    async def start(_: ServiceCall) -> None:
        starts.append(home.now)
        for how in ("off", "on") if len(starts) == 1 else ():
            await home.hass.services.async_call("input_boolean", f"turn_{how}", {"entity_id": READY}, blocking=True)

    home.hass.services.async_register("test", "start", start)
    await use(home, "start_dishwasher", machine(home))
    await turn(home, READY, "on")
    await home.at(NOON + HOUR_S)
    assert (starts, home.hass.states.is_state(READY, "on")) == ([NOON], True)
    await home.at(NOON + 4 * HOUR_S)
    assert (starts, home.hass.states.is_state(READY, "off")) == ([NOON, NOON + 4 * HOUR_S], True)


async def test_the_automation_notes_when_ready_was_turned_on(home: Home, starts: list[ServiceCall]) -> None:
    await use(home, "start_dishwasher", machine(home))
    await home.at(NOON + HOUR_S)
    await turn(home, READY, "on")
    automation = home.hass.states.get("automation.home")
    assert automation is not None
    assert automation.attributes["last_triggered"].timestamp() == home.now
    assert starts == []


def teller(home: Home, language: str = "en") -> dict[str, Any]:
    server = device_of(home.hass, "sensor", "current_price")
    return {"server": server, "notifier": {"entity_id": "notify.phone"}, "hours": 2, "language": language}


def tomorrow(start: int) -> float:
    """A market that is cheapest from 03:00, most expensive at 08:00 and 18:00 tomorrow, and 100 EUR/MWh at other
    times."""
    hour = (start - MIDNIGHT) // HOUR_S
    return {3: 10.0, 4: 20.0, 8: 300.0, 18: 310.0}.get(hour, 100.0)


@pytest.mark.parametrize(
    ("language", "title", "message"),
    [
        (
            "en",
            "Tomorrow's electricity",
            "On average 13.6 c/kWh. Cheapest: 03:00, 04:00 (1.9 c/kWh). Most expensive: 08:00, 18:00 (37.8 c/kWh).",
        ),
        (
            "et",
            "Homne elekter",
            "Keskmiselt 13,6 s/kWh. Odavaimad: 03:00, 04:00 (1,9 s/kWh). Kalleimad: 08:00, 18:00 (37,8 s/kWh).",
        ),
        (
            "ru",
            "Электричество завтра",
            (
                "В среднем 13,6 цент/кВт·ч. Дешевле всего: 03:00, 04:00 (1,9 цент/кВт·ч). "
                "Дороже всего: 08:00, 18:00 (37,8 цент/кВт·ч)."
            ),
        ),
    ],
)
async def test_tomorrows_prices_are_announced_when_they_are_published(
    make_home: MakeHome, language: str, title: str, message: str
) -> None:
    home = await make_home(price_of=tomorrow)
    await home.add()
    told = async_mock_service(home.hass, "notify", "send_message")
    await use(home, "notify_tomorrow", teller(home, language))
    assert told == []
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert [call.data for call in told] == [{"entity_id": ["notify.phone"], "title": title, "message": message}]
    await restart(home)
    assert len(told) == 1


async def test_tomorrows_message_has_buying_prices_by_the_hour_in_any_contract(make_home: MakeHome) -> None:
    home = await make_home(price_of=tomorrow)
    home.serve_quarters(lambda start: tomorrow(start - start % HOUR_S) + (-6, -1, 2, 5)[start % HOUR_S // QUARTER_S])
    sells = {"resolution": "quarter", "rows": [{"margin": 1.0}]}
    await home.add(options={"billed_by": "quarter", "selling": sells})
    told = async_mock_service(home.hass, "notify", "send_message")
    await use(home, "notify_tomorrow", teller(home))
    await home.publish(instant(PUBLISHED_TOMORROW))
    assert [call.data["message"] for call in told] == [
        "On average 13.6 c/kWh. Cheapest: 03:00, 04:00 (1.9 c/kWh). Most expensive: 08:00, 18:00 (37.8 c/kWh)."
    ]


@pytest.mark.parametrize(
    ("published_until", "last_told", "told_now"),
    [
        (PUBLISHED_TOMORROW, "2026-01-13T14:05:00+02:00", 1),
        (PUBLISHED_TOMORROW, "2026-01-14T14:05:00+02:00", 0),
        (PUBLISHED_TOMORROW, None, 1),
        (PUBLISHED_TODAY, None, 0),
    ],
    ids=["yesterday", "today", "never", "not published yet"],
)
async def test_prices_published_while_home_assistant_was_off_notify_once_at_a_start(
    make_home: MakeHome, published_until: str, last_told: str | None, told_now: int
) -> None:
    home = await make_home("2026-01-14T16:00:00+02:00", published_until)
    await home.add()
    mock_restore_cache(home.hass, [State("automation.home", "on", {"last_triggered": last_told})])
    told = async_mock_service(home.hass, "notify", "send_message")
    await use_from_a_start_on(home, "notify_tomorrow", teller(home))
    assert len(told) == told_now
