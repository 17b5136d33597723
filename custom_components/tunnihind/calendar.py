"""A calendar with the windows of all plans, and with what batteries do."""

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Final, override

from homeassistant.components.calendar import CalendarEntity, CalendarEntityDescription, CalendarEvent
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.translation import async_get_cached_translations
from homeassistant.util import dt as dt_util

from .battery.plan import Action
from .const import DOMAIN
from .coordinator import TunnihindConfigEntry
from .entity import BATTERY_ACTION, AlwaysAvailableEntity
from .household.battery_planner import batteries_of
from .household.planner import plans_of
from .prices.units import unit_of

PARALLEL_UPDATES = 0
PLAN_CALENDAR: Final = CalendarEntityDescription(key="plans")
# The other actions have no events: they say what to do with surplus sun, or they do nothing.
_SHOWN_ACTIONS: Final = (Action.CHARGE, Action.DISCHARGE, Action.SELL)
_ACTION_KEY_PREFIX: Final = f"component.{DOMAIN}.entity.sensor.{BATTERY_ACTION}.state"


@dataclass(frozen=True, slots=True)
class _Occasion:
    """What the calendar shows from `start` to `end` (UTC seconds, on the `EntryClock`). `id_` is a subentry's id."""

    start: int
    end: int
    id_: str
    title: str
    description: str


type _Part = tuple[datetime, datetime, _Occasion]
"""The start and the end of an event, and what it shows."""


async def async_setup_entry(
    hass: HomeAssistant,
    entry: TunnihindConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add the calendar."""
    async_add_entities([PlanCalendar(entry.runtime_data, PLAN_CALENDAR)])


class PlanCalendar(AlwaysAvailableEntity, CalendarEntity):
    """A calendar whose events are the pieces of all plans' windows, and the runs in which batteries act.

    The calendar shows all windows of the past two weeks, and each plan's running or next window. If a plan covers all
    hours below or above a price limit, the calendar also shows all known future windows of this plan. Of a battery's
    plan, it shows the runs ahead in which the battery charges, discharges or sells.

    Home Assistant compares the times of events as the local clock shows them, without the offset from UTC. So a piece
    during which the local clock goes back becomes two events.
    """

    @property
    @override
    def event(self) -> CalendarEvent | None:
        """The running event that began first, or else the next event. If there is neither, the value is None.

        The value is also None if the local clock, before it goes back, already shows a time at which the next event
        has begun. Otherwise, Home Assistant would take this event for running.
        """
        now = dt_util.utcnow()
        ahead = (part for part in self._parts() if part[1] > now)
        first = min(ahead, key=_start, default=None)
        if first is None or (_start(first) > now and dt_util.as_local(_start(first)) <= dt_util.as_local(now)):
            return None
        return self._event(*first)

    @override
    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """Return the events that overlap the time from `start_date` to `end_date`, in the order of their starts."""
        asked = [part for part in self._parts() if part[0] < end_date and start_date < part[1]]
        return [self._event(*part) for part in sorted(asked, key=_start)]

    def _parts(self) -> Iterator[_Part]:
        """Yield all occasions as they become events. Even in a rehearsal, their times follow Home Assistant's clock."""
        clock = self.coordinator.clock
        for one in chain(self._pieces(), self._runs()):
            times = (clock.to_home_assistant_time(time) for time in (one.start, one.end))
            yield from ((*part, one) for part in _forward_parts(*map(dt_util.utc_from_timestamp, times)))

    def _pieces(self) -> Iterator[_Occasion]:
        entry, unit = self.coordinator.config_entry, unit_of(self.coordinator.config_entry.options)
        for plan_id in self.prices.outcomes:
            if plan := plans_of(entry).get(plan_id):
                for window in self.coordinator.planner.windows(plan_id):
                    price = unit.price_text(window.average, self.hass.config.language)
                    for start, end in window.pieces:
                        yield _Occasion(start, end, plan_id, plan.title, price)

    def _runs(self) -> Iterator[_Occasion]:
        words = async_get_cached_translations(self.hass, self.hass.config.language, "entity", DOMAIN)
        for battery_id, battery in batteries_of(self.coordinator.config_entry).items():
            decision = self.coordinator.battery_planner.decision(battery_id)
            if decision.plan and decision.settings:
                for run in decision.plan.runs:
                    if run.action in _SHOWN_ACTIONS:
                        word = words.get(f"{_ACTION_KEY_PREFIX}.{run.action}", run.action)
                        reached = run.stored_kwh / decision.settings.capacity_kwh
                        title = f"{battery.title}: {word.lower()}"
                        yield _Occasion(run.start, run.end, battery_id, title, f"→ {reached:.0%}")

    def _event(self, start: datetime, end: datetime, occasion: _Occasion) -> CalendarEvent:
        return CalendarEvent(
            start=start,
            end=end,
            summary=occasion.title,
            description=occasion.description,
            uid=f"{occasion.id_}-{start.timestamp():.0f}",
        )


def _start(part: _Part) -> datetime:
    return part[0]


def _forward_parts(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Split the time from `start` to `end` (UTC, in whole seconds) where the local clock goes back.

    The first part ends a microsecond before the change, because at the change the clock already shows the earlier time.
    """

    def has_gone_back_after(seconds: int) -> bool:
        passed = timedelta(seconds=seconds)
        return dt_util.as_local(start + passed) - dt_util.as_local(start) < passed

    length_s = int((end - start).total_seconds())
    first_length_s = bisect(range(length_s + 1), False, key=has_gone_back_after)
    if first_length_s <= length_s:
        change = start + timedelta(seconds=first_length_s)
        yield start, change - timedelta.resolution
        start = change
    if start < end:
        yield start, end
