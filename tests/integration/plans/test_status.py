"""The status of a plan."""

from typing import Any

import pytest

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.plan import PlanStatus, next_outcome, status_of, switched_off_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.prices.timeline import Timeline
from tests.support.household.timelines import NIGHT, line, settled

CHEAP_AT_3 = line(settled(NIGHT, [0.2, 0.2, 0.2, 0.1, 0.1, *[0.3] * 19]))


def status_at(hour_of_day: float, *, timeline: Timeline = CHEAP_AT_3, **form: object) -> PlanStatus:
    """Return the status of a two-hour plan on that Friday, decided in every quarter of an hour since midnight."""
    settings = PlanSettings.from_mapping({"duration": 120, **form})
    outcome = None
    now = NIGHT + int(hour_of_day * HOUR_S)
    for instant in range(NIGHT, now + 1, 900):
        outcome = next_outcome(settings, timeline, instant, outcome)
    assert outcome is not None
    return status_of(settings, outcome, now)


@pytest.mark.parametrize(
    ("hour_of_day", "status"),
    [(0, "planned"), (2.75, "planned"), (3, "running"), (4.75, "running"), (5, "done"), (23.75, "done")],
)
def test_a_day_goes_from_planned_over_running_to_done(hour_of_day: float, status: str) -> None:
    assert status_at(hour_of_day) == status


def test_between_two_pieces_the_next_one_is_planned() -> None:
    apart = line(settled(NIGHT, [0.1, 0.9, 0.9, 0.1, *[0.9] * 20]))
    seen = [status_at(hour, timeline=apart, split=True, min_piece=60) for hour in (0, 2, 3, 4)]
    assert seen == ["running", "planned", "running", "done"]


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"price_cap": 5}, "above_cap"),
        ({"earliest": "00:00:00", "deadline": "01:00:00"}, "too_little_time"),
        ({"earliest": "12:00:00", "weekdays": ["sat"]}, "no_prices"),
        ({"weekdays": ["sun"]}, "off"),
        ({"kind": "dearest", "price_cap": 50}, "below_cap"),
        ({"kind": "below", "duration": None, "price_cap": 5}, "above_cap"),
        ({"kind": "above", "duration": None, "price_cap": 50}, "below_cap"),
        ({"energy": 0, "power": 2}, "done"),
        ({"energy": 0, "power": 2, "weekdays": ["sun"]}, "off"),
    ],
)
def test_without_a_window_the_status_is_the_reason(form: dict[str, Any], status: str) -> None:
    assert status_at(0, **form) == status


@pytest.mark.parametrize("hour_of_day", [0, 4, 12])
def test_a_plan_that_is_switched_off_has_that_status(hour_of_day: float) -> None:
    settings = PlanSettings.from_mapping({"duration": 120, "weekdays": ["sun"]})
    now = NIGHT + int(hour_of_day * HOUR_S)
    assert status_of(settings, switched_off_outcome(CHEAP_AT_3, now, None), now) == "switched_off"


def test_every_status_has_been_seen_here() -> None:
    seen = {"planned", "running", "done", "no_prices", "too_little_time", "above_cap", "below_cap", "off"}
    assert set(PlanStatus) == seen | {"switched_off"}
