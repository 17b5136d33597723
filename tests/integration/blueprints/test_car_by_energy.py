"""The car whose state of charge tells a plan how much energy it needs."""

import logging
from typing import Any, Final

import pytest
from homeassistant.core import HomeAssistant

from tests.support.household.automations import cheap_in, hours_from, restart
from tests.support.household.blueprints import (
    DEVICE,
    Switching,
    rings_between_steps,
    switched,
    turn,
    use,
    use_from_a_start_on,
    window_of,
)
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tests.support.household.steering import pieces
from tunnihind.core.market import HOUR_S, QUARTER_S

NOON: Final = instant("2026-01-14T12:00:00+02:00")
CHARGE: Final = "sensor.car"
BY_ENERGY: Final = {"energy": 40, "power": 10, "split": False, "earliest": "10:30:00", "deadline": "20:00:00"}


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home whose cheapest hours begin at noon, and whose car charges with 10 kW."""
    home = await make_home(price_of=cheap_in(hours_from(NOON, 4)))
    await home.add(plans={PLAN_ID: BY_ENERGY})
    return home


@pytest.fixture
def switchings(home: Home) -> list[Switching]:
    """Return a list that collects the charger's switchings."""
    return switched(home)


def inputs(home: Home, **more: Any) -> dict[str, Any]:  # noqa: ANN401, values of any input
    """Return the inputs of a car that needs 1 kWh from the grid for each percent."""
    return {"window": window_of(home), "charger": DEVICE, "charge": CHARGE, "capacity": 90, "losses": 10, **more}


async def charged_to(home: Home, percent: float | str) -> None:
    home.hass.states.async_set(CHARGE, str(percent), {"device_class": "battery", "unit_of_measurement": "%"})
    await home.settle()


@pytest.mark.parametrize(("percent", "quarters"), [(70, 4), (69, 5), (68.9, 5), (80, 0), (95, 0)], ids=str)
async def test_the_plan_has_the_time_that_the_car_needs(home: Home, percent: float, quarters: int) -> None:
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, percent)
    end = NOON + quarters * QUARTER_S
    assert [end for _, end in pieces(home)] == ([end] if quarters else [])
    assert float(home.state("number", "energy", PLAN_ID).state) == pytest.approx(max(0, 80 - percent))


async def test_the_car_is_filled_beyond_its_need_while_it_is_cheap(home: Home, switchings: list[Switching]) -> None:
    await charged_to(home, 70)
    await use(home, "charge_car_by_energy", inputs(home, full=95))
    await charged_to(home, 71)
    assert home.entry.runtime_data.planner.plans[PLAN_ID].changes == {"energy": 9.0, "energy_full": 24.0}
    await home.at(NOON + 2 * HOUR_S)
    await charged_to(home, 91)
    assert switchings == [("on", NOON)]
    await home.at(NOON + 2 * HOUR_S + QUARTER_S)
    await charged_to(home, 95)
    assert switchings == [("on", NOON), ("off", NOON + 2 * HOUR_S + QUARTER_S)]


@pytest.mark.parametrize("full", [50, 80])
async def test_a_car_that_need_not_be_filled_has_only_its_need(home: Home, full: int) -> None:
    await use(home, "charge_car_by_energy", inputs(home, full=full))
    await charged_to(home, 71)
    assert home.entry.runtime_data.planner.plans[PLAN_ID].changes == {"energy": 9.0}


async def test_the_car_charges_in_the_window_until_it_has_enough(home: Home, switchings: list[Switching]) -> None:
    await charged_to(home, 50)
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 60)
    for hour in (1, 2):
        await home.at(NOON + hour * HOUR_S - QUARTER_S)
        await charged_to(home, 60 + 10 * hour)
    assert switchings == [("on", NOON), ("off", NOON + 2 * HOUR_S - QUARTER_S)]
    await home.at(NOON + 5 * HOUR_S)
    assert len(switchings) == 2


