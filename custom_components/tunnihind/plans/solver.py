"""Finds the cheapest time for a device to run, with an exact search.

Windows begin and end at full quarters of an hour in UTC. A window uses only quarters that lie completely within the
given bounds. A period is used only if its price is known and `price_of` doesn't return None. Prices are rounded to
whole millionths of a euro, so that sums have no rounding errors. To find the most expensive time, the caller negates
the prices.

A job in one piece gets the cheapest window of the job's whole duration. If no window of the whole duration fits, the
job gets no window. Among equally cheap windows, the earliest is chosen.

A solution for a split job consists of pieces. Each piece and each pause between two pieces has at least a given length,
and the number of pieces may be limited. If no solution has the job's whole duration, the longest solution is chosen.
Among equally long solutions, the cheapest is chosen. Among equally cheap solutions, fewer pieces are preferred. If two
equally cheap solutions have equally many pieces, earlier quarters are preferred. Two pieces without a gap between them
count as one piece. A start may have a cost of its own. Then an extra piece must save at least this cost.

A job may have a longest pause. Then no pause between two pieces is longer, the first piece begins by `latest_start`, or
as early as possible, and the last piece ends at `earliest_end` or later. If no solution of the same length keeps to all
of that, first the end and then the pauses count no longer.

A job may go on for longer than its duration where this is cheap: `more_below` is what each kilowatt-hour is worth.
Then the solution has at least the job's duration, and the least cost less this worth. If several have it, the longest
is chosen, then the rules above apply.

If a job has a tolerance, an early solution may be chosen although another solution is slightly cheaper. A solution is
within the tolerance if its average price exceeds the least average price by at most the tolerance. The least average
price is the average price of the cheapest solution of the same length in the whole span, including past hours. If the
least average price left out past hours, the window could be put off again and again while the best hours pass. Among
the solutions within the tolerance, the solution that ends first is chosen. If several solutions share the earliest end,
or if no solution is within the tolerance, the rules for jobs without a tolerance apply.

If `prefer_latest` is true, late solutions are preferred to early solutions: among the solutions within the tolerance,
the solution that starts last is chosen.

The search divides time into equally long steps. If a job has no tolerance, a step may be longer than a quarter of an
hour. All bounds, durations and times of price changes are multiples of the step, so the pieces of the best solution
never begin or end within a step. If a job has a tolerance, each step is a quarter of an hour long, because the best
solution may begin or end at any quarter of an hour.

While prices don't change, a planned window doesn't move: as time passes, some solutions become impossible, but no new
solutions appear.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Final

from ..core.market import HOUR_S, QUARTER_S
from ..prices.timeline import Period, Timeline
from .least_cost import LeastCosts, StepPrices, StepRange, most_fillable_steps, usable_ranges

_UNITS_PER_EUR: Final = 1_000_000

type Piece = tuple[int, int]
"""[start, end) in UTC seconds."""
type PriceOf = Callable[[Period], float | None]
"""Returns the price in EUR/kWh that the search uses for a period, or None if the period must not be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The running time that a device needs, and how it may be split.

    Lengths are multiples of a quarter of an hour, in seconds. If `min_piece_s` is None, the device runs in one piece of
    the whole duration. A split job has at most `most_pieces` pieces, or any number of pieces if `most_pieces` is None.
    The pauses between its pieces last at least `min_pause_s`, and at most `max_pause_s`. An early solution is preferred
    even if its average price is up to `tolerance` (EUR/kWh) higher than the least average price. If `prefer_latest` is
    true, a late solution is preferred instead. `start_cost` is what each start of a split job costs, in EUR per kW of
    the device's power. `latest_start` and `earliest_end` are in UTC seconds. A job with one of them, or with a
    `max_pause_s`, has no tolerance, and prefers no late solution. `more_below` (EUR/kWh) is the price up to which a
    longer run is worth it. A job with it has no longest pause and no tolerance, and prefers no late solution.
    """

    duration_s: int
    min_piece_s: int | None = None
    min_pause_s: int = 0
    max_pause_s: int | None = None
    most_pieces: int | None = None
    tolerance: float = 0.0
    prefer_latest: bool = False
    start_cost: float = 0.0
    latest_start: int | None = None
    earliest_end: int | None = None
    more_below: float | None = None


@dataclass(frozen=True, slots=True)
class _PriceGrid:
    """The prices of equally long time steps, from `start` (UTC seconds) on."""

    start: int
    step_s: int
    prices: StepPrices

    def piece(self, steps: StepRange) -> Piece:
        return self.start + steps[0] * self.step_s, self.start + steps[1] * self.step_s


def round_up_to_quarter(seconds: int | Fraction) -> int:
    """Round an instant in UTC seconds, or a length in seconds, up to a whole quarter of an hour."""
    return -(-seconds // QUARTER_S) * QUARTER_S


def length_s(pieces: Iterable[Piece]) -> int:
    """Return the length of all pieces together, in seconds."""
    return sum(end - start for start, end in pieces)


def cheapest_pieces(
    timeline: Timeline,
    bounds: Piece,
    job: Job,
    price_of: PriceOf,
    *,
    span_opens: int | None = None,
    is_piece_running: bool = False,
) -> tuple[Piece, ...]:
    """Return the best pieces within `bounds` in chronological order.

    If no solution fits, return an empty tuple. `span_opens` is the start (UTC seconds) of the span to which `bounds`
    belongs. If `span_opens` is None or `is_piece_running` is true, `bounds` counts as the whole span. If
    `is_piece_running` is true, a piece of a split job is already running when `bounds` begins. The piece's rest may be
    shorter than `min_piece_s`, and doesn't count towards `most_pieces`. If the piece doesn't go on, the pause after it
    counts from the start of `bounds`. Callers must not combine `is_piece_running` with `prefer_latest`.
    """
    if is_piece_running and not _can_run_at(timeline, bounds[0], price_of):
        bounds, is_piece_running = (bounds[0] + job.min_pause_s, bounds[1]), False
    opens = round_up_to_quarter(bounds[0])
    span = opens if span_opens is None or is_piece_running else min(round_up_to_quarter(span_opens), opens), bounds[1]
    if span[0] < opens:
        # If the best window of the whole span is still ahead, it is also the best window in the remaining time of the
        # span.
        pieces = _cheapest_pieces_from(span[0], timeline, span, job, price_of, is_piece_running=False)
        if pieces and pieces[0][0] >= opens:
            return pieces
    return _cheapest_pieces_from(
        opens, timeline, span if job.tolerance else bounds, job, price_of, is_piece_running=is_piece_running
    )


def _cheapest_pieces_from(
    opens: int, timeline: Timeline, span: Piece, job: Job, price_of: PriceOf, *, is_piece_running: bool
) -> tuple[Piece, ...]:
    lengths = math.gcd(job.duration_s, job.min_piece_s or 0, job.min_pause_s, job.max_pause_s or 0)
    bounds_s = math.gcd(opens, job.latest_start or 0, job.earliest_end or 0)
    grid = _price_grid(timeline, span, math.gcd(QUARTER_S if job.tolerance else lengths, bounds_s), price_of)
    passed_steps = 0 if grid is None else max((opens - grid.start) // grid.step_s, 0)
    if grid is None or passed_steps >= len(grid.prices):
        return ()
    tolerance = round(job.tolerance * _UNITS_PER_EUR)
    min_piece_steps = None if job.min_piece_s is None else job.min_piece_s // grid.step_s
    min_pause_steps = job.min_pause_s // grid.step_s
    # A device of 1 kW uses a kilowatt-hour in an hour, so a step of this price costs as much as a start.
    start_price = round(job.start_cost * _UNITS_PER_EUR * HOUR_S / grid.step_s)
    step_job = _StepJob(
        job.duration_s // grid.step_s,
        min_piece_steps,
        min_pause_steps,
        None if job.max_pause_s is None else job.max_pause_s // grid.step_s,
        None if job.latest_start is None else (job.latest_start - grid.start) // grid.step_s - passed_steps,
        0 if job.earliest_end is None else (job.earliest_end - grid.start) // grid.step_s - passed_steps,
        job.most_pieces,
        tolerance,
        start_price,
        None if job.more_below is None else round(job.more_below * _UNITS_PER_EUR),
    )
    ranges = _best_ranges(
        grid.prices, passed_steps, step_job, prefer_latest=job.prefer_latest, is_piece_running=is_piece_running
    )
    return tuple(map(grid.piece, ranges))


def usable_pieces(
    timeline: Timeline,
    bounds: Piece,
    min_piece_s: int,
    price_of: PriceOf,
    *,
    min_pause_s: int = 0,
    is_piece_running: bool = False,
) -> tuple[Piece, ...]:
    """Return the usable time within `bounds` as pieces of at least `min_piece_s` seconds, in chronological order.

    Time is usable if `price_of` returns a price for its period. Between two pieces there are at least `min_pause_s`
    seconds. Where the unusable time is shorter, pieces are cut or left out, as in `cheapest_pieces` with an unlimited
    duration. If `is_piece_running` is true, a piece is already running when `bounds` begins, and the rest of this piece
    may be shorter than `min_piece_s`.
    """
    if is_piece_running and not _can_run_at(timeline, bounds[0], price_of):
        bounds, is_piece_running = (bounds[0] + min_pause_s, bounds[1]), False
    grid = _price_grid(timeline, bounds, math.gcd(min_piece_s, round_up_to_quarter(bounds[0])), price_of)
    if grid is None:
        return ()
    ranges = map(grid.piece, usable_ranges(grid.prices))
    continued = round_up_to_quarter(bounds[0]) if is_piece_running else None
    pieces = tuple(piece for piece in ranges if piece[1] - piece[0] >= min_piece_s or piece[0] == continued)
    if all(later[0] - earlier[1] >= min_pause_s for earlier, later in pairwise(pieces)):
        return pieces
    everything = Job(duration_s=length_s(pieces), min_piece_s=min_piece_s, min_pause_s=min_pause_s)
    return cheapest_pieces(timeline, bounds, everything, price_of, is_piece_running=is_piece_running)


def _can_run_at(timeline: Timeline, instant: int, price_of: PriceOf) -> bool:
    """Return whether the quarter of an hour that begins at or after `instant` (UTC seconds) is usable."""
    period = timeline.period_at(round_up_to_quarter(instant))
    return period is not None and price_of(period) is not None


def _price_grid(timeline: Timeline, bounds: Piece, step_s: int, price_of: PriceOf) -> _PriceGrid | None:
    """Divide the time within `bounds`, from the first to the last known price, into steps. Return the steps' prices.

    If no whole quarter of an hour within `bounds` has a known price, return None. The length of a step is `step_s`, or
    `step_s` divided by a whole number, so that each period consists of whole steps.
    """
    opens, closes = round_up_to_quarter(bounds[0]), bounds[1] // QUARTER_S * QUARTER_S
    periods = timeline.periods_between(opens, closes)
    if opens >= closes or not periods:
        return None
    # Time before the first and after the last known price is left out, because `bounds` may last for years.
    opens, closes = max(opens, periods[0].start), min(closes, periods[-1].end)
    step_s = math.gcd(opens, closes, step_s, *(edge for period in periods for edge in (period.start, period.end)))
    prices: list[int | None] = [None] * ((closes - opens) // step_s)
    for period in periods:
        price = price_of(period)
        first = (max(period.start, opens) - opens) // step_s
        end = (min(period.end, closes) - opens) // step_s
        prices[first:end] = [None if price is None else round(price * _UNITS_PER_EUR)] * (end - first)
    return _PriceGrid(opens, step_s, tuple(prices))


@dataclass(frozen=True, slots=True)
class _StepJob:
    """A `Job` whose lengths are numbers of steps, and whose prices are in millionths of a euro per kWh.

    The first piece starts at the step `latest_start` or earlier, and the last piece ends at `earliest_end` or later.
    Both steps count from the first step that has not passed.
    """

    steps: int
    min_piece_steps: int | None
    min_pause_steps: int
    max_pause_steps: int | None
    latest_start: int | None
    earliest_end: int
    most_pieces: int | None
    tolerance: int
    start_price: int
    more_below: int | None


# The cache has room for about 30 plans. A plan mostly needs two entries: one for its whole span, and one for the
# remaining time of the span.
@lru_cache(maxsize=64)
def _best_ranges(
    span: StepPrices, passed_steps: int, job: _StepJob, *, prefer_latest: bool, is_piece_running: bool
) -> tuple[StepRange, ...]:
    """Return the best pieces among the steps of `span` after the first `passed_steps` steps."""
    if prefer_latest:
        left = len(span) - passed_steps
        mirrored = _earliest_best_ranges(span[::-1], slice(0, left), job, is_piece_running=False)
        return tuple((len(span) - end, len(span) - first) for first, end in reversed(mirrored))
    ranges = _earliest_best_ranges(span, slice(passed_steps, len(span)), job, is_piece_running=is_piece_running)
    return tuple((passed_steps + first, passed_steps + end) for first, end in ranges)


def _earliest_best_ranges(
    span: StepPrices, left: slice, job: _StepJob, *, is_piece_running: bool
) -> Sequence[StepRange]:
    rest, min_piece_steps = span[left], job.min_piece_steps
    if min_piece_steps is None:
        return _best_single_range(span, rest, job)
    most_steps = most_fillable_steps(
        rest,
        len(rest) if job.more_below is not None else min(job.steps, len(rest)),
        min_piece_steps,
        job.min_pause_steps,
        job.most_pieces,
        is_piece_running=is_piece_running,
    )
    if not most_steps:
        return ()
    job = replace(job, steps=min(job.steps, most_steps))
    search = _Search(span, rest, job, most_steps, min_piece_steps, is_piece_running)
    # A search without a limit on pieces is faster, and its result often keeps to the limit anyway.
    ranges, most = search.best_ranges(None)
    if job.most_pieces is not None and most > job.most_pieces:
        ranges, _ = search.best_ranges(job.most_pieces)
    return ranges


def _best_single_range(span: StepPrices, rest: StepPrices, job: _StepJob) -> Sequence[StepRange]:
    steps = job.steps
    runs = _best_runs_by_start(rest, steps, job.more_below)
    if not runs:
        return ()
    starts = [*runs]
    if job.latest_start is not None:
        starts = [start for start in runs if start <= job.latest_start] or starts[:1]
    starts = [start for start in starts if start + steps >= job.earliest_end] or starts
    # Among equally good starts, `min` returns the earliest.
    best = min(starts, key=runs.__getitem__)
    if job.tolerance:
        highest_cost = min(_best_runs_by_start(span, steps, None).values())[0] + job.tolerance * steps
        best = next((start for start in starts if runs[start][0] <= highest_cost), best)
    return ((best, best - runs[best][1]),)


def _best_runs_by_start(prices: StepPrices, steps: int, more_below: int | None) -> dict[int, tuple[int, int]]:
    """Return the best run of at least `steps` steps in a row for each first step, in chronological order.

    A run is the cost of its steps, less `more_below` for each, and its negative number of steps, so that the best run
    is the least. If `more_below` is None, each run has exactly `steps` steps.
    """
    totals = [0, *accumulate((price or 0) - (more_below or 0) for price in prices)]
    runs: dict[int, tuple[int, int]] = {}
    for first, last in usable_ranges(prices):
        best: int | None = None
        for end in reversed(range(first + steps, last + 1)):
            if best is None or more_below is None or totals[end] < totals[best]:
                best = end
            start = end - steps
            runs[start] = totals[best] - totals[start], start - best
    return {start: runs[start] for start in sorted(runs)}


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for the best pieces that fill the job's time steps in total.

    If the job has a `more_below`, the pieces may fill up to `most_steps`, for which a solution exists, as for `job`.
    """

    span: StepPrices
    rest: StepPrices
    job: _StepJob
    most_steps: int
    min_piece_steps: int
    is_piece_running: bool

    def best_ranges(self, most_pieces: int | None) -> tuple[Sequence[StepRange], int]:
        """Return the best pieces, and the number of pieces to compare with the job's limit.

        If the job has a tolerance, the limit applies to two solutions: the best pieces, and the cheapest solution of
        the whole span. Then the second result is the number of pieces in the solution that has more pieces.
        """
        rest, compared = self._steps_until_within_tolerance(most_pieces) if self.job.tolerance else (self.rest, 0)
        job, steps, on = self.job, self.job.steps, self.is_piece_running
        if job.more_below is None:
            costs = self._least_costs_with_longest_pause(rest, most_pieces)
        else:
            costs = self._least_costs(rest, most_pieces)
            steps = costs.best_steps(range(steps, self.most_steps + 1), job.more_below, is_piece_running=on)
        ranges = tuple(costs.pieces(steps, is_piece_running=on, latest_start=job.latest_start))
        continued = on and bool(ranges) and ranges[0][0] == 0
        return ranges, max(len(ranges) - continued, compared)

    def _least_costs_with_longest_pause(self, rest: StepPrices, most_pieces: int | None) -> LeastCosts:
        """Compute the least costs of solutions that keep to as many rules of the longest pause as possible."""
        job, longest = self.job, self.job.max_pause_steps
        rules = dict.fromkeys(((longest, job.earliest_end), (longest, 0), (None, 0)))
        tables = [self._least_costs(rest, most_pieces, *rule) for rule in rules]
        if self.is_piece_running:
            return next(costs for costs in tables if costs.can_go_on(job.steps))
        soonest = tables[-1].earliest_start(job.steps)
        latest = len(rest) if job.latest_start is None else max(job.latest_start, soonest)
        return next(costs for costs in tables if costs.earliest_start(job.steps) <= latest)

    def _steps_until_within_tolerance(self, most_pieces: int | None) -> tuple[StepPrices, int]:
        """Return the steps in `rest` up to the earliest end of a solution within the tolerance.

        If no solution in `rest` is within the tolerance, return all steps of `rest`. The second result is the number of
        pieces in the cheapest solution of the whole span.
        """
        rest, steps = self.rest, self.job.steps
        backwards = self._least_costs(rest[::-1], most_pieces)
        whole = len(rest) == len(self.span)
        compared = backwards if whole else self._least_costs(self.span, most_pieces)
        least, pieces = compared.least_price_sum_and_piece_count(steps)
        highest_cost = least + self.job.tolerance * steps
        ends = (
            end
            for end in range(steps, len(rest))
            if backwards.can_run_within_cost(highest_cost, len(rest) - end, steps)
        )
        return rest[: next(ends, len(rest))], pieces

    def _least_costs(
        self,
        prices: StepPrices,
        most_pieces: int | None,
        max_pause_steps: int | None = None,
        earliest_end: int = 0,
    ) -> LeastCosts:
        job = self.job
        return LeastCosts.compute(
            prices,
            self.most_steps,
            self.min_piece_steps,
            job.min_pause_steps,
            most_pieces,
            max_pause_steps=max_pause_steps,
            earliest_end=earliest_end,
            start_price=job.start_price,
        )
