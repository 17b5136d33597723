"""The answer with the accuracy of the served forecasts."""

import csv
import json
from dataclasses import replace
from datetime import date, timedelta

import pytest

from tests.support.api.api_server import RunningServer, Serve
from tests.support.pages.scored_data import SCORED, SCORED_DAY
from tunnihind.api.served_data import ServedData
from tunnihind.core.market import ESTONIA
from tunnihind.forecast.scoring.decisions import Savings
from tunnihind.forecast.scoring.live_scores import DayScores, WindowScores
from tunnihind.forecast.scoring.scores import Scores

NAN = float("nan")


async def test_windows_come_with_their_scores_by_days_ahead(serve: Serve) -> None:
    server = await serve(SCORED)
    answer = json.loads((await server.ask("/api/v1/accuracy")).body)
    [window] = answer["windows"]
    assert window["days"] == 30
    assert window["overall"]["n"] == 720
    assert window["byDaysAhead"] == [window["overall"] | {"daysAhead": 1}]
    assert answer["tier"] == "weather"


async def test_what_could_not_be_scored_is_null(serve: Serve) -> None:
    nothing = Scores(0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN)
    server = await serve(ServedData("1", ESTONIA, recent_scores=(WindowScores(7, {1: nothing}, nothing),)))
    answer = json.loads((await server.ask("/api/v1/accuracy")).body)
    overall = answer["windows"][0]["overall"]
    assert overall.pop("n") == 0
    assert set(overall.values()) == {None}


async def test_before_any_forecast_was_scored_there_are_no_windows(serve: Serve) -> None:
    answer = json.loads((await (await serve()).ask("/api/v1/accuracy")).body)
    assert answer["windows"] == []


async def test_a_window_says_what_plans_by_the_forecast_saved(serve: Serve) -> None:
    [window] = json.loads((await (await serve(SCORED)).ask("/api/v1/accuracy")).body)["windows"]
    [ahead] = window["decisions"]["byDaysAhead"]
    assert [plans["hours"] for plans in ahead["plans"]] == [1, 3, 4, 6]
    for plans in (*ahead["plans"], window["decisions"]["week"]):
        assert plans["share"] == round(plans["saving"] / plans["idealSaving"], 4)
        assert plans["baselineShare"] == round(plans["baselineSaving"] / plans["idealSaving"], 4)
    assert ahead["boilerEurAYear"] == round(ahead["plans"][1]["saving"] * 9 * 365 / 1000, 1)


async def test_windows_scored_before_there_were_decisions_have_none(serve: Serve) -> None:
    scores = SCORED.recent_scores[0].overall
    server = await serve(ServedData("1", ESTONIA, recent_scores=(WindowScores(7, {1: scores}, scores),)))
    decisions = json.loads((await server.ask("/api/v1/accuracy")).body)["windows"][0]["decisions"]
    assert decisions["byDaysAhead"] == []
    assert (decisions["week"]["n"], decisions["week"]["share"]) == (0, None)


@pytest.fixture
async def table(serve: Serve) -> tuple[RunningServer, list[tuple[date, date]]]:
    """Return a server of two scored days, and a list that collects the requested spans."""
    asked: list[tuple[date, date]] = []
    days = [SCORED_DAY, replace(SCORED_DAY, days_ahead=7, plans={}, week=Savings(1.0, -0.001, 2.0, 3.0))]

    def read(first: date, last: date) -> list[DayScores]:
        asked.append((first, last))
        return days

    return await serve(SCORED, read_scores=read), asked


type Table = tuple[RunningServer, list[tuple[date, date]]]


async def test_the_table_has_a_row_for_each_day_of_issue_and_days_ahead(table: Table) -> None:
    answer = await table[0].ask("/api/v1/accuracy?format=csv")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert answer.headers["Cache-Control"].startswith("public, max-age=60, ")
    first, last = csv.DictReader(answer.body.decode().splitlines())
    assert (first["issuedOn"], first["deliveryDay"], first["daysAhead"]) == ("2025-12-14", "2025-12-15", "1")
    assert (first["mae"], first["coverage80"], first["saving4h"], first["idealSavingWeek4h"]) == (
        "31.40",
        "0.8020",
        "44.20",
        "",
    )
    assert (last["deliveryDay"], last["saving4h"]) == ("2025-12-21", "")
    assert (last["savingWeek4h"], last["baselineSavingWeek4h"], last["idealSavingWeek4h"]) == ("1.00", "0.00", "3.00")


async def test_the_table_is_of_the_last_366_days_or_of_a_year(table: Table) -> None:
    server, asked = table
    for query in ("format=csv", "format=csv&year=2024", "format=csv&year=2025&extra=1"):
        assert (await server.ask(f"/api/v1/accuracy?{query}")).status == 200
    last = date(2025, 12, 15)
    assert asked == [
        (last - timedelta(days=365), last),
        (date(2024, 1, 1), date(2024, 12, 31)),
        (date(2025, 1, 1), date(2025, 12, 31)),
    ]


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("format=xml", 400, "`format` is 'xml': give json or csv"),
        ("format=csv&format=csv", 400, "`format` is given more than once"),
        ("format=csv&year=abc", 400, "`year` is 'abc'"),
        ("format=csv&year=20333", 400, "`year` is '20333'"),
        ("format=csv&year=2025&year=2024", 400, "`year` is given more than once"),
        ("format=csv&year=2020", 404, "`year` is 2020: give a year from 2021 to 2025"),
        ("format=csv&year=2026", 404, "from 2021 to 2025"),
        ("year=2033", 404, "from 2021 to 2025"),
    ],
)
async def test_what_is_wrong_with_a_request_is_said(table: Table, query: str, status: int, said: str) -> None:
    answer = await table[0].ask(f"/api/v1/accuracy?{query}")
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert said in json.loads(answer.body)["detail"]
    assert table[1] == []


async def test_parameters_that_mean_nothing_are_ignored_as_ever(serve: Serve) -> None:
    assert (await (await serve()).ask("/api/v1/accuracy?cachebuster=7&cachebuster=8")).status == 200
