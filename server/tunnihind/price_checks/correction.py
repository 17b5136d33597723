"""Corrections: which settled prices an answer would change, and when it may change them.

Filling a gap is not a correction. A correction is taken at once where a second source has the same prices. Without a
second source, a correction of a single delivery day is taken when the same answer still stands an hour later. All of it
is pure.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Self

from tunnihind.market import HOUR_S, QUARTER_S, Zone, floor_hour
from tunnihind.price_checks.gate import Settled
from tunnihind.price_checks.shift import PRICE_TOLERANCE_EUR_MWH, ZonePrices

STANDS_S: Final = HOUR_S - 60
"""A correction has to stand for so long: an hour, less the minute by which two hourly questions may be closer."""

type Changes = Mapping[tuple[Zone, date], Mapping[int, float]]
"""Prices that differ from settled ones, by zone and delivery day: start of period -> EUR/MWh."""


@dataclass(frozen=True, slots=True)
class Split:
    """A delivery day's prices in two parts: `fills` fill gaps or equal settled prices, `changes` differ from them."""

    fills: dict[int, float]
    changes: dict[int, float]


@dataclass(frozen=True, slots=True)
class Pending:
    """A correction of one delivery day that waits since `since_ts`; `digest` is a hash of its content."""

    day: date
    digest: str
    since_ts: int

    @classmethod
    def of(cls, fact: object) -> Self | None:
        """Read what `fact` wrote, None from anything else."""
        match fact:
            case {"day": str(day), "digest": str(digest), "since": int(since_ts)}:
                try:
                    return cls(date.fromisoformat(day), digest, since_ts)
                except ValueError:
                    return None
        return None

    def fact(self) -> dict[str, str | int]:
        """Return this as a JSON value."""
        return {"day": self.day.isoformat(), "digest": self.digest, "since": self.since_ts}


@dataclass(frozen=True, slots=True)
class Decision:
    """Which days of which zones may be corrected now, what still waits, and why the rest is held back."""

    allowed: Collection[tuple[Zone, date]]
    pending: Pending | None
    reason: str = ""


def split(day: Settled, known: ZonePrices) -> Split:
    """Separate what a day changes in the settled prices from what it adds to them.

    Quarters of a settled hour with the same mean add to it. Hours add nothing to settled quarters.
    """
    parts = Split({}, {})
    given_hours, known_hours, known_prices = day.hours(), known.hours(), known.of(day.step_s)
    for ts, price in day.prices.items():
        hour = floor_hour(ts)
        if hour not in known_hours:
            parts.fills[ts] = price
        elif ts in known_prices and (day.step_s == QUARTER_S or hour not in known.quarters):
            (parts.fills if known_prices[ts] == price else parts.changes)[ts] = price
        elif abs(given_hours[hour] - known_hours[hour]) > PRICE_TOLERANCE_EUR_MWH:
            parts.changes[ts] = price
        elif day.step_s == QUARTER_S:
            parts.fills[ts] = price
    return parts


def is_agreed(changes: Mapping[int, float], day: Settled, second: Settled) -> bool:
    """Return whether a second source has the same prices in the hours that would change."""
    ours, theirs = day.hours(), second.hours()
    hours = {floor_hour(ts) for ts in changes}
    return all(hour in theirs and abs(ours[hour] - theirs[hour]) <= PRICE_TOLERANCE_EUR_MWH for hour in hours)


def decide(
    changes: Changes,
    agreed: Collection[tuple[Zone, date]],
    answered: Collection[date],
    pending: Pending | None,
    now: int,
) -> Decision:
    """Decide on the changes that an answer for the days `answered` would make. A second source `agreed` to some.

    A pending correction keeps waiting while answers do not cover its day. Its hour starts again when the prices differ.
    """
    alone = {key: prices for key, prices in changes.items() if key not in agreed}
    days = {day for _, day in alone}
    if not alone:
        return Decision(agreed, pending if pending is not None and pending.day not in answered else None)
    if len(days) > 1:
        reason = f"settled prices of {len(days)} days would change; more than one day needs a second source"
        return Decision(agreed, None, reason)
    (day,) = days
    digest = _digest(alone)
    if pending is None or (pending.day, pending.digest) != (day, digest) or pending.since_ts > now:
        pending = Pending(day, digest, now)
    if now - pending.since_ts >= STANDS_S:
        return Decision(changes.keys(), None)
    count = sum(len(prices) for prices in alone.values())
    return Decision(agreed, pending, f"{count} settled prices would change; they do when this stands for an hour")


def _digest(changes: Changes) -> str:
    rows = sorted((zone, ts, price) for (zone, _), prices in changes.items() for ts, price in prices.items())
    return hashlib.sha256(repr(rows).encode()).hexdigest()
