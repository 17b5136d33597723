"""The table of cases: the sources' answers over time, and the settled prices.

The sources are Elering and ENTSO-E. Elering is trusted first. Both have agreed on the days up to today, unless a case
says otherwise. Tomorrow's prices come out at 13:55. `docs/data.md` has the rule.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta

import pytest

from tests.support.clocks import local
from tests.support.store.settling_trial import BOTH, ONE, SettlingTrial
from tests.support.upstreams.lies import (
    Lie,
    copied,
    doubled,
    first_half,
    first_quarters,
    flat_hours,
    in_hours,
    level,
    moved,
    padded,
    plus,
    random,
    right,
    swapped,
    times,
)
from tunnihind.core.market import HOUR_S, QUARTER_S
from tunnihind.store.store import Store

T = date(2025, 12, 15)
"""Today."""
M = T + timedelta(days=1)
"""Tomorrow."""
SILENT = None


@dataclass(frozen=True)
class Step:
    """The answers of the sources from `at` on, and the expected state of these days of Estonia and Finland at once."""

    at: str
    elering: Lie | None
    entsoe: Lie | None = SILENT
    tomorrow: str = "right"
    today: str = "right"
    finland: str = "right"


@dataclass(frozen=True)
class Case:
    """Steps in the order of time. `sources` are configured, and some of them were `known` before."""

    steps: tuple[Step, ...]
    sources: tuple[str, ...] = BOTH
    known: tuple[str, ...] | None = None
    today: date = field(default=T)


def both(*steps: Step) -> Case:
    return Case(steps)


def alone(*steps: Step) -> Case:
    return Case(steps, sources=ONE)


def lies_of_tomorrow(lie: Lie) -> Case:
    """Return a case in which Elering's wrong prices of tomorrow end after an hour. ENTSO-E is always right."""
    return both(
        Step("13:55", lie, right, tomorrow="none", finland="none"),
        Step("14:54", lie, right, tomorrow="none", finland="none"),
        Step("14:55", right, right),
    )


def lies_of_all(lie: Lie) -> Case:
    """Return a case in which Elering's wrong prices of all days do not end. ENTSO-E is always right."""
    return both(
        Step("13:55", lie, right), Step("16:10", lie, right), Step("23:00", lie, right), Step("23:15", right, right)
    )


def lies_alone(lie: Lie) -> Case:
    """Return a case in which Elering is the only source, and its wrong prices of all days end after five hours."""
    return alone(
        Step("13:55", lie, tomorrow="none", finland="none"),
        Step("18:55", lie, tomorrow="none", finland="none"),
        Step("18:56", right),
    )


