"""Selects the settled prices and the forecasts for `/api/v1/quarters`, the feeds and the dashboard."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tunnihind.api.served_data import Percentiles, ServedData
from tunnihind.core.market import floor_hour, free_until
from tunnihind.forecast.run import Run
from tunnihind.settings import Settings


@dataclass(frozen=True, slots=True)
class ServedPeriods:
    """The settled prices and the forecasts that are served, in EUR/MWh without VAT.

    Each maps the starts of periods in chronological order. If a period is in both, the settled price applies.
    """

    settled: Mapping[int, float]
    forecast: Mapping[int, Percentiles]


def served_periods(data: ServedData, now: int, settings: Settings, *, step_s: int, since: int) -> ServedPeriods:
    """Return the periods served at `now` that begin at `since` or later.

    Future periods that the newest run covers have this run's forecast. Each period before the first of these has the
    newest forecast made before the period's start, exactly as issued, or no forecast if none was made. If
    `settings.full_horizon` is false, forecasts of future periods after the public window are left out.
    """
    series = data.at_step(step_s)
    settled = series.settled.between(since, series.settled.end_ts)
    known = zip(settled.starts.tolist(), settled.eur_mwh.tolist(), strict=True)
    ahead = [(ts, percentiles) for ts, percentiles in periods_of_run(series.run) if ts > now] if series.run else []
    run_since = ahead[0][0] if ahead else now + 1
    begun = sorted((ts, percentiles) for ts, percentiles in series.issued.items() if since <= ts < run_since)
    limit = None if settings.full_horizon else free_until(data.newest_settled_ts, now)
    return ServedPeriods(
        {ts: price for ts, price in known if not math.isnan(price)},
        {
            ts: percentiles
            for ts, percentiles in (*begun, *ahead)
            # As in `/api/series`, a period that has begun is served even if it lies after the public window.
            if ts >= since and (limit is None or ts <= now or floor_hour(ts) <= limit)
        },
    )


def periods_of_run(run: Run) -> Iterator[tuple[int, Percentiles]]:
    """Yield the start and the percentiles of each period of a run."""
    rows = zip(run.starts(), run.p10.tolist(), run.p50.tolist(), run.p90.tolist(), strict=True)
    return ((ts, Percentiles(p10, p50, p90)) for ts, p10, p50, p90 in rows)
