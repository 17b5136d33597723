"""The plans of one config entry, and the decisions about these plans."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry

from ..const import LOGGER, SUBENTRY_PLAN
from ..core.market import HOUR_S, Market
from ..plans.outcome import Outcome, Window
from ..plans.plan import (
    PlanStatus,
    missing_kwh,
    next_outcome,
    next_window,
    replanned,
    status_of,
    switched_off_outcome,
    windows_after,
)
from ..plans.settings import PlanSettings
from ..plans.steering import SteeredPlan
from ..plans.sun import NO_SUN, Sun, prices_with_sun, sun_kwh
from ..prices.timeline import Timeline
from ..storage import StoredState

_KEEP_WINDOWS_S: Final = 14 * 24 * HOUR_S


def plans_of(entry: ConfigEntry) -> dict[str, ConfigSubentry]:
    """Return the subentries of an entry that are plans, by id. An entry may also have subentries of other kinds."""
    return {id_: one for id_, one in entry.subentries.items() if one.subentry_type == SUBENTRY_PLAN}


class Planner:
    """Decides when each plan runs, and keeps the decisions.

    The keys of `plans`, `settings`, `outcomes` and `begun_windows` are the ids of plans. `settings` leaves out plans
    whose settings are not valid. `outcomes` contains the newest decisions about the plans. `begun_windows` contains the
    windows that have begun, until two weeks after their end.
    """

    def __init__(self, zone: Market) -> None:
        self._zone = zone
        self.plans: dict[str, SteeredPlan] = {}
        self.settings: dict[str, PlanSettings] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.begun_windows: dict[str, list[Window]] = {}
        self._later_windows: dict[str, tuple[Window, ...]] = {}
        self._sun = NO_SUN
        self._usual_price: float | None = None
        # The settings with which each of `outcomes` was decided, apart from the time of the device's need.
        self._decided_with: dict[str, PlanSettings] = {}

    def restore(self, plans: Collection[ConfigSubentry], kept: StoredState, now: int) -> None:
        """Read the forms of `plans`, and all other data of the plans from `kept`.

        The other data are changed values, the states of the plans' switches, decisions, and windows that have begun.
        """
        self.plans = dict(kept.steered)
        self.update_plans(plans, now)
        self.begun_windows = {plan: list(kept.ran.get(plan, ())) for plan in self.settings}
        self.outcomes = {plan: kept.outcomes[plan] for plan in self.settings if plan in kept.outcomes}
        self._decided_with = {plan: _without_need(self.settings[plan]) for plan in self.outcomes}

    def update_plans(self, plans: Collection[ConfigSubentry], now: int) -> None:
        """Read the forms of all plans, and log an error for each plan whose settings are not valid.

        `now` is in UTC seconds.
        """
        titles = {plan.subentry_id: plan.title for plan in plans}
        self.plans = {plan.subentry_id: self._plan_with_current_form(plan, now) for plan in plans}
        self.settings = {}
        for plan_id, plan in self.plans.items():
            try:
                self.settings[plan_id] = plan.settings(self._zone)
            except (TypeError, ValueError) as error:
                LOGGER.error("the plan %r can't be used and must be set up again: %s", titles[plan_id], error)

    def plan(self, plan_id: str) -> SteeredPlan | None:
        """Return the plan with this id. If no plan has this id, or the plan's settings are not valid, return None."""
        return self.plans[plan_id] if plan_id in self.settings else None

    def replace_plans(self, plans: Mapping[str, SteeredPlan], now: int, *, replan: bool = False) -> None:
        """Use `plans` in place of the earlier plans with the same ids.

        If `replan` is true, each plan chooses its time again at `now` (UTC seconds). What has begun stays as
        `replanned` says. If the window of the present span is over, a plan by duration may get another window in this
        span. If the settings of one of the plans are not valid, change no plan and raise ValueError.
        """
        settings = {plan_id: plan.settings(self._zone) for plan_id, plan in plans.items()}
        self.plans |= plans
        self.settings |= settings
        if replan:
            for plan_id in plans:
                last = self.outcomes.pop(plan_id, None)
                if staying := replanned(settings[plan_id], last, now):
                    self.outcomes[plan_id] = staying

    def forget_decisions(self) -> None:
        """Forget all decisions about the plans, and the windows that have begun."""
        self.outcomes, self.begun_windows = {}, {}

    def update_outcomes(
        self, timeline: Timeline, now: int, sun: Sun = NO_SUN, *, usual_price: float | None = None
    ) -> Mapping[str, Outcome]:
        """Decide about each plan in `settings` as of `now` (UTC seconds). Return the decisions, keyed by plan id.

        `timeline` has the buying prices. `usual_price` is the price in EUR/kWh up to which a device is charged until it
        is full. What was said in the future, before the clock was set back, counts from `now` on.
        """
        ahead = {
            plan_id: replace(
                plan,
                needed_since=_at_most(plan.needed_since, now),
                full_since=_at_most(plan.full_since, now),
                said_at=_at_most(plan.said_at, now),
            )
            for plan_id, plan in self.plans.items()
            if plan_id in self.settings and max(plan.needed_since or 0, plan.full_since or 0, plan.said_at or 0) > now
        }
        self.replace_plans(ahead, now)
        self._sun, self._usual_price = sun, usual_price
        self.outcomes = {plan: self._outcome_of(plan, timeline, now) for plan in self.settings}
        self.begun_windows = {
            plan: self._begun_windows_of(plan, outcome, now) for plan, outcome in self.outcomes.items()
        }
        self._later_windows = {
            plan: windows_after(self.settings[plan], timeline, outcome, now)
            for plan, outcome in self.outcomes.items()
            if isinstance(outcome, Window)
        }
        return self.outcomes

    def outcome_with(
        self,
        settings: PlanSettings,
        timeline: Timeline,
        now: int,
        last: Outcome | None,
        *,
        only_prices_changed: bool = False,
    ) -> Outcome:
        """Decide about a plan as `next_outcome` does, with the sun and the usual price known last."""
        settings, prices = self._counting(settings, timeline)
        outcome = next_outcome(settings, prices, now, last, only_prices_changed=only_prices_changed)
        if not isinstance(outcome, Window):
            return outcome
        return replace(outcome, sun_kwh=sun_kwh(settings, outcome.pieces, outcome.asked_kwh, self._sun))

    def windows(self, plan: str) -> list[Window]:
        """Return the plan's windows of the last two weeks, its running window, and its known future windows.

        Only a plan that covers all hours below or above a price limit may have several future windows.
        """
        outcome, ran = self.outcomes.get(plan), self.begun_windows.get(plan, [])
        ahead = [outcome] if isinstance(outcome, Window) and not outcome.locked else []
        return [*ran, *ahead, *self._later_windows.get(plan, ())]

    def next_window(self, plan: str, timeline: Timeline) -> Window | None:
        """Return the window that will follow the plan's present window, or None if one of the two is not known."""
        settings, outcome = self.settings.get(plan), self.outcomes.get(plan)
        if settings is None or not isinstance(outcome, Window):
            return None
        return next_window(*self._counting(settings, timeline), outcome)

    def status(self, plan: str, now: int) -> PlanStatus | None:
        """Return the plan's status at `now` (UTC seconds).

        If the plan has no valid settings or no decision, return None.
        """
        settings, outcome = self.settings.get(plan), self.outcomes.get(plan)
        return status_of(settings, outcome, now) if settings and outcome else None

    def missing_kwh(self, plan: str, now: int) -> float | None:
        """Return the part of the plan's energy for which the present span has no time, in kWh.

        `now` is in UTC seconds. If the plan has no energy or no decision, or is switched off, return None.
        """
        settings, outcome = self.settings.get(plan), self.outcomes.get(plan)
        return missing_kwh(settings, outcome, now) if settings and outcome else None

    def _plan_with_current_form(self, subentry: ConfigSubentry, now: int) -> SteeredPlan:
        """Return the plan with the form in `subentry`.

        If the form differs from the plan's earlier form or doesn't fit the plan's changed values, drop these values.
        """
        form = dict(subentry.data)
        plan = self.plans.get(subentry.subentry_id, SteeredPlan.made(form, now)).with_form(form, now)
        try:
            plan.settings(self._zone)
        except (TypeError, ValueError) as error:
            if plan.changes:
                LOGGER.warning(
                    "the changes of the plan %r no longer fit its form and are dropped: %s", subentry.title, error
                )
            return plan.without_changes()
        return plan

    def _outcome_of(self, plan_id: str, timeline: Timeline, now: int) -> Outcome:
        last, settings = self.outcomes.get(plan_id), self.settings[plan_id]
        only_prices_changed = self._decided_with.get(plan_id) == _without_need(settings)
        self._decided_with[plan_id] = _without_need(settings)
        if self.plans[plan_id].enabled:
            return self.outcome_with(settings, timeline, now, last, only_prices_changed=only_prices_changed)
        _, prices = self._counting(settings, timeline)
        return switched_off_outcome(prices, now, last)

    def _counting(self, settings: PlanSettings, timeline: Timeline) -> tuple[PlanSettings, Timeline]:
        """Return a plan's settings with the usual price, and the buying prices in `timeline` with the sun."""
        return replace(settings, usual_price=self._usual_price), prices_with_sun(settings, timeline, self._sun)

    def _begun_windows_of(self, plan: str, outcome: Outcome, now: int) -> list[Window]:
        newest = outcome if isinstance(outcome, Window) and outcome.locked else outcome.last_run
        # A window that begins at `now` is dropped if it is no longer the plan's window.
        ran = {window.start: window for window in self.begun_windows.get(plan, []) if window.start < now}
        if newest is not None:
            ran[newest.start] = replace(newest, last_run=None)
        return [ran[start] for start in sorted(ran) if start <= now < ran[start].end + _KEEP_WINDOWS_S]


def _at_most(instant: int | None, now: int) -> int | None:
    return None if instant is None else min(instant, now)


def _without_need(settings: PlanSettings) -> PlanSettings:
    """Return the settings without the energies that the device needs. The length of its need stays in `duration_s`."""
    return replace(settings, energy_kwh=None, needed_since=None, full_kwh=None, full_since=None)
