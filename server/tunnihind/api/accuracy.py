"""Makes the JSON answer of `/api/v1/accuracy`: the scores of the issued forecasts."""

import math
from collections.abc import Mapping
from typing import Any

from tunnihind.api.models.accuracy_answer import (
    AccuracyAhead,
    AccuracyDecisions,
    AccuracyDecisionsAhead,
    AccuracyPlans,
    AccuracyResponse,
    AccuracyScores,
    AccuracyWindow,
)
from tunnihind.api.served_data import ServedData
from tunnihind.forecast.scoring.decisions import BOILER_HOURS, WEEK_PLAN_HOURS, PlanScores, boiler_eur_a_year
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.forecast.scoring.scores import Scores


def accuracy_response(data: ServedData, now: int) -> AccuracyResponse:
    """Return the JSON answer to `GET /api/v1/accuracy` as of `now` (unix seconds)."""
    return AccuracyResponse(
        now=now,
        made_at=data.made_at,
        tier=data.hours.run.tier if data.hours.run else None,
        windows=[_accuracy_window(window) for window in data.recent_scores],
    )


def _accuracy_window(scores: WindowScores) -> AccuracyWindow:
    return AccuracyWindow(
        days=scores.days,
        overall=AccuracyScores(**_rounded_scores(scores.overall)),
        by_days_ahead=[
            AccuracyAhead(days_ahead=lead, **_rounded_scores(scores.by_days_ahead[lead]))
            for lead in sorted(scores.by_days_ahead)
        ],
        decisions=AccuracyDecisions(
            by_days_ahead=[
                _plan_savings_at_lead(lead, plans) for lead, plans in scores.decisions.by_days_ahead.items()
            ],
            week=_plan_savings(WEEK_PLAN_HOURS, scores.decisions.week),
        ),
    )


def _plan_savings_at_lead(lead: int, plans: Mapping[int, PlanScores]) -> AccuracyDecisionsAhead:
    boiler = plans[BOILER_HOURS]
    return AccuracyDecisionsAhead(
        days_ahead=lead,
        plans=[_plan_savings(hours, of_hours) for hours, of_hours in plans.items()],
        boiler_eur_a_year=_rounded_or_none(boiler_eur_a_year(boiler.forecast), 1),
        baseline_boiler_eur_a_year=_rounded_or_none(boiler_eur_a_year(boiler.baseline), 1),
        ideal_boiler_eur_a_year=_rounded_or_none(boiler_eur_a_year(boiler.ideal), 1),
    )


def _plan_savings(hours: int, scores: PlanScores) -> AccuracyPlans:
    return AccuracyPlans(
        hours=hours,
        n=scores.n,
        share=_rounded_or_none(scores.share, 4),
        baseline_share=_rounded_or_none(scores.baseline_share, 4),
        seven_day_mean_share=_rounded_or_none(scores.seven_day_mean_share, 4),
        saving=_rounded_or_none(scores.forecast, 2),
        baseline_saving=_rounded_or_none(scores.baseline, 2),
        ideal_saving=_rounded_or_none(scores.ideal, 2),
    )


def _rounded_or_none(value: float, decimals: int) -> float | None:
    return None if math.isnan(value) else round(value, decimals)


def _rounded_scores(scores: Scores) -> dict[str, Any]:
    """Round shares to 4 decimals, and all other figures to 2 decimals. NaN becomes None."""
    shares = {"skill", "coverage80", "below10", "above90"}
    figures = {name: getattr(scores, name) for name in AccuracyScores.__struct_fields__}
    return {name: _rounded_or_none(figure, 4 if name in shares else 2) for name, figure in figures.items()}
