"""One plan over several days, without Home Assistant: a clock, a market, decisions, and the ledger."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from custom_components.tunnihind.core.market import ESTONIA, HOUR_S, QUARTER_S
from custom_components.tunnihind.ledger.account import Account, LastWindow
from custom_components.tunnihind.ledger.ledger import Ledger
from custom_components.tunnihind.plans.outcome import Outcome, Window
from custom_components.tunnihind.plans.plan import next_outcome
from custom_components.tunnihind.plans.settings import PlanSettings
from custom_components.tunnihind.plans.solver import Piece
from custom_components.tunnihind.prices.days import day_at
from custom_components.tunnihind.prices.timeline import Period, Timeline

DAY_S = 24 * HOUR_S
PLAN = "plan"
KEPT_S = 48 * HOUR_S


def wavy(start: int) -> float:
    """A price by the hour, EUR/kWh, that never repeats within some days."""
    hour = start // HOUR_S
    return round(0.10 + 0.04 * ((hour * 7) % 24 - 11.5) / 11.5 + (hour % 97) / 10_000, 4)


@dataclass
class Life:
    """A plan from `now` on. `price_of` returns the market's price; prices up to `settled_until` are published."""

    settings: PlanSettings
    now: int
    price_of: Callable[[int], float] = wavy
    step_s: int = HOUR_S
    is_published: Callable[[int, int], bool] = lambda _start, _now: True
    """Whether the price of the period from the first instant on is known at the second."""
    forecast_of: Callable[[int], float] | None = None
    ledger: Ledger = field(default_factory=lambda: Ledger(ESTONIA))
    outcome: Outcome | None = None
    pace_s: int = HOUR_S
    """How often the plan is decided. Prices of hours make windows of hours."""
    _on: set[Piece] = field(default_factory=set)

    @property
    def ran(self) -> list[Piece]:
        """The quarters, over by now, in which the device ran."""
        return sorted(quarter for quarter in self._on if quarter[1] <= self.now)

    @property
    def account(self) -> Account:
        account = self.ledger.account(PLAN)
        assert account is not None
        return account

    @property
    def last_window(self) -> LastWindow:
        last = self.account.last_window
        assert last is not None
        return last

    @property
    def timeline(self) -> Timeline:
        midnight = day_at(ESTONIA, self.now, days_later=2).start
        starts = range(self.now - self.now % HOUR_S - KEPT_S, midnight, self.step_s)
        return Timeline(self.step_s, [period for start in starts if (period := self._period(start))])

    def tick(self) -> None:
        """Decide, and let the device run or not until the next quarter."""
        line = self.timeline
        self.outcome = next_outcome(self.settings, line, self.now, self.outcome)
        self.ledger.update({PLAN: self.settings}, {PLAN: self.outcome}, line, self.now)
        # Until the next tick; what comes after is not known yet.
        self._on = {quarter for quarter in self._on if quarter[0] < self.now}
        self._note(self.now + self.pace_s - self.now % self.pace_s)

    def live(self, until: int) -> None:
        """Move time to `until`, including that instant's tick."""
        while self.now < until:
            self.tick()
            self.now = min(self.now + self.pace_s - self.now % self.pace_s, until)
        self.tick()

    def go_off(self, until: int) -> None:
        """Turn Home Assistant off until then. The device goes on with the running piece, and misses the others."""
        if isinstance(self.outcome, Window):
            for start, end in self.outcome.pieces:
                if start <= self.now < end:
                    self._on |= {(quarter, quarter + QUARTER_S) for quarter in range(self.now, end, QUARTER_S)}
        self.now = until

    def restart(self) -> None:
        """Store the ledger as Home Assistant does, and read it again."""
        self.ledger = Ledger.from_dict(json.loads(json.dumps(self.ledger.as_dict())), ESTONIA)

    def _note(self, until: int) -> None:
        if isinstance(self.outcome, Window):
            quarters = range(self.now - self.now % QUARTER_S, until, QUARTER_S)
            self._on |= {(start, start + QUARTER_S) for start in quarters if self.outcome.runs_at(start)}

    def cost(self, quarters: Iterable[Piece]) -> float:
        """Return the cost of 1 kW in the quarters."""
        return sum(self.price_of(start - start % self.step_s) / 4 for start, _ in quarters)

    def at_once(self, start: int, quarters: int) -> float:
        """Return the cost of 1 kW in a number of quarters from `start` on."""
        return self.cost((start + place * QUARTER_S, 0) for place in range(quarters))

    def day_mean(self, instant: int) -> float:
        """Return the mean price of the Estonian day."""
        day = day_at(ESTONIA, instant)
        prices = [self.price_of(start) for start in range(day.start, day.end, self.step_s)]
        return sum(prices) / len(prices)

    def _period(self, start: int) -> Period | None:
        if self.is_published(start, self.now):
            price = self.price_of(start)
            return Period(start, start + self.step_s, price, price, price, settled=True)
        if self.forecast_of is None:
            return None
        median = self.forecast_of(start)
        return Period(start, start + self.step_s, median, median - 0.02, median + 0.03, settled=False)
