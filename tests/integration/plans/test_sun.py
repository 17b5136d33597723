"""Plans by energy count the surplus of the home's sun at what it would have sold for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import cycle
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA
from custom_components.tunnihind.household.planner import Planner
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.search import window_in_span
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.solver import Piece
from custom_components.tunnihind.plans.spans import Span
from custom_components.tunnihind.plans.steering import PlanChange
from custom_components.tunnihind.plans.sun import NO_SUN, Sun, prices_with_sun, sun_kwh
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.integration.plans.test_switching import planner_of, restarted, subentry
from tests.support.household.outcomes import clock, hours, window
from tests.support.household.timelines import NIGHT, QUARTER_S, line, predicted, settled
from tunnihind.core.market import HOUR_S

# A winter day, and the days on which the clocks change: 24, 23 and 25 hours.
DAYS: Final = [date(2026, 1, 14), date(2026, 3, 29), date(2026, 10, 25)]
STEPS: Final = st.sampled_from([QUARTER_S, HOUR_S])
CENTS: Final = st.integers(-20, 60)
CAR: Final = {"energy": 4.0, "power": 2.0}


def by_energy(**form: object) -> PlanSettings:
    return PlanSettings.from_mapping({**CAR, **form})


def bounds(day: date) -> Piece:
    """Return the day's first and last instant in Tallinn, in UTC seconds."""
    first, last = (ESTONIA.midnight(one) for one in (day, day + timedelta(days=1)))
    return first, last


def priced(day: Piece, step_s: int, cents: Sequence[int]) -> Timeline:
    prices = [one / 100 for one in cents]
    return Timeline(
        step_s,
        (
            Period(start, start + step_s, price, price, price, settled=True)
            for start, price in zip(range(*day, step_s), cycle(prices), strict=False)
        ),
    )


@st.composite
def homes(draw: st.DrawFn) -> tuple[Piece, Timeline, Sun]:
    """Return a day, what its hours or quarters cost, and the surplus with or without prices for selling."""
    day = bounds(draw(st.sampled_from(DAYS)))
    buying, selling = (priced(day, draw(STEPS), draw(st.lists(CENTS, min_size=1, max_size=30))) for _ in range(2))
    kw = draw(st.lists(st.integers(-8, 16), min_size=1, max_size=30))
    surplus = {start: kw[place % len(kw)] / 4 for place, start in enumerate(range(*day, HOUR_S))}
    return day, buying, Sun(surplus, draw(st.sampled_from([selling, None])))


def test_the_sun_counts_for_a_plan_by_duration_if_its_group_knows_the_power() -> None:
    prices, sun = line(settled(NIGHT, [0.1, 0.3, 0.3])), Sun({NIGHT + HOUR_S: 1.5})
    asked = PlanSettings.from_mapping({"duration": 60, "group": "fuse", "power": 2})
    assert [period.price for period in prices_with_sun(asked, prices, sun).periods] == [0.1, 0.075, 0.3]


def price_at(timeline: Timeline, instant: int) -> float:
    period = timeline.period_at(instant)
    assert period is not None
    return period.price


