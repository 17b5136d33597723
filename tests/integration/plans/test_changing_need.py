"""Plans by energy whose need appears, grows or shrinks after the window has begun, and plans whose duration changes."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from custom_components.tunnihind.household.planner import Planner
from custom_components.tunnihind.plans.outcome import NoWindow, Window
from custom_components.tunnihind.plans.plan import PlanStatus
from custom_components.tunnihind.plans.settings import PlanError
from custom_components.tunnihind.plans.steering import PlanChange, SteeredPlan
from custom_components.tunnihind.prices.timeline import Timeline
from tests.integration.plans.test_switching import change, planner_of, restarted, subentry
from tests.support.household.timelines import DAY_S, at, line, settled

EVENING: Final = at("2026-01-14T18:00")
CAR: Final[Mapping[str, Any]] = {
    "energy": 10,
    "power": 10,
    "split": True,
    "min_piece": 30,
    "earliest": "18:00:00",
    "deadline": "07:00:00",
}
ONE_GO: Final[Mapping[str, Any]] = {**CAR, "split": False, "min_piece": None}
# From 22:00 to 07:00, every hour costs the same. All other hours are expensive.
NIGHT: Final = line(settled(EVENING - 18 * HOUR_S, [*[0.9] * 22, *[0.05] * 9, *[0.9] * 15, *[0.05] * 9, *[0.9] * 17]))


def clock(hours: float) -> int:
    """Return the time of day `hours`. After 24 hours, the times are those of the next day."""
    return EVENING + round((hours - 18) * HOUR_S)


def live(
    planner: Planner,
    timeline: Timeline,
    start: float,
    end: float,
    says: Mapping[float, Mapping[str, Any]] | None = None,
) -> list[tuple[float, float]]:
    """Live from `start` to `end`, and return the times in which the plan was on. `says` are changes by their time."""
    changes = {clock(hours): said for hours, said in (says or {}).items()}
    on: list[tuple[float, float]] = []
    for now in sorted({*range(clock(start), clock(end), QUARTER_S), *changes}):
        if said := changes.get(now):
            change(planner, now, **said)
        outcome = planner.update_outcomes(timeline, now)["plan"]
        if now % QUARTER_S == 0 and isinstance(outcome, Window) and outcome.runs_at(now):
            hours = 18 + (now - EVENING) / HOUR_S
            on = [*on[:-1], (on[-1][0], hours + 0.25)] if on and on[-1][1] == hours else [*on, (hours, hours + 0.25)]
    return on


def need(kwh: float, **more: Any) -> dict[str, Any]:  # noqa: ANN401  fields of a change
    return {"values": {"energy": kwh}, **more}


@pytest.mark.parametrize("form", [CAR, ONE_GO], ids=["split", "one go"])
@pytest.mark.parametrize(
    ("says", "expected"),
    [
        pytest.param({22.25: need(50)}, [(22, 27.25)], id="grows while it runs"),
        pytest.param({24.5: need(20)}, [(22, 23), (24.5, 26.5)], id="appears after the window"),
        pytest.param({22.25: need(200)}, [(22, 31)], id="is more than fits"),
        pytest.param({22.25: need(2)}, [(22, 23)], id="shrinks: the running piece goes on to its end"),
        pytest.param({22.25: need(10)}, [(22, 23)], id="the same again is no new need"),
        pytest.param({22.5: need(10, energy_read_at=clock(22.5))}, [(22, 23.5)], id="the same with a newer reading"),
        pytest.param({30.5: need(50)}, [(22, 23), (30.5, 31)], id="half an hour before the deadline"),
        pytest.param({22.25: need(200), 22.5: need(2)}, [(22, 23)], id="is wrong for a moment"),
        pytest.param({22.25: need(200), 23.5: need(15)}, [(22, 25)], id="is wrong for more than an hour"),
        pytest.param({24.5: need(200), 24.6: need(2)}, [(22, 23), (24.5, 25)], id="starts the device, and is wrong"),
    ],
)
def test_the_present_need_is_met_by_the_deadline(
    form: Mapping[str, Any], says: Mapping[float, Mapping[str, Any]], expected: list[tuple[float, float]]
) -> None:
    assert live(planner_of(form), NIGHT, 20, 32, says) == expected


def test_a_reading_is_a_need_from_its_own_time_on() -> None:
    """At 23:00, the charger reports what was missing at 22:30. Half an hour of it has run since."""
    says = {23.0: need(30, energy_read_at=clock(22.5))}
    assert live(planner_of(CAR), NIGHT, 20, 32, says) == [(22, 25.5)]


def test_a_reading_once_an_hour_does_not_renew_the_need_every_quarter() -> None:
    says = {hours: need(20, energy_read_at=clock(20)) for hours in (20, 22.25, 22.5, 23.25, 24.5)}
    assert live(planner_of(CAR), NIGHT, 20, 32, says) == [(22, 24)]


def test_an_older_reading_of_the_same_need_changes_nothing() -> None:
    says = {22.5: need(20, energy_read_at=clock(22.5)), 22.75: need(20, energy_read_at=clock(21))}
    assert live(planner_of(CAR), NIGHT, 20, 32, says) == [(22, 24.5)]


def test_another_energy_in_the_saved_form_is_a_new_need() -> None:
    planner = planner_of(CAR, clock(20))
    live(planner, NIGHT, 20, 24.5)
    planner.update_plans([subentry({**CAR, "energy": 20})], clock(24.5))
    assert live(planner, NIGHT, 24.5, 32) == [(24.5, 26.5)]


def test_a_slow_car_that_reports_its_need_is_charged_by_the_deadline() -> None:
    """The car takes half of the plan's power, so each of its reports asks for more than the plan has left."""
    says = {22 + report / 4: need(45 - 1.25 * report) for report in range(36)}
    assert live(planner_of(CAR), NIGHT, 20, 32, {20: need(45), **says}) == [(22, 31)]


