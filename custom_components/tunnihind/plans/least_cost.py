"""Finds for how much of the wanted time a device can run, and the cheapest steps for running that long.

Time is divided into steps of equal length. The search uses dynamic programming. Each state of the search has four
values: a step, the number of steps for which the device must still run, the number of pieces that may still start, and
whether a piece is running. The end of a piece leads to the step at which the pause after it is over. All partial
solutions in the same state have the same possible continuations, so the search keeps only the cheapest continuation of
each state.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final

# A cost is the sum of the prices of steps and starts times `_PRICE_FACTOR`, plus the number of pieces that start. The
# number of pieces is always smaller than `_PRICE_FACTOR`.
_PRICE_FACTOR: Final = 1_024
_IMPOSSIBLE: Final = math.inf

type StepPrices = tuple[int | None, ...]
"""The price of each step in millionths of a euro per kWh, or None if the step can't be used."""
type StepRange = tuple[int, int]
"""The first step of an unbroken sequence of steps, and the step after its last step."""


def usable_ranges(prices: StepPrices) -> Iterator[StepRange]:
    """Yield each unbroken sequence of steps that have a price."""
    first = 0
    for usable, steps in groupby(prices, key=lambda price: price is not None):
        end = first + len(tuple(steps))
        if usable:
            yield first, end
        first = end


def most_fillable_steps(
    prices: StepPrices,
    steps: int,
    min_piece_steps: int,
    min_pause_steps: int,
    most_pieces: int | None,
    *,
    is_piece_running: bool,
) -> int:
    """Return the largest number of steps, up to `steps`, that the pieces of a window can fill.

    At most `most_pieces` pieces may start. If `most_pieces` is None, any number of pieces may start. Each piece is at
    least `min_piece_steps` steps long, and each pause at least `min_pause_steps`. If `is_piece_running` is true, a
    piece is already running when the first step begins. The rest of this piece may be shorter than `min_piece_steps`,
    and doesn't count towards `most_pieces`.
    """
    ranges = tuple(usable_ranges(prices))
    may_start = most_pieces != 0 and not is_piece_running
    if may_start and min_piece_steps <= steps <= max((end - first for first, end in ranges), default=0):
        return steps  # in one piece
    last, mask = len(prices), (1 << steps + 1) - 1
    ends = {step: end for first, end in ranges for step in range(first, end)}
    # Bit n of `idle[i][step]` is set if starting at most i pieces can fill exactly n steps before `step` so that
    # another piece may start at `step`. Bit n of `running[i][step]` is set if a piece then runs up to `step`, and may
    # end there. If any number of pieces is allowed, i is always 0.
    limits = range(1 if most_pieces is None else most_pieces + 1)
    idle = [[0 if is_piece_running else 1, *[0] * last] for _ in limits]
    running = [[1 if is_piece_running else 0, *[0] * last] for _ in limits]
    for step in range(last + 1):
        for limit in limits:
            filled = running[limit][step] & mask
            idle[limit][min(step + min_pause_steps, last)] |= filled
            if step < last:
                idle[limit][step + 1] |= idle[limit][step]
            if step in ends:
                running[limit][step + 1] |= filled << 1
            if step + min_piece_steps <= ends.get(step, 0) and (most_pieces is None or limit):
                before = idle[limit if most_pieces is None else limit - 1][step]
                running[limit][step + min_piece_steps] |= before << min_piece_steps
    return (idle[-1][last] & mask).bit_length() - 1


