"""The guides' examples for Home Assistant, each run there unchanged."""

import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import yaml
from homeassistant.core import CoreState, HomeAssistant, ServiceCall, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component

from custom_components.tunnihind.const import KNOWS_TRIGGERS
from custom_components.tunnihind.forms.plan_flow import first_plan
from tests.support import documents
from tests.support.household.automations import cheap_in, hours_from
from tests.support.household.home import PUBLISHED_TODAY, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tests.support.machine.node import run_module
from tunnihind.core.market import HOUR_S

BLOCKS: Final[list[dict[str, Any]]] = [yaml.safe_load(block) for block in documents.blocks("yaml")]
AUTOMATIONS: Final = {block["alias"]: block for block in BLOCKS if "triggers" in block}
BOILER: Final = "Boiler in the cheapest hours"
CAR: Final = "Charge the car while it is cheap"
DISHWASHER: Final = "Dishwasher at a negative price"
TOMORROW: Final = "Tell tomorrow's prices"
PUMP: Final = "Pump at the time that was found"
# Needs a recorder, and is tried in past/test_import_costs.py.
COSTS: Final = "Cost of the last days"
# Needs one too, and is tried in ledger/test_account_sensors.py.
CHARGED: Final = "Tell what charging cost"
MISSING: Final = "Tell the car's plan how much is missing"
# The key of evcc's settings, which are tried in test_planner_recipes.py.
EVCC: Final = "tariffs"
FLOOR: Final = "Floor heating off when electricity gets expensive"

MIDNIGHT: Final = instant("2026-01-15T00:00:00+02:00")
NOON: Final = instant("2026-01-14T12:00:00+02:00")
EVENING: Final = instant("2026-01-14T18:00:00+02:00")
# As the guide says to make them; the titles are these names with a capital.
PLANS: Final = {
    "cheapest 3 hours": first_plan("en")["data"],
    "car": {"duration": 240, "split": True, "deadline": "07:00:00", "horizon": "expected"},
}

needs_triggers: Final = pytest.mark.skipif(not KNOWS_TRIGGERS, reason="this Home Assistant is too old for triggers")

type Call = tuple[str, dict[str, Any], int]
"""An action, its data, and when it was called, in UTC seconds."""


@pytest.fixture(autouse=True)
async def _home(hass: HomeAssistant, enable_custom_integrations: None) -> None:
    """Let Home Assistant be in Estonia."""
    await hass.config.async_set_time_zone("Europe/Tallinn")
    assert await async_setup_component(hass, "homeassistant", {})


def recorded(home: Home, *actions: str) -> list[Call]:
    """Return a list that collects every call of these actions."""
    calls: list[Call] = []

    @callback
    def called(call: ServiceCall) -> None:
        calls.append((call.service, dict(call.data), home.now))

    for domain, name in (action.split(".") for action in actions):
        home.hass.services.async_register(domain, name, called)
    return calls


def switched(entity_id: str, **times: int) -> list[Call]:
    return [(how, {"entity_id": [entity_id]}, at) for how, at in times.items()]


async def automate(home: Home, alias: str) -> list[Call]:
    """Set up one of the guide's automations, and return the list that collects its calls."""
    calls = recorded(home, "switch.turn_on", "switch.turn_off", "persistent_notification.create")
    assert await async_setup_component(home.hass, "automation", {"automation": AUTOMATIONS[alias]})
    await home.settle()
    [automation] = home.hass.states.async_all("automation")
    assert (automation.name, automation.state) == (alias, "on")
    return calls


def test_every_example_is_tried_here() -> None:
    tried = {BOILER, CAR, DISHWASHER, TOMORROW, FLOOR, PUMP, COSTS, CHARGED, MISSING}
    others = [block for block in BLOCKS if block.get("alias") not in tried and EVCC not in block]
    assert AUTOMATIONS.keys() == tried
    assert [block.get("type", "script") for block in others] == [
        "custom:tunnihind-card",
        "custom:apexcharts-card",
        "script",
        "iframe",
    ]