def true_cost(pieces: Sequence[Piece], power_kw: float, buying: Timeline, sun: Sun) -> float:
    """Return what a device really costs, added up by the quarter: sun that isn't sold, and energy that is bought."""
    cost = 0.0
    for start, end in pieces:
        for quarter in range(start, end, QUARTER_S):
            from_sun = min(max(sun.surplus_kw[quarter // HOUR_S * HOUR_S], 0.0), power_kw)
            sold_for = price_at(sun.selling, quarter) if sun.selling else 0.0
            cost += (from_sun * sold_for + (power_kw - from_sun) * price_at(buying, quarter)) / 4
    return cost


@settings(max_examples=300)
@given(homes(), st.sampled_from([0.5, 1.0, 2.0, 3.7]), st.integers(1, 40))
def test_a_window_in_one_go_has_the_least_true_cost_of_all(
    home: tuple[Piece, Timeline, Sun], power_kw: float, quarters: int
) -> None:
    day, buying, sun = home
    plan = by_energy(power=power_kw, energy=round(power_kw * quarters / 4, 6))
    found = window(window_in_span(plan, prices_with_sun(plan, buying, sun), Span(*day), day[0]))
    costs = [
        true_cost([(start, start + quarters * QUARTER_S)], power_kw, buying, sun)
        for start in range(day[0], day[1] - quarters * QUARTER_S + 1, QUARTER_S)
    ]
    rounding = 0.000_001 * plan.duration_s / HOUR_S * power_kw
    assert true_cost(found.pieces, power_kw, buying, sun) <= min(costs) + rounding
    assert found.cost is not None
    assert found.cost.expected == pytest.approx(true_cost(found.pieces, power_kw, buying, sun), abs=0.000_06 + rounding)


@settings(max_examples=200)
@given(homes(), st.integers(1, 12))
def test_a_window_in_pieces_has_the_cheapest_hours(home: tuple[Piece, Timeline, Sun], quarters: int) -> None:
    day, buying, sun = home
    plan = by_energy(energy=quarters * 0.5, split=True, min_piece=15)
    found = window(window_in_span(plan, prices_with_sun(plan, buying, sun), Span(*day), day[0]))
    singly = sorted(true_cost([(at, at + QUARTER_S)], 2.0, buying, sun) for at in range(*day, QUARTER_S))
    assert true_cost(found.pieces, 2.0, buying, sun) == pytest.approx(sum(singly[:quarters]), abs=0.000_01)


@given(homes(), st.sampled_from([0.5, 2.0, 3.7]))
def test_prices_lie_between_selling_and_buying_and_cover_the_same_time(
    home: tuple[Piece, Timeline, Sun], power_kw: float
) -> None:
    day, buying, sun = home
    mixed = prices_with_sun(by_energy(power=power_kw, energy=1), buying, sun)
    assert sum(period.length_s for period in mixed.periods) == day[1] - day[0]
    for quarter in range(*day, QUARTER_S):
        sold_for = price_at(sun.selling, quarter) if sun.selling else 0.0
        low, high = sorted((sold_for, price_at(buying, quarter)))
        kw = sun.surplus_kw[quarter // HOUR_S * HOUR_S]
        assert low <= price_at(mixed, quarter) <= high
        if kw <= 0 or kw >= power_kw:
            assert price_at(mixed, quarter) == (price_at(buying, quarter) if kw <= 0 else sold_for)


@given(homes())
def test_without_a_surplus_the_buying_prices_stay_as_they_are(home: tuple[Piece, Timeline, Sun]) -> None:
    day, buying, sun = home
    nights = {start: min(kw, 0.0) for start, kw in sun.surplus_kw.items()}
    of_other_days = {day[1] + HOUR_S: 5.0}
    for none in (NO_SUN, Sun(nights, sun.selling), Sun(of_other_days, sun.selling)):
        assert prices_with_sun(by_energy(), buying, none) is buying


@pytest.mark.parametrize("form", [
    {"duration": 120, "energy": None, "power": None},
    {"kind": "dearest"},
    {"kind": "below", "price_cap": 10, "energy": None, "power": None},
])  # fmt: skip
def test_the_sun_counts_only_for_plans_for_low_prices_with_a_power(form: dict[str, object]) -> None:
    buying, sun = line(settled(NIGHT, [0.1, 0.2])), Sun({NIGHT: 5.0})
    assert prices_with_sun(by_energy(**form), buying, sun) is buying
    assert sun_kwh(by_energy(**form), [(NIGHT, NIGHT + HOUR_S)], 2.0, sun) is None


def test_a_surplus_that_covers_half_of_the_power_makes_half_the_difference() -> None:
    buying = line(settled(NIGHT, [0.3]), predicted(NIGHT + HOUR_S, [(0.1, 0.2, 0.4)]))
    selling = line(settled(NIGHT, [0.1]), predicted(NIGHT + HOUR_S, [(0.0, 0.1, 0.2)]))
    found = prices_with_sun(by_energy(), buying, Sun({NIGHT: 1.0, NIGHT + HOUR_S: 0.5}, selling))
    assert found.periods == line(settled(NIGHT, [0.2]), predicted(NIGHT + HOUR_S, [(0.075, 0.175, 0.35)])).periods


def test_an_hour_without_a_selling_price_keeps_its_buying_price() -> None:
    buying, selling = line(settled(NIGHT, [0.3, 0.3])), line(settled(NIGHT, [0.1]))
    found = prices_with_sun(by_energy(), buying, Sun({NIGHT: 2.0, NIGHT + HOUR_S: 2.0}, selling))
    assert [period.price for period in found.periods] == [0.1, 0.3]


def test_a_price_with_a_predicted_part_is_predicted() -> None:
    buying, selling = line(settled(NIGHT, [0.3])), line(predicted(NIGHT, [(0.1, 0.2, 0.4)]))
    found = prices_with_sun(by_energy(), buying, Sun({NIGHT: 1.0}, selling))
    assert found.periods == line(predicted(NIGHT, [(0.2, 0.25, 0.35)])).periods


def test_a_plan_for_published_prices_runs_in_no_predicted_sun() -> None:
    """The surplus of a predicted hour stays predicted, also if it is worth nothing."""
    buying = line(settled(NIGHT, [0.3] * 2), predicted(NIGHT + 2 * HOUR_S, [(0.1, 0.2, 0.4)] * 2))
    sun = Sun({NIGHT + 2 * HOUR_S: 9.0, NIGHT + 3 * HOUR_S: 9.0})
    for horizon, start in (("published", 0), ("expected", 2)):
        plan = by_energy(horizon=horizon)
        assert hours(next_outcome(plan, prices_with_sun(plan, buying, sun), NIGHT)) == [(start, start + 2)]


def test_the_price_limit_counts_with_the_sun() -> None:
    buying, sun = line(settled(NIGHT, [0.3] * 24)), Sun({clock(12): 2.0, clock(13): 1.0})
    plan = by_energy(price_cap=15)
    assert hours(next_outcome(plan, prices_with_sun(plan, buying, sun), NIGHT)) == [(12, 14)]


@pytest.mark.parametrize(("energy", "sun_energy"), [(1.0, 1.0), (2.0, 2.0), (3.0, 2.5), (4.0, 3.0), (5.0, 3.0)])
def test_the_sun_of_a_window_ends_with_the_energy_of_the_device(energy: float, sun_energy: float) -> None:
    """2 kW for two hours: the first hour is all sun, half of the second is."""
    pieces = [(NIGHT, NIGHT + 3 * HOUR_S)]
    surplus = {NIGHT - HOUR_S: 4.0, NIGHT: 4.0, NIGHT + HOUR_S: 1.0, NIGHT + 2 * HOUR_S: -3.0}
    assert sun_kwh(by_energy(), pieces, energy, Sun(surplus)) == pytest.approx(sun_energy)


def test_the_sun_is_never_more_than_the_energy() -> None:
    """10 kWh at 11 kW take 3272.7 seconds, and so 3273 whole ones."""
    assert sun_kwh(by_energy(power=11), [(NIGHT, NIGHT + HOUR_S)], 10.0, Sun({NIGHT: 20.0})) == 10.0


def test_a_planner_shows_the_sun_of_a_window_and_keeps_it_over_a_restart() -> None:
    form = {**CAR, "split": True, "min_piece": 60}
    buying, sun = line(settled(NIGHT, [0.1] + [0.3] * 23)), Sun({clock(12): 1.5, clock(13): 0.5})
    planner = planner_of(form)
    found = window(planner.update_outcomes(buying, NIGHT - HOUR_S, sun)["plan"])
    assert (hours(found), found.sun_kwh) == ([(0, 1), (12, 13)], 1.5)
    assert found.cost is not None
    assert found.cost.expected == pytest.approx(2 * 0.1 + 0.5 * 0.3)
    again = restarted(planner, form)
    assert isinstance(again.outcomes["plan"], Window)
    assert again.outcomes["plan"].sun_kwh == 1.5


def test_the_next_window_is_looked_for_in_the_sun_too() -> None:
    buying, sun = line(settled(NIGHT, ([0.1] * 2 + [0.3] * 22) * 2)), Sun({clock(12, 1): 2.0, clock(13, 1): 2.0})
    planner = planner_of({**CAR, "deadline": "23:00:00"})
    planner.update_outcomes(buying, NIGHT, sun)
    assert hours(planner.outcomes["plan"]) == [(0, 2)]
    assert hours(planner.next_window("plan", buying)) == [(36, 38)]


def two_plans(*forms: Mapping[str, Any]) -> Planner:
    planner = Planner(ESTONIA)
    planner.update_plans([replace(subentry(form), subentry_id=f"{at}") for at, form in enumerate(forms)], NIGHT)
    return planner


def test_a_kwh_of_sun_counts_for_one_plan_only() -> None:
    """The first plan takes 2 of the 3 kW at noon. What is left is worth less to the second than the cheap night."""
    buying = line(settled(NIGHT, [0.2] * 3 + [0.3] * 21))
    sun = Sun({clock(12): 3.0})
    planner = two_plans({**CAR, "energy": 2}, {**CAR, "energy": 4, "power": 4})
    for _ in range(2):
        first, second = map(window, planner.update_outcomes(buying, NIGHT - HOUR_S, sun).values())
        assert (hours(first), first.sun_kwh) == ([(12, 13)], 2.0)
        assert (hours(second), second.sun_kwh) == ([(0, 1)], 0.0)
    alone = two_plans({**CAR, "energy": 4, "power": 4})
    assert hours(alone.update_outcomes(buying, NIGHT - HOUR_S, sun)["0"]) == [(12, 13)]


def test_a_window_that_has_begun_keeps_its_sun_from_plans_before_it() -> None:
    buying = line(settled(NIGHT, [0.2] * 14 + [0.1] * 10))
    sun = Sun({clock(12): 2.0, clock(13): 2.0})
    later = {**CAR, "energy": 4, "earliest": "12:00:00", "deadline": "14:00:00"}
    planner = two_plans({**CAR, "energy": 2, "earliest": "13:00:00", "deadline": "23:00:00"}, later)
    planner.replace_plans({"0": planner.plans["0"].with_change(PlanChange(enabled=False), NIGHT)}, NIGHT)
    assert hours(planner.update_outcomes(buying, clock(12), sun)["1"]) == [(12, 14)]
    planner.replace_plans({"0": planner.plans["0"].with_change(PlanChange(enabled=True), clock(12))}, clock(12))
    found = planner.update_outcomes(buying, clock(12) + QUARTER_S, sun)
    assert [(hours(one), window(one).sun_kwh) for one in found.values()] == [([(14, 15)], 0.0), ([(12, 14)], 4.0)]


def test_without_sun_a_planner_decides_as_before() -> None:
    buying = line(settled(NIGHT, [0.3, 0.1, 0.2] * 8))
    planner = planner_of(CAR)
    assert planner.update_outcomes(buying, NIGHT)["plan"] == next_outcome(planner.settings["plan"], buying, NIGHT)
