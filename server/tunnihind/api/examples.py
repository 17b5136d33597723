"""The made-up data from which the examples in the API's description are made."""

from dataclasses import replace
from datetime import date
from typing import Final

import numpy as np

from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.forecast.quarters.slope import IssuedHours
from tunnihind.forecast.run import Run
from tunnihind.forecast.scenarios.scenarios import scenarios_of
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.decisions import Decisions, PlanScores, Savings
from tunnihind.forecast.scoring.live_scores import DayScores, WindowScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Floats, PriceHistory
from tunnihind.market import ESTONIA, HOUR_S, QUARTER_S, delivery_day
from tunnihind.price_series import PriceSeries

_HOUR: Final = 1_765_792_800

EXAMPLE_NOW: Final = _HOUR + 612
"""2025-12-15T10:10:12Z."""

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

_DECISIONS: Final = Decisions(
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

EXAMPLE_DAY: Final = DayScores(
    issued_on=date(2025, 12, 14),
    days_ahead=1,
    made_at=_HOUR - 24 * HOUR_S,
    tier="weather",
    scores=replace(_SCORES, n=24),
    seven_day_mean_mae=40.2,
    plans={
        hours: Savings(plan.forecast, plan.baseline, plan.seven_day_mean, plan.ideal)
        for hours, plan in _DECISIONS.by_days_ahead[1].items()
    },
)

_QUARTERS: Final = PriceSeries(
    ESTONIA.zone,
    QUARTER_S,
    _HOUR - HOUR_S,
    np.array([98.4, 97.1, 94.9, 93.68, 93.5, 86.02, 80.41, 77.55, 75.2, 72.6, 70.9, 68.9, 4.1, -0.9, -3.4, -5.8]),
)
_SETTLED: Final = _QUARTERS.hourly()

_PERCENTILES: Final = np.array([[48.1, -4.2, 35.55], [74.25, 3.1, 66.4], [109.8, 24.9, 108.73]])
_WITHIN: Final = np.array([2.9, 0.75, -1.05, -2.6, 8.9, 1.1, -3.9, -6.1, -8.1, -2.3, 3.5, 6.9])
"""By how much each quarter that is forecast is off its hour."""


def _run(step_s: int, percentiles: Floats) -> Run:
    return Run.of(
        made_at=_HOUR + 300,
        tier="weather",
        zone=ESTONIA.zone,
        step_s=step_s,
        start_ts=_HOUR + HOUR_S,
        percentiles=percentiles,
        inputs={},
    )


_HOURS: Final = _run(HOUR_S, _PERCENTILES)

EXAMPLE_DATA: Final = ServedData(
    version="example",
    settled=_SETTLED,
    quarters=_QUARTERS,
    issued={_HOUR - HOUR_S: Percentiles(61.2, 90.11, 131.0), _HOUR: Percentiles(58.4, 86.35, 127.6)},
    issued_quarters={
        _HOUR: Percentiles(65.2, 94.0, 136.1),
        _HOUR + QUARTER_S: Percentiles(59.1, 87.2, 128.3),
        _HOUR + 2 * QUARTER_S: Percentiles(54.9, 83.05, 123.9),
        _HOUR + 3 * QUARTER_S: Percentiles(53.3, 81.15, 121.6),
    },
    run=_HOURS,
    quarter_run=_run(QUARTER_S, _PERCENTILES.repeat(4, axis=1) + _WITHIN),
    scenarios=scenarios_of(_HOURS, _SETTLED, IssuedHours.none(delivery_day(_HOUR)), ESTONIA.limits),
    last_refresh=_HOUR + 240,
    backtest=BacktestScore(mae=24.81, baseline_mae=51.2, skill=0.5154, horizon_h=24),
    quarter_backtest=BacktestScore(mae=26.92, baseline_mae=53.6, skill=0.4978, horizon_h=24),
    accuracy=(WindowScores(days=30, by_days_ahead={1: _SCORES}, overall=_SCORES, decisions=_DECISIONS),),
)

EXAMPLE_HISTORY: Final = PriceHistory(
    EXAMPLE_NOW,
    {ESTONIA.zone: _SETTLED.between(_HOUR, _HOUR + HOUR_S)},
    {ESTONIA.zone: _QUARTERS.between(_HOUR, _HOUR + HOUR_S)},
)
