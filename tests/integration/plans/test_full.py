"""Plans that charge a car beyond what it needs while electricity is cheaper than usual."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S, QUARTER_S
from custom_components.tunnihind.household.planner import Planner
from custom_components.tunnihind.plans.cheap_time import with_cheap_time
from custom_components.tunnihind.plans.outcome import NoWindow, NoWindowReason, Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanError, PlanSettings
from custom_components.tunnihind.plans.solver import Job, Piece, cheapest_pieces
from custom_components.tunnihind.plans.spans import spans
from custom_components.tunnihind.plans.steering import PlanChange, SteeredPlan
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.integration.plans.test_changing_need import CAR, EVENING, clock
from tests.integration.plans.test_starts import FIRSTS, PRICES, prices_of
from tests.integration.plans.test_switching import change, planner_of, restarted
from tests.support.household.timelines import DAY_S, at, line, settled

USUAL: Final = 0.05
FULL: Final[Mapping[str, Any]] = {**CAR, "energy_full": 30}


def quarters(prices: Sequence[int | None]) -> Timeline:
    """Return settled quarters of an hour in cents. None leaves a gap."""
    return Timeline(
        QUARTER_S,
        (
            Period(start, start + QUARTER_S, cents / 100, cents / 100, cents / 100, settled=True)
            for place, cents in enumerate(prices)
            if cents is not None
            for start in [EVENING + place * QUARTER_S]
        ),
    )


def pieces_of(steps: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pieces of a set of steps, each as its first step and the step after its last one."""
    found: list[tuple[int, int]] = []
    for step in steps:
        found = (
            [*found[:-1], (found[-1][0], step + 1)] if found and found[-1][1] == step else [*found, (step, step + 1)]
        )
    return found


def choices(job: Job, usable: set[int], *, runs: bool) -> Iterator[tuple[int, ...]]:
    """Yield all sets of steps that keep to the job's pieces. If `runs` is true, a piece ends where the steps begin."""
    piece, pause = (job.min_piece_s or 0) // QUARTER_S, job.min_pause_s // QUARTER_S
    for size in range(job.duration_s // QUARTER_S + 1):
        for steps in combinations(sorted(usable), size):
            pieces = pieces_of(steps)
            goes_on = runs and bool(pieces) and pieces[0][0] == 0
            is_long = all(last - first >= piece for first, last in pieces[goes_on:])
            ends = [(0, 0)] * (runs and not goes_on) + pieces
            is_paused = all(later[0] - earlier[1] >= pause for earlier, later in pairwise(ends))
            if is_long and is_paused and (job.most_pieces is None or len(pieces) - goes_on <= job.most_pieces):
                yield steps


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.integers(1, 9), st.none()), min_size=1, max_size=11),
    st.integers(0, 4),
    st.integers(0, 5),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from([None, 1, 2, 3]),
    st.booleans(),
)
def test_as_much_cheap_time_as_fits_is_added_at_the_least_cost(
    prices: list[int | None], need: int, more: int, piece: int, pause: int, most: int | None, runs: bool
) -> None:
    """Compare with every set of quarters that contains the pieces and adds only quarters of at most 5 cents."""
    timeline, bounds = quarters(prices), (EVENING, EVENING + len(prices) * QUARTER_S)
    job = Job(
        duration_s=need * QUARTER_S, min_piece_s=piece * QUARTER_S, min_pause_s=pause * QUARTER_S, most_pieces=most
    )
    first: tuple[Piece, ...] = ()
    if need >= piece:
        first = cheapest_pieces(timeline, bounds, job, lambda period: period.price, is_piece_running=runs)
    asked = replace(job, duration_s=(need + more) * QUARTER_S)
    found = with_cheap_time(timeline, bounds, first, asked, lambda period: period.price, USUAL, is_piece_running=runs)
    stays = steps_of(first)
    usable = stays | {step for step, cents in enumerate(prices) if cents is not None and cents <= 5}
    possible = [set(steps) for steps in choices(asked, usable, runs=runs) if stays <= set(steps)]
    best = min(
        ((-len(steps), sum(prices[step] or 0 for step in steps)) for steps in possible),
        default=(-len(stays), sum(prices[step] or 0 for step in stays)),
    )
    chosen = steps_of(found)
    assert (-len(chosen), sum(prices[step] or 0 for step in chosen)) == best
    assert chosen == stays or chosen in possible