CASES = {
    "tomorrow's rows alone are an hour off for ten minutes": both(
        Step("13:55", moved(HOUR_S, M), right, tomorrow="none", finland="none"),
        Step("14:05", right, right),
        Step("23:00", right, right),
    ),
    "the same, and ENTSO-E comes a quarter later than Elering": both(
        Step("13:55", moved(HOUR_S, M), moved(0), tomorrow="none", finland="none"),
        Step("14:05", right, right),
    ),
    "the same from Elering alone: corrected when that has stood for an hour": alone(
        Step("13:55", moved(HOUR_S, M), tomorrow="wrong", finland="wrong"),
        Step("14:05", right, tomorrow="wrong", finland="wrong"),
        Step("15:04", right),
    ),
    "Finland's tomorrow is an hour off": both(
        Step("13:55", moved(HOUR_S, M, zone="fi"), right, finland="none"),
        Step("14:05", right, right),
    ),
    "Finland's days are all an hour off": both(
        Step("13:55", moved(HOUR_S, zone="fi"), right), Step("23:00", right, right)
    ),
    "Elering's random prices of today over what both agreed on": both(
        Step("13:55", random(1, T), right), Step("23:00", random(1, T), right), Step("23:30", random(1, T), SILENT)
    ),
    "random prices of today that change at each answer, without ENTSO-E": alone(
        Step("13:55", random(1, T)), Step("14:10", random(2, T)), Step("14:25", random(3, T)), Step("14:40", right)
    ),
    "ENTSO-E is wrong about today": both(Step("13:55", right, random(1, T)), Step("23:00", right, random(1, T))),
    "ENTSO-E is wrong about tomorrow for ever: Elering is taken after two hours": both(
        Step("13:55", right, random(1, M), tomorrow="none", finland="none"),
        Step("15:54", right, random(1, M)),
    ),
    "Elering is wrong about tomorrow for ever: taken after two hours, replaced when both agree": both(
        Step("13:55", random(1, M), right, tomorrow="none", finland="none"),
        Step("15:40", random(1, M), right, tomorrow="none", finland="none"),
        Step("15:55", random(1, M), right, tomorrow="wrong", finland="wrong"),
        Step("16:10", right, right),
    ),
    "tomorrow is an hour off for ever: the likelier prices are taken after two hours": both(
        Step("13:55", moved(HOUR_S, M), right, tomorrow="none", finland="none"),
        Step("15:40", moved(HOUR_S, M), right, tomorrow="none", finland="none"),
        Step("15:55", moved(HOUR_S, M), right),
    ),
    "the one that contradicts an agreed day loses after two hours": both(
        Step("13:55", plus(5, T, M, hours=3), right, tomorrow="none", finland="none"),
        Step("15:55", plus(5, T, M, hours=3), right),
    ),
    "VAT on tomorrow": lies_of_tomorrow(times(1.24, M)),
    "VAT on all days": lies_of_all(times(1.24)),
    "VAT on all days, alone": lies_alone(times(1.24)),
    "a tenth, tomorrow": lies_of_tomorrow(times(0.1, M)),
    "a tenth, all days": lies_of_all(times(0.1)),
    "a tenth, alone": lies_alone(times(0.1)),
    "Estonia and Finland swapped tomorrow": lies_of_tomorrow(swapped("ee", "fi", M)),
    "Estonia and Finland swapped": lies_of_all(swapped("ee", "fi")),
    "Estonia and Finland swapped, alone": lies_alone(swapped("ee", "fi")),
    "Estonia's key twice, with Finland's prices": lies_of_all(doubled("ee", "fi")),
    "hours that hold their first quarter tomorrow": lies_of_tomorrow(first_quarters(M)),
    "hours that hold their first quarter": lies_of_all(first_quarters()),
    "hours that hold their first quarter, alone": lies_alone(first_quarters()),
    "quarters that hold their hour's first": lies_of_all(flat_hours()),
    "a copy of today as tomorrow, contradicted": both(Step("13:55", copied(M), right), Step("23:00", copied(M), right)),
    "a copy of today as tomorrow, alone": alone(
        Step("13:55", copied(M), tomorrow="none", finland="none"),
        Step("23:00", copied(M), tomorrow="none", finland="none"),
        Step("23:15", right),
    ),
    "zeros tomorrow, contradicted": both(Step("13:55", level(0, M), right), Step("23:00", level(0, M), right)),
    "zeros tomorrow, alone": alone(Step("13:55", level(0, M), tomorrow="none", finland="none"), Step("14:05", right)),
    "zeros everywhere, alone": lies_alone(level(0)),
    "a flat tomorrow, alone": alone(
        Step("13:55", level(55.5, M), tomorrow="none", finland="none"), Step("23:00", right)
    ),
    "zeros of today that both say: believed after six hours": both(
        Step("14:00", level(0, T), level(0, T)),
        Step("19:45", level(0, T), level(0, T)),
        Step("20:00", level(0, T), level(0, T), today="wrong"),
        Step("20:15", right, right),
    ),
    "a correction of today that both say is taken at once": both(
        Step("14:00", plus(7, T, hours=6), right),
        Step("14:15", plus(7, T, hours=6), plus(7, T, hours=6), today="wrong"),
    ),
    "a correction of today alone that looks like a mistake is taken after six hours": alone(
        Step("14:00", moved(HOUR_S, T)),
        Step("19:45", moved(HOUR_S, T)),
        Step("20:00", moved(HOUR_S, T), today="wrong"),
    ),
    "today has VAT, alone, for five hours": alone(Step("14:00", times(1.24, T)), Step("19:00", right)),
    "a correction of today by one is never taken": both(
        Step("14:00", plus(7, T, hours=6), SILENT), Step("23:00", plus(7, T, hours=6), SILENT)
    ),
    "a shift of today that both say waits for six hours": both(
        Step("14:00", moved(HOUR_S, T), moved(HOUR_S, T)),
        Step("19:45", moved(HOUR_S, T), moved(HOUR_S, T)),
        Step("20:00", moved(HOUR_S, T), moved(HOUR_S, T), today="wrong"),
    ),
    "both are an hour off in all days: not believed": both(
        Step("13:55", moved(HOUR_S), moved(HOUR_S), tomorrow="none", finland="none"), Step("14:10", right, right)
    ),
    "an own correction is taken after an hour": alone(
        Step("14:00", plus(7, T, hours=6)),
        Step("14:45", plus(7, T, hours=6)),
        Step("15:00", plus(7, T, hours=6), today="wrong"),
    ),
    "an own correction that is taken back": alone(
        Step("14:00", plus(7, T, hours=6)), Step("14:45", right), Step("23:00", right)
    ),
    "an answer that is off for six hours is believed": alone(
        Step("13:55", plus(7), tomorrow="none", finland="none"),
        Step("19:40", plus(7), tomorrow="none", finland="none"),
        Step("19:55", plus(7), tomorrow="wrong", today="wrong", finland="wrong"),
    ),
    "an answer that is believed after six hours, and is taken back at once": alone(
        Step("13:55", times(1.24), tomorrow="none", finland="none"),
        Step("19:55", times(1.24), tomorrow="wrong", today="wrong", finland="wrong"),
        Step("20:10", right),
        Step("20:25", times(1.24)),
    ),
    "half of tomorrow": both(
        Step("13:55", first_half(M), SILENT, tomorrow="none", finland="none"),
        Step("14:00", first_half(M), first_half(M), tomorrow="none", finland="none"),
        Step("14:05", right, first_half(M)),
        Step("14:10", first_half(M), right),
    ),
    "half of today, when all of it is settled": both(Step("13:55", first_half(T), SILENT), Step("14:05", right, right)),
    "right hours, then right quarters": both(
        Step("13:55", in_hours(M), in_hours(M)), Step("14:05", in_hours(M), right), Step("14:15", right, right)
    ),
    "right hours against right quarters": both(Step("13:55", in_hours(M), right), Step("14:15", right, in_hours(M))),
    "right hours from one, flapping with quarters": alone(
        Step("13:55", in_hours()), Step("14:10", right), Step("14:25", in_hours()), Step("23:00", right)
    ),
    "Elering flaps between right and an hour off": both(
        Step("13:55", moved(HOUR_S), right),
        Step("14:10", right, right),
        Step("14:25", moved(HOUR_S), right),
        Step("14:40", right, right),
    ),
    "tomorrow flaps between right and an hour off": both(
        Step("13:55", moved(HOUR_S, M), right, tomorrow="none", finland="none"),
        Step("14:00", right, right),
        Step("14:05", moved(HOUR_S, M), right),
        Step("23:00", moved(HOUR_S, M), SILENT),
    ),
    "ENTSO-E comes late and agrees": both(Step("13:55", right, SILENT), Step("18:00", right, right)),
    "ENTSO-E comes late and contradicts a young unconfirmed day": both(
        Step("13:55", right, SILENT),
        Step("14:55", right, random(1, M), tomorrow="none", finland="none"),
        Step("15:55", right, random(1, M)),
        Step("23:00", right, random(1, M)),
    ),
    "ENTSO-E comes late and contradicts a day that has stood": both(
        Step("13:55", right, SILENT), Step("16:30", right, random(1, M)), Step("23:00", right, random(1, M))
    ),
    "ENTSO-E puts a wrong Elering in doubt, and is confirmed": both(
        Step("13:55", moved(HOUR_S, M), SILENT, tomorrow="wrong", finland="wrong"),
        Step("14:10", moved(HOUR_S, M), right, tomorrow="none", finland="none"),
        Step("14:25", right, right),
    ),
    "Elering says a wrong tomorrow once and dies": both(
        Step("13:55", moved(HOUR_S, M), right, tomorrow="none", finland="none"),
        Step("14:00", SILENT, right, tomorrow="none", finland="none"),
        Step("15:55", SILENT, right),
    ),
    "ENTSO-E comes first with half of tomorrow, padded to midnight": both(
        Step("13:55", SILENT, padded(12, M), tomorrow="none", finland="none"),
        Step("14:10", right, padded(12, M)),
    ),
    "Elering is dead": both(Step("13:55", SILENT, right), Step("23:00", SILENT, right)),
    "Elering is dead and ENTSO-E an hour off": both(
        Step("13:55", SILENT, moved(HOUR_S), tomorrow="none", finland="none"), Step("14:30", SILENT, right)
    ),
    "a first start with a right Elering": Case((Step("14:00", right),), sources=ONE, known=()),
    "a first start with two that agree": Case((Step("14:00", right, right),), known=()),
    "a first start with Elering an hour off: nothing until it is right": Case(
        (
            Step("14:00", moved(HOUR_S), right, tomorrow="none", today="none", finland="none"),
            Step("14:30", right, right),
        ),
        known=(),
    ),
    "a first start with a lone Elering an hour off, until both are right": Case(
        (
            Step("14:00", moved(HOUR_S), SILENT, tomorrow="wrong", today="wrong", finland="wrong"),
            Step("14:30", right, right),
        ),
        known=(),
    ),
    "a first start with two an hour off, until both are right": Case(
        (
            Step("14:00", moved(HOUR_S), moved(HOUR_S), tomorrow="wrong", today="wrong", finland="wrong"),
            Step("14:30", right, right),
        ),
        known=(),
    ),
    "a first start with two that add five euros, until both are right": Case(
        (
            Step("14:00", plus(5), plus(5), tomorrow="wrong", today="wrong", finland="wrong"),
            Step("14:30", right, right),
        ),
        known=(),
    ),
    "a first start with two that are right, then both have VAT": Case(
        (Step("14:00", right, right), Step("14:30", times(1.24), times(1.24)), Step("20:15", times(1.24), right)),
        known=(),
    ),
    "a token comes later, and ENTSO-E is an hour off": Case(
        (Step("13:55", right, moved(HOUR_S)), Step("23:00", right, moved(HOUR_S))), known=ONE
    ),
}


