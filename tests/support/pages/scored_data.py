"""The data of a server that has scored its forecasts of a month."""

from dataclasses import replace
from datetime import date
from typing import Final

from tests.support.api.api_server import HOUR, make_run, make_view
from tunnihind.core.market import HOUR_S
from tunnihind.forecast.scoring.decisions import DecisionScores, PlanScores, Savings
from tunnihind.forecast.scoring.live_scores import DayScores, WindowScores
from tunnihind.forecast.scoring.scores import Scores

_SCORES: Final = Scores(
    n=720,
    mae=31.4,
    baseline_mae=52.3,
    skill=0.3996,
    coverage80=0.802,
    below10=0.096,
    above90=0.102,
    pinball=10.4,
    winkler80=154.3,
    width=101.7,
)

_DECISIONS: Final = DecisionScores(
    by_days_ahead={
        1: {
            1: PlanScores(30, 49.2, 40.6, 45.9, 60.03),
            3: PlanScores(30, 46.47, 39.02, 42.1, 55.59),
            4: PlanScores(30, 44.2, 37.49, 39.91, 52.71),
            6: PlanScores(30, 40.15, 33.4, 36.2, 47.68),
        }
    },
    week=PlanScores(24, 63.64, 44.61, 55.2, 77.31),
)

SCORED_DAY: Final = DayScores(
    issued_on=date(2025, 12, 14),
    days_ahead=1,
    made_at=HOUR - 24 * HOUR_S,
    tier="weather",
    scores=replace(_SCORES, n=24),
    seven_day_mean_mae=40.2,
    plans={
        hours: Savings(plan.forecast, plan.baseline, plan.seven_day_mean, plan.ideal)
        for hours, plan in _DECISIONS.by_days_ahead[1].items()
    },
)

SCORED: Final = replace(
    make_view({HOUR: 84.37, HOUR + HOUR_S: 71.9}, replace(make_run([74.25, 3.1, 66.4]), tier="weather")),
    recent_scores=(WindowScores(days=30, by_days_ahead={1: _SCORES}, overall=_SCORES, decisions=_DECISIONS),),
)
