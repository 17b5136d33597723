"""Scores runs as they were issued.

For each issue day, only the last run before gate closure is scored, because a household would plan with this run. The
run is scored on the delivery days 1 to 7 days after the issue day. A `DayScores` holds the scores of one of these days.
`WindowScores` combines the `DayScores` of several days.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby
from math import isnan
from typing import Final

import numpy as np

from tunnihind.core.market import WEEK_S, day_end, day_start, delivery_day, gate_closure
from tunnihind.forecast.run import LEAD_DAYS, LEADS, Run, issue_instant
from tunnihind.forecast.scoring.decisions import (
    NO_DECISION_SCORES,
    DecisionScores,
    PricesWithForecasts,
    Savings,
    day_savings,
    week_savings,
)
from tunnihind.forecast.scoring.naive import seven_day_mean_until
from tunnihind.forecast.scoring.scores import Scores, mean_absolute_error
from tunnihind.price_series import PriceSeries

WINDOWS_DAYS: Final = (7, 30, 90)
SCORED_RUNS_WITHIN_DAYS: Final = max(WINDOWS_DAYS) + LEADS
"""`window_scores` needs no run that was issued more than this many days before the newest settled day."""
SCORED_MONTHS: Final = 24
"""At most this many months are scored."""


@dataclass(frozen=True, slots=True)
class DayScores:
    """The scores of one forecast of a delivery day.

    The forecast was issued before gate closure on `issued_on`, `days_ahead` days before the delivery day. `scores`
    covers the periods for which the price and the price one week earlier are known. `seven_day_mean_mae` is the MAE of
    `seven_day_mean_until` in EUR/MWh, over those of the scored periods for which this mean is known. If the mean is
    unknown for all scored periods, `seven_day_mean_mae` is NaN. `plans` maps a plan's length in hours to the savings of
    plans within the delivery day. If a price or a forecast of the delivery day is unknown, `plans` is empty. If
    `days_ahead` is 7 and all prices and forecasts of the seven days after `issued_on` are known, `week` holds the
    savings of plans within the seven days. Otherwise, `week` is None.
    """

    issued_on: date
    days_ahead: int
    made_at: int
    tier: str
    scores: Scores
    seven_day_mean_mae: float
    plans: Mapping[int, Savings] = field(default_factory=dict)
    week: Savings | None = None

    @property
    def delivery_day(self) -> date:
        """The delivery day whose forecast is scored."""
        return self.issued_on + timedelta(days=self.days_ahead)


@dataclass(frozen=True, slots=True)
class WindowScores:
    """Scores over `days` delivery days, by days ahead and overall.

    `seven_day_mean_mae` maps the days ahead to the MAE of the seven-day mean in EUR/MWh. If the mean is unknown on all
    days, the MAE is NaN.
    """

    days: int
    by_days_ahead: Mapping[int, Scores]
    overall: Scores
    seven_day_mean_mae: Mapping[int, float] = field(default_factory=dict)
    decisions: DecisionScores = NO_DECISION_SCORES

    @classmethod
    def of(cls, days: int, rows: Sequence[DayScores]) -> WindowScores:
        """Combine the scores of `days` delivery days."""
        by_lead = {lead: [row for row in rows if row.days_ahead == lead] for lead in LEAD_DAYS}
        return cls(
            days=days,
            by_days_ahead={lead: Scores.joined(row.scores for row in of_lead) for lead, of_lead in by_lead.items()},
            overall=Scores.joined(row.scores for row in rows),
            seven_day_mean_mae={lead: _joined_seven_day_mean_mae(of_lead) for lead, of_lead in by_lead.items()},
            decisions=DecisionScores.of(
                {lead: [row.plans for row in of_lead] for lead, of_lead in by_lead.items()},
                [row.week for row in rows if row.week is not None],
            ),
        )


@dataclass(frozen=True, slots=True)
class MonthScores:
    """The scores of the delivery days of one month.

    `month` has the form 2025-01. `scores.days` counts only delivery days with scores.
    """

    month: str
    scores: WindowScores


@dataclass(frozen=True, slots=True)
class ScoresByMonth:
    """The monthly scores of the issued runs and of the backtest.

    `issued` holds the scores of the runs that the server issued. `backtest` holds the scores of forecasts that the
    present model has made for past days. Each of these forecasts is for the day after its issue day.
    """

    issued: tuple[MonthScores, ...] = ()
    backtest: tuple[MonthScores, ...] = ()


NO_SCORES_BY_MONTH: Final = ScoresByMonth()


@dataclass(frozen=True, slots=True)
class LiveScores:
    """The scores of the issued runs, and the monthly scores of the backtest.

    `days` and `windows` cover only the newly scored runs. `months.issued` also covers the stored scores of older runs.
    """

    days: tuple[DayScores, ...] = ()
    windows: tuple[WindowScores, ...] = ()
    months: ScoresByMonth = NO_SCORES_BY_MONTH


def day_scores(runs: Iterable[Run], truth: PriceSeries) -> list[DayScores]:
    """For each issue day, score the last run before gate closure.

    The result is sorted by issue day, and then by days ahead. If no period of a delivery day can be scored, or if the
    run does not cover the whole day, the day is left out. The runs and `truth` must have the same step.
    """
    return [
        row
        for issued_on, run in sorted(last_runs_before_gate_closure(runs).items())
        for row in _day_scores_of_run(issued_on, run, truth)
    ]


def window_scores(rows: Sequence[DayScores], newest: date | None) -> tuple[WindowScores, ...]:
    """Return the scores of the last 7, 30 and 90 delivery days up to `newest`, the newest settled day.

    If no price is settled (`newest` is None), return an empty tuple.
    """
    if newest is None:
        return ()
    return tuple(
        WindowScores.of(days, [row for row in rows if newest - timedelta(days=days) < row.delivery_day <= newest])
        for days in WINDOWS_DAYS
    )


def month_scores(rows: Iterable[DayScores]) -> tuple[MonthScores, ...]:
    """Return the scores of the last `SCORED_MONTHS` months that have scores, oldest month first."""
    by_day = sorted(rows, key=lambda row: row.delivery_day)
    found = [
        (month, list(of_month)) for month, of_month in groupby(by_day, key=lambda row: f"{row.delivery_day:%Y-%m}")
    ]
    return tuple(
        MonthScores(month, WindowScores.of(len({row.delivery_day for row in of_month}), of_month))
        for month, of_month in found[-SCORED_MONTHS:]
    )


def last_runs_before_gate_closure(runs: Iterable[Run]) -> dict[date, Run]:
    """Map each issue day to the last run before gate closure. Issue days without such a run are left out."""
    last: dict[date, Run] = {}
    for run in sorted(runs, key=lambda run: run.made_at):
        issued_on = delivery_day(run.made_at)
        if run.made_at < gate_closure(issued_on + timedelta(days=1)):
            last[issued_on] = run
    return last


def first_instants_in_record_window(instants: Iterable[int]) -> dict[date, int]:
    """Map each issue day to its first instant from `issue_instant` on and before gate closure.

    The record of a month is of the runs that were made at these instants. Days without such an instant are left out.
    """
    first: dict[date, int] = {}
    for instant in sorted(instants):
        issued_on = delivery_day(instant)
        if issue_instant(issued_on) <= instant < gate_closure(issued_on + timedelta(days=1)):
            first.setdefault(issued_on, instant)
    return first


def _day_scores_of_run(issued_on: date, run: Run, truth: PriceSeries) -> Iterator[DayScores]:
    days: list[PricesWithForecasts] = []
    for lead in LEAD_DAYS:
        start, end = (at(issued_on + timedelta(days=lead)) for at in (day_start, day_end))
        if not run.start_ts <= start < end <= run.end_ts:
            continue
        window = slice((start - run.start_ts) // run.step_s, (end - run.start_ts) // run.step_s)
        targets = np.arange(start, end, run.step_s, dtype=np.int64)
        day = PricesWithForecasts(
            actual=truth.between(start, end).eur_mwh,
            p50=run.p50[window],
            baseline=truth.between(start - WEEK_S, end - WEEK_S).eur_mwh,
            seven_day_mean=seven_day_mean_until(truth, issued_on, targets),
        )
        days.append(day)
        scores = Scores.of(
            actual=day.actual, baseline=day.baseline, p10=run.p10[window], p50=day.p50, p90=run.p90[window]
        )
        if scores.n:
            yield DayScores(
                issued_on=issued_on,
                days_ahead=lead,
                made_at=run.made_at,
                tier=run.tier,
                scores=scores,
                seven_day_mean_mae=_seven_day_mean_mae(day),
                plans=day_savings(day, run.step_s),
                week=week_savings(days, run.step_s),
            )


def _seven_day_mean_mae(day: PricesWithForecasts) -> float:
    """Return the MAE of the seven-day mean in EUR/MWh, over the day's scored periods for which this mean is known."""
    known = ~np.isnan(day.actual + day.baseline + day.seven_day_mean)
    return mean_absolute_error(day.actual[known], day.seven_day_mean[known])


def _joined_seven_day_mean_mae(rows: Sequence[DayScores]) -> float:
    known = [row for row in rows if not isnan(row.seven_day_mean_mae)]
    hours = sum(row.scores.n for row in known)
    return sum(row.seven_day_mean_mae * row.scores.n for row in known) / hours if hours else float("nan")