def test_in_the_next_span_the_need_counts_in_full_again() -> None:
    on = live(planner_of(CAR), NIGHT, 20, 56, {22.25: need(20)})
    assert on == [(22, 24.25), (46, 48)]


def test_without_a_need_the_pieces_ahead_are_dropped_and_the_plan_is_done() -> None:
    timeline = line(settled(EVENING, [0.1, 0.9, 0.9, 0.1, *[0.9] * 20]))
    planner = planner_of({**CAR, "energy": 20})
    assert live(planner, timeline, 18, 20, {18.25: need(0)}) == [(18, 19)]
    assert planner.status("plan", clock(19)) == PlanStatus.DONE
    assert live(planner, timeline, 20, 30) == []


def test_a_newer_deadline_or_limit_counts_for_all_that_has_not_begun() -> None:
    timeline = line(settled(EVENING, [0.1, *[0.9] * 5, *[0.5] * 6, 0.2, 0.3, *[0.9] * 9]))
    form = {**CAR, "energy": 20}
    assert live(planner_of(form), timeline, 18, 32, {18.5: {"values": {"deadline": "20:00:00"}}}) == [(18, 20)]
    assert live(planner_of(form), timeline, 18, 33, {18.5: {"values": {"deadline": "08:00:00"}}}) == [
        (18, 19),
        (30, 31),
    ]
    assert live(planner_of(form), timeline, 18, 33, {18.5: {"values": {"price_cap": 10}}}) == [(18, 19)]


def test_a_later_deadline_counts_also_after_the_first_one() -> None:
    says = {30.5: need(50), 31.5: {"values": {"deadline": "10:00:00"}}}
    assert live(planner_of(CAR), NIGHT, 20, 35, says) == [(22, 23), (30.5, 31), (31.5, 34)]


@pytest.mark.parametrize("form", [CAR, {**CAR, "energy": None, "power": None, "duration": 60}], ids=["energy", "time"])
@pytest.mark.parametrize("moved", [22.5, 23.25], ids=["within the window", "after it"])
def test_a_later_earliest_start_makes_no_second_span_of_the_same_night(form: Mapping[str, Any], moved: float) -> None:
    says = {moved: {"values": {"earliest": "23:30:00"}}}
    assert live(planner_of(form), NIGHT, 20, 49, says) == [(22, 23), (47.5, 48.5)]


