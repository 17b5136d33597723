"""The solver, compared with a search of all solutions, and with solutions by hand for each rule."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.solver import Job, Piece, cheapest_pieces, round_up_to_quarter, usable_pieces
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, settled

PRICES = st.one_of(st.none(), st.sampled_from([-0.01, 0.0, 0.01, 0.010001, 0.02, 0.0301, 0.5]))


def price(hour: Period) -> float | None:
    return hour.price


def whole(prices: Sequence[float | None]) -> Piece:
    return NIGHT, NIGHT + len(prices) * HOUR_S


def since_night(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    return tuple((start - NIGHT, end - NIGHT) for start, end in pieces)


def solve(
    prices: Sequence[float | None],
    duration_s: int,
    min_piece_s: int | None,
    *,
    bounds: Piece | None = None,
    min_pause_s: int = 0,
    most_pieces: int | None = None,
    tolerance: float = 0.0,
    prefer_latest: bool = False,
    is_piece_running: bool = False,
    start_cost: float = 0.0,
    max_pause_s: int | None = None,
    latest_start: int | None = None,
    earliest_end: int | None = None,
    more_below: float | None = None,
) -> tuple[Piece, ...]:
    """Solve over hours that start at NIGHT, and return the pieces in seconds after it. The span is all these hours."""
    timeline = Timeline(HOUR_S, settled(NIGHT, prices))
    job = Job(
        duration_s=duration_s,
        min_piece_s=min_piece_s,
        min_pause_s=min_pause_s,
        most_pieces=most_pieces,
        tolerance=tolerance,
        prefer_latest=prefer_latest,
        start_cost=start_cost,
        max_pause_s=max_pause_s,
        latest_start=latest_start,
        earliest_end=earliest_end,
        more_below=more_below,
    )
    return since_night(
        cheapest_pieces(
            timeline, bounds or whole(prices), job, price, span_opens=NIGHT, is_piece_running=is_piece_running
        )
    )


def hours(*pieces: tuple[float, float]) -> tuple[Piece, ...]:
    return tuple((int(start * HOUR_S), int(end * HOUR_S)) for start, end in pieces)


def every_way(usable: Sequence[bool], shortest: int, pause: int, first: int = 0) -> Iterator[tuple[Piece, ...]]:
    """Yield all sets of pieces of at least `shortest` quarters that don't touch, with pauses of at least `pause`."""
    yield ()
    for start in range(first, len(usable)):
        for end in range(start + shortest, len(usable) + 1):
            if not all(usable[start:end]):
                break
            for rest in every_way(usable, shortest, pause, end + max(pause, 1)):
                yield ((start, end), *rest)


def every_way_on(usable: Sequence[bool], shortest: int, pause: int, first: int) -> Iterator[tuple[Piece, ...]]:
    """Yield the sets after a piece that runs up to the quarter `first`, and goes on or not."""
    yield from every_way(usable, shortest, pause, first + pause)
    for end in range(first + 1, len(usable) + 1):
        if not all(usable[first:end]):
            break
        yield from (((first, end), *rest) for rest in every_way(usable, shortest, pause, end + max(pause, 1)))


