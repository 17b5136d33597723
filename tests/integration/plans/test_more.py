"""Plans that run for at least a given time, and longer while electricity is cheap."""

from collections.abc import Sequence
from typing import Any

import pytest

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.outcome import Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.spans import spans
from custom_components.tunnihind.prices.timeline import Timeline
from tests.support.household.outcomes import clock, hours, window
from tests.support.household.plan_days import timeline_at, true_price
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, at, line, predicted, settled

DAY = [0.2, 0.1, 0.1, 0.3, 0.3, 0.07, 0.4, 0.08, 0.5, 0.3, *[0.2] * 14]
TODAY = line(settled(NIGHT, DAY))


def plan(**form: object) -> PlanSettings:
    return PlanSettings.from_mapping({"duration": 120, "split": True, **form})


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, [(5, 6), (7, 8)]),
        ({"more_below": 9}, [(5, 6), (7, 8)]),
        ({"more_below": 10}, [(1, 3), (5, 6), (7, 8)]),
        ({"more_below": 10, "max_starts": 2}, [(5, 6), (7, 8)]),
        ({"more_below": 10, "deadline": "06:00:00"}, [(1, 3), (5, 6)]),
        ({"more_below": 10, "price_cap": 9}, [(5, 6), (7, 8)]),
        ({"more_below": -1, "duration": 480}, [(0, 3), (5, 6), (7, 8), (10, 13)]),
        ({"more_below": 9, "split": False}, [(1, 3)]),
        ({"more_below": 17, "split": False}, [(1, 3)]),
        ({"more_below": 21, "split": False}, [(0, 3)]),
    ],
)
def test_the_cheapest_hours_come_first_and_cheap_ones_on_top(
    form: dict[str, Any], expected: list[tuple[float, float]]
) -> None:
    found = window(next_outcome(plan(**form), TODAY, NIGHT))
    assert hours(found) == expected
    assert not found.shortened


def test_the_forecast_may_take_hours_back_but_not_those_that_are_needed() -> None:
    asked = plan(more_below=10, horizon="expected")
    hoped = line(settled(NIGHT, [0.05]), predicted(NIGHT + HOUR_S, [*[(0.05, 0.08, 0.1)] * 6, *[(0.3, 0.4, 0.5)] * 17]))
    began = next_outcome(asked, hoped, NIGHT)
    assert hours(began) == [(0, 7)]
    came = line(settled(NIGHT, [0.05, 0.3, 0.3, 0.09, 0.09, *[0.3] * 19]))
    assert hours(next_outcome(asked, came, clock(0.5), began)) == [(0, 1), (3, 5)]
    dear = line(settled(NIGHT, [0.05, 0.3, 0.29, 0.4, *[0.6] * 20]))
    assert hours(next_outcome(asked, dear, clock(0.5), began)) == [(0, 1), (2, 3)]
    # The running piece keeps the length of the shortest piece, and ends once the price is known to be high.
    assert hours(next_outcome(asked, dear, clock(1.5), began)) == [(0, 2)]
    assert hours(next_outcome(asked, dear, clock(4), began)) == [(0, 4.25)]


def test_cheap_hours_that_become_known_after_the_window_reopen_it() -> None:
    asked = plan(more_below=10)
    began = next_outcome(asked, line(settled(NIGHT, DAY[:3])), clock(1))
    assert hours(began) == [(1, 3)]
    over = next_outcome(asked, line(settled(NIGHT, DAY[:3])), clock(4), began)
    assert not isinstance(over, Window)
    assert hours(next_outcome(asked, TODAY, clock(4.5), over)) == [(1, 3), (5, 6), (7, 8)]


def test_without_prices_the_chosen_hours_stay() -> None:
    began = next_outcome(plan(more_below=10), TODAY, clock(1))
    lost = line(settled(NIGHT, DAY[:5]))
    for timeline in (Timeline(HOUR_S), lost):
        assert hours(next_outcome(plan(more_below=10), timeline, clock(2), began)) == hours(began)