def test_a_need_is_met_once_also_after_other_bounds_on_both_sides() -> None:
    says = {22.5: {"values": {"earliest": "23:30:00"}}, 23.25: {"values": {"deadline": "08:00:00"}}, 24.0: need(5)}
    assert live(planner_of(CAR), NIGHT, 20, 40, says) == [(22, 23), (24, 24.5)]


@pytest.mark.parametrize(
    ("most", "expected"),
    [(None, [(22, 23), (23.25, 24), (24.25, 25), (25.25, 26)]), (2, [(22, 23), (23.25, 24)])],
    ids=["any number of starts", "two starts"],
)
def test_repeated_small_needs_keep_to_the_shortest_piece_and_the_most_starts(
    most: int | None, expected: list[tuple[float, float]]
) -> None:
    planner = planner_of({**CAR, "min_piece": 45, "max_starts": most})
    says = {hours: need(2, energy_read_at=clock(hours)) for hours in (23.25, 24.25, 25.25)}
    assert live(planner, NIGHT, 20, 32, says) == expected
    assert planner.missing_kwh("plan", clock(30)) == (2 if most else 0)


def test_what_is_left_after_a_shortest_piece_gets_a_whole_one() -> None:
    timeline = line(settled(EVENING, [0.9, 0.1, 0.1, 0.9, 0.1, 0.9, 0.1, *[0.9] * 6]))
    planner = planner_of({**CAR, "min_piece": 60, "price_cap": 50, "energy": 20})
    assert live(planner, timeline, 18, 31, {20.5: need(12.5)}) == [(19, 21), (22, 23)]


def test_prices_that_are_lost_for_a_while_cost_no_planned_time() -> None:
    planner = planner_of({**CAR, "energy": 20, "price_cap": 10})
    timeline = line(settled(EVENING, [0.9, 0.1, 0.9, 0.9, 0.1, *[0.9] * 9]))
    assert live(planner, timeline, 18, 19.5) == [(19, 19.5)]
    change(planner, clock(19.5), **need(15))
    planner.update_outcomes(line(settled(EVENING, [0.9, 0.1])), clock(19.5))
    assert live(planner, timeline, 19.5, 31) == [(19.5, 20), (22, 23)]


def test_planning_again_while_switched_off_counts_what_has_run() -> None:
    planner = planner_of({**CAR, "energy": 30})
    live(planner, NIGHT, 20, 23, {22.5: {"enabled": False}})
    assert live(planner, NIGHT, 23, 32, {23.0: {"enabled": True, "replan": True}}) == [(23, 25.5)]


def test_a_plan_says_how_much_will_be_missing() -> None:
    planner = planner_of(CAR)
    live(planner, NIGHT, 20, 22.5, {22.25: need(100)})
    assert planner.missing_kwh("plan", clock(22.25)) == 12.5
    live(planner, NIGHT, 22.5, 23, {22.75: need(80)})
    assert planner.missing_kwh("plan", clock(22.75)) == 0
    change(planner, clock(23), values={"price_cap": 1})
    planner.update_outcomes(NIGHT, clock(23))
    assert planner.missing_kwh("plan", clock(23)) == 0  # the running piece goes on to its end
    idle = planner_of({**CAR, "price_cap": 1})
    idle.update_outcomes(NIGHT, clock(20))
    assert idle.missing_kwh("plan", clock(20)) == 10
    late = planner_of(CAR)
    for hours, missing in ((30.8, 10), (32, 0)):
        late.update_outcomes(NIGHT, clock(hours))
        assert late.missing_kwh("plan", clock(hours)) == missing
    change(idle, clock(20), enabled=False)
    idle.update_outcomes(NIGHT, clock(20))
    assert idle.missing_kwh("plan", clock(20)) is None


def test_a_restart_keeps_the_date_of_the_need() -> None:
    planner = planner_of(CAR)
    live(planner, NIGHT, 20, 23, {22.25: need(20)})
    again = restarted(planner, CAR)
    assert live(again, NIGHT, 23, 32, {23.25: need(20)}) == [(23, 24.25)]


def test_a_clock_that_was_ahead_when_the_need_was_said_does_not_prolong_the_window() -> None:
    planner = planner_of(CAR)
    change(planner, clock(18) + DAY_S, **need(20))
    assert live(planner, NIGHT, 20, 32) == [(22, 24)]


