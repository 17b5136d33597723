"""Plans over several days, quarter by quarter, with both changes of the clock, and with clocks and prices that fail."""

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.outcome import Outcome, Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.search import window_in_span
from custom_components.tunnihind.plans.settings import MAX_DAYS, Horizon, PlanSettings
from custom_components.tunnihind.plans.spans import latest_close_to_wait_for, spans
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.household.plan_days import Household, goes_on, noise, timeline_at, true_price
from tests.support.household.timelines import DAY_S, QUARTER_S, at

FORMS: dict[str, dict[str, Any]] = {
    "day": {"duration": 180},
    "day split": {"duration": 195, "split": True, "min_piece": 45},
    "night": {"duration": 240, "earliest": "22:00:00", "deadline": "07:00:00"},
    "over the change of the clock": {"duration": 60, "earliest": "01:30:00", "deadline": "05:15:00"},
    "by the morning, two days": {
        "duration": 300,
        "split": True,
        "deadline": "07:00:00",
        "days": 2,
        "weekdays": ["mon", "fri"],
    },
    "three days, every day": {"energy": 25, "power": 2.3, "split": True, "deadline": "06:00:00", "days": 3},
    "capped": {"duration": 120, "price_cap": 6},
    "capped split": {"duration": 360, "split": True, "min_piece": 15, "price_cap": 5},
    "nearly all day": {"duration": 1320, "split": True, "min_piece": 60},
    "car": {"energy": 31, "power": 7.4, "split": True, "min_piece": 30, "max_starts": 2, "deadline": "07:00:00"},
    "more than fits": {"energy": 60, "power": 2, "earliest": "22:00:00", "deadline": "07:00:00"},
    "dearest": {"kind": "dearest", "duration": 150, "split": True, "min_piece": 30, "max_starts": 2},
    "earlier": {"duration": 180, "tolerance": 2},
    "with pauses": {"duration": 300, "split": True, "min_piece": 30, "min_pause": 75},
    "boiler": {"duration": 120, "split": True, "min_piece": 30, "max_pause": 840},
    "boiler, in one go": {"duration": 120, "max_pause": 1440},
    "later, split": {"duration": 195, "split": True, "min_piece": 15, "tolerance": 1.5, "prefer": "latest"},
}
PERIODS = {"spring": "2026-03-27T00:00", "autumn": "2026-10-23T00:00"}
DAYS = 5


@cache
def lived(name: str, horizon: Horizon, period: str, *, late_s: int = 0) -> Household:
    """Return the household after five days from the first of a period."""
    household = Household(PlanSettings.from_mapping({**FORMS[name], "horizon": horizon.value}))
    first = at(PERIODS[period])
    for now in range(first, first + DAYS * DAY_S, QUARTER_S):
        household.tick(now, timeline_at(now, late_s=late_s))
    return household


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("horizon", Horizon)
@pytest.mark.parametrize("name", FORMS)
def test_every_occurrence_runs_once_for_its_whole_length(name: str, horizon: Horizon, period: str) -> None:
    household = lived(name, horizon, period)
    assert household.runs
    end = at(PERIODS[period]) + DAYS * DAY_S
    for span, run in household.runs.items():
        length = sum(stop - start for start, stop in run.pieces)
        assert span.opens <= run.start
        assert run.end <= span.closes
        assert run.shortened == (length < household.plan.duration_s)
        if run.end <= end:
            assert household.on[span] == length
        if household.plan.most_pieces is not None:
            assert len(run.pieces) <= household.plan.most_pieces
        if household.plan.min_piece_s is None and household.plan.energy_kwh is None:
            assert (len(run.pieces), run.shortened) == (1, False)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize("horizon", Horizon)
@pytest.mark.parametrize("name", ["day", "day split", "night", "over the change of the clock"])
def test_no_occurrence_is_left_out(name: str, horizon: Horizon, period: str) -> None:
    household = lived(name, horizon, period)
    first = at(PERIODS[period])
    whole = [
        span
        for span in spans(household.plan, first, first + DAYS * DAY_S)
        if first <= span.opens and span.closes <= first + DAYS * DAY_S
    ]
    assert len(whole) >= DAYS - 1
    assert set(whole) <= set(household.runs)


