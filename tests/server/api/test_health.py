import json

import pytest

from tests.support.api_server import HOUR, Serve, make_run, make_view
from tunnihind.api.health import judge
from tunnihind.api.served_data import ServedData
from tunnihind.market import HOUR_S

NOW = HOUR + 600


def test_all_there_and_fresh_is_ready_with_its_ages() -> None:
    readiness = judge(make_view(), NOW, pipeline_expected=True)
    assert (readiness.ready, readiness.reasons) == (True, [])
    assert (readiness.settled_age_s, readiness.forecast_age_s, readiness.refresh_age_s) == (0, 900, 800)


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (make_view({HOUR - HOUR_S: 1.0}, make_run([1.0])), "no settled price for the current hour"),
        (make_view({HOUR: 1.0}, None), "there is no forecast"),
        (make_view({HOUR: 1.0}, make_run([1.0], made_at=NOW - 3 * HOUR_S - 1)), "the forecast is 3 h old"),
        (make_view({HOUR: 1.0}, make_run([1.0]), last_refresh=None), "never been refreshed"),
        (make_view({HOUR: 1.0}, make_run([1.0]), last_refresh=NOW - 5 * HOUR_S), "last refreshed 5 h ago"),
    ],
)
def test_each_fault_alone_has_its_reason(view: ServedData, reason: str) -> None:
    readiness = judge(view, NOW, pipeline_expected=True)
    assert not readiness.ready
    assert len(readiness.reasons) == 1
    assert reason in readiness.reasons[0]


def test_exactly_three_hours_are_not_stale_yet() -> None:
    view = make_view({HOUR: 1.0}, make_run([1.0], made_at=NOW - 3 * HOUR_S), last_refresh=NOW - 3 * HOUR_S)
    assert judge(view, NOW, pipeline_expected=True).ready


def test_without_a_pipeline_nobody_expects_a_refresh() -> None:
    assert judge(make_view({HOUR: 1.0}, make_run([1.0]), last_refresh=None), NOW, pipeline_expected=False).ready


def test_settled_prices_age_from_the_end_of_their_newest_hour() -> None:
    readiness = judge(make_view({HOUR - 2 * HOUR_S: 1.0}, None), NOW, pipeline_expected=False)
    assert readiness.settled_age_s == HOUR_S + 600


def test_with_nothing_known_ages_are_null() -> None:
    readiness = judge(ServedData("empty"), NOW, pipeline_expected=True)
    assert (readiness.settled_age_s, readiness.forecast_age_s, readiness.refresh_age_s) == (None, None, None)
    assert len(readiness.reasons) == 3


async def test_readyz_is_200_when_ready_and_judges_by_the_servers_own_clock(serve: Serve) -> None:
    server = await serve()
    answer = await server.ask("/readyz")
    assert (answer.status, json.loads(answer.body)["ready"]) == (200, True)
    server.clock.instant += 4 * HOUR_S
    assert (await server.ask("/readyz")).status == 503


async def test_readyz_that_is_not_ready_is_a_problem_with_reasons_and_ages(serve: Serve) -> None:
    server = await serve(ServedData("empty"))
    answer = await server.ask("/readyz")
    assert (answer.status, answer.headers["Content-Type"]) == (503, "application/problem+json")
    assert answer.headers["Cache-Control"] == "no-store"
    problem = json.loads(answer.body)
    assert (problem["status"], problem["ready"], problem["forecastAgeS"]) == (503, False, None)
    assert "there is no forecast" in problem["reasons"]
    assert "there is no forecast" in problem["detail"]


async def test_healthz_lives_without_any_data(serve: Serve) -> None:
    server = await serve(blank=True)
    answer = await server.ask("/healthz")
    assert (answer.status, answer.body, answer.headers["Cache-Control"]) == (200, b'{"status":"ok"}', "no-store")
