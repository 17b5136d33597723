"""The plans of one config entry, and the decisions about these plans.

Plans of the same group are decided together, also over several entries. The planner that decides about a group gives
the planners of other entries what it decided about their plans.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER, SUBENTRY_PLAN
from ..core.market import HOUR_S, Market
from ..plans.begun_window import replanned
from ..plans.group import MOST_TOGETHER, Member, Place, Room, decided_together
from ..plans.outcome import Outcome, Window
from ..plans.plan import (
    PlanStatus,
    missing_kwh,
    next_outcome,
    next_window,
    status_of,
    switched_off_outcome,
    windows_after,
)
from ..plans.settings import PlanError, PlanSettings
from ..plans.steering import SteeredPlan
from ..plans.sun import NO_SUN, Sun, prices_with_sun, sun_kwh, sun_left
from ..prices.timeline import Timeline
from ..storage import StoredState

_KEEP_WINDOWS_S: Final = 14 * 24 * HOUR_S

PLANNERS_OF_HOME: Final[HassKey[dict[str, Planner]]] = HassKey(f"{DOMAIN}_planners")
"""The planners of all loaded entries of the home by the entries' ids. Rehearsals are not part of the home."""

type _PlanKey = tuple[str, str]
"""The ids of a plan's entry and subentry."""


def plans_of(entry: ConfigEntry) -> dict[str, ConfigSubentry]:
    """Return the subentries of an entry that are plans, by id. An entry may also have subentries of other kinds."""
    return {id_: one for id_, one in entry.subentries.items() if one.subentry_type == SUBENTRY_PLAN}


