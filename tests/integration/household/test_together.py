"""Plans that share a fuse, in Home Assistant: over one entry and two, with an automation's changes, and a battery."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from homeassistant.exceptions import ServiceValidationError

from custom_components.tunnihind.const import DOMAIN
from tests.integration.flows.test_plan_notes import PLAN, notes_of_new_plan
from tests.support.household.automations import restart
from tests.support.household.battery import BATTERY, BATTERY_ID, LOAD, charge, count, plan_of
from tests.support.household.home import PUBLISHED_TODAY, Home, MakeHome, instant
from tests.support.household.outcomes import window
from tests.support.household.steering import call
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.settings import Settings

EVENING: Final = "2026-01-13T23:00:00+02:00"
NIGHT: Final = instant("2026-01-14T00:00:00+02:00")
CAR: Final[Mapping[str, Any]] = {"energy": 8, "power": 4, "split": False, "group": "Fuse", "priority": 1}
BOILER: Final[Mapping[str, Any]] = {"duration": 120, "power": 2, "split": False, "group": "fuse "}


def cheap_at_two(start: int) -> float:
    """Return a price that rises with the distance from 2:00, and faster in the morning."""
    later = (start - NIGHT) // HOUR_S - 2
    return 20 + (later * 30 if later > 0 else later * -25)


def hours(home: Home, plan: str, entry_id: str = "entry") -> list[tuple[float, float]]:
    """Return the pieces of a plan's window in hours after midnight."""
    entry = home.hass.config_entries.async_get_known_entry(entry_id)
    pieces = window(entry.runtime_data.planner.outcomes[plan]).pieces
    return [((start - NIGHT) / HOUR_S, (end - NIGHT) / HOUR_S) for start, end in pieces]


def attributes(home: Home, plan: str) -> Mapping[str, Any]:
    return home.state("binary_sensor", "window", plan).attributes


async def change(home: Home, *plans: str, **fields: Any) -> None:  # noqa: ANN401  any field
    windows = [home.state("binary_sensor", "window", plan).entity_id for plan in plans]
    await call(home, "tunnihind.update_plan", entity_id=windows, **fields)


@pytest.fixture
async def home(make_home: MakeHome) -> Home:
    home = await make_home(EVENING, PUBLISHED_TODAY, price_of=cheap_at_two, settings=Settings(zones=("ee", "lv")))
    await home.add(plans={"car": CAR, "boiler": BOILER})
    return home


async def test_plans_of_a_group_never_run_at_once_and_say_what_gave_way(home: Home) -> None:
    assert (hours(home, "car"), hours(home, "boiler")) == ([(2, 4)], [(0, 2)])
    assert attributes(home, "boiler")["gave_way_to"] == ["Car"]
    assert attributes(home, "car")["gave_way_to"] == ["Boiler"]
    for quarter in range(NIGHT, NIGHT + 5 * HOUR_S, QUARTER_S):
        await home.at(quarter)
        running = [plan for plan in ("car", "boiler") if home.is_on("window", plan)]
        hour = (quarter - NIGHT) / HOUR_S
        assert running == (["boiler"] if hour < 2 else ["car"] if hour < 4 else [])


async def test_a_plan_without_a_group_says_nothing_of_others(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add()
    assert "gave_way_to" not in attributes(home, "plan")


async def test_a_plan_that_is_switched_off_leaves_its_room(home: Home) -> None:
    await change(home, "car", enabled=False)
    assert hours(home, "boiler") == [(1, 3)]
    assert attributes(home, "boiler")["gave_way_to"] == []
    await change(home, "car", enabled=True)
    assert (hours(home, "car"), hours(home, "boiler")) == ([(2, 4)], [(0, 2)])


async def test_an_automation_puts_plans_into_a_group_with_a_limit(home: Home) -> None:
    await change(home, "car", "boiler", group_limit=6)
    assert (hours(home, "car"), hours(home, "boiler")) == ([(1, 3)], [(1, 3)])
    await change(home, "car", group_limit=5.5)
    assert len({*hours(home, "car"), *hours(home, "boiler")}) == 2
    await change(home, "car", "boiler", clear=["group_limit"])
    await change(home, "boiler", group=None, power=None)
    assert hours(home, "boiler") == [(1, 3)]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"group": None}, "energy: give the energy in kWh"),
        ({"group_limit": 1.5}, "power: a plan of the group uses 2 kW, more than the limit of 1.5 kW"),
        ({"group_limit": 3}, "group_limit: a plan of the group uses 4 kW, more than the limit of 3 kW"),
        ({"group_limit": 3, "power": None}, "power: give the device's power in kW, because its group has a limit"),
        ({"priority": 10}, "priority: 10 is not between 1 and 9"),
        ({"group": None, "power": None, "priority": 2}, "priority: only a plan of a group has this setting"),
    ],
)
async def test_a_misfit_is_refused_by_its_field(home: Home, fields: Mapping[str, Any], says: str) -> None:
    with pytest.raises(ServiceValidationError, match=says):
        await change(home, "boiler", **fields)
    assert hours(home, "boiler") == [(0, 2)]


