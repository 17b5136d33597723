"""A table of situations and instants with the expected schedule."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from tests.support.clocks import local
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, delivery_day
from tunnihind.pipeline.schedule import (
    ZONE_TASK_KINDS,
    CovariateSourceSituation,
    Situation,
    Task,
    TaskKind,
    Tries,
    ZoneSituation,
    due_at,
    due_tasks,
    limited_pause_end,
    pause_after_failures,
    price_request_days,
)
from tunnihind.sources.base import Cadence

MINUTE = 60
SEASONS = ("2025-12-15", "2026-07-15")


def situation_of(**facts: Any) -> Situation:  # noqa: ANN401  the facts of both classes
    """Return a situation of one zone. Fields of `ZoneSituation` belong to the zone."""
    of_zone = {name: facts.pop(name) for name in ZoneSituation.__slots__ if name in facts}
    return Situation(ESTONIA, {"ee": ZoneSituation(**of_zone)}, **facts)


def task(kind: TaskKind) -> Task:
    return Task(kind, zone="ee" if kind in ZONE_TASK_KINDS else None)


def after_success(kind: TaskKind, succeeded_ts: int, **facts: object) -> Situation:
    return situation_of(tries={task(kind): Tries(tried_ts=succeeded_ts, succeeded_ts=succeeded_ts)}, **facts)


def is_due(kind: TaskKind, situation: Situation, now: int) -> bool:
    return task(kind) in due_tasks(situation, now)


@pytest.mark.parametrize("season", SEASONS)
@pytest.mark.parametrize(
    ("time", "settled_days_ahead", "asked_s_ago", "due"),
    [
        # Today is whole, and tomorrow's prices are not due yet.
        ("13:44", 0, 59 * MINUTE, False),
        ("13:44", 0, 60 * MINUTE, True),
        # Tomorrow's prices are due from 13:45 to 15:30.
        ("13:45", 0, 59, False),
        ("13:45", 0, MINUTE, True),
        ("15:29", 0, MINUTE, True),
        # They are late.
        ("15:30", 0, MINUTE, False),
        ("15:30", 0, 15 * MINUTE - 1, False),
        ("15:30", 0, 15 * MINUTE, True),
        ("23:59", 0, 15 * MINUTE, True),
        # They are there.
        ("13:45", 1, 59 * MINUTE, False),
        ("14:30", 1, 60 * MINUTE, True),
        ("15:30", 1, 59 * MINUTE, False),
        # Today has a gap.
        ("09:00", -1, 15 * MINUTE - 1, False),
        ("09:00", -1, 15 * MINUTE, True),
        ("14:00", -1, MINUTE, True),
    ],
)
def test_prices_are_asked_for_as_fast_as_they_are_awaited(
    season: str, time: str, settled_days_ahead: int, asked_s_ago: int, due: bool
) -> None:
    now = local(f"{season} {time}")
    settled = delivery_day(now) + timedelta(days=settled_days_ahead)
    assert (
        is_due(TaskKind.PRICES, after_success(TaskKind.PRICES, now - asked_s_ago, settled_through=settled), now) is due
    )


@pytest.mark.parametrize(
    ("now", "day"),
    [
        ("2025-12-15 13:44", date(2025, 12, 15)),
        ("2025-12-15 13:45", date(2025, 12, 16)),
        ("2025-12-15 23:59", date(2025, 12, 16)),
        # The 16th has begun in Estonia but not on the market, so the prices published on the 15th are all there is.
        ("2025-12-16 00:00", date(2025, 12, 16)),
        ("2025-12-16 00:59", date(2025, 12, 16)),
        ("2025-12-16 01:00", date(2025, 12, 16)),
        ("2026-07-15 13:44", date(2026, 7, 15)),
        ("2026-07-15 13:45", date(2026, 7, 16)),
        ("2026-07-16 00:30", date(2026, 7, 16)),
        # The nights of the clock changes, at 03:00 and 04:00 Estonian time.
        ("2026-03-29 00:30", date(2026, 3, 29)),
        ("2026-03-29 02:59", date(2026, 3, 29)),
        ("2026-03-29 04:00", date(2026, 3, 29)),
        ("2026-03-29 13:45", date(2026, 3, 30)),
        ("2026-10-25 00:30", date(2026, 10, 25)),
        ("2026-10-25 03:30", date(2026, 10, 25)),
        ("2026-10-25 13:44", date(2026, 10, 25)),
        ("2026-10-25 13:45", date(2026, 10, 26)),
    ],
)
def test_a_day_is_expected_from_its_publication_on_the_day_before(now: str, day: date) -> None:
    assert ESTONIA.newest_expected_day(local(now)) == day


def test_the_second_of_two_equal_hours_expects_what_the_first_did() -> None:
    first = local("2026-10-25 03:30")
    assert ESTONIA.newest_expected_day(first) == ESTONIA.newest_expected_day(first + HOUR_S)


@pytest.mark.parametrize(
    ("now", "settled_through", "first", "last"),
    [
        # Nothing is stored, or nothing recent.
        ("2025-12-15 10:00", None, date(2025, 12, 1), date(2025, 12, 16)),
        ("2025-12-15 14:00", None, date(2025, 12, 1), date(2025, 12, 16)),
        # The expected day, and two days that show whether an answer is off.
        ("2025-12-15 13:45", date(2025, 12, 15), date(2025, 12, 14), date(2025, 12, 16)),
        ("2025-12-15 15:29", date(2025, 12, 15), date(2025, 12, 14), date(2025, 12, 16)),
        # The last 48 hours may have been corrected.
        ("2025-12-15 13:44", date(2025, 12, 15), date(2025, 12, 13), date(2025, 12, 16)),
        ("2025-12-15 15:30", date(2025, 12, 15), date(2025, 12, 13), date(2025, 12, 16)),
        ("2025-12-15 14:30", date(2025, 12, 16), date(2025, 12, 13), date(2025, 12, 16)),
        # There is a gap, also while tomorrow's prices are due.
        ("2025-12-15 14:00", date(2025, 12, 14), date(2025, 12, 13), date(2025, 12, 16)),
        ("2025-12-15 10:00", date(2025, 12, 10), date(2025, 12, 11), date(2025, 12, 16)),
        ("2025-12-15 10:00", date(2025, 11, 1), date(2025, 12, 1), date(2025, 12, 16)),
        # The market's day begins at 01:00 Estonian time.
        ("2025-12-16 00:30", date(2025, 12, 16), date(2025, 12, 13), date(2025, 12, 16)),
        ("2025-12-16 01:00", date(2025, 12, 16), date(2025, 12, 14), date(2025, 12, 17)),
    ],
)
def test_asks_for_what_is_awaited_may_be_corrected_or_was_missed(
    now: str, settled_through: date | None, first: date, last: date
) -> None:
    assert price_request_days(situation_of(settled_through=settled_through), local(now)) == (first, last)


NOON = local("2025-12-15 12:00")


def test_an_empty_store_wants_prices_and_history_but_no_forecast_yet() -> None:
    situations = {
        "weather": CovariateSourceSituation(PATIENT, (date(2025, 12, 1),)),
        "whole": CovariateSourceSituation(PATIENT),
    }
    assert due_tasks(situation_of(missing_years=(2025, 2024), covariates=situations), NOON) == [
        Task(TaskKind.PRICES),
        Task(TaskKind.COVARIATES, "weather"),
        Task(TaskKind.COVARIATES, "whole"),
        Task(TaskKind.PRICE_HISTORY),
        Task(TaskKind.COVARIATE_HISTORY, "weather"),
        Task(TaskKind.RECORDS),
        Task(TaskKind.CLEAN_UP),
    ]


def test_without_sources_of_covariates_there_is_nothing_to_ask_them() -> None:
    assert not {TaskKind.COVARIATES, TaskKind.COVARIATE_HISTORY} & {task.kind for task in situation_of().tasks()}


PATIENT = Cadence(every_s=3 * HOUR_S, retry_s=60, longest_retry_s=900)
BRISK = Cadence(every_s=HOUR_S, retry_s=30, longest_retry_s=45)


def test_each_source_of_covariates_is_asked_at_its_own_cadence() -> None:
    tasks = {name: Task(TaskKind.COVARIATES, name) for name in ("patient", "brisk")}
    situation = situation_of(
        covariates={"patient": CovariateSourceSituation(PATIENT), "brisk": CovariateSourceSituation(BRISK)},
        tries={task: Tries(NOON, NOON) for task in tasks.values()},
    )
    assert due_at(tasks["patient"], situation, NOON + 1) == NOON + 3 * HOUR_S
    assert due_at(tasks["brisk"], situation, NOON + 1) == NOON + HOUR_S


@pytest.mark.parametrize("time", ["12:00", "14:00"])
@pytest.mark.parametrize(("failures", "patient_s", "brisk_s"), [(1, 60, 30), (2, 120, 45), (9, 900, 45)])
@pytest.mark.parametrize("kind", [TaskKind.COVARIATES, TaskKind.COVARIATE_HISTORY])
def test_each_source_of_covariates_has_its_own_pauses_after_failures(
    kind: TaskKind, failures: int, patient_s: int, brisk_s: int, time: str
) -> None:
    now = local(f"2025-12-15 {time}")
    months = (date(2025, 12, 1),)
    situation = situation_of(
        covariates={
            "patient": CovariateSourceSituation(PATIENT, months),
            "brisk": CovariateSourceSituation(BRISK, months),
        },
        tries={Task(kind, name): Tries(now, failures=failures) for name in ("patient", "brisk")},
    )
    assert due_at(Task(kind, "patient"), situation, now) == now + patient_s
    assert due_at(Task(kind, "brisk"), situation, now) == now + brisk_s


def test_a_source_that_fails_leaves_the_cadence_of_the_others_as_it_is() -> None:
    situation = situation_of(
        covariates={"down": CovariateSourceSituation(PATIENT), "up": CovariateSourceSituation(PATIENT)},
        tries={
            Task(TaskKind.COVARIATES, "down"): Tries(NOON, None, 1),
            Task(TaskKind.COVARIATES, "up"): Tries(NOON, NOON),
        },
    )
    assert Task(TaskKind.COVARIATES, "down") in due_tasks(situation, NOON + 60)
    assert Task(TaskKind.COVARIATES, "up") not in due_tasks(situation, NOON + 3 * HOUR_S - 1)


@pytest.mark.parametrize(("run_made_at", "prices_changed_ts"), [(NOON + 5, NOON + 5), (NOON + 1800, NOON - 9000)])
def test_a_forecast_of_all_there_is_lasts_until_the_full_hour(run_made_at: int, prices_changed_ts: int) -> None:
    situation = situation_of(run_made_at=run_made_at, prices_changed_ts=prices_changed_ts)
    assert due_at(task(TaskKind.FORECAST), situation, NOON + 1900) == NOON + HOUR_S


@pytest.mark.parametrize(("run_made_at", "prices_changed_ts"), [(NOON + 5, NOON + 6), (None, NOON)])
def test_a_forecast_is_due_as_soon_as_prices_have_come(run_made_at: int | None, prices_changed_ts: int) -> None:
    assert is_due(
        TaskKind.FORECAST, situation_of(run_made_at=run_made_at, prices_changed_ts=prices_changed_ts), NOON + 7
    )


def test_after_no_run_a_forecast_is_due_in_an_hour_or_with_new_prices() -> None:
    situation = after_success(TaskKind.FORECAST, NOON, prices_changed_ts=NOON - 60)
    assert not is_due(TaskKind.FORECAST, situation, NOON + 30)
    assert is_due(TaskKind.FORECAST, situation, NOON + HOUR_S)
    assert is_due(TaskKind.FORECAST, after_success(TaskKind.FORECAST, NOON, prices_changed_ts=NOON + 10), NOON + 30)


def test_back_fill_goes_on_without_a_pause_while_chunks_are_missing() -> None:
    situation = after_success(TaskKind.PRICE_HISTORY, NOON, missing_years=(2024,))
    assert is_due(TaskKind.PRICE_HISTORY, situation, NOON)
    assert not is_due(TaskKind.PRICE_HISTORY, after_success(TaskKind.PRICE_HISTORY, NOON), NOON + DAY_S)


@pytest.mark.parametrize(
    ("scored", "due"),
    [
        ("2025-12-15 10:00", "2025-12-15 16:00"),
        ("2025-12-15 15:59", "2025-12-15 16:00"),
        ("2025-12-15 16:00", "2025-12-16 16:00"),
        ("2025-12-15 23:59", "2025-12-16 16:00"),
    ],
)
def test_scores_are_made_once_a_day_after_publication(scored: str, due: str) -> None:
    situation = situation_of(prices_changed_ts=NOON, scored_ts=local(scored))
    assert due_at(task(TaskKind.SCORES), situation, local(scored) + 1) == local(due)


def test_scores_that_were_never_made_are_due_until_they_are_noted() -> None:
    assert is_due(TaskKind.SCORES, after_success(TaskKind.SCORES, NOON, prices_changed_ts=NOON), NOON)
    assert is_due(TaskKind.SCORES, situation_of(prices_changed_ts=NOON, scored_ts=NOON + DAY_S), NOON)
    assert due_at(task(TaskKind.SCORES), situation_of(), NOON) == float("inf")


def test_held_days_are_asked_for_four_times_a_day() -> None:
    situation = after_success(TaskKind.HELD_DAYS, NOON, held_days=(date(2025, 12, 1),))
    assert due_at(Task(TaskKind.HELD_DAYS), situation, NOON + 1) == NOON + 6 * HOUR_S


def failed(failures: int, tried_ts: int, *, not_before_ts: int = 0, succeeded_ts: int | None = None) -> Situation:
    tries = Tries(tried_ts=tried_ts, succeeded_ts=succeeded_ts, failures=failures, not_before_ts=not_before_ts)
    return situation_of(tries={Task(TaskKind.PRICES): tries})


@pytest.mark.parametrize(
    ("time", "failures", "pause_s"),
    [
        ("12:00", 1, 60),
        ("12:00", 2, 120),
        ("12:00", 4, 480),
        ("12:00", 5, 900),
        ("12:00", 10_000, 900),
        # Tomorrow's prices are due at any minute.
        ("13:45", 1, 60),
        ("13:45", 2, 120),
        ("15:29", 10_000, 120),
        ("15:30", 10_000, 900),
    ],
)
def test_what_fails_is_left_alone_for_longer_and_longer(time: str, failures: int, pause_s: int) -> None:
    now = local(f"2025-12-15 {time}")
    assert pause_after_failures(failures, ESTONIA, now) == pause_s
    assert not is_due(TaskKind.PRICES, failed(failures, now - pause_s + 1), now)
    assert is_due(TaskKind.PRICES, failed(failures, now - pause_s), now)


def test_a_failure_does_not_make_a_job_due_sooner_than_its_last_success_does() -> None:
    situation = situation_of(tries={Task(TaskKind.CLEAN_UP): Tries(NOON, NOON - 60, 1)})
    assert not is_due(TaskKind.CLEAN_UP, situation, NOON + 120)


def test_a_source_that_asked_for_a_pause_gets_it_in_the_watch_too() -> None:
    now = local("2025-12-15 14:00")
    situation = failed(1, now - 300, not_before_ts=now + 600)
    assert due_at(Task(TaskKind.PRICES), situation, now) == now + 600
    assert is_due(TaskKind.PRICES, situation, now + 600)


@pytest.mark.parametrize(
    ("now", "asked_s", "end"),
    [
        # A short pause lasts as long as the source demands.
        ("2025-12-15 10:00", 60, "2025-12-15 10:01"),
        ("2025-12-15 14:00", 60, "2025-12-15 14:01"),
        # A pause lasts two hours at most.
        ("2025-12-15 10:00", 2 * HOUR_S, "2025-12-15 12:00"),
        ("2025-12-15 10:00", DAY_S, "2025-12-15 12:00"),
        ("2025-12-15 16:00", DAY_S, "2025-12-15 18:00"),
        ("2025-12-15 23:30", DAY_S, "2025-12-16 01:30"),
        # Every pause ends at 13:45, when the next day's prices are due.
        ("2025-12-15 12:00", DAY_S, "2025-12-15 13:45"),
        ("2025-12-15 13:20", HOUR_S, "2025-12-15 13:45"),
        ("2026-07-15 12:00", DAY_S, "2026-07-15 13:45"),
        # While prices are due, a pause lasts a quarter of an hour at most.
        ("2025-12-15 13:40", DAY_S, "2025-12-15 13:55"),
        ("2025-12-15 13:45", DAY_S, "2025-12-15 14:00"),
        ("2025-12-15 15:29", DAY_S, "2025-12-15 15:44"),
        ("2025-12-15 15:30", DAY_S, "2025-12-15 17:30"),
        # In the night on which clocks go back, three hours pass from 2 to 4.
        ("2026-10-25 02:30", DAY_S, "2026-10-25 03:30"),
    ],
)
def test_nobody_is_left_alone_for_long_whatever_was_asked_for(now: str, asked_s: float, end: str) -> None:
    assert limited_pause_end(ESTONIA, local(now), asked_s) == local(end) + (HOUR_S if now.startswith("2026-10") else 0)


@pytest.mark.parametrize("jump_s", [HOUR_S, DAY_S])
def test_a_clock_set_back_makes_everything_due_instead_of_waiting_for_the_old_time(jump_s: int) -> None:
    now = NOON - jump_s
    for kind in (TaskKind.PRICES, TaskKind.CLEAN_UP):
        assert is_due(kind, after_success(kind, NOON), now)
    assert is_due(TaskKind.PRICES, failed(8, NOON), now)
    assert is_due(TaskKind.FORECAST, situation_of(prices_changed_ts=NOON, run_made_at=NOON), now)
    assert is_due(TaskKind.FORECAST, situation_of(prices_changed_ts=NOON, run_made_at=now - 2 * HOUR_S), now)


@pytest.mark.parametrize("jump_s", [60, HOUR_S, DAY_S])
def test_a_pause_that_was_asked_for_before_the_clock_was_set_back_is_over(jump_s: int) -> None:
    assert is_due(TaskKind.PRICES, failed(1, NOON, not_before_ts=NOON + 600), NOON - jump_s)


@pytest.mark.parametrize("jump_s", [HOUR_S, DAY_S])
def test_a_clock_that_jumps_forward_makes_everything_due_once(jump_s: int) -> None:
    now = NOON + jump_s
    before = situation_of(
        settled_through=date(2025, 12, 15),
        prices_changed_ts=NOON,
        run_made_at=NOON,
        tries={Task(TaskKind.PRICES): Tries(NOON, NOON), Task(TaskKind.CLEAN_UP): Tries(NOON, NOON)},
    )
    assert {TaskKind.PRICES, TaskKind.FORECAST} <= {task.kind for task in due_tasks(before, now)}
    after = situation_of(
        settled_through=date(2025, 12, 16),
        prices_changed_ts=now,
        run_made_at=now,
        scored_ts=now,
        tries={task(kind): Tries(now, now) for kind in TaskKind},
    )
    assert due_tasks(after, now) == []


WATCHED = local("2025-12-15 14:00")


def zones_settled_through(*days: date | None) -> Situation:
    first, second = (ZoneSituation(settled_through=day) for day in days)
    return replace(after_success(TaskKind.PRICES, WATCHED - 60), zones={"ee": first, "lv": second})


@pytest.mark.parametrize("lagging", [None, date(2025, 12, 1), date(2025, 12, 14)])
def test_a_zone_that_lags_makes_no_other_zone_be_requested_every_minute(lagging: date | None) -> None:
    today, tomorrow = date(2025, 12, 15), date(2025, 12, 16)
    for settled in ((tomorrow, lagging), (lagging, tomorrow)):
        situation = zones_settled_through(*settled)
        assert not is_due(TaskKind.PRICES, situation, WATCHED)
        assert is_due(TaskKind.PRICES, situation, WATCHED + HOUR_S)
        gap = today if lagging is None else lagging + timedelta(days=1)
        assert price_request_days(situation, WATCHED) == (min(gap, today - timedelta(days=2)), tomorrow)


@pytest.mark.parametrize("lagging", [None, date(2025, 12, 1), date(2025, 12, 13)])
def test_a_zone_that_lags_delays_and_lengthens_no_request_of_the_watch(lagging: date | None) -> None:
    situation = zones_settled_through(date(2025, 12, 15), lagging)
    assert is_due(TaskKind.PRICES, situation, WATCHED)
    assert price_request_days(situation, WATCHED) == (date(2025, 12, 14), date(2025, 12, 16))
