"""Writes the record of each month's forecasts: once, from a week after the month on, and never again.

For each delivery day and number of days ahead, the record has the forecast of the first run that was made from
`issue_instant` until gate closure. If there was none, its cells are empty. The record has no prices, because the
exchange's terms forbid to republish them. A second file has the scores by days ahead. Nothing in a record depends on
the time of writing.

The settled prices must be a week past the month too, because a clock may be wrong, and a record can't be taken back.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from tunnihind.core.market import DAY_S, HOUR_S, SeriesKey, Zone, day_end, day_start, delivery_day, hours_of, iso_utc
from tunnihind.forecast.run import LEAD_DAYS, LEADS, Run
from tunnihind.forecast.scoring.live_scores import DayScores, day_scores, first_instants_in_record_window
from tunnihind.forecast.scoring.scores import Scores
from tunnihind.numerals import decimal_text
from tunnihind.price_series import PriceSeries
from tunnihind.sources.base import days_between
from tunnihind.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_WRITTEN_AFTER: Final = timedelta(days=7)
_WAIT_FOR_PRICES: Final = timedelta(days=30)
"""If prices of the month are missing, the record is written this much later than otherwise, and counts the hours
without a score."""
_BASELINE_REACH_S: Final = 14 * DAY_S
"""The baselines of the scores need prices of so many seconds before the first issue day."""

FORECAST_COLUMNS: Final = ("zone", "deliveryDay", "daysAhead", "madeAt", "startsAt", "p10", "p50", "p90")
_SHARES: Final = ("skill", "coverage80", "below10", "above90")
_ERRORS: Final = ("mae", "baselineMae", "pinball", "winkler80", "width")
SCORE_COLUMNS: Final = ("zone", "month", "daysAhead", "hours", "forecastHours", "scoredHours", *_ERRORS, *_SHARES)


def write_due_records(store: Store, zones: Iterable[Zone], now: int, missing_years: Collection[int] = ()) -> None:
    """Write the records of all zones that are due, oldest first. Raises StoreError.

    A month waits while the back-fill still has to fetch the prices of its year (`missing_years`).
    """
    for zone in zones:
        _write_due_records_of(store, zone, now, missing_years)


def _write_due_records_of(store: Store, zone: Zone, now: int, missing_years: Collection[int]) -> None:
    while (month := _due_month(store, zone, now)) is not None and month.year not in missing_years:
        first_issue = day_start(month) - LEADS * DAY_S
        prices = store.prices.read_archive(first_issue - _BASELINE_REACH_S, zones=(zone,)).as_of(now).series_of(zone)
        runs = store.runs.made_since(SeriesKey(zone, HOUR_S), first_issue, day_start(_month_after(month)))
        forecasts, scores = month_record(zone, month, runs, prices)
        store.records.add(zone, f"{month:%Y-%m}", forecasts=forecasts, scores=scores)
        _LOG.info("wrote the record of the forecasts of %s for %s", f"{month:%Y-%m}", zone.upper())


def _due_month(store: Store, zone: Zone, now: int) -> date | None:
    """Return the first day of the oldest month that has no record and is due, or None.

    The first month is that of the zone's first forecast. From then on no month is left out, even if the server made no
    forecast in it.
    """
    recorded = store.records.months(zone)
    if recorded:
        month = _month_after(date.fromisoformat(f"{recorded[-1]}-01"))
    else:
        oldest = store.runs.oldest_made_at(SeriesKey(zone, HOUR_S))
        if oldest is None:
            return None
        month = (delivery_day(oldest) + timedelta(days=1)).replace(day=1)
    prices = store.prices.read_archive(day_start(month), zones=(zone,)).as_of(now).series_of(zone)
    if prices.newest_day is None:
        return None
    after = _month_after(month)
    is_whole = prices.between(day_start(month), day_start(after)).is_whole
    passed = min(prices.newest_day, delivery_day(now)) - after
    return month if passed >= _WRITTEN_AFTER + (timedelta() if is_whole else _WAIT_FOR_PRICES) else None


def _month_after(month: date) -> date:
    return (month + timedelta(days=31)).replace(day=1)


def month_record(zone: Zone, month: date, runs: Sequence[Run], prices: PriceSeries) -> tuple[str, str]:
    """Return a month's forecasts and their scores, both as CSV.

    `month` is its first delivery day. `runs` and `prices` are hourly, and may be of more days than needed.
    """
    by_instant = {run.made_at: run for run in runs}
    issued = {day: by_instant[at] for day, at in first_instants_in_record_window(by_instant).items()}
    days = [*days_between(month, _month_after(month) - timedelta(days=1))]
    forecasts = [FORECAST_COLUMNS, *(row for day in days for row in _forecast_rows(zone, day, issued))]
    scored = [one for one in day_scores(issued.values(), prices) if one.delivery_day in days]
    scores = [SCORE_COLUMNS, *(_score_row(zone, days, ahead, issued, scored) for ahead in LEAD_DAYS)]
    return _csv(forecasts), _csv(scores)


def _csv(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{','.join(row)}\n" for row in rows)


def _forecast_rows(zone: Zone, day: date, issued: Mapping[date, Run]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each number of days ahead and each hour. Without a forecast, its cells are empty."""
    for ahead in LEAD_DAYS:
        run = _run_of(issued, day, ahead)
        for ts in hours_of(day):
            named = zone, str(day), str(ahead), "" if run is None else iso_utc(run.made_at), iso_utc(ts)
            yield (*named, *(("",) * 3 if run is None else _percentile_cells(run, ts)))


def _percentile_cells(run: Run, ts: int) -> tuple[str, ...]:
    at = (ts - run.start_ts) // run.step_s
    return tuple(decimal_text(float(values[at]), 2) for values in (run.p10, run.p50, run.p90))


def _run_of(issued: Mapping[date, Run], day: date, ahead: int) -> Run | None:
    """Return the run that was issued `ahead` days before a delivery day. If it doesn't cover the day, return None."""
    run = issued.get(day - timedelta(days=ahead))
    return run if run is not None and run.start_ts <= day_start(day) and day_end(day) <= run.end_ts else None


def _score_row(
    zone: Zone, days: Sequence[date], ahead: int, issued: Mapping[date, Run], scored: Sequence[DayScores]
) -> tuple[str, ...]:
    scores = Scores.joined(one.scores for one in scored if one.days_ahead == ahead)
    forecast = sum(len(hours_of(day)) for day in days if _run_of(issued, day, ahead) is not None)
    counts = sum(len(hours_of(day)) for day in days), forecast, scores.n
    errors = scores.mae, scores.baseline_mae, scores.pinball, scores.winkler80, scores.width
    shares = scores.skill, scores.coverage80, scores.below10, scores.above90
    return (
        *(zone, f"{days[0]:%Y-%m}", str(ahead)),
        *map(str, counts),
        *(decimal_text(error, 2) for error in errors),
        *(decimal_text(share, 4) for share in shares),
    )
