"""What fills a store with prices, and shows what it holds."""

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

from tests.support.upstreams.elering import Quotes
from tunnihind.market import Zone, hours_of
from tunnihind.sources.base import days
from tunnihind.store.prices import Added, Price
from tunnihind.store.store import Store


def store_quotes(store: Store, quotes: Quotes, seen_ts: int, *, source: str = "test") -> Added:
    """Put quotes into a store as settled prices, quarters or hours."""
    rows = []
    for zone, prices in quotes.items():
        step_s = min(late - early for early, late in pairwise(sorted(prices)))
        rows += [Price(zone, ts, step_s, price) for ts, price in prices.items()]
    return store.prices.add(rows, source=source, seen_ts=seen_ts)


def hourly(store: Store, zone: Zone = "ee") -> dict[int, float]:
    """Return the settled hours of a zone as the API would serve them."""
    return dict(store.prices.archive().everything().of(zone))


def unsettled_days(store: Store, first: date, last: date) -> list[date]:
    """Return the delivery days of a span that lack any Estonian hour."""
    settled = hourly(store)
    return [day for day in days(first, last) if not all(hour in settled for hour in hours_of(day))]


def sources_of(store: Store) -> set[str]:
    """Return whose prices are kept."""
    with store.database.reading() as connection:
        return {row[0] for row in connection.exec_driver_sql("SELECT DISTINCT source FROM prices")}


def day_range(first: date, count: int) -> Iterator[date]:
    """Yield consecutive days."""
    return days(first, first + timedelta(days=count - 1))
