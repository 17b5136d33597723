"""Decisions one after the other: the best window, windows that stay or are over, and the reason without a window."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import pytest

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.core.network_clock import WEEKDAYS
from custom_components.tunnihind.plans.outcome import NoWindowReason, Outcome, outcome_from_dict
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.timeline import Timeline
from tests.support.household.outcomes import clock, hours, reason, window
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, at, hour, line, predicted, settled

CHEAP_AT_3: Sequence[float] = [0.2, 0.2, 0.2, 0.1, 0.1, 0.2, *[0.3] * 18]
TWO_DAYS = line(settled(NIGHT, [*CHEAP_AT_3, *CHEAP_AT_3]))


def plan(duration: int = 120, **form: object) -> PlanSettings:
    return PlanSettings.from_mapping({"duration": duration, **form})


def test_the_cheapest_window_of_the_day_comes_with_its_figures() -> None:
    found = window(next_outcome(plan(), TWO_DAYS, NIGHT))
    assert hours(found) == [(3, 5)]
    assert (found.average, found.forecast_share, found.shortened, found.locked) == (0.1, 0.0, False, False)
    assert found.saving is not None
    assert (found.saving.expected, found.saving.chance) == (0.1, 1.0)
    assert (found.span.opens, found.span.closes) == (NIGHT, NIGHT + DAY_S)


def test_a_window_that_has_not_begun_moves_with_the_prices() -> None:
    first = next_outcome(plan(), TWO_DAYS, NIGHT)
    cheaper_at_6 = line(settled(NIGHT, [*[0.2] * 6, 0.01, 0.01, *[0.3] * 16]))
    assert hours(next_outcome(plan(), cheaper_at_6, clock(1), first)) == [(6, 8)]


@pytest.mark.parametrize("now", [clock(3), clock(4), clock(5) - 1])
def test_a_window_that_has_begun_keeps_its_time_and_figures(now: int) -> None:
    first = window(next_outcome(plan(), TWO_DAYS, NIGHT))
    for timeline in (Timeline(HOUR_S), line(settled(NIGHT, [0.9] * 5 + [0.0] * 19))):
        held = window(next_outcome(plan(duration=60, price_cap=1), timeline, now, first))
        assert held.locked
        assert (held.pieces, held.average, held.saving) == (first.pieces, first.average, first.saving)
        assert next_outcome(plan(), timeline, now, held) == held


def test_a_window_that_begins_at_once_is_locked_at_once() -> None:
    found = window(next_outcome(plan(), TWO_DAYS, clock(3)))
    assert found.locked
    assert found.runs_at(clock(3))
    assert next_outcome(plan(), Timeline(HOUR_S), clock(3) + 1, found) == found


def test_a_window_that_begins_as_its_span_opens_is_kept() -> None:
    found = window(next_outcome(plan(), line(settled(NIGHT, [0.1] * 24)), NIGHT))
    assert found.start == NIGHT
    assert next_outcome(plan(), Timeline(HOUR_S), NIGHT, found) == found


@pytest.mark.parametrize("split", [False, True])
def test_a_tolerance_is_compared_with_the_cheapest_window_also_if_its_time_is_over(split: bool) -> None:
    asked = plan(60, split=split, tolerance=1)
    prices = line(settled(NIGHT, [0.01, 0.05, 0.035, 0.03, *[0.2] * 20]))
    assert hours(next_outcome(asked, prices, NIGHT)) == [(0, 1)]
    assert hours(next_outcome(asked, prices, clock(1))) == [(3, 4)]


def test_a_window_has_started_from_its_first_second_on_or_once_it_is_locked() -> None:
    first = window(next_outcome(plan(), TWO_DAYS, NIGHT))
    assert [first.has_started_by(now) for now in (clock(3) - 1, clock(3))] == [False, True]
    held = window(next_outcome(plan(), TWO_DAYS, clock(4), first))
    assert held.has_started_by(clock(2))


def test_a_split_window_stays_also_between_its_pieces() -> None:
    timeline = line(settled(NIGHT, [0.1, 0.3, 0.1, *[0.3] * 21]))
    first = next_outcome(plan(split=True), timeline, NIGHT)
    between = window(next_outcome(plan(split=True), Timeline(HOUR_S), clock(1.5), first))
    assert hours(between) == [(0, 1), (2, 3)]
    assert [between.runs_at(clock(at)) for at in (0, 1, 1.5, 2, 3)] == [True, False, False, True, False]


def test_an_occurrence_that_has_run_is_done_and_the_next_one_is_planned() -> None:
    held = next_outcome(plan(), TWO_DAYS, clock(4), next_outcome(plan(), TWO_DAYS, NIGHT))
    following = next_outcome(plan(), TWO_DAYS, clock(5), held)
    assert hours(following) == [(27, 29)]
    assert hours(next_outcome(plan(), TWO_DAYS, clock(6), following)) == [(27, 29)]


def test_an_occurrence_that_has_run_stays_done_while_there_is_nothing_to_plan() -> None:
    today = line(settled(NIGHT, CHEAP_AT_3))
    held = next_outcome(plan(), today, clock(4), next_outcome(plan(), today, NIGHT))
    waiting = next_outcome(plan(), today, clock(5), held)
    assert reason(waiting) is NoWindowReason.NO_PRICES
    again = next_outcome(plan(), today, clock(6), waiting)
    assert reason(again) is NoWindowReason.NO_PRICES
    assert hours(next_outcome(plan(), TWO_DAYS, clock(14), again)) == [(27, 29)]


def test_a_missed_window_has_not_run_and_the_rest_of_its_span_is_planned() -> None:
    slept = next_outcome(plan(), TWO_DAYS, NIGHT)
    assert hours(next_outcome(plan(), TWO_DAYS, clock(8), slept)) == [(8, 10)]


def test_a_restart_within_the_window_goes_on_with_it() -> None:
    kept = json.loads(json.dumps(asdict(next_outcome(plan(), TWO_DAYS, clock(2)))))
    assert hours(next_outcome(plan(), Timeline(HOUR_S), clock(4), outcome_from_dict(kept))) == [(3, 5)]


def test_today_is_left_for_tomorrow_once_too_little_of_it_is_left() -> None:
    assert hours(next_outcome(plan(), TWO_DAYS, clock(22.1))) == [(27, 29)]


def test_a_split_plan_takes_the_rest_of_the_day_and_is_marked_shortened() -> None:
    found = window(next_outcome(plan(split=True), TWO_DAYS, clock(22.1)))
    assert hours(found) == [(22.25, 24)]
    assert found.shortened


def test_a_shortened_window_gets_the_missing_time_when_prices_come() -> None:
    asked = plan(180, split=True)
    began = next_outcome(asked, line(settled(NIGHT, [0.3])), NIGHT)
    assert hours(began) == [(0, 1)]
    assert window(began).shortened
    later = window(
        next_outcome(asked, line(settled(NIGHT, [0.3, 0.3, *[0.2] * 10, 0.1, 0.12, *[0.2] * 10])), clock(0.5), began)
    )
    assert hours(later) == [(0, 1), (12, 14)]
    assert (later.shortened, later.locked, later.saving) == (False, True, None)
    assert later.average == round((0.3 + 0.1 + 0.12) / 3, 4)
    assert next_outcome(asked, Timeline(HOUR_S), clock(5), later) == later


def test_a_plan_by_price_has_the_figures_of_the_hours_that_were_added() -> None:
    asked = PlanSettings.from_mapping({"kind": "below", "price_cap": 10})
    began = next_outcome(asked, line(settled(NIGHT, [0.05])), NIGHT)
    later = window(next_outcome(asked, line(settled(NIGHT, [0.05, 0.06, 0.07, *[0.2] * 21])), clock(0.5), began))
    assert (hours(later), later.average, later.locked) == ([(0, 3)], 0.06, True)


def test_missing_time_is_added_without_a_gap_if_that_is_cheapest() -> None:
    began = next_outcome(plan(180, split=True), line(settled(NIGHT, [0.3])), NIGHT)
    later = next_outcome(plan(180, split=True), line(settled(NIGHT, [0.3, 0.1, 0.1, *[0.2] * 21])), clock(0.5), began)
    assert hours(later) == [(0, 3)]


def test_missing_time_is_added_after_the_window_but_not_after_its_span() -> None:
    asked, today = plan(180, split=True), line(settled(NIGHT, [0.3, *[None] * 20, 0.1, 0.1, 0.1]))
    began = next_outcome(asked, line(settled(NIGHT, [0.3])), NIGHT)
    waiting = next_outcome(asked, line(settled(NIGHT, [0.3])), clock(2), began)
    assert reason(waiting) is NoWindowReason.NO_PRICES
    assert hours(next_outcome(asked, today, clock(4), waiting)) == [(0, 1), (21, 23)]
    assert hours(next_outcome(asked, today, clock(22.25), waiting)) == [(0, 1), (22.25, 24)]
    assert reason(next_outcome(asked, today, clock(24), waiting)) is NoWindowReason.NO_PRICES


def test_less_than_a_piece_is_only_added_to_the_running_piece() -> None:
    asked, today = plan(90, split=True), line(settled(NIGHT, [0.3] * 24))
    began = next_outcome(asked, line(settled(NIGHT, [0.3])), NIGHT)
    assert hours(next_outcome(asked, today, clock(0.5), began)) == [(0, 1.5)]
    over = next_outcome(asked, line(settled(NIGHT, [0.3])), clock(1.25), began)
    assert reason(next_outcome(asked, today, clock(1.5), over)) is NoWindowReason.NO_PRICES


def test_published_prices_only_wait_for_the_publication() -> None:
    def night(horizon: str) -> PlanSettings:
        return plan(earliest="22:00:00", deadline="07:00:00", horizon=horizon)

    today = settled(NIGHT, [0.2] * 25)
    timeline = line(today, predicted(NIGHT + 25 * HOUR_S, [(0.0, 0.05, 0.3)] * 24))
    evening = clock(8)
    assert hours(next_outcome(night("published"), timeline, evening)) == [(22, 24)]
    assert hours(next_outcome(night("expected"), timeline, evening)) == [(25, 27)]
    assert hours(next_outcome(night("cautious"), timeline, evening)) == [(22, 24)]


def test_the_share_of_predicted_hours_is_that_of_the_time() -> None:
    timeline = line(settled(NIGHT, [0.1]), predicted(NIGHT + HOUR_S, [(0.1, 0.1, 0.1)]))
    assert window(next_outcome(plan(duration=75, horizon="expected"), timeline, NIGHT)).forecast_share == 0.2


def test_the_average_is_the_expected_price_also_for_a_cautious_plan() -> None:
    timeline = line(predicted(NIGHT, [(0.0, 0.1, 0.4)] * 24))
    assert window(next_outcome(plan(horizon="cautious"), timeline, NIGHT)).average == 0.1


def test_an_hour_above_the_cap_is_never_used_and_one_at_it_is() -> None:
    timeline = line(settled(NIGHT, [0.20, 0.15, 0.12, 0.1201, 0.11, *[0.3] * 19]))
    assert hours(next_outcome(plan(60, price_cap=12), timeline, NIGHT)) == [(4, 5)]
    assert hours(next_outcome(plan(120, split=True, price_cap=12), timeline, NIGHT)) == [(2, 3), (4, 5)]
    assert reason(next_outcome(plan(120, price_cap=12), timeline, NIGHT)) is NoWindowReason.ABOVE_CAP


def test_a_cautious_plan_compares_the_ninetieth_percentile_with_the_cap() -> None:
    timeline = line(predicted(NIGHT, [(0.0, 0.1, 0.4)] * 24))
    assert reason(next_outcome(plan(horizon="cautious", price_cap=20), timeline, NIGHT)) is NoWindowReason.ABOVE_CAP
    assert window(next_outcome(plan(horizon="expected", price_cap=20), timeline, NIGHT))


def test_without_prices_there_is_no_window() -> None:
    assert reason(next_outcome(plan(), Timeline(HOUR_S), NIGHT)) is NoWindowReason.NO_PRICES
    assert reason(next_outcome(plan(), line(settled(NIGHT, [0.1] * 24)), clock(24))) is NoWindowReason.NO_PRICES
    assert reason(next_outcome(plan(), line(settled(NIGHT, [0.1, None, 0.1])), NIGHT)) is NoWindowReason.NO_PRICES


def test_a_weekly_plan_waits_for_prices_of_its_day() -> None:
    assert reason(next_outcome(plan(weekdays=["thu"]), TWO_DAYS, clock(1))) is NoWindowReason.NO_PRICES


def test_a_plan_longer_than_its_span_has_too_little_time_with_any_prices() -> None:
    impossible = plan(duration=240, earliest="10:00:00", deadline="13:00:00")
    assert reason(next_outcome(impossible, TWO_DAYS, NIGHT)) is NoWindowReason.TOO_LITTLE_TIME
    assert reason(next_outcome(impossible, Timeline(HOUR_S), NIGHT)) is NoWindowReason.TOO_LITTLE_TIME


def test_an_evening_too_short_for_the_plan_waits_for_the_prices_of_tomorrow() -> None:
    assert (
        reason(next_outcome(plan(duration=180), line(settled(NIGHT, CHEAP_AT_3)), clock(22)))
        is NoWindowReason.NO_PRICES
    )


def test_a_plan_avoids_hours_whose_price_got_lost() -> None:
    first = next_outcome(plan(), TWO_DAYS, NIGHT)
    without_4 = line([one for one in TWO_DAYS.periods if one.start != clock(4)])
    assert hours(next_outcome(plan(), without_4, clock(1), first)) == [(2, 4)]
    assert reason(next_outcome(plan(), Timeline(HOUR_S), clock(1), first)) is NoWindowReason.NO_PRICES


def test_a_clock_set_forth_and_back_finds_the_window_that_was_running() -> None:
    held = next_outcome(plan(), TWO_DAYS, clock(3), next_outcome(plan(), TWO_DAYS, NIGHT))
    ahead = next_outcome(plan(), TWO_DAYS, clock(20), held)
    assert hours(ahead) == [(27, 29)]
    far_ahead = next_outcome(plan(), TWO_DAYS, clock(0, day=9), ahead)
    assert reason(far_ahead) is NoWindowReason.NO_PRICES
    assert hours(next_outcome(plan(), TWO_DAYS, clock(4), far_ahead)) == [(3, 5)]


def test_a_clock_set_back_does_not_run_an_occurrence_at_another_time() -> None:
    held = next_outcome(plan(), TWO_DAYS, clock(4), next_outcome(plan(), TWO_DAYS, NIGHT))
    done = next_outcome(plan(), TWO_DAYS, clock(6), held)
    assert hours(next_outcome(plan(), line(settled(NIGHT, [0.0, 0.0, *[0.3] * 22])), clock(0.5), done)) == [(3, 5)]


def test_a_clock_set_back_before_the_span_opened_finds_everything_open() -> None:
    held = next_outcome(plan(), TWO_DAYS, clock(3, day=1))
    assert hours(next_outcome(plan(), TWO_DAYS, clock(1), held)) == [(3, 5)]


class TestSeveralDaysToChooseFrom:
    """A plan made late skips a first occurrence whose rest is too short, if a later one of its days has room."""

    EVENING = clock(21.1)
    PUBLISHED = line(settled(NIGHT, [0.1 + hour % 7 / 100 for hour in range(54)]))

    @staticmethod
    def car(**form: object) -> PlanSettings:
        """Return a plan of 11 hours: 25 kWh at 2.3 kW."""
        return PlanSettings.from_mapping({"energy": 25, "power": 2.3, "split": True, "days": 3, **form})

    def test_the_rest_of_a_night_is_left_for_a_day_with_room_for_the_window(self) -> None:
        found = window(next_outcome(self.car(deadline="06:00:00"), self.PUBLISHED, self.EVENING))
        assert (found.shortened, sum(end - start for start, end in found.pieces)) == (False, 11 * HOUR_S)
        assert (found.span.opens, found.span.closes) == (clock(30), clock(54))
        again = window(next_outcome(self.car(deadline="06:00:00"), self.PUBLISHED, clock(23), found))
        assert again == found

    @pytest.mark.parametrize("form", [{"earliest": "18:00:00", "deadline": "06:00:00"}, {}, {"split": False}])
    def test_with_any_bounds_and_in_one_piece_too(self, form: dict[str, Any]) -> None:
        found = window(next_outcome(self.car(**form), self.PUBLISHED, self.EVENING))
        assert found.start >= clock(24)
        assert not found.shortened

    def test_a_plan_of_one_day_takes_the_rest_of_it(self) -> None:
        found = window(next_outcome(self.car(deadline="06:00:00", days=1), self.PUBLISHED, self.EVENING))
        assert hours(found) == [(21.25, 30)]
        assert found.shortened

    def test_a_deadline_whose_days_no_other_shares_is_kept(self) -> None:
        weekly = self.car(deadline="06:00:00", weekdays=["sat", "tue"])
        assert hours(next_outcome(weekly, self.PUBLISHED, self.EVENING)) == [(21.25, 30)]

    def test_it_waits_for_the_prices_of_a_later_day_that_has_the_time(self) -> None:
        today = line(settled(NIGHT, [0.2] * 25))
        asked = self.car(deadline="14:00:00", energy=40)
        assert hours(next_outcome(asked, today, clock(12))) == [(14, 25)]

    def test_a_plan_does_not_wait_if_no_later_day_has_room(self) -> None:
        asked = self.car(earliest="22:00:00", deadline="06:00:00", days=2, energy=60)
        assert hours(next_outcome(asked, self.PUBLISHED, clock(23)))[0][0] == 23

    def test_a_plan_does_not_wait_for_a_day_whose_known_prices_leave_too_little_time(self) -> None:
        prices = [0.1 if hour in {20, 21, 22, 23, 44, 45} else 0.3 for hour in range(78)]
        asked = self.car(deadline="06:00:00", price_cap=11)
        assert hours(next_outcome(asked, line(settled(NIGHT, prices)), self.EVENING)) == [(21.25, 24)]

    def test_a_price_limit_that_shortens_every_day_leaves_none_out(self) -> None:
        asked = self.car(deadline="06:00:00", price_cap=11)
        prices = line(settled(NIGHT, [0.3] * 22 + [0.1] * 2 + [0.3] * 20 + [0.1] * 2 + [0.3] * 2))
        for now in (clock(6), self.EVENING):
            assert hours(next_outcome(asked, prices, now)) == [(22, 24)]


class TestBoundsOnSeveralDays:
    """The earliest start and the deadline count on every day to choose from. NIGHT is a Friday."""

    NIGHTS_CHEAPEST = line(settled(NIGHT, [0.01 if hour % 24 < 6 else 0.1 + hour / 1000 for hour in range(96)]))
    SHOPPING_HOURS: ClassVar[dict[str, Any]] = {"earliest": "08:00:00", "deadline": "20:00:00", "days": 2}

    @pytest.mark.parametrize("weekdays", [["sun"], list(WEEKDAYS)])
    @pytest.mark.parametrize("split", [True, False])
    def test_no_hour_of_the_night_between_two_days_is_used(self, weekdays: list[str], split: bool) -> None:
        asked = plan(180, split=split, weekdays=weekdays, **self.SHOPPING_HOURS)
        assert hours(next_outcome(asked, self.NIGHTS_CHEAPEST, clock(21))) == [(32, 35)]

    def test_a_window_over_midnight_stays_in_the_nights(self) -> None:
        asked = plan(600, split=True, earliest="22:00:00", deadline="06:00:00", days=2, weekdays=["sun"])
        midday_cheapest = line(settled(NIGHT, [0.01 if 6 <= hour % 24 < 16 else 0.2 for hour in range(72)]))
        assert hours(next_outcome(asked, midday_cheapest, NIGHT)) == [(22, 30), (46, 48)]

    def test_a_window_in_one_go_that_fits_no_day_has_too_little_time(self) -> None:
        asked = plan(720, earliest="22:00:00", deadline="06:00:00", days=2)
        assert reason(next_outcome(asked, self.NIGHTS_CHEAPEST, NIGHT)) is NoWindowReason.TOO_LITTLE_TIME

    def test_a_window_by_energy_in_one_go_takes_the_longest_time_of_a_day(self) -> None:
        asked = PlanSettings.from_mapping({"energy": 14, "power": 1, "weekdays": ["sun"], **self.SHOPPING_HOURS})
        found = window(next_outcome(asked, self.NIGHTS_CHEAPEST, clock(12, day=1)))
        assert (hours(found), found.shortened) == ([(56, 68)], True)

    @pytest.mark.parametrize("kind", ["below", "above"])
    def test_all_hours_within_a_limit_lie_between_the_bounds_of_each_day(self, kind: str) -> None:
        asked = PlanSettings.from_mapping(
            {"kind": kind, "price_cap": 50 if kind == "below" else 0, "weekdays": ["sun"], **self.SHOPPING_HOURS}
        )
        found = next_outcome(asked, self.NIGHTS_CHEAPEST, NIGHT)
        assert hours(found) == [(32, 44), (56, 68)]
        assert hours(next_outcome(asked, self.NIGHTS_CHEAPEST, clock(2, day=2), found)) == [(32, 44), (56, 68)]

    def test_the_most_expensive_hours_lie_between_the_bounds_too(self) -> None:
        asked = plan(180, kind="dearest", weekdays=["sun"], **self.SHOPPING_HOURS)
        nights_dearest = line(settled(NIGHT, [0.5 if hour % 24 < 6 else 0.1 + hour / 1000 for hour in range(96)]))
        assert hours(next_outcome(asked, nights_dearest, NIGHT)) == [(65, 68)]

    def test_missing_time_is_added_between_the_bounds_of_the_next_day(self) -> None:
        asked = PlanSettings.from_mapping(
            {"energy": 14, "power": 1, "split": True, "weekdays": ["sun"], **self.SHOPPING_HOURS}
        )
        known = line([one for one in self.NIGHTS_CHEAPEST.periods if one.start < clock(20, day=1)])
        begun = next_outcome(asked, known, clock(12, day=1))
        assert hours(begun) == [(36, 44)]
        assert hours(next_outcome(asked, self.NIGHTS_CHEAPEST, clock(19, day=1), begun)) == [(36, 44), (56, 62)]

    def test_starting_at_once_means_the_next_time_between_the_bounds(self) -> None:
        prices = line(settled(NIGHT, [*[0.5] * 56, 0.3, 0.3, 0.1, *[0.2] * 37]))
        found = window(next_outcome(plan(60, weekdays=["sun"], **self.SHOPPING_HOURS), prices, clock(22, day=1)))
        assert hours(found) == [(58, 59)]
        assert found.saving is not None
        assert found.saving.expected == 0.2


class TestPauses:
    """The shortest pause counts between all pieces, also those of two windows."""

    SPLIT: ClassVar[dict[str, Any]] = {"split": True, "min_piece": 60, "min_pause": 120}

    def test_missing_time_is_added_only_after_the_pause(self) -> None:
        asked = plan(180, **self.SPLIT)
        begun = next_outcome(asked, line(settled(NIGHT, [0.1, 0.1])), NIGHT)
        assert hours(begun) == [(0, 2)]
        known = line(settled(NIGHT, [0.1, 0.1, 0.5, 0.2, 0.3, *[0.9] * 19]))
        assert hours(next_outcome(asked, known, clock(1), begun)) == [(0, 2), (4, 5)]
        ended = next_outcome(asked, line(settled(NIGHT, [0.1, 0.1])), clock(2.5), begun)
        assert hours(next_outcome(asked, known, clock(2.75), ended)) == [(0, 2), (4, 5)]

    @pytest.mark.parametrize(
        ("next_day", "expected"),
        [
            ([0.1, 0.2, 0.3, 0.9], [(24, 26)]),
            ([0.9, 0.1, 0.3, 0.2], [(27, 28), (31, 32)]),
            ([0.9, 0.9, 0.9, 0.2], [(27, 28), (31, 32)]),
        ],
    )
    def test_the_next_window_begins_at_once_or_after_the_pause(
        self, next_day: list[float], expected: list[tuple[float, float]]
    ) -> None:
        asked = plan(120, **self.SPLIT)
        known = line(settled(NIGHT, [*[0.9] * 22, 0.1, 0.1, *next_day, *[0.9] * 3, 0.2, *[0.9] * 16]))
        outcome: Outcome | None = None
        for quarter in range(4 * 24 + 1):
            outcome = next_outcome(asked, known, NIGHT + quarter * QUARTER_S, outcome)
        assert hours(outcome) == expected


@pytest.mark.parametrize("hour_of_day", [8, 14, 22, 25])
def test_the_short_night_of_spring_is_too_short_for_a_window_that_fills_a_night(hour_of_day: float) -> None:
    saturday = at("2026-03-28T00:00")
    asked = plan(540, earliest="22:00:00", deadline="07:00:00")
    known = line(settled(saturday, [0.1] * 47))
    assert reason(next_outcome(asked, known, saturday + int(hour_of_day * HOUR_S))) is NoWindowReason.TOO_LITTLE_TIME


def test_only_the_newest_run_is_remembered() -> None:
    many_days = line(settled(NIGHT, [*CHEAP_AT_3] * 30))
    outcome: Outcome | None = None
    for now in range(NIGHT, NIGHT + 28 * DAY_S, HOUR_S):
        outcome = next_outcome(plan(), many_days, now, outcome)
    assert outcome is not None
    assert outcome.last_run is not None
    assert outcome.last_run.last_run is None


def test_a_decision_is_the_same_after_it_was_stored() -> None:
    timeline = line([hour(NIGHT, 0.2)], predicted(NIGHT + HOUR_S, [(0.05, 0.1, 0.2)] * 47))
    outcome: Outcome | None = None
    for now in range(NIGHT, NIGHT + 2 * DAY_S, QUARTER_S):
        outcome = next_outcome(plan(75, split=True, min_piece=15, horizon="expected"), timeline, now, outcome)
        assert outcome_from_dict(json.loads(json.dumps(asdict(outcome)))) == outcome


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"reason": "bored", "last_run": None},
        {"reason": "no_prices", "last_run": []},
        {"pieces": []},
        {"pieces": [[1]]},
        {"pieces": [["a", "b"]]},
        {"span": None},
        {"average": None},
        {"saving": {"expected": 1}},
        {"last_run": {"pieces": []}},
    ],
)
def test_a_document_that_is_not_a_decision_is_refused(broken: dict[str, Any]) -> None:
    whole = asdict(next_outcome(plan(), TWO_DAYS, NIGHT))
    kept = broken if "reason" in broken or not broken else whole | broken
    with pytest.raises(ValueError):
        outcome_from_dict(kept)
