"""A battery's plan: what it does now, what it saves, and when it changes its mind."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.battery.battery import Battery, Steps, Target
from custom_components.tunnihind.battery.commands import Action
from custom_components.tunnihind.battery.plan import BatteryPlan, battery_plan
from custom_components.tunnihind.core.market import HOUR_S
from tests.support.battery.days import LOSSLESS, hours
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S

CHEAP_THEN_DEAR = hours([0.1] * 4 + [0.5] * 4)
NEVER, AT_ONCE = 100.0, 0.0
PRICES = st.lists(st.floats(-0.1, 0.5).map(lambda price: round(price, 2)), min_size=6, max_size=6)


def plan_of(
    steps: Steps,
    stored_kwh: float = 1.0,
    *,
    battery: Battery = LOSSLESS,
    end_worth: float = 0.0,
    targets: Sequence[Target] = (),
    last: BatteryPlan | None = None,
    threshold: float = 0.05,
) -> BatteryPlan:
    return battery_plan(
        battery, steps, stored_kwh, end_worth=end_worth, targets=targets, last=last, threshold=threshold
    )


def later(steps: Steps, places: int) -> Steps:
    """Return the steps without the first ones."""
    return steps.part(places, len(steps.starts))


def actions(plan: BatteryPlan) -> list[Action]:
    return [command.action for command in plan.commands]


def test_a_plan_charges_while_it_is_cheap_and_covers_the_use_while_dear() -> None:
    plan = plan_of(CHEAP_THEN_DEAR)
    assert (plan.action, plan.power_kw, plan.stored_kwh) == (Action.CHARGE, 2.0, 5.0)
    assert plan.until == NIGHT + 2 * HOUR_S
    assert actions(plan)[2:] == [Action.HOLD] * 2 + [Action.DISCHARGE] * 4
    assert plan.course.stored_kwh[-1] == 1.0
    assert plan.saving == pytest.approx(4 * (0.5 - 0.1))
    assert plan.saving_beyond_sun == pytest.approx(plan.saving)


def test_an_action_that_never_ends_lasts_until_the_end_of_the_steps() -> None:
    plan = plan_of(hours([0.1] * 3))
    assert (plan.action, plan.power_kw, plan.until, plan.stored_kwh) == (Action.HOLD, 0.0, NIGHT + 3 * HOUR_S, 1.0)
    assert plan.saving == plan.saving_beyond_sun == 0.0


def test_a_plan_charges_in_the_room_that_devices_leave_and_gives_way_at_once() -> None:
    first = plan_of(CHEAP_THEN_DEAR)
    assert actions(first)[:2] == [Action.CHARGE] * 2
    # A device takes the first hours. The last plan would charge in them, whatever that gains.
    room_kw = np.array([0.5, 0.0, *[3.0] * 6])
    plan = plan_of(replace(CHEAP_THEN_DEAR, room_kw=room_kw), last=first, threshold=NEVER)
    charging = [command.power_kw if command.action is Action.CHARGE else 0.0 for command in plan.commands]
    assert (np.array(charging) <= room_kw).all()
    assert sum(charging) == pytest.approx(4)


def test_the_sun_needs_no_room() -> None:
    sunny = hours([0.2] * 4, selling=0.05, use=[-2, -2, 2, 2])
    plan = plan_of(replace(sunny, room_kw=np.zeros(4)))
    assert plan.saving == pytest.approx(4 * (0.2 - 0.05))
    assert Action.CHARGE not in actions(plan)


def test_a_plan_that_only_stores_the_sun_saves_nothing_beyond_it() -> None:
    plan = plan_of(hours([0.2] * 4, selling=0.05, use=[-2, -2, 2, 2]))
    assert plan.saving == pytest.approx(4 * (0.2 - 0.05))
    assert plan.saving_beyond_sun == pytest.approx(0.0)


def test_selling_the_sun_while_it_pays_is_saved_beyond_storing_it() -> None:
    """Otherwise, 4 kWh would be stored for a use of 2 kWh."""
    plan = plan_of(hours([0.4, 0.2, 0.2], selling=[0.3, 0.05, 0.05], use=[-2, -2, 2]))
    assert plan.saving == pytest.approx(2 * (0.2 - 0.05))
    assert plan.saving_beyond_sun == pytest.approx(2 * 0.3)


def test_energy_that_is_stored_already_is_no_saving() -> None:
    plan = plan_of(hours([0.3] * 3, use=0), 8.0, end_worth=0.2)
    assert (plan.action, plan.saving) == (Action.HOLD, 0.0)


def test_a_household_that_is_paid_to_buy_charges() -> None:
    plan = plan_of(hours([-0.05, 0.1, 0.1]))
    assert (plan.action, plan.power_kw) == (Action.CHARGE, 2.0)


def test_a_battery_stores_the_sun_instead_of_paying_to_sell_it() -> None:
    plan = plan_of(hours([0.1, 0.1, 0.1], selling=[-0.02, 0.05, 0.05], use=[-1.5, 0, 1.5]))
    assert actions(plan) == [Action.STORE_SUN, Action.HOLD, Action.DISCHARGE]
    assert plan.course.power_kw.tolist() == [1.5, 0, -1.5]


def test_nothing_that_is_stored_is_sold_below_zero() -> None:
    plan = plan_of(hours([-0.01, 0.0, 0.1], selling=[-0.05, -0.03, -0.02], use=[0, 0, 1]), 10.0)
    assert plan.course.power_kw.tolist() == [0, 0, -1]


def test_the_sun_is_stored_in_the_hours_that_sell_cheapest() -> None:
    """Not in the first hours, if the battery becomes full in either case."""
    steps = hours([0.4] * 6, selling=[0.2, 0.2, 0.02, 0.02, 0.2, 0.0], use=[-2, -2, -2, -2, -2, 4])
    plan = plan_of(steps, battery=replace(LOSSLESS, highest_kwh=5, discharge_kw=4))
    assert actions(plan) == [
        Action.HOLD,
        Action.HOLD,
        Action.STORE_SUN,
        Action.STORE_SUN,
        Action.HOLD,
        Action.DISCHARGE,
    ]


def test_a_battery_sells_only_if_the_household_allows_it() -> None:
    steps = hours([0.1, 0.6], selling=[0.05, 0.5], use=0)
    assert actions(plan_of(steps)) == [Action.CHARGE, Action.SELL]
    assert Action.SELL not in actions(plan_of(steps, battery=replace(LOSSLESS, sells=False)))
    assert Action.CHARGE not in actions(plan_of(steps, battery=replace(LOSSLESS, charges_from_grid=False)))


def test_a_target_is_kept_by_its_time_at_the_least_cost() -> None:
    steps = hours([0.3, 0.1, 0.2, 0.05, 0.3])
    plan = plan_of(steps, targets=[Target(NIGHT + 3 * HOUR_S, 4.0)])
    assert plan.course.stored_kwh[2] == pytest.approx(4.0)
    assert actions(plan)[:3] == [Action.HOLD, Action.CHARGE, Action.CHARGE]
    assert plan.commands[2].power_kw == pytest.approx(1.0)


def test_actions_stay_if_the_gain_is_below_the_threshold() -> None:
    last = plan_of(CHEAP_THEN_DEAR)
    cheaper_later = replace(CHEAP_THEN_DEAR, buying=np.array([0.1, 0.1, 0.0975, 0.0975] + [0.5] * 4))
    assert actions(plan_of(cheaper_later))[:2] == [Action.HOLD, Action.HOLD]
    kept = plan_of(cheaper_later, last=last, threshold=0.05)
    assert actions(kept) == actions(last)
    assert not kept.changed
    changed = plan_of(cheaper_later, last=last, threshold=AT_ONCE)
    assert actions(changed) != actions(last)
    assert changed.changed


def test_actions_change_if_the_gain_is_above_the_threshold() -> None:
    last = plan_of(CHEAP_THEN_DEAR)
    much_cheaper_later = replace(CHEAP_THEN_DEAR, buying=np.array([0.1, 0.1, 0.0, 0.0] + [0.5] * 4))
    plan = plan_of(much_cheaper_later, last=last)
    assert actions(plan)[:2] == [Action.HOLD, Action.HOLD]
    assert plan.changed


def test_a_plan_without_any_gain_changes_at_no_threshold() -> None:
    last = plan_of(CHEAP_THEN_DEAR)
    assert not plan_of(CHEAP_THEN_DEAR, last=last, threshold=AT_ONCE).changed


def test_a_plan_goes_on_step_by_step_with_the_same_actions() -> None:
    last = plan = plan_of(CHEAP_THEN_DEAR)
    for place in range(1, 8):
        stored = float(last.course.stored_kwh[place - 1])
        plan = plan_of(later(CHEAP_THEN_DEAR, place), stored, last=plan, threshold=NEVER)
        assert actions(plan) == actions(last)[place:]
        assert not plan.changed


def test_a_kept_plan_goes_on_through_shorter_steps() -> None:
    last = plan_of(CHEAP_THEN_DEAR)
    quarters = hours(np.repeat(CHEAP_THEN_DEAR.buying, 4)[1:].tolist(), start=NIGHT + QUARTER_S, step_s=QUARTER_S)
    plan = plan_of(quarters, 1.5, last=last, threshold=NEVER)
    assert actions(plan) == [action for action in actions(last) for _ in range(4)][1:]


@given(PRICES, PRICES, st.floats(1, 10), st.floats(0, 0.2))
def test_a_kept_plan_costs_less_than_the_threshold_more(
    before: list[float], now: list[float], stored_kwh: float, threshold: float
) -> None:
    last = plan_of(hours(before), 5.0, end_worth=0.1)
    kept = plan_of(hours(now), stored_kwh, end_worth=0.1, last=last, threshold=threshold)
    best = plan_of(hours(now), stored_kwh, end_worth=0.1)
    assert kept.course.cost <= best.course.cost + threshold + 1e-5
    assert kept.saving - best.saving == pytest.approx(best.course.cost - kept.course.cost)
    if not kept.changed:
        assert actions(kept)[1:] == actions(last)[1:]


@pytest.mark.parametrize("stored_kwh", [1.0, 3.0, 10.0])
def test_stored_energy_that_jumps_is_planned_from_what_is(stored_kwh: float) -> None:
    """The last plan expected 5 kWh."""
    last = plan_of(CHEAP_THEN_DEAR)
    plan = plan_of(later(CHEAP_THEN_DEAR, 2), stored_kwh, last=last, threshold=0.05)
    fresh = plan_of(later(CHEAP_THEN_DEAR, 2), stored_kwh)
    assert plan.course.stored_kwh.tolist() == pytest.approx(fresh.course.stored_kwh.tolist())
    assert plan.course.stored_kwh.min() >= 1.0


@pytest.mark.parametrize(("stored_kwh", "action", "power_kw"), [(1.0, Action.HOLD, 0.0), (1.5, Action.DISCHARGE, 0.5)])
def test_a_kept_plan_never_empties_the_reserve(stored_kwh: float, action: Action, power_kw: float) -> None:
    """The last plan covers the use in this hour, with up to 2 kW."""
    last = plan_of(CHEAP_THEN_DEAR)
    plan = plan_of(later(CHEAP_THEN_DEAR, 4), stored_kwh, last=last, threshold=NEVER)
    assert (plan.action, plan.power_kw) == (action, power_kw)


def test_a_plan_that_would_miss_its_target_changes_at_any_threshold() -> None:
    last = plan_of(CHEAP_THEN_DEAR)
    target = Target(NIGHT + 6 * HOUR_S, 9.0)
    plan = plan_of(CHEAP_THEN_DEAR, last=last, threshold=NEVER, targets=[target])
    assert plan.course.stored_kwh[5] == pytest.approx(9.0)
    assert plan.changed


def test_actions_that_are_no_longer_allowed_go_at_any_threshold() -> None:
    steps = hours([0.1, 0.6], selling=[0.05, 0.5], use=0)
    last = plan_of(steps)
    assert actions(last) == [Action.CHARGE, Action.SELL]
    plan = plan_of(steps, last=last, threshold=NEVER, battery=replace(LOSSLESS, sells=False))
    assert Action.SELL not in actions(plan)


def test_a_kept_plan_goes_on_with_the_best_actions_after_its_end() -> None:
    last = plan_of(CHEAP_THEN_DEAR)
    longer = hours([*CHEAP_THEN_DEAR.buying, 0.1, 0.6])
    plan = plan_of(longer, last=last, threshold=NEVER)
    assert actions(plan) == [*actions(last), Action.CHARGE, Action.DISCHARGE]
    assert plan.course.cost == pytest.approx(float(longer.buying @ (longer.use_kw + plan.course.power_kw)))


@pytest.mark.parametrize("start", [NIGHT - DAY_S, NIGHT + DAY_S])
def test_a_last_plan_of_other_times_counts_for_nothing(start: int) -> None:
    last = plan_of(hours([0.1] * 4 + [0.5] * 4, start=start))
    plan = plan_of(CHEAP_THEN_DEAR, last=last, threshold=NEVER)
    assert plan.changed
    assert actions(plan) == actions(plan_of(CHEAP_THEN_DEAR))


def test_more_sun_than_expected_goes_into_the_battery_by_the_kept_plan() -> None:
    last = plan_of(hours([0.2] * 4, selling=0.05, use=[-1, -1, 2, 2]))
    sunnier = hours([0.2] * 4, selling=0.05, use=[-1.5, -1.5, 2, 2])
    plan = plan_of(sunnier, last=last, threshold=NEVER)
    assert not plan.changed
    assert plan.course.power_kw[:2].tolist() == [1.5, 1.5]
