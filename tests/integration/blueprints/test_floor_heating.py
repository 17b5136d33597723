"""The floor heating that avoids the expensive hours."""

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
from tests.support.household.home import PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

NOON: Final = instant("2026-01-14T12:00:00+02:00")
END: Final = NOON + 3 * HOUR_S
DEAR_HOURS: Final = {"kind": "dearest", "duration": 180, "split": False}
THERMOMETER: Final = "sensor.floor"


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    """Return a home whose most expensive three hours begin at noon."""
    home = await make_home(price_of=cheap_in(hours_from(NOON, 3), cheap=300.0, dear=50.0))
    await home.add(plans={PLAN_ID: DEAR_HOURS})
    return home


@pytest.fixture
async def switchings(home: Home) -> list[Switching]:
    """Return a list that collects the switchings of the heating, which is on at first."""
    await turn(home, DEVICE, "on")
    return switched(home)


def inputs(home: Home, **more: Any) -> dict[str, Any]:  # noqa: ANN401, values of any input
    return {"window": window_of(home), "heating": [DEVICE], **more}


def set_floor(hass: HomeAssistant, degrees: float | str) -> None:
    hass.states.async_set(THERMOMETER, str(degrees), {"device_class": "temperature", "unit_of_measurement": "°C"})


@pytest.mark.parametrize("thermometer", [{}, {"thermometer": THERMOMETER, "coldest": 19}], ids=["none", "lost"])
async def test_the_heating_is_off_in_exactly_the_expensive_hours_if_nobody_says_that_the_floor_is_cold(
    hass: HomeAssistant, home: Home, switchings: list[Switching], thermometer: dict[str, Any]
) -> None:
    set_floor(hass, "unavailable")
    await use(home, "heat_floor", inputs(home, **thermometer))
    await home.at(END + HOUR_S)
    assert switchings == [("off", NOON), ("on", END)]


async def test_a_start_in_expensive_hours_switches_the_heating_off_and_a_later_one_on(
    home: Home, switchings: list[Switching]
) -> None:
    await home.at(NOON + HOUR_S)
    await use_from_a_start_on(home, "heat_floor", inputs(home))
    assert switchings == [("off", NOON + HOUR_S)]
    await restart(home, at=END + HOUR_S)
    assert switchings[1:] == [("on", END + HOUR_S)]


@rings_between_steps
@pytest.mark.parametrize("how", ["unloaded", "deleted"])
async def test_the_floor_is_heated_again_if_the_plan_is_lost(home: Home, switchings: list[Switching], how: str) -> None:
    await use(home, "heat_floor", inputs(home))
    await home.at(NOON + HOUR_S)
    if how == "unloaded":
        await home.hass.config_entries.async_unload(home.entry.entry_id)
    else:
        home.hass.config_entries.async_remove_subentry(home.entry, PLAN_ID)
    await home.settle()
    await home.at(NOON + HOUR_S + 300)
    assert switchings == [("off", NOON), ("on", NOON + HOUR_S + 300)]


async def test_the_heating_is_not_off_for_longer_than_allowed(home: Home, switchings: list[Switching]) -> None:
    await use(home, "heat_floor", inputs(home, longest=1.5))
    await home.at(END + HOUR_S)
    assert switchings == [("off", NOON), ("on", NOON + 3 * HOUR_S // 2)]


async def test_a_reload_does_not_lengthen_the_time_without_heating(home: Home, switchings: list[Switching]) -> None:
    await use(home, "heat_floor", inputs(home, longest=1.5))
    await home.at(NOON + HOUR_S)
    await restart(home)
    await home.at(END + HOUR_S)
    assert switchings == [("off", NOON), ("on", NOON + 3 * HOUR_S // 2)]


async def test_a_start_after_too_long_without_heating_switches_it_on(home: Home) -> None:
    switchings = switched(home)
    await home.at(NOON + 2 * HOUR_S)
    await use_from_a_start_on(home, "heat_floor", inputs(home, longest=1.5))
    assert switchings == [("on", NOON + 2 * HOUR_S)]


async def test_the_time_without_heating_counts_over_two_windows_in_a_row(make_home: MakeHome) -> None:
    midnight = NOON + 12 * HOUR_S
    home = await make_home(
        "2026-01-14T16:20:00+02:00",
        PUBLISHED_TOMORROW,
        price_of=cheap_in(hours_from(midnight - 3 * HOUR_S, 6), cheap=300.0, dear=50.0),
    )
    await home.add(plans={PLAN_ID: DEAR_HOURS})
    await use(home, "heat_floor", inputs(home, longest=5))
    await turn(home, DEVICE, "on")
    switchings = switched(home)
    await home.at(midnight + 4 * HOUR_S)
    assert switchings == [("off", midnight - 3 * HOUR_S), ("on", midnight + 2 * HOUR_S)]


async def test_a_cold_floor_is_heated_until_the_expensive_hours_are_over(
    hass: HomeAssistant, home: Home, switchings: list[Switching]
) -> None:
    set_floor(hass, 22.0)
    await use(home, "heat_floor", inputs(home, thermometer=THERMOMETER, coldest=19))
    await home.at(NOON + HOUR_S)
    set_floor(hass, 18.9)
    await home.settle()
    set_floor(hass, 19.2)
    await home.at(END + QUARTER_S)
    assert switchings == [("off", NOON), ("on", NOON + HOUR_S)]


async def test_heating_that_comes_back_switched_on_is_switched_off_again(
    hass: HomeAssistant, home: Home, switchings: list[Switching]
) -> None:
    await use(home, "heat_floor", inputs(home))
    await home.at(NOON + HOUR_S)
    hass.states.async_set(DEVICE, "unavailable")
    hass.states.async_set(DEVICE, "on")
    await home.settle()
    assert switchings[-1] == ("off", NOON + HOUR_S)
