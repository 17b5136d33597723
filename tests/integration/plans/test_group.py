"""Plans that share a fuse: what each of them gets, and that the limit holds in each quarter of lived weeks."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.group import Member, Place, Room, decided_together
from custom_components.tunnihind.plans.outcome import NoWindowReason, Outcome, Window
from custom_components.tunnihind.plans.plan import next_outcome, switched_off_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.steering import PlanChange, SteeredPlan
from custom_components.tunnihind.plans.together import StepJob
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.integration.plans.test_together import best_of_all, fits, value_of
from tests.support.household.outcomes import clock, hours, reason, window
from tests.support.household.timelines import DAY_S, NIGHT, QUARTER_S, at, line, settled

NIGHT_PRICES: Final = [0.2, 0.1, 0.05, 0.15, *[0.3] * 20]


def plan(**form: Any) -> PlanSettings:  # noqa: ANN401  values of a form
    return PlanSettings.from_mapping({"group": "fuse", **form})


def together(
    forms: Mapping[str, PlanSettings],
    limit_kw: float | None = None,
    *,
    prices: Timeline | None = None,
    now: int = NIGHT,
    last: Mapping[str, Outcome] | None = None,
) -> Mapping[str, Place[str]]:
    prices = prices or line(settled(NIGHT, NIGHT_PRICES))
    members = {name: Member(form, prices, (last or {}).get(name), last is not None) for name, form in forms.items()}
    return decided_together(members, limit_kw, now)


def outcomes(places: Mapping[str, Place[str]]) -> dict[str, Outcome]:
    return {name: place.outcome for name, place in places.items()}


def test_two_plans_that_exclude_each_other_cost_the_least_together() -> None:
    # Alone, both would take 1:00 to 3:00. One after another, the boiler would keep it, and the car would pay for 3:00.
    boiler, car = plan(duration=120, power=2), plan(energy=8, power=4, split=True)
    found = together({"boiler": boiler, "car": car})
    assert (hours(found["boiler"].outcome), hours(found["car"].outcome)) == ([(0, 2)], [(2, 4)])
    assert (found["boiler"].gave_way_to, found["car"].gave_way_to) == (("car",), ("boiler",))


def test_a_limit_lets_plans_run_at_once_as_far_as_it_goes() -> None:
    forms = {name: plan(duration=60, power=power) for name, power in {"a": 2, "b": 3, "c": 1}.items()}
    assert [hours(place.outcome) for place in together(forms, 6).values()] == [[(2, 3)]] * 3
    # The two larger ones save the most in the cheapest hour, and the small one the least.
    found = {name: hours(place.outcome) for name, place in together(forms, 5).items()}
    assert found == {"a": [(2, 3)], "b": [(2, 3)], "c": [(1, 2)]}


def test_needs_are_met_by_priority_and_then_by_deadline() -> None:
    night = {"duration": 120, "split": True, "earliest": "00:00:00", "deadline": "03:00:00"}
    forms = {"first": plan(**night), "second": plan(**night)}
    found = together(forms)
    assert (hours(found["first"].outcome), hours(found["second"].outcome)) == ([(1, 3)], [(0, 1)])
    assert window(found["second"].outcome).shortened
    assert found["second"].gave_way_to == ("first",)
    found = together(forms | {"second": plan(**night, priority=9)})
    assert (hours(found["first"].outcome), hours(found["second"].outcome)) == ([(0, 1)], [(1, 3)])
    found = together(forms | {"second": plan(**{**night, "deadline": "02:00:00"})})
    assert (hours(found["first"].outcome), hours(found["second"].outcome)) == ([(2, 3)], [(0, 2)])


def test_a_plan_moves_so_that_another_one_can_meet_its_need() -> None:
    soon = plan(duration=60, deadline="03:00:00", earliest="02:00:00")
    found = together({"first": plan(duration=60, priority=1), "soon": soon})
    assert (hours(found["first"].outcome), hours(found["soon"].outcome)) == ([(1, 2)], [(2, 3)])
    assert found["first"].gave_way_to == ("soon",)


def test_what_finds_no_room_says_why() -> None:
    tight = {"duration": 60, "earliest": "02:00:00", "deadline": "03:00:00"}
    found = together({"first": plan(**tight), "second": plan(**tight)})
    assert hours(found["first"].outcome) == [(2, 3)]
    assert reason(found["second"].outcome) is NoWindowReason.TOO_LITTLE_TIME
    assert found["second"].gave_way_to == ("first",)


def test_a_plan_by_limit_takes_what_the_needs_leave() -> None:
    below = plan(kind="below", price_cap=16, priority=1, power=3)
    found = together({"below": below, "car": plan(energy=2, power=2)}, 4)
    assert (hours(found["car"].outcome), hours(found["below"].outcome)) == ([(2, 3)], [(1, 2), (3, 4)])
    assert found["below"].gave_way_to == ("car",)
    assert hours(together({"below": below, "car": plan(energy=2, power=2)}, 5)["below"].outcome) == [(1, 4)]


def test_cheap_time_beyond_the_need_of_a_begun_window_gives_way_to_a_need() -> None:
    prices = line(settled(NIGHT, [0.05, 0.3, 0.05, 0.05, *[0.3] * 20]))
    floor = plan(duration=60, split=True, min_piece=60, more_below=16)
    started = outcomes(together({"floor": floor}, prices=prices))
    assert hours(started["floor"]) == [(0, 1), (2, 4)]
    boiler = plan(duration=60, earliest="02:00:00", deadline="03:00:00")
    found = together({"floor": floor, "boiler": boiler}, prices=prices, now=clock(1), last=started)
    assert (hours(found["boiler"].outcome), hours(found["floor"].outcome)) == ([(2, 3)], [(0, 1), (3, 4)])
    assert found["floor"].gave_way_to == ("boiler",)


def test_a_running_piece_stays_and_what_comes_later_moves() -> None:
    car = plan(energy=12, power=4, split=True)
    started = outcomes(together({"car": car}))
    assert hours(started["car"]) == [(1, 4)]
    # At 1:30, a boiler needs an hour by 3:00 and comes first. The car's running piece goes on all the same.
    boiler = plan(duration=60, deadline="05:00:00", priority=1, power=8)
    found = together({"car": car, "boiler": boiler}, now=clock(1.5), last=started)
    assert (hours(found["car"].outcome), hours(found["boiler"].outcome)) == ([(1, 4)], [(4, 5)])
    pieces = line(settled(NIGHT, [0.2, 0.1, 0.3, 0.05, 0.05, *[0.3] * 19]))
    started = outcomes(together({"car": car}, prices=pieces))
    assert hours(started["car"]) == [(1, 2), (3, 5)]
    found = together({"car": car, "boiler": boiler}, prices=pieces, now=clock(1.5), last=started)
    assert (hours(found["car"].outcome), hours(found["boiler"].outcome)) == ([(1, 3), (4, 5)], [(3, 4)])


def test_planned_pieces_stay_unless_all_together_gain_five_cents() -> None:
    forms = {"a": plan(duration=60, power=2), "b": plan(duration=60, power=1)}

    def prices(at_5: float) -> Timeline:
        return line(settled(NIGHT, [0.3, 0.3, 0.1, 0.12, 0.3, at_5, *[0.3] * 18]))

    first = outcomes(together(forms, prices=prices(0.3)))
    assert [hours(one) for one in first.values()] == [[(2, 3)], [(3, 4)]]
    # For the first plan alone, 5:00 gains too little. Then the other one would gain 2 cents more.
    for at_5, expected in ((0.086, [[(2, 3)], [(3, 4)]]), (0.084, [[(5, 6)], [(2, 3)]])):
        found = together(forms, prices=prices(at_5), now=clock(1), last=first)
        assert [hours(place.outcome) for place in found.values()] == expected


@pytest.mark.parametrize("seed", range(8))
def test_nothing_moves_while_nothing_changes(seed: int) -> None:
    random = Random(seed)  # noqa: S311  not for secrets
    # The needs of the night are parts of hours, and leave hardly any room.
    forms = {f"{number}": plan(**form) for number, form in enumerate(FORMS[:4])}
    prices = line(settled(NIGHT, [round(random.gauss(0.1, 0.06), 4) for _ in range(48)]))
    last = outcomes(together(forms, prices=prices))
    first_end = min(window(one).end for one in last.values())
    for now in range(NIGHT, first_end, QUARTER_S):
        found = outcomes(together(forms, prices=prices, now=now, last=last))
        assert [hours(one) for one in found.values()] == [hours(one) for one in last.values()], now
        last = found


def test_a_plan_that_is_due_later_chooses_at_its_place_in_the_order() -> None:
    prices = line(settled(NIGHT, [*NIGHT_PRICES, *[0.3] * 24, 0.3, 0.01, *[0.3] * 22]))
    week = plan(duration=60, weekdays=["fri"], days=7, priority=1)
    found = together({"week": week, "night": plan(duration=60)}, prices=prices)
    assert [hours(place.outcome) for place in found.values()] == [[(49, 50)], [(2, 3)]]
    found = together({"week": replace(week, max_span_days=3), "night": plan(duration=60)})
    assert [hours(place.outcome) for place in found.values()] == [[(2, 3)], [(1, 2)]]


def test_a_plan_without_a_power_counts_as_the_whole_limit() -> None:
    forms = {"a": plan(duration=60, power=1), "b": plan(duration=60)}
    found = together(forms, 5)
    assert {hours(place.outcome)[0] for place in found.values()} == {(1, 2), (2, 3)}


def test_more_power_than_the_limit_never_runs() -> None:
    found = together({"a": plan(duration=60, power=6), "b": plan(duration=60, power=1)}, 5)
    assert reason(found["a"].outcome) is NoWindowReason.TOO_LITTLE_TIME
    assert hours(found["b"].outcome) == [(2, 3)]


@settings(max_examples=400)
@given(st.data())
def test_no_arrangement_of_whole_hours_is_better(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 3))
    length = 8 if count == 2 else 6
    cents = data.draw(st.lists(st.sampled_from([-2, 1, 2, 5, 9, 30]), min_size=length, max_size=length))
    limit = data.draw(st.sampled_from([None, 4, 6]))
    forms, jobs = {}, []
    for number in range(count):
        power, steps = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
        is_split, is_by_energy = data.draw(st.booleans()), data.draw(st.booleans())
        need = {"energy": steps * power} if is_by_energy else {"duration": steps * 60}
        pieces = {"split": True, "min_piece": 60, "min_pause": data.draw(st.sampled_from([0, 120]))} if is_split else {}
        cap = data.draw(st.sampled_from([None, 9]))
        forms[f"{number}"] = plan(
            **need, **pieces, power=power, deadline=f"0{length}:00:00", priority=1 + number, price_cap=cap
        )
        jobs.append(
            StepJob(
                costs=tuple(price * power if cap is None or price <= cap else None for price in cents),
                steps=steps,
                power=power if limit else 1,
                min_piece=1 if is_split or is_by_energy else steps,
                min_pause=pieces.get("min_pause", 0) // 60,
                most_pieces=None if is_split else 1,
            )
        )
    found = together(forms, limit, prices=line(settled(NIGHT, [price / 100 for price in cents])))
    runs = []
    for place in found.values():
        pieces_of = hours(place.outcome) if isinstance(place.outcome, Window) else []
        runs.append(tuple(hour for start, end in pieces_of for hour in range(int(start), int(end))))
    room = [limit or 1] * length
    assert fits(jobs, room, runs)
    assert value_of(jobs, runs) == best_of_all(jobs, room)


def test_the_room_for_a_battery() -> None:
    car = plan(energy=8, power=4)
    outcome = next_outcome(car, line(settled(NIGHT, NIGHT_PRICES)), NIGHT)
    assert hours(outcome) == [(1, 3)]
    room = Room.left_by([(car, outcome)], 7)
    assert [room.least_kw(clock(hour), clock(hour + 1)) for hour in (0, 0.5, 1, 2.5, 3)] == [7, 3, 3, 3, 7]
    alone = Room.left_by([(car, outcome)], None)
    assert [alone.least_kw(clock(hour), clock(hour + 1)) for hour in (0, 0.5)] == [float("inf"), 0]


FORMS: Final[list[dict[str, Any]]] = [
    {"energy": 20, "power": 7.4, "split": True, "deadline": "07:00:00"},
    {"energy": 8, "power": 3.7, "split": False, "deadline": "08:00:00"},
    {"duration": 180, "split": True, "power": 2},
    {"duration": 150, "split": False, "power": 2.2, "earliest": "20:00:00", "deadline": "07:00:00"},
    {"duration": 240, "split": True, "min_piece": 30, "min_pause": 60, "power": 3, "max_starts": 3},
    {"kind": "below", "price_cap": 8, "power": 2.5},
    {"energy": 10, "power": 11, "split": True, "min_piece": 15, "energy_full": 20},
    {"duration": 90, "split": True, "min_piece": 45, "power": 1.5, "max_pause": 1440},
    {"kind": "dearest", "duration": 120, "power": 1.0},
    {"energy": 15, "power": 2.3, "split": True, "days": 7, "weekdays": ["fri"]},
]


class Life:
    """Plans of a home that are decided at each quarter, with the needs that change and the prices that come."""

    def __init__(self, seed: int, begins: int) -> None:
        self.random = random = Random(seed)  # noqa: S311  not for secrets
        step_s = random.choice([HOUR_S, QUARTER_S])
        starts = range(begins, begins + 10 * DAY_S, step_s)
        self.begins = begins
        self.step_s = step_s
        self.prices = {start: round(max(-0.02, random.gauss(0.1, 0.06)), 4) for start in starts}
        self.limit_kw = random.choice([None, None, 11.0, 13.0])
        self.plans = {}
        for number in range(random.randint(2, 5)):
            form = {**random.choice(FORMS), "group": "fuse"}
            if random.random() < 0.7:
                form["priority"] = random.randint(1, 9)
            self.plans[number] = SteeredPlan.made(form, begins)
        self.outcomes: dict[int, Outcome] = {}
        self.decided_with: dict[int, PlanSettings] = {}

    def change(self, now: int) -> None:
        """Change the need, the duration or the switch of one of the plans."""
        number = self.random.choice([*self.plans])
        plan = self.plans[number]
        if "energy" in plan.form:
            values = {"energy": self.random.choice([0, 3, 12, 30])}
            self.plans[number] = plan.with_change(PlanChange(values=values), now)
        elif plan.form.get("split") and self.random.random() < 0.5:
            values = {"duration": self.random.choice([60, 120, 300])}
            self.plans[number] = plan.with_change(PlanChange(values=values), now)
        else:
            self.plans[number] = replace(plan, enabled=not plan.enabled)

    def decide(self, now: int) -> None:
        day_s = (now - self.begins) % DAY_S
        known_until = now - day_s + (2 if day_s >= 14 * HOUR_S else 1) * DAY_S
        timeline = Timeline(
            self.step_s,
            (
                Period(start, start + self.step_s, price, price, price, settled=True)
                for start, price in self.prices.items()
                if start < known_until
            ),
        )
        members = {}
        for number, plan in self.plans.items():
            form, last = replace(plan.settings(), usual_price=0.08), self.outcomes.get(number)
            if plan.enabled:
                members[number] = Member(form, timeline, last, self.decided_with.get(number) == form)
                self.decided_with[number] = form
            else:
                self.outcomes[number] = switched_off_outcome(timeline, now, last)
        self.outcomes |= outcomes_of(decided_together(members, self.limit_kw, now))

    def powers(self, now: int) -> list[float]:
        return [
            self.plans[number].settings().power_kw or 0.0
            for number, outcome in self.outcomes.items()
            if isinstance(outcome, Window) and outcome.runs_at(now)
        ]

    def keeps_to_limit(self, now: int) -> bool:
        powers = self.powers(now)
        return len(powers) <= 1 if self.limit_kw is None else sum(powers) <= self.limit_kw + 1e-9


def outcomes_of(places: Mapping[int, Place[int]]) -> dict[int, Outcome]:
    return {number: place.outcome for number, place in places.items()}


@pytest.mark.parametrize(
    ("seed", "begins", "days"),
    [
        (0, NIGHT, 7),
        (9, NIGHT, 7),
        *((seed, NIGHT, 2) for seed in range(10, 22)),
        *((seed, at("2026-10-24T00:00"), 2) for seed in range(30, 34)),
        *((seed, at("2026-03-28T00:00"), 2) for seed in range(40, 44)),
    ],
)
def test_the_limit_holds_in_each_quarter_also_ahead(seed: int, begins: int, days: int) -> None:
    life = Life(seed, begins)
    has_run = 0
    for now in range(begins, begins + days * DAY_S, QUARTER_S):
        if life.random.random() < 0.03:
            life.change(now)
        life.decide(now)
        ahead = {
            quarter
            for outcome in life.outcomes.values()
            if isinstance(outcome, Window)
            for start, end in outcome.pieces
            for quarter in range(max(start, now), end, QUARTER_S)
        }
        assert all(life.keeps_to_limit(quarter) for quarter in ahead), now
        has_run += len(life.powers(now))
    assert has_run > 20
