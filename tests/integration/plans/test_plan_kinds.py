"""Plans by energy, for the most expensive hours, for all hours below or above a price, and with a tolerance."""

import json
from dataclasses import asdict
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.outcome import NoWindow, NoWindowReason, Window, outcome_from_dict
from custom_components.tunnihind.plans.plan import next_outcome, next_window, windows_after
from custom_components.tunnihind.plans.saving import Cost
from custom_components.tunnihind.plans.search import window_in_span
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.solver import usable_pieces
from custom_components.tunnihind.plans.spans import Span
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.household.outcomes import clock, hours, reason, window
from tests.support.household.plan_days import Household, timeline_at
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, at, line, predicted, settled

DAY = [0.2, 0.1, 0.1, 0.3, 0.3, 0.1, 0.4, 0.5, 0.5, 0.3, *[0.2] * 14]
TODAY = line(settled(NIGHT, DAY))


def plan(**form: object) -> PlanSettings:
    return PlanSettings.from_mapping(form)


@pytest.mark.parametrize(
    ("prices", "form", "expected"),
    [
        pytest.param(
            DAY,
            {"kind": "dearest", "duration": 240, "split": True, "min_piece": 60, "price_cap": 40},
            [(6, 9)],
            id="the price limit of the most expensive hours is their lowest price",
        ),
        pytest.param(
            DAY,
            {"kind": "above", "price_cap": 30},
            [(3, 5), (6, 10)],
            id="all hours at or above a price are one window",
        ),
        pytest.param(
            DAY,
            {"kind": "below", "price_cap": 10, "min_piece": 75},
            [(1, 3)],
            id="runs shorter than the least piece are left out",
        ),
        pytest.param(
            DAY,
            {"kind": "below", "price_cap": 20, "earliest": "02:00:00", "deadline": "12:00:00"},
            [(2, 3), (5, 6), (10, 12)],
            id="the span of a plan by limit holds",
        ),
        pytest.param(
            [0.3, 0.12, 0.3, 0.1, *[0.3] * 20],
            {"duration": 60, "tolerance": 0},
            [(3, 4)],
            id="without a tolerance the cheapest window wins",
        ),
        pytest.param(
            [0.3, 0.12, 0.3, 0.1, *[0.3] * 20],
            {"duration": 60, "tolerance": 1.9},
            [(3, 4)],
            id="a window beyond the tolerance does not win",
        ),
        pytest.param(
            [0.3, 0.12, 0.3, 0.1, *[0.3] * 20],
            {"duration": 60, "tolerance": 2},
            [(1, 2)],
            id="the earliest window within the tolerance wins",
        ),
        pytest.param(
            [0.3, 0.1, *[0.3] * 22],
            {"duration": 60, "tolerance": 5},
            [(0.75, 1.75)],
            id="between two hours it may begin at a quarter",
        ),
        pytest.param(
            [0.3, 0.1, 0.3, 0.12, *[0.3] * 20],
            {"duration": 60, "tolerance": 2, "prefer": "latest"},
            [(3, 4)],
            id="the latest window within the tolerance wins",
        ),
        pytest.param(
            [0.1] * 24,
            {"duration": 60, "prefer": "latest"},
            [(23, 24)],
            id="among equally cheap windows the preferred one wins without tolerance",
        ),
        pytest.param(
            [0.3, 0.12, 0.11, 0.3, 0.13, 0.3, 0.1, *[0.3] * 17],
            {"duration": 120, "split": True, "min_piece": 60},
            [(2, 3), (6, 7)],
            id="a split window is the cheapest without a tolerance",
        ),
        pytest.param(
            [0.3, 0.12, 0.11, 0.3, 0.13, 0.3, 0.1, *[0.3] * 17],
            {"duration": 120, "split": True, "min_piece": 60, "tolerance": 1},
            [(1, 3)],
            id="the split window that ends first wins, then the cheapest",
        ),
        pytest.param(
            [0.1, 0.1, 0.5, 0.1, 0.5, 0.5, *[0.1] * 3, *[0.5] * 15],
            {"kind": "below", "price_cap": 10, "min_piece": 60, "min_pause": 60},
            [(0, 2), (3, 4), (6, 9)],
            id="a pause of 60 minutes costs as little time as possible",
        ),
        pytest.param(
            [0.1, 0.1, 0.5, 0.1, 0.5, 0.5, *[0.1] * 3, *[0.5] * 15],
            {"kind": "below", "price_cap": 10, "min_piece": 60, "min_pause": 90},
            [(0, 1.5), (3, 4), (6, 9)],
            id="a pause of 90 minutes costs as little time as possible",
        ),
        pytest.param(
            [0.1, 0.1, 0.5, 0.1, 0.5, 0.5, *[0.1] * 3, *[0.5] * 15],
            {"kind": "below", "price_cap": 10, "min_piece": 60, "min_pause": 120},
            [(0, 2), (6, 9)],
            id="a pause of 120 minutes costs as little time as possible",
        ),
    ],
)
def test_the_window_of_a_day_with_settled_prices(
    prices: list[float | None], form: dict[str, Any], expected: list[tuple[float, float]]
) -> None:
    assert hours(next_outcome(plan(**form), line(settled(NIGHT, prices)), NIGHT)) == expected


