"""The joint choice of steps, compared with a search of all choices, and with an integer program for longer times."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from random import Random
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from custom_components.tunnihind.plans.together import StepJob, Steps, chosen_together

type Value = tuple[tuple[int, ...], int]
"""The unmet steps of each job, and the cost of all."""


def starts_of(job: StepJob, steps: Steps) -> int | None:
    """Return how many pieces start if the job runs in these steps, or None if it must not, by `StepJob`'s words."""
    pieces = [[step for _, step in piece] for _, piece in groupby(enumerate(steps), lambda item: item[1] - item[0])]
    starts, ran_until = 0, job.running_until
    for piece in pieces:
        if piece[0] < (job.running_until or 0):
            return None
        if piece[0] != job.running_until:
            starts += 1
            has_paused = ran_until is None or piece[0] - ran_until >= max(job.min_pause, 1)
            if not has_paused or len(piece) < job.min_piece:
                return None
        ran_until = piece[-1] + 1
    is_allowed = len(steps) <= job.steps and all(job.costs[step] is not None for step in steps)
    return starts if is_allowed and starts <= (math.inf if job.most_pieces is None else job.most_pieces) else None


def cost_of(job: StepJob, steps: Steps) -> int:
    return sum(job.costs[step] or 0 for step in steps) + (starts_of(job, steps) or 0) * job.start_cost


def value_of(jobs: Sequence[StepJob], runs: Sequence[Steps]) -> Value:
    pairs = list(zip(jobs, runs, strict=True))
    return tuple(job.steps - len(steps) for job, steps in pairs), sum(cost_of(*pair) for pair in pairs)


def fits(jobs: Sequence[StepJob], room: Sequence[int], runs: Sequence[Steps]) -> bool:
    return all(
        sum(job.power for job, steps in zip(jobs, runs, strict=True) if step in steps) <= most
        for step, most in enumerate(room)
    )


def ways_of(job: StepJob) -> Iterator[Steps]:
    for runs in product((True, False), repeat=len(job.costs)):
        steps = tuple(step for step, is_on in enumerate(runs) if is_on)
        if starts_of(job, steps) is not None:
            yield steps


def best_of_all(jobs: Sequence[StepJob], room: Sequence[int]) -> Value:
    ways = product(*(list(ways_of(job)) for job in jobs))
    return min(value_of(jobs, runs) for runs in ways if fits(jobs, room, runs))


@st.composite
def homes(draw: st.DrawFn) -> tuple[tuple[StepJob, ...], tuple[int, ...]]:
    """Draw up to four jobs with equal prices, and the room in each step. With more steps, there are too many ways."""
    count = draw(st.integers(1, 4))
    length = draw(st.integers(1, {1: 8, 2: 8, 3: 6, 4: 4}[count]))
    prices = draw(st.lists(st.sampled_from([-3, 0, 1, 2, 3, 10, 10]), min_size=length, max_size=length))
    jobs = []
    for _ in range(count):
        power, least = draw(st.integers(1, 4)), draw(st.integers(1, 3))
        usable = draw(st.lists(st.sampled_from([True] * 6 + [False]), min_size=length, max_size=length))
        jobs.append(
            StepJob(
                costs=tuple(
                    price * power if is_usable else None for price, is_usable in zip(prices, usable, strict=True)
                ),
                steps=max(least, draw(st.integers(0, length))),
                power=power,
                min_piece=least,
                min_pause=draw(st.sampled_from([0, 0, 1, 2, 3])),
                most_pieces=draw(st.sampled_from([None, None, 0, 1, 2])),
                start_cost=draw(st.sampled_from([0, 0, 1, 5])),
                running_until=draw(st.sampled_from([None, None, 0, min(1, length), min(2, length)])),
            )
        )
    limit = draw(st.integers(1, 8))
    room = draw(st.lists(st.sampled_from([limit] * 3 + [limit - 1, 0]), min_size=length, max_size=length))
    return tuple(jobs), tuple(room)


@settings(max_examples=1_200)
@given(homes())
def test_no_choice_is_better_than_the_one_found(home: tuple[tuple[StepJob, ...], tuple[int, ...]]) -> None:
    jobs, room = home
    choice = chosen_together(jobs, room)
    assert choice.is_best
    assert fits(jobs, room, choice.runs)
    assert all(starts_of(job, steps) is not None for job, steps in zip(jobs, choice.runs, strict=True))
    assert value_of(jobs, choice.runs) == best_of_all(jobs, room)
    chosen_together.cache_clear()
    assert chosen_together(jobs, room) == choice


