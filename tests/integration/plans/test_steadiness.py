"""A window that has not begun stays where it is, unless a move is worth five cents."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.timeline import Timeline
from tests.integration.plans.test_switching import change, planner_of, restarted, subentry
from tests.support.household.outcomes import clock, hours, window
from tests.support.household.timelines import NIGHT, line, predicted, settled

TWO_HOURS: Final = {"duration": 120}
CAR: Final = {"energy": 8.0, "power": 4.0}


def _plan(form: Mapping[str, Any]) -> PlanSettings:
    return PlanSettings.from_mapping({**TWO_HOURS, **form})


def cheapest_at(start: int, price: float) -> Timeline:
    """Return a day on which two hours cost `price`, and two hours at 3:00 cost 0.1 EUR/kWh."""
    return line(
        settled(NIGHT, [price if hour in {start, start + 1} else 0.1 if hour in {3, 4} else 0.3 for hour in range(24)])
    )


@pytest.mark.parametrize(
    ("price", "form", "starts"),
    [
        (0.0876, {}, 3),  # 2 kW for 2 hours: 4.96 cents
        (0.0875, {}, 6),
        (0.1, {"prefer": "latest"}, 3),
        (0.0938, {"energy": 8.0, "power": 4.0}, 3),
        (0.0937, {"energy": 8.0, "power": 4.0}, 6),
        (0.0876, {"split": True}, 3),
        (0.0874, {"split": True}, 6),
        (0.09, {"tolerance": 2.0}, 3),
    ],
)
def test_a_planned_window_moves_for_a_gain_of_five_cents_or_more(
    price: float, form: Mapping[str, Any], starts: int
) -> None:
    asked = _plan(form)
    first = next_outcome(asked, cheapest_at(3, 0.1), NIGHT)
    steady = window(next_outcome(asked, cheapest_at(6, price), clock(1), first, only_prices_changed=True))
    assert hours(steady) == [(starts, starts + 2)]
    assert steady.average == (0.1 if starts == 3 else price)


@pytest.mark.parametrize(
    ("form", "later"),
    [
        ({"price_cap": 10.0}, line(settled(NIGHT, [0.3] * 3 + [0.1001] * 2 + [0.3] + [0.0999] * 2 + [0.3] * 16))),
        (
            {},
            line(
                [
                    *settled(NIGHT, [0.3] * 3),
                    *predicted(clock(3), [(0.1, 0.1, 0.1)] * 2),
                    *settled(clock(5), [0.3, 0.1, 0.1, 0.3]),
                ]
            ),
        ),
        ({}, line([*settled(NIGHT, [0.3] * 4), *settled(clock(6), [0.1] * 2)])),
    ],
    ids=["above the limit", "no longer published", "unknown"],
)
def test_a_planned_window_moves_if_its_hours_may_no_longer_be_used(form: Mapping[str, Any], later: Timeline) -> None:
    first = next_outcome(_plan(form), cheapest_at(3, 0.1), NIGHT)
    assert hours(next_outcome(_plan(form), later, clock(1), first, only_prices_changed=True)) == [(6, 8)]


def test_a_plan_of_all_hours_below_a_price_follows_the_prices_for_any_gain() -> None:
    asked = PlanSettings.from_mapping({"kind": "below", "price_cap": 11.0})
    first = next_outcome(asked, cheapest_at(3, 0.1), NIGHT)
    found = next_outcome(asked, cheapest_at(6, 0.1099), clock(1), first, only_prices_changed=True)
    assert hours(found) == [(3, 5), (6, 8)]


def test_a_changed_setting_moves_a_planned_window_for_any_gain() -> None:
    planner = planner_of(TWO_HOURS)
    planner.update_outcomes(cheapest_at(3, 0.1), NIGHT)
    planner.update_outcomes(cheapest_at(6, 0.0999), clock(1))
    assert hours(planner.outcomes["plan"]) == [(3, 5)]
    planner.update_plans([subentry({**TWO_HOURS, "earliest": "01:00:00"})], clock(1))
    planner.update_outcomes(cheapest_at(6, 0.0999), clock(1))
    assert hours(planner.outcomes["plan"]) == [(6, 8)]


def test_planning_again_moves_a_planned_window_for_any_gain() -> None:
    planner = planner_of(TWO_HOURS)
    planner.update_outcomes(cheapest_at(3, 0.1), NIGHT)
    change(planner, clock(1), replan=True)
    planner.update_outcomes(cheapest_at(6, 0.0999), clock(1))
    assert hours(planner.outcomes["plan"]) == [(6, 8)]


@pytest.mark.parametrize(("energy", "start"), [(8.0, 3), (7.9, 3), (9.0, 5.75)])
def test_a_need_that_is_read_again_moves_nothing_while_it_takes_as_long(energy: float, start: float) -> None:
    planner = planner_of(CAR)
    planner.update_outcomes(cheapest_at(3, 0.1), NIGHT)
    change(planner, clock(1), values={"energy": energy})
    planner.update_outcomes(cheapest_at(6, 0.0999), clock(1))
    assert hours(planner.outcomes["plan"])[0][0] == start
    assert window(planner.outcomes["plan"]).asked_kwh == energy


def test_a_restart_moves_nothing() -> None:
    planner = planner_of(TWO_HOURS)
    planner.update_outcomes(cheapest_at(3, 0.1), NIGHT)
    other = restarted(planner, TWO_HOURS)
    other.update_outcomes(cheapest_at(6, 0.0999), clock(1))
    assert hours(other.outcomes["plan"]) == [(3, 5)]
