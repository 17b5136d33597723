import csv
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree as ET

import pytest

from tests.server.cli.conftest import Price, Run, lively
from tunnihind.core.market import HOUR_S, QUARTER_S, day_end, day_start
from tunnihind.forecast.forecaster import TieredForecaster

SPAN = ("--from", "2024-03-10", "--to", "2024-04-20")
"""A span of 42 delivery days. One of them has 23 hours."""
HOURS = 42 * 24 - 1
SCORES = {"n", "mae", "baselineMae", "skill", "coverage80", "below10", "above90", "pinball", "winkler80", "width"}


def no_constant(name: str) -> NoReturn:
    raise AssertionError(f"{name} is no JSON")


def strict_json(text: str) -> Any:  # noqa: ANN401  any JSON document
    return json.loads(text, parse_constant=no_constant)


@pytest.fixture
def lively_market(imported: Callable[[Price], None]) -> None:
    imported(lively)


@pytest.mark.usefixtures("lively_market")
def test_json_gives_the_scores_by_lead_month_and_hour_and_the_tests(run: Run) -> None:
    result = run("backtest", *SPAN, "--json")
    assert result.exit_code == 0
    document = strict_json(result.stdout)
    assert list(document) == [
        "from",
        "to",
        "resolution",
        "leads",
        "overall",
        "months",
        "hours",
        "dieboldMariano",
        "decisions",
    ]
    assert (document["from"], document["to"], document["resolution"]) == ("2024-03-10", "2024-04-20", "60m")
    assert list(document["leads"]) == [str(lead) for lead in range(1, 8)]
    assert list(document["months"]) == ["2024-03", "2024-04"]
    assert list(document["hours"]) == [str(hour) for hour in range(24)]
    for scores in (document["overall"], *(s for by in ("leads", "months", "hours") for s in document[by].values())):
        assert set(scores) == SCORES
    assert {scores["n"] for scores in document["leads"].values()} == {HOURS}
    for by in ("leads", "months", "hours"):
        assert sum(scores["n"] for scores in document[by].values()) == document["overall"]["n"] == 7 * HOURS


@pytest.mark.usefixtures("lively_market")
def test_json_tests_the_model_against_both_naive_forecasts_at_every_lead(run: Run) -> None:
    document = strict_json(run("backtest", *SPAN, "--json").stdout)
    tests = document["dieboldMariano"]
    assert list(tests) == ["weeklyNaive", "sevenDayMean"]
    for against in tests.values():
        assert list(against["leads"]) == list(document["leads"])
        for test in (against["overall"], *against["leads"].values()):
            assert list(test) == ["benchmarkMae", "days", "t", "p"]
    for lead, scores in document["leads"].items():
        assert tests["weeklyNaive"]["leads"][lead]["benchmarkMae"] == scores["baselineMae"]


@pytest.mark.usefixtures("lively_market")
def test_json_scores_the_plans_of_each_lead_and_of_the_coming_week(run: Run) -> None:
    decisions = strict_json(run("backtest", *SPAN, "--json").stdout)["decisions"]
    assert list(decisions["leads"]) == [str(lead) for lead in range(1, 8)]
    for lead in decisions["leads"].values():
        assert {hours: plans["n"] for hours, plans in lead["plans"].items()} == dict.fromkeys("1346", 42)
        for plans in lead["plans"].values():
            assert plans["share"] == pytest.approx(plans["forecastSaving"] / plans["idealSaving"])
        # 9 kWh on each of 365 days.
        assert lead["boilerEurAYear"]["ideal"] == pytest.approx(lead["plans"]["3"]["idealSaving"] * 9 * 365 / 1000)
    # Only issues whose seven days all lie within the span count.
    assert (decisions["week"]["hours"], decisions["week"]["n"]) == (4, 36)


@pytest.mark.usefixtures("lively_market")
def test_only_the_leads_asked_for_are_scored(run: Run) -> None:
    document = strict_json(run("backtest", *SPAN, "--json", "--horizon-days", "2").stdout)
    assert list(document["leads"]) == list(document["decisions"]["leads"]) == ["1", "2"]
    assert document["decisions"]["week"]["n"] == 0
    assert document["decisions"]["week"]["share"] is None


def test_what_is_undefined_is_null_in_json_a_dash_in_the_tables_and_not_in_the_picture(
    run: Run, imported: Callable[[Price], None], tmp_path: Path
) -> None:
    imported(lambda _: 50.0)
    document = strict_json(run("backtest", *SPAN, "--json").stdout)
    assert document["overall"]["skill"] is None
    assert document["dieboldMariano"]["weeklyNaive"]["overall"]["t"] is None
    picture = tmp_path / "backtest.svg"
    result = run("backtest", *SPAN, "--plot", str(picture))
    assert "–" in result.stdout
    assert "nan" not in result.stdout + picture.read_text()


@pytest.mark.usefixtures("lively_market")
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_tables_fit_100_columns_with_whole_headings_on_any_terminal(run: Run, columns: int) -> None:
    lines = run("backtest", *SPAN, columns=columns).stdout.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 100
    scores = ["n", "MAE", "naive", "skill", "cover", "below", "above", "pinball", "Winkler", "width"]
    headings = [line.split() for line in lines]
    assert all([first, *scores] in headings for first in ("ahead", "month", "hour"))
    assert ["ahead", "days", "MAE", "naive", "t", "p", "7-day", "mean", "t", "p"] in headings
    plans = ["1", "h", "3", "h", "4", "h", "6", "h", "last", "week", "7-day", "mean", "boiler", "last", "week", "ideal"]
    assert ["ahead", "days", *plans] in headings
    assert not any("…" in line for line in lines)