async def test_a_limit_needs_the_power_of_all_plans(make_home: MakeHome) -> None:
    home = await make_home()
    await home.add(plans={"car": CAR, "boiler": {**BOILER, "power": None}})
    with pytest.raises(ServiceValidationError, match="group_limit: these plans of the group have no power: Boiler"):
        await change(home, "car", group_limit=7)
    await change(home, "car", "boiler", group_limit=7, power=3)


async def test_a_fifth_plan_is_refused_also_of_another_entry(home: Home) -> None:
    await home.add(zone="LV", entry_id="second", plans={name: {**BOILER, "duration": 60} for name in ("a", "b", "c")})
    await change(home, "c", duration="00:30:00")  # what is wrong already may stay in other fields
    with pytest.raises(ServiceValidationError, match="group: 4 plans have this group already"):
        await change(home, "c", group="FUSE")
    await change(home, "c", group="garage")
    with pytest.raises(ServiceValidationError, match="group: 4 plans have this group already"):
        await change(home, "c", group="FUSE")


async def test_plans_of_two_entries_are_planned_together(home: Home) -> None:
    await change(home, "car", enabled=False)
    assert hours(home, "boiler") == [(1, 3)]
    updates = []
    home.entry.runtime_data.async_add_listener(lambda: updates.append(home.now))
    await home.add(zone="LV", entry_id="second", plans={"garage": {**CAR, "power": 8}})
    assert (hours(home, "garage", "second"), hours(home, "boiler")) == ([(2, 3)], [(0, 2)])
    assert attributes(home, "boiler")["gave_way_to"] == ["Garage"]
    assert len(updates) <= 2
    # A change in one entry moves the plan of the other.
    await change(home, "garage", energy=16)
    assert (hours(home, "garage", "second"), hours(home, "boiler")) == ([(2, 4)], [(0, 2)])
    await change(home, "garage", energy=0)
    assert attributes(home, "boiler")["gave_way_to"] == []
    await home.hass.config_entries.async_unload("second")
    assert "second" not in home.hass.data[f"{DOMAIN}_planners"]