class TestByEnergy:
    """The duration is calculated from the needed energy and the power."""

    def test_a_window_by_energy_has_its_duration_and_its_cost(self) -> None:
        found = window(next_outcome(plan(energy=4, power=2), TODAY, NIGHT))
        assert hours(found) == [(1, 3)]
        assert found.cost == Cost(expected=0.4, low=0.4, high=0.4, energy=4)
        assert found.saving is not None

    def test_the_cost_includes_only_the_needed_part_of_the_last_quarter(self) -> None:
        # 2.1 kWh take 1 h 3 min of 2 kW, so 15 minutes of the dearer hour are planned and 3 of them used.
        timeline = line(settled(NIGHT, [0.1, 0.4]))
        found = window(next_outcome(plan(energy=2.1, power=2), timeline, NIGHT))
        assert hours(found) == [(0, 1.25)]
        assert found.cost == Cost(expected=0.24, low=0.24, high=0.24, energy=2.1)

    def test_a_predicted_cost_has_a_range(self) -> None:
        timeline = line(predicted(NIGHT, [(0.05, 0.1, 0.2)] * 24))
        cost = window(next_outcome(plan(energy=10, power=10, horizon="expected"), timeline, NIGHT)).cost
        assert cost == Cost(expected=1.0, low=0.5, high=2.0, energy=10)

    @pytest.mark.parametrize("split", [True, False])
    def test_more_energy_than_fits_takes_all_the_time_and_is_marked_shortened(self, split: bool) -> None:
        asked = plan(energy=30, power=2, split=split, earliest="00:00:00", deadline="06:00:00")
        found = window(next_outcome(asked, TODAY, NIGHT))
        assert hours(found) == [(0, 6)]
        assert found.shortened
        assert found.cost is not None
        assert found.cost.energy == 12

    def test_in_one_piece_more_energy_than_fits_takes_the_longest_run(self) -> None:
        timeline = line(settled(NIGHT, [0.1, None, 0.3, 0.4, 0.5, None, 0.1, 0.1]))
        found = window(next_outcome(plan(energy=10, power=2), timeline, NIGHT))
        assert hours(found) == [(2, 5)]
        assert found.shortened

    def test_in_one_piece_missing_time_is_only_added_to_the_running_piece(self) -> None:
        asked = plan(energy=6, power=2)
        began = next_outcome(asked, line(settled(NIGHT, [0.3])), NIGHT)
        assert hours(next_outcome(asked, line(settled(NIGHT, [0.3, 0.4, 0.1, 0.1, 0.1])), clock(0.5), began)) == [
            (0, 3)
        ]
        over = next_outcome(asked, line(settled(NIGHT, [0.3])), clock(2), began)
        assert reason(next_outcome(asked, TODAY, clock(3), over)) is NoWindowReason.NO_PRICES

    def test_with_an_energy_of_zero_the_plan_is_done(self) -> None:
        assert reason(next_outcome(plan(energy=0, power=2), TODAY, NIGHT)) is NoWindowReason.NOTHING_NEEDED
        assert reason(next_outcome(plan(energy=0, power=2, split=True), TODAY, NIGHT)) is NoWindowReason.NOTHING_NEEDED
        assert reason(window_in_span(plan(energy=0, power=2), TODAY, Span(NIGHT, NIGHT + DAY_S), NIGHT)) is (
            NoWindowReason.NOTHING_NEEDED
        )

    def test_a_window_that_has_begun_stays_also_when_nothing_more_is_needed(self) -> None:
        began = next_outcome(plan(energy=4, power=2), TODAY, clock(1))
        held = next_outcome(plan(energy=0, power=2), TODAY, clock(2), began)
        assert hours(held) == [(1, 3)]
        done = next_outcome(plan(energy=0, power=2), TODAY, clock(3), held)
        assert reason(done) is NoWindowReason.NOTHING_NEEDED
        assert done.last_run == held

    def test_the_cost_is_stored_and_may_be_missing_in_older_decisions(self) -> None:
        found = next_outcome(plan(energy=4, power=2), TODAY, NIGHT)
        kept = json.loads(json.dumps(asdict(found)))
        assert outcome_from_dict(kept) == found
        del kept["cost"]
        assert window(outcome_from_dict(kept)).cost is None


