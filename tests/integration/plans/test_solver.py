"""The solver against a brute force that tries everything, and by hand where a rule decides."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.plans.solver import Piece, cheapest, first_quarter
from custom_components.tunnihind.prices.timeline import HOUR_S, Period, Timeline
from tests.support.timelines import NIGHT, QUARTER_S, settled

PRICES = st.one_of(st.none(), st.sampled_from([-0.01, 0.0, 0.01, 0.010001, 0.02, 0.0301, 0.5]))


def price(hour: Period) -> float | None:
    return hour.price


def solve(
    prices: Sequence[float | None], duration_s: int, min_piece_s: int | None, *, bounds: Piece | None = None
) -> tuple[Piece, ...]:
    """Solve over hours that start at NIGHT, and return the pieces in hours after it."""
    bounds = bounds or (NIGHT, NIGHT + len(prices) * HOUR_S)
    timeline = Timeline(HOUR_S, settled(NIGHT, prices))
    pieces = cheapest(timeline, bounds, duration_s=duration_s, min_piece_s=min_piece_s, price_of=price)
    return tuple((start - NIGHT, end - NIGHT) for start, end in pieces)


def hours(*pieces: tuple[float, float]) -> tuple[Piece, ...]:
    return tuple((int(start * HOUR_S), int(end * HOUR_S)) for start, end in pieces)


def every_way(usable: Sequence[bool], shortest: int, first: int = 0) -> Iterator[tuple[Piece, ...]]:
    """Yield all sets of pieces of at least `shortest` quarters that don't touch."""
    yield ()
    for start in range(first, len(usable)):
        for end in range(start + shortest, len(usable) + 1):
            if not all(usable[start:end]):
                break
            for rest in every_way(usable, shortest, end + 1):
                yield ((start, end), *rest)


def quarters_of(pieces: Sequence[Piece]) -> list[int]:
    return [quarter for start, end in pieces for quarter in range(start, end)]


def brute_force(
    prices: Sequence[float | None], duration_s: int, min_piece_s: int | None, bounds: Piece
) -> tuple[Piece, ...]:
    """Return the best of all ways to choose quarters, by the words of the solver's docstring."""
    quarters = duration_s // QUARTER_S
    costs = [None if one is None else round(one * 1_000_000) for one in prices for _ in range(4)]
    usable = [
        cost is not None and bounds[0] <= NIGHT + place * QUARTER_S and NIGHT + (place + 1) * QUARTER_S <= bounds[1]
        for place, cost in enumerate(costs)
    ]

    def rank(pieces: tuple[Piece, ...]) -> tuple[float | list[int], ...]:
        used = quarters_of(pieces)
        return -len(used), sum(costs[quarter] or 0 for quarter in used), len(pieces), used

    ways = [
        way for way in every_way(usable, (min_piece_s or duration_s) // QUARTER_S) if len(quarters_of(way)) <= quarters
    ]
    best = min(ways, key=rank)
    return tuple((start * QUARTER_S, end * QUARTER_S) for start, end in best)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[float | None], int, int | None, Piece]:
    """Draw prices, lengths and bounds: fine ones over three hours, or whole hours over six."""
    step_s, most = draw(st.sampled_from([(QUARTER_S, 3), (2 * QUARTER_S, 4), (HOUR_S, 6)]))
    prices = draw(st.lists(PRICES, min_size=1, max_size=most))
    least = draw(st.integers(1, 4)) * step_s
    duration = least + draw(st.integers(0, 6)) * step_s
    end = NIGHT + len(prices) * HOUR_S
    bounds = draw(st.sampled_from([(NIGHT, end), (NIGHT + 1, end - 1), (NIGHT + 1000, end), (NIGHT - 700, end - 2000)]))
    return prices, duration, draw(st.sampled_from([None, least])), bounds


