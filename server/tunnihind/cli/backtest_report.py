"""Converts a backtest's report to a JSON document or to tables."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.table import Table

from tunnihind.forecast.scoring.decisions import (
    BOILER_HOURS,
    BOILER_KW,
    PLAN_HOURS,
    WEEK_PLAN_HOURS,
    DecisionScores,
    PlanScores,
    boiler_eur_a_year,
)
from tunnihind.forecast.scoring.report import BacktestReport, NaiveComparison, NaiveComparisons
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.forecast.scoring.significance import ENOUGH_TEST_DAYS, LAGS

_SCORE_HEADINGS: Final = ("n", "MAE", "naive", "skill", "cover", "below", "above", "pinball", "Winkler", "width")
_TEST_HEADINGS: Final = ("days", "MAE", "naive", "t", "p", "7-day mean", "t", "p")
_LEGEND: Final = (
    "naive: MAE of the price one week earlier; skill: the part of naive that the model saves;\n"
    "cover, below, above: share of prices inside, below, above p10 to p90"
)
_TEST_LEGEND: Final = (
    f"on daily mean errors, Newey-West with {LAGS} lags, p two-sided;\n"
    "t below 0: the model errs less than the naive forecast beside it;\n"
    f"a dash: fewer than {ENOUGH_TEST_DAYS} days, or no difference to test"
)
_SMALL_P: Final = 0.001

_PLAN_HEADINGS: Final = ("days", *(f"{hours} h" for hours in PLAN_HOURS))
_NAIVE_PLAN_HEADINGS: Final = ("last week", "7-day mean")
_BOILER_HEADINGS: Final = ("boiler", "last week", "ideal")
_DECISION_LEGEND: Final = (
    "share of the ideal saving that the cheapest hours of a delivery day by p50 catch;\n"
    "plans may be split, the earliest of equal hours come first, prices were unpublished at issue;\n"
    "ideal: with perfect foresight; savings are against the day's mean price;\n"
    f"last week, 7-day mean: {WEEK_PLAN_HOURS} h by these prices; week: {WEEK_PLAN_HOURS} h in the coming seven days;\n"
    f"boiler: EUR a year without VAT that a boiler of {BOILER_KW} kW saves in {BOILER_HOURS} h a day"
)


def report_document(report: BacktestReport) -> dict[str, Any]:
    """Return the report as `backtest --json` prints it, without the dates and the resolution.

    Unknown figures are NaN, for which msgspec writes null.
    """
    return {
        "leads": {lead: _scores_document(scores) for lead, scores in report.leads.items()},
        "overall": _scores_document(report.overall),
        "months": {month: _scores_document(scores) for month, scores in report.months.items()},
        "hours": {hour: _scores_document(scores) for hour, scores in report.hours.items()},
        "dieboldMariano": {
            "weeklyNaive": _comparisons_document(report.baseline),
            "sevenDayMean": _comparisons_document(report.seven_day_mean),
        },
        "decisions": _decisions_document(report.decisions),
    }


def report_tables(report: BacktestReport) -> Iterator[Table]:
    """Yield the tables of a report. Each table is at most 100 characters wide."""
    overall = {"all": report.overall}
    leads = {str(lead): scores for lead, scores in report.leads.items()}
    hours = {f"{hour:02}:00": scores for hour, scores in report.hours.items()}
    yield _score_table("By days ahead", "ahead", leads | overall, _LEGEND)
    yield _score_table("By month of delivery", "month", report.months | overall)
    yield _score_table("By hour of the day, local time", "hour", hours | overall)
    yield _test_table(report)
    yield _decision_table(report.decisions)


def _score_table(title: str, label: str, rows: Mapping[str, Scores], legend: str | None = None) -> Table:
    table = _empty_table(title, (label, *_SCORE_HEADINGS), legend)
    for name, scores in rows.items():
        table.add_row(name, *_score_cells(scores))
    return table


def _test_table(report: BacktestReport) -> Table:
    table = _empty_table("Diebold-Mariano tests", ("ahead", *_TEST_HEADINGS), _TEST_LEGEND, column_width=6)
    for lead, scores in report.leads.items():
        table.add_row(str(lead), *_test_cells(scores, report.baseline.leads[lead], report.seven_day_mean.leads[lead]))
    table.add_row("all", *_test_cells(report.overall, report.baseline.overall, report.seven_day_mean.overall))
    return table


def _decision_table(decisions: DecisionScores) -> Table:
    table = _empty_table(
        "Decisions", ("ahead", *_PLAN_HEADINGS, *_NAIVE_PLAN_HEADINGS, *_BOILER_HEADINGS), _DECISION_LEGEND
    )
    for lead, plans in decisions.by_days_ahead.items():
        naive = plans[WEEK_PLAN_HOURS]
        boiler = plans[BOILER_HOURS]
        table.add_row(
            str(lead),
            str(naive.n),
            *(_number_text(plans[hours].share, 3) for hours in PLAN_HOURS),
            *(_number_text(share, 3) for share in (naive.baseline_share, naive.seven_day_mean_share)),
            *(_number_text(boiler_eur_a_year(saved), 0) for saved in (boiler.forecast, boiler.baseline, boiler.ideal)),
        )
    week = decisions.week
    shares = {WEEK_PLAN_HOURS: _number_text(week.share, 3)}
    table.add_row(
        "week",
        str(week.n),
        *(shares.get(hours, "") for hours in PLAN_HOURS),
        *(_number_text(share, 3) for share in (week.baseline_share, week.seven_day_mean_share)),
    )
    return table


def _empty_table(title: str, columns: tuple[str, ...], legend: str | None, column_width: int = 0) -> Table:
    table = Table(title=title, caption=legend, box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.title_justify = table.caption_justify = "left"
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True, min_width=column_width)
    return table


def _score_cells(scores: Scores) -> list[str]:
    shares = [scores.skill, scores.coverage80, scores.below10, scores.above90]
    return [
        str(scores.n),
        f"{scores.mae:.2f}",
        f"{scores.baseline_mae:.2f}",
        *(_number_text(share, 3) for share in shares),
        f"{scores.pinball:.2f}",
        f"{scores.winkler80:.1f}",
        f"{scores.width:.1f}",
    ]


def _test_cells(scores: Scores, *comparisons: NaiveComparison) -> list[str]:
    cells = [str(comparisons[0].test.days), f"{scores.mae:.2f}"]
    for comparison in comparisons:
        cells += [
            _number_text(comparison.naive_mae, 2),
            _number_text(comparison.test.t, 2),
            _p_value_text(comparison.test.p),
        ]
    return cells


def _number_text(value: float, decimals: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{decimals}f}"


def _p_value_text(p: float) -> str:
    return f"<{_SMALL_P}" if p < _SMALL_P else _number_text(p, 3)


def _scores_document(scores: Scores) -> dict[str, Any]:
    return {_camel_case(name): value for name, value in asdict(scores).items()}


def _comparisons_document(comparisons: NaiveComparisons) -> dict[str, Any]:
    leads = {lead: _comparison_document(comparison) for lead, comparison in comparisons.leads.items()}
    return {"leads": leads, "overall": _comparison_document(comparisons.overall)}


def _comparison_document(comparison: NaiveComparison) -> dict[str, Any]:
    return {"benchmarkMae": comparison.naive_mae, **asdict(comparison.test)}


def _decisions_document(decisions: DecisionScores) -> dict[str, Any]:
    return {
        "leads": {
            lead: {
                "plans": {hours: _plan_scores_document(scores) for hours, scores in plans.items()},
                "boilerEurAYear": {
                    name: boiler_eur_a_year(saved) for name, saved in _mean_savings(plans[BOILER_HOURS]).items()
                },
            }
            for lead, plans in decisions.by_days_ahead.items()
        },
        "week": {"hours": WEEK_PLAN_HOURS, **_plan_scores_document(decisions.week)},
    }


def _plan_scores_document(scores: PlanScores) -> dict[str, Any]:
    return {
        "n": scores.n,
        "share": scores.share,
        "baselineShare": scores.baseline_share,
        "sevenDayMeanShare": scores.seven_day_mean_share,
        **{f"{name}Saving": saved for name, saved in _mean_savings(scores).items()},
    }


def _mean_savings(scores: PlanScores) -> dict[str, float]:
    """Map the name of each forecast to the mean saving of its plans in EUR/MWh. `ideal` is perfect foresight."""
    return {
        "forecast": scores.forecast,
        "baseline": scores.baseline,
        "sevenDayMean": scores.seven_day_mean,
        "ideal": scores.ideal,
    }


def _camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)
