"""Plans that are switched off and on, and planned again: when they run, and which past windows are noted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from homeassistant.config_entries import ConfigSubentry
from hypothesis import example, given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.household.planner import Planner
from custom_components.tunnihind.plans.outcome import NoWindow, Window
from custom_components.tunnihind.plans.steering import PlanChange
from custom_components.tunnihind.prices.timeline import Timeline
from custom_components.tunnihind.storage import StoredState, stored_state_from
from tests.support.household.timelines import DAY_S, NIGHT, line, predicted, settled

MINUTE_S = 60
PRICES = st.lists(st.integers(0, 9), min_size=24, max_size=24)
# Minutes of the day at which the switch changes.
SWITCHED = st.lists(st.integers(0, 24 * 60 - 1), max_size=6, unique=True).map(sorted)
SPLIT = st.builds(
    lambda quarters, piece: {"duration": 15 * quarters, "split": True, "min_piece": 15 * piece},
    st.integers(1, 24),
    st.integers(1, 4),
)
ONE_PIECE = st.builds(lambda quarters: {"duration": 15 * quarters, "split": False}, st.integers(1, 24))


def planner_of(form: Mapping[str, Any], now: int = NIGHT) -> Planner:
    """Return a planner with one plan, made at `now` (UTC seconds)."""
    planner = Planner(ESTONIA)
    planner.update_plans([subentry(form)], now)
    return planner


def subentry(form: Mapping[str, Any]) -> ConfigSubentry:
    data = MappingProxyType(dict(form))
    return ConfigSubentry(data=data, subentry_id="plan", subentry_type="plan", title="Plan", unique_id=None)


def change(planner: Planner, now: int, *, replan: bool = False, **fields: Any) -> None:  # noqa: ANN401  fields of a plan's form
    plan = planner.plan("plan")
    assert plan is not None
    planner.replace_plans({"plan": plan.with_change(PlanChange(**fields), now)}, now, replan=replan)


def restarted(planner: Planner, form: Mapping[str, Any]) -> Planner:
    """Return a planner that knows what this one stored."""
    stored = StoredState(outcomes=planner.outcomes, ran=planner.begun_windows, steered=planner.plans)
    other = Planner(ESTONIA)
    other.restore([subentry(form)], stored_state_from(json.loads(json.dumps(asdict(stored)))), NIGHT)
    return other


def day_of(
    form: Mapping[str, Any], timeline: Timeline, switched: Sequence[int], *, restarts: bool = False
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Run a day, and return the times of the plan's runs and of its noted windows, in minutes of the day."""
    planner = planner_of(form)
    seen: list[tuple[int, int]] = []
    minutes = sorted({*range(0, 24 * 60, 15), *switched})
    for minute, following in zip(minutes, [*minutes[1:], 24 * 60], strict=True):
        now = NIGHT + minute * MINUTE_S
        if minute in switched:
            plan = planner.plan("plan")
            assert plan is not None
            planner.update_outcomes(timeline, now)
            change(planner, now, enabled=not plan.enabled)
        if restarts:
            planner = restarted(planner, form)
        outcome = planner.update_outcomes(timeline, now)["plan"]
        if isinstance(outcome, Window) and outcome.runs_at(now):
            seen = joined(seen, (minute, following))
    noted: list[tuple[int, int]] = []
    for window in planner.windows("plan"):
        for start, end in window.pieces:
            if start < NIGHT + DAY_S:
                noted = joined(noted, ((start - NIGHT) // MINUTE_S, (end - NIGHT) // MINUTE_S))
    return seen, noted


def joined(pieces: list[tuple[int, int]], piece: tuple[int, int]) -> list[tuple[int, int]]:
    if pieces and pieces[-1][1] == piece[0]:
        return [*pieces[:-1], (pieces[-1][0], piece[1])]
    return [*pieces, piece]


def length(pieces: Sequence[tuple[int, int]]) -> int:
    return sum(end - start for start, end in pieces)


@given(SPLIT | ONE_PIECE, PRICES, SWITCHED, st.booleans())
@example(form={"duration": 15, "split": False}, prices=[0] * 24, switched=[0], restarts=False)
@settings(max_examples=150)
def test_a_switched_plan_runs_as_noted_never_while_off_and_no_longer_than_requested(
    form: dict[str, Any], prices: list[int], switched: list[int], restarts: bool
) -> None:
    seen, noted = day_of(form, line(settled(NIGHT, prices)), switched, restarts=restarts)
    assert noted == seen
    bounds = [*switched, 24 * 60] if len(switched) % 2 else switched
    for off, on in zip(bounds[::2], bounds[1::2], strict=True):
        assert all(end <= off or on <= start for start, end in seen)
    assert length(seen) <= form["duration"]


@given(ONE_PIECE, PRICES, st.floats(0, 1), st.integers(1, 12))
@settings(max_examples=100)
def test_one_piece_that_is_off_for_a_moment_goes_on(
    form: dict[str, Any], prices: list[int], share: float, pause: int
) -> None:
    timeline = line(settled(NIGHT, prices))
    [(start, end)] = day_of(form, timeline, [])[0]
    off = start + 1 + int(share * (end - start - pause - 2))
    seen, _ = day_of(form, timeline, [off, off + pause])
    assert seen == [(start, off), (off + pause, end)]


def test_a_plan_switched_off_at_the_moment_its_window_begins_has_not_run() -> None:
    timeline = line(settled(NIGHT, [5] * 3 + [1] * 2 + [5] * 19))
    planner = planner_of({"duration": 120})
    planner.update_outcomes(timeline, NIGHT)
    change(planner, NIGHT + 3 * HOUR_S, enabled=False)
    outcome = planner.update_outcomes(timeline, NIGHT + 3 * HOUR_S)["plan"]
    assert isinstance(outcome, NoWindow)
    assert (outcome.last_run, outcome.rest, planner.windows("plan")) == (None, (), [])


def test_the_average_of_a_cut_window_is_of_the_time_that_ran() -> None:
    timeline = line(settled(NIGHT, [1.0, 3.0, *[9.0] * 22]))
    planner = planner_of({"duration": 120})
    planner.update_outcomes(timeline, NIGHT)
    change(planner, NIGHT + HOUR_S, enabled=False)
    planner.update_outcomes(timeline, NIGHT + HOUR_S)
    [ran] = planner.windows("plan")
    assert (ran.pieces, ran.average, ran.saving) == (((NIGHT, NIGHT + HOUR_S),), 1.0, None)


def test_the_figures_of_a_resumed_window_are_of_the_time_before_and_after_the_pause() -> None:
    bands = [(1.0, 2.0, 3.0), (2.0, 3.0, 4.0), *[(8.0, 9.0, 10.0)] * 21]
    timeline = line(settled(NIGHT, [1.0]), predicted(NIGHT + HOUR_S, bands))
    planner = planner_of({"duration": 180, "horizon": "expected"})
    planner.update_outcomes(timeline, NIGHT)
    for hours, enabled in ((1, False), (2, True)):
        change(planner, NIGHT + hours * HOUR_S, enabled=enabled)
        planner.update_outcomes(timeline, NIGHT + hours * HOUR_S)
    [ran] = planner.windows("plan")
    assert ran.pieces == ((NIGHT, NIGHT + HOUR_S), (NIGHT + 2 * HOUR_S, NIGHT + 3 * HOUR_S))
    assert (ran.average, ran.forecast_share) == (2.0, 0.5)


def test_a_plan_switched_off_and_on_at_once_goes_on_unshortened() -> None:
    timeline = line(settled(NIGHT, [1.0, 3.0, 1.0, *[3.0] * 21]))
    planner = planner_of({"duration": 120, "split": True, "min_piece": 60})
    now = NIGHT + 2 * HOUR_S + QUARTER_S
    for instant in (NIGHT, NIGHT + 2 * HOUR_S):
        planner.update_outcomes(timeline, instant)
    for enabled in (False, True):
        change(planner, now, enabled=enabled)
        outcome = planner.update_outcomes(timeline, now)["plan"]
    assert isinstance(outcome, Window)
    assert outcome.pieces == ((NIGHT, NIGHT + HOUR_S), (NIGHT + 2 * HOUR_S, NIGHT + 3 * HOUR_S))
    assert not outcome.shortened


def test_a_clock_set_back_before_the_span_also_forgets_a_cut_window() -> None:
    timeline = line(settled(NIGHT, [1.0] * 24))
    planner = planner_of({"duration": 120, "earliest": "02:00:00", "deadline": "12:00:00"})
    for now in (NIGHT + 2 * HOUR_S, NIGHT + 3 * HOUR_S):
        planner.update_outcomes(timeline, now)
    change(planner, NIGHT + 3 * HOUR_S, enabled=False)
    planner.update_outcomes(timeline, NIGHT + 3 * HOUR_S)
    outcome = planner.update_outcomes(timeline, NIGHT + HOUR_S)["plan"]
    assert isinstance(outcome, NoWindow)
    assert (outcome.last_run, outcome.rest) == (None, ())


def test_a_windows_missing_time_is_counted_from_the_need_at_its_start() -> None:
    known = line(settled(NIGHT, [1.0]))
    planner = planner_of({"energy": 12, "power": 4, "split": True, "min_piece": 60, "deadline": "12:00:00"})
    planner.update_outcomes(known, NIGHT)
    change(planner, NIGHT + HOUR_S, values={"energy": 8})  # the car has charged 4 kWh
    outcome = planner.update_outcomes(line(settled(NIGHT, [1.0] * 24)), NIGHT + HOUR_S)["plan"]
    assert isinstance(outcome, Window)
    assert outcome.pieces == ((NIGHT, NIGHT + 3 * HOUR_S),)
    assert outcome.cost is not None
    assert (outcome.cost.energy, outcome.cost.expected) == (12, 12)
    assert not outcome.shortened


def test_a_device_that_needs_nothing_more_gets_no_missing_time() -> None:
    known = line(settled(NIGHT, [1.0]))
    planner = planner_of({"energy": 12, "power": 4, "split": True, "min_piece": 60})
    before = planner.update_outcomes(known, NIGHT)["plan"]
    change(planner, NIGHT + QUARTER_S, values={"energy": 0})
    after = planner.update_outcomes(line(settled(NIGHT, [1.0] * 24)), NIGHT + QUARTER_S)["plan"]
    assert isinstance(before, Window)
    assert isinstance(after, Window)
    assert after.pieces == before.pieces
    assert (before.shortened, after.shortened, after.missing_kwh) == (True, False, 0)


def test_a_plan_by_price_switched_on_again_runs_in_all_cheap_hours() -> None:
    timeline = line(settled(NIGHT, [0.05] * 6 + [0.5] * 18))
    planner = planner_of({"kind": "below", "price_cap": 10})
    planner.update_outcomes(timeline, NIGHT)
    change(planner, NIGHT + HOUR_S, enabled=False)
    planner.update_outcomes(timeline, NIGHT + HOUR_S)
    change(planner, NIGHT + 3 * HOUR_S, enabled=True)
    outcome = planner.update_outcomes(timeline, NIGHT + 3 * HOUR_S)["plan"]
    assert isinstance(outcome, Window)
    assert outcome.pieces == ((NIGHT, NIGHT + HOUR_S), (NIGHT + 3 * HOUR_S, NIGHT + 6 * HOUR_S))
    assert not outcome.shortened


def test_planning_again_with_less_time_ends_the_running_window_at_the_next_quarter() -> None:
    timeline = line(settled(NIGHT, [1.0] * 24))
    planner = planner_of({"duration": 240})
    planner.update_outcomes(timeline, NIGHT)
    now = NIGHT + HOUR_S + QUARTER_S // 3
    change(planner, now, replan=True, values={"duration": 60})
    planner.update_outcomes(timeline, now)
    (window,) = planner.windows("plan")
    assert window.pieces == ((NIGHT, NIGHT + HOUR_S + QUARTER_S),)