def test_a_change_that_leaves_too_little_time_is_refused_with_both_times_in_minutes() -> None:
    plan = SteeredPlan({"duration": 60, "earliest": "00:00:00", "deadline": "02:00:00"})
    assert plan.with_change(PlanChange(values={"duration": 180}), EVENING).settings().duration_s == 3 * HOUR_S
    with pytest.raises(PlanError, match="no room, needed 180, room 120"):
        plan.with_change(PlanChange(values={"duration": 180}, must_fit=True), EVENING)
    with pytest.raises(PlanError, match="no room, needed 60, room 15"):
        replace(plan, changes={"deadline": "00:15:00", "duration": 15}).with_change(
            PlanChange(clear=["duration"], must_fit=True), EVENING
        )


def test_the_time_of_a_reading_needs_an_energy() -> None:
    planner = planner_of(CAR)
    with pytest.raises(PlanError, match="reading without energy"):
        change(planner, EVENING, energy_read_at=EVENING)


class TestPlansByDuration:
    """A plan for a given time stays done once this time has run."""

    def test_a_longer_duration_adds_the_difference_in_pieces(self) -> None:
        form = {"duration": 60, "split": True, "min_piece": 30, "earliest": "18:00:00", "deadline": "07:00:00"}
        longer = {"values": {"duration": 120}}
        assert live(planner_of(form), NIGHT, 20, 32, {22.5: longer}) == [(22, 24)]
        assert live(planner_of(form), NIGHT, 20, 32, {25.0: longer}) == [(22, 23), (25, 26)]

    def test_a_longer_duration_is_added_before_a_piece_at_the_deadline(self) -> None:
        form = {"duration": 120, "split": True, "min_piece": 30, "earliest": "18:00:00", "deadline": "07:00:00"}
        timeline = line(settled(EVENING, [*[0.9] * 4, 0.1, 0.5, *[0.9] * 6, 0.1]))
        longer = {22.5: {"values": {"duration": 180}}}
        assert live(planner_of(form), timeline, 20, 32, longer) == [(22, 24), (30, 31)]

    def test_in_one_go_a_longer_duration_adds_the_difference_only_while_it_runs(self) -> None:
        form = {"duration": 60, "earliest": "18:00:00", "deadline": "07:00:00"}
        longer = {"values": {"duration": 120}}
        assert live(planner_of(form), NIGHT, 20, 32, {22.5: longer}) == [(22, 24)]
        assert live(planner_of(form), NIGHT, 20, 32, {25.0: longer}) == [(22, 23)]

    def test_a_shorter_duration_changes_nothing(self) -> None:
        form = {"duration": 120, "split": True, "min_piece": 30, "earliest": "18:00:00", "deadline": "07:00:00"}
        assert live(planner_of(form), NIGHT, 20, 32, {22.5: {"values": {"duration": 60}}}) == [(22, 24)]


