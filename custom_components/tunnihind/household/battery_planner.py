"""Plans the batteries of one config entry in the background, and keeps their plans.

A battery is planned anew in each quarter-hour, with new prices or settings, when its sun forecast changes, and when its
state of charge differs from what the plan expects.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from homeassistant.config_entries import ConfigEntry, ConfigSubentry
from homeassistant.core import CALLBACK_TYPE, Event, EventStateChangedData, HomeAssistant, callback
from homeassistant.helpers.event import async_track_state_change_event
from homeassistant.helpers.start import async_at_started

from ..battery.outlook import outlook, usual_load
from ..battery.plan import WITHOUT_PLAN, Action, BatteryPlan, battery_plan
from ..battery.settings import DEFAULTS, BatterySettings, SteeredBattery
from ..client.clock import EntryClock
from ..const import LOGGER, SUBENTRY_BATTERY
from ..core.market import DAY_S, HOUR_S, QUARTER_S, Market
from ..plans.group import Room
from ..prices.timeline import Timeline
from .home_energy import (
    STATE_OF_CHARGE_REASONS,
    HomeEnergy,
    HomeEnergyReader,
    NoPlanReason,
    NotKnown,
    Reading,
    reading_of,
)

# If the stored energy differs by more than this part of the capacity from what the plan expects, the plan is made anew.
_JUMP_PART: Final = 0.05
# A state of charge is old if it was not reported although the battery should have changed by this part of its capacity.
_UNREPORTED_PART: Final = 0.1
_UNREPORTED_S: Final = 30 * 60
# The home's use in an hour is unusual if it is this many times larger or smaller than expected, and by this much.
_UNUSUAL_RATIO: Final = 2
_UNUSUAL_KWH: Final = 0.5


def batteries_of(entry: ConfigEntry) -> dict[str, ConfigSubentry]:
    """Return the subentries of an entry that are batteries, by id."""
    return {id_: one for id_, one in entry.subentries.items() if one.subentry_type == SUBENTRY_BATTERY}


class PlanNote(StrEnum):
    """What people should know about a battery's plan."""

    SUN_FORECAST_ENDS = "sun_forecast_ends"
    """The sun's forecast ends before the plan does. From then on, the mean of the past two weeks stands in."""
    SUN_ENDS = "sun_ends"
    """The sun's forecast ends before the plan does, and the past sun is not known. From then on, no sun is expected."""
    WITHOUT_SUN = "without_sun"
    """The home has no sun, according to the Energy dashboard and the battery's form."""
    UNUSUAL_LOAD = "unusual_load"
    """The home's use in the last hour was much larger or smaller than usual."""
    NOT_SELLING = "not_selling"
    """The household has no prices for selling, so the plan expects nothing for its surplus."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided about a battery: a plan, or the reason why there is none.

    `settings` and `reading` are those of the plan. `missing` has the names of missing meters.
    """

    reason: NoPlanReason | None = None
    missing: tuple[str, ...] = ()
    plan: BatteryPlan | None = None
    settings: BatterySettings | None = None
    reading: Reading | None = None
    notes: tuple[PlanNote, ...] = ()

    @property
    def action(self) -> Action:
        """What the battery does now."""
        return WITHOUT_PLAN if self.plan is None else self.plan.action

    def expected_kwh(self, now: int) -> float | None:
        """Return the energy that the plan expects to be stored at `now` (UTC seconds), or None without a plan."""
        if self.plan is None or self.reading is None:
            return None
        steps, course = self.plan.steps, self.plan.course
        times = [*steps.starts, steps.end]
        return float(np.interp(now, times, [self.reading.stored_kwh, *course.stored_kwh]))


_NOT_PLANNED_YET: Final = Decision(NoPlanReason.NOT_PLANNED_YET)


