"""What an inverter does by its commands, and the commands that follow a course."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.battery.battery import Battery, Course
from custom_components.tunnihind.battery.commands import (
    Action,
    Command,
    commands_for,
    followed,
    followed_power,
    guarded,
    stored_by,
)
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


@given(BATTERIES, COMMANDS, st.floats(0, 12), USES)
def test_a_guarded_command_empties_no_reserve_whatever_the_home_uses(
    battery: Battery, command: Command, stored_kwh: float, use_kw: float
) -> None:
    """Even if the inverter has no limits of its own."""
    steps = hours([0.1], use=use_kw)
    told = guarded(battery, command, steps, stored_kwh)
    limitless = replace(battery, lowest_kwh=-100.0, discharge_kw=100.0)
    stored = stored_kwh + stored_by(battery, followed_power(limitless, told, use_kw, stored_kwh, 1.0))
    assert stored >= min(battery.lowest_kwh, stored_kwh) - 0.001
    assert told.power_kw <= max(command.power_kw, battery.charge_kw)


@pytest.mark.parametrize(("use_kw", "action"), [(1.0, Action.HOLD), (-1.0, Action.STORE_SUN)])
def test_an_empty_battery_is_not_told_to_cover_the_use(use_kw: float, action: Action) -> None:
    assert guarded(LOSSLESS, Command(Action.DISCHARGE, 2.0), hours([0.1], use=use_kw), 1.0).action is action
    assert guarded(LOSSLESS, Command(Action.SELL, 2.0), hours([0.1], use=use_kw), 1.0).action is Action.HOLD


def test_a_battery_below_its_reserve_is_never_told_to_discharge() -> None:
    steps = hours([0.1, 0.5, 0.5], use=1)
    course = cheapest_course(LOSSLESS, steps, 0.5, end_worth=0.0)
    actions = [command.action for command in commands_for(LOSSLESS, steps, 0.5, course)]
    assert actions[0] is Action.CHARGE
    steps = hours([0.5, 0.5, 0.5], use=1)
    course = cheapest_course(LOSSLESS, steps, 0.5, end_worth=0.0)
    assert {command.action for command in commands_for(LOSSLESS, steps, 0.5, course)} == {Action.HOLD}


@pytest.mark.parametrize(
    ("use_kw", "worth", "action"),
    [
        ([0.5, -1.0], 0.35, Action.STORE_SUN),
        ([0.5, -1.0], 0.05, Action.HOLD),
        ([0.5, 0.5], 0.35, Action.HOLD),
        ([-0.5, 0.5], 0.35, Action.HOLD),
    ],
    ids=["worth more than sold", "worth less than sold", "no sun", "sold as planned"],
)
def test_a_resting_battery_stores_an_unexpected_surplus_that_is_worth_it(
    use_kw: list[float], worth: float, action: Action
) -> None:
    steps = hours([0.3, 0.3], selling=0.1, use=use_kw)
    assert commands_for(LOSSLESS, steps, 5.0, course([0.0, 0.0], worth))[0].action is action


@pytest.mark.parametrize(
    ("worth", "action"), [(0.2, Action.DISCHARGE), (0.4, Action.STORE_SUN)], ids=["dear enough", "worth more later"]
)
def test_a_battery_that_stores_the_sun_covers_an_unexpected_use_if_worth_it(worth: float, action: Action) -> None:
    steps = hours([0.3], selling=0.1, use=-1.0)
    assert commands_for(LOSSLESS, steps, 5.0, course([1.0], worth))[0].action is action


def test_the_worth_of_stored_energy_holds_until_the_battery_is_full() -> None:
    steps = hours([0.3] * 3, selling=0.1, use=[-5.0, -1.0, 0.5])
    commands = commands_for(LOSSLESS, steps, 8.0, course([2.0, 0.0, 0.0], 0.35))
    assert [command.action for command in commands] == [Action.STORE_SUN, Action.HOLD, Action.HOLD]


def course(power_kw: list[float], worth: float) -> Course:
    """Return a course of hours from 5 kWh on, or from 8 kWh on if it begins with 2 kW."""
    at_first = 8.0 if power_kw[0] == 2 else 5.0
    return Course(np.array(power_kw), at_first + np.cumsum(power_kw), 0.0, worth)
