"""What a household asks of a plan."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from enum import StrEnum
from typing import Any, Final

from ..prices.timeline import QUARTER_S

WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""The names of the days in a plan's settings; a day's place is Python's `date.weekday()`."""

DEFAULT_DURATION_MIN: Final = 180
LONGEST_DURATION_MIN: Final = 1_440
DEFAULT_MIN_PIECE_MIN: Final = 60
MOST_DAYS: Final = 3

_MINUTE_S: Final = 60
QUARTER_MIN: Final = QUARTER_S // _MINUTE_S
_CENTS: Final = 100
# Enough for any cap, and without what dividing adds, so that a price equal to the cap is not above it.
_CAP_DECIMALS: Final = 6


class Horizon(StrEnum):
    """How far a plan trusts the forecast."""

    PUBLISHED = "published"
    """Only hours whose price is settled."""
    EXPECTED = "expected"
    """Predicted hours too, at their median."""
    CAUTIOUS = "cautious"
    """Predicted hours too, at their 90th percentile, so that waiting for one must be worth its risk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """One plan. Lengths in seconds, whole quarters of an hour; wall times are Tallinn's.

    `min_piece_s` is None where the plan runs in one piece. `weekdays` (0 is Monday, never empty) are the days on which
    the deadline falls or, without a deadline, on which the plan may start. `days` is how many days before its deadline
    it may begin. `price_cap` is in EUR/kWh as the household pays it; a dearer hour is never used.
    """

    duration_s: int
    min_piece_s: int | None = None
    earliest: time | None = None
    deadline: time | None = None
    weekdays: frozenset[int] = frozenset(range(len(WEEKDAYS)))
    days: int = 1
    horizon: Horizon = Horizon.PUBLISHED
    price_cap: float | None = None

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> PlanSettings:
        """Read a plan as its form writes it: minutes, "HH:MM:SS", names of days, c/kWh.

        What is absent has its default. Raises ValueError that names the field and says what it may be.
        """
        duration = _minutes(data, "duration", DEFAULT_DURATION_MIN, LONGEST_DURATION_MIN)
        min_piece = _minutes(data, "min_piece", min(DEFAULT_MIN_PIECE_MIN, duration), duration)
        cap = _price_cap(data)
        return cls(
            duration_s=duration * _MINUTE_S,
            min_piece_s=min_piece * _MINUTE_S if _flag(data, "split") else None,
            earliest=_wall_time(data, "earliest"),
            deadline=_wall_time(data, "deadline"),
            weekdays=_weekdays(data),
            days=_whole(data, "days", 1, 1, MOST_DAYS),
            horizon=_horizon(data),
            price_cap=cap,
        )


def _minutes(data: Mapping[str, Any], field: str, default: int, most: int) -> int:
    minutes = _whole(data, field, default, QUARTER_MIN, most)
    if minutes % QUARTER_MIN:
        raise ValueError(f"{field}: {minutes} minutes are not a multiple of {QUARTER_MIN}")
    return minutes


def _whole(data: Mapping[str, Any], field: str, default: int, least: int, most: int) -> int:
    number = data.get(field, default)
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number // 1:
        raise ValueError(f"{field}: {number!r} is not a whole number")
    if not least <= number <= most:
        raise ValueError(f"{field}: {number} is not between {least} and {most}")
    return int(number)


def _flag(data: Mapping[str, Any], field: str) -> bool:
    flag = data.get(field, False)
    if flag not in (True, False):
        raise ValueError(f"{field}: {flag!r} is neither true nor false")
    return bool(flag)


def _wall_time(data: Mapping[str, Any], field: str) -> time | None:
    wall = data.get(field)
    if wall is None:
        return None
    try:
        read = time.fromisoformat(wall)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{field}: {wall!r} is not a time of day like 07:00:00") from error
    if read.tzinfo is not None:
        raise ValueError(f"{field}: {wall!r} names a time zone; it is Estonian time without one")
    return read


def _weekdays(data: Mapping[str, Any]) -> frozenset[int]:
    names = data.get("weekdays", WEEKDAYS)
    if not isinstance(names, list | tuple | set | frozenset) or not names:
        raise ValueError("weekdays: choose at least one day")
    unknown = [name for name in names if name not in WEEKDAYS]
    if unknown:
        raise ValueError(f"weekdays: {unknown[0]!r} is none of {', '.join(WEEKDAYS)}")
    return frozenset(WEEKDAYS.index(name) for name in names)


def _horizon(data: Mapping[str, Any]) -> Horizon:
    horizon = data.get("horizon", Horizon.PUBLISHED)
    try:
        return Horizon(horizon)
    except ValueError as error:
        raise ValueError(f"horizon: {horizon!r} is none of {', '.join(Horizon)}") from error


def _price_cap(data: Mapping[str, Any]) -> float | None:
    cap = data.get("price_cap")
    if cap is None:
        return None
    if isinstance(cap, bool) or not isinstance(cap, int | float) or not math.isfinite(cap):
        raise ValueError(f"price_cap: {cap!r} is not a price in cents per kWh")
    return round(cap / _CENTS, _CAP_DECIMALS)