def test_another_price_counts_for_the_hours_ahead_and_a_longer_duration_too() -> None:
    began = next_outcome(plan(more_below=10), TODAY, clock(1))
    assert hours(next_outcome(plan(more_below=7.5), TODAY, clock(2), began)) == [(1, 2.25), (5, 6)]
    longer = plan(more_below=7.5, duration=360)
    assert hours(next_outcome(longer, TODAY, clock(2), began)) == [(1, 3), (5, 6), (7, 8), (10, 12)]


def test_in_one_go_a_window_only_becomes_longer_or_shorter() -> None:
    asked = plan(more_below=15, split=False, horizon="expected")
    hoped = line(predicted(NIGHT, [*[(0.05, 0.1, 0.2)] * 5, *[(0.3, 0.4, 0.5)] * 19]))
    began = next_outcome(asked, hoped, NIGHT)
    assert hours(began) == [(0, 5)]
    came = line(settled(NIGHT, [0.1, 0.3, 0.3, 0.05, 0.05, *[0.3] * 19]))
    assert hours(next_outcome(asked, came, clock(0.5), began)) == [(0, 5)], "the hours at 5 cents are worth the way"
    came = line(settled(NIGHT, [0.1, 0.3, 0.3, 0.12, 0.05, *[0.3] * 19]))
    shorter = next_outcome(asked, came, clock(0.5), began)
    assert hours(shorter) == [(0, 2)]
    assert not isinstance(next_outcome(asked, came, clock(3), shorter), Window)


def test_a_small_gain_moves_nothing_but_a_price_above_the_limit_counts() -> None:
    asked = plan(more_below=10, horizon="expected")
    first = line(settled(NIGHT, [0.05]), predicted(NIGHT + HOUR_S, [(0.1, 0.2, 0.3), *[(0.0, 0.2, 0.3)] * 22]))
    planned = next_outcome(asked, first, NIGHT)
    assert hours(planned) == [(0, 2)]
    moved = [(0.1, 0.2, 0.3), (0.1, 0.19, 0.3), *[(0.0, 0.2, 0.3)] * 21]
    second = line(settled(NIGHT, [0.05]), predicted(NIGHT + HOUR_S, moved))
    assert hours(next_outcome(asked, second, clock(0.25), planned)) == [(0, 2)]
    much = line(settled(NIGHT, [0.05]), predicted(NIGHT + HOUR_S, [*moved[:1], (0.1, 0.15, 0.3), *moved[2:]]))
    assert hours(next_outcome(asked, much, clock(0.25), planned)) == [(0, 1), (2, 3)]
    cheap = line(settled(NIGHT, [0.05]), predicted(NIGHT + HOUR_S, [*moved[:2], (0.0, 0.0999, 0.3), *moved[3:]]))
    assert hours(next_outcome(asked, cheap, clock(0.25), planned)) == [(0, 1), (3, 4)]


@pytest.mark.parametrize("day", ["2026-10-23T00:00", "2026-03-27T00:00"], ids=["autumn", "spring"])
@pytest.mark.parametrize("horizon", ["published", "expected"])
@pytest.mark.parametrize("form", [{"min_piece": 15}, {"min_piece": 60, "min_pause": 60}, {"split": False}])
def test_over_days_each_gets_its_hours_and_all_cheap_ones(day: str, horizon: str, form: dict[str, Any]) -> None:
    asked, first = plan(**form, more_below=6, horizon=horizon), at(day)
    outcome, on = None, set[int]()
    days = [*spans(asked, first, first + 4 * DAY_S - 2 * HOUR_S)]
    assert len(days) == 4
    for now in range(first, days[-1].closes, QUARTER_S):
        outcome = next_outcome(asked, timeline_at(now), now, outcome)
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.add(now)
    for span in days:
        quarters = range(span.opens, span.closes, QUARTER_S)
        ran = [quarter for quarter in quarters if quarter in on]
        assert len(ran) >= 8
        if form == {"min_piece": 15} and horizon == "published":
            assert ran == expected_quarters(quarters)


def expected_quarters(quarters: Sequence[int]) -> list[int]:
    """Return the eight cheapest quarters, and all others at or below 6 cents."""
    ranked = sorted(quarters, key=lambda quarter: (true_price(quarter // HOUR_S * HOUR_S), quarter))
    cheap = [quarter for quarter in quarters if true_price(quarter // HOUR_S * HOUR_S) <= 0.06]
    return sorted({*ranked[:8], *cheap})
