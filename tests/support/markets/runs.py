"""Runs of the forecast with given percentiles."""

from typing import Any

from tunnihind.core.market import HOUR_S, floor_hour
from tunnihind.forecast.run import Run
from tunnihind.known import Floats


def run_with(
    percentiles: Floats,
    *,
    made_at: int,
    start_ts: int | None = None,
    step_s: int = HOUR_S,
    tier: str = "test",
    inputs: dict[str, Any] | None = None,
) -> Run:
    """Return a run of Estonia with these percentiles, (3, periods), from `start_ts` or the next full hour on."""
    return Run.of(
        made_at=made_at,
        tier=tier,
        zone="ee",
        step_s=step_s,
        start_ts=floor_hour(made_at) + HOUR_S if start_ts is None else start_ts,
        percentiles=percentiles,
        inputs=inputs or {},
    )
