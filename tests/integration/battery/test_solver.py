"""The cheapest course of a battery: beside an independent solver, beside a search of all courses, and by hand."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.battery.battery import Battery, Course, Steps, Target
from custom_components.tunnihind.battery.solver import cheapest_course, course_cost
from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from tests.support.battery.homes import START, Home, random_home
from tests.support.battery.independent import LACKING, least_cost

PLAIN = Battery(charge_kw=2, discharge_kw=2, efficiency=1, wear=0, lowest_kwh=0, highest_kwh=4)
SEEDS = st.integers(0, 2**32 - 1)


def course_of(home: Home, **changes: object) -> Course:
    home = replace(home, **changes)  # type: ignore[arg-type]
    return cheapest_course(home.battery, home.steps, home.stored_kwh, end_worth=home.end_worth, targets=home.targets)


def hours(buying: Sequence[float], selling: Sequence[float] | float, use_kw: Sequence[float] | float) -> Steps:
    count = len(buying)
    return Steps(
        START + np.arange(count) * HOUR_S,
        START + count * HOUR_S,
        np.array(buying),
        np.broadcast_to(np.array(selling, dtype=float), count),
        np.broadcast_to(np.array(use_kw, dtype=float), count),
    )


def powers(battery: Battery, steps: Steps, stored_kwh: float, end_worth: float = 0, *targets: Target) -> list[float]:
    course = cheapest_course(battery, steps, stored_kwh, end_worth=end_worth, targets=targets)
    return [round(power, 9) + 0 for power in course.power_kw.tolist()]


@pytest.mark.parametrize("seed", range(100))
def test_costs_as_much_as_by_an_independent_solver(seed: int) -> None:
    home = random_home(seed)
    course = course_of(home)
    theirs = least_cost(
        home.battery, home.steps, home.stored_kwh, end_worth=home.end_worth, targets=home.targets, gap=1e-7
    )
    # Far within .1 % of the saving or half a cent.
    assert course.cost + LACKING * home.lacking(course.stored_kwh) == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("seed", range(30))
def test_the_room_that_plans_of_devices_leave_costs_as_much_as_by_an_independent_solver(seed: int) -> None:
    home = random_home(seed)
    random = np.random.default_rng(seed)
    room_kw = random.choice([0.0, home.battery.charge_kw / 3, np.inf], len(home.steps.starts))
    steps = replace(home.steps, room_kw=room_kw)
    course = course_of(home, steps=steps)
    theirs = least_cost(home.battery, steps, home.stored_kwh, end_worth=home.end_worth, targets=home.targets, gap=1e-7)
    assert course.cost + LACKING * home.lacking(course.stored_kwh) == pytest.approx(theirs, abs=1e-4)
    assert (course.power_kw <= np.maximum(room_kw, -steps.use_kw) + 1e-6).all()


def test_the_random_homes_have_all_that_a_market_may_bring() -> None:
    homes = [random_home(seed) for seed in range(100)]
    assert {23, 25, 92, 100} <= {len(home.steps.starts) for home in homes}
    assert sum(bool((home.steps.buying < 0).any()) for home in homes) >= 20
    assert sum(bool((home.steps.selling > home.steps.buying).any()) for home in homes) >= 10
    assert sum(bool(home.targets) for home in homes) >= 20
    assert sum(not home.battery.charges_from_grid for home in homes) >= 10
    assert sum(not home.battery.sells for home in homes) >= 10


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_course_keeps_powers_and_bounds(seed: int) -> None:
    home = random_home(seed)
    battery, use = home.battery, home.steps.use_kw
    course = course_of(home)
    power, tiny = course.power_kw, 1e-6
    charged = battery.charge_kw if battery.charges_from_grid else np.minimum(battery.charge_kw, np.maximum(-use, 0))
    discharged = battery.discharge_kw if battery.sells else np.minimum(battery.discharge_kw, np.maximum(use, 0))
    assert (power <= charged + tiny).all()
    assert (-power <= discharged + tiny).all()
    assert (course.stored_kwh >= battery.lowest_kwh - tiny).all()
    assert (course.stored_kwh <= battery.highest_kwh + tiny).all()


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_a_course_costs_what_its_powers_cost(seed: int) -> None:
    home = random_home(seed)
    battery, steps = home.battery, home.steps
    course = course_of(home)
    stored, cost = home.stored_kwh, 0.0
    for start, end, buying, selling, use, power, stored_after in zip(
        *(steps.starts, home.ends(), steps.buying, steps.selling, steps.use_kw, course.power_kw, course.stored_kwh),
        strict=True,
    ):
        kwh = power * (end - start) / HOUR_S
        grid_kwh = kwh + use * (end - start) / HOUR_S
        stored += kwh * battery.efficiency**0.5 if power > 0 else kwh / battery.efficiency**0.5
        cost += grid_kwh * (buying if grid_kwh > 0 else selling) + battery.wear * max(-kwh, 0)
        assert stored_after == pytest.approx(stored, abs=1e-9)
    assert course.cost == pytest.approx(cost - home.end_worth * stored, abs=1e-9)


FREEDOMS = [
    ("charges_from_grid", True),
    ("sells", True),
    ("charge_kw", 8.0),
    ("discharge_kw", 8.0),
    ("highest_kwh", 40.0),
    ("wear", 0.0),
]


@pytest.mark.parametrize(("name", "value"), FREEDOMS)
@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_more_freedom_never_costs_more(name: str, value: float, seed: int) -> None:
    home = random_home(seed)
    freer = replace(home.battery, **{name: value})  # type: ignore[arg-type]
    bound = course_of(home)
    free = course_of(home, battery=freer)
    # A target is met as far as possible, at whatever cost.
    assert free.cost + 1000 * home.lacking(free.stored_kwh) <= bound.cost + 1000 * home.lacking(bound.stored_kwh) + 1e-4


WHOLE = st.integers(-3, 3)


@st.composite
def whole_homes(draw: st.DrawFn) -> Home:
    """Draw a home of which the cheapest course stores whole kWh: 4 kWh charged are 2 stored, and give 1 back."""
    count = draw(st.integers(0, 5))
    lists = st.lists(WHOLE, min_size=count, max_size=count)
    steps = hours(draw(lists), draw(lists), draw(lists)) if count else hours([], [], [])
    uses = [2.0 * use if use < 0 else use / 2 for use in steps.use_kw]
    lowest = draw(st.integers(0, 2))
    battery = Battery(
        charge_kw=draw(st.sampled_from([2, 4])),
        discharge_kw=draw(st.sampled_from([0.5, 1])),
        efficiency=0.25,
        wear=draw(st.sampled_from([0, 1])),
        lowest_kwh=lowest,
        highest_kwh=lowest + draw(st.integers(0, 4)),
        charges_from_grid=draw(st.booleans()),
        sells=draw(st.booleans()),
    )
    targets = [Target(START + draw(st.integers(1, count)) * HOUR_S, draw(st.integers(0, 7)))] if count else []
    return Home(
        battery=battery,
        steps=replace(steps, use_kw=np.array(uses)),
        stored_kwh=draw(st.integers(0, 8)),
        end_worth=draw(WHOLE),
        targets=draw(st.sampled_from([[], targets])),
    )


def cost_by_search(home: Home) -> float:
    """Return the cost of the cheapest of all courses in whole stored kWh, with 1000 EUR for a kWh that targets lack."""
    battery, steps, ends = home.battery, home.steps, home.ends()

    @lru_cache
    def cost(place: int, stored: int) -> float:
        if place == len(steps.starts):
            return -home.end_worth * stored
        use, costs = steps.use_kw[place], []
        for change in range(-2, 3):
            power, after = change * (2 if change > 0 else 0.5), stored + change
            if power > (battery.charge_kw if battery.charges_from_grid else min(battery.charge_kw, max(-use, 0))):
                continue
            if -power > (battery.discharge_kw if battery.sells else min(battery.discharge_kw, max(use, 0))):
                continue
            if (change > 0 and after > battery.highest_kwh) or (change < 0 and after < battery.lowest_kwh):
                continue
            grid = use + power
            lacking = sum(max(target.stored_kwh - after, 0) for target in home.targets if target.at == ends[place])
            paid = grid * (steps.buying[place] if grid > 0 else steps.selling[place]) - battery.wear * min(power, 0)
            costs.append(paid + 1000 * lacking + cost(place + 1, after))
        return float(min(costs))

    return cost(0, int(home.stored_kwh))


@given(whole_homes())
@settings(max_examples=250, deadline=None)
def test_no_course_in_whole_kwh_costs_less(home: Home) -> None:
    """The energy at first may be outside the battery's bounds, too."""
    course = course_of(home)
    lacking = home.lacking(course.stored_kwh) if home.targets else 0
    assert course.cost + 1000 * lacking == pytest.approx(cost_by_search(home), abs=1e-5)


