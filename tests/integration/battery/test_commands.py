"""What an inverter does by its commands, and the commands that follow a course."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.battery.battery import Battery, Course
from custom_components.tunnihind.battery.commands import Action, Command, commands_for, followed, followed_power
from custom_components.tunnihind.battery.solver import cheapest_course
from tests.support.battery.days import LOSSLESS, hours

PRICES = st.floats(-0.3, 0.6).map(lambda price: round(price, 3))
USES = st.floats(-6, 6).map(lambda use: round(use, 2))
BATTERIES = st.builds(
    Battery,
    charge_kw=st.sampled_from([1.0, 3.0, 5.0]),
    discharge_kw=st.sampled_from([1.0, 3.0, 5.0]),
    efficiency=st.sampled_from([1.0, 0.9, 0.8]),
    wear=st.sampled_from([0.0, 0.03]),
    lowest_kwh=st.sampled_from([0.0, 1.0]),
    highest_kwh=st.sampled_from([4.0, 10.0]),
    charges_from_grid=st.booleans(),
    sells=st.booleans(),
)
COMMANDS = st.builds(Command, st.sampled_from(Action), st.floats(0, 8))


@pytest.mark.parametrize(
    ("action", "use_kw", "power_kw"),
    [
        (Action.CHARGE, 1.0, 1.5),
        (Action.CHARGE, -1.0, 1.5),
        (Action.STORE_SUN, 1.0, 0.0),
        (Action.STORE_SUN, -1.0, 1.0),
        (Action.STORE_SUN, -1.8, 1.5),
        (Action.HOLD, 1.0, 0.0),
        (Action.HOLD, -1.0, 0.0),
        (Action.DISCHARGE, 1.0, -1.0),
        (Action.DISCHARGE, 1.8, -1.5),
        (Action.DISCHARGE, -1.0, 1.0),
        (Action.DISCHARGE, -3.0, 2.0),
        (Action.SELL, 1.0, -1.5),
        (Action.SELL, -1.0, -1.5),
    ],
)
def test_an_action_means_this_power_by_use(action: Action, use_kw: float, power_kw: float) -> None:
    assert followed_power(LOSSLESS, Command(action, 1.5), use_kw, 5.0, 1.0) == power_kw


@given(BATTERIES, st.lists(st.tuples(COMMANDS, USES), min_size=1, max_size=8), st.floats(0, 1))
def test_no_command_takes_the_stored_energy_beyond_its_limits(
    battery: Battery, told: list[tuple[Command, float]], part: float
) -> None:
    at_first = battery.lowest_kwh + part * (battery.highest_kwh - battery.lowest_kwh)
    steps = hours([0.1] * len(told), use=[use for _, use in told])
    power, stored = followed(battery, steps, at_first, [command for command, _ in told])
    assert stored.min() >= battery.lowest_kwh - 1e-9
    assert stored.max() <= battery.highest_kwh + 1e-9
    assert power.max() <= battery.charge_kw
    assert power.min() >= -battery.discharge_kw


@given(
    BATTERIES,
    st.lists(st.tuples(PRICES, PRICES, USES), min_size=1, max_size=12),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.1]),
)
def test_commands_follow_the_course_if_all_goes_as_expected(
    battery: Battery, known: list[tuple[float, float, float]], part: float, end_worth: float
) -> None:
    buying, selling, use = zip(*known, strict=True)
    steps = hours(buying, selling=selling, use=use)
    at_first = battery.lowest_kwh + part * (battery.highest_kwh - battery.lowest_kwh)
    course = cheapest_course(battery, steps, at_first, end_worth=end_worth)
    commands = commands_for(battery, steps, at_first, course)
    _, stored = followed(battery, steps, at_first, commands)
    assert np.abs(stored - course.stored_kwh).max() < 0.01 * len(known)
    assert all(command.is_allowed(battery) for command in commands)


@given(
    BATTERIES,
    st.lists(st.tuples(PRICES, PRICES, USES), min_size=1, max_size=6),
    st.lists(USES, min_size=6, max_size=6),
    st.floats(0, 12),
)
def test_a_power_never_empties_the_reserve_within_its_step(
    battery: Battery, known: list[tuple[float, float, float]], came: list[float], at_first: float
) -> None:
    """Even if the inverter itself knows no lowest energy, and the home uses more than expected."""
    buying, selling, use = zip(*known, strict=True)
    steps = hours(buying, selling=selling, use=use)
    course = cheapest_course(battery, steps, at_first, end_worth=0.05)
    command = commands_for(battery, steps, at_first, course)[0]
    unguarded = replace(battery, lowest_kwh=-100.0)
    stored = at_first + min(followed(unguarded, steps, at_first, [command] * len(known))[0][0], 0) / np.sqrt(
        battery.efficiency
    )
    assert stored >= min(battery.lowest_kwh, at_first) - 0.01
    assert came


def test_a_battery_below_its_reserve_is_never_told_to_discharge() -> None:
    steps = hours([0.1, 0.5, 0.5], use=1)
    course = cheapest_course(LOSSLESS, steps, 0.5, end_worth=0.0)
    actions = [command.action for command in commands_for(LOSSLESS, steps, 0.5, course)]
    assert actions[0] is Action.CHARGE
    steps = hours([0.5, 0.5, 0.5], use=1)
    course = cheapest_course(LOSSLESS, steps, 0.5, end_worth=0.0)
    assert {command.action for command in commands_for(LOSSLESS, steps, 0.5, course)} == {Action.HOLD}


def worth(worth_now: float) -> Course:
    """Return a course of one hour in which the battery rests."""
    return Course(np.zeros(1), np.array([5.0]), 0.0, worth_now)


def test_an_unexpected_surplus_is_stored_if_it_is_worth_more_than_sold() -> None:
    steps = hours([0.3], selling=0.1, use=0.5)
    sunny = replace(
        steps,
        use_kw=np.array([0.5, -1.0]),
        starts=np.array([0, 3600]),
        end=7200,
        buying=np.full(2, 0.3),
        selling=np.full(2, 0.1),
    )
    rests = Course(np.zeros(2), np.full(2, 5.0), 0.0, 0.35)
    assert commands_for(LOSSLESS, sunny, 5.0, rests)[0].action is Action.STORE_SUN
    assert commands_for(LOSSLESS, sunny, 5.0, replace(rests, worth_now=0.05))[0].action is Action.HOLD
    assert commands_for(LOSSLESS, steps, 5.0, worth(0.35))[0].action is Action.HOLD
