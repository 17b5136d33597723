"""Plans with two deadlines, which run twice a day."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import next_outcome, next_window
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.spans import spans
from tests.support.household.outcomes import clock, hours, window
from tests.support.household.plan_days import timeline_at
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, at, line, settled


def plan(**form: object) -> PlanSettings:
    return PlanSettings.from_mapping({"duration": 120, "deadline": "06:00:00", "deadline_2": "18:00:00", **form})


DAY = [0.3, 0.1, 0.1, *[0.3] * 10, 0.2, 0.2, *[0.3] * 6, 0.1, *[0.3] * 2]
DAYS = line(settled(NIGHT, DAY * 2))


def test_each_deadline_has_a_window_of_its_own() -> None:
    first = window(next_outcome(plan(), DAYS, clock(0)))
    assert hours(first) == [(1, 3)]
    assert hours(next_window(plan(), DAYS, first)) == [(13, 15)]
    began = next_outcome(plan(), DAYS, clock(1), first)
    second = next_outcome(plan(), DAYS, clock(3), began)
    assert hours(second) == [(13, 15)]
    began = next_outcome(plan(), DAYS, clock(13), second)
    assert hours(next_outcome(plan(), DAYS, clock(15), began)) == [(25, 27)]


def test_a_short_rest_of_one_time_does_not_wait_for_the_next() -> None:
    found = window(next_outcome(plan(split=True), DAYS, clock(5)))
    assert hours(found) == [(5, 6)]
    assert found.shortened
    assert hours(next_outcome(plan(), DAYS, clock(5))) == [(13, 15)], "in one go, only the whole duration counts"
    later = replace(plan(split=True, starts="next_period"), said_at=clock(0))
    assert hours(next_outcome(later, DAYS, clock(0))) == [(13, 15)]


def test_both_times_get_the_whole_energy() -> None:
    asked = plan(energy=4, power=2, duration=None)
    first = next_outcome(asked, DAYS, clock(1))
    assert hours(first) == [(1, 3)]
    assert hours(next_outcome(asked, DAYS, clock(3), first)) == [(13, 15)]


@settings(max_examples=30)
@given(
    st.sampled_from(["2026-10-24T00:00", "2026-03-28T00:00", "2026-11-20T00:00"]),
    st.lists(st.integers(0, 95), min_size=2, max_size=2, unique=True),
    st.sampled_from(
        [
            {"duration": 90},
            {"split": True, "min_piece": 15},
            {"split": True, "min_piece": 30, "more_below": 6, "horizon": "expected"},
            {"energy": 3, "power": 2, "split": True, "duration": None, "horizon": "cautious"},
            {"kind": "dearest", "tolerance": 1},
        ]
    ),
    st.sampled_from([{}, {"weekdays": ["sat", "mon"]}]),
)
def test_it_runs_as_two_plans_do_each_from_one_deadline_to_the_other(
    day: str, quarters: list[int], form: dict[str, Any], days: dict[str, Any]
) -> None:
    walls = [f"{quarter // 4:02}:{quarter % 4 * 15:02}:00" for quarter in quarters]
    both, _ = ran(plan(**form, **days, deadline=walls[0], deadline_2=walls[1]), at(day), 3)
    alone: list[int] = []
    for earliest, deadline in (walls, walls[::-1]):
        alone += ran(plan(**form, **days, earliest=earliest, deadline=deadline, deadline_2=None), at(day), 3)[0]
    assert both == sorted(alone)


@pytest.mark.parametrize("day", ["2026-10-23T00:00", "2026-03-27T00:00"], ids=["autumn", "spring"])
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"split": True, "min_piece": 15},
        {"split": True, "horizon": "expected", "min_pause": 45},
        {"energy": 3, "power": 1.5, "split": True, "duration": None},
        {"split": True, "more_below": 5},
        {"tolerance": 2, "prefer": "latest"},
        {"weekdays": ["sat", "sun"]},
    ],
)
def test_over_days_each_deadline_has_its_hours(day: str, form: dict[str, Any]) -> None:
    asked, first = plan(**form), at(day)
    on, outcome = ran(asked, first, 5)
    found = [span for span in spans(asked, first, first + 5 * DAY_S) if first <= span.opens < first + 4 * DAY_S]
    assert len(found) == (4 if "weekdays" in form else 8)
    for span in found:
        used = len([quarter for quarter in on if span.opens <= quarter < span.closes])
        assert used >= 8 if "more_below" in form else used == 8
    assert outcome is not None


@pytest.mark.parametrize("day", ["2026-10-23T00:00", "2026-03-27T00:00"], ids=["autumn", "spring"])
def test_the_longest_pause_counts_between_the_two_windows(day: str) -> None:
    def longest_off(asked: PlanSettings) -> int:
        on, _ = ran(asked, at(day), 6)
        return max(later - earlier - QUARTER_S for earlier, later in pairwise(on))

    assert longest_off(plan(duration=60)) > 15 * HOUR_S
    assert longest_off(plan(duration=60, max_pause=12 * 60 + 30)) <= 12.5 * HOUR_S


def ran(asked: PlanSettings, first: int, days: int) -> tuple[list[int], object]:
    """Return the quarters in which a plan runs, and its last outcome."""
    outcome, on = None, []
    for now in range(first, first + days * DAY_S, QUARTER_S):
        outcome = next_outcome(asked, timeline_at(now), now, outcome)
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.append(now)
    return on, outcome