async def test_the_limit_holds_over_two_entries_in_each_quarter_of_a_day(make_home: MakeHome) -> None:
    home = await make_home(EVENING, PUBLISHED_TODAY, settings=Settings(zones=("ee", "lv")))
    powers = {"car": 4, "boiler": 2, "garage": 3, "heating": 2.5}
    every = {"group": "fuse", "group_limit": 6, "horizon": "expected"}
    split = {"split": True, "min_piece": 30, **every}
    await home.add(plans={"car": {"energy": 16, "power": 4, **split}, "boiler": {"duration": 240, "power": 2, **split}})
    await home.add(
        zone="LV",
        entry_id="second",
        plans={
            "garage": {"energy": 9, "power": 3, "priority": 1, **every},
            "heating": {"kind": "below", "price_cap": 6, "power": 2.5, **every},
        },
    )
    most = 0.0
    for quarter in range(NIGHT, NIGHT + 6 * HOUR_S, QUARTER_S):
        await home.at(quarter)
        hour, minute = divmod((quarter - NIGHT) // QUARTER_S, 4)
        if minute == 1 and hour in {2, 9, 15}:
            await change(home, "car", energy=hour * 2)
        if minute == 2 and hour in {3, 11, 18}:
            await change(home, "garage", energy=hour)
            await change(home, "boiler", enabled=hour != 11)
        running = [power for plan, power in powers.items() if home.is_on("window", plan)]
        assert sum(running) <= 6, quarter
        most = max(most, sum(running))
    assert most > 4


async def test_after_a_restart_the_plans_stay_where_they_were(home: Home) -> None:
    await home.at(NIGHT + HOUR_S)
    await restart(home)
    assert (hours(home, "car"), hours(home, "boiler")) == ([(2, 4)], [(0, 2)])


async def test_a_plan_that_leaves_a_group_gives_its_room_to_other_entries_at_once(home: Home) -> None:
    await change(home, "boiler", enabled=False)
    await home.add(zone="LV", entry_id="second", plans={"garage": {**BOILER, "priority": 9}})
    assert hours(home, "garage", "second") == [(0, 2)]
    await change(home, "car", group="Garage")
    await home.settle()
    assert hours(home, "garage", "second") == [(1, 3)]
    await change(home, "car", group="Fuse")
    await home.settle()
    assert hours(home, "garage", "second") == [(0, 2)]
    entries = home.hass.config_entries
    entries.async_remove_subentry(entries.async_get_known_entry("entry"), "car")
    await home.settle()
    assert hours(home, "garage", "second") == [(1, 3)]


async def test_the_form_says_to_which_plan_a_new_one_gives_way(home: Home) -> None:
    await change(home, "boiler", enabled=False)
    together, when = {"group": "Fuse", "power": 1}, {**PLAN["when"], "deadline": "07:00:00"}
    fields: dict[str, Any] = {
        "duration": {"hours": 1},
        "pieces": {"split": "one_piece"},
        "when": when,
        "together": together,
    }
    assert await notes_of_new_plan(home, name="Pump", **fields) == "The plan gave way to: Car."
    [pump] = home.entry.subentries.keys() - {"car", "boiler"}
    assert attributes(home, pump)["gave_way_to"] == ["Car"]


@pytest.mark.parametrize(
    ("together", "error"),
    [
        ({"priority": 1}, "only_in_group"),
        ({"power": 1}, "only_in_group"),
        ({"group": " ", "group_limit": 5}, "only_in_group"),
        ({"group": "Fuse", "group_limit": 5}, "power_needed_in_group"),
        ({"group": "Fuse", "group_limit": 3, "power": 5}, "power_above_limit"),
        ({"group": "Fuse", "group_limit": 3, "power": 1}, "power_above_limit"),  # of the car
        ({"group": "Fuse", "power": 1}, "group_full"),
    ],
)
async def test_the_form_refuses_a_plan_that_does_not_fit_its_group(
    home: Home, together: Mapping[str, Any], error: str
) -> None:
    if error == "group_full":
        await home.add(zone="LV", entry_id="second", plans={"third": BOILER, "fourth": BOILER})
    flows = home.hass.config_entries.subentries
    form = await flows.async_init(("entry", "plan"), context={"source": "user"})
    form = await flows.async_configure(form["flow_id"], {"kind": "cheapest"})
    form = await flows.async_configure(form["flow_id"], {**PLAN, "name": "Pump", "together": together})
    assert form["errors"] == {"together": error}


@pytest.mark.usefixtures("recorder_mock")
async def test_a_battery_charges_from_the_grid_in_the_room_that_is_left(make_home: MakeHome) -> None:
    home = await make_home(EVENING, PUBLISHED_TODAY, price_of=cheap_at_two)
    charge(home.hass, 20)
    await count(home, LOAD)
    battery = {**BATTERY, "group": "FUSE"}
    await home.add(plans={"car": {**CAR, "group_limit": 6}}, batteries={BATTERY_ID: battery})
    assert hours(home, "car") == [(1, 3)]

    def charging() -> list[float]:
        plan = plan_of(home)
        powers = dict(zip(plan.steps.starts.tolist(), plan.course.power_kw.tolist(), strict=True))
        return [round(max(powers[NIGHT + hour * HOUR_S], 0), 3) for hour in range(5)]

    assert max(charging()[1:3]) <= 2
    assert max(charging()) > 2
    await change(home, "car", group_limit=None)
    await home.settle()
    assert max(charging()[1:3]) == 0
    await change(home, "car", enabled=False)
    await home.settle()
    assert charging()[2] == 5