async def test_the_examples_name_existing_entities(hass: HomeAssistant, make_home: MakeHome) -> None:
    await (await make_home()).add(plans=PLANS)
    # The price list is disabled at first.
    others = {"sensor.car_battery", "sensor.tunnihind_price_list"}
    named = set(re.findall(r"\b(?:binary_)?sensor\.\w+", "".join(documents.blocks("yaml")))) - others
    assert named <= {entity_id for entity_id in er.async_get(hass).entities if hass.states.get(entity_id)}


async def test_the_boiler_is_on_in_the_cheapest_hours(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3)))
    await home.add(plans=PLANS)
    calls = await automate(home, BOILER)
    await home.at(NOON + 4 * HOUR_S)
    assert calls == switched("switch.boiler", turn_on=NOON, turn_off=NOON + 3 * HOUR_S)


async def test_the_boiler_that_was_switched_by_hand_is_left_alone_until_the_window(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(EVENING, 3)))
    await home.add(plans=PLANS)
    calls = await automate(home, BOILER)
    before = home.state("binary_sensor", "window", "cheapest 3 hours")
    home.price_of = cheap_in(hours_from(EVENING - HOUR_S, 3))
    await home.publish(home.settled_until)
    assert home.state("binary_sensor", "window", "cheapest 3 hours").attributes != before.attributes
    assert calls == []


@needs_triggers
async def test_the_car_is_charged_in_every_piece_of_its_window(make_home: MakeHome) -> None:
    begins = [MIDNIGHT + HOUR_S, MIDNIGHT + 4 * HOUR_S]
    home = await make_home("2026-01-14T20:00:00+02:00", PUBLISHED_TODAY)
    home.forecast_of = cheap_in([hour for start in begins for hour in hours_from(start, 2)])
    home.serve()
    await home.add(plans=PLANS)
    calls = await automate(home, CAR)
    await home.at(MIDNIGHT + 6 * HOUR_S + HOUR_S // 2)
    assert calls == [
        call for start in begins for call in switched("switch.charger", turn_on=start, turn_off=start + 2 * HOUR_S)
    ]


async def test_the_car_is_charged_for_as_long_as_its_battery_needs(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(EVENING, 3)))
    await home.add(plans=PLANS)
    await automate(home, MISSING)
    for charge, quarters in (("unavailable", 16), ("35", 15), ("70", 4), ("80", 0), ("100", 0)):
        home.hass.states.async_set("sensor.car_battery", charge)
        await home.settle()
        pieces = home.state("binary_sensor", "window", "car").attributes.get("pieces", [])
        assert sum(instant(piece["end"]) - instant(piece["start"]) for piece in pieces) == quarters * 900


@needs_triggers
async def test_the_dishwasher_starts_when_the_price_turns_negative(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 2), cheap=-5.0))
    await home.add()
    calls = await automate(home, DISHWASHER)
    await home.at(NOON + 3 * HOUR_S)
    assert calls == switched("switch.dishwasher", turn_on=NOON)


@needs_triggers
async def test_tomorrows_prices_are_told_when_they_are_published(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in([MIDNIGHT + 3 * HOUR_S], dear=100.0))
    await home.add()
    calls = await automate(home, TOMORROW)
    await home.publish(instant(PUBLISHED_TOMORROW))
    [(_, told, _)] = calls
    average = round((23 * 0.124 + 0.0124) / 24, 4)
    assert told == {
        "title": "Electricity tomorrow",
        "message": f"On average {average} EUR/kWh, cheapest at 03:00.",
    }


