"""The washing machine that a button starts at the cheapest time."""

from typing import Any, Final

import pytest
from homeassistant.core import State
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import async_mock_service, mock_restore_cache

from tests.support.household.automations import cheap_in, device_of, hours_from
from tests.support.household.blueprints import (
    DEVICE,
    Switching,
    rings_between_steps,
    switched,
    turn,
    use,
    use_from_a_start_on,
)
from tests.support.household.home import PUBLISHED_TOMORROW, Home, MakeHome, PriceOf, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

BUTTON: Final = "input_button.wash"
START: Final = "input_datetime.wash"
EVENING: Final = "2026-01-14T22:00:00+02:00"
CHEAPEST: Final = instant("2026-01-14T23:00:00+02:00")
READY_BY: Final = instant("2026-01-15T01:30:00+02:00")


def inputs(home: Home, **more: Any) -> dict[str, Any]:  # noqa: ANN401, values of any input
    return {
        "server": device_of(home.hass, "sensor", "current_price"),
        "button": [{"trigger": "state", "entity_id": BUTTON}],
        "start": START,
        "machine": DEVICE,
        "ready_by": "01:30:00",
        **more,
    }


async def press(home: Home) -> None:
    await home.hass.services.async_call("input_button", "press", {"entity_id": BUTTON}, blocking=True)
    await home.settle()


def starts_at(home: Home) -> int:
    state = home.hass.states.get(START)
    assert state is not None
    return int(state.attributes["timestamp"])


async def home_with_helpers(make_home: MakeHome, now: str, settled_until: str, price_of: PriceOf) -> Home:
    home = await make_home(now, settled_until, price_of=price_of)
    await home.add()
    start = {"has_date": True, "has_time": True}
    assert await async_setup_component(home.hass, "input_datetime", {"input_datetime": {"wash": start}})
    assert await async_setup_component(home.hass, "input_button", {"input_button": {"wash": None}})
    return home


@pytest.fixture
async def evening(make_home: MakeHome) -> Home:
    """Return a home with the helpers, whose cheapest two hours before "ready by" begin at eleven."""
    return await home_with_helpers(make_home, EVENING, PUBLISHED_TOMORROW, cheap_in(hours_from(CHEAPEST, 2)))


@pytest.fixture
def starts(evening: Home) -> list[Switching]:
    """Return a list that collects the machine's switchings."""
    return switched(evening)


async def test_the_machine_starts_once_at_the_cheapest_time_after_the_button(
    evening: Home, starts: list[Switching]
) -> None:
    await use(evening, "start_washing_machine", inputs(evening))
    assert starts == []
    await press(evening)
    assert starts_at(evening) == CHEAPEST
    await evening.at(CHEAPEST + HOUR_S)
    await turn(evening, DEVICE, "off")
    await evening.at(READY_BY)
    assert starts == [("on", CHEAPEST), ("off", CHEAPEST + HOUR_S)]


async def test_the_machine_does_not_start_without_the_button(evening: Home, starts: list[Switching]) -> None:
    await use_from_a_start_on(evening, "start_washing_machine", inputs(evening))
    await evening.at(READY_BY)
    assert starts == []


async def test_a_second_press_cancels_the_start_and_a_third_sets_it_again(
    evening: Home, starts: list[Switching]
) -> None:
    await use(evening, "start_washing_machine", inputs(evening))
    await press(evening)
    await evening.at(evening.now + QUARTER_S)
    await press(evening)
    assert starts_at(evening) <= evening.now
    await evening.at(evening.now + QUARTER_S)
    assert starts == []
    await press(evening)
    await evening.at(READY_BY)
    assert starts == [("on", CHEAPEST)]


@pytest.mark.parametrize("pressed", [True, False])
async def test_the_start_can_be_set_by_hand_after_and_without_the_button(
    evening: Home, starts: list[Switching], pressed: bool
) -> None:
    await use(evening, "start_washing_machine", inputs(evening))
    if pressed:
        await press(evening)
    by_hand = {"entity_id": START, "timestamp": CHEAPEST - QUARTER_S}
    await evening.hass.services.async_call("input_datetime", "set_datetime", by_hand, blocking=True)
    await evening.at(READY_BY)
    assert starts == [("on", CHEAPEST - QUARTER_S)]


@rings_between_steps
@pytest.mark.parametrize("lost", ["too little time", "no server"])
async def test_the_machine_starts_at_once_if_no_time_is_found(
    evening: Home, starts: list[Switching], lost: str
) -> None:
    await use(evening, "start_washing_machine", inputs(evening, duration=720))
    if lost == "no server":
        await evening.hass.config_entries.async_unload(evening.entry.entry_id)
    await press(evening)
    await evening.at(evening.now + 6)
    assert starts == [("on", evening.now)]


@pytest.mark.parametrize(
    ("back_at", "starts_then"),
    [(CHEAPEST + QUARTER_S, True), (READY_BY + QUARTER_S, False)],
    ids=["in time", "too late"],
)
async def test_a_machine_that_was_away_starts_when_it_is_back_in_time(
    evening: Home, starts: list[Switching], back_at: int, *, starts_then: bool
) -> None:
    await use(evening, "start_washing_machine", inputs(evening))
    await press(evening)
    evening.hass.states.async_set(DEVICE, "unavailable")
    await evening.at(back_at)
    evening.hass.states.async_set(DEVICE, "off")
    await evening.settle()
    assert (starts[-1] == ("on", back_at)) is starts_then


@pytest.mark.parametrize(
    ("last_run", "starts_then"),
    [(instant(EVENING), True), (CHEAPEST, False)],
    ids=["missed", "started"],
)
async def test_a_start_of_home_assistant_catches_up_only_on_a_missed_start(
    evening: Home, starts: list[Switching], last_run: int, *, starts_then: bool
) -> None:
    await evening.at(CHEAPEST + QUARTER_S)
    due = {"entity_id": START, "timestamp": CHEAPEST}
    await evening.hass.services.async_call("input_datetime", "set_datetime", due, blocking=True)
    mock_restore_cache(
        evening.hass,
        [State("automation.home", "on", {"last_triggered": dt_util.utc_from_timestamp(last_run).isoformat()})],
    )
    await use_from_a_start_on(evening, "start_washing_machine", inputs(evening))
    assert starts == ([("on", evening.now)] if starts_then else [])


async def test_a_machine_with_a_button_is_pressed(evening: Home) -> None:
    evening.hass.states.async_set("button.machine", "unknown")
    pressed = async_mock_service(evening.hass, "button", "press")
    await use(evening, "start_washing_machine", inputs(evening, machine="button.machine"))
    await press(evening)
    await evening.at(READY_BY)
    assert [call.data["entity_id"] for call in pressed] == [["button.machine"]]


async def test_of_two_equal_clock_times_the_machine_starts_at_the_first(make_home: MakeHome) -> None:
    """Home Assistant's time trigger knows only the first of them, so the machine would not start at all."""
    first = instant("2026-10-25T03:00:00+03:00")
    cheapest = hours_from(first + HOUR_S, 2)
    home = await home_with_helpers(
        make_home, "2026-10-24T22:10:00+03:00", "2026-10-26T01:00:00+02:00", cheap_in(cheapest)
    )
    starts = switched(home)
    await use(home, "start_washing_machine", inputs(home, ready_by="06:00:00"))
    await press(home)
    await home.at(first + HOUR_S)
    assert starts == [("on", first)]
