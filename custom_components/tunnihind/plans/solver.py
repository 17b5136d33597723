"""The cheapest time to run, exactly.

Windows begin and end on quarters of an hour, UTC. The first quarter that can be used is the first one that starts at or
after the bound, the last one ends at or before it; a period that is not known, or dearer than the cap, is never used.
Prices count in millionths of a euro, so that equal sums are equal and a tie is a tie.

In one piece: the whole duration without a gap, or nothing; the least cost, and of equally cheap ones the earliest.
Split: pieces of at least a given length that together make the duration, or as much of it as there is. What decides
is, in this order: the most time, the least cost, the fewest pieces, and then that the first quarter in which two
solutions differ is used. Pieces that touch are one.

Why the grid may be coarser than quarters: let all bounds, changes of price and lengths be multiples of some step, and
take a solution with boundaries between. Two of them (or the two ends of a piece of the least length) can be moved by a
quarter without changing the total time, and back as well; what one way costs the other one saves. So one of the
two is cheaper or, where both cost nothing, one is earlier: the best solution has no boundaries between.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final

from ..prices.timeline import QUARTER_S, Period, Timeline

_UNITS_PER_EUR: Final = 1_000_000
# More than a piece could ever weigh: no window has that many pieces.
_PIECES: Final = 1_024
_NEVER: Final = math.inf

type Piece = tuple[int, int]
"""[start, end) in UTC seconds."""
type PriceOf = Callable[[Period], float | None]
"""What a period counts as, EUR/kWh; None where it must not be used."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """Steps of equal length from `start` on; a step without a price can't be used."""

    start: int
    step_s: int
    prices: Sequence[int | None]

    def piece(self, first: int, end: int) -> Piece:
        return self.start + first * self.step_s, self.start + end * self.step_s


def first_quarter(instant: int) -> int:
    """Return the start of the first quarter of an hour that starts at or after `instant` (UTC seconds)."""
    return -(-instant // QUARTER_S) * QUARTER_S


def cheapest(
    timeline: Timeline, bounds: Piece, *, duration_s: int, min_piece_s: int | None, price_of: PriceOf
) -> tuple[Piece, ...]:
    """Return the cheapest pieces within `bounds`, in the order of time; none where nothing fits.

    `min_piece_s` None asks for one piece of the whole duration. Lengths are whole quarters of an hour, in seconds.
    """
    opens, closes = first_quarter(bounds[0]), bounds[1] // QUARTER_S * QUARTER_S
    periods = timeline.between(opens, closes)
    if opens >= closes or not periods:
        return ()
    # A span may reach years beyond what is known.
    opens, closes = max(opens, periods[0].start), min(closes, periods[-1].end)
    grid = _grid(periods, opens, closes, math.gcd(duration_s, min_piece_s or 0), price_of)
    steps = duration_s // grid.step_s
    if min_piece_s is None:
        return tuple(_one_piece(grid, steps))
    return tuple(_split(grid, steps, min_piece_s // grid.step_s))


def _grid(periods: Sequence[Period], opens: int, closes: int, lengths: int, price_of: PriceOf) -> _Grid:
    step_s = math.gcd(opens, closes, lengths, *(edge for period in periods for edge in (period.start, period.end)))
    prices: list[int | None] = [None] * ((closes - opens) // step_s)
    for period in periods:
        price = price_of(period)
        first = (max(period.start, opens) - opens) // step_s
        end = (min(period.end, closes) - opens) // step_s
        prices[first:end] = [None if price is None else round(price * _UNITS_PER_EUR)] * (end - first)
    return _Grid(opens, step_s, prices)


def _one_piece(grid: _Grid, steps: int) -> Iterator[Piece]:
    totals = [0, *accumulate(price or 0 for price in grid.prices)]
    starts = [end - steps for first, end in _runs(grid.prices) for end in range(first + steps, end + 1)]
    if starts:
        # Of equals, min() keeps the first.
        start = min(starts, key=lambda start: totals[start + steps] - totals[start])
        yield grid.piece(start, start + steps)


def _runs(prices: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    """Yield where usable steps follow each other without a gap, as [first, end)."""
    first = 0
    for usable, run in groupby(prices, key=lambda price: price is not None):
        end = first + len(tuple(run))
        if usable:
            yield first, end
        first = end


def _split(grid: _Grid, steps: int, shortest: int) -> Iterator[Piece]:
    steps = _most_steps(grid.prices, steps, shortest)
    if not steps:
        return
    costs = _Costs.of(grid.prices, steps, shortest)
    step, left = 0, steps
    while left:
        while not costs.starts(step, left):
            step += 1
        first, step, left = step, step + shortest, left - shortest
        while costs.goes_on(step, left):
            step, left = step + 1, left - 1
        yield grid.piece(first, step)


def _most_steps(prices: Sequence[int | None], steps: int, shortest: int) -> int:
    """Return how much of `steps` can be made up of pieces; a run of usable steps gives none, or `shortest` and more."""
    reachable = 1  # bit n: some pieces make up n steps
    for first, end in _runs(prices):
        before = reachable
        for length in range(shortest, min(end - first, steps) + 1):
            reachable |= before << length
    return (reachable & ((1 << steps + 1) - 1)).bit_length() - 1


@dataclass(frozen=True, slots=True)
class _Costs:
    """The least cost of running a number of steps from a step on: rows by step, columns by the number of steps left.

    `off` holds it where nothing runs before the step, `on` where a piece that may end runs up to it. A piece weighs
    one unit and a price `_PIECES` units, so that pieces only decide between equal costs; floats hold these exactly.
    """

    prices: Sequence[float]
    shortest: int
    blocks: Sequence[float]
    off: Sequence[Sequence[float]]
    on: Sequence[Sequence[float]]

    @classmethod
    def of(cls, prices: Sequence[int | None], steps: int, shortest: int) -> _Costs:
        """Work the rows out from the last step to the first (dynamic programming)."""
        weights = [_NEVER if price is None else float(price * _PIECES) for price in prices]
        blocks = [sum(weights[step : step + shortest]) + 1 for step in range(len(prices) - shortest + 1)]
        nothing_left = [0.0, *[_NEVER] * steps]
        off, on = [nothing_left], [nothing_left]  # from the last step backwards
        for step in reversed(range(len(prices))):
            row = off[-1]
            if step < len(blocks) and blocks[step] < _NEVER:
                started = [blocks[step] + cost for cost in on[-shortest][: steps + 1 - shortest]]
                row = [*row[:shortest], *map(min, row[shortest:], started, strict=True)]
            off.append(row)
            weight = weights[step]
            on.append([0.0, *map(min, row[1:], [weight + cost for cost in on[-1][:-1]], strict=True)])
        return cls(weights, shortest, blocks, off[::-1], on[::-1])

    def starts(self, step: int, left: int) -> bool:
        """Tell whether an optimum with nothing running starts a piece at `step`."""
        if left < self.shortest or self.blocks[step] == _NEVER:
            return False
        return self.blocks[step] + self.on[step + self.shortest][left - self.shortest] == self.off[step][left]

    def goes_on(self, step: int, left: int) -> bool:
        """Tell whether an optimum with a piece running up to `step` goes on with it."""
        if not left or step == len(self.prices):
            return False
        return self.prices[step] + self.on[step + 1][left - 1] == self.on[step][left]
