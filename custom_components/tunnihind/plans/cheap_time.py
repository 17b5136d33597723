"""Adds cheap time to the pieces of a window, for what a device would like to have beyond what it needs.

The pieces stay, so that what the device needs comes first. The added time costs at most a given price, and keeps to the
same shortest piece, shortest pause and most pieces as the rest. As much time as possible is added, and among these
choices the cheapest is taken.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..core.market import QUARTER_S
from ..prices.timeline import Period, Timeline
from .solver import Job, Piece, PriceOf, cheapest_pieces, length_s, round_up_to_quarter

# The price in EUR/kWh at which the solver sees the pieces that stay. No real price is as low, so the cheapest solution
# contains all of them. The costs of all quarters of a week together are still exact.
_STAYS: Final = -10_000.0


def with_cheap_time(
    timeline: Timeline,
    bounds: Piece,
    pieces: tuple[Piece, ...],
    job: Job,
    price_of: PriceOf,
    highest_price: float,
    *,
    is_piece_running: bool = False,
) -> tuple[Piece, ...]:
    """Return `pieces` with more time within `bounds`, until they last `job.duration_s` seconds in total.

    Each added quarter of an hour costs at most `highest_price` (EUR/kWh) by `price_of`. If no such time fits, return
    `pieces`. `is_piece_running` is the same as in `cheapest_pieces`. The job's tolerance doesn't count.
    """
    has_s = length_s(pieces)
    asked_s = job.duration_s
    usable = _usable_timeline(timeline, bounds, pieces, price_of, highest_price)
    while asked_s > has_s:
        asked = replace(job, duration_s=asked_s, tolerance=0.0, prefer_latest=False)
        found = cheapest_pieces(usable, bounds, asked, _price, is_piece_running=is_piece_running)
        if all(any(start <= first and last <= end for start, end in found) for first, last in pieces):
            return found
        asked_s = min(asked_s, length_s(found)) - QUARTER_S
    return pieces


def _usable_timeline(
    timeline: Timeline, bounds: Piece, pieces: Sequence[Piece], price_of: PriceOf, highest_price: float
) -> Timeline:
    """Return the quarters of an hour in the pieces, and all others within `bounds` at or below the highest price."""
    stay = {quarter for start, end in pieces for quarter in range(start, end, QUARTER_S)}
    prices = dict.fromkeys(stay, _STAYS)
    for period in timeline.periods_between(*bounds):
        price = price_of(period)
        if price is not None and price <= highest_price:
            for quarter in range(round_up_to_quarter(period.start), period.end, QUARTER_S):
                prices.setdefault(quarter, price)
    return Timeline(
        QUARTER_S,
        (
            Period(quarter, quarter + QUARTER_S, prices[quarter], prices[quarter], prices[quarter], settled=True)
            for quarter in sorted(prices)
        ),
    )


def _price(period: Period) -> float:
    return period.price