class BatteryPlanner:
    """Plans batteries, and calls `on_planned` after each change of their decisions.

    `room_in` returns the room that the plans of a group leave.

    The keys of `batteries`, `settings` and `decisions` are the ids of batteries. `settings` leaves out batteries whose
    settings are not valid. `reader` reads the home's energy.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        clock: EntryClock,
        zone: Market,
        room_in: Callable[[str], Room],
        on_planned: Callable[[], None],
    ) -> None:
        self._hass = hass
        self._entry = entry
        self._clock = clock
        self._zone = zone
        self._room_in = room_in
        self._on_planned = on_planned
        self.reader: Final = HomeEnergyReader(hass)
        self.batteries: dict[str, SteeredBattery] = {}
        self.settings: dict[str, BatterySettings] = {}
        self.decisions: dict[str, Decision] = {}
        self._prices: tuple[int, Timeline, Timeline | None] | None = None
        self._rooms: dict[str, Room] = {}
        # The last decisions with a plan. Actions stay steady even if the state of charge is not known for a moment.
        self._last_plans: dict[str, Decision] = {}
        self._unreported: dict[str, tuple[int, float]] = {}
        self._outdated: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._stop: CALLBACK_TYPE | None = None
        entry.async_on_unload(self._stop_tracking)
        entry.async_on_unload(async_at_started(hass, self._async_plan_all))

    def battery(self, battery_id: str) -> SteeredBattery | None:
        """Return the battery with this id, or None if there is none or its settings are not valid."""
        return self.batteries[battery_id] if battery_id in self.settings else None

    def decision(self, battery_id: str) -> Decision:
        """Return what is decided about a battery."""
        return self.decisions.get(battery_id, _NOT_PLANNED_YET)

    @callback
    def async_update_batteries(
        self, subentries: Collection[ConfigSubentry], kept: Mapping[str, SteeredBattery] | None = None
    ) -> None:
        """Read the forms of all batteries, and plan those that have changed. `kept` has stored batteries.

        An error is logged for each battery whose settings are not valid.
        """
        known = self.batteries if kept is None else kept
        forms = {one.subentry_id: {**DEFAULTS, **one.data} for one in subentries}
        titles = {one.subentry_id: one.title for one in subentries}
        self.batteries = {id_: known.get(id_, SteeredBattery(form)).with_form(form) for id_, form in forms.items()}
        self._use({})
        for battery_id in self.batteries.keys() - self.settings.keys():
            LOGGER.error("the battery %r can't be used and must be set up again", titles[battery_id])

    @callback
    def async_replace_batteries(self, batteries: Mapping[str, SteeredBattery], *, replan: bool = False) -> None:
        """Use `batteries` in place of the earlier batteries with the same ids, and plan them anew.

        If `replan` is true, the actions of their last plans don't count.
        """
        if replan:
            self._last_plans = {id_: one for id_, one in self._last_plans.items() if id_ not in batteries}
        self._use(batteries)

    def _use(self, changed: Mapping[str, SteeredBattery]) -> None:
        self.batteries |= changed
        before, self.settings = self.settings, {}
        for battery_id, battery in self.batteries.items():
            try:
                self.settings[battery_id] = battery.settings()
            except (LookupError, TypeError, ValueError) as error:
                LOGGER.debug("the settings of the battery %s are not valid: %r", battery_id, error)
        self.decisions = {id_: one for id_, one in self.decisions.items() if id_ in self.settings}
        self._track_entities()
        self._async_plan({*changed, *(id_ for id_, one in self.settings.items() if before.get(id_) != one)})

    @callback
    def async_update_prices(self, now: int, buying: Timeline, selling: Timeline | None) -> None:
        """Plan all batteries anew if a quarter-hour has begun, or if prices or plans of their groups have changed.

        `now` is in UTC seconds. `selling` is None if the household sells no electricity.
        """
        before, self._prices = self._prices, (now, buying, selling)
        rooms_before = self._rooms
        self._rooms = {id_: self._room_in(one.group) for id_, one in self.settings.items() if one.group}
        is_same = before is not None and (before[0] // QUARTER_S, *before[1:]) == (now // QUARTER_S, buying, selling)
        if not is_same or rooms_before != self._rooms:
            self._async_plan(self.settings)

    @callback
    def _async_plan_all(self, _: HomeAssistant) -> None:
        """Plan all batteries after Home Assistant's start, because the sun's forecast may come after the prices."""
        self._async_plan(self.settings)

    def forget_decisions(self) -> None:
        """Forget all decisions about the batteries."""
        self.decisions, self._last_plans = {}, {}

    def diagnostics(self) -> dict[str, Any]:
        """Return the batteries and their decisions for a bug report, as JSON values."""
        return {id_: {"steered": asdict(one), **_summary(self.decision(id_))} for id_, one in self.batteries.items()}

    def _stop_tracking(self) -> None:
        if self._stop is not None:
            self._stop()

    def _track_entities(self) -> None:
        self._stop_tracking()
        entities = {
            entity
            for settings in self.settings.values()
            for entity in (settings.state_of_charge, settings.sun_forecast)
            if entity is not None
        }
        self._stop = async_track_state_change_event(self._hass, entities, self._async_entity_changed)

    @callback
    def _async_entity_changed(self, event: Event[EventStateChangedData]) -> None:
        entity = event.data["entity_id"]
        self._async_plan(
            battery_id
            for battery_id, settings in self.settings.items()
            if entity == settings.sun_forecast or (entity == settings.state_of_charge and self._is_surprise(battery_id))
        )

    def _is_surprise(self, battery_id: str) -> bool:
        """Return whether the state of charge is not what the battery's plan expects."""
        settings, decision = self.settings[battery_id], self.decision(battery_id)
        try:
            reading = reading_of(self._hass.states.get(settings.state_of_charge), settings.capacity_kwh)
        except NotKnown as unknown:
            return decision.reason is not unknown.reason
        expected = decision.expected_kwh(self._clock.now())
        if expected is None:
            return decision.reason in STATE_OF_CHARGE_REASONS
        return abs(reading.stored_kwh - expected) > _JUMP_PART * settings.capacity_kwh

    @callback
    def _async_plan(self, battery_ids: Iterable[str]) -> None:
        self._outdated.update(battery_ids)
        if self._outdated and self._prices is not None and (self._task is None or self._task.done()):
            self._task = self._entry.async_create_background_task(
                self._hass, self._async_plan_outdated(), f"{self._entry.title} batteries"
            )

    async def _async_plan_outdated(self) -> None:
        """Plan until no battery is outdated. A decision counts only if nothing about its battery changed meanwhile."""
        while self._outdated:
            battery_id = self._outdated.pop()
            if battery_id not in self.settings:
                continue
            battery, last = self.batteries[battery_id], self._last_plans.get(battery_id)
            try:
                decision = await self._async_decide(battery_id, self.settings[battery_id])
            except NotKnown as unknown:
                decision = Decision(unknown.reason, unknown.missing)
            except Exception:  # noqa: BLE001  without a decision, the last command would go on
                LOGGER.exception("the battery %s can't be planned", battery_id)
                decision = Decision(NoPlanReason.PLANNING_FAILED)
            if self.batteries.get(battery_id) is not battery or self._last_plans.get(battery_id) is not last:
                self._outdated.add(battery_id)
            else:
                self.decisions[battery_id] = decision
                if decision.plan is not None:
                    self._last_plans[battery_id] = decision
                self._on_planned()

    async def _async_decide(self, battery_id: str, settings: BatterySettings) -> Decision:
        """Plan a battery. Raises NotKnown if something that the plan needs is not known."""
        if not self.batteries[battery_id].enabled:
            raise NotKnown(NoPlanReason.SWITCHED_OFF)
        if self._prices is None or self._prices[1].period_at(self._clock.now()) is None:
            raise NotKnown(NoPlanReason.NO_PRICES)
        _, buying, selling = self._prices
        now, ahead_s = self._clock.now(), self._clock.ahead_s
        reading = reading_of(self._hass.states.get(settings.state_of_charge), settings.capacity_kwh)
        if self._is_old(battery_id, settings, reading, now):
            raise NotKnown(NoPlanReason.STATE_OF_CHARGE_OLD)
        home = await self.reader.read(settings, now - ahead_s, sells=selling is not None)
        last = self._last_plans.get(battery_id, _NOT_PLANNED_YET)
        room = self._room_in(settings.group) if settings.group else None
        return await self._hass.async_add_executor_job(
            _decide, settings, reading, buying, selling, room, now, self._zone, home.shifted(ahead_s), last
        )

    def _is_old(self, battery_id: str, settings: BatterySettings, reading: Reading, now: int) -> bool:
        """Return whether the reading is too old to command the battery.

        While a battery holds its energy, its entity may report nothing.
        """
        last = self.decision(battery_id)
        reported_at, moved = self._unreported.get(battery_id, (0, 0.0))
        if reported_at != reading.reported_at:
            moved = 0.0
        elif last.reading and last.action in {Action.CHARGE, Action.DISCHARGE, Action.SELL}:
            moved += abs((last.expected_kwh(now) or 0.0) - last.reading.stored_kwh)
        self._unreported[battery_id] = reading.reported_at, moved
        silent_s = self._clock.to_home_assistant_time(now) - reading.reported_at
        is_silent = silent_s > _UNREPORTED_S and moved > _UNREPORTED_PART * settings.capacity_kwh
        return is_silent or silent_s > DAY_S