@given(whole_homes())
@settings(max_examples=100, deadline=None)
def test_a_battery_outside_its_bounds_only_comes_back(home: Home) -> None:
    before = np.append(home.stored_kwh, course_of(home).stored_kwh)[:-1]
    after = course_of(home).stored_kwh
    assert (after <= np.maximum(before, home.battery.highest_kwh) + 1e-9).all()
    assert (after >= np.minimum(before, home.battery.lowest_kwh) - 1e-9).all()


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_worth_now_is_what_one_more_stored_kwh_saves(seed: int) -> None:
    home = replace(random_home(seed), targets=[])
    middle = (home.battery.lowest_kwh + home.battery.highest_kwh) / 2 + 0.01234
    less, more = (course_of(home, stored_kwh=stored) for stored in (middle, middle + 1e-4))
    assert less.worth_now == pytest.approx((less.cost - more.cost) / 1e-4, abs=2e-3)


def test_surplus_sun_is_stored_when_selling_pays_least() -> None:
    steps = hours([0.2] * 6, [0.05, 0.04, 0.01, 0.02, 0.05, 0.05], [-2, -2, -2, -2, 2, 2])
    assert powers(PLAIN, steps, 0) == [0, 0, 2, 2, -2, -2]


def test_room_is_left_for_the_sun() -> None:
    steps = hours([0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.3], 0.01, [1, -2, 0, 1, 1, 1, 1])
    assert powers(PLAIN, steps, 0) == [2, 2, 0, -1, -1, -1, -1]