class TestWithoutADeadline:
    """A need has 24 hours from the moment at which it was said. A duration has its local day."""

    TOMORROW_IS_CHEAP: Final = line(settled(EVENING - 18 * HOUR_S, [*[0.09] * 26, *[0.02] * 3, *[0.09] * 19]))
    AFTERNOON: Final = 16 + 1 / 3

    def test_a_new_need_is_not_cut_off_at_midnight(self) -> None:
        planner = planner_of({"energy": 20, "power": 7.4, "split": True})
        said = {self.AFTERNOON: need(20.2)}
        assert live(planner, self.TOMORROW_IS_CHEAP, 16.5, 40, said) == [(26, 28.75)]

    def test_a_plan_that_was_just_made_is_not_cut_off_at_midnight(self) -> None:
        planner = planner_of({"energy": 20, "power": 7.4}, now=clock(self.AFTERNOON))
        assert live(planner, self.TOMORROW_IS_CHEAP, 16.5, 40) == [(26, 28.75)]

    def test_an_earliest_start_alone_does_not_cut_it_off_either(self) -> None:
        planner = planner_of({"energy": 20, "power": 7.4, "earliest": "18:00:00"}, now=clock(self.AFTERNOON))
        assert live(planner, self.TOMORROW_IS_CHEAP, 16.5, 40) == [(26, 28.75)]

    def test_a_need_said_after_a_window_is_a_window_of_its_own(self) -> None:
        planner = planner_of({"energy": 20, "power": 10}, now=clock(16))
        assert live(planner, self.TOMORROW_IS_CHEAP, 16, 40, {34: need(10)}) == [(26, 28), (34, 35)]
        assert [len(window.pieces) for window in planner.windows("plan")] == [1, 1]

    def test_a_reading_on_a_day_that_is_not_chosen_keeps_the_window_ahead(self) -> None:
        planner = planner_of({"energy": 20, "power": 7.4, "weekdays": ["wed"]}, now=clock(self.AFTERNOON))
        says = {hours: need(20, energy_read_at=clock(hours)) for hours in (24.5, 26.5)}
        assert live(planner, self.TOMORROW_IS_CHEAP, 16.5, 40, says) == [(26, 29.25)]

    def test_a_clock_set_back_before_the_need_leaves_it_24_hours(self) -> None:
        planner = planner_of({"energy": 20, "power": 7.4}, now=clock(20))
        assert live(planner, self.TOMORROW_IS_CHEAP, 16.5, 40) == [(26, 28.75)]

    def test_a_plan_by_duration_runs_once_in_each_local_day(self) -> None:
        on = live(planner_of({"duration": 60}), self.TOMORROW_IS_CHEAP, 16, 40)
        assert on == [(16, 17), (26, 27)]


class TestPlanningAgain:
    """`replan` keeps what runs for its shortest time, counts it, and chooses the rest anew."""

    PRICES: Final = line(settled(EVENING, [*[0.9] * 4, 0.1, 0.1, 0.1, 0.9, 0.9, 0.05, 0.05, 0.05, 0.9]))
    AT_NIGHT: Final = {"earliest": "18:00:00", "deadline": "07:00:00", "split": True, "min_piece": 60}

    @pytest.mark.parametrize("form", [{"energy": 42, "power": 7}, {"duration": 360}], ids=["energy", "duration"])
    def test_a_running_device_is_not_switched_off_before_its_shortest_piece(self, form: Mapping[str, Any]) -> None:
        planner = planner_of({**self.AT_NIGHT, **form})
        assert live(planner, self.PRICES, 18, 31, {22.25: {"replan": True}}) == [(22, 25), (27, 30)]

    def test_the_rest_goes_where_it_is_cheapest_now(self) -> None:
        planner = planner_of({**self.AT_NIGHT, "duration": 120})
        known = line(settled(EVENING, [*[0.9] * 4, 0.1, 0.1, 0.9]))
        live(planner, known, 18, 22.25)
        assert live(planner, self.PRICES, 22.25, 31, {22.25: {"replan": True}}) == [(22.25, 23), (27, 28)]

    def test_in_one_go_a_device_goes_on(self) -> None:
        planner = planner_of({"earliest": "18:00:00", "deadline": "07:00:00", "duration": 180})
        live(planner, line(settled(EVENING, [*[0.9] * 4, 0.1, 0.1, 0.1, 0.9])), 18, 22.25)
        assert live(planner, self.PRICES, 22.25, 31, {22.25: {"replan": True}}) == [(22.25, 25)]

    def test_a_plan_by_price_keeps_its_running_piece_for_its_shortest_time(self) -> None:
        form = {"kind": "below", "price_cap": 50, "min_piece": 60}
        said = {22.25: {"values": {"price_cap": 7}, "replan": True}}
        assert live(planner_of(form), self.PRICES, 18, 31, said) == [(22, 23), (27, 30)]

    def test_between_two_pieces_only_the_missing_time_is_chosen(self) -> None:
        planner = planner_of({**self.AT_NIGHT, "duration": 300})
        assert live(planner, self.PRICES, 18, 31, {25.5: {"replan": True}}) == [(22, 24), (27, 30)]

    def test_a_window_that_is_over_is_followed_by_another(self) -> None:
        planner = planner_of({"earliest": "18:00:00", "deadline": "07:00:00", "duration": 60})
        assert live(planner, self.PRICES, 18, 31, {28.5: {"replan": True}}) == [(27, 28), (28.5, 29.5)]

    def test_it_follows_after_the_shortest_pause(self) -> None:
        planner = planner_of({**self.AT_NIGHT, "duration": 60, "min_pause": 90})
        assert live(planner, self.PRICES, 18, 31, {28.5: {"replan": True}}) == [(27, 28), (29.5, 30.5)]

    def test_a_need_that_has_been_met_is_not_met_again(self) -> None:
        assert live(planner_of(CAR), NIGHT, 20, 47, {23.5: {"replan": True}}) == [(22, 23), (46, 47)]


