"""The plans of one config entry, and the decisions about these plans."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from homeassistant.config_entries import ConfigSubentry

from ..const import LOGGER, SUBENTRY_PLAN
from ..plans.outcome import Decision, Outcome
from ..plans.plan import Status, decide, status_of, switched_off, until, windows_after
from ..plans.settings import PlanSettings
from ..plans.steering import SteeredPlan
from ..prices.timeline import HOUR_S, Timeline
from ..storage import StoredState

# How long a window is kept after its end.
_KEEP_RAN_S: Final = 14 * 24 * HOUR_S


class Planner:
    """Decides when each plan runs, and keeps the decisions.

    A window that has begun does not move. The keys of `settings`, `outcomes` and `ran` are the ids of plans. `settings`
    contains only valid settings. `outcomes` contains the newest decision about each plan. `ran` contains each plan's
    windows of the last two weeks.
    """

    def __init__(self) -> None:
        self._plans: dict[str, SteeredPlan] = {}
        self.settings: dict[str, PlanSettings] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.ran: dict[str, list[Decision]] = {}
        self._after: dict[str, tuple[Decision, ...]] = {}

    def restore(self, subentries: Iterable[ConfigSubentry], kept: StoredState) -> None:
        """Restore the plans with their stored changes, decisions and past windows."""
        self._plans = dict(kept.steered)
        self.update(subentries)
        self.ran = {plan: list(kept.ran.get(plan, ())) for plan in self.settings}
        self.outcomes = {plan: kept.outcomes[plan] for plan in self.settings if plan in kept.outcomes}

    def update(self, subentries: Iterable[ConfigSubentry]) -> None:
        """Read the plans from `subentries`. A window that has begun stays as it was planned."""
        plans = [subentry for subentry in subentries if subentry.subentry_type == SUBENTRY_PLAN]
        titles = {plan.subentry_id: plan.title for plan in plans}
        self._plans = {plan.subentry_id: self._with_current_form(plan) for plan in plans}
        self.settings = {}
        for plan_id, plan in self._plans.items():
            try:
                self.settings[plan_id] = plan.settings()
            except ValueError as error:
                LOGGER.error("the plan %r can't be used and must be set up again: %s", titles[plan_id], error)

    def plan(self, plan_id: str) -> SteeredPlan | None:
        """Return the plan with this id. If no plan has this id, or the plan's settings are not valid, return None."""
        return self._plans[plan_id] if plan_id in self.settings else None

    def take(self, plans: Mapping[str, SteeredPlan], now: int, *, replan: bool = False) -> None:
        """From `now` (UTC seconds) on, use `plans` in place of the earlier plans with the same ids.

        If `replan` is true, each of `plans` ends its running window at `now`, and may get a new window in the present
        span. If one of the plans is not valid, change no plan and raise ValueError.
        """
        settings = {plan_id: plan.settings() for plan_id, plan in plans.items()}
        self._plans |= plans
        self.settings |= settings
        if replan:
            for plan_id in plans:
                self.outcomes.pop(plan_id, None)
                ended = (until(window, now) for window in self.ran.get(plan_id, ()))
                self.ran[plan_id] = [window for window in ended if window]

    def forget(self) -> None:
        """Forget all decisions about the plans, and the windows that have run."""
        self.outcomes, self.ran = {}, {}

    def decide(self, timeline: Timeline, now: int) -> Mapping[str, Outcome]:
        """Return every plan's window as of `now` (UTC seconds), or the reason why the plan has no window."""
        self.outcomes = {plan: self._decide_one(plan, timeline, now) for plan in self.settings}
        self.ran = {plan: self._windows_run(plan, outcome, now) for plan, outcome in self.outcomes.items()}
        self._after = {
            plan: windows_after(self.settings[plan], timeline, outcome, now)
            for plan, outcome in self.outcomes.items()
            if isinstance(outcome, Decision)
        }
        return self.outcomes

    def windows(self, plan: str) -> list[Decision]:
        """Return the plan's windows of the last two weeks and its future windows.

        Only a plan that covers all hours below or above a price limit may have several future windows.
        """
        outcome, ran = self.outcomes.get(plan), self.ran.get(plan, [])
        ahead = [outcome] if isinstance(outcome, Decision) and not outcome.locked else []
        return [*ran, *ahead, *self._after.get(plan, ())]

    def status(self, plan: str, now: int) -> Status | None:
        """Return the plan's status at `now` (UTC seconds).

        If the plan has no valid settings or no decision, return None.
        """
        settings, outcome = self.settings.get(plan), self.outcomes.get(plan)
        return status_of(settings, outcome, now) if settings and outcome else None

    @property
    def steered(self) -> Mapping[str, SteeredPlan]:
        """The plans that are switched off, and those that entities or actions have changed, keyed by id."""
        return {plan_id: plan for plan_id, plan in self._plans.items() if plan.changes or not plan.enabled}

    def _with_current_form(self, subentry: ConfigSubentry) -> SteeredPlan:
        """Return the plan with its current form. If the form differs or the changes don't fit it, drop the changes."""
        form = dict(subentry.data)
        plan = self._plans.get(subentry.subentry_id, SteeredPlan(form)).with_form(form)
        try:
            plan.settings()
        except ValueError as error:
            if plan.changes:
                LOGGER.warning(
                    "the changes of the plan %r no longer fit its form and are dropped: %s", subentry.title, error
                )
            return plan.without_changes()
        return plan

    def _decide_one(self, plan_id: str, timeline: Timeline, now: int) -> Outcome:
        last = self.outcomes.get(plan_id)
        if self._plans[plan_id].enabled:
            return decide(self.settings[plan_id], timeline, now, last)
        return switched_off(timeline, now, last)

    def _windows_run(self, plan: str, outcome: Outcome, now: int) -> list[Decision]:
        """Return the plan's past and running windows of the last two weeks.

        A window is left out if its plan was switched off or planned again in the second of the window's start.
        """
        newest = outcome if isinstance(outcome, Decision) and outcome.locked else outcome.last_run
        ran = {window.start: window for window in self.ran.get(plan, []) if window.start < now}
        if newest is not None:
            ran[newest.start] = replace(newest, last_run=None)
        return [ran[start] for start in sorted(ran) if start <= now < ran[start].end + _KEEP_RAN_S]
