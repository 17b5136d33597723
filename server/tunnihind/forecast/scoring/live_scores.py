"""How the served forecasts did: runs exactly as issued, against the prices that came.

For every delivery day counts, at each distance of 1 to 7 days, the last run made before the day-ahead auction that
many days before: the run a household would have planned on in the morning.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np

from tunnihind.forecast.run import LEAD_DAYS, LEADS, Run
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.known import Floats
from tunnihind.market import WEEK_S, day_end, day_start, delivery_day, gate_closure
from tunnihind.price_series import PriceSeries

WINDOWS_DAYS: Final = (7, 30, 90)
MEMORY_DAYS: Final = max(WINDOWS_DAYS) + LEADS
"""How far back runs are needed."""

type Hours = tuple[Floats, Floats, Floats, Floats, Floats]
"""p10, p50, p90, actual and baseline of the same hours."""


@dataclass(frozen=True, slots=True)
class WindowScores:
    """Scores over the `days` delivery days up to the newest settled one, by days ahead and over all of them."""

    days: int
    by_days_ahead: Mapping[int, Scores]
    overall: Scores


def live_scores(runs: Iterable[Run], truth: PriceSeries) -> tuple[WindowScores, ...]:
    """Score runs as issued over each of `WINDOWS_DAYS`; nothing where no price is settled.

    Runs and `truth` have one step: runs of quarters are scored by the stored quarters.
    """
    newest = truth.newest_day
    if newest is None:
        return ()
    planned_on = morning_runs(runs)
    return tuple(_window(planned_on, truth, newest, days) for days in WINDOWS_DAYS)


def morning_runs(runs: Iterable[Run]) -> dict[date, Run]:
    """Return for each delivery day of issue its last run made before the auction for the next day closed."""
    last: dict[date, Run] = {}
    for run in sorted(runs, key=lambda run: run.made_at):
        issued_on = delivery_day(run.made_at)
        if run.made_at < gate_closure(issued_on + timedelta(days=1)):
            last[issued_on] = run
    return last


def _window(planned_on: Mapping[date, Run], truth: PriceSeries, newest: date, days: int) -> WindowScores:
    targets = [newest - timedelta(days=back) for back in range(days)]
    by_lead = {lead: [_hours(planned_on, truth, day, lead) for day in targets] for lead in LEAD_DAYS}
    return WindowScores(
        days=days,
        by_days_ahead={lead: _scores(hours) for lead, hours in by_lead.items()},
        overall=_scores([part for hours in by_lead.values() for part in hours]),
    )


def _hours(planned_on: Mapping[date, Run], truth: PriceSeries, target: date, lead: int) -> Hours:
    """Return a delivery day's hours as forecast `lead` days ahead, with what came; empty without such a run."""
    run = planned_on.get(target - timedelta(days=lead))
    start, end = day_start(target), day_end(target)
    if run is None or not run.start_ts <= start < end <= run.end_ts:
        nothing = np.empty(0)
        return nothing, nothing, nothing, nothing, nothing
    window = slice((start - run.start_ts) // run.step_s, (end - run.start_ts) // run.step_s)
    actual = truth.between(start, end).eur_mwh
    baseline = truth.between(start - WEEK_S, end - WEEK_S).eur_mwh
    return run.p10[window], run.p50[window], run.p90[window], actual, baseline


def _scores(parts: Iterable[Hours]) -> Scores:
    p10, p50, p90, actual, baseline = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Scores.of(actual=actual, baseline=baseline, p10=p10, p50=p50, p90=p90)
