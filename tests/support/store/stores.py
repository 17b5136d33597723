"""Prices, series and runs for a store, and functions that read its contents."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from sqlalchemy import delete

from tests.support.markets.runs import run_with
from tests.support.upstreams.elering import Quotes
from tunnihind.core.market import HOUR_S, QUARTER_S, ZONES, SeriesKey, Zone, day_end, day_start, hours_of
from tunnihind.forecast.run import Run
from tunnihind.known import IssuedSeries
from tunnihind.settling.witness import Witness
from tunnihind.sources.base import days_between
from tunnihind.store.prices import AddedCounts, Price
from tunnihind.store.schema import metadata
from tunnihind.store.store import Store

DAY = date(2025, 12, 15)

HOURS = SeriesKey("ee", HOUR_S)
QUARTERS = SeriesKey("ee", QUARTER_S)

HELD = Witness(
    source="elering",
    zone="ee",
    day=DAY,
    prices=(0.0,) * 24,
    since_ts=1765713600,
    heard_ts=1765713600,
    reason="zeros",
    detail="24 hours are exactly 0.00",
)
"""A source's prices that are held back."""


def utc(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def level(eur_mwh: float) -> Callable[[int], float]:
    return lambda _: eur_mwh


def whole_day(
    day: date,
    step_s: int = HOUR_S,
    *,
    zones: Sequence[Zone] = ZONES,
    price: Callable[[int], float] = lambda n: 10.0 + n,
) -> list[Price]:
    """Return a delivery day's prices. By default each period costs one more than the period before."""
    starts = enumerate(range(day_start(day), day_end(day), step_s))
    return [Price(zone, ts, step_s, price(n)) for n, ts in starts for zone in zones]


def series(issued_ts: int, values: Sequence[float], *, start_ts: int | None = None) -> IssuedSeries:
    """Return a covariate's series. The series starts at its issue unless `start_ts` is given."""
    start = issued_ts if start_ts is None else start_ts
    return IssuedSeries(issued_ts, start, np.array(values, np.float32))


def run(made_at: int, *, level: float = 50.0, hours: int = 3, inputs: dict[str, Any] | None = None) -> Run:
    medians = level + np.arange(hours)
    percentiles = np.stack([medians - 5, medians, medians + 5])
    return run_with(percentiles, made_at=made_at, inputs=inputs)


def emptied(store: Store) -> Store:
    with store.database.writing() as connection:
        for table in metadata.sorted_tables:
            connection.execute(delete(table))
    return store


def store_quotes(store: Store, quotes: Quotes, seen_ts: int, *, source: str = "test") -> AddedCounts:
    """Store quotes as settled prices of quarters or hours."""
    rows = []
    for zone, prices in quotes.items():
        step_s = min(late - early for early, late in pairwise(sorted(prices)))
        rows += [Price(zone, ts, step_s, price) for ts, price in prices.items()]
    return store.prices.add(rows, source=source, seen_ts=seen_ts)


def hourly(store: Store, zone: Zone = "ee") -> dict[int, float]:
    """Return the settled hours of a zone in the form that the API serves."""
    return dict(store.prices.read_archive().newest_versions().series_of(zone))


def unsettled_days(store: Store, first: date, last: date) -> list[date]:
    """Return the delivery days of a span that lack any hour of Estonia."""
    settled = hourly(store)
    return [day for day in days_between(first, last) if not all(hour in settled for hour in hours_of(day))]


def sources_of(store: Store) -> set[str]:
    """Return the sources of the stored prices."""
    with store.database.reading() as connection:
        return {row[0] for row in connection.exec_driver_sql("SELECT DISTINCT source FROM prices")}


def day_range(first: date, count: int) -> Iterator[date]:
    return days_between(first, first + timedelta(days=count - 1))
