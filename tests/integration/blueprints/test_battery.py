"""The home battery that is charged at the cheapest and discharged at the most expensive time."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from homeassistant.core import Event, HomeAssistant, callback

from tests.support.household.automations import restart
from tests.support.household.blueprints import rings_between_steps, use, use_from_a_start_on, window_of
from tests.support.household.home import Home, MakeHome, PriceOf, instant
from tunnihind.core.market import HOUR_S, QUARTER_S

NOON: Final = instant("2026-01-14T12:00:00+02:00")
EVENING: Final = instant("2026-01-14T15:00:00+02:00")
PLANS: Final[dict[str, dict[str, Any]]] = {
    "charge": {"duration": 120, "split": False},
    "discharge": {"kind": "dearest", "duration": 60, "split": False},
}
INVERTER: Final = "sensor.inverter"


def market(cheap: float = 10.0, dear: float = 300.0) -> PriceOf:
    """Return a market that is cheap for two hours from noon and expensive for an hour from three in the afternoon."""
    return lambda start: {NOON: cheap, NOON + HOUR_S: cheap, EVENING: dear}.get(start, 100.0)


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    home = await make_home(price_of=market())
    await home.add(plans=PLANS)
    return home


def inputs(home: Home, **more: Any) -> dict[str, Any]:  # noqa: ANN401, values of any input
    return {
        **{f"{plan}_window": window_of(home, plan) for plan in PLANS},
        **{mode: [{"event": "battery", "event_data": {"mode": mode}}] for mode in ("charge", "discharge", "rest")},
        **more,
    }


def prices(home: Home) -> dict[str, str]:
    """Return the inputs that name the average prices of both windows."""
    return {f"{plan}_price": home.state("sensor", "window_average", plan).entity_id for plan in PLANS}


async def live_until(home: Home, end: int) -> None:
    """Move time on, with the second after each quarter in which the automation waits for all changes."""
    while home.now < end:
        await home.at(home.now - home.now % QUARTER_S + QUARTER_S)
        await home.at(home.now + 1)


@pytest.fixture
def told(hass: HomeAssistant) -> list[tuple[str, int]]:
    """Return a list that collects the battery's commands, with their quarter."""
    told: list[tuple[str, int]] = []

    @callback
    def tell(event: Event[Mapping[str, Any]]) -> None:
        at = int(event.time_fired_timestamp)
        told.append((event.data["mode"], at - at % QUARTER_S))

    hass.bus.async_listen("battery", tell)
    return told


A_DAY: Final = [
    ("charge", NOON),
    ("rest", NOON + 2 * HOUR_S),
    ("discharge", EVENING),
    ("rest", EVENING + HOUR_S),
]


async def test_the_battery_charges_at_the_cheapest_and_discharges_at_the_dearest_time(
    home: Home, told: list[tuple[str, int]]
) -> None:
    await use(home, "run_battery", inputs(home))
    await live_until(home, EVENING + 2 * HOUR_S)
    assert told == A_DAY


@pytest.mark.parametrize(("cheap", "charges"), [(90.0, False), (40.0, True)], ids=["not worth it", "worth it"])
async def test_the_battery_charges_only_if_the_difference_is_worth_it(
    make_home: MakeHome, told: list[tuple[str, int]], cheap: float, *, charges: bool
) -> None:
    home = await make_home(price_of=market(cheap, 105.0))
    await home.add(plans=PLANS)
    await use(home, "run_battery", inputs(home, **prices(home)))
    await live_until(home, EVENING + 2 * HOUR_S)
    assert told == [("charge" if charges else "rest", NOON), *A_DAY[1:]]


async def test_the_battery_rests_while_both_windows_run(make_home: MakeHome, told: list[tuple[str, int]]) -> None:
    home = await make_home(price_of=market(100.0, 100.0))
    await home.add(
        plans={name: {**plan, "earliest": "12:00:00", "deadline": "20:00:00"} for name, plan in PLANS.items()}
    )
    await use(home, "run_battery", inputs(home))
    await live_until(home, NOON + HOUR_S // 2)
    assert {mode for mode, _ in told} == {"rest"}


async def test_a_start_within_a_window_goes_on_with_it(home: Home, told: list[tuple[str, int]]) -> None:
    await live_until(home, NOON + HOUR_S)
    await use_from_a_start_on(home, "run_battery", inputs(home))
    await home.at(home.now + 1)
    assert told[-1] == ("charge", NOON + HOUR_S)


async def test_the_battery_rests_if_a_window_ended_during_a_restart(home: Home, told: list[tuple[str, int]]) -> None:
    await use(home, "run_battery", inputs(home))
    await live_until(home, NOON + HOUR_S)
    await restart(home, at=NOON + 2 * HOUR_S + 1800)
    await home.at(home.now + 1)
    assert [mode for mode, _ in told][-1] == "rest"


@rings_between_steps
@pytest.mark.parametrize("how", ["unloaded", "removed"])
async def test_the_battery_rests_if_the_plans_are_lost(home: Home, told: list[tuple[str, int]], how: str) -> None:
    await use(home, "run_battery", inputs(home))
    await live_until(home, NOON + HOUR_S)
    entries = home.hass.config_entries
    await (entries.async_unload if how == "unloaded" else entries.async_remove)(home.entry.entry_id)
    await live_until(home, NOON + HOUR_S + QUARTER_S)
    # Both windows are lost, one after the other.
    assert told == [("charge", NOON), *[("rest", NOON + HOUR_S + QUARTER_S)] * 2]


async def test_a_battery_that_missed_the_start_charges_when_it_is_back(
    hass: HomeAssistant, home: Home, told: list[tuple[str, int]]
) -> None:
    hass.states.async_set(INVERTER, "unavailable")
    await use(home, "run_battery", inputs(home, battery=INVERTER))
    await live_until(home, NOON + HOUR_S)
    hass.states.async_set(INVERTER, "charging")
    await home.at(home.now + 1)
    assert told == [("charge", NOON), ("charge", NOON + HOUR_S)]