def steps_of(pieces: Sequence[Piece]) -> set[int]:
    return {(quarter - EVENING) // QUARTER_S for start, end in pieces for quarter in range(start, end, QUARTER_S)}


FORMS: Final[Sequence[Mapping[str, Any]]] = (
    {"split": True, "min_piece": 15},
    {"split": True, "min_piece": 60, "min_pause": 45},
    {"split": True, "min_piece": 30, "max_starts": 2},
    {"split": False},
)
BOUNDS: Final[Sequence[Mapping[str, Any]]] = (
    {"earliest": "18:00:00", "deadline": "07:00:00"},
    {"deadline": "07:00:00"},
    {"deadline": "07:00:00", "days": 3, "weekdays": ["mon"]},
    {},
)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(FIRSTS),
    st.sampled_from(FORMS),
    st.sampled_from(BOUNDS),
    st.sampled_from([HOUR_S, QUARTER_S]),
    PRICES,
    st.integers(0, 12),
    st.integers(0, 30),
    st.sampled_from([None, 6]),
)
def test_the_window_of_the_need_stays_and_only_usual_prices_are_added(
    first: str,
    form: Mapping[str, Any],
    bounds: Mapping[str, Any],
    step_s: int,
    prices: list[int],
    need: int,
    more: int,
    limit: int | None,
) -> None:
    now = at(first) + DAY_S
    timeline = prices_of(at(first), prices, step_s)
    plan = PlanSettings.from_mapping({**form, **bounds, "energy": need, "power": 4, "price_cap": limit})
    plan = replace(plan, needed_since=now)
    full = replace(plan, full_kwh=need + more, full_since=now, usual_price=USUAL)
    alone, both = next_outcome(plan, timeline, now), next_outcome(full, timeline, now)
    if isinstance(both, NoWindow):
        assert isinstance(alone, NoWindow)
        return
    stays = {quarter for piece in (alone.pieces if isinstance(alone, Window) else ()) for quarter in by_quarter(piece)}
    chosen = {quarter for piece in both.pieces for quarter in by_quarter(piece)}
    if both.span in spans(plan, now, now + 1):
        assert stays <= chosen
    added = chosen - stays
    usual = {
        quarter for quarter in by_quarter((both.span.opens, both.span.closes)) if price(timeline, quarter) <= USUAL
    }
    assert added <= usual
    assert len(chosen) <= max(need + more, len(stays))
    if isinstance(alone, Window):  # added time may also give what is missing of the need
        assert (both.missing_kwh or 0) <= (alone.missing_kwh or 0)
    if form.get("min_piece") == 15 and limit is None and "earliest" not in bounds:
        ahead = {quarter for quarter in usual if quarter >= now}
        assert len(chosen) == max(len(stays), min(need + more, len(stays | ahead)))


