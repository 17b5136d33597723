"""A small view whose answers are the examples of the OpenAPI document; its numbers are made up."""

from typing import Final

import numpy as np

from tunnihind.api.view import Percentiles, View
from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import WindowScores
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.market import HOUR_S

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

EXAMPLE_VIEW: Final = View(
    version="example",
    settled={
        _HOUR - HOUR_S: 96.02,
        _HOUR: 84.37,
        _HOUR + HOUR_S: 71.9,
        _HOUR + 2 * HOUR_S: -1.5,
    },
    issued={_HOUR - HOUR_S: Percentiles(61.2, 90.11, 131.0), _HOUR: Percentiles(58.4, 86.35, 127.6)},
    run=Run.of(
        made_at=_HOUR + 300,
        tier="weather",
        start_ts=_HOUR + HOUR_S,
        percentiles=np.array([[48.1, -4.2, 35.55], [74.25, 3.1, 66.4], [109.8, 24.9, 108.73]]),
        inputs={},
    ),
    last_refresh=_HOUR + 240,
    backtest=BacktestScore(mae=24.81, baseline_mae=51.2, skill=0.5154, horizon_h=24),
    accuracy=(WindowScores(days=30, by_days_ahead={1: _SCORES}, overall=_SCORES),),
)