def test_a_cheap_hour_fills_the_battery_for_dear_hours() -> None:
    assert powers(PLAIN, hours([0.3, 0.1, 0.2, 0.4], 0.0, 1), 1) == [-1, 2, -1, -1]


def test_a_battery_rests_if_the_gain_does_not_pay_its_wear() -> None:
    steps = hours([0.1, 0.2], 0.0, [0, 1])
    assert powers(replace(PLAIN, wear=0.09), steps, 0) == [1, -1]
    assert powers(replace(PLAIN, wear=0.11), steps, 0) == [0, 0]


def test_nothing_is_burned_at_negative_prices() -> None:
    """A full battery can take more only after it has given some: never in the same hour."""
    lossy = replace(PLAIN, efficiency=0.25)
    assert powers(lossy, hours([-0.1], -0.1, 1), 4) == [0]
    assert powers(lossy, hours([-0.1, -0.2], -0.1, 1), 4) == [-0.5, 2]


def test_nothing_is_bought_to_be_sold_in_the_same_hour() -> None:
    assert powers(PLAIN, hours([0.1], 0.3, 1), 0) == [0]
    assert powers(PLAIN, hours([0.1], 0.3, 1), 4) == [-2]


def test_a_target_is_kept_at_the_least_cost() -> None:
    steps = hours([0.3, 0.1, 0.2, 0.2], 0.0, 0)
    assert powers(PLAIN, steps, 0, 0, Target(START + 3 * HOUR_S, 3)) == [0, 2, 1, 0]


def test_a_target_out_of_reach_is_met_as_far_as_possible() -> None:
    steps = hours([0.3, 0.1, 0.2], 0.0, 0)
    course = cheapest_course(PLAIN, steps, 1, end_worth=0, targets=[Target(START + HOUR_S, 4)])
    assert course.stored_kwh[0] == pytest.approx(3)
    assert course.worth_now < 1


def test_a_target_within_a_step_counts_at_the_end_of_the_step_before() -> None:
    steps = hours([0.3, 0.3, 0.1], 0.0, 0)
    assert powers(PLAIN, steps, 0, 0, Target(START + 2 * HOUR_S + 60, 2))[2] == 0


@pytest.mark.parametrize("at", [START - HOUR_S, START, START + 4 * HOUR_S])
def test_a_target_at_another_time_counts_for_nothing(at: int) -> None:
    assert powers(PLAIN, hours([0.3, 0.1, 0.2], 0.0, 0), 0, 0, Target(at, 4)) == [0, 0, 0]


def test_energy_at_the_end_has_its_worth() -> None:
    course = cheapest_course(PLAIN, hours([0.1, 0.1], 0.0, 0), 0, end_worth=0.15)
    assert course.stored_kwh[-1] == pytest.approx(4)
    assert course.cost == pytest.approx(4 * (0.1 - 0.15))


def test_without_prices_only_the_worth_at_the_end_counts() -> None:
    course = cheapest_course(PLAIN, hours([], [], []), 3, end_worth=0.15, targets=[Target(START + HOUR_S, 4)])
    assert (len(course.power_kw), len(course.stored_kwh)) == (0, 0)
    assert (course.cost, course.worth_now) == pytest.approx((-0.45, 0.15))


def test_among_equal_costs_a_battery_acts_early() -> None:
    assert powers(PLAIN, hours([0.1, 0.1, 0.1, 0.3, 0.3], 0.0, [0, 0, 0, 1, 1]), 0) == [2, 0, 0, -1, -1]


def test_a_battery_does_not_act_without_a_gain() -> None:
    assert powers(PLAIN, hours([0.1, 0.1, 0.1], 0.1, 1), 2, 0.1) == [0, 0, 0]


def test_a_first_step_of_some_minutes_moves_less_energy() -> None:
    steps = Steps(
        np.array([START + 600, START + QUARTER_S]),
        START + 2 * QUARTER_S,
        *(np.array(values) for values in ([0.1, 0.1], [0.0, 0.0], [0.0, 0.0])),
    )
    course = cheapest_course(PLAIN, steps, 0, end_worth=0.2)
    assert course.stored_kwh == pytest.approx([2 * 300 / HOUR_S, 2 * (300 + QUARTER_S) / HOUR_S])


def test_a_battery_without_capacity_rests() -> None:
    assert powers(replace(PLAIN, highest_kwh=0), hours([0.1, 0.3], 0.0, 1), 0) == [0, 0]


def test_the_cost_of_a_course_counts_both_prices_and_wear() -> None:
    steps = hours([0.2, 0.2, 0.2], 0.05, [1, 1, -2])
    assert course_cost(replace(PLAIN, wear=0.01), steps, np.array([1, -2, 0])) == pytest.approx(0.4 - 0.05 + 0.02 - 0.1)
