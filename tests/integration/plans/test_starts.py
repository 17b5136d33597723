"""Plans that start with the next whole period, beside plans that start now."""

from collections.abc import Mapping, Sequence
from datetime import date, time, timedelta
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.household.planner import Planner
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import PlanStatus
from custom_components.tunnihind.plans.settings import Starts
from custom_components.tunnihind.plans.spans import spans
from custom_components.tunnihind.plans.steering import PlanChange, SteeredPlan
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.integration.plans.test_changing_need import CAR, EVENING, NIGHT, clock, live, need
from tests.integration.plans.test_switching import change, planner_of, restarted, subentry
from tests.support.household.timelines import DAY_S, at, line, settled

LATER: Final = Starts.NEXT_PERIOD.value
NEXT: Final[Mapping[str, Any]] = {**CAR, "starts": LATER}
"""A car's plan from 18:00 to 07:00, whose cheap hours are from 22:00 on."""
BY_DURATION: Final[Mapping[str, Any]] = {"duration": 60, "earliest": "18:00:00", "deadline": "07:00:00"}
ONLY_NOW: Final[Mapping[str, Any]] = {"values": {"starts": "now"}}
# The first days of each period of tests: in spring and in autumn, the clock changes on the third night.
FIRSTS: Final = ("2026-01-14T00:00", "2026-03-27T00:00", "2026-10-23T00:00")
BOUNDS: Final[Sequence[Mapping[str, Any]]] = (
    {},
    {"deadline": "07:00:00"},
    {"earliest": "21:00:00"},
    {"earliest": "21:00:00", "deadline": "07:00:00"},
    {"earliest": "02:30:00", "deadline": "05:15:00"},
    {"deadline": "07:10:00", "days": 2, "weekdays": ["sat", "mon"]},
    {"earliest": "22:00:00", "deadline": "06:00:00", "days": 3, "weekdays": ["sun"]},
)
JOBS: Final[Sequence[Mapping[str, Any]]] = (
    {"duration": 90},
    {"duration": 150, "split": True, "min_piece": 30},
    {"duration": 60, "split": True, "min_piece": 15, "min_pause": 45, "max_starts": 2},
    {"duration": 105, "tolerance": 2, "prefer": "latest"},
    {"kind": "dearest", "duration": 120, "split": True, "min_piece": 60},
    {"kind": "below", "price_cap": 4},
    {"energy": 5, "power": 2.3, "split": True, "min_piece": 30},
    {"energy": 3, "power": 2.3, "split": False},
)
PRICES: Final = st.lists(st.integers(1, 9), min_size=9, max_size=31)


def prices_of(first: int, prices: Sequence[int], step_s: int) -> Timeline:
    """Return twelve days of published prices by the hour or the quarter, in which `prices` repeat."""
    starts = range(first - 2 * DAY_S, first + 10 * DAY_S, step_s)
    figures = [prices[place % len(prices)] / 100 for place in range(len(starts))]
    return Timeline(
        step_s,
        (
            Period(start, start + step_s, euros, euros, euros, settled=True)
            for start, euros in zip(starts, figures, strict=True)
        ),
    )


def quarters_on(planner: Planner, timeline: Timeline, since: int, until: int) -> list[int]:
    """Return the quarters of an hour in which the plan is on."""
    on = []
    for now in range(-(-since // QUARTER_S) * QUARTER_S, until, QUARTER_S):
        outcome = planner.update_outcomes(timeline, now)["plan"]
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.append(now)
    return on


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(FIRSTS),
    st.integers(0, 4 * 24 * 60),
    st.sampled_from(BOUNDS),
    st.sampled_from(JOBS),
    st.sampled_from([HOUR_S, QUARTER_S]),
    PRICES,
)
def test_a_plan_that_starts_later_runs_as_one_that_is_made_when_the_next_period_opens(
    first: str, minutes: int, bounds: Mapping[str, Any], job: Mapping[str, Any], step_s: int, prices: list[int]
) -> None:
    form = {**bounds, **job}
    made, end = at(first) + minutes * 60 + 7, at(first) + 7 * DAY_S
    timeline = prices_of(at(first), prices, step_s)
    if "energy" in form and "deadline" not in form:
        opens = made  # a need of its own, with a whole period
    else:
        every = spans(SteeredPlan(form).settings(), made - 9 * DAY_S, made + 9 * DAY_S)
        opens = min(span.opens for span in every if span.opens >= made)
    later = planner_of({**form, "starts": LATER}, made)
    assert quarters_on(later, timeline, made, end) == quarters_on(planner_of(form, opens), timeline, opens, end)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([CAR, {**CAR, "split": False, "min_piece": None}, {**CAR, "earliest": None}]),
    st.sampled_from(FIRSTS),
    st.sampled_from([HOUR_S, QUARTER_S]),
    PRICES,
    st.lists(st.tuples(st.integers(0, 3 * 24 * 60), st.integers(1, 300)), max_size=12),
)
def test_readings_of_a_need_never_put_it_off(
    form: Mapping[str, Any], first: str, step_s: int, prices: list[int], says: list[tuple[int, int]]
) -> None:
    """Plans that were made before the period opened are the same, whichever readings follow, if none says 0 kWh."""
    made = at(first) - 2 * DAY_S
    timeline = prices_of(at(first), prices, step_s)
    now, later = (planner_of({**form, "starts": starts}, made) for starts in Starts)
    changes = {at(first) + minutes * 60: kwh / 10 for minutes, kwh in says}
    for instant in sorted({*range(at(first), at(first) + 3 * DAY_S, QUARTER_S), *changes}):
        if kwh := changes.get(instant):
            for planner in (now, later):
                change(planner, instant, values={"energy": kwh}, energy_read_at=instant)
        assert now.update_outcomes(timeline, instant) == later.update_outcomes(timeline, instant)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(FIRSTS), st.integers(1, 3 * 24 * 60), st.booleans(), PRICES)
