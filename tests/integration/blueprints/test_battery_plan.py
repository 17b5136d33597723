"""Inverters that follow a battery's plan by their modes or by their power, and the sale that stops below a price."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.setup import async_setup_component

from tests.support.household.blueprints import rings_between_steps, use, use_from_a_start_on
from tests.support.household.home import Home, MakeHome

ACTION: Final = "sensor.battery_action"
USE: Final = "sensor.net_use"
PRICE: Final = "sensor.selling_price"
MODE: Final = "input_select.mode"
CHARGE, DISCHARGE, POWER = (f"input_number.{name}" for name in ("charge", "discharge", "power"))
MODES: Final = {
    "charge": "Force charge",
    "store_sun": "Charge only",
    "hold": "Standby",
    "discharge": "Self use",
    "sell": "Force discharge",
}


@pytest.fixture
async def home(hass: HomeAssistant, make_home: MakeHome) -> Home:
    """Return a home with an inverter that has modes and numbers, in watts."""
    modes = {"mode": {"options": ["Off", *MODES.values()]}}
    assert await async_setup_component(hass, "input_select", {"input_select": modes})
    numbers = {
        name: {"min": -10_000, "max": 10_000, "step": 0.01, "initial": 7} for name in ("charge", "discharge", "power")
    }
    assert await async_setup_component(hass, "input_number", {"input_number": numbers})
    return await make_home()


async def say(home: Home, action: str, power: float | None = None, expected: float = 0.0) -> None:
    """Let the battery's plan say an action, with its power and the power that it expects, in kW."""
    of_plan = {} if power is None else {"power": power, "expected_power": expected}
    home.hass.states.async_set(ACTION, action, of_plan)
    await home.hass.async_block_till_done()


async def use_power(home: Home, watts: float) -> None:
    home.hass.states.async_set(USE, str(watts), {"unit_of_measurement": "W"})
    await home.hass.async_block_till_done()


def figures(home: Home, *entities: str) -> list[float]:
    return [float(state.state) for entity in entities if (state := home.hass.states.get(entity))]


def by_mode(**more: Any) -> Mapping[str, Any]:  # noqa: ANN401, values of any input
    return {"action": ACTION, "mode": MODE, **MODES, "charge_power": CHARGE, "discharge_power": DISCHARGE, **more}


@pytest.mark.parametrize(
    ("action", "numbers"),
    [
        ("charge", [3200.0, 7.0]),
        ("store_sun", [3200.0, 7.0]),
        ("hold", [7.0, 7.0]),
        ("discharge", [3200.0, 3200.0]),
        ("sell", [7.0, 3200.0]),
    ],
)
async def test_each_action_has_its_mode_and_its_power(home: Home, action: str, numbers: list[float]) -> None:
    await use(home, "follow_battery_by_mode", by_mode())
    await say(home, action, 3.2)
    assert home.hass.states.is_state(MODE, MODES[action])
    assert figures(home, CHARGE, DISCHARGE) == numbers


async def test_a_power_that_changes_reaches_the_inverter_in_its_unit(home: Home) -> None:
    await use(home, "follow_battery_by_mode", by_mode(watts=False))
    await say(home, "charge", 3.2)
    await say(home, "charge", 1.25)
    assert figures(home, CHARGE) == [1.25]


async def test_a_setting_that_is_right_is_not_written_again(home: Home) -> None:
    await use(home, "follow_battery_by_mode", by_mode())
    await say(home, "charge", 3.2)
    calls: list[str] = []

    @callback
    def collect(event: Event[Mapping[str, Any]]) -> None:
        calls.append(event.data["service"])

    home.hass.bus.async_listen("call_service", collect)
    await say(home, "charge", 3.2, expected=3.2)
    assert calls == []


async def test_without_a_plan_the_sun_is_stored_at_the_power_set_before(home: Home) -> None:
    await use(home, "follow_battery_by_mode", by_mode())
    await say(home, "charge", 3.2)
    await say(home, "store_sun")
    assert home.hass.states.is_state(MODE, MODES["store_sun"])
    assert figures(home, CHARGE) == [3200.0]


@rings_between_steps
async def test_a_plan_that_is_away_for_five_minutes_leaves_the_inverter_storing_sun(home: Home) -> None:
    await use(home, "follow_battery_by_mode", by_mode())
    await say(home, "sell", 3.2)
    await say(home, "unavailable")
    await home.at(home.now + 299)
    assert home.hass.states.is_state(MODE, MODES["sell"])
    await home.at(home.now + 2)
    assert home.hass.states.is_state(MODE, MODES["store_sun"])


