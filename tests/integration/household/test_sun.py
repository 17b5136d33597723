"""The sun in plans of devices: the Energy dashboard's forecast, the home's usual use, and what the plan shows."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from homeassistant.core import CoreState, HomeAssistant

from tests.support.household.automations import restart
from tests.support.household.battery import (
    BATTERY,
    BATTERY_ID,
    GRID,
    ROOF,
    charge,
    count,
    forecast_sun,
    plan_of,
    set_up_dashboard,
)
from tests.support.household.home import DAY_S, PLAN_ID, PUBLISHED_TOMORROW, Home, MakeHome, instant, iso
from tests.support.household.outcomes import window
from tunnihind.core.market import HOUR_S

pytestmark = pytest.mark.usefixtures("recorder_mock")

CAR: Final[Mapping[str, Any]] = {"energy": 8, "power": 4, "split": False}
NOON: Final = instant("2026-01-15T12:00:00+02:00")
SUNNY: Final = {NOON + hour * HOUR_S: 4_500 for hour in range(2)}
"""From noon on, the sun gives 4.5 kWh an hour. The home uses 0.5 kWh of it."""
SELLS: Final = {"selling": {"resolution": "hour", "rows": [{"margin": 1.0}]}}


@pytest.fixture
async def roof(make_home: MakeHome) -> Home:
    """Return a home in the afternoon whose roof gave nothing in the past days, and whose use was 0.5 kWh an hour."""
    home = await make_home("2026-01-14T15:00:00+02:00", PUBLISHED_TOMORROW)
    await put_roof_on(home)
    return home


async def put_roof_on(home: Home) -> None:
    await set_up_dashboard(home.hass, GRID, ROOF)
    for meter, kwh in {"import": 0.5, "export": 0.0, "sun": 0.0}.items():
        await count(home, f"sensor.{meter}", lambda _, kwh=kwh: kwh)  # type: ignore[misc]


def planned(home: Home) -> tuple[int, Mapping[str, Any]]:
    """Return when the plan's window starts, and the attributes of its expected cost."""
    start = window(home.entry.runtime_data.planner.outcomes[PLAN_ID]).start
    return start, home.state("sensor", "window_cost", PLAN_ID).attributes


def wh_hours(energies: Mapping[int, float]) -> Mapping[str, Any]:
    """Return the answer of an integration that forecasts the sun."""
    return {"wh_hours": {iso(start): wh for start, wh in energies.items()}}


async def test_a_plan_runs_in_the_sun_and_says_how_much_of_its_energy_it_is(hass: HomeAssistant, roof: Home) -> None:
    forecast_sun(hass, SUNNY)
    await roof.add(plans={PLAN_ID: CAR})
    start, cost = planned(roof)
    assert (start, cost["energy"], cost["sun_energy"]) == (NOON, 8, 8)
    assert float(roof.value("window_cost", PLAN_ID)) == 0
    assert float(roof.value("window_average", PLAN_ID)) == 0


async def test_the_sun_costs_what_it_would_have_sold_for(hass: HomeAssistant, roof: Home) -> None:
    forecast_sun(hass, dict.fromkeys(SUNNY, 2_500))
    await roof.add(plans={PLAN_ID: {**CAR, "earliest": "12:00:00", "deadline": "14:00:00"}}, options=SELLS)
    _, cost = planned(roof)
    bought = sum(roof.consumer_price(hour) for hour in SUNNY)
    sold = sum(float(roof.entry.runtime_data.selling_prices.timeline.period_at(hour).price) for hour in SUNNY)
    assert 0 < sold < bought
    assert cost["sun_energy"] == 4
    assert float(roof.value("window_cost", PLAN_ID)) == pytest.approx(2 * sold + 2 * bought, abs=0.0001)


