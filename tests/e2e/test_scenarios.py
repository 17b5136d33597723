"""Price paths from real processes: beside the forecast, over restarts and over a day on which clocks change."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.support.machine.processes import Launch, Reply, Tunnihind
from tests.support.machine.shifted_clock import ShiftedClock
from tests.support.markets.sample_prices import made_up_quotes, write_prices
from tests.support.upstreams import FakeElering
from tunnihind.core.market import HOUR_S, day_start, iso_utc

FORECAST: Final = "/api/v1/forecast"
SCENARIOS: Final = "/api/v1/scenarios"
CHANGE: Final = date(2025, 10, 26)
TODAY: Final = date(2025, 12, 15)


def check_agreement(forecast: dict[str, Any], scenarios: dict[str, Any]) -> None:
    """Check that the paths are those of the forecast."""
    for name in ("zone", "currency", "madeAt", "dayAhead", "docs"):
        assert scenarios[name] == forecast[name]
    hours = {hour["ts"]: (hour["p10"], hour["p50"], hour["p90"]) for hour in forecast["forecast"]}
    assert scenarios["ts"] == list(hours)
    assert len(scenarios["paths"]) == 20
    said = np.percentile(scenarios["paths"], [10, 50, 90], axis=0)
    assert np.abs(said - np.array(list(hours.values())).T).max() < 0.0101


def has_paths(reply: Reply) -> bool:
    return reply.status == 200 and bool(reply.json()["paths"])


async def test_paths_go_with_the_forecast_and_outlast_a_restart(launch: Launch, clock: ShiftedClock) -> None:
    clock.set("2025-12-15T09:20:00Z")
    quotes = made_up_quotes(TODAY - timedelta(days=100), TODAY + timedelta(days=3))
    async with FakeElering(quotes, now=clock.now) as elering:
        server = launch("--elering-url", elering.url, "--history-start", "2025", clock=clock)
        await server.until(SCENARIOS, has_paths)
        check_agreement(*await server.get_at_once(FORECAST, SCENARIOS))
        await server.terminate()
        again = launch("--no-pipeline", clock=clock)
        await again.until(SCENARIOS, has_paths)
        check_agreement(*await again.get_at_once(FORECAST, SCENARIOS))


async def test_a_rehearsed_day_of_25_hours_has_paths_over_all_of_them(
    launch: Launch, tunnihind: Tunnihind, tmp_path: Path
) -> None:
    quotes = made_up_quotes(CHANGE - timedelta(days=200), CHANGE)
    done = await tunnihind("import", "prices", str(write_prices(tmp_path / "prices.csv", quotes)))
    assert done.status == 0, done.errors
    server = launch("--as-of", iso_utc(day_start(CHANGE) - 15 * HOUR_S), "--full-horizon")
    scenarios = (await server.until(SCENARIOS, has_paths)).json()
    assert np.diff(scenarios["ts"]).tolist() == [HOUR_S] * (len(scenarios["ts"]) - 1)
    first = scenarios["ts"].index(day_start(CHANGE))
    paths = np.array(scenarios["paths"])
    assert np.array_equal(paths[:, first + 2], paths[:, first + 3])
    assert scenarios["ts"][-1] > scenarios["freeUntil"]
