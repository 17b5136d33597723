import json

import pytest

from tests.support.api.api_server import HOUR, Answer, Serve, make_run, make_view
from tunnihind.api.health import judge_readiness
from tunnihind.api.served_data import ServedData
from tunnihind.api.server import STOPPING_KEY
from tunnihind.core.market import ESTONIA, HOUR_S

NOW = HOUR + 600


def test_all_there_and_fresh_is_ready_with_its_ages() -> None:
    readiness = judge_readiness(make_view(), NOW, pipeline_expected=True)
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
    readiness = judge_readiness(view, NOW, pipeline_expected=True)
    assert not readiness.ready
    assert len(readiness.reasons) == 1
    assert reason in readiness.reasons[0]


@pytest.mark.parametrize(
    ("last_refresh", "pipeline_expected"), [(NOW - 3 * HOUR_S, True), (None, False)], ids=["3 hours old", "no pipeline"]
)
def test_data_of_exactly_three_hours_and_those_that_nobody_refreshes_are_not_stale(
    last_refresh: int | None, *, pipeline_expected: bool
) -> None:
    view = make_view({HOUR: 1.0}, make_run([1.0], made_at=NOW - 3 * HOUR_S), last_refresh=last_refresh)
    assert judge_readiness(view, NOW, pipeline_expected=pipeline_expected).ready


def test_settled_prices_age_from_the_end_of_their_newest_hour() -> None:
    readiness = judge_readiness(make_view({HOUR - 2 * HOUR_S: 1.0}, None), NOW, pipeline_expected=False)
    assert readiness.settled_age_s == HOUR_S + 600


def test_with_nothing_known_ages_are_null() -> None:
    readiness = judge_readiness(ServedData("empty", ESTONIA), NOW, pipeline_expected=True)
    assert (readiness.settled_age_s, readiness.forecast_age_s, readiness.refresh_age_s) == (None, None, None)
    assert len(readiness.reasons) == 3


@pytest.mark.parametrize(
    ("view", "warning"),
    [
        (make_view({HOUR - HOUR_S: 1.0}, make_run([1.0])), "no settled price for the current hour"),
        (make_view({HOUR: 1.0}, None), "there is no forecast"),
        (make_view({HOUR: 1.0}, make_run([1.0], made_at=NOW - 30 * HOUR_S)), "the forecast is 30 h old"),
    ],
)
def test_who_only_passes_data_on_is_ready_with_old_ones_and_warns(view: ServedData, warning: str) -> None:
    readiness = judge_readiness(view, NOW, pipeline_expected=False, only_serves=True, troubles=["the database is away"])
    assert (readiness.ready, readiness.reasons) == (True, [])
    assert readiness.warnings[0] == "the database is away"
    assert warning in readiness.warnings[1]


@pytest.mark.parametrize("view", [ServedData("empty", ESTONIA), make_view({HOUR - HOUR_S: 1.0}, None)])
def test_who_tells_nothing_of_the_present_is_not_ready(view: ServedData) -> None:
    readiness = judge_readiness(view, NOW, pipeline_expected=False, only_serves=True)
    assert not readiness.ready
    assert "there is no forecast" in readiness.reasons
    assert not set(readiness.reasons) & set(readiness.warnings)


def test_nobody_is_ready_who_has_been_asked_to_stop() -> None:
    for only_serves in (True, False):
        readiness = judge_readiness(make_view(), NOW, pipeline_expected=True, only_serves=only_serves, is_stopping=True)
        assert (readiness.ready, readiness.reasons) == (False, ["the server is stopping"])


async def test_a_server_that_was_asked_to_stop_gives_last_answers(serve: Serve) -> None:
    server = await serve()
    server.runner.app[STOPPING_KEY].set()
    for path, status in (("/api/v1/forecast", 200), ("/api/about", 200), ("/nothing", 404), ("/readyz", 503)):
        request = f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n"
        # The response ends because the server closes the connection.
        answer = Answer.parse(await server.exchange(request.encode()))
        assert (answer.status, answer.headers["Connection"]) == (status, "close"), path
        assert int(answer.headers["Content-Length"]) == len(answer.body) > 0


async def test_readyz_is_200_when_ready_and_judges_by_the_servers_own_clock(serve: Serve) -> None:
    server = await serve()
    answer = await server.ask("/readyz")
    assert (answer.status, json.loads(answer.body)["ready"]) == (200, True)
    server.clock.instant += 4 * HOUR_S
    assert (await server.ask("/readyz")).status == 503


async def test_readyz_that_is_not_ready_is_a_problem_with_reasons_and_ages(serve: Serve) -> None:
    server = await serve(ServedData("empty", ESTONIA))
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


async def test_healthz_fails_while_only_a_restart_can_help(serve: Serve) -> None:
    server = await serve()
    server.snapshot.troubles.stuck = "the pipeline has made no progress for 15 minutes"
    answer = await server.ask("/healthz", close=True)
    assert (answer.status, answer.headers["Cache-Control"]) == (503, "no-store")
    detail = json.loads(answer.body)["detail"]
    assert detail == "The server must be restarted: the pipeline has made no progress for 15 minutes."
    server.snapshot.troubles.stuck = None
    assert (await server.ask("/healthz")).status == 200