class TestDearest:
    """The hours to avoid."""

    def test_the_most_expensive_window_of_the_day_is_found(self) -> None:
        found = window(next_outcome(plan(kind="dearest", duration=120), TODAY, NIGHT))
        assert hours(found) == [(7, 9)]
        assert (found.average, found.saving, found.cost) == (0.5, None, None)

    def test_a_price_limit_that_no_price_reaches_is_the_reason(self) -> None:
        asked = plan(kind="dearest", duration=240, split=True, min_piece=60, price_cap=50.1)
        assert reason(next_outcome(asked, TODAY, NIGHT)) is NoWindowReason.BELOW_CAP

    def test_caution_counts_the_tenth_percentile(self) -> None:
        timeline = line(settled(NIGHT, [0.3]), predicted(NIGHT + HOUR_S, [(0.1, 0.4, 0.9)] * 23))
        assert hours(next_outcome(plan(kind="dearest", duration=60, horizon="cautious"), timeline, NIGHT)) == [(0, 1)]
        assert hours(next_outcome(plan(kind="dearest", duration=60, horizon="expected"), timeline, NIGHT)) == [(1, 2)]

    @settings(max_examples=100)
    @given(
        st.lists(st.one_of(st.none(), st.floats(-1, 1)), min_size=1, max_size=24),
        st.sampled_from(
            [
                {},
                {"split": True},
                {"split": True, "min_piece": 15, "max_starts": 2},
                {"tolerance": 3, "prefer": "latest"},
            ]
        ),
    )
    def test_the_most_expensive_window_is_the_cheapest_of_negated_prices(
        self, prices: list[float | None], form: dict[str, Any]
    ) -> None:
        turned = [None if price is None else -price for price in prices]
        dearest = next_outcome(plan(kind="dearest", **form), line(settled(NIGHT, prices)), NIGHT)
        cheapest = next_outcome(plan(**form), line(settled(NIGHT, turned)), NIGHT)
        if isinstance(cheapest, Window):
            assert window(dearest).pieces == cheapest.pieces
        else:
            assert reason(dearest) is cheapest.reason