@settings(max_examples=300)
@given(cases())
@example(([0.01, 0.01, 0.01, 0.01], HOUR_S, HOUR_S, (NIGHT, NIGHT + 4 * HOUR_S)))
@example(([0.01, 0.5, 0.01, None, 0.0, 0.0], 3 * HOUR_S, HOUR_S, (NIGHT, NIGHT + 6 * HOUR_S)))
@example(([0.01, None, 0.01], 90 * 60, HOUR_S, (NIGHT, NIGHT + 3 * HOUR_S)))
def test_nothing_is_better_than_what_is_found(case: tuple[list[float | None], int, int | None, Piece]) -> None:
    prices, duration_s, min_piece_s, bounds = case
    found = solve(prices, duration_s, min_piece_s, bounds=bounds)
    assert found == brute_force(prices, duration_s, min_piece_s, bounds)


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.floats(-0.5, 5)), min_size=72, max_size=75), st.integers(1, 96), st.data())
def test_pieces_over_three_days_keep_every_bound(
    prices: list[float | None], quarters: int, data: st.DataObject
) -> None:
    shortest = data.draw(st.integers(1, quarters)) * QUARTER_S
    found = solve(prices, quarters * QUARTER_S, shortest)
    assert sum(end - start for start, end in found) <= quarters * QUARTER_S
    assert all(end - start >= shortest and start % QUARTER_S == 0 for start, end in found)
    assert all(one[1] < other[0] for one, other in pairwise(found))
    for start, end in found:
        assert all(prices[second // HOUR_S] is not None for second in range(start, end, QUARTER_S))


def test_one_piece_is_the_cheapest_run_of_hours() -> None:
    assert solve([0.3, 0.1, 0.2, 0.1, 0.4], 2 * HOUR_S, None) == hours((1, 3))


def test_part_hours_lean_on_the_cheaper_neighbour() -> None:
    assert solve([0.3, 0.1, 0.2], 90 * 60, None) == hours((1, 2.5))
    assert solve([0.2, 0.1, 0.3], 90 * 60, None) == hours((0.5, 2))


def test_of_equally_cheap_windows_the_earliest_is_taken() -> None:
    assert solve([0.1] * 6, 2 * HOUR_S, None) == hours((0, 2))
    assert solve([0.1] * 6, 2 * HOUR_S, HOUR_S) == hours((0, 2))


def test_sums_that_only_floats_tell_apart_are_a_tie() -> None:
    # 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1 in floats.
    assert solve([0.1, 0.2, 0.3, None, 0.3, 0.2, 0.1], 3 * HOUR_S, None) == hours((0, 3))


def test_one_piece_never_runs_over_a_gap_and_is_all_or_nothing() -> None:
    assert solve([0.1, 0.1, None, 0.3, 0.3, 0.3], 3 * HOUR_S, None) == hours((3, 6))
    assert solve([0.1, 0.1, None, 0.3, 0.3], 3 * HOUR_S, None) == ()


def test_a_split_window_takes_the_cheapest_hours_apart() -> None:
    assert solve([0.1, 0.5, 0.1, 0.5, 0.2], 3 * HOUR_S, HOUR_S) == hours((0, 1), (2, 3), (4, 5))


def test_no_piece_is_shorter_than_asked() -> None:
    assert solve([0.1, 0.5, 0.1, 0.4, 0.4], 3 * HOUR_S, 2 * HOUR_S) == hours((0, 3))


def test_of_equal_cost_fewer_pieces_are_taken() -> None:
    assert solve([0.1, 0.2, 0.1, 0.1], 2 * HOUR_S, HOUR_S) == hours((2, 4))


def test_a_millionth_of_a_euro_is_less_and_goes_before_fewer_pieces() -> None:
    assert solve([0.010001, 0.01], HOUR_S, None) == hours((1, 2))
    assert solve([0.01, 0.010001, 0.5, 0.01], 2 * HOUR_S, HOUR_S) == hours((0, 1), (3, 4))


def test_a_split_window_takes_what_there_is_where_its_duration_does_not_fit() -> None:
    assert solve([0.1, None, 0.1, 0.1], 4 * HOUR_S, HOUR_S) == hours((0, 1), (2, 4))


def test_more_time_goes_before_less_cost() -> None:
    assert solve([0.1, None, 5.0], 2 * HOUR_S, HOUR_S) == hours((0, 1), (2, 3))


def test_what_is_left_of_a_duration_is_not_a_piece_that_is_too_short() -> None:
    assert solve([0.1, None, 0.1], 90 * 60, HOUR_S) == hours((0, 1))


def test_negative_prices_are_sought() -> None:
    assert solve([0.0, -0.05, -0.01, 0.0], HOUR_S, None) == hours((1, 2))


@pytest.mark.parametrize("min_piece_s", [None, HOUR_S])
def test_nothing_is_found_where_nothing_is_known_or_no_time_is_left(min_piece_s: int | None) -> None:
    assert solve([], HOUR_S, min_piece_s) == ()
    assert solve([0.1], HOUR_S, min_piece_s, bounds=(NIGHT + HOUR_S, NIGHT)) == ()
    assert solve([0.1], HOUR_S, min_piece_s, bounds=(NIGHT + 1, NIGHT + HOUR_S)) == ()


def test_a_window_begins_with_the_first_quarter_after_the_bound() -> None:
    assert solve([0.1, 0.2], HOUR_S, None, bounds=(NIGHT + 1, NIGHT + 2 * HOUR_S)) == hours((0.25, 1.25))
    assert (first_quarter(NIGHT), first_quarter(NIGHT + 1)) == (NIGHT, NIGHT + QUARTER_S)


def test_hours_that_the_rule_refuses_are_not_used() -> None:
    pieces = cheapest(
        Timeline(HOUR_S, settled(NIGHT, [0.1, 0.2, 0.3])),
        (NIGHT, NIGHT + 3 * HOUR_S),
        duration_s=HOUR_S,
        min_piece_s=None,
        price_of=lambda hour: None if hour.price < 0.15 else hour.price,
    )
    assert pieces == ((NIGHT + HOUR_S, NIGHT + 2 * HOUR_S),)