def by_quarter(piece: Piece) -> range:
    return range(-(-piece[0] // QUARTER_S) * QUARTER_S, piece[1], QUARTER_S)


def price(timeline: Timeline, instant: int) -> float:
    period = timeline.period_at(instant)
    assert period is not None
    return period.price


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(FIRSTS),
    st.sampled_from([HOUR_S, QUARTER_S]),
    PRICES,
    st.integers(0, 20),
    st.integers(0, 30),
    st.booleans(),
    st.booleans(),
)
def test_lived_through_a_car_gets_its_need_and_what_is_cheap_until_it_is_full(
    first: str, step_s: int, prices: list[int], need: int, more: int, reports: bool, restarts: bool
) -> None:
    """Each quarter gives 1 kWh. A car that reports its charge gets the same as one that does not."""
    form: dict[str, Any] = {"energy": need, "energy_full": need + more, "power": 4, "split": True, "min_piece": 15}
    form |= {"deadline": "07:00:00", "weekdays": ["mon"], "days": 2}
    timeline = prices_of(at(first), prices, step_s)
    span = next(spans(SteeredPlan(form).settings(), at(first), at(first) + 6 * DAY_S))
    planner = planner_of(form, span.opens)
    on: set[int] = set()
    for now in by_quarter((span.opens, span.closes)):
        if reports and now % HOUR_S == 0:
            left, until_full = max(need - len(on), 0), max(need + more - len(on), 0)
            change(planner, now, values={"energy": left, "energy_full": until_full}, energy_read_at=now)
        if restarts and now % (5 * HOUR_S) == 0:
            planner = restarted(planner, form)
        outcome = planner.update_outcomes(timeline, now, usual_price=USUAL)["plan"]
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.add(now)
    everything = sorted((price(timeline, quarter), quarter) for quarter in by_quarter((span.opens, span.closes)))
    usual = sum(cents <= USUAL for cents, _ in everything)
    wanted = max(need, min(need + more, usual))
    assert len(on) == wanted
    assert sum(price(timeline, quarter) for quarter in on) == pytest.approx(
        sum(cents for cents, _ in everything[:wanted])
    )


def lived(planner: Planner, timeline: Timeline, start: float, end: float, usual: float | None = USUAL) -> list[float]:
    """Return the quarters in which the plan was on, as hours of the day."""
    on = []
    for now in range(clock(start), clock(end), QUARTER_S):
        outcome = planner.update_outcomes(timeline, now, usual_price=usual)["plan"]
        if isinstance(outcome, Window) and outcome.runs_at(now):
            on.append(18 + (now - EVENING) / HOUR_S)
    return on


CHEAP_FROM_3: Final = line(settled(EVENING, [*[0.2] * 4, 0.01, *[0.2] * 4, 0.04, 0.05, 0.06, 0.2]))


def hours(*given: int) -> list[float]:
    return [hour + quarter / 4 for hour in given for quarter in range(4)]


def test_beyond_the_need_only_usual_prices_are_used() -> None:
    assert lived(planner_of(FULL), CHEAP_FROM_3, 18, 31) == hours(22, 27, 28)
    assert lived(planner_of(FULL), CHEAP_FROM_3, 18, 31, usual=0.03) == hours(22)
    assert lived(planner_of(FULL), CHEAP_FROM_3, 18, 31, usual=None) == hours(22)


def test_without_a_need_the_car_is_only_filled() -> None:
    planner = planner_of({**FULL, "energy": 0})
    assert lived(planner, CHEAP_FROM_3, 18, 31) == hours(22, 27, 28)
    outcome = planner_of({**FULL, "energy": 0}).update_outcomes(CHEAP_FROM_3, EVENING, usual_price=0.001)["plan"]
    assert isinstance(outcome, NoWindow)
    assert outcome.reason is NoWindowReason.ABOVE_CAP
    full = planner_of({**FULL, "energy": 0, "energy_full": 0}).update_outcomes(
        CHEAP_FROM_3, EVENING, usual_price=USUAL
    )["plan"]
    assert isinstance(full, NoWindow)
    assert full.reason is NoWindowReason.NOTHING_NEEDED


def test_less_until_full_than_needed_counts_as_the_need() -> None:
    assert lived(planner_of({**FULL, "energy_full": 5}), CHEAP_FROM_3, 18, 31) == hours(22)


def test_a_window_until_full_has_the_energy_and_cost_of_all_of_it() -> None:
    outcome = planner_of(FULL).update_outcomes(CHEAP_FROM_3, EVENING, usual_price=USUAL)["plan"]
    assert isinstance(outcome, Window)
    assert outcome.cost is not None
    assert (outcome.asked_kwh, outcome.missing_kwh, outcome.shortened) == (30, 0, False)
    assert outcome.cost.expected == pytest.approx(10 * (0.01 + 0.04 + 0.05))


def test_each_energy_has_its_own_date() -> None:
    planner = planner_of(FULL, clock(18))
    change(planner, clock(20), values={"energy_full": 40})
    plan = planner.plans["plan"]
    assert (plan.needed_since, plan.full_since) == (clock(18), clock(20))
    change(planner, clock(21), values={"energy": 12}, energy_read_at=clock(20.5))
    plan = planner.plans["plan"]
    assert (plan.needed_since, plan.full_since) == (clock(20.5), clock(20))
    change(planner, clock(22), values={"energy_full": 40}, energy_read_at=clock(21.5))
    assert planner.plans["plan"].full_since == clock(21.5)


@pytest.mark.parametrize(
    "form",
    [
        {"duration": 60, "energy_full": 5},
        {"kind": "dearest", "energy": 5, "power": 2, "energy_full": 8},
        {"kind": "below", "price_cap": 5, "energy_full": 8},
    ],
)
def test_only_a_plan_for_the_cheapest_hours_by_energy_fills_a_car(form: Mapping[str, Any]) -> None:
    with pytest.raises(PlanError, match="energy_full"):
        SteeredPlan(form).with_change(PlanChange(), EVENING)
