"""The occurrences of plans, through every change of the clock."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from custom_components.tunnihind.plans.settings import WEEKDAYS, PlanSettings
from custom_components.tunnihind.plans.spans import Span, spans
from custom_components.tunnihind.prices.days import tallinn_time
from custom_components.tunnihind.prices.timeline import HOUR_S
from tests.support.household.timelines import DAY_S, at

WALLS = st.one_of(
    st.sampled_from(["00:00:00", "02:30:00", "03:00:00", "03:30:00", "04:00:00", "07:00:00", "23:59:59"]),
    st.times().map(lambda wall: wall.replace(microsecond=0, tzinfo=None).isoformat()),
)


@st.composite
def plans(draw: st.DrawFn) -> PlanSettings:
    form: dict[str, Any] = {
        "weekdays": sorted(draw(st.sets(st.sampled_from(WEEKDAYS), min_size=1))),
        "days": draw(st.integers(1, 3)),
    }
    for bound in ("earliest", "deadline"):
        if draw(st.booleans()):
            form[bound] = draw(WALLS)
    return PlanSettings.from_mapping(form)


# Weeks with and without a change of the clock.
INSTANTS = st.one_of(
    st.integers(at("2026-03-26T00:00"), at("2026-03-31T00:00")),
    st.integers(at("2026-10-22T00:00"), at("2026-10-27T00:00")),
    st.integers(at("2024-01-01T00:00"), at("2030-01-01T00:00")),
)


def spans_from(day: str, until: str, **form: object) -> list[tuple[str, str]]:
    found = spans(PlanSettings.from_mapping(form), at(day), at(until))
    return [(wall(span.opens), wall(span.closes)) for span in found]


def wall(instant: int) -> str:
    return tallinn_time(instant).strftime("%a %d %H:%M")


def hours_of(day: str, **form: object) -> float:
    """Return the length of the span that holds the noon of a day."""
    noon = at(f"{day}T12:00")
    (span,) = spans(PlanSettings.from_mapping(form), noon, noon + 1)
    return (span.closes - span.opens) / HOUR_S


def test_without_bounds_a_span_is_the_tallinn_day() -> None:
    assert spans_from("2026-11-20T10:00", "2026-11-22T00:00") == [
        ("Fri 20 00:00", "Sat 21 00:00"),
        ("Sat 21 00:00", "Sun 22 00:00"),
    ]


def test_a_deadline_alone_gives_the_day_before_it() -> None:
    assert spans_from("2026-11-20T07:00", "2026-11-21T08:00", deadline="07:00:00") == [
        ("Fri 20 07:00", "Sat 21 07:00"),
        ("Sat 21 07:00", "Sun 22 07:00"),
    ]


def test_an_earliest_start_alone_gives_the_day_after_it() -> None:
    assert spans_from("2026-11-20T21:59", "2026-11-20T22:01", earliest="22:00:00") == [
        ("Thu 19 22:00", "Fri 20 22:00"),
        ("Fri 20 22:00", "Sat 21 22:00"),
    ]


@pytest.mark.parametrize(
    ("earliest", "deadline", "expected"),
    [
        ("10:00:00", "16:00:00", ("Fri 20 10:00", "Fri 20 16:00")),
        ("22:00:00", "07:00:00", ("Thu 19 22:00", "Fri 20 07:00")),
        ("07:00:00", "07:00:00", ("Thu 19 07:00", "Fri 20 07:00")),
        ("18:00:00", "00:00:00", ("Thu 19 18:00", "Fri 20 00:00")),
    ],
)
def test_both_bounds_give_the_time_from_one_to_the_other_also_past_midnight(
    earliest: str, deadline: str, expected: tuple[str, str]
) -> None:
    found = spans_from("2026-11-19T00:00", "2026-11-22T00:00", earliest=earliest, deadline=deadline, weekdays=["fri"])
    assert found == [expected]


def test_weekdays_are_those_of_the_deadline() -> None:
    found = spans_from("2026-11-16T00:00", "2026-11-23T00:00", deadline="07:00:00", weekdays=["mon", "sat"])
    assert found == [
        ("Sun 15 07:00", "Mon 16 07:00"),
        ("Fri 20 07:00", "Sat 21 07:00"),
        ("Sun 22 07:00", "Mon 23 07:00"),
    ]


def test_weekdays_are_those_of_the_start_without_a_deadline() -> None:
    found = spans_from("2026-11-20T00:00", "2026-11-23T00:00", earliest="22:00:00", weekdays=["sat"])
    assert found == [("Sat 21 22:00", "Sun 22 22:00")]


def test_more_days_open_a_span_earlier_but_never_before_the_last_deadline() -> None:
    found = spans_from("2026-11-16T08:00", "2026-11-20T00:00", deadline="07:00:00", days=3, weekdays=["wed", "fri"])
    assert found == [("Sun 15 07:00", "Wed 18 07:00"), ("Wed 18 07:00", "Fri 20 07:00")]


def test_more_days_with_both_bounds_add_whole_days_before() -> None:
    found = spans_from(
        "2026-11-16T00:00", "2026-11-21T00:00", earliest="22:00:00", deadline="07:00:00", days=2, weekdays=["fri"]
    )
    assert found == [("Wed 18 22:00", "Fri 20 07:00")]


def test_more_days_without_a_deadline_close_a_span_later() -> None:
    assert spans_from("2026-11-16T00:00", "2026-11-20T00:00", days=3, weekdays=["mon", "wed"]) == [
        ("Mon 16 00:00", "Wed 18 00:00"),
        ("Wed 18 00:00", "Sat 21 00:00"),
    ]


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-20", 24)])
@pytest.mark.parametrize("form", [{}, {"deadline": "23:00:00"}, {"earliest": "01:00:00"}])
def test_a_day_of_the_clock_change_is_an_hour_shorter_or_longer(day: str, hours: int, form: dict[str, Any]) -> None:
    assert hours_of(day, **form) == hours


def test_a_deadline_in_the_hour_that_spring_skips_uses_the_offset_before() -> None:
    found = spans_from("2026-03-29T00:00", "2026-03-29T12:00", deadline="03:30:00", weekdays=["sun"])
    assert found == [("Sat 28 03:30", "Sun 29 04:30")]


def test_a_deadline_that_comes_twice_in_autumn_is_the_first_of_the_two() -> None:
    (span,) = spans(
        PlanSettings.from_mapping({"deadline": "03:30:00", "weekdays": ["sun"]}),
        at("2026-10-25T00:00"),
        at("2026-10-25T01:00"),
    )
    assert span.closes == at("2026-10-25T03:30:00+03:00")


def test_a_span_that_spring_leaves_empty_is_no_occurrence() -> None:
    found = spans_from("2026-03-28T00:00", "2026-03-31T00:00", earliest="03:30:00", deadline="04:00:00")
    assert found == [("Sat 28 03:30", "Sat 28 04:00"), ("Mon 30 03:30", "Mon 30 04:00")]


def test_spans_that_only_touch_the_bounds_are_left_out() -> None:
    midnight = at("2026-11-20T00:00")
    assert [span.opens for span in spans(PlanSettings.from_mapping({}), midnight, midnight + DAY_S)] == [midnight]


@given(plans(), INSTANTS)
@example(PlanSettings.from_mapping({"earliest": "03:30:00", "deadline": "03:30:00", "days": 3}), at("2026-03-27T00:00"))
def test_spans_come_in_order_and_never_overlap(plan: PlanSettings, since: int) -> None:
    found = list(spans(plan, since, since + 30 * DAY_S))
    assert found
    assert all(span.opens < span.closes for span in found)
    assert all(one.closes <= other.opens for one, other in pairwise(found))


@given(plans(), INSTANTS)
def test_a_span_is_no_longer_than_its_days_and_the_hour_of_autumn(plan: PlanSettings, since: int) -> None:
    for span in spans(plan, since, since + 30 * DAY_S):
        assert span.closes - span.opens <= plan.max_span_days * DAY_S + HOUR_S


@given(plans(), INSTANTS)
def test_a_span_closes_on_a_chosen_day_or_opens_on_one_without_a_deadline(plan: PlanSettings, since: int) -> None:
    for span in spans(plan, since, since + 30 * DAY_S):
        bound = span.opens if plan.deadline is None else span.closes
        assert tallinn_time(bound).weekday() in plan.weekdays


@given(plans(), INSTANTS, st.integers(0, 40 * DAY_S))
def test_spans_are_the_same_at_any_time(plan: PlanSettings, since: int, later_s: int) -> None:
    until = since + 60 * DAY_S
    later = since + later_s
    asked_before = [span for span in spans(plan, since, until) if span.closes > later]
    assert list(spans(plan, later, until)) == asked_before


@given(plans(), INSTANTS)
def test_every_chosen_day_has_its_occurrence_save_one_that_spring_leaves_out(plan: PlanSettings, since: int) -> None:
    day = tallinn_time(since).date()
    days = [day + timedelta(days=number) for number in range(28)]
    found = spans(plan, since - 5 * DAY_S, since + 35 * DAY_S)
    bounds = {tallinn_time(_bound(plan, span)).date() for span in found}
    missing = [day for day in days if day.weekday() in plan.weekdays and day not in bounds]
    assert all(day.month == 3 and day.day >= 25 and day.weekday() == 6 for day in missing)


def _bound(plan: PlanSettings, span: Span) -> int:
    return span.opens if plan.deadline is None else span.closes
