"""Short timelines, and functions to make their hours."""

from collections.abc import Sequence
from datetime import datetime

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S
from custom_components.tunnihind.prices.timeline import Period, Timeline

QUARTER_S = 900
DAY_S = 24 * HOUR_S
NIGHT = int(datetime(2026, 11, 20, tzinfo=ESTONIA.time_zone).timestamp())
"""Midnight of a Friday, in a week without a change of the clocks."""


def at(text: str) -> int:
    """Return the UTC seconds of a Tallinn wall time, or of an instant with its own offset."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=ESTONIA.time_zone)).timestamp())


def settled(start: int, prices: Sequence[float | None]) -> list[Period]:
    """Return settled hours from `start` on. None in the prices leaves a gap."""
    return [hour(start + place * HOUR_S, price) for place, price in enumerate(prices) if price is not None]


def hour(start: int, price: float, *, low: float | None = None, high: float | None = None) -> Period:
    """Return a settled hour, or a predicted hour if it has bounds."""
    if low is None or high is None:
        return Period(start, start + HOUR_S, price, price, price, settled=True)
    return Period(start, start + HOUR_S, price, low, high, settled=False)


def predicted(start: int, bands: Sequence[tuple[float, float, float]]) -> list[Period]:
    """Return predicted hours from `start` on, each by its p10, p50 and p90."""
    return [hour(start + place * HOUR_S, p50, low=p10, high=p90) for place, (p10, p50, p90) in enumerate(bands)]


def line(*parts: Sequence[Period]) -> Timeline:
    """Return the timeline of all hours."""
    return Timeline(HOUR_S, (hour for part in parts for hour in part))