def _decide(
    settings: BatterySettings,
    reading: Reading,
    buying: Timeline,
    selling: Timeline | None,
    room: Room | None,
    now: int,
    zone: Market,
    home: HomeEnergy,
    last: Decision,
) -> Decision:
    """Return the decision as of `now`. Raises NotKnown if the price or the load of the present hour is not known."""
    end = buying.known_until or now
    battery = settings.battery if selling is not None else replace(settings.battery, sells=False)
    ahead = outlook(
        battery,
        buying,
        selling,
        now,
        load_kwh=usual_load(home.past_load, zone, now, end),
        sun_kwh=home.sun_forecast,
        usual_sun_kwh=home.usual_sun(now, end),
        room=room,
    )
    if ahead is None:
        raise NotKnown(NoPlanReason.NO_LOAD)
    plan = battery_plan(
        battery,
        ahead.steps,
        reading.stored_kwh,
        end_worth=ahead.end_worth,
        targets=tuple(settings.targets(zone, now, ahead.steps.end)),
        last=last.plan if last.settings == settings else None,
        threshold=settings.threshold,
    )
    notes = {
        PlanNote.SUN_FORECAST_ENDS: ahead.sun_known_until is not None and home.past_sun,
        PlanNote.SUN_ENDS: ahead.sun_known_until is not None and not home.past_sun,
        PlanNote.WITHOUT_SUN: not home.sun_forecast,
        PlanNote.UNUSUAL_LOAD: _is_load_unusual(home.past_load, zone),
        PlanNote.NOT_SELLING: selling is None and settings.battery.sells,
    }
    return Decision(
        plan=plan, settings=settings, reading=reading, notes=tuple(note for note, holds in notes.items() if holds)
    )


def _is_load_unusual(past_load: Mapping[int, float], zone: Market) -> bool:
    """Return whether the home's use in the last known hour was much larger or smaller than usual."""
    hour = max(past_load)
    usual = usual_load(past_load, zone, hour, hour + HOUR_S).get(hour, past_load[hour])
    small, large = sorted((usual, past_load[hour]))
    return large >= _UNUSUAL_RATIO * small and large - small >= _UNUSUAL_KWH


def _summary(decision: Decision) -> dict[str, Any]:
    plan = decision.plan
    return {
        "reason": decision.reason,
        "missing": decision.missing,
        "notes": decision.notes,
        "reading": asdict(decision.reading) if decision.reading else None,
        "plan": plan
        and {
            "made_at": plan.made_at,
            "action": plan.action,
            "power_kw": plan.power_kw,
            "until": plan.until,
            "saving": plan.saving,
            "end_worth": plan.end_worth,
            "course_kw": plan.course.power_kw.tolist(),
            "use_kw": plan.steps.use_kw.tolist(),
        },
    }
