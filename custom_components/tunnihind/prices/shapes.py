"""Prices in the shapes that other programs read. All are EUR/kWh as the household pays it."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from .days import iso_bounds, local
from .timeline import Period


def rates(periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return what Nord Pool's integrations, evcc and Predbat read: a forecast period has its median."""
    return [{**iso_bounds(period.start, period.end), "value": period.price} for period in periods]


def points(periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return what HAEO reads: each price holds from its time until the next."""
    return [{"time": local(period.start).isoformat(), "value": period.price} for period in periods]


def mapping(periods: Iterable[Period]) -> dict[str, float]:
    """Return what EMHASS reads: prices by the time they begin, in UTC, since it can't take times of two offsets."""
    return {datetime.fromtimestamp(period.start, UTC).isoformat(): period.price for period in periods}


def bands(periods: Iterable[Period]) -> list[dict[str, Any]]:
    """Return forecast periods with all percentiles. Planners that know no percentiles read `time` and `value`."""
    return [
        {
            **(bounds := iso_bounds(period.start, period.end)),
            "time": bounds["start"],
            "value": period.price,
            "p10": period.low,
            "p50": period.price,
            "p90": period.high,
        }
        for period in periods
    ]
