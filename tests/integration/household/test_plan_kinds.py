"""Plans by energy, for expensive hours and by a price limit, in Home Assistant."""

from collections.abc import Mapping
from typing import Any

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er

from tests.integration.household.test_diagnostics import ask_calendar
from tests.support.household.home import PLAN_ID, Home, MakeHome, instant
from tunnihind.core.market import HOUR_S

MORNING = "2026-01-14T00:00:00+02:00"
MIDNIGHT = instant(MORNING)
CAR: Mapping[str, Any] = {"energy": 22, "power": 11, "split": False}
DEAR: Mapping[str, Any] = {"kind": "dearest", "duration": 120, "split": False}


def prices(home: Home) -> dict[int, float]:
    return {MIDNIGHT + place * HOUR_S: home.consumer_price(MIDNIGHT + place * HOUR_S) for place in range(24)}


async def test_a_plan_by_energy_shows_its_expected_cost(make_home: MakeHome) -> None:
    home = await make_home(MORNING)
    await home.add(plans={PLAN_ID: CAR})
    begins = instant(home.value("window_start", PLAN_ID))
    assert instant(home.value("window_end", PLAN_ID)) - begins == 2 * HOUR_S
    cost = home.state("sensor", "window_cost", PLAN_ID)
    assert abs(float(cost.state) - 11 * (prices(home)[begins] + prices(home)[begins + HOUR_S])) < 0.01
    assert cost.attributes["p10"] == cost.attributes["p90"] == float(cost.state)
    assert cost.attributes["energy"] == 22
    assert (cost.attributes["device_class"], cost.attributes["unit_of_measurement"]) == ("monetary", "EUR")
    assert "state_class" not in cost.attributes


async def test_a_plan_that_needs_no_energy_is_done(make_home: MakeHome) -> None:
    home = await make_home(MORNING)
    await home.add(plans={PLAN_ID: {**CAR, "energy": 0}})
    window = home.state("binary_sensor", "window", PLAN_ID)
    assert (window.state, window.attributes["reason"]) == ("off", "nothing_needed")
    assert home.value("status", PLAN_ID) == "done"
    assert home.value("window_cost", PLAN_ID) == "unknown"


async def test_only_a_plan_by_energy_has_a_cost_and_only_one_for_cheap_hours_a_saving(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home(MORNING)
    limit = {"kind": "below", "price_cap": 20}
    await home.add(plans={"car": CAR, "dear": DEAR, "limit": limit, "boiler": {"duration": 60}})
    registry = er.async_get(hass)

    def has(plan: str, key: str) -> bool:
        return registry.async_get_entity_id("sensor", "tunnihind", f"{plan}_{key}") is not None

    assert [plan for plan in ("car", "dear", "limit", "boiler") if has(plan, "window_cost")] == ["car"]
    for key in ("window_saving", "window_chance"):
        assert [plan for plan in ("car", "dear", "limit", "boiler") if has(plan, key)] == ["car", "boiler"]


@pytest.mark.parametrize(
    ("language", "entity_id", "cheap"),
    [("et", "binary_sensor.plan_kallis_aeg", "odav"), ("ru", "binary_sensor.plan_window", "дешёв")],
)
async def test_a_window_of_expensive_hours_is_nowhere_called_cheap(
    hass: HomeAssistant, make_home: MakeHome, language: str, entity_id: str, cheap: str
) -> None:
    hass.config.language = language
    home = await make_home(MORNING)
    await home.add(plans={PLAN_ID: DEAR})
    known = prices(home)
    dearest = max(list(known)[:-1], key=lambda start: known[start] + known[start + HOUR_S])
    await home.at(dearest)
    window = home.state("binary_sensor", "window", PLAN_ID)
    assert (window.state, window.entity_id) == ("on", entity_id)
    names = [
        hass.states.get(one.entity_id).name  # type: ignore[union-attr]
        for one in er.async_entries_for_config_entry(er.async_get(hass), home.entry.entry_id)
        if one.unique_id.startswith(PLAN_ID) and hass.states.get(one.entity_id)
    ]
    assert len(names) >= 5
    assert not [name for name in names if cheap in name.lower()]


async def test_energy_of_a_battery_in_expensive_hours_has_a_value_and_no_cost(
    hass: HomeAssistant, make_home: MakeHome
) -> None:
    home = await make_home(MORNING)
    await home.add(plans={PLAN_ID: {"kind": "dearest", "energy": 5, "power": 5}})
    value = home.state("sensor", "window_cost", PLAN_ID)
    assert value.entity_id == "sensor.plan_value_of_the_energy"
    assert abs(float(value.state) - 5 * max(prices(home).values())) < 0.01


async def test_a_plan_that_cannot_be_used_is_unavailable_until_corrected_and_others_work(
    hass: HomeAssistant, make_home: MakeHome, caplog: pytest.LogCaptureFixture
) -> None:
    home = await make_home(MORNING)
    await home.add(plans={"newer": {"kind": "steadiest"}, "broken": {"duration": 7}, PLAN_ID: CAR})
    assert "'steadiest' is not a valid PlanKind" in caplog.text
    assert [home.value("status", plan) for plan in ("newer", "broken", PLAN_ID)] == [
        "unavailable",
        "unavailable",
        "planned",
    ]
    assert home.value("saved_total", PLAN_ID) == "0.0"
    assert home.state("number", "energy", PLAN_ID).state == "22"
    hass.config_entries.async_update_subentry(home.entry, home.entry.subentries["broken"], data={"duration": 120})
    await home.settle()
    assert home.value("status", "broken") == "planned"


async def test_the_calendar_has_a_plan_by_a_price_limit_as_far_as_prices_are_known(make_home: MakeHome) -> None:
    home = await make_home(
        "2026-01-14T18:00:00+02:00", settled_until="2026-01-16T01:00:00+02:00", price_of=lambda _: 50.0
    )
    await home.add(plans={PLAN_ID: {"kind": "below", "price_cap": 10}})
    events = await ask_calendar(home, instant("2026-01-14T12:00:00+02:00"), 60)
    assert [event[1:] for event in events] == [
        (instant("2026-01-14T18:00:00+02:00"), instant("2026-01-16T01:00:00+02:00"))
    ]
