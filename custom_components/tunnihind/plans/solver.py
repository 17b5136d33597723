"""The cheapest time to run, exactly.

Windows begin and end on quarters of an hour, UTC. The first usable quarter starts at or after the first bound, and the
last one ends at or before the last bound. A period without a known price or past the price limit is never used. Prices
count in whole millionths of a euro, so equal sums are exactly equal. For the most expensive time, the prices come with
the sign changed.

One piece: the window has the whole duration without a gap, or there is no window. The cheapest window wins, then the
earliest.

Split: the pieces have at least a given length and at most a given number. Together they have the whole duration, or as
much of it as possible. The longest solution wins, then the cheapest, then the solution with the fewest pieces. If two
solutions are equal, the one that uses the first differing quarter wins. Pieces that touch are one piece.

Earlier if nearly as cheap: a solution is near enough if its average exceeds the least average by at most the tolerance.
The least average is for the same time in the whole span, past hours included. So a window can't slip from hour to hour
because the best windows have passed. The near-enough solution that ends first wins. A window in one piece that ends
first also starts first. If several end first, or none is near enough, the rules above choose.

Later if nearly as cheap: this is the mirror image. The solution that starts last wins, and the rules above prefer late
quarters to early ones.

The grid may be coarser than quarters. Let all bounds, changes of price and lengths be multiples of one step, and
suppose that a solution has boundaries between the steps. Two of these boundaries, or the two ends of a piece of the
least length, can move by a quarter, forward or back, without changing the total time or adding a piece. One direction
costs as much as the other saves. So one direction is cheaper or, if both cost nothing, one direction is earlier.
Therefore the best solution has no boundaries between the steps. With a tolerance this is not true, because an average
may be just near enough between two steps. Then the grid is the quarter.

While prices stay, a window stays until it begins. Time removes solutions and adds none. So the best solution of a span
remains the best until its start. So the whole span is searched, and the answer is remembered.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

from ..prices.timeline import QUARTER_S, Period, Timeline
from .least_cost import LeastCosts, Prices, StepRun, most_steps, usable_runs

_UNITS_PER_EUR: Final = 1_000_000

type Piece = tuple[int, int]
"""[start, end) in UTC seconds."""
type PriceOf = Callable[[Period], float | None]
"""Returns the figure by which a period is compared, EUR/kWh; None if the period must not be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The time that has to run. Lengths are whole quarters of an hour, in seconds.

    If `min_piece_s` is None, the job is one piece of the whole duration. If `most_pieces` is None, any number of pieces
    is allowed. With a `tolerance` (EUR/kWh), the average of an earlier or later window may be higher by this amount.
    """

    duration_s: int
    min_piece_s: int | None = None
    most_pieces: int | None = None
    tolerance: float = 0.0
    prefer_latest: bool = False


@dataclass(frozen=True, slots=True)
class _Grid:
    """Steps of equal length from `start` on; a step without a price can't be used."""

    start: int
    step_s: int
    prices: Prices

    def piece(self, run: StepRun) -> Piece:
        return self.start + run[0] * self.step_s, self.start + run[1] * self.step_s