class TestByPriceLimit:
    """All hours below, or above, a price."""

    def test_all_hours_at_or_below_a_price_are_one_window(self) -> None:
        found = window(next_outcome(plan(kind="below", price_cap=20), TODAY, NIGHT))
        assert hours(found) == [(0, 3), (5, 6), (10, 24)]
        assert (found.saving, found.shortened) == (None, False)

    def test_a_cautious_plan_by_limit_uses_the_percentiles(self) -> None:
        timeline = line(predicted(NIGHT, [(0.05, 0.1, 0.3), (0.05, 0.1, 0.15), *[(0.2, 0.3, 0.4)] * 22]))
        assert hours(next_outcome(plan(kind="below", price_cap=20, horizon="cautious"), timeline, NIGHT)) == [(1, 2)]
        assert hours(next_outcome(plan(kind="above", price_cap=20, horizon="cautious"), timeline, NIGHT)) == [(2, 24)]

    def test_the_running_piece_stays_and_the_hours_ahead_follow_the_prices(self) -> None:
        began = next_outcome(plan(kind="below", price_cap=20), TODAY, NIGHT)
        other = line(settled(NIGHT, [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.1, *[0.9] * 17]))
        held = window(next_outcome(plan(kind="below", price_cap=20), other, clock(1), began))
        assert hours(held) == [(0, 3), (6, 7)]
        assert held.locked

    def test_another_limit_counts_for_the_hours_ahead(self) -> None:
        began = next_outcome(plan(kind="below", price_cap=20), TODAY, NIGHT)
        assert hours(next_outcome(plan(kind="below", price_cap=10), TODAY, clock(1), began)) == [(0, 3), (5, 6)]

    def test_a_running_piece_continues_without_a_gap_while_prices_allow(self) -> None:
        asked = plan(kind="below", price_cap=20, min_piece=120)
        began = next_outcome(asked, line(settled(NIGHT, [0.1, 0.1, 0.3, *[0.5] * 21])), NIGHT)
        assert hours(next_outcome(asked, line(settled(NIGHT, [0.1, 0.1, 0.2, *[0.5] * 21])), clock(1), began)) == [
            (0, 3)
        ]

    def test_hours_that_come_after_the_window_was_over_reopen_it(self) -> None:
        asked = plan(kind="below", price_cap=10)
        held = next_outcome(asked, line(settled(NIGHT, DAY[:4])), clock(1))
        over = next_outcome(asked, line(settled(NIGHT, DAY[:4])), clock(4), held)
        assert reason(over) is NoWindowReason.NO_PRICES
        assert hours(next_outcome(asked, TODAY, clock(4.5), over)) == [(1, 3), (5, 6)]

    def test_a_published_price_ends_a_predicted_piece_after_its_least_length(self) -> None:
        asked = plan(kind="below", price_cap=20, min_piece=60, horizon="expected")
        hoped = line(settled(NIGHT, [0.1]), predicted(NIGHT + HOUR_S, [(0.05, 0.1, 0.3)] * 23))
        began = next_outcome(asked, hoped, NIGHT)
        assert hours(began) == [(0, 24)]
        published = line(settled(NIGHT, [0.1, 0.9, 0.9, 0.1, *[0.9] * 20]))
        assert hours(next_outcome(asked, published, clock(0.25), began)) == [(0, 1), (3, 4)]
        assert hours(next_outcome(asked, published, clock(1.5), began)) == [(0, 1.75), (3, 4)]

    def test_without_any_price_the_planned_pieces_stay(self) -> None:
        began = next_outcome(plan(kind="below", price_cap=20), TODAY, NIGHT)
        assert hours(next_outcome(plan(kind="below", price_cap=20), Timeline(HOUR_S), clock(1), began)) == hours(began)

    def test_a_piece_over_midnight_is_one_run_and_counts_as_a_whole(self) -> None:
        asked = plan(kind="below", price_cap=10, min_piece=90)
        timeline = line(settled(NIGHT, [*[0.5] * 23, 0.1, 0.1, *[0.5] * 3, 0.1, 0.1, *[0.5] * 18]))
        began = next_outcome(asked, timeline, clock(20))
        assert hours(began) == [(23, 25)]
        for now in (23, 23.5, 24, 24.75):
            began = next_outcome(asked, timeline, clock(now), began)
            assert hours(began) == [(23, 25)]
            assert [hours(later) for later in windows_after(asked, timeline, window(began), clock(now))] == [[(28, 30)]]
            assert hours(next_window(asked, timeline, window(began))) == [(28, 30)]
        assert hours(next_outcome(asked, timeline, clock(25), began)) == [(28, 30)]
        late = next_outcome(asked, timeline, clock(24) + 600)
        assert hours(late) == [(28, 30)], "a device does not start for 45 minutes"

    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ({"deadline": "07:00:00"}, [(4, 9)]),
            ({"deadline": "07:10:00"}, [(4, 9)]),
            ({"earliest": "07:00:00"}, [(4, 9)]),
            ({"earliest": "07:00:00", "deadline": "07:00:00"}, [(4, 9)]),
            ({"earliest": "08:00:00", "deadline": "07:00:00"}, [(4, 7)]),
            ({"deadline": "07:00:00", "weekdays": ["fri"]}, [(4, 7)]),
        ],
    )
    def test_a_run_ends_where_the_plan_has_no_time(self, form: dict[str, Any], expected: list[Any]) -> None:
        timeline = line(settled(NIGHT, [*[0.5] * 4, *[0.1] * 5, *[0.5] * 39]))
        asked = plan(kind="below", price_cap=10, **form)
        found = next_outcome(asked, timeline, clock(3))
        assert hours(found) == expected
        for now in range(clock(3), clock(expected[-1][1]), QUARTER_S):
            found = next_outcome(asked, timeline, now, found)
            assert hours(found) == expected

    def test_what_lies_beyond_midnight_follows_prices_and_limit(self) -> None:
        timeline = line(settled(NIGHT, [*[0.5] * 22, *[0.1] * 6, *[0.5] * 20]))
        asked = plan(kind="below", price_cap=10)
        began = next_outcome(asked, timeline, clock(22.5), next_outcome(asked, timeline, clock(22)))
        assert hours(began) == [(22, 28)]
        lower = plan(kind="below", price_cap=5)
        assert hours(next_outcome(lower, timeline, clock(23), began)) == [(22, 24)]
        assert hours(next_outcome(lower, timeline, clock(25), began)) == [(22, 25.25)]
        assert hours(next_outcome(asked, Timeline(HOUR_S), clock(25), began)) == [(22, 28)]
        dearer = line(settled(NIGHT, [*[0.5] * 22, *[0.1] * 4, *[0.5] * 22]))
        assert hours(next_outcome(asked, dearer, clock(24.5), began)) == [(22, 26)]

    def test_prices_that_come_during_the_run_lengthen_it(self) -> None:
        asked = plan(kind="below", price_cap=10)
        known = [*[0.5] * 22, *[0.1] * 3]
        began = next_outcome(asked, line(settled(NIGHT, known)), clock(22))
        assert hours(began) == [(22, 25)]
        more = line(settled(NIGHT, [*known, 0.1, *[0.5] * 3]))
        assert hours(next_outcome(asked, more, clock(24.75), began)) == [(22, 26)]

    def test_the_pause_before_midnight_counts_after_it(self) -> None:
        asked = plan(kind="below", price_cap=10, min_piece=60, min_pause=180)
        timeline = line(settled(NIGHT, [*[0.5] * 22, *[0.1] * 3, 0.5, *[0.1] * 5, *[0.5] * 17]))
        found = next_outcome(asked, timeline, clock(20))
        assert hours(found) == [(22, 25)]
        assert [hours(later) for later in windows_after(asked, timeline, window(found), clock(20))] == [[(28, 31)]]

    def test_the_pause_counts_from_a_piece_that_has_run(self) -> None:
        asked = plan(kind="below", price_cap=10, min_piece=60, min_pause=120)
        began = next_outcome(asked, line(settled(NIGHT, [0.1, *[0.5] * 23])), NIGHT)
        other = line(settled(NIGHT, [0.1, 0.5, *[0.1] * 3, *[0.5] * 19]))
        assert hours(next_outcome(asked, other, clock(0.5), began)) == [(0, 1), (3, 5)]
        over = next_outcome(asked, line(settled(NIGHT, [0.1, *[0.5] * 23])), clock(2), began)
        assert hours(next_outcome(asked, other, clock(2.25), over)) == [(0, 1), (3, 5)]

    def test_windows_of_all_published_days_are_known(self) -> None:
        asked = plan(kind="below", price_cap=10, min_piece=60)
        timeline = line(settled(NIGHT, [*[0.5] * 22, 0.1, 0.1, 0.1, *[0.5] * 5, 0.1, *[0.5] * 17]))
        now = window(next_outcome(asked, timeline, clock(20)))
        assert [hours(later) for later in windows_after(asked, timeline, now, clock(20))] == [[(30, 31)]]
        other = plan(duration=60)
        assert windows_after(other, timeline, window(next_outcome(other, timeline, NIGHT)), NIGHT) == ()

    @pytest.mark.parametrize("day", ["2026-10-23T00:00", "2026-03-27T00:00"])
    @pytest.mark.parametrize("kind", ["below", "above"])
    def test_over_days_it_is_on_in_exactly_the_hours_within_its_limit(self, kind: str, day: str) -> None:
        first = at(day)
        household = Household(plan(kind=kind, price_cap=8))
        on = 0
        starts: dict[int, int] = {}
        for now in range(first, first + 4 * DAY_S, QUARTER_S):
            timeline = timeline_at(now)
            outcome = household.outcome = next_outcome(household.plan, timeline, now, household.outcome)
            period = timeline.period_at(now)
            assert period is not None
            runs = isinstance(outcome, Window) and outcome.runs_at(now)
            assert runs is (period.price <= 0.08 if kind == "below" else period.price >= 0.08)
            on += runs
            if isinstance(outcome, Window) and runs:
                starts[outcome.start] = now + QUARTER_S
        assert 50 < on < 334
        assert not set(starts) & set(starts.values()), "a window began where the one before it ended"

    @settings(max_examples=40)
    @given(
        st.sampled_from(["2026-10-24T00:00", "2026-03-28T00:00", "2026-11-20T00:00"]),
        st.sampled_from([HOUR_S, QUARTER_S]),
        st.randoms(use_true_random=False),
        st.sampled_from([0.3, 0.7, 0.9]),
        st.sampled_from([15, 60, 105]),
        st.sampled_from([{}, {"deadline": "07:00:00"}, {"deadline": "23:40:00"}, {"earliest": "03:30:00"}]),
    )
    def test_its_runs_are_those_of_all_days_together(
        self, day: str, step_s: int, random: Random, share: float, min_piece: int, form: dict[str, Any]
    ) -> None:
        first = at(day)
        # Runs of some hours, so that many go over midnight or a deadline.
        long = [0.1 if random.random() < share else 0.5 for _ in range(27)]
        prices = [price for price in long for _ in range(3 * HOUR_S // step_s)]
        for _ in range(len(prices) // 10):
            prices[random.randrange(len(prices))] = 0.5
        periods = [
            Period(start, start + step_s, price, price, price, settled=True)
            for start, price in zip(range(first, first + len(prices) * step_s, step_s), prices, strict=True)
        ]
        timeline = Timeline(step_s, periods)
        asked = plan(kind="below", price_cap=10, min_piece=min_piece, **form)
        expected = usable_pieces(
            timeline,
            (first, timeline.known_until or 0),
            min_piece * 60,
            lambda period: period.price if period.price <= 0.1 else None,
        )
        outcome, on = None, set[int]()
        for now in range(first, first + 3 * DAY_S, QUARTER_S):
            outcome = next_outcome(asked, timeline, now, outcome)
            if isinstance(outcome, Window) and outcome.runs_at(now):
                on.add(now)
                assert all(piece in expected for piece in outcome.pieces)
        quarters = range(first, first + 3 * DAY_S, QUARTER_S)
        assert on == {now for now in quarters if any(start <= now < end for start, end in expected)}

    @pytest.mark.parametrize("deadline", [None, "07:00:00", "23:40:00"])
    def test_where_all_hours_are_cheap_it_runs_as_far_as_prices_are_known(self, deadline: str | None) -> None:
        asked, first = plan(kind="below", price_cap=500, horizon="expected", deadline=deadline), at("2026-10-23T00:00")
        outcome = None
        for now in range(first, first + 4 * DAY_S, HOUR_S):
            outcome = window(next_outcome(asked, timeline_at(now), now, outcome))
            assert outcome.pieces == ((first, timeline_at(now).known_until),)


class TestNearlyAsCheap:
    """Earlier or later, if the average is near enough to the best."""

    def test_a_later_window_does_not_slip_on_when_the_best_has_passed(self) -> None:
        # Each hour is a cent dearer than the one before: from what is left, the next one would always be near enough.
        timeline = line(settled(NIGHT, [0.1 + hour / 100 for hour in range(24)]))
        asked = plan(duration=60, tolerance=2, prefer="latest")
        assert [hours(next_outcome(asked, timeline, clock(now))) for now in (0, 1, 2)] == [[(2, 3)]] * 3


HOURLY = st.lists(st.one_of(st.none(), st.sampled_from([0.1, 0.11, 0.12, 0.2, 0.3])), min_size=24, max_size=24)
FORMS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["cheapest", "dearest"]),
        "duration": st.sampled_from([60, 90, 180]),
        "split": st.booleans(),
        "min_piece": st.sampled_from([15, 60]),
        "max_starts": st.sampled_from([None, 1, 2]),
        "tolerance": st.sampled_from([0, 0.5, 1, 10]),
        "prefer": st.sampled_from(["earliest", "latest"]),
        "price_cap": st.sampled_from([None, 20]),
    }
)


@settings(max_examples=60)
@given(HOURLY, FORMS)
@example([0.1, 0.12, 0.11, *[0.3] * 21], {"duration": 60, "tolerance": 1, "prefer": "latest"})
def test_while_prices_stay_a_window_stays_where_it_is_until_it_begins(
    prices: list[float | None], form: dict[str, Any]
) -> None:
    timeline = line(settled(NIGHT, prices))
    first = next_outcome(plan(**form), timeline, NIGHT)
    if isinstance(first, NoWindow):
        return
    for now in range(NIGHT, first.start + 1, QUARTER_S):
        assert window(next_outcome(plan(**form), timeline, now)).pieces == first.pieces
