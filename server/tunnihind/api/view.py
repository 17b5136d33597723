"""What the API answers from: one immutable picture of settled prices, forecasts and their ages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tunnihind.forecast.run import Run
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.forecast.scoring.live_scores import WindowScores


class Percentiles(NamedTuple):
    """One forecast hour, EUR/MWh without VAT."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class View:
    """The data behind every answer, as of the moment it was read from the store.

    `settled` holds EE hours (start -> EUR/MWh, full precision) in order of time: 14 days back, all that is known
    ahead, and the newest known ones however old. `issued` holds for each hour, past or to come, the freshest
    forecast made before that hour, exactly as issued. `run` is the newest forecast run,
    `accuracy` how the runs of the last weeks did. `unconfirmed` and `withdrawn` say in words that no second source
    has confirmed the prices, or that two contradict each other and none is served. `version` changes whenever
    any of them does.
    """

    version: str
    settled: Mapping[int, float] = field(default_factory=dict)
    issued: Mapping[int, Percentiles] = field(default_factory=dict)
    run: Run | None = None
    last_refresh: int | None = None
    backtest: BacktestScore | None = None
    accuracy: tuple[WindowScores, ...] = ()
    unconfirmed: str = ""
    withdrawn: str = ""

    @property
    def newest_settled(self) -> int | None:
        """The start of the newest settled hour."""
        return max(self.settled, default=None)