class Planner:
    """Decides when each plan runs, and keeps the decisions.

    The keys of `plans`, `settings`, `outcomes` and `begun_windows` are the ids of plans. `settings` leaves out plans
    whose settings are not valid. `outcomes` contains the newest decisions about the plans. `begun_windows` contains the
    windows that have begun, until two weeks after their end.

    `titles` has the names of all plans, and `timeline` the newest known buying prices.
    `entry_id` is the id of the planner's entry. `of_home` has the planners of all entries of the home by this id, and
    `on_moved` is called after the planner of another entry has moved plans of a group, or has lost one of them.
    """

    def __init__(
        self,
        zone: Market,
        entry_id: str = "",
        of_home: Mapping[str, Planner] = MappingProxyType({}),
        on_moved: Callable[[], None] = lambda: None,
    ) -> None:
        self._zone = zone
        self._entry_id = entry_id
        self._of_home = of_home
        self.on_moved: Final = on_moved
        self.titles: dict[str, str] = {}
        self.timeline: Timeline | None = None
        self._places: dict[str, Place[_PlanKey]] = {}
        self._groups: dict[str, str] = {}
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
        self.titles = titles = {plan.subentry_id: plan.title for plan in plans}
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
        self._sun, self._usual_price, self.timeline = sun, usual_price, timeline
        groups = {plan: self.group_of(plan) for plan in self.settings}
        self._places = {plan: place for plan, place in self._places.items() if groups.get(plan)}
        for plan in (plan for plan, group in groups.items() if not group):
            self.outcomes = {**self.outcomes, plan: self._outcome_of(plan, timeline, now)}
        for group in sorted({group for group in groups.values() if group}):
            self._decide_group(group, now)
        if self._groups.items() - groups.items():
            self._tell_others()  # they have the room of a plan that has left its group
        self._groups = {plan: group for plan, group in groups.items() if group}
        self.outcomes = {plan: self.outcomes[plan] for plan in self.settings}
        self.begun_windows = {
            plan: self._begun_windows_of(plan, outcome, now) for plan, outcome in self.outcomes.items()
        }
        self._later_windows = {
            plan: windows_after(self._in_room(plan), timeline, outcome, now)
            for plan, outcome in self.outcomes.items()
            if isinstance(outcome, Window)
        }
        return self.outcomes

    def _with_sun(self, plan: str, settings: PlanSettings, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, Window):
            return outcome
        return replace(outcome, sun_kwh=sun_kwh(settings, outcome.pieces, outcome.asked_kwh, self._sun_for(plan)))

    def _sun_for(self, plan: str) -> Sun:
        """Return the sun that is left for a plan by the plans before it, and by windows that have begun."""
        if not self._sun.surplus_kw:
            return self._sun
        places = {id_: place for place, id_ in enumerate(self.settings)}
        place = places.get(plan, len(places))
        return sun_left(
            self._sun,
            (
                (self.settings[other], outcome.pieces, outcome.asked_kwh)
                for other, outcome in self.outcomes.items()
                if isinstance(outcome, Window) and other in places and other != plan
                if outcome.locked or places[other] < place
            ),
        )

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
        return next_window(*self._counting(plan, self._in_room(plan), timeline), outcome)

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

    def gave_way_to(self, plan: str) -> list[str] | None:
        """Return the names of the plans for which the plan gave up better time, or None if it is in no group."""
        return self._names(self._places[plan].gave_way_to) if plan in self._places else None

    def outcome_in_group(
        self, plan: str, settings: PlanSettings, timeline: Timeline, now: int, last: Outcome | None
    ) -> tuple[Outcome, list[str]]:
        """Decide about a plan with other settings, and return the names of the plans to which it would give way."""
        if settings.group is None:
            outcome = next_outcome(*self._counting(plan, settings, timeline), now, last)
            return self._with_sun(plan, settings, outcome), []
        group, key = settings.group.casefold(), (self._entry_id, plan)
        members = {**self._members(group), key: Member(*self._counting(plan, settings, timeline), last)}
        limits = (self._limit_kw(group), settings.group_limit_kw)
        limit_kw = min((limit for limit in limits if limit is not None), default=None)
        place = decided_together(members, limit_kw, now)[key]
        return self._with_sun(plan, settings, place.outcome), self._names(place.gave_way_to)

    def check_group(self, plan: str, changed: Mapping[_PlanKey, PlanSettings]) -> None:
        """Raise PlanError if a plan that is to be changed doesn't fit its group.

        `changed` has the new settings of this plan, and of others that are to be changed with it.
        """
        settings = changed[self._entry_id, plan]
        if settings.group is None:
            return
        group = settings.group.casefold()
        all_plans = {
            **{(entry, one): of for entry, planner in self._planners.items() for one, of in planner.settings.items()},
            **changed,
        }
        members = {key: one for key, one in all_plans.items() if one.group and one.group.casefold() == group}
        if len(members) > MOST_TOGETHER:
            raise PlanError("group", "group_full", most=MOST_TOGETHER)
        limit = min((one.group_limit_kw for one in members.values() if one.group_limit_kw), default=None)
        if limit is None:
            return
        if settings.power_kw is None:
            raise PlanError("power", "power_needed_in_group")
        if without := [key for key, one in members.items() if one.power_kw is None]:
            raise PlanError("group_limit", "others_need_power", plans=", ".join(self._names(without)))
        if limit < (most := max(one.power_kw or 0 for one in members.values())):
            raise PlanError("group_limit", "power_above_limit", given=f"{most:g}", limit=f"{limit:g}")

    def room_in(self, group: str) -> Room:
        """Return the power that the plans of a group leave to others."""
        members = [
            (planner.settings[plan], outcome)
            for planner in self._planners.values()
            for plan, outcome in planner.outcomes.items()
            if planner.group_of(plan) == group.casefold()
        ]
        return Room.left_by(members, self._limit_kw(group.casefold()))

    @property
    def _planners(self) -> dict[str, Planner]:
        """The planners of all entries of the home, by the entries' ids."""
        return dict(sorted({**self._of_home, self._entry_id: self}.items()))

    def group_of(self, plan: str) -> str | None:
        """Return the group in which a plan is decided. A plan that is switched off is in none."""
        group = self.settings[plan].group if plan in self.settings and self.plans[plan].enabled else None
        return None if group is None else group.casefold()

    def _limit_kw(self, group: str) -> float | None:
        limits = (
            settings.group_limit_kw
            for planner in self._planners.values()
            for settings in planner.settings.values()
            if settings.group is not None and settings.group.casefold() == group
        )
        return min((limit for limit in limits if limit is not None), default=None)

    def _decide_group(self, group: str, now: int) -> None:
        planners = self._planners
        places = decided_together(self._members(group), self._limit_kw(group), now)
        moved = [planners[entry_id].take(plan, place) for (entry_id, plan), place in places.items()]
        if any(moved):
            self._tell_others()

    def _tell_others(self) -> None:
        """Let the planners of other entries decide again soon."""
        for planner in self._planners.values():
            if planner is not self:
                planner.on_moved()

    def _members(self, group: str) -> dict[_PlanKey, Member]:
        """Return all plans of a group that are switched on. Entries that have no prices yet are left out."""
        return {
            (entry_id, plan): planner.member(plan, planner.timeline)
            for entry_id, planner in self._planners.items()
            if planner.timeline is not None
            for plan in planner.settings
            if planner.group_of(plan) == group
        }

    def _names(self, plans: Iterable[_PlanKey]) -> list[str]:
        planners = self._planners
        named = ((planners.get(entry), plan) for entry, plan in plans)
        return [planner.titles[plan] for planner, plan in named if planner is not None and plan in planner.titles]

    def member(self, plan: str, timeline: Timeline) -> Member:
        """Return a plan as a member of its group, with the buying prices in `timeline`."""
        settings = self.settings[plan]
        only_prices_changed = self._decided_with.get(plan) == _without_need(settings)
        return Member(*self._counting(plan, settings, timeline), self.outcomes.get(plan), only_prices_changed)

    def take(self, plan: str, place: Place[_PlanKey]) -> bool:
        """Keep what was decided about a plan of a group, and return whether it has moved."""
        before, outcome = self.outcomes.get(plan), self._with_sun(plan, self.settings[plan], place.outcome)
        self._places[plan] = place
        self._decided_with[plan] = _without_need(self.settings[plan])
        self.outcomes = {**self.outcomes, plan: outcome}
        return _course(before) != _course(outcome)

    def _in_room(self, plan: str) -> PlanSettings:
        """Return a plan's settings with the times in which the other plans of its group leave no room."""
        place = self._places.get(plan)
        return self.settings[plan] if place is None else replace(self.settings[plan], blocked=place.blocked)

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
        settings, prices = self._counting(plan_id, settings, timeline)
        if not self.plans[plan_id].enabled:
            return switched_off_outcome(prices, now, last)
        outcome = next_outcome(settings, prices, now, last, only_prices_changed=only_prices_changed)
        return self._with_sun(plan_id, settings, outcome)

    def _counting(self, plan: str, settings: PlanSettings, timeline: Timeline) -> tuple[PlanSettings, Timeline]:
        """Return a plan's settings with the usual price, and the buying prices in `timeline` with the sun."""
        prices = prices_with_sun(settings, timeline, self._sun_for(plan))
        return replace(settings, usual_price=self._usual_price), prices

    def _begun_windows_of(self, plan: str, outcome: Outcome, now: int) -> list[Window]:
        newest = outcome if isinstance(outcome, Window) and outcome.locked else outcome.last_run
        # A window that begins at `now` is dropped if it is no longer the plan's window.
        ran = {window.start: window for window in self.begun_windows.get(plan, []) if window.start < now}
        if newest is not None:
            ran[newest.start] = replace(newest, last_run=None)
        return [ran[start] for start in sorted(ran) if start <= now < ran[start].end + _KEEP_WINDOWS_S]


def _course(outcome: Outcome | None) -> object:
    """Return when a plan runs, or why it does not."""
    return outcome.pieces if isinstance(outcome, Window) else outcome and outcome.reason


def _at_most(instant: int | None, now: int) -> int | None:
    return None if instant is None else min(instant, now)


def _without_need(settings: PlanSettings) -> PlanSettings:
    """Return the settings without the energies that the device needs. The length of its need stays in `duration_s`."""
    return replace(settings, energy_kwh=None, needed_since=None, full_kwh=None, full_since=None)