@pytest.mark.usefixtures("lively_market")
def test_the_tables_have_a_row_for_every_lead_month_and_hour(run: Run) -> None:
    lines = run("backtest", *SPAN).stdout.splitlines()
    first_cells = [line.split()[0] for line in lines if line.strip()]
    assert [first_cells.count(str(lead)) for lead in range(1, 8)] == [3] * 7
    assert [first_cells.count(month) for month in ("2024-02", "2024-03", "2024-04", "2024-05")] == [0, 1, 1, 0]
    assert [first_cells.count(f"{hour:02}:00") for hour in range(24)] == [1] * 24


@pytest.mark.usefixtures("lively_market")
def test_the_picture_is_well_formed_and_json_stays_alone_on_standard_output(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "backtest.svg"
    result = run("backtest", *SPAN, "--json", "--plot", str(picture))
    assert strict_json(result.stdout)["overall"]["n"] == 7 * HOURS
    root = ET.fromstring(picture.read_bytes())  # noqa: S314  our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.fixture
def quarter_market(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Import a month and a half of quarters. That is too short for the model, so the test is fast."""
    monkeypatch.setattr("tunnihind.cli.backtest.new_forecaster", TieredForecaster)
    path = tmp_path / "quarters.csv"
    quarters = range(day_start(date(2025, 10, 1)), day_end(date(2025, 11, 15)), QUARTER_S)
    path.write_text("ts,ee\n" + "".join(f"{ts},{lively(ts):.2f}\n" for ts in quarters))
    assert run("import", "prices", str(path)).exit_code == 0


@pytest.mark.usefixtures("quarter_market")
def test_quarters_are_forecast_scored_and_written_one_by_one(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "forecasts.csv"
    span = ("--from", "2025-10-26", "--to", "2025-10-30", "--horizon-days", "2")
    by_quarter = run("backtest", *span, "--resolution", "15m", "--json", "--forecasts-out", str(path))
    quarters, hours = strict_json(by_quarter.stdout), strict_json(run("backtest", *span, "--json").stdout)
    assert (quarters["resolution"], hours["resolution"]) == ("15m", "60m")
    assert quarters["leads"]["1"]["n"] == 4 * hours["leads"]["1"]["n"] == 100 + 4 * 96
    assert quarters["overall"]["baselineMae"] != hours["overall"]["baselineMae"]
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["issued_ts", "target_ts", "p10", "p50", "p90"]
    assert len(rows) == 2 * (100 + 4 * 96)
    assert {int(row["target_ts"]) % HOUR_S for row in rows} == {0, 900, 1800, 2700}
    assert all(float(row["p10"]) <= float(row["p50"]) <= float(row["p90"]) for row in rows)


@pytest.mark.usefixtures("quarter_market")
@pytest.mark.parametrize(("resolution", "by"), [("15m", "by quarter"), ("60m", "by hour")])
def test_the_tables_say_which_resolution_they_score(run: Run, resolution: str, by: str) -> None:
    result = run("backtest", "--from", "2025-11-10", "--to", "2025-11-11", "--resolution", resolution)
    assert f"2025-11-10 to 2025-11-11, {by}, issued 09:00 UTC" in result.stdout


@pytest.mark.usefixtures("lively_market")
def test_quarters_of_days_that_have_none_cannot_be_scored(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.cli.backtest.new_forecaster", TieredForecaster)
    result = run("backtest", "--from", "2024-03-10", "--to", "2024-03-11", "--resolution", "15m")
    assert result.exit_code == 1
    assert "are prices by the quarter of these days imported?" in result.stderr


@pytest.mark.parametrize("option", ["--plot", "--forecasts-out"])
def test_a_file_in_a_missing_folder_is_refused_before_the_work(run: Run, tmp_path: Path, option: str) -> None:
    result = run("backtest", *SPAN, option, str(tmp_path / "missing" / "file"))
    assert result.exit_code == 2  # status 1 is for the empty database
    assert "does not exist" in result.stderr


def test_a_picture_without_matplotlib_is_refused_before_the_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunnihind.cli.backtest.find_spec", lambda _name: None)
    result = run("backtest", *SPAN, "--plot", "backtest.svg")
    assert result.exit_code == 2  # status 1 is for the empty database
    assert "./run uv sync --inexact --extra plot" in result.stderr


def test_nothing_to_score_is_a_failure_with_advice(run: Run) -> None:
    result = run("backtest", *SPAN)
    assert result.exit_code == 1
    assert "are prices of these days imported?" in result.stderr


def test_an_end_before_the_start_is_wrong_usage(run: Run) -> None:
    assert run("backtest", "--from", "2024-03-10", "--to", "2024-03-09").exit_code == 2


@pytest.mark.parametrize("bounds", [("--from", "２０２４-03-10"), ("--to", "٢٠٢٤-04-20"), ("--issue-at", "１0:00")])
def test_digits_of_other_scripts_are_refused(run: Run, bounds: tuple[str, str]) -> None:
    result = run("backtest", *SPAN, *bounds)
    assert result.exit_code == 2
    assert "other digits than 0 to 9" in " ".join(result.output.split())