def quarters_of(pieces: Sequence[Piece]) -> list[int]:
    return [quarter for start, end in pieces for quarter in range(start, end)]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A job over hours from NIGHT on, with `bounds` for the rest of the span."""

    prices: Sequence[float | None]
    duration_s: int
    min_piece_s: int | None
    bounds: Piece
    min_pause_s: int = 0
    most_pieces: int | None = None
    tolerance: float = 0.0
    prefer_latest: bool = False
    is_piece_running: bool = False
    start_cost: float = 0.0
    max_pause_s: int | None = None
    latest_start: int | None = None
    earliest_end: int | None = None
    more_below: float | None = None

    @property
    def costs(self) -> list[int | None]:
        return [None if one is None else round(one * 1_000_000) for one in self.prices for _ in range(4)]

    def solved(self) -> tuple[Piece, ...]:
        return solve(**{name: getattr(self, name) for name in Case.__dataclass_fields__})

    def ways(self, bounds: Piece) -> Iterator[tuple[Piece, ...]]:
        """Yield all possible runs within the bounds, in quarters after NIGHT."""
        places = range(len(self.costs))
        usable = [
            self.costs[place] is not None
            and bounds[0] <= NIGHT + place * QUARTER_S
            and NIGHT + (place + 1) * QUARTER_S <= bounds[1]
            for place in places
        ]
        shortest = (self.min_piece_s or self.duration_s) // QUARTER_S
        pause = self.min_pause_s // QUARTER_S
        begins = -(-(bounds[0] - NIGHT) // QUARTER_S)
        on = self.is_piece_running
        for way in every_way_on(usable, shortest, pause, begins) if on else every_way(usable, shortest, pause):
            continued = bool(on and way and way[0][0] == begins)
            used = len(quarters_of(way))
            enough = self.most_pieces is None or len(way) - continued <= self.most_pieces
            short = self.more_below is not None or used <= self.duration_s // QUARTER_S
            if enough and short and (self.min_piece_s or not used or len(way) == 1):
                yield way

    def with_longest_pause(self, ways: list[tuple[Piece, ...]]) -> list[tuple[Piece, ...]]:
        if self.max_pause_s is None or not ways[0]:
            return ways
        longest, begins = self.max_pause_s // QUARTER_S, -(-(self.bounds[0] - NIGHT) // QUARTER_S)
        runs_on = self.is_piece_running and begins < len(self.costs) and self.costs[begins] is not None
        edges = ((begins, begins),) if runs_on else ()
        close = [way for way in ways if all(b[0] - a[1] <= longest for a, b in pairwise((*edges, *way)))]
        until = -math.inf if self.earliest_end is None else (self.earliest_end - NIGHT) // QUARTER_S
        to_the_end = [way for way in close if way[-1][1] >= until]
        if runs_on:
            return to_the_end or close or ways
        soonest = min(way[0][0] for way in ways)
        latest = math.inf if self.latest_start is None else max((self.latest_start - NIGHT) // QUARTER_S, soonest)
        in_time = ([way for way in group if way[0][0] <= latest] for group in (to_the_end, close, ways))
        return next(filter(None, in_time))

    def starts(self, way: Sequence[Piece]) -> int:
        begins = -(-(self.bounds[0] - NIGHT) // QUARTER_S)
        return len(way) - (self.is_piece_running and bool(way) and way[0][0] == begins)

    def cost(self, way: Sequence[Piece]) -> int:
        """Return the cost of a device of 4 kW, which uses a kilowatt-hour in a quarter."""
        starts = self.starts(way) * round(self.start_cost * 4 * 1_000_000) if self.min_piece_s else 0
        return starts + sum(self.costs[quarter] or 0 for quarter in quarters_of(way))

    def brute_force(self) -> tuple[Piece, ...]:
        """Return the best of all ways to choose quarters, by the words of the solver's docstring."""
        ways = list(self.ways(self.bounds))
        most = max(len(quarters_of(way)) for way in ways)
        least = most if self.more_below is None else min(most, self.duration_s // QUARTER_S)
        ways = self.with_longest_pause([way for way in ways if len(quarters_of(way)) >= least])
        if self.tolerance and most:
            span = [way for way in self.ways((NIGHT, self.bounds[1])) if len(quarters_of(way)) == most]
            near_enough = min(self.cost(way) for way in span) + round(self.tolerance * 1_000_000) * most
            near = [way for way in ways if self.cost(way) <= near_enough]
            if near and self.prefer_latest:
                ways = [way for way in near if way[0][0] == max(other[0][0] for other in near)]
            elif near:
                ways = [way for way in near if way[-1][1] == min(other[-1][1] for other in near)]
        best = min(ways, key=self.rank)
        return tuple((start * QUARTER_S, end * QUARTER_S) for start, end in best)

    def rank(self, way: tuple[Piece, ...]) -> tuple[int, int, int, list[int]]:
        used = quarters_of(way)
        order = [-quarter for quarter in reversed(used)] if self.prefer_latest else used
        worth = round((self.more_below or 0) * 1_000_000) * len(used)
        return self.cost(way) - worth, -len(used), self.starts(way), order


@st.composite
def cases(draw: st.DrawFn, *, in_pieces: bool = False) -> Case:
    """Draw prices, lengths and bounds: fine ones over three hours, or whole hours over six.

    With more and finer ones, a case has millions of ways.
    """
    step_s, most = draw(st.sampled_from([(QUARTER_S, 3), (2 * QUARTER_S, 4), (HOUR_S, 6)]))
    prices = draw(st.lists(PRICES, min_size=1, max_size=most))
    least = draw(st.integers(1, 4)) * step_s
    end = NIGHT + len(prices) * HOUR_S
    bounds = [(NIGHT, end), (NIGHT + 1, end - 1), (NIGHT + 1000, end), (NIGHT - 700, end - 2000), (NIGHT + 5000, end)]
    return Case(
        prices=prices,
        duration_s=least + draw(st.integers(0, 6)) * step_s,
        min_piece_s=least if in_pieces else draw(st.sampled_from([None, least])),
        bounds=draw(st.sampled_from(bounds)),
        min_pause_s=draw(st.sampled_from([0, 0, 1, 2, 3, 5])) * step_s,
    )


@settings(max_examples=300)
@given(cases())
@example(Case(prices=[0.01] * 4, duration_s=HOUR_S, min_piece_s=HOUR_S, bounds=(NIGHT, NIGHT + 4 * HOUR_S)))
@example(
    Case(
        prices=[0.01, 0.5, 0.01, None, 0.0, 0.0],
        duration_s=3 * HOUR_S,
        min_piece_s=HOUR_S,
        bounds=(NIGHT, NIGHT + 6 * HOUR_S),
    )
)
@example(Case(prices=[0.01, None, 0.01], duration_s=90 * 60, min_piece_s=HOUR_S, bounds=(NIGHT, NIGHT + 3 * HOUR_S)))
def test_no_solution_is_better_than_the_one_found(case: Case) -> None:
    assert case.solved() == case.brute_force()


@settings(max_examples=300)
@given(cases(in_pieces=True), st.integers(0, 3), st.booleans())
def test_no_solution_with_so_few_starts_is_better(case: Case, most_pieces: int, is_piece_running: bool) -> None:
    case = replace(case, most_pieces=most_pieces, is_piece_running=is_piece_running)
    assert case.solved() == case.brute_force()


@settings(max_examples=400)
@given(
    cases(in_pieces=True),
    st.sampled_from([0.001, 0.0025, 0.01, 0.2]),
    st.sampled_from([None, 2]),
    st.sampled_from([0.0, 0.0, 0.004]),
    st.booleans(),
)
def test_no_solution_is_better_if_starts_have_a_cost(
    case: Case, start_cost: float, most_pieces: int | None, tolerance: float, is_piece_running: bool
) -> None:
    case = replace(case, start_cost=start_cost, most_pieces=most_pieces, tolerance=tolerance)
    assert case.solved() == case.brute_force()
    continued = replace(case, is_piece_running=is_piece_running, tolerance=0.0)
    assert continued.solved() == continued.brute_force()


@settings(max_examples=800)
@given(
    cases(),
    st.integers(1, 12),
    st.sampled_from([None, 2]),
    st.one_of(st.none(), st.integers(-24, 24)),
    st.one_of(st.none(), st.integers(-4, 24)),
    st.booleans(),
)
def test_no_solution_with_so_short_pauses_is_better(
    case: Case, longest: int, most_pieces: int | None, latest: int | None, end: int | None, is_piece_running: bool
) -> None:
    pause_s = max(longest * QUARTER_S, case.min_pause_s)
    split: dict[str, Any] = (
        {"most_pieces": most_pieces, "is_piece_running": is_piece_running} if case.min_piece_s else {}
    )
    bounds: dict[str, Any] = {
        name: NIGHT + at * QUARTER_S for name, at in (("latest_start", latest), ("earliest_end", end)) if at is not None
    }
    case = replace(case, max_pause_s=pause_s, **bounds, **split)
    assert case.solved() == case.brute_force()


@settings(max_examples=1000)
@given(
    cases(),
    st.sampled_from([-0.01, 0.0, 0.005, 0.01, 0.0301, 0.1]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([0.0, 0.0, 0.0025]),
    st.booleans(),
    st.booleans(),
)
def test_no_solution_with_more_cheap_hours_is_better(
    case: Case, more_below: float, most_pieces: int | None, start_cost: float, runs_on: bool, is_need_met: bool
) -> None:
    if case.min_piece_s is not None:
        case = replace(case, most_pieces=most_pieces, start_cost=start_cost, is_piece_running=runs_on)
        case = replace(case, duration_s=0) if is_need_met else case
    case = replace(case, more_below=more_below)
    assert case.solved() == case.brute_force()


def test_all_hours_at_or_below_a_price_come_on_top_of_the_cheapest() -> None:
    day = [0.05, 0.02, 0.09, 0.03, 0.08, 0.04]
    assert solve(day, 2 * HOUR_S, HOUR_S, more_below=0.01) == hours((1, 2), (3, 4))
    assert solve(day, 2 * HOUR_S, HOUR_S, more_below=0.04) == hours((1, 2), (3, 4), (5, 6))
    # A start must be worth its cost too.
    assert solve(day, 2 * HOUR_S, HOUR_S, more_below=0.04, start_cost=0.001) == hours((1, 2), (3, 4))
    # In one go, an hour above the price may lead to cheaper ones.
    assert solve(day, 2 * HOUR_S, None, more_below=0.04) == hours((0, 2))
    assert solve(day, 2 * HOUR_S, None, more_below=0.06) == hours((0, 6))


def test_a_boiler_never_waits_longer_than_its_longest_pause() -> None:
    day = [0.05, 0.01, 0.05, 0.05, 0.04, 0.05, 0.05, 0.01]
    assert solve(day, 2 * HOUR_S, HOUR_S) == hours((1, 2), (7, 8))
    assert solve(day, 2 * HOUR_S, HOUR_S, max_pause_s=5 * HOUR_S) == hours((1, 2), (7, 8))
    assert solve(day, 2 * HOUR_S, HOUR_S, max_pause_s=3 * HOUR_S) == hours((1, 2), (4, 5))
    # The last window ended an hour before the day.
    assert solve(day, HOUR_S, None, max_pause_s=3 * HOUR_S, latest_start=NIGHT) == hours((0, 1))
    assert solve(day, HOUR_S, None, max_pause_s=9 * HOUR_S, latest_start=NIGHT + HOUR_S) == hours((1, 2))
    # The window ends late enough for the next day.
    assert solve(day, HOUR_S, None, max_pause_s=3 * HOUR_S, earliest_end=NIGHT + 5 * HOUR_S) == hours((7, 8))


def test_an_extra_start_must_save_its_cost() -> None:
    night = [0.01, 0.03, 0.01, 0.5]
    # Two starts save 2 cents for a device of 1 kW.
    assert solve(night, 2 * HOUR_S, HOUR_S, start_cost=0.0199) == hours((0, 1), (2, 3))
    assert solve(night, 2 * HOUR_S, HOUR_S, start_cost=0.0201) == hours((0, 2))


@settings(max_examples=400)
@given(cases(), st.sampled_from([0.0, 0.001, 0.005, 0.01, 0.05, 1.0]), st.booleans(), st.sampled_from([None, 1, 2]))
def test_no_earlier_or_later_solution_is_nearly_as_cheap(
    case: Case, tolerance: float, prefer_latest: bool, most_pieces: int | None
) -> None:
    most_pieces = None if case.min_piece_s is None else most_pieces
    case = replace(case, tolerance=tolerance, prefer_latest=prefer_latest, most_pieces=most_pieces)
    assert case.solved() == case.brute_force()


@settings(max_examples=200)
@given(cases(in_pieces=True), st.booleans())
def test_all_usable_time_is_used(case: Case, is_piece_running: bool) -> None:
    assert case.min_piece_s is not None
    everything = replace(case, duration_s=DAY_S, is_piece_running=is_piece_running)
    timeline = Timeline(HOUR_S, settled(NIGHT, case.prices))
    found = usable_pieces(
        timeline, case.bounds, case.min_piece_s, price, min_pause_s=case.min_pause_s, is_piece_running=is_piece_running
    )
    assert since_night(found) == everything.solved()


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.floats(-0.5, 5)), min_size=72, max_size=75), st.integers(1, 96), st.data())
def test_pieces_over_three_days_keep_every_bound(
    prices: list[float | None], quarters: int, data: st.DataObject
) -> None:
    shortest = data.draw(st.integers(1, quarters)) * QUARTER_S
    pause = data.draw(st.integers(0, 12)) * QUARTER_S
    found = solve(prices, quarters * QUARTER_S, shortest, min_pause_s=pause)
    assert sum(end - start for start, end in found) <= quarters * QUARTER_S
    assert all(end - start >= shortest and start % QUARTER_S == 0 for start, end in found)
    assert all(max(pause, QUARTER_S) <= other[0] - one[1] for one, other in pairwise(found))
    for start, end in found:
        assert all(prices[second // HOUR_S] is not None for second in range(start, end, QUARTER_S))


@pytest.mark.parametrize(
    ("prices", "duration_s", "min_piece_s", "more", "expected"),
    [
        pytest.param(
            [0.3, 0.1, 0.2, 0.1, 0.4], 2 * HOUR_S, None, {}, hours((1, 3)), id="one piece is the cheapest run of hours"
        ),
        pytest.param(
            [0.3, 0.1, 0.2], 90 * 60, None, {}, hours((1, 2.5)), id="part hours lean on the cheaper neighbour after"
        ),
        pytest.param(
            [0.2, 0.1, 0.3], 90 * 60, None, {}, hours((0.5, 2)), id="part hours lean on the cheaper neighbour before"
        ),
        pytest.param(
            [0.1] * 6, 2 * HOUR_S, None, {}, hours((0, 2)), id="among equally cheap windows the earliest is taken"
        ),
        pytest.param(
            [0.1] * 6,
            2 * HOUR_S,
            HOUR_S,
            {},
            hours((0, 2)),
            id="among equally cheap split windows the earliest is taken",
        ),
        pytest.param(
            [0.1, 0.2, 0.3, None, 0.3, 0.2, 0.1],
            3 * HOUR_S,
            None,
            {},
            hours((0, 3)),
            id="sums that differ only by the rounding of floats are a tie",
        ),
        pytest.param(
            [0.1, 0.1, None, 0.3, 0.3, 0.3], 3 * HOUR_S, None, {}, hours((3, 6)), id="one piece never runs over a gap"
        ),
        pytest.param([0.1, 0.1, None, 0.3, 0.3], 3 * HOUR_S, None, {}, (), id="one piece is all or nothing"),
        pytest.param(
            [0.1, 0.5, 0.1, 0.5, 0.2],
            3 * HOUR_S,
            HOUR_S,
            {},
            hours((0, 1), (2, 3), (4, 5)),
            id="a split window takes the cheapest hours apart",
        ),
        pytest.param(
            [0.1, 0.5, 0.1, 0.4, 0.4], 3 * HOUR_S, 2 * HOUR_S, {}, hours((0, 3)), id="no piece is shorter than asked"
        ),
        pytest.param(
            [0.1, 0.5, 0.1, 0.5, 0.5, 0.2],
            2 * HOUR_S,
            HOUR_S,
            {"min_pause_s": HOUR_S},
            hours((0, 1), (2, 3)),
            id="a pause may be as short as asked",
        ),
        pytest.param(
            [0.1, 0.5, 0.1, 0.5, 0.5, 0.2],
            2 * HOUR_S,
            HOUR_S,
            {"min_pause_s": 90 * 60},
            hours((0, 1), (5, 6)),
            id="no pause is shorter than asked",
        ),
        pytest.param(
            [0.1, 0.5, 0.1, 0.5, 0.5, 0.2],
            2 * HOUR_S,
            HOUR_S,
            {"min_pause_s": 5 * HOUR_S},
            hours((0, 2)),
            id="without room for a pause there is one piece",
        ),
        pytest.param(
            [0.1, None, 0.1],
            2 * HOUR_S,
            HOUR_S,
            {"min_pause_s": HOUR_S},
            hours((0, 1), (2, 3)),
            id="time that can not be used is a pause",
        ),
        pytest.param(
            [0.1, None, 0.2, 0.2],
            3 * HOUR_S,
            HOUR_S,
            {"min_pause_s": 2 * HOUR_S},
            hours((0, 1), (3, 4)),
            id="time that can not be used is part of a pause",
        ),
        pytest.param(
            [0.1, 0.2, 0.1, 0.1], 2 * HOUR_S, HOUR_S, {}, hours((2, 4)), id="at equal cost fewer pieces are taken"
        ),
        pytest.param([0.010001, 0.01], HOUR_S, None, {}, hours((1, 2)), id="a millionth of a euro is less"),
        pytest.param(
            [0.01, 0.010001, 0.5, 0.01],
            2 * HOUR_S,
            HOUR_S,
            {},
            hours((0, 1), (3, 4)),
            id="a millionth of a euro goes before fewer pieces",
        ),
        pytest.param(
            [0.1, None, 0.1, 0.1],
            4 * HOUR_S,
            HOUR_S,
            {},
            hours((0, 1), (2, 4)),
            id="a split window takes all usable time if its duration does not fit",
        ),
        pytest.param(
            [0.1, None, 5.0], 2 * HOUR_S, HOUR_S, {}, hours((0, 1), (2, 3)), id="more time goes before less cost"
        ),
        pytest.param(
            [0.1, None, 0.1],
            90 * 60,
            HOUR_S,
            {},
            hours((0, 1)),
            id="the rest of a duration never makes a piece that is too short",
        ),
        pytest.param([0.0, -0.05, -0.01, 0.0], HOUR_S, None, {}, hours((1, 2)), id="negative prices are sought"),
        pytest.param(
            [0.1, 0.2],
            HOUR_S,
            None,
            {"bounds": (NIGHT + 1, NIGHT + 2 * HOUR_S)},
            hours((0.25, 1.25)),
            id="a window begins with the first quarter after the bound",
        ),
    ],
)
def test_by_hand(
    prices: list[float | None],
    duration_s: int,
    min_piece_s: int | None,
    more: dict[str, Any],
    expected: tuple[Piece, ...],
) -> None:
    assert solve(prices, duration_s, min_piece_s, **more) == expected


def test_the_pause_after_a_running_piece_counts_from_its_end() -> None:
    for first, expected in ((0.5, (2, 3)), (None, (2, 3)), (0.1, (0, 1))):
        prices = [first, 0.1, 0.2, 0.3]
        found = solve(prices, HOUR_S, HOUR_S, min_pause_s=2 * HOUR_S, is_piece_running=True)
        assert found == hours(expected)


@pytest.mark.parametrize("min_piece_s", [None, HOUR_S])
def test_without_prices_or_time_there_is_no_window(min_piece_s: int | None) -> None:
    assert solve([], HOUR_S, min_piece_s) == ()
    assert solve([0.1], HOUR_S, min_piece_s, bounds=(NIGHT + HOUR_S, NIGHT)) == ()
    assert solve([0.1], HOUR_S, min_piece_s, bounds=(NIGHT + 1, NIGHT + HOUR_S)) == ()


def test_an_instant_is_rounded_up_to_a_quarter() -> None:
    assert (round_up_to_quarter(NIGHT), round_up_to_quarter(NIGHT + 1)) == (NIGHT, NIGHT + QUARTER_S)


def test_hours_that_the_rule_refuses_are_not_used() -> None:
    pieces = cheapest_pieces(
        Timeline(HOUR_S, settled(NIGHT, [0.1, 0.2, 0.3])),
        (NIGHT, NIGHT + 3 * HOUR_S),
        Job(duration_s=HOUR_S),
        lambda hour: None if hour.price < 0.15 else hour.price,
    )
    assert pieces == ((NIGHT + HOUR_S, NIGHT + 2 * HOUR_S),)