SPANS: Final = {
    "winter": ("2026-01-14T18:00", "2026-01-15T07:00"),
    "spring": ("2026-03-28T18:00", "2026-03-29T07:00"),
    "autumn": ("2026-10-24T18:00", "2026-10-25T07:00"),
}


@given(
    st.sampled_from(list(SPANS.values())),
    st.booleans(),
    st.lists(st.integers(1, 9), min_size=16, max_size=16),
    st.sampled_from([None, 6]),
    st.sampled_from([2.3, 3.7, 7.4, 11]),
    st.lists(st.tuples(st.integers(0, 16 * 60), st.integers(0, 800), st.booleans()), min_size=1, max_size=8),
    st.booleans(),
)
def test_as_much_of_the_last_need_as_time_and_limit_allow_is_met(
    span: tuple[str, str],
    split: bool,
    prices: list[int],
    limit: int | None,
    power: float,
    says: list[tuple[int, int, bool]],
    restarts: bool,
) -> None:
    """Needs are said at any minutes, some with the time of an earlier reading. The plan is on in whole quarters."""
    opens, closes = map(at, span)
    limit = limit if split else None
    form = {**CAR, "power": power, "split": split, "min_piece": 15 if split else None, "price_cap": limit}
    timeline = line(settled(opens, [price / 100 for price in prices]))
    planner = planner_of(form, opens)
    changes = {opens + minutes * 60: (kwh / 10, is_read) for minutes, kwh, is_read in says}
    changes = {when: said for when, said in changes.items() if when < closes}
    last = max(changes, default=opens)
    kwh = changes[last][0] if changes else CAR["energy"]
    on: set[int] = set()
    for now in sorted({*range(opens, closes, QUARTER_S), *changes}):
        if said := changes.get(now):
            change(planner, now, values={"energy": said[0]}, energy_read_at=now if said[1] else None)
        outcome = planner.update_outcomes(timeline, now)["plan"]
        if restarts:
            planner = restarted(planner, form)
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.add(now - now % QUARTER_S)
            assert now < closes
            assert limit is None or prices[(now - opens) // HOUR_S] <= limit
    since = planner.plans["plan"].needed_since
    assert since is not None
    later = [quarter for quarter in range(opens, closes, QUARTER_S) if quarter >= last]
    usable = [quarter for quarter in later if limit is None or prices[(quarter - opens) // HOUR_S] <= limit]
    ran_s = sum(min(QUARTER_S, max(0, quarter + QUARTER_S - since)) for quarter in on)
    assert ran_s >= kwh / power * HOUR_S - 1e-6 or on >= set(usable)
    assert isinstance(outcome, NoWindow | Window)
    missing = planner.missing_kwh("plan", closes - 1)
    assert missing == pytest.approx(max(0, kwh - ran_s / HOUR_S * power), abs=0.01)


@given(
    st.integers(1, 3),
    st.lists(st.integers(1, 9), min_size=13, max_size=13),
    st.dictionaries(st.integers(0, 13 * 60 - 1), st.integers(75, 800), max_size=6),
)
def test_no_change_of_the_need_breaks_the_settings_of_pieces(
    most: int, prices: list[int], says: dict[int, int]
) -> None:
    form = {**CAR, "min_piece": 45, "min_pause": 30, "max_starts": most, "price_cap": 6}
    timeline = line(settled(EVENING, [price / 100 for price in prices]))
    on = live(planner_of(form), timeline, 18, 31, {18 + minutes / 60: need(kwh / 10) for minutes, kwh in says.items()})
    assert len(on) <= most
    assert all(end - start >= 0.75 for start, end in on)
    assert all(later - end >= 0.5 for (_, end), (later, _) in pairwise(on))