@needs_triggers
@pytest.mark.parametrize(
    ("dearer", "offs"),
    [(100.0, switched("switch.floor_heating", turn_off=NOON)), (400.0, [])],
    ids=["on-an-ordinary-day", "not-in-a-cheap-hour-of-a-dear-day"],
)
async def test_the_floor_heating_goes_off_when_the_price_crosses_the_threshold(
    make_home: MakeHome, dearer: float, offs: list[Call]
) -> None:
    def price_of(start: int) -> float:
        return 100.0 if NOON - 2 * HOUR_S <= start < NOON else 300.0 if start == NOON else dearer

    home = await make_home(price_of=price_of)
    await home.add()
    calls = await automate(home, FLOOR)
    await home.at(NOON + HOUR_S // 2)
    assert calls == offs


async def find_a_time_for_the_pump(home: Home) -> None:
    """Let the guide's script keep the start in the helper."""
    helper = {"pump": {"has_date": True, "has_time": True}}
    assert await async_setup_component(home.hass, "input_datetime", {"input_datetime": helper})
    [script] = [block for block in BLOCKS if "sequence" in block]
    assert await async_setup_component(home.hass, "script", {"script": {"pump": script}})
    await home.hass.services.async_call("script", "turn_on", {"entity_id": "script.pump"}, blocking=True)
    await home.settle()


async def test_the_pump_starts_at_the_cheapest_time(make_home: MakeHome) -> None:
    home = await make_home(price_of=cheap_in(hours_from(EVENING, 3)))
    await home.add()
    calls = await automate(home, PUMP)
    await find_a_time_for_the_pump(home)
    await home.at(EVENING + 3 * HOUR_S)
    assert calls == switched("switch.pump", turn_on=EVENING)


@pytest.mark.parametrize("starts", [EVENING - HOUR_S, EVENING + HOUR_S], ids=["before", "within"])
async def test_the_pump_starts_after_a_restart_too(make_home: MakeHome, starts: int) -> None:
    home = await make_home(price_of=cheap_in(hours_from(EVENING, 3)))
    await home.add()
    await find_a_time_for_the_pump(home)
    home.set_clock(starts)
    home.hass.set_state(CoreState.not_running)
    calls = await automate(home, PUMP)
    await home.hass.async_start()
    await home.at(EVENING + 2 * HOUR_S)
    assert calls == switched("switch.pump", turn_on=max(starts, EVENING))


async def test_of_two_equal_clock_times_the_pump_starts_at_the_first(make_home: MakeHome) -> None:
    """Home Assistant's time trigger knows only the first of them, so the pump would not start at all."""
    first = instant("2026-10-25T03:00:00+03:00")
    home = await make_home(
        "2026-10-25T00:10:00+03:00", "2026-10-26T01:00:00+02:00", price_of=cheap_in(hours_from(first + HOUR_S, 3))
    )
    await home.add()
    calls = await automate(home, PUMP)
    await find_a_time_for_the_pump(home)
    await home.at(first + HOUR_S)
    assert calls == switched("switch.pump", turn_on=first)


async def test_the_frame_shows_the_small_view(make_home: MakeHome) -> None:
    home = await make_home()
    [card] = [block for block in BLOCKS if block.get("type") == "iframe"]
    address = urlsplit(card["url"])
    answer = await home.server.ask(f"{address.path}?{address.query}")
    assert (answer.status, b'<body class="embed">' in answer.body) == (200, True)


async def test_the_chart_draws_published_prices_and_the_forecast(make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T16:00:00+02:00", PUBLISHED_TOMORROW)
    await home.add()
    [card] = [block for block in BLOCKS if block.get("type") == "custom:apexcharts-card"]
    entity = home.hass.states.get(card["all_series_config"]["entity"])
    assert entity is not None
    generators = ",".join(f"() => {{ {series['data_generator']} }}" for series in card["series"])
    script = f"""
        const entity = {json.dumps({"attributes": dict(entity.attributes)}, default=str)};
        console.log(JSON.stringify([{generators}].map((generate) => generate())));
    """
    published, forecast = json.loads(await run_module(script))
    day = instant("2026-01-14T00:00:00+02:00")
    assert published == [[start * 1000, home.consumer_price(start)] for start in range(day, day + 48 * HOUR_S, HOUR_S)]
    assert forecast[0][0] == (day + 48 * HOUR_S + HOUR_S) * 1000
