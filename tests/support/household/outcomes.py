"""Outcomes of plans, in hours after NIGHT."""

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.outcome import NoWindow, NoWindowReason, Outcome, Window
from tests.support.household.timelines import DAY_S, NIGHT


def clock(hour_of_day: float, day: int = 0) -> int:
    """Return the UTC seconds of a time of day, `day` days after NIGHT."""
    return NIGHT + day * DAY_S + int(hour_of_day * HOUR_S)


def window(outcome: Outcome | None) -> Window:
    """Return the outcome, which must be a window."""
    assert isinstance(outcome, Window)
    return outcome


def hours(outcome: Outcome | None) -> list[tuple[float, float]]:
    """Return the pieces of a window in hours after NIGHT."""
    return [((start - NIGHT) / HOUR_S, (end - NIGHT) / HOUR_S) for start, end in window(outcome).pieces]


def reason(outcome: Outcome | None) -> NoWindowReason:
    """Return the reason why there is no window."""
    assert isinstance(outcome, NoWindow)
    return outcome.reason