def test_a_need_that_appears_waits_for_the_next_period(
    first: str, minutes: int, restarts: bool, prices: list[int]
) -> None:
    said = at(first) + minutes * 60
    timeline = prices_of(at(first), prices, HOUR_S)
    planner = planner_of({**NEXT, "energy": 0}, at(first) - DAY_S)
    assert quarters_on(planner, timeline, at(first), said) == []
    change(planner, said, **need(12))
    if restarts:
        planner = restarted(planner, {**NEXT, "energy": 0})
    on = quarters_on(planner, timeline, said, said + 2 * DAY_S)
    day = date.fromisoformat(first[:10])
    evenings = (ESTONIA.instant(day + timedelta(days=number), time(18)) for number in range(5))
    opening = next(evening for evening in evenings if evening >= said)
    assert on[0] >= opening
    assert len([quarter for quarter in on if quarter < opening + 18 * HOUR_S]) == 5


def test_a_plan_made_in_the_evening_does_not_run_the_same_night() -> None:
    for form in (CAR, BY_DURATION):
        later = planner_of({**form, "starts": LATER}, clock(21.1))
        assert live(later, NIGHT, 21.25, 50) == [(46, 47)]
        assert live(planner_of(form, clock(21.1)), NIGHT, 21.25, 50) == [(22, 23), (46, 47)]


def test_a_plan_that_waits_is_planned_and_nothing_is_missing() -> None:
    planner = planner_of(NEXT, clock(21.1))
    planner.update_outcomes(NIGHT, clock(21.25))
    assert planner.status("plan", clock(21.25)) == PlanStatus.PLANNED
    assert planner.missing_kwh("plan", clock(21.25)) == 0


def test_a_period_that_opens_when_the_plan_is_made_is_whole() -> None:
    assert live(planner_of(NEXT, clock(18)), NIGHT, 18, 32) == [(22, 23)]


def test_a_need_of_0_in_between_waits_for_the_next_period() -> None:
    assert live(planner_of(NEXT, clock(12)), NIGHT, 20, 50, {22.5: need(0), 24.5: need(20)}) == [(22, 23), (46, 48)]


@pytest.mark.parametrize("starts", Starts)
def test_said_anew_the_present_period_is_left_out_save_for_the_running_piece_of_a_plan_by_energy(
    starts: Starts,
) -> None:
    two_hours = line(settled(EVENING, [*[0.9] * 4, 0.05, *[0.9] * 3, 0.05, *[0.9] * 15, *[0.05] * 9]))
    form = {**CAR, "energy": 20, "min_piece": 60, "starts": starts.value}
    assert live(planner_of(form, clock(12)), two_hours, 20, 32) == [(22, 23), (26, 27)]
    said = {22.5: {"values": {"starts": LATER}}}
    assert live(planner_of(form, clock(12)), two_hours, 20, 50, said) == [(22, 23), (42, 44)]


def test_said_anew_a_window_that_has_begun_stays_in_a_plan_by_duration() -> None:
    two_hours = line(settled(EVENING, [*[0.9] * 4, 0.05, *[0.9] * 3, 0.05, *[0.9] * 15, *[0.05] * 9]))
    form = {**BY_DURATION, "duration": 120, "split": True, "min_piece": 60}
    said = {22.5: {"values": {"starts": LATER}}}
    assert live(planner_of(form, clock(12)), two_hours, 20, 50, said) == [(22, 23), (26, 27), (42, 44)]


def test_before_it_begins_a_window_is_put_off_or_taken_at_once() -> None:
    assert live(planner_of(CAR, clock(12)), NIGHT, 20, 50, {21.0: {"values": {"starts": LATER}}}) == [(46, 47)]
    assert live(planner_of(NEXT, clock(21)), NIGHT, 21, 50, {21.5: ONLY_NOW}) == [(22, 23), (46, 47)]
    again = {21.5: ONLY_NOW, 21.75: {"clear": ["starts"]}}
    assert live(planner_of(NEXT, clock(21)), NIGHT, 21, 50, again) == [(46, 47)]


def test_a_saved_form_counts_from_then_on_if_it_changes_the_need_or_the_start() -> None:
    for form, expected in (
        ({**NEXT, "energy": 20}, clock(21)),
        ({**CAR, "energy": 10}, clock(21)),
        ({**NEXT, "power": 5}, clock(12)),
    ):
        planner = planner_of(NEXT, clock(12))
        planner.update_plans([subentry(form)], clock(21))
        assert planner.plans["plan"].said_at == expected


def test_a_clock_that_was_ahead_when_it_was_said_puts_the_plan_off_no_longer() -> None:
    planner = planner_of(NEXT, clock(18) + 3 * DAY_S)
    assert live(planner, NIGHT, 17, 32) == [(22, 23)]


def test_a_plan_that_was_stored_before_this_setting_counts_at_once() -> None:
    assert SteeredPlan(NEXT).with_change(PlanChange(values={"power": 5}), clock(21)).said_at is None
    planner = planner_of(NEXT, clock(21))
    planner.plans["plan"] = SteeredPlan(NEXT, needed_since=clock(21))
    planner.replace_plans({"plan": planner.plans["plan"]}, clock(21))
    assert live(planner, NIGHT, 21, 32) == [(22, 23)]