@dataclass(frozen=True, slots=True)
class _CostTable:
    """The least costs of running a device, for one limit on the pieces that may still start, or without a limit.

    `while_running[step][left]` is the least cost of running for `left` more steps, at `step` or later, if a piece is
    running when `step` begins. `while_idle[step][left]` is the least cost if no piece is running then, and another
    piece may start.
    """

    while_idle: Sequence[Sequence[float]]
    while_running: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class LeastCosts:
    """The least cost of running a device, for each number of steps up to a limit.

    A cost is the sum of the prices of steps and starts times 1,024, plus the number of pieces that start, so the number
    of pieces matters only between solutions with equal sums of prices. All finite costs are whole numbers that a float
    represents exactly. `step_costs[step]` is the cost of running during `step`, without a start. `start_costs[step]` is
    the cost of starting a piece at `step` and running for `min_piece_steps` steps. `tables` contains one table for each
    number of pieces that may still start, or only one table if any number of pieces is allowed.
    """

    step_costs: Sequence[float]
    min_piece_steps: int
    min_pause_steps: int
    max_pause_steps: int | None
    start_costs: Sequence[float]
    tables: Sequence[_CostTable]

    @classmethod
    def compute(
        cls,
        prices: StepPrices,
        steps: int,
        min_piece_steps: int,
        min_pause_steps: int,
        most_pieces: int | None,
        *,
        max_pause_steps: int | None = None,
        earliest_end: int = 0,
        start_price: int = 0,
    ) -> LeastCosts:
        """For each number of steps from 0 to `steps`, compute the least cost of running a device for that time.

        Each start counts as `start_price`, in the unit of a step's price. If `max_pause_steps` is None, a pause may
        have any length. The last piece ends at the step `earliest_end` or later.
        """
        step_costs = [_IMPOSSIBLE if price is None else float(price * _PRICE_FACTOR) for price in prices]
        starts = range(len(prices) - min_piece_steps + 1) if min_piece_steps <= steps else ()
        start_cost = start_price * _PRICE_FACTOR + 1
        start_costs = [sum(step_costs[step : step + min_piece_steps]) + start_cost for step in starts]
        table = partial(_cost_table, step_costs, steps, min_piece_steps, min_pause_steps, max_pause_steps, earliest_end)
        tables = [table(start_costs if most_pieces is None else [])]
        for _ in range(most_pieces or 0):
            tables.append(table(start_costs, table_after_start=tables[-1]))
        return cls(step_costs, min_piece_steps, min_pause_steps, max_pause_steps, start_costs, tables)

    def can_run_within_cost(self, limit: int, step: int, left: int) -> bool:
        """Return whether the device can run for `left` steps, at `step` or later, within a limit.

        The sum of the prices of the `left` steps and of the starts must be at most `limit`.
        """
        return self.tables[-1].while_idle[step][left] < (limit + 1) * _PRICE_FACTOR

    def least_price_sum_and_piece_count(self, left: int) -> tuple[int, int]:
        """Return the least sum of prices for `left` steps, and the least number of pieces with this sum.

        Raises OverflowError if no solution has `left` steps.
        """
        return divmod(int(self.tables[-1].while_idle[0][left]), _PRICE_FACTOR)

    def best_steps(self, allowed: range, worth: int, *, is_piece_running: bool) -> int:
        """Return the number of steps, among those `allowed`, that has the least cost less `worth` for each step.

        Among equally good numbers, the largest is returned. `worth` has the unit of a step's price. If
        `is_piece_running` is true, a piece is already running when the first step begins.
        """
        table = self.tables[-1]
        costs = (table.while_running if is_piece_running else table.while_idle)[0]
        possible = [steps for steps in allowed if costs[steps] < _IMPOSSIBLE]
        return min(possible, key=lambda steps: (costs[steps] // _PRICE_FACTOR - worth * steps, -steps))

    def earliest_start(self, steps: int) -> float:
        """Return the first step at which the device can start to run for `steps` steps, or infinity."""
        costs = self._costs_by_start(0, steps, len(self.tables) - 1)
        return next((start for start, cost in costs.items() if cost < _IMPOSSIBLE), math.inf)

    def can_go_on(self, steps: int) -> bool:
        """Return whether the device can run for `steps` steps if a piece is running when the first step begins."""
        return self.tables[-1].while_running[0][steps] < _IMPOSSIBLE

    def pieces(self, left: int, *, is_piece_running: bool, latest_start: int | None = None) -> Iterator[StepRange]:
        """Yield the pieces of the cheapest solution with `left` steps in total.

        The first piece starts at the step `latest_start` or earlier, or as early as possible if that can't be.
        Among equally cheap solutions, fewer pieces are preferred. If two such solutions have equally many pieces,
        earlier steps are preferred. If `is_piece_running` is true, a piece is already running when the first step
        begins.
        """
        step, table = 0, len(self.tables) - 1
        first, latest = (step if is_piece_running else None), latest_start
        while left or first is not None:
            if first is None:
                first = self._cheapest_start(step, latest, left, table)
                step, left = first + self.min_piece_steps, left - self.min_piece_steps
                table = self._table_index_after_start(table)
            while self._may_continue_piece(step, left, table):
                step, left = step + 1, left - 1
            if step > first:
                yield first, step
            latest = None if self.max_pause_steps is None else step + self.max_pause_steps
            first, step = None, step + self.min_pause_steps

    def _table_index_after_start(self, table: int) -> int:
        return table if len(self.tables) == 1 else table - 1

    def _cheapest_start(self, step: int, latest: int | None, left: int, table: int) -> int:
        """Return the cheapest start from `step` to `latest`, or the earliest start if there is none in this time."""
        costs = self._costs_by_start(step, left, table)
        possible = [start for start, cost in costs.items() if cost < _IMPOSSIBLE]
        in_time = [start for start in possible if latest is None or start <= latest]
        return min(in_time or possible[:1], key=costs.__getitem__)

    def _costs_by_start(self, step: int, left: int, table: int) -> dict[int, float]:
        """Return the least cost for `left` steps by the next start, from `step` on."""
        while_running = self.tables[self._table_index_after_start(table)].while_running
        return {
            start: self.start_costs[start] + while_running[start + self.min_piece_steps][left - self.min_piece_steps]
            for start in range(step, len(self.start_costs))
        }

    def _may_continue_piece(self, step: int, left: int, table: int) -> bool:
        """Return whether a cheapest solution continues a piece that runs up to `step`."""
        if not left or step == len(self.step_costs):
            return False
        while_running = self.tables[table].while_running
        return self.step_costs[step] + while_running[step + 1][left - 1] == while_running[step][left]


def _cost_table(
    step_costs: Sequence[float],
    steps: int,
    min_piece_steps: int,
    min_pause_steps: int,
    max_pause_steps: int | None,
    earliest_end: int,
    start_costs: Sequence[float],
    *,
    table_after_start: _CostTable | None = None,
) -> _CostTable:
    """Compute a table of least costs, from the last step to the first.

    `table_after_start` applies after a piece has started, and allows one piece fewer. It is None if the number of
    pieces is unlimited, or if no further piece may start.
    """
    last = len(step_costs)
    nothing_left = [0.0, *[_IMPOSSIBLE] * steps]
    # The rows are in reverse order: the first row is for the time after the last step.
    while_idle, while_running = [nothing_left], [[0.0 if last >= earliest_end else _IMPOSSIBLE, *nothing_left[1:]]]
    after_start = while_running if table_after_start is None else table_after_start.while_running[::-1]
    # The least costs if a piece starts at the step. Steps at which no piece can start are left out.
    started: dict[int, list[float]] = {}
    for step in reversed(range(last)):
        row = while_idle[-1]
        if step < len(start_costs) and start_costs[step] < _IMPOSSIBLE:
            start_cost = start_costs[step]
            after = after_start[last - step - min_piece_steps][: steps + 1 - min_piece_steps]
            started[step] = [*[_IMPOSSIBLE] * min_piece_steps, *(start_cost + cost for cost in after)]
            row = [*map(min, row, started[step], strict=True)]
        while_idle.append(row)
        after_pause = while_idle[max(last - step - min_pause_steps, 0)]
        if max_pause_steps is not None:
            in_time = range(step + min_pause_steps, min(step + max_pause_steps + 1, last))
            rows = [started[start] for start in in_time if start in started]
            after_pause = [*map(min, nothing_left, *rows, strict=True)] if rows else nothing_left
        step_cost = step_costs[step]
        nothing = 0.0 if step >= earliest_end else _IMPOSSIBLE
        while_running.append(
            [nothing, *map(min, after_pause[1:], [step_cost + cost for cost in while_running[-1][:-1]], strict=True)]
        )
    return _CostTable(while_idle[::-1], while_running[::-1])
