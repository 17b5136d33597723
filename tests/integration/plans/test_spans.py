"""The occurrences of plans, through every change of the clock."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.core.network_clock import WEEKDAYS
from custom_components.tunnihind.plans.settings import MAX_DAYS, PlanSettings
from custom_components.tunnihind.plans.spans import Span, longest_open_time_s, most_open_time_s, open_times, spans
from tests.support.household.timelines import DAY_S, QUARTER_S, at

WALLS = st.one_of(
    st.sampled_from(["00:00:00", "02:30:00", "03:00:00", "03:30:00", "04:00:00", "07:00:00", "23:59:59"]),
    st.times().map(lambda wall: wall.replace(microsecond=0, tzinfo=None).isoformat()),
)


@st.composite
def plans(draw: st.DrawFn) -> PlanSettings:
    form: dict[str, Any] = {
        "weekdays": sorted(draw(st.sets(st.sampled_from(WEEKDAYS), min_size=1))),
        "days": draw(st.integers(1, MAX_DAYS)),
    }
    for bound in ("earliest", "deadline"):
        if draw(st.booleans()):
            form[bound] = draw(WALLS)
    if form["days"] == 1 and "deadline" in form and "earliest" not in form and draw(st.booleans()):
        form["deadline_2"] = draw(WALLS.filter(lambda other: other != form["deadline"]))
    return PlanSettings.from_mapping(form)


# Weeks with and without a change of the clock.
INSTANTS = st.one_of(
    st.integers(at("2026-03-26T00:00"), at("2026-03-31T00:00")),
    st.integers(at("2026-10-22T00:00"), at("2026-10-27T00:00")),
    st.integers(at("2024-01-01T00:00"), at("2030-01-01T00:00")),
)


def wall(instant: int) -> str:
    return ESTONIA.local_time(instant).strftime("%a %d %H:%M")


def hours_of(day: str, **form: object) -> float:
    """Return the length of the span that holds the noon of a day."""
    noon = at(f"{day}T12:00")
    (span,) = spans(PlanSettings.from_mapping(form), noon, noon + 1)
    return (span.closes - span.opens) / HOUR_S


def test_a_plans_times_are_those_of_its_zones_clock() -> None:
    in_stockholm = replace(ESTONIA, time_zone=ZoneInfo("Europe/Stockholm"))
    form = {"earliest": "07:00:00", "deadline": "09:00:00"}
    [span] = spans(PlanSettings.from_mapping(form, in_stockholm), at("2026-11-20T12:00"), at("2026-11-21T12:00"))
    assert (wall(span.opens), wall(span.closes)) == ("Sat 21 08:00", "Sat 21 10:00")


@pytest.mark.parametrize(
    ("day", "until", "form", "expected"),
    [
        pytest.param(
            "2026-11-20T10:00",
            "2026-11-22T00:00",
            {},
            [("Fri 20 00:00", "Sat 21 00:00"), ("Sat 21 00:00", "Sun 22 00:00")],
            id="without bounds, a span is the zone's day",
        ),
        pytest.param(
            "2026-11-20T07:00",
            "2026-11-21T08:00",
            {"deadline": "07:00:00"},
            [("Fri 20 07:00", "Sat 21 07:00"), ("Sat 21 07:00", "Sun 22 07:00")],
            id="a deadline alone gives the day before it",
        ),
        pytest.param(
            "2026-11-20T21:59",
            "2026-11-20T22:01",
            {"earliest": "22:00:00"},
            [("Thu 19 22:00", "Fri 20 22:00"), ("Fri 20 22:00", "Sat 21 22:00")],
            id="an earliest start alone gives the day after it",
        ),
        pytest.param(
            "2026-11-16T00:00",
            "2026-11-23T00:00",
            {"deadline": "07:00:00", "weekdays": ["mon", "sat"]},
            [("Sun 15 07:00", "Mon 16 07:00"), ("Fri 20 07:00", "Sat 21 07:00"), ("Sun 22 07:00", "Mon 23 07:00")],
            id="weekdays are those of the deadline",
        ),
        pytest.param(
            "2026-11-20T00:00",
            "2026-11-23T00:00",
            {"earliest": "22:00:00", "weekdays": ["sat"]},
            [("Sat 21 22:00", "Sun 22 22:00")],
            id="weekdays are those of the start without a deadline",
        ),
        pytest.param(
            "2026-11-16T08:00",
            "2026-11-20T00:00",
            {"deadline": "07:00:00", "days": 3, "weekdays": ["wed", "fri"]},
            [("Sun 15 07:00", "Wed 18 07:00"), ("Wed 18 07:00", "Fri 20 07:00")],
            id="more days open a span earlier, but never before the last deadline",
        ),
        pytest.param(
            "2026-11-16T00:00",
            "2026-11-21T00:00",
            {"earliest": "22:00:00", "deadline": "07:00:00", "days": 2, "weekdays": ["fri"]},
            [("Wed 18 22:00", "Fri 20 07:00")],
            id="more days with both bounds add whole days before",
        ),
        pytest.param(
            "2026-11-20T00:00",
            "2026-11-21T21:00",
            {"earliest": "08:00:00", "deadline": "20:00:00", "days": 2},
            [("Fri 20 08:00", "Fri 20 20:00"), ("Sat 21 08:00", "Sat 21 20:00")],
            id="a span of every day opens with its own earliest time",
        ),
        pytest.param(
            "2026-11-16T00:00",
            "2026-11-20T00:00",
            {"days": 3, "weekdays": ["mon", "wed"]},
            [("Mon 16 00:00", "Wed 18 00:00"), ("Wed 18 00:00", "Sat 21 00:00")],
            id="more days without a deadline close a span later",
        ),
        pytest.param(
            "2026-03-29T00:00",
            "2026-03-29T12:00",
            {"deadline": "03:30:00", "weekdays": ["sun"]},
            [("Sat 28 03:30", "Sun 29 04:30")],
            id="a deadline in the hour that spring skips uses the offset before",
        ),
        pytest.param(
            "2026-03-28T00:00",
            "2026-03-31T00:00",
            {"earliest": "03:30:00", "deadline": "04:00:00"},
            [("Sat 28 03:30", "Sat 28 04:00"), ("Mon 30 03:30", "Mon 30 04:00")],
            id="a span that spring leaves empty is left out",
        ),
        pytest.param(
            "2026-11-20T00:00",
            "2026-11-21T00:00",
            {},
            [("Fri 20 00:00", "Sat 21 00:00")],
            id="spans that only touch the bounds are left out",
        ),
        pytest.param(
            "2026-11-19T00:00",
            "2026-11-22T00:00",
            {"earliest": "10:00:00", "deadline": "16:00:00", "weekdays": ["fri"]},
            [("Fri 20 10:00", "Fri 20 16:00")],
            id="from 10:00 to 16:00",
        ),
        pytest.param(
            "2026-11-19T00:00",
            "2026-11-22T00:00",
            {"earliest": "22:00:00", "deadline": "07:00:00", "weekdays": ["fri"]},
            [("Thu 19 22:00", "Fri 20 07:00")],
            id="from 22:00 to 07:00",
        ),
        pytest.param(
            "2026-11-19T00:00",
            "2026-11-22T00:00",
            {"earliest": "07:00:00", "deadline": "07:00:00", "weekdays": ["fri"]},
            [("Thu 19 07:00", "Fri 20 07:00")],
            id="from 07:00 to 07:00",
        ),
        pytest.param(
            "2026-11-19T00:00",
            "2026-11-22T00:00",
            {"earliest": "18:00:00", "deadline": "00:00:00", "weekdays": ["fri"]},
            [("Thu 19 18:00", "Fri 20 00:00")],
            id="from 18:00 to 00:00",
        ),
    ],
)
def test_the_spans_of_a_plan(day: str, until: str, form: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    found = spans(PlanSettings.from_mapping(form), at(day), at(until))
    assert [(wall(span.opens), wall(span.closes)) for span in found] == expected


def open_times_before(deadline_day: str, **form: object) -> list[tuple[str, str]]:
    """Return the open times of the span that closes on a day, of a plan without other days."""
    day = date.fromisoformat(deadline_day)
    settings = PlanSettings.from_mapping({"weekdays": [WEEKDAYS[day.weekday()]], **form})
    (span,) = spans(settings, at(f"{deadline_day}T00:00"), at(f"{deadline_day}T00:00") + 1)
    return [(wall(start), wall(end)) for start, end in open_times(settings, span.opens, span.closes)]


def test_both_bounds_count_on_each_day_of_a_span() -> None:
    assert open_times_before("2026-11-22", earliest="08:00:00", deadline="20:00:00", days=2) == [
        ("Sat 21 08:00", "Sat 21 20:00"),
        ("Sun 22 08:00", "Sun 22 20:00"),
    ]
    assert open_times_before("2026-11-20", earliest="22:00:00", deadline="06:00:00", days=3) == [
        ("Tue 17 22:00", "Wed 18 06:00"),
        ("Wed 18 22:00", "Thu 19 06:00"),
        ("Thu 19 22:00", "Fri 20 06:00"),
    ]


TWICE: dict[str, Any] = {"deadline": "18:00:00", "deadline_2": "03:30:00"}


@pytest.mark.parametrize(
    ("day", "hours"),
    [("2026-11-20", (9.5, 14.5)), ("2026-03-29", (9.5, 13.5)), ("2026-10-25", (9.5, 15.5))],
    ids=["plain", "spring", "autumn"],
)
def test_a_day_with_two_deadlines_has_two_spans(day: str, hours: tuple[float, float]) -> None:
    for form in (TWICE, {"deadline": TWICE["deadline_2"], "deadline_2": TWICE["deadline"]}):
        # The spans that close on the day, which 03:30 and 18:00 divide.
        found = [
            span
            for span in spans(PlanSettings.from_mapping(form), at(f"{day}T00:00"), at(f"{day}T23:00"))
            if span.closes <= at(f"{day}T18:00")
        ]
        assert tuple((span.closes - span.opens) / HOUR_S for span in found) == hours
        assert found[0].opens == at(f"{day}T18:00") - int(sum(hours) * HOUR_S)


def test_two_deadlines_fall_on_the_chosen_days_only() -> None:
    plan = PlanSettings.from_mapping({**TWICE, "weekdays": ["mon", "tue"]})
    found = [*spans(plan, at("2026-11-20T12:00"), at("2026-11-27T12:00"))]
    assert [(wall(span.opens), wall(span.closes)) for span in found] == [
        ("Sun 22 18:00", "Mon 23 03:30"),
        ("Mon 23 03:30", "Mon 23 18:00"),
        ("Mon 23 18:00", "Tue 24 03:30"),
        ("Tue 24 03:30", "Tue 24 18:00"),
    ]
    assert longest_open_time_s(plan) == most_open_time_s(plan) == 9.5 * HOUR_S


@pytest.mark.parametrize("form", [{"deadline": "07:00:00"}, {"earliest": "07:00:00", "deadline": "07:00:00"}])
def test_without_a_gap_between_its_bounds_a_span_is_open_all_the_time(form: dict[str, Any]) -> None:
    assert open_times_before("2026-11-20", days=3, **form) == [("Tue 17 07:00", "Fri 20 07:00")]


def test_open_times_begin_and_end_at_full_quarters() -> None:
    assert open_times_before("2026-11-20", earliest="22:05:00", deadline="06:59:59") == [
        ("Thu 19 22:15", "Fri 20 06:45")
    ]
    assert open_times_before("2026-11-20", earliest="22:05:00", deadline="22:29:00", days=2) == []


def test_bounds_without_a_full_quarter_between_them_leave_no_open_time() -> None:
    settings = PlanSettings.from_mapping({"earliest": "22:05:00", "deadline": "22:29:00"})
    assert (longest_open_time_s(settings), most_open_time_s(settings)) == (0, 0)


def test_a_day_whose_time_spring_leaves_out_has_no_open_time() -> None:
    assert open_times_before("2026-03-30", earliest="03:30:00", deadline="04:00:00", days=3) == [
        ("Sat 28 03:30", "Sat 28 04:00"),
        ("Mon 30 03:30", "Mon 30 04:00"),
    ]


def test_the_longest_open_time_is_of_one_day_and_the_most_of_all() -> None:
    settings = PlanSettings.from_mapping(
        {"earliest": "08:00:00", "deadline": "20:00:00", "days": 3, "weekdays": ["sun", "mon"]}
    )
    assert (longest_open_time_s(settings), most_open_time_s(settings)) == (12 * HOUR_S, 36 * HOUR_S)


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-11-20", 24)])
@pytest.mark.parametrize("form", [{}, {"deadline": "23:00:00"}, {"earliest": "01:00:00"}])
def test_a_day_of_the_clock_change_is_an_hour_shorter_or_longer(day: str, hours: int, form: dict[str, Any]) -> None:
    assert hours_of(day, **form) == hours


def test_a_deadline_that_comes_twice_in_autumn_is_the_first_of_the_two() -> None:
    (span,) = spans(
        PlanSettings.from_mapping({"deadline": "03:30:00", "weekdays": ["sun"]}),
        at("2026-10-25T00:00"),
        at("2026-10-25T01:00"),
    )
    assert span.closes == at("2026-10-25T03:30:00+03:00")


@given(plans(), INSTANTS)
@example(PlanSettings.from_mapping({"earliest": "03:30:00", "deadline": "03:30:00", "days": 3}), at("2026-03-27T00:00"))
def test_spans_come_in_order_and_never_overlap(plan: PlanSettings, since: int) -> None:
    found = list(spans(plan, since, since + 30 * DAY_S))
    assert found
    assert all(span.opens < span.closes for span in found)
    assert all(one.closes <= other.opens for one, other in pairwise(found))


@given(plans(), INSTANTS)
def test_every_open_time_lies_between_the_bounds_of_a_day(plan: PlanSettings, since: int) -> None:
    for span in spans(plan, since, since + 10 * DAY_S):
        times = open_times(plan, span.opens, span.closes)
        assert all(span.opens <= start < end <= span.closes for start, end in times)
        assert all(one[1] < other[0] for one, other in pairwise(times))
        first = -(-span.opens // QUARTER_S) * QUARTER_S
        opened = {quarter for start, end in times for quarter in range(start, end, QUARTER_S)}
        for quarter in range(first, span.closes - QUARTER_S + 1, QUARTER_S):
            assert (quarter in opened) == is_between_bounds(plan, quarter)


def is_between_bounds(plan: PlanSettings, quarter: int) -> bool:
    """Return whether a quarter lies between the bounds of a day, or of two days that touch or overlap."""
    if plan.earliest is None or plan.deadline is None:
        return True
    today = ESTONIA.local_time(quarter).date()
    length = timedelta(days=plan.deadline <= plan.earliest)
    bounds = [
        (ESTONIA.instant(day, plan.earliest), ESTONIA.instant(day + length, plan.deadline))
        for day in (today - timedelta(days=1), today)
    ]
    # A gap in the quarter begins with the quarter or with the end of a day's time.
    instants = (quarter, *(closes for _, closes in bounds if quarter <= closes < quarter + QUARTER_S))
    return all(any(opens <= instant < closes for opens, closes in bounds) for instant in instants)


@given(plans(), INSTANTS)
def test_a_span_is_no_longer_than_its_days_and_the_hour_of_autumn(plan: PlanSettings, since: int) -> None:
    for span in spans(plan, since, since + 30 * DAY_S):
        assert span.closes - span.opens <= plan.max_span_days * DAY_S + HOUR_S


@given(plans(), INSTANTS)
def test_a_span_closes_on_a_chosen_day_or_opens_on_one_without_a_deadline(plan: PlanSettings, since: int) -> None:
    for span in spans(plan, since, since + 30 * DAY_S):
        bound = span.opens if plan.deadline is None else span.closes
        assert ESTONIA.local_time(bound).weekday() in plan.weekdays


@given(plans(), INSTANTS, st.integers(0, 40 * DAY_S))
def test_spans_are_the_same_at_any_time(plan: PlanSettings, since: int, later_s: int) -> None:
    until = since + 60 * DAY_S
    later = since + later_s
    asked_before = [span for span in spans(plan, since, until) if span.closes > later]
    assert list(spans(plan, later, until)) == asked_before


@given(plans(), INSTANTS)
def test_every_chosen_day_has_its_occurrence_save_one_that_spring_leaves_out(plan: PlanSettings, since: int) -> None:
    day = ESTONIA.local_time(since).date()
    days = [day + timedelta(days=number) for number in range(28)]
    found = spans(plan, since - 5 * DAY_S, since + 35 * DAY_S)
    bounds = {ESTONIA.local_time(_bound(plan, span)).date() for span in found}
    missing = [day for day in days if day.weekday() in plan.weekdays and day not in bounds]
    assert all(day.month == 3 and day.day >= 25 and day.weekday() == 6 for day in missing)


def _bound(plan: PlanSettings, span: Span) -> int:
    return span.opens if plan.deadline is None else span.closes