@settings(max_examples=40)
@given(
    st.sampled_from(
        [
            {"duration": 480, "split": True, "min_piece": 15, "horizon": "expected"},
            {"duration": 1200, "split": True, "min_piece": 60, "max_starts": 4},
            {"duration": 240, "split": True, "min_piece": 30, "tolerance": 1, "prefer": "latest"},
            {"kind": "dearest", "duration": 300, "split": True, "min_piece": 15},
            {"energy": 20, "power": 2, "split": True, "min_piece": 15, "deadline": "07:10:00", "horizon": "cautious"},
            {"kind": "below", "price_cap": 9, "min_piece": 15, "horizon": "expected"},
            {"kind": "above", "price_cap": 7, "min_piece": 30, "deadline": "07:10:00"},
            {"kind": "below", "price_cap": 9, "earliest": "20:00:00", "deadline": "06:00:00", "days": 2},
        ]
    ),
    st.sampled_from([15, 45, 60, 120]),
    st.sampled_from(list(PERIODS.values())),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_a_device_is_never_off_for_less_than_its_shortest_pause(
    form: dict[str, Any], min_pause: int, period: str, losses: list[int]
) -> None:
    plan = PlanSettings.from_mapping({**form, "min_pause": min_pause})
    first = at(period)
    outcome: Outcome | None = None
    on = []
    for now in range(first, first + 4 * DAY_S, QUARTER_S):
        known = with_losses(timeline_at(now), losses[(now - first) // (6 * HOUR_S) % len(losses)])
        outcome = next_outcome(plan, known, now, outcome)
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.append(now)
    offs = [later - earlier - QUARTER_S for earlier, later in pairwise(on)]
    assert all(off == 0 or off >= min_pause * 60 for off in offs)


@pytest.mark.parametrize("period", PERIODS)
@pytest.mark.parametrize(
    "form",
    [
        {"duration": 120, "max_pause": 1440},
        {"duration": 120, "max_pause": 1410, "horizon": "expected"},
        {"duration": 120, "split": True, "min_piece": 30, "max_pause": 840},
        {"duration": 120, "split": True, "min_piece": 30, "max_pause": 600, "min_pause": 60},
        {"energy": 4, "power": 2, "split": True, "min_piece": 15, "max_pause": 720, "deadline": "07:00:00"},
        {"duration": 135, "split": True, "min_piece": 45, "max_pause": 840, "start_cost": 5},
    ],
)
def test_a_boiler_is_never_off_for_more_than_its_longest_pause(form: dict[str, Any], period: str) -> None:
    without = {name: value for name, value in form.items() if name != "max_pause"}
    assert longest_off_s(PlanSettings.from_mapping(without), at(PERIODS[period])) > form["max_pause"] * 60
    assert longest_off_s(PlanSettings.from_mapping(form), at(PERIODS[period])) <= form["max_pause"] * 60


def longest_off_s(plan: PlanSettings, first: int) -> int:
    """Return the longest time in seconds for which a device is off between two pieces in eight days."""
    outcome: Outcome | None = None
    on = []
    for now in range(first, first + 8 * DAY_S, QUARTER_S):
        outcome = next_outcome(plan, timeline_at(now), now, outcome)
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.append(now)
    return max(later - earlier - QUARTER_S for earlier, later in pairwise(on))


def test_a_plan_never_runs_in_an_hour_above_its_cap() -> None:
    for name in ("capped", "capped split"):
        household = lived(name, Horizon.PUBLISHED, "autumn")
        cap = household.plan.price_limit
        assert cap is not None
        for run in household.runs.values():
            for start, end in run.pieces:
                timeline = timeline_at(start)
                assert all(hour.price <= cap for hour in timeline.periods_between(start, end))


def test_publication_ten_hours_late_still_lets_every_day_run() -> None:
    household = lived("day", Horizon.PUBLISHED, "autumn", late_s=10 * HOUR_S)
    assert len(household.runs) >= DAYS - 1


def test_publication_after_midnight_still_lets_a_split_plan_run_its_whole_time() -> None:
    late = lived("day split", Horizon.PUBLISHED, "autumn", late_s=13 * HOUR_S)
    assert len(late.runs) >= DAYS - 1
    assert all(sum(end - start for start, end in run.pieces) == 195 * 60 for run in late.runs.values())


def test_a_published_plan_never_rests_on_a_forecast() -> None:
    household = lived("by the morning, two days", Horizon.PUBLISHED, "spring")
    assert all(run.forecast_share == 0 for run in household.runs.values())


@settings(max_examples=80)
@given(
    st.integers(0, 7 * 96),
    st.integers(1, 110),
    st.integers(1, MAX_DAYS),
    st.sampled_from([None, "06:00:00", "14:15:00"]),
    st.sampled_from([["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ["mon", "tue", "fri"], ["wed"]]),
)
def test_a_plan_runs_whole_on_the_first_of_its_days_with_room(
    quarter: int, quarters: int, days: int, deadline: str | None, weekdays: list[str]
) -> None:
    form = {"deadline": deadline, "days": days, "weekdays": weekdays, "split": True, "min_piece": 15}
    plan = PlanSettings.from_mapping({**form, "energy": quarters / 4, "power": 1})
    first = at("2026-11-02T00:00")
    known = Timeline(
        HOUR_S,
        (
            Period(start, start + HOUR_S, price := true_price(start), price, price, settled=True)
            for start in range(first - 10 * DAY_S, first + 30 * DAY_S, HOUR_S)
        ),
    )
    now = first + quarter * QUARTER_S
    ahead = list(spans(plan, now, now + 8 * DAY_S))
    windows = [
        window_in_span(plan, known, span, now)
        for span in ahead
        if span.closes <= latest_close_to_wait_for(plan, ahead[0])
    ]
    whole = [window for window in windows if isinstance(window, Window) and not window.shortened]
    outcome = next_outcome(plan, known, now)
    assert isinstance(outcome, Window)
    if whole:
        assert (outcome.span, outcome.pieces) == (whole[0].span, whole[0].pieces)
    else:
        windows = [window_in_span(plan, known, span, now) for span in ahead]
        assert outcome.span == next(window.span for window in windows if isinstance(window, Window))


PLANS = st.builds(
    lambda form, horizon: PlanSettings.from_mapping({**form, "horizon": horizon.value}),
    st.sampled_from(list(FORMS.values())),
    st.sampled_from(Horizon),
)
STEPS = st.one_of(st.just(QUARTER_S), st.integers(0, 3 * HOUR_S), st.integers(-30 * HOUR_S, 30 * HOUR_S))


@settings(max_examples=60)
@given(PLANS, st.lists(st.tuples(STEPS, st.integers(0, 3)), max_size=60), st.sampled_from(list(PERIODS.values())))
def test_no_clock_or_price_moves_a_window_that_has_begun(
    plan: PlanSettings, steps: list[tuple[int, int]], first: str
) -> None:
    now = at(first) + DAY_S
    outcome: Outcome | None = None
    run: Window | None = None
    for step, loss in steps:
        now += step
        outcome = next_outcome(plan, with_losses(timeline_at(now), loss), now, outcome)
        if run is not None and now < run.span.opens:
            run = None
        if run is not None and now < run.end:
            assert isinstance(outcome, Window)
            assert goes_on(run, outcome)
        elif isinstance(outcome, Window):
            assert outcome.end > now
            assert run is None or outcome.span.opens >= run.end or (outcome.span == run.span and goes_on(run, outcome))
            assert outcome.span.opens <= outcome.start
            assert outcome.end <= outcome.span.closes
        if isinstance(outcome, Window) and outcome.locked:
            run = outcome


def with_losses(timeline: Timeline, loss: int) -> Timeline:
    """Return a timeline with all hours, nine of ten, every second or so, or none."""
    chance = (0.0, 0.1, 0.5, 1.0)[loss]
    return Timeline(HOUR_S, (hour for hour in timeline.periods if noise(hour.start) >= chance))
