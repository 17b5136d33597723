"""The report of a backtest: scores, significance tests against naive forecasts, and the savings of plans."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tunnihind.core.market import Market, day_end, day_start, delivery_day
from tunnihind.forecast.scoring.backtest import BacktestResult
from tunnihind.forecast.scoring.decisions import DecisionScores, PricesWithForecasts, Savings, day_savings, week_savings
from tunnihind.forecast.scoring.scores import Scores, mean_absolute_error
from tunnihind.forecast.scoring.significance import DieboldMariano, diebold_mariano
from tunnihind.known import Floats, Instants

type RowMask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class NaiveComparison:
    """The comparison of the model with a naive forecast.

    `naive_mae` is the MAE of the naive forecast in EUR/MWh. If no period has both a known price and a known naive
    forecast, `naive_mae` is NaN.
    """

    naive_mae: float
    test: DieboldMariano


@dataclass(frozen=True, slots=True)
class NaiveComparisons:
    """Comparisons of the model with one naive forecast, by lead and overall."""

    leads: dict[int, NaiveComparison]
    overall: NaiveComparison


@dataclass(frozen=True, slots=True)
class BacktestReport:
    """The scores of one backtest.

    `months` maps a month, for instance 2025-01, to the scores of its delivery days. `hours` maps an hour of the
    market's local time, 0 to 23, to its scores. `leads` maps a lead to its scores, and `below_p50` maps a lead to the
    share of scored prices below p50. `decisions` scores plans for delivery days without any known price at the issue,
    because plans for known prices need no forecast.
    """

    leads: dict[int, Scores]
    months: dict[str, Scores]
    hours: dict[int, Scores]
    overall: Scores
    below_p50: dict[int, float]
    baseline: NaiveComparisons
    seven_day_mean: NaiveComparisons
    decisions: DecisionScores

    @classmethod
    def of(cls, result: BacktestResult, market: Market) -> Self:
        """Compute the report. `market` must be the market whose prices were forecast."""
        leads = {lead: scores for lead, scores in result.scores_by_lead().items() if scores.n > 0}
        return cls(
            leads=leads,
            months=_scores_by_label(result, lambda ts: f"{delivery_day(ts):%Y-%m}"),
            hours=_scores_by_label(result, lambda ts: market.local_time(ts).hour),
            overall=result.scores(),
            below_p50={lead: _share_below_p50(result, result.forecasts.lead_days == lead) for lead in leads},
            baseline=_comparisons(result, result.baseline, list(leads)),
            seven_day_mean=_comparisons(result, result.forecasts.seven_day_mean, list(leads)),
            decisions=_decision_scores(result),
        )


def _scores_by_label[Label: (int, str)](result: BacktestResult, label: Callable[[int], Label]) -> dict[Label, Scores]:
    """Group the forecasts by the label of their period, and return the scores of each group, sorted by label.

    `label` gets the start of a period, and returns for instance the month. Groups without a scored period are left out.
    """
    hours, rows = np.unique(result.forecasts.target_ts, return_inverse=True)
    labels = [label(int(ts)) for ts in hours]
    groups = {group: np.array([other == group for other in labels])[rows] for group in sorted(set(labels))}
    scored = {group: result.scores(members) for group, members in groups.items()}
    return {group: scores for group, scores in scored.items() if scores.n > 0}


def _share_below_p50(result: BacktestResult, rows: RowMask) -> float:
    known = rows & ~(np.isnan(result.actual) | np.isnan(result.baseline))
    return float((result.actual[known] < result.forecasts.p50[known]).mean())


def _comparisons(result: BacktestResult, benchmark: Floats, leads: list[int]) -> NaiveComparisons:
    lead_days = result.forecasts.lead_days
    return NaiveComparisons(
        leads={lead: _comparison(result, benchmark, lead_days == lead) for lead in leads},
        overall=_comparison(result, benchmark, np.ones(lead_days.shape, np.bool_)),
    )


def _comparison(result: BacktestResult, benchmark: Floats, rows: RowMask) -> NaiveComparison:
    known = rows & ~(np.isnan(result.actual) | np.isnan(benchmark))
    actual, p50 = result.actual[known], result.forecasts.p50[known]
    test = diebold_mariano(
        np.abs(actual - p50), np.abs(actual - benchmark[known]), _day_numbers(result.forecasts.target_ts[known])
    )
    return NaiveComparison(mean_absolute_error(actual, benchmark[known]), test)


def _day_numbers(targets: Instants) -> Instants:
    hours, rows = np.unique(targets, return_inverse=True)
    numbers: Instants = np.array([delivery_day(int(ts)).toordinal() for ts in hours], np.int64)[rows]
    return numbers


def _decision_scores(result: BacktestResult) -> DecisionScores:
    days: dict[int, list[Mapping[int, Savings]]] = {}
    weeks: list[Savings] = []
    for of_issue in _days_by_issue(result):
        for lead, day in of_issue.items():
            days.setdefault(lead, []).append(day_savings(day, result.step_s))
        week = week_savings([*of_issue.values()], result.step_s)
        weeks += [week] if week is not None else []
    return DecisionScores.of(days, weeks)


def _days_by_issue(result: BacktestResult) -> Iterator[dict[int, PricesWithForecasts]]:
    """For each issue, yield the delivery days without any known price at the issue, by lead."""
    issued = result.forecasts.issued_ts
    order = np.argsort(issued, kind="stable")
    _, firsts = np.unique(issued[order], return_index=True)
    for rows in np.split(order, firsts[1:]):
        yield dict(_whole_days(result, rows))


def _whole_days(result: BacktestResult, rows: NDArray[np.intp]) -> Iterator[tuple[int, PricesWithForecasts]]:
    forecasts = result.forecasts
    columns = result.actual, forecasts.p50, result.baseline, forecasts.seven_day_mean
    targets = forecasts.target_ts[rows]
    for day in sorted({delivery_day(int(ts)) for ts in targets}):
        of_day = rows[(targets >= day_start(day)) & (targets < day_end(day))]
        if of_day.size == (day_end(day) - day_start(day)) // result.step_s:
            yield int(forecasts.lead_days[of_day[0]]), PricesWithForecasts(*(column[of_day] for column in columns))
