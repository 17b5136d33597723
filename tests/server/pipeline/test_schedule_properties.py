from dataclasses import replace
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, delivery_day
from tunnihind.pipeline.schedule import (
    CATCH_UP_DAYS,
    LONGEST_PAUSE_S,
    MAX_RETRY_AFTER_IN_WATCH_S,
    MAX_RETRY_AFTER_S,
    CovariateSourceSituation,
    Situation,
    Task,
    TaskKind,
    Tries,
    ZoneSituation,
    due_at,
    due_tasks,
    limited_pause_end,
    next_due_at,
    pause_after_failures,
    price_request_days,
)
from tunnihind.sources.base import Cadence

NOWS = st.integers(1_600_000_000, 2_000_000_000)
CADENCE = Cadence(every_s=3 * HOUR_S)
SOURCES = ("weather", "entsoe-forecasts")
TASKS = tuple(
    Situation(
        ESTONIA, {"ee": ZoneSituation()}, covariates=dict.fromkeys(SOURCES, CovariateSourceSituation(CADENCE))
    ).tasks()
)
IN_PARTS = {TaskKind.PRICE_HISTORY, TaskKind.COVARIATE_HISTORY, TaskKind.SCORES}
"""Jobs that may leave work to do after a success. The store shows the rest."""


@st.composite
def moments(draw: st.DrawFn) -> tuple[Situation, int]:
    """Draw an instant and a situation around it.

    Its instants are in the past or, after a clock was set back, in the future.
    """
    now = draw(NOWS)
    instants = st.none() | st.integers(now - 3 * DAY_S, now + 3 * DAY_S)
    past = st.none() | st.integers(now - 3 * DAY_S, now)
    tries = st.builds(
        Tries, instants, instants, st.integers(0, 10**6), st.just(0) | st.integers(now - DAY_S, now + 3 * DAY_S)
    )
    recent = st.integers(-20, 1).map(lambda back: delivery_day(now) + timedelta(days=back))
    situation = Situation(
        ESTONIA,
        {
            "ee": ZoneSituation(
                settled_through=draw(st.none() | recent), run_made_at=draw(past), scored_ts=draw(instants)
            )
        },
        prices_changed_ts=draw(instants),
        held_days=draw(st.lists(recent, max_size=2).map(tuple)),
        missing_years=draw(st.sampled_from([(), (2025,)])),
        covariates={
            source: CovariateSourceSituation(CADENCE, draw(st.sampled_from([(), (date(2025, 12, 1),)])))
            for source in SOURCES
        },
        tries=draw(st.dictionaries(st.sampled_from(TASKS), tries)),
    )
    return situation, now


@given(moments())
def test_something_is_always_due_within_a_day(moment: tuple[Situation, int]) -> None:
    situation, now = moment
    assert next_due_at(situation, now) <= now + DAY_S


@given(moments(), st.sampled_from([task for task in TASKS if task.kind not in IN_PARTS]))
def test_what_has_just_succeeded_is_not_due(moment: tuple[Situation, int], task: Task) -> None:
    situation, now = moment
    after = replace(situation, tries={**situation.tries, task: Tries(tried_ts=now, succeeded_ts=now)})
    assert task not in due_tasks(after, now)


@given(moments(), st.sampled_from(TASKS), st.integers(1, 10**6))
def test_a_failure_delays_a_task_by_a_bounded_pause(moment: tuple[Situation, int], task: Task, failures: int) -> None:
    situation, now = moment
    wanted = due_at(task, replace(situation, tries={}), now)
    due = due_at(task, replace(situation, tries={task: Tries(tried_ts=now, failures=failures)}), now)
    assert now < due <= max(wanted, now + LONGEST_PAUSE_S)


@given(st.integers(1, 10**6), NOWS)
def test_pauses_are_between_a_minute_and_a_quarter_of_an_hour_and_never_shrink(failures: int, now: int) -> None:
    assert (
        60
        <= pause_after_failures(failures, ESTONIA, now)
        <= pause_after_failures(failures + 1, ESTONIA, now)
        <= LONGEST_PAUSE_S
    )


@given(NOWS, st.floats(0, 10 * DAY_S))
def test_a_pause_is_no_longer_than_asked_and_takes_little_of_the_watch(now: int, asked_s: float) -> None:
    end = limited_pause_end(ESTONIA, now, asked_s)
    assert now <= end <= min(now + asked_s + 1, now + MAX_RETRY_AFTER_S)
    longest_in_watch = now + MAX_RETRY_AFTER_IN_WATCH_S
    assert not any(ESTONIA.is_in_publication_watch(later) for later in range(longest_in_watch, end, 60))


@given(NOWS, st.integers(0, 2 * DAY_S))
def test_what_is_expected_never_goes_back_and_is_today_or_tomorrow(now: int, later_s: int) -> None:
    assert 0 <= (ESTONIA.newest_expected_day(now) - delivery_day(now)).days <= 1
    assert ESTONIA.newest_expected_day(now) <= ESTONIA.newest_expected_day(now + later_s)


@given(moments())
def test_a_fetch_of_prices_reaches_tomorrow_and_leaves_no_recent_gap(moment: tuple[Situation, int]) -> None:
    situation, now = moment
    first, last = price_request_days(situation, now)
    today = delivery_day(now)
    assert last == today + timedelta(days=1)
    assert first >= today - timedelta(days=CATCH_UP_DAYS)
    if situation.settled_through is None:
        assert first == today - timedelta(days=CATCH_UP_DAYS)
    else:
        gap = max(situation.settled_through + timedelta(days=1), today - timedelta(days=CATCH_UP_DAYS))
        assert first <= gap