@rings_between_steps
async def test_a_plan_that_is_away_for_five_minutes_lets_the_battery_rest(home: Home) -> None:
    await use(home, "follow_battery_by_power", {"action": ACTION, "power": POWER})
    await say(home, "sell", 3.2)
    await say(home, "unavailable")
    await home.at(home.now + 299)
    assert figures(home, POWER) == [-3200]
    await home.at(home.now + 2)
    assert figures(home, POWER) == [0]


async def test_an_inverter_that_was_away_gets_the_present_mode(home: Home) -> None:
    await use(home, "follow_battery_by_mode", by_mode())
    await say(home, "charge", 3.2)
    home.hass.states.async_set(MODE, "unavailable", {"options": [*MODES.values()]})
    await home.hass.async_block_till_done()
    home.hass.states.async_set(MODE, "Off", {"options": [*MODES.values()]})
    await home.hass.async_block_till_done()
    assert home.hass.states.is_state(MODE, MODES["charge"])


@pytest.mark.parametrize(
    ("action", "net_w", "watts"),
    [
        ("charge", 800, 3200),
        ("sell", 800, -3200),
        ("hold", 800, 0),
        ("hold", -800, 0),
        ("store_sun", -800, 800),
        ("store_sun", -5000, 3200),
        ("store_sun", 800, 0),
        ("discharge", 800, -800),
        ("discharge", 5000, -3200),
        ("discharge", -800, 800),
    ],
)
async def test_the_power_follows_the_action_and_the_homes_use(home: Home, action: str, net_w: int, watts: int) -> None:
    await use(home, "follow_battery_by_power", {"action": ACTION, "power": POWER, "use": USE})
    await use_power(home, net_w)
    await say(home, action, 3.2)
    assert figures(home, POWER) == [watts]


async def test_small_changes_of_the_use_are_not_written(home: Home) -> None:
    await use(home, "follow_battery_by_power", {"action": ACTION, "power": POWER, "use": USE})
    await use_power(home, 800)
    await say(home, "discharge", 3.2)
    await use_power(home, 849)
    assert figures(home, POWER) == [-800]
    await use_power(home, 850)
    assert figures(home, POWER) == [-850]


@pytest.mark.parametrize(
    ("action", "expected", "kw"), [("store_sun", 0.9, -0.9), ("discharge", -0.9, 0.9), ("charge", 3.2, -3.2)]
)
async def test_without_a_sensor_of_the_use_the_expected_power_counts(
    home: Home, action: str, expected: float, kw: float
) -> None:
    unit = {"watts": False, "charging_is_positive": False}
    await use(home, "follow_battery_by_power", {"action": ACTION, "power": POWER, **unit})
    await say(home, action, 3.2, expected)
    assert figures(home, POWER) == [kw]


@pytest.fixture
def sold(hass: HomeAssistant) -> list[str]:
    """Return a list that collects whether the home sells."""
    sold: list[str] = []

    @callback
    def tell(event: Event[Mapping[str, Any]]) -> None:
        sold.append(event.data["how"])

    hass.bus.async_listen("sale", tell)
    return sold


def sale() -> dict[str, Any]:
    return {"price": PRICE, **{how: [{"event": "sale", "event_data": {"how": how}}] for how in ("stop", "sell")}}


async def cost(home: Home, price: float | str, unit: str = "EUR/kWh") -> None:
    home.hass.states.async_set(PRICE, str(price), {"unit_of_measurement": unit})
    await home.hass.async_block_till_done()


@pytest.mark.parametrize(
    ("limit", "price", "unit", "how"),
    [
        (0, -0.0001, "EUR/kWh", "stop"),
        (0, 0.0, "EUR/kWh", "sell"),
        (1, 0.99, "c/kWh", "stop"),
        (1, 1.0, "c/kWh", "sell"),
        (1, 0.0099, "EUR/kWh", "stop"),
    ],
)
async def test_the_home_sells_from_the_limit_on(
    home: Home, sold: list[str], limit: float, price: float, unit: str, how: str
) -> None:
    await use(home, "stop_selling_below_zero", {**sale(), "limit": limit})
    await cost(home, price, unit)
    assert sold == [how]


@rings_between_steps
async def test_an_unknown_price_lets_the_home_sell_after_five_minutes(home: Home, sold: list[str]) -> None:
    await use(home, "stop_selling_below_zero", sale())
    await cost(home, -0.05)
    await cost(home, "unavailable")
    await home.at(home.now + 299)
    assert sold == ["stop"]
    await home.at(home.now + 2)
    assert sold == ["stop", "sell"]


async def test_a_restart_stops_the_sale_again(home: Home, sold: list[str]) -> None:
    await home.add()
    await cost(home, -0.05)
    await use_from_a_start_on(home, "stop_selling_below_zero", sale())
    assert sold == ["stop"]
