"""The specified resources still answer byte for byte as they did before there were quarters."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.api.api_server import HOUR
from tests.support.clocks import StillClock
from tests.support.store.pipelines import plain_run, quarters_of
from tests.support.store.stores import HOURS, QUARTERS, store_quotes
from tunnihind.api.served_data import read_served_data
from tunnihind.api.snapshot import Snapshot
from tunnihind.core.market import DAY_S, ESTONIA, HOUR_S, QUARTER_S
from tunnihind.forecast.scoring.backtest import BacktestScore
from tunnihind.settings import Settings
from tunnihind.store.store import Store

RECORDED: Final = Path(__file__).parent / "recorded"
"""Answers of the code of 20 November 2026. Never write them again."""

NOW: Final = HOUR + 612


def fill(store: Store) -> None:
    """Store two days of quarters after a day of hours, and the runs of each hour since then."""
    hours = range(HOUR - 3 * DAY_S, HOUR - 2 * DAY_S, HOUR_S)
    quarters = range(HOUR - 2 * DAY_S, HOUR + 14 * HOUR_S, QUARTER_S)
    for step_s, starts in ((HOUR_S, hours), (QUARTER_S, quarters)):
        prices = {ts: round((ts // step_s * 37 % 401) / 3 - 21.7, 2) for ts in starts}
        store_quotes(store, {"ee": prices}, HOUR - DAY_S)
    for n in range(50, -1, -1):
        made_at = NOW - 300 - n * HOUR_S
        run = plain_run(made_at, median=round(made_at // HOUR_S % 53 * 1.7 - 9.3, 2), hours=120)
        store.runs.add(run, quarters_of(run))
    store.runs.store_backtest_score(HOURS, BacktestScore(24.812, 51.234, 0.5157, 24))
    store.runs.store_backtest_score(QUARTERS, BacktestScore(26.1, 53.4, 0.5112, 24))
    store.state.record_refresh(NOW - 60)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param("forecast", lambda snapshot: snapshot.forecast_answer("identity"), id="forecast"),
        pytest.param("series", lambda snapshot: snapshot.series_answer(2, "identity"), id="series"),
    ],
)
@pytest.mark.parametrize("settings", [Settings(), Settings(full_horizon=True)], ids=["public", "full-horizon"])
def test_the_specified_resources_answer_the_recorded_bytes(
    store: Store, name: str, answer: Callable[[Snapshot], Any], settings: Settings
) -> None:
    fill(store)
    snapshot = Snapshot(settings, StillClock(NOW))
    snapshot.replace_data(read_served_data(store, ESTONIA, NOW))
    assert answer(snapshot).body == (RECORDED / f"{name}.json").read_bytes()