async def test_a_need_that_appears_within_or_after_the_window_is_met_by_the_deadline(home: Home) -> None:
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 70)
    await home.at(NOON + QUARTER_S)
    await charged_to(home, 65)
    assert [end for _, end in pieces(home)] == [NOON + QUARTER_S + 6 * QUARTER_S]
    await home.at(NOON + 3 * HOUR_S)
    await charged_to(home, 40)
    assert pieces(home)[1:] == [(NOON + 3 * HOUR_S, NOON + 7 * HOUR_S)]
    assert home.state("binary_sensor", "window", PLAN_ID).attributes["missing_energy"] == 0
    await charged_to(home, 20)
    assert home.state("binary_sensor", "window", PLAN_ID).attributes["missing_energy"] == 10


async def test_the_same_reading_is_no_new_need(home: Home) -> None:
    """The sensor reports once an hour. The charger comes and goes, so the automation says the need again."""
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 60)
    for quarter in range(1, 8):
        await home.at(NOON + quarter * QUARTER_S)
        home.hass.states.async_set(DEVICE, "unavailable")
        home.hass.states.async_set(DEVICE, "on")
        await home.settle()
    assert [end for _, end in pieces(home)] == [NOON + 2 * HOUR_S]


async def test_a_car_without_a_state_of_charge_keeps_its_need_and_charges_in_the_window(
    home: Home, switchings: list[Switching]
) -> None:
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 70)
    await charged_to(home, "unavailable")
    assert home.state("number", "energy", PLAN_ID).state == "10.0"
    await home.at(NOON + 2 * HOUR_S)
    assert switchings == [("on", NOON), ("off", NOON + HOUR_S)]


async def test_an_almost_empty_car_is_charged_at_once_to_the_least_charge(
    home: Home, switchings: list[Switching]
) -> None:
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 19)
    now = home.now
    assert switchings == [("on", now)]
    await charged_to(home, 20)
    assert switchings == [("on", now), ("off", now)]


@rings_between_steps
@pytest.mark.parametrize("how", ["unloaded", "removed"])
async def test_the_car_charges_at_once_if_the_plan_is_lost_but_not_for_a_reload(
    home: Home, switchings: list[Switching], how: str
) -> None:
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 60)
    await restart(home)
    assert switchings == []
    entries = home.hass.config_entries
    await (entries.async_unload if how == "unloaded" else entries.async_remove)(home.entry.entry_id)
    lost = home.now
    await home.at(lost + 300)
    assert switchings == [("on", lost + 300)]
    await charged_to(home, 80)
    assert switchings[1:] == [("off", lost + 300)]


async def test_a_reload_sets_the_plans_need_without_an_error(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    await charged_to(home, 60)
    await use(home, "charge_car_by_energy", inputs(home))
    caplog.clear()
    await home.hass.config_entries.async_reload(home.entry.entry_id)
    await home.settle()
    assert home.state("number", "energy", PLAN_ID).state == "20.0"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_start_within_the_window_goes_on_charging_and_one_after_it_stops(
    home: Home, switchings: list[Switching]
) -> None:
    await charged_to(home, 60)
    await home.at(NOON + HOUR_S)
    await use_from_a_start_on(home, "charge_car_by_energy", inputs(home))
    assert switchings == [("on", NOON + HOUR_S)]
    await restart(home, at=NOON + 5 * HOUR_S)
    assert switchings[1:] == [("off", NOON + 5 * HOUR_S)]


async def test_a_plan_by_time_logs_the_error_and_the_car_charges_in_its_window(
    hass: HomeAssistant, make_home: MakeHome, caplog: pytest.LogCaptureFixture
) -> None:
    home = await make_home(price_of=cheap_in(hours_from(NOON, 2)))
    await home.add(plans={PLAN_ID: {"duration": 120, "split": False}})
    switchings = switched(home)
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 60)
    assert "power" in caplog.text
    await home.at(NOON + 3 * HOUR_S)
    assert switchings == [("on", NOON), ("off", NOON + 2 * HOUR_S)]


async def test_a_charger_that_comes_back_off_in_the_window_is_switched_on(
    home: Home, switchings: list[Switching]
) -> None:
    await use(home, "charge_car_by_energy", inputs(home))
    await charged_to(home, 60)
    await home.at(NOON + QUARTER_S)
    await turn(home, DEVICE, "off")
    home.hass.states.async_set(DEVICE, "unavailable")
    home.hass.states.async_set(DEVICE, "off")
    await home.settle()
    assert switchings[-1] == ("on", NOON + QUARTER_S)
