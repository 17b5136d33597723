"""How a plan stands, in one word."""

from enum import StrEnum
from typing import Final

from ..prices.days import day_at
from .outcome import Decision, Outcome, Reason
from .settings import PlanSettings
from .spans import spans


class Status(StrEnum):
    """What a plan is doing, or why it does nothing."""

    PLANNED = "planned"
    """A window, or the next piece of one, is ahead."""
    RUNNING = "running"
    DONE = "done"
    """The window of the span that lasts has run, and the next one has none yet."""
    NO_PRICES = "no_prices"
    TOO_LITTLE_TIME = "too_little_time"
    ABOVE_CAP = "above_cap"
    OFF = "off"
    """Neither today nor tomorrow is one of the plan's days."""


_WHY_NONE: Final = {
    Reason.NO_PRICES: Status.NO_PRICES,
    Reason.TOO_LITTLE_TIME: Status.TOO_LITTLE_TIME,
    Reason.ABOVE_CAP: Status.ABOVE_CAP,
}


def status_of(settings: PlanSettings, outcome: Outcome, now: int) -> Status:
    """Return how the plan stands at `now` (UTC seconds), by what it has decided for then."""
    if isinstance(outcome, Decision):
        return Status.RUNNING if outcome.runs_at(now) else Status.PLANNED
    if outcome.last_run is not None and now < outcome.last_run.span.closes:
        return Status.DONE
    if not any(spans(settings, now, day_at(now, days_later=1).end)):
        return Status.OFF
    return _WHY_NONE[outcome.reason]