def first_quarter(instant: int) -> int:
    """Return the earliest start of a quarter of an hour that is not before `instant` (UTC seconds)."""
    return -(-instant // QUARTER_S) * QUARTER_S


def cheapest(
    timeline: Timeline,
    bounds: Piece,
    job: Job,
    price_of: PriceOf,
    *,
    span_opens: int | None = None,
    goes_on: bool = False,
) -> tuple[Piece, ...]:
    """Return the cheapest pieces within `bounds`, in the order of time; an empty tuple if none fit.

    `bounds` may be the rest of a span that opened at `span_opens` (UTC seconds). With `goes_on`, a piece of a split job
    already runs up to the bounds. It may continue for any length, and doesn't count as a start. `goes_on` does not
    combine with `prefer_latest`.
    """
    opens = first_quarter(bounds[0])
    span = opens if span_opens is None or goes_on else min(first_quarter(span_opens), opens), bounds[1]
    if span[0] < opens:
        # As long as the best window of the whole span is still ahead, it is also the best of the rest.
        pieces = _cheapest_from(span[0], timeline, span, job, price_of, goes_on=False)
        if pieces and pieces[0][0] >= opens:
            return pieces
    return _cheapest_from(opens, timeline, span if job.tolerance else bounds, job, price_of, goes_on=goes_on)


def _cheapest_from(
    opens: int, timeline: Timeline, span: Piece, job: Job, price_of: PriceOf, *, goes_on: bool
) -> tuple[Piece, ...]:
    lengths = QUARTER_S if job.tolerance else math.gcd(job.duration_s, job.min_piece_s or 0)
    grid = _grid(timeline, span, math.gcd(lengths, opens), price_of)
    passed = 0 if grid is None else max((opens - grid.start) // grid.step_s, 0)
    if grid is None or passed >= len(grid.prices):
        return ()
    tolerance = round(job.tolerance * _UNITS_PER_EUR)
    shortest = None if job.min_piece_s is None else job.min_piece_s // grid.step_s
    wanted = _Wanted(job.duration_s // grid.step_s, shortest, job.most_pieces, tolerance)
    goes_on = goes_on and grid.start <= opens
    runs = _best_runs(grid.prices, passed, wanted, prefer_latest=job.prefer_latest, goes_on=goes_on)
    return tuple(map(grid.piece, runs))


def all_usable(
    timeline: Timeline, bounds: Piece, min_piece_s: int, price_of: PriceOf, *, goes_on: bool = False
) -> tuple[Piece, ...]:
    """Return all usable time within `bounds`, in pieces of at least `min_piece_s`, in the order of time.

    With `goes_on` a piece already runs up to the bounds, and may continue for any length.
    """
    grid = _grid(timeline, bounds, math.gcd(min_piece_s, first_quarter(bounds[0])), price_of)
    if grid is None:
        return ()
    pieces = map(grid.piece, usable_runs(grid.prices))
    continued = first_quarter(bounds[0]) if goes_on else None
    return tuple(piece for piece in pieces if piece[1] - piece[0] >= min_piece_s or piece[0] == continued)


def _grid(timeline: Timeline, bounds: Piece, step_s: int, price_of: PriceOf) -> _Grid | None:
    """Return the prices within the bounds, in steps that divide `step_s`; None if no price is known there."""
    opens, closes = first_quarter(bounds[0]), bounds[1] // QUARTER_S * QUARTER_S
    periods = timeline.between(opens, closes)
    if opens >= closes or not periods:
        return None
    # A span may reach years past the last known price.
    opens, closes = max(opens, periods[0].start), min(closes, periods[-1].end)
    step_s = math.gcd(opens, closes, step_s, *(edge for period in periods for edge in (period.start, period.end)))
    prices: list[int | None] = [None] * ((closes - opens) // step_s)
    for period in periods:
        price = price_of(period)
        first = (max(period.start, opens) - opens) // step_s
        end = (min(period.end, closes) - opens) // step_s
        prices[first:end] = [None if price is None else round(price * _UNITS_PER_EUR)] * (end - first)
    return _Grid(opens, step_s, tuple(prices))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A job in steps and units."""

    steps: int
    shortest: int | None
    most_pieces: int | None
    tolerance: int


# Room for ten plans, each with its whole span and the rest of its span, and for as many again after changes.
@lru_cache(maxsize=64)
def _best_runs(
    span: Prices, passed: int, wanted: _Wanted, *, prefer_latest: bool, goes_on: bool
) -> tuple[StepRun, ...]:
    """Return the best runs of a span of which `passed` steps are over.

    Most ticks ask the same question, so it is cached.
    """
    if prefer_latest:
        left = len(span) - passed
        mirrored = _earliest_best(span[::-1], slice(0, left), wanted, goes_on=False)
        return tuple((len(span) - end, len(span) - first) for first, end in reversed(mirrored))
    runs = _earliest_best(span, slice(passed, len(span)), wanted, goes_on=goes_on)
    return tuple((passed + first, passed + end) for first, end in runs)


def _earliest_best(span: Prices, left: slice, wanted: _Wanted, *, goes_on: bool) -> Sequence[StepRun]:
    rest, steps, shortest = span[left], wanted.steps, wanted.shortest
    if shortest is None:
        return _in_one_piece(span, rest, steps, wanted.tolerance)
    steps = most_steps(rest, min(steps, len(rest)), shortest, wanted.most_pieces, goes_on=goes_on)
    if not steps:
        return ()
    search = _Search(span, rest, steps, shortest, wanted.tolerance, goes_on)
    # If the best and the compared solution have few enough pieces anyway, the limit on pieces changes nothing.
    runs, most = search.runs(None)
    if wanted.most_pieces is not None and most > wanted.most_pieces:
        runs, _ = search.runs(wanted.most_pieces)
    return runs


def _in_one_piece(span: Prices, rest: Prices, steps: int, tolerance: int) -> Sequence[StepRun]:
    costs = _costs_by_start(rest, steps)
    if not costs:
        return ()
    near_enough = min(_costs_by_start(span, steps).values()) + tolerance * steps
    # min() returns the first of equals.
    start = next((start for start, cost in costs.items() if cost <= near_enough), min(costs, key=costs.__getitem__))
    return ((start, start + steps),)


def _costs_by_start(prices: Prices, steps: int) -> dict[int, int]:
    """Return the costs of runs of `steps` steps, by their first step, in the order of time."""
    totals = [0, *accumulate(price or 0 for price in prices)]
    starts = (end - steps for first, end in usable_runs(prices) for end in range(first + steps, end + 1))
    return {start: totals[start + steps] - totals[start] for start in starts}


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for pieces of `steps` steps in total. Such pieces are known to exist."""

    span: Prices
    rest: Prices
    steps: int
    shortest: int
    tolerance: int
    goes_on: bool

    def runs(self, most_pieces: int | None) -> tuple[Sequence[StepRun], int]:
        """Return the best runs.

        Also return their number of pieces, or the compared solution's number if that is larger.
        """
        rest, compared = self._until_near_enough(most_pieces) if self.tolerance else (self.rest, 0)
        costs = LeastCosts.of(rest, self.steps, self.shortest, most_pieces)
        runs = tuple(costs.pieces(self.steps, goes_on=self.goes_on))
        continued = self.goes_on and runs[0][0] == 0
        return runs, max(len(runs) - continued, compared)

    def _until_near_enough(self, most_pieces: int | None) -> tuple[Prices, int]:
        """Return `rest` up to the first end that is near enough, and the compared solution's number of pieces."""
        rest, steps = self.rest, self.steps
        backwards = LeastCosts.of(rest[::-1], steps, self.shortest, most_pieces)
        whole = len(rest) == len(self.span)
        compared = backwards if whole else LeastCosts.of(self.span, steps, self.shortest, most_pieces)
        least, pieces = compared.least(steps)
        near_enough = least + self.tolerance * steps
        ends = (end for end in range(steps, len(rest)) if backwards.is_within(near_enough, len(rest) - end, steps))
        return rest[: next(ends, len(rest))], pieces
