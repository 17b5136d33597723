from dataclasses import replace
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tunnihind.market import DAY_S, delivery_day
from tunnihind.pipeline.schedule import (
    CATCH_UP_DAYS,
    LONGEST_PAUSE_S,
    Job,
    Situation,
    Tries,
    due_at,
    due_jobs,
    expected_through,
    next_due,
    pause,
    price_window,
)

NOWS = st.integers(1_600_000_000, 2_000_000_000)
BACK_FILL = {Job.PRICE_HISTORY, Job.WEATHER_HISTORY}


@st.composite
def moments(draw: st.DrawFn) -> tuple[Situation, int]:
    """Draw an instant and a situation around it, with instants of the past and, from a clock set back, the future."""
    now = draw(NOWS)
    instants = st.none() | st.integers(now - 3 * DAY_S, now + 3 * DAY_S)
    past = st.none() | st.integers(now - 3 * DAY_S, now)
    tries = st.builds(
        Tries, instants, instants, st.integers(0, 10**6), st.just(0) | st.integers(now - DAY_S, now + 3 * DAY_S)
    )
    recent = st.integers(-20, 1).map(lambda back: delivery_day(now) + timedelta(days=back))
    situation = Situation(
        settled_through=draw(st.none() | recent),
        stored_ts=draw(instants),
        run_made_at=draw(past),
        held_days=draw(st.lists(recent, max_size=2).map(tuple)),
        missing_years=draw(st.sampled_from([(), (2025,)])),
        missing_months=draw(st.sampled_from([(), (date(2025, 12, 1),)])),
        has_weather=draw(st.booleans()),
        tries=draw(st.dictionaries(st.sampled_from(Job), tries)),
    )
    return situation, now


@given(moments())
def test_something_is_always_due_within_a_day(moment: tuple[Situation, int]) -> None:
    situation, now = moment
    assert next_due(situation, now) <= now + DAY_S


@given(moments(), st.sampled_from(sorted(set(Job) - BACK_FILL)))
def test_what_has_just_succeeded_is_not_due(moment: tuple[Situation, int], job: Job) -> None:
    situation, now = moment
    after = replace(situation, tries={**situation.tries, job: Tries(tried_ts=now, ok_ts=now)})
    assert job not in due_jobs(after, now)


@given(moments(), st.sampled_from(Job), st.integers(1, 10**6))
def test_a_failure_delays_a_job_by_a_bounded_pause(moment: tuple[Situation, int], job: Job, failures: int) -> None:
    situation, now = moment
    wanted = due_at(job, replace(situation, tries={}), now)
    due = due_at(job, replace(situation, tries={job: Tries(tried_ts=now, failures=failures)}), now)
    assert now < due <= max(wanted, now + LONGEST_PAUSE_S)


@given(st.integers(1, 10**6), NOWS)
def test_pauses_are_between_a_minute_and_a_quarter_of_an_hour_and_never_shrink(failures: int, now: int) -> None:
    assert 60 <= pause(failures, now) <= pause(failures + 1, now) <= LONGEST_PAUSE_S


@given(NOWS, st.integers(0, 2 * DAY_S))
def test_what_is_expected_never_goes_back_and_is_today_or_tomorrow(now: int, later_s: int) -> None:
    assert 0 <= (expected_through(now) - delivery_day(now)).days <= 1
    assert expected_through(now) <= expected_through(now + later_s)


@given(moments())
def test_a_fetch_of_prices_reaches_tomorrow_and_leaves_no_recent_gap(moment: tuple[Situation, int]) -> None:
    situation, now = moment
    first, last = price_window(situation, now)
    today = delivery_day(now)
    assert last == today + timedelta(days=1)
    assert first >= today - timedelta(days=CATCH_UP_DAYS)
    if situation.settled_through is None:
        assert first == today - timedelta(days=CATCH_UP_DAYS)
    else:
        gap = max(situation.settled_through + timedelta(days=1), today - timedelta(days=CATCH_UP_DAYS))
        assert first <= gap
