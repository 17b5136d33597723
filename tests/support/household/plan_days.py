"""Days of a made-up market, quarter by quarter, with publication, forecasts and losses."""

import json
import math
from dataclasses import asdict, dataclass, field
from functools import cache

from custom_components.tunnihind.core.market import HOUR_S
from custom_components.tunnihind.plans.outcome import Outcome, Window, outcome_from_dict
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.spans import Span
from custom_components.tunnihind.prices.timeline import Period, Timeline
from tests.support.household.timelines import DAY_S, QUARTER_S
from tunnihind.core.market import day_end, day_start, delivery_day, publication_time

FORECAST_S = 48 * HOUR_S


def true_price(start: int) -> float:
    """Return the actual price of an hour: a daily wave with random noise, sometimes below zero."""
    return round(0.08 + 0.05 * math.sin(start / DAY_S * 2 * math.pi) + 0.2 * (noise(start) - 0.5), 4)


def noise(seed: int) -> float:
    """Return a number from 0 to 1 that looks random, and is always the same for a seed."""
    return math.sin(seed / HOUR_S * 12.9898) * 43758.5453 % 1


@cache
def timeline_at(now: int, *, late_s: int = 0) -> Timeline:
    """Return a server's answer at `now`: settled hours, then that hour's forecast.

    With `late_s`, each day's prices are published that many seconds later.
    """
    tomorrow = delivery_day(now + DAY_S)
    newest = tomorrow if publication_time(tomorrow) + late_s <= now else delivery_day(now)
    settled_until = day_end(newest)
    return Timeline(
        HOUR_S,
        [
            *(_settled(start) for start in range(day_start(delivery_day(now - DAY_S)), settled_until, HOUR_S)),
            *(_predicted(start, now) for start in range(settled_until, settled_until + FORECAST_S, HOUR_S)),
        ],
    )


def _settled(start: int) -> Period:
    price = true_price(start)
    return Period(start, start + HOUR_S, price, price, price, settled=True)


def _predicted(start: int, now: int) -> Period:
    p50 = round(true_price(start) + 0.1 * (noise(7 * start + now // HOUR_S * HOUR_S) - 0.5), 4)
    return Period(start, start + HOUR_S, p50, p50 - 0.04, p50 + 0.06, settled=False)


def goes_on(held: Window, outcome: Window) -> bool:
    """Return whether a window that has begun has not moved.

    Only a shortened window may have more pieces. If it has an energy, its pieces may also move to get more time.
    """
    if not held.shortened:
        return outcome.pieces == held.pieces
    if held.asked_kwh is not None:
        return outcome.start == held.start and _length_s(outcome) >= _length_s(held)
    known = len(held.pieces) - 1
    return (
        outcome.pieces[:known] == held.pieces[:known]
        and outcome.pieces[known][0] == held.pieces[known][0]
        and outcome.pieces[known][1] >= held.pieces[known][1]
    )


def _length_s(window: Window) -> int:
    return sum(end - start for start, end in window.pieces)


@dataclass
class Household:
    """A household whose plan decides every quarter of an hour.

    Between two decisions the plan is stored as JSON, as over a restart.
    """

    plan: PlanSettings
    outcome: Outcome | None = None
    runs: dict[Span, Window] = field(default_factory=dict)
    on: dict[Span, int] = field(default_factory=dict)

    def tick(self, now: int, timeline: Timeline) -> None:
        """Decide, and note the quarters in which the plan runs."""
        self.outcome = next_outcome(self.plan, timeline, now, self.outcome)
        if isinstance(self.outcome, Window) and self.outcome.runs_at(now):
            held = self.runs.get(self.outcome.span, self.outcome)
            assert goes_on(held, self.outcome), "a window has moved after it had started"
            self.runs[self.outcome.span] = self.outcome
            self.on[self.outcome.span] = self.on.get(self.outcome.span, 0) + QUARTER_S
        self.outcome = outcome_from_dict(json.loads(json.dumps(asdict(self.outcome))))