SHIFTS = {
    f"all days {by_s // 60} minutes off{'' if two else ', alone'}": (lies_of_all if two else lies_alone)(moved(by_s))
    for by_s in (QUARTER_S, -HOUR_S, 3 * HOUR_S)
    for two in (True, False)
}

CHANGES = {
    f"{name} on the {hours} hours of {day}": Case(tuple(case.steps), case.sources, case.known, day)
    for day, hours in ((date(2026, 3, 28), 23), (date(2025, 10, 25), 25))
    for tomorrow in [day + timedelta(days=1)]
    for name, case in {
        "an hour off": lies_of_tomorrow(moved(HOUR_S, tomorrow)),
        "all an hour off": lies_of_all(moved(HOUR_S)),
        "right": both(Step("13:55", right, right)),
        "hours": both(Step("13:55", in_hours(tomorrow), right)),
    }.items()
}


def play(store: Store, case: Case) -> SettlingTrial:
    trial = SettlingTrial(store, case.today, sources=case.sources, known=case.known)
    for step in case.steps:
        says = dict(zip(BOTH, (step.elering, step.entsoe), strict=True))
        trial.until(local(f"{case.today} {step.at}"), **{source: says[source] for source in case.sources})
        found = trial.shows(trial.tomorrow), trial.shows(trial.today), trial.shows(trial.tomorrow, "fi")
        assert found == (step.tomorrow, step.today, step.finland), f"at {step.at}: {trial.held()}"
    return trial


ALL = CASES | SHIFTS | CHANGES


@pytest.mark.parametrize("case", ALL.values(), ids=ALL.keys())
def test_what_is_settled_is_right_or_nothing(store: Store, case: Case) -> None:
    play(store, case)