def best_by_program(jobs: Sequence[StepJob], room: Sequence[int]) -> Value:
    """Return the best value by an integer program with a variable for each step and for each start of a job."""
    length = len(room)
    size = 2 * len(jobs) * length
    rows: list[tuple[dict[int, int], int]] = []
    upper = np.ones(size)
    costs = np.zeros(size)
    for number, job in enumerate(jobs):
        on, start = 2 * number * length, (2 * number + 1) * length
        rows.append(({on + step: 1 for step in range(length)}, job.steps))
        if job.most_pieces is not None:
            rows.append(({start + step: 1 for step in range(length)}, job.most_pieces))
        for step in range(length):
            cost = job.costs[step]
            is_before = step < (job.running_until or 0)
            upper[on + step] = cost is not None and not is_before
            costs[on + step], costs[start + step] = cost or 0, job.start_cost
            may_go_on = job.running_until == step
            rows.append(({on + step: 1, start + step: -1, **({on + step - 1: -1} if step else {})}, int(may_go_on)))
            pause = max(job.min_pause, 1)
            if job.running_until is not None and step < job.running_until + pause:
                upper[start + step] = 0
            rows.extend(({start + step: 1, on + before: 1}, 1) for before in range(max(step - pause, 0), step))
            if step + job.min_piece > length:
                upper[start + step] = 0
            else:
                rows.extend(({start + step: 1, on + step + later: -1}, 0) for later in range(job.min_piece))
    rows.extend(
        ({2 * number * length + step: job.power for number, job in enumerate(jobs)}, most)
        for step, most in enumerate(room)
    )
    matrix = np.zeros((len(rows), size))
    for row, (factors, _) in enumerate(rows):
        for place, factor in factors.items():
            matrix[row, place] = factor
    constraints = [LinearConstraint(matrix, ub=[most for _, most in rows])]
    unmet = []
    for number, job in enumerate(jobs):
        runs = np.zeros(size)
        runs[2 * number * length : (2 * number + 1) * length] = 1
        most = round(-solved(-runs, upper, constraints))
        constraints.append(LinearConstraint(runs[None, :], lb=most))
        unmet.append(job.steps - most)
    return tuple(unmet), round(solved(costs, upper, constraints))


def solved(costs: np.ndarray, upper: np.ndarray, constraints: Sequence[LinearConstraint]) -> float:
    found = milp(
        costs, integrality=np.ones_like(costs), bounds=Bounds(0, upper), constraints=constraints,
        options={"mip_rel_gap": 0},
    )  # fmt: skip
    assert found.success
    return float(found.fun)


GIVEN_UP: Final = {7}
"""The seeds of homes for which the search ends before it has seen all that might be better."""


@pytest.mark.parametrize("seed", range(24))
def test_an_integer_program_finds_nothing_better_in_two_days(seed: int) -> None:
    random = Random(seed)  # noqa: S311  not for secrets
    length = random.choice([24, 36, 48])
    prices = [round(100 + 60 * math.sin(step / 3.8) + random.gauss(0, 25)) for step in range(length)]
    jobs = []
    for _ in range(random.choice([2, 3, 4])):
        power, steps = random.choice([2, 3, 4, 7, 11]), random.randint(2, 8)
        least = random.choice([1, 1, 2, steps])
        is_night = random.random() < 0.5
        jobs.append(
            StepJob(
                costs=tuple(None if is_night and step % 24 > 8 else price * power for step, price in enumerate(prices)),
                steps=steps,
                power=power,
                min_piece=min(least, steps),
                min_pause=random.choice([0, 0, 2]),
                most_pieces=random.choice([None, None, 2]),
                start_cost=random.choice([0, 0, 60]),
                running_until=random.choice([None, None, 3]),
            )
        )
    room = (random.choice([11, 14]),) * length
    choice = chosen_together(tuple(jobs), room)
    assert choice.is_best is (seed not in GIVEN_UP)
    assert fits(jobs, room, choice.runs)
    best = best_by_program(jobs, room)
    assert value_of(jobs, choice.runs) == best if choice.is_best else value_of(jobs, choice.runs) > best


def test_two_devices_that_exclude_each_other_share_the_cheapest_hours() -> None:
    night = (5, 1, 2, 9)
    # The first job can't run in two pieces, so it takes the hours that cost both the least.
    first = StepJob(costs=night, steps=2, power=1, min_piece=2)
    second = StepJob(costs=tuple(10 * price for price in night), steps=1, power=1)
    assert chosen_together((first, second), (1,) * 4).runs == ((2, 3), (1,))
    assert chosen_together((first, second), (2,) * 4).runs == ((1, 2), (1,))


def test_the_first_job_is_met_first_and_also_moves_for_the_second() -> None:
    first = StepJob(costs=(1, 2, None), steps=1, power=1)
    assert chosen_together((first, StepJob(costs=(1, None, None), steps=1, power=1)), (1,) * 3).runs == ((1,), (0,))
    assert chosen_together((first, StepJob(costs=(1, 1, None), steps=2, power=1)), (1,) * 3).runs == ((0,), (1,))


def test_of_equally_cheap_choices_the_earlier_one_is_taken() -> None:
    flat = StepJob(costs=(1,) * 6, steps=2, power=1)
    assert chosen_together((flat, flat), (1,) * 6).runs == ((0, 1), (2, 3))
    # One after another, the first job would leave the second one no hour. Of the hours that are as cheap, it takes the
    # earliest.
    second = StepJob(costs=(1, None, None), steps=1, power=1)
    assert chosen_together((StepJob(costs=(1, 2, 2), steps=1, power=1), second), (1,) * 3).runs == ((1,), (0,))


def test_too_large_a_choice_still_keeps_to_the_room() -> None:
    random = Random(5)  # noqa: S311  not for secrets
    jobs = tuple(
        StepJob(
            costs=tuple(random.randrange(10_000) for _ in range(48)),
            steps=11 + number,
            power=1,
            min_piece=2,
            min_pause=2,
            most_pieces=5,
        )
        for number in range(4)
    )
    choice = chosen_together(jobs, (1,) * 48)
    assert not choice.is_best
    assert fits(jobs, [1] * 48, choice.runs)
    assert all(starts_of(job, steps) is not None for job, steps in zip(jobs, choice.runs, strict=True))