@pytest.mark.parametrize("form", [
    {"duration": 120, "split": False},
    {**CAR, "kind": "dearest"},
])  # fmt: skip
async def test_other_plans_know_no_sun(hass: HomeAssistant, roof: Home, form: Mapping[str, Any]) -> None:
    asked = forecast_sun(hass, None)
    await roof.add(plans={PLAN_ID: form})
    before = window(roof.entry.runtime_data.planner.outcomes[PLAN_ID])
    asked.return_value = wh_hours(SUNNY)
    await roof.at(roof.now + HOUR_S // 4)
    assert roof.entry.runtime_data.surplus_reader.surplus_kw == dict.fromkeys(SUNNY, 4.0)
    after = window(roof.entry.runtime_data.planner.outcomes[PLAN_ID])
    assert (after.pieces, after.average, after.sun_kwh) == (before.pieces, before.average, None)


@pytest.mark.parametrize("missing", ["forecast", "a meter", "the dashboard"])
async def test_what_is_missing_is_no_error_and_changes_nothing(
    hass: HomeAssistant, roof: Home, caplog: pytest.LogCaptureFixture, missing: str
) -> None:
    forecast_sun(hass, None if missing == "forecast" else SUNNY)
    if missing != "forecast":
        await set_up_dashboard(hass, *([ROOF] if missing == "a meter" else []))
    await roof.add(plans={PLAN_ID: CAR})
    start, cost = planned(roof)
    assert start == min(
        range(roof.now, roof.now + 23 * HOUR_S, HOUR_S),
        key=lambda at: roof.consumer_price(at) + roof.consumer_price(at + HOUR_S),
    )
    assert "sun_energy" not in cost
    assert "tunnihind" not in "".join(one.name for one in caplog.records if one.levelname == "ERROR")


async def test_a_new_forecast_moves_the_window(hass: HomeAssistant, roof: Home) -> None:
    asked = forecast_sun(hass, SUNNY)
    await roof.add(plans={PLAN_ID: CAR})
    asked.return_value = wh_hours({start - 3 * HOUR_S: wh for start, wh in SUNNY.items()})
    await roof.at(roof.now + HOUR_S // 4)
    assert planned(roof)[0] == NOON - 3 * HOUR_S


async def test_a_window_stays_in_the_sun_over_a_restart_while_the_forecast_is_not_there_yet(
    hass: HomeAssistant, roof: Home
) -> None:
    asked = forecast_sun(hass, SUNNY)
    await roof.add(plans={PLAN_ID: CAR})
    asked.return_value = None
    await restart(roof)
    await roof.at(roof.now + HOUR_S)
    start, cost = planned(roof)
    assert (start, cost["sun_energy"]) == (NOON, 8)


async def test_a_roof_that_leaves_the_dashboard_counts_no_more(hass: HomeAssistant, roof: Home) -> None:
    forecast_sun(hass, SUNNY)
    await roof.add(plans={PLAN_ID: CAR})
    await set_up_dashboard(hass, GRID)
    await roof.at(roof.now + HOUR_S // 4)
    start, cost = planned(roof)
    assert start != NOON
    assert "sun_energy" not in cost


async def test_a_running_window_still_shows_the_sun_of_its_past_hours(hass: HomeAssistant, roof: Home) -> None:
    forecast_sun(hass, SUNNY)
    await roof.add(plans={PLAN_ID: CAR})
    await roof.at(NOON + HOUR_S + HOUR_S // 2)
    assert roof.is_on("window", PLAN_ID)
    assert planned(roof)[1]["sun_energy"] == 8


async def test_the_sun_of_a_week_is_kept_for_a_window_of_a_week(hass: HomeAssistant, roof: Home) -> None:
    forecast_sun(hass, SUNNY)
    await roof.add(plans={PLAN_ID: CAR})
    reader = roof.entry.runtime_data.surplus_reader
    of_window, too_old = NOON - 7 * DAY_S, NOON - 10 * DAY_S
    reader.surplus_kw = {of_window: 1.0, too_old: 1.0, **reader.surplus_kw}
    await roof.at(roof.now + HOUR_S // 4)
    assert reader.surplus_kw == {of_window: 1.0, **dict.fromkeys(SUNNY, 4.0)}


async def test_the_sources_of_a_battery_count_for_devices_too(hass: HomeAssistant, make_home: MakeHome) -> None:
    home = await make_home("2026-01-14T15:00:00+02:00", PUBLISHED_TOMORROW)
    charge(hass, 50)
    await count(home, "sensor.load")
    hass.states.async_set("sensor.forecast", "9", {"wh_period": {iso(start): wh for start, wh in SUNNY.items()}})
    battery = {**BATTERY, "sun_forecast": "sensor.forecast"}
    await home.add(plans={PLAN_ID: CAR}, batteries={BATTERY_ID: battery})
    start, cost = planned(home)
    assert (start, cost["sun_energy"]) == (NOON, 8)
    steps = plan_of(home).steps
    surplus = {start: -use for start, use in zip(steps.starts.tolist(), steps.use_kw.tolist(), strict=True) if use < 0}
    assert home.entry.runtime_data.surplus_reader.surplus_kw == surplus


async def test_nothing_is_read_until_home_assistant_has_started(hass: HomeAssistant, roof: Home) -> None:
    asked = forecast_sun(hass, SUNNY)
    hass.set_state(CoreState.starting)
    await roof.add(plans={PLAN_ID: CAR})
    asked.assert_not_awaited()
    hass.set_state(CoreState.running)
    await roof.at(roof.now + HOUR_S // 4)
    assert planned(roof)[0] == NOON


async def test_a_rehearsal_has_the_sun_of_the_present_by_the_clock_of_its_day(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home(
        "2026-01-14T15:00:00+02:00", "2026-01-14T01:00:00+02:00", ahead_s=-2 * DAY_S, mode="rehearsal"
    )
    await put_roof_on(home)
    forecast_sun(hass, SUNNY)
    await home.add(plans={PLAN_ID: CAR}, rehearsal=True)
    start, cost = planned(home)
    assert (start, cost["sun_energy"]) == (NOON - 2 * DAY_S, 8)
